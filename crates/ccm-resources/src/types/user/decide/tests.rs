use ccm_engine::ResourceKind as _;

use std::rc::Rc;

use ccm_host::{Account, Identity, TreeSize};
use ccm_properties::TextValue as _;

use super::*;
use crate::parts::accounts::{PasswdLine, PasswordField, PasswordHash};
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

const TABLE: &str = include_str!("../decide_table.txt");

fn user(ensure: &str, desired: &str) -> DesiredUser {
    let value = |name: &str| {
        let found = desired.split(';').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        found.map(str::to_owned)
    };
    let is = |word: &str| desired.split(';').any(|part| part == word);
    let list = |text: String| text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let locked = is("locked").then_some(true).or(is("unlocked").then_some(false));
    DesiredUser {
        name: "ada".to_owned(),
        is_absent: ensure == "absent",
        uid: value("uid").map(|uid| uid.parse().unwrap()),
        gid: value("gid"),
        groups: value("groups").or(value("exclusive")).map(list),
        groups_exclusive: value("exclusive").is_some(),
        home: value("home"),
        manage_home: is("manage"),
        shell: value("shell"),
        comment: value("comment"),
        system: false,
        password: value("password").map(PasswordHash),
        locked,
        expires: value("expires").map(|day| Expiry::from_text(&day).unwrap()),
        purge_keys: is("purge"),
    }
}

fn state(user: &DesiredUser, found: &str, others: &str) -> UserState {
    let account = Account {
        name: "ada".to_owned(),
        home: "/home/ada".into(),
        shell: "/bin/sh".into(),
        identity: Identity { uid: 1000, gid: 100, groups: vec![100] },
    };
    let line = PasswdLine {
        name: "ada".to_owned(),
        password: None,
        uid: 1000,
        gid: 100,
        comment: "Ada".to_owned(),
        home: "/home/ada".to_owned(),
        shell: "/bin/sh".to_owned(),
    };
    let is_local = !["-", "service"].contains(&found);
    let new_groups = || vec!["docker".to_owned()];
    UserState {
        found: is_local.then(|| Rc::new(line)),
        of_service: (found == "service").then_some(account),
        remaining_service: (found == "service" || others == "service").then(|| "ldap".to_owned()),
        removed_home: (others == "home").then_some(TreeSize { files: 2, bytes: 1, is_partial: false }),
        desired_home_owner: (others == "of-root").then(|| "root".to_owned()),
        groups: if is_local { vec!["adm".to_owned()] } else { Vec::new() },
        password: PasswordField::new(if is_local { found } else { "" }),
        expires: Some(Expiry((others == "expired").then_some(22_644))),
        primary_group: match user.gid.as_deref() {
            None => PrimaryGroup::NotManaged,
            Some("web") => PrimaryGroup::Missing,
            Some("users") => PrimaryGroup::Found(100),
            Some(number) => PrimaryGroup::Found(number.parse().unwrap()),
        },
        primary_names: vec!["users".to_owned(), "people".to_owned()],
        missing_groups: if others == "no-group" { new_groups() } else { Vec::new() },
        service_groups: if others == "service-group" { new_groups() } else { Vec::new() },
        uid_owner: (others == "taken").then(|| "bob".to_owned()),
        process: (others == "process").then_some(77),
        home_exists: others == "home",
        shell_exists: true,
        unmanaged_keys: if others == "keys" { 2 } else { 0 },
        ..UserState::default()
    }
}

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, desired, found, others]| {
        let user = user(ensure, desired);
        Object::decide(&user, &state(&user, found, others), None)
    });
    assert_eq!(rows, 62);
}

#[test]
fn what_stays_is_warned_of() {
    let warnings = |ensure, desired, found, others| {
        let user = user(ensure, desired);
        Object::warnings(&user, &state(&user, found, others))
    };
    let ldap = "the name service `ldap` still has the user `ada`: ccm removes only what is in the files of this machine";
    let root = "the home directory \"/srv/ada\" exists and belongs to `root`, so that user `ada` can't write there; give it to `ada` with a `file` resource";
    for (ensure, desired, found, others, told) in [
        ("absent", "-", "*", "-", None),
        ("absent", "-", "*", "service", Some(ldap)),
        ("absent", "-", "service", "-", Some(ldap)),
        ("absent", "-", "-", "-", None),
        ("present", "-", "service", "-", None),
        ("present", "home=/srv/ada;manage", "*", "of-root", Some(root)),
        ("present", "home=/srv/ada;manage", "-", "of-root", Some(root)),
    ] {
        let told: Vec<String> = told.into_iter().map(str::to_owned).collect();
        assert_eq!(warnings(ensure, desired, found, others), told, "{ensure} {desired} {found} {others}");
    }
    let user = user("present", "home=/srv/ada;manage");
    let state = UserState { home_exists: true, ..state(&user, "*", "of-root") };
    assert!(Object::warnings(&user, &state)[0].contains(", and the files in \"/home/ada\" stay behind; "));
}

#[test]
fn what_prevents_a_login_is_warned_of() {
    let warnings = |desired, now| {
        let user = user("present", desired);
        let state = UserState { now, shell_exists: false, ..state(&user, "*", "-") };
        Object::warnings(&user, &state)
    };
    assert_eq!(warnings("-", 0), Vec::<String>::new());
    assert_eq!(
        warnings("shell=/bin/zsh", 0),
        ["the shell \"/bin/zsh\" does not exist, so nobody can log in with it"]
    );
    assert_eq!(warnings("expires=1970-01-03", 172_800), ["the user has expired: `expires` is 1970-01-03"]);
    assert_eq!(warnings("expires=1970-01-03", 172_799), Vec::<String>::new());
}
