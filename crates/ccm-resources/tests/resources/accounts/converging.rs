//! Random users in random states reach the desired state in one run, and noop names what the run changes.

use std::fs::{create_dir_all, remove_dir_all, write};
use std::path::Path;

use ccm_model::{Action, Outcome, Resource, Transaction};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, TestRunner};

use crate::accounts::machine::{assert_databases_are_whole, line, on_a_copy};
use crate::build::resource;
use crate::local_run::{outcome, run_here};

/// Number of random states. Each takes a few runs of the tools.
const CASES: u32 = 60;

/// What a user of a name service that differs from the desired one is told.
const OF_SERVICE: &str = "comes from a name service, not from /etc/passwd";

/// User in the files of the machine, or of a name service.
#[derive(Clone, Debug)]
struct Found {
    uid: u32,
    gid: u32,
    comment: String,
    shell: String,
    password: String,
    expires: String,
    groups: Vec<&'static str>,
    has_home: bool,
}

fn found() -> impl Strategy<Value = Found> {
    let comment = select(vec!["", "Ada", "Ada,,,", "ä ö", "-x"]);
    let shell = select(vec!["", "/bin/sh", "/nowhere", "/usr/sbin/nologin"]);
    let password = select(vec!["", "!", "!!", "*", "!*", "$6$a$b", "!$6$a$b", "!!$6$a$b", "x"]);
    let expires = select(vec!["", "1", "19000", "30000"]);
    let groups = subsequence(vec!["adm", "docker", "users"], 0..=3);
    let numbers = (select(vec![150, 1500, 60_000]), select(vec![0, 100, 150]));
    (numbers, comment, shell, password, expires, groups, any::<bool>()).prop_map(
        |((uid, gid), comment, shell, password, expires, groups, has_home)| Found {
            uid,
            gid,
            comment: comment.to_owned(),
            shell: shell.to_owned(),
            password: password.to_owned(),
            expires: expires.to_owned(),
            groups,
            has_home,
        },
    )
}

/// Properties of a user, those that are not given left out. Each is given with this probability.
fn desired(probability: f64) -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let value = |name: &'static str, values: &[&'static str]| {
        option::weighted(probability, select(values.to_vec()))
            .prop_map(move |value| value.map(|value| (name, value)))
    };
    (
        value("uid", &["150", "1500", "1501"]),
        value("gid", &["users", "100", "docker", "ada"]),
        option::weighted(
            probability,
            (select(vec!["[]", "[adm]", "[adm|docker]", "[users|adm]"]), select(vec!["true", "false"])),
        ),
        value("home", &["/home/ada", "/srv/ada"]),
        value("manage_home", &["true", "false"]),
        value("shell", &["/bin/sh", "/bin/bash"]),
        value("comment", &["", "Ada", "-y"]),
        value("password_hash", &["$6$a$b", "$6$c$d", "*", "!"]),
        value("locked", &["true", "false"]),
        value("expires", &["2052-02-20", "never"]),
        value("system", &["true", "false"]),
        select(vec!["present", "present", "present", "absent"]),
    )
        .prop_map(
            |(
                uid,
                gid,
                groups,
                home,
                manage_home,
                shell,
                comment,
                password,
                locked,
                expires,
                system,
                ensure,
            )| {
                let groups =
                    groups.map(|(groups, exclusive)| [("groups", groups), ("groups_exclusive", exclusive)]);
                let locked = locked.filter(|(_, locked)| {
                    !(*locked == "false" && password.is_some_and(|(_, hash)| hash == "!"))
                });
                let own = [uid, gid, home, manage_home, shell, comment, password, locked, expires, system];
                let all = own.into_iter().flatten().chain(groups.into_iter().flatten());
                all.chain([("ensure", ensure)]).collect()
            },
        )
}

/// Source of the first state of a user.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Files,
    /// The only place that has the user; the groups in the files may list the user nevertheless.
    Service,
}

fn set_up(name: &str, found: Option<&Found>, source: Source) {
    let mut passwd = "root:x:0:0:root:/root:/bin/sh\n".to_owned();
    let mut shadow = "root:*:19000:0:99999:7:::\n".to_owned();
    let mut service = "other:x:7001:7000::/home/other:/bin/sh\n".to_owned();
    for home in ["/home/ada", "/srv/ada"] {
        let _missing = remove_dir_all(home);
    }
    let members = |group: &str| {
        if found.is_some_and(|found| found.groups.contains(&group)) { name } else { "" }
    };
    if let Some(found) = found {
        let Found { uid, gid, comment, shell, password, expires, .. } = found;
        let line = format!("{name}:x:{uid}:{gid}:{comment}:/home/ada:{shell}\n");
        match source {
            Source::Files => {
                passwd += &line;
                shadow += &format!("{name}:{password}:19000:0:99999:7::{expires}:\n");
            }
            Source::Service => service += &line,
        }
        if found.has_home {
            create_dir_all("/home/ada").expect("a directory");
            write("/home/ada/file", "x").expect("a file");
        }
    }
    let groups = [("users", 100), ("adm", 4), ("docker", 150), ("ada", 900)];
    let mut group = "root:x:0:\n".to_owned();
    let mut gshadow = "root:*::\n".to_owned();
    for (name, gid) in groups {
        group += &format!("{name}:x:{gid}:{}\n", members(name));
        gshadow += &format!("{name}:!::{}\n", members(name));
    }
    let files = [
        ("passwd", passwd),
        ("shadow", shadow),
        ("group", group),
        ("gshadow", gshadow),
        ("extrausers/passwd", service),
    ];
    for (file, text) in files {
        write(format!("/etc/{file}"), text).expect("a file");
    }
}

fn one_run(user: &Resource, noop: bool) -> (Transaction, Option<Action>) {
    let transaction = run_here(vec![user.clone()], noop).pop().expect("a transaction");
    let action = transaction.action.clone();
    (transaction, action)
}

/// A user whom only a name service has is never made a second time, and nothing else is changed for the user either.
fn check_user_of_service(
    name: &str,
    found: &Found,
    desired: &[(&'static str, &'static str)],
    told: &str,
) -> Result<(), TestCaseError> {
    for file in ["/etc/passwd", "/etc/shadow"] {
        prop_assert_eq!(line(file, name), None, "{}", file);
    }
    let has_home = Path::new("/home/ada").exists();
    prop_assert_eq!((has_home, Path::new("/srv/ada").exists()), (found.has_home, false));
    let given = |name: &str| desired.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
    let group = |gid: u32| match gid {
        100 => "users",
        150 => "docker",
        _ => "root",
    };
    let (uid, gid) = (found.uid.to_string(), found.gid.to_string());
    let wanted: Vec<&str> = given("groups").unwrap_or("[]").trim_matches(['[', ']']).split('|').collect();
    let is_primary = |name: &&str| *name == group(found.gid);
    let wanted: Vec<&str> = wanted.into_iter().filter(|name| !name.is_empty() && !is_primary(name)).collect();
    let has_groups = wanted.iter().all(|group| found.groups.contains(group))
        && (given("groups_exclusive") != Some("true")
            || found.groups.iter().filter(|group| !is_primary(group)).all(|group| wanted.contains(group)));
    let is_present = given("ensure") == Some("present")
        && given("uid").is_none_or(|desired| desired == uid)
        && given("gid").is_none_or(|desired| desired == gid || desired == group(found.gid))
        && given("home").is_none_or(|home| home == "/home/ada")
        && (given("manage_home") != Some("true") || found.has_home)
        && given("shell").is_none_or(|shell| shell == found.shell)
        && has_groups
        // What the service does not tell can't be as desired.
        && ["comment", "password_hash", "locked", "expires"].iter().all(|name| given(name).is_none());
    // A user who is to be absent is not in the files of this machine, and a warning names the service.
    let expected = if is_present || given("ensure") == Some("absent") {
        "unchanged".to_owned()
    } else {
        format!("user `{name}` {OF_SERVICE}")
    };
    prop_assert_eq!(told, expected);
    Ok(())
}

/// Applies random desired states to random users, and checks what every run has to hold.
fn check_random_users(
    cases: u32,
    source: Source,
    found: impl Strategy<Value = Option<Found>>,
    desired: impl Strategy<Value = Vec<(&'static str, &'static str)>>,
) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    // The tools make no user of a strange name, but change one.
    let names = select(vec!["ada", "Ada.X", "_1", "jürgen", "web-01$"]);
    let result = runner.run(&(names, found, desired), |(name, found, desired)| {
        let name = if found.is_some() { name } else { "ada" };
        set_up(name, found.as_ref(), source);
        let user = resource("user", name, &desired);
        let (announced, planned) = one_run(&user, true);
        let (first, taken) = one_run(&user, false);
        let expected = match &announced.outcome {
            Outcome::WouldChange { .. } => "changed".to_owned(),
            _ => outcome(&announced),
        };
        prop_assert_eq!(outcome(&first), expected, "{}", outcome(&announced));
        prop_assert_eq!(planned, taken);
        assert_databases_are_whole();
        if let Some(found) = found.as_ref().filter(|_| source == Source::Service) {
            check_user_of_service(name, found, &desired, &outcome(&first))?;
        }
        if !matches!(first.outcome, Outcome::Failed(_)) {
            let (second, _) = one_run(&user, false);
            prop_assert_eq!(outcome(&second), "unchanged");
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn random_users_converge_in_one_run() {
    on_a_copy(|| {
        check_random_users(CASES, Source::Files, option::weighted(0.7, found()), desired(0.5));
    });
}

#[test]
fn random_users_of_a_name_service_are_never_made_twice() {
    on_a_copy(|| {
        // With few properties, many users are as desired.
        let desired = prop_oneof![desired(0.5), desired(0.1)];
        check_random_users(CASES, Source::Service, found().prop_map(Some), desired);
    });
}
