//! Commands that run as another user or in a sandbox.

use std::path::Path;
use std::time::Duration;

use ccm_host::{
    Account, Command, Enforced, Exit, Identity, Means, ReachedLimit, SandboxLimit, SandboxLimits,
};
use ccm_model::{MissingPrerequisite, Outcome, Resource};

use crate::build::{errors_of, with_settings};
use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::run::{failure, printed};

fn machine() -> Machine {
    let mut machine = Machine::new();
    machine.files.directories.insert("/".into());
    machine.files.directories.insert("/data".into());
    machine.files.files.insert("/bin/tool".into());
    machine.runner.add_account(Account {
        name: "app".to_owned(),
        home: "/home/app".into(),
        shell: "/bin/ash".into(),
        identity: Identity { uid: 7, gid: 8, groups: vec![8, 9] },
    });
    machine.runner.add_group("web", 10);
    machine
}

/// Applies a resource that has to succeed, and returns what was run last.
fn ran(resource: Resource) -> Command {
    let machine = machine();
    let transaction = machine.apply(resource);
    assert_eq!(transaction.outcome, Outcome::Changed);
    machine.runner.ran().pop().expect("a command")
}

fn variables(command: &Command) -> Vec<String> {
    command.environment.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn a_user_brings_numbers_groups_and_environment() {
    for (properties, uid, gid, groups) in [
        (&[("user", "app")][..], 7, 8, &[8, 9][..]),
        (&[("user", "7"), ("group", "web")], 7, 10, &[8, 9]),
        (&[("group", "web")], 0, 10, &[0]),
    ] {
        let command = ran(exec("true", properties));
        assert_eq!(command.identity, Some(Identity { uid, gid, groups: groups.to_vec() }), "{properties:?}");
        let home = if uid == 7 { "HOME=/home/app" } else { "HOME=/root" };
        assert!(variables(&command).contains(&home.to_owned()), "{command:?}");
    }
    assert_eq!(ran(exec("true", &[])).identity, None);
    for umask in ["027", "0027", "0o27"] {
        assert_eq!(ran(exec("true", &[("umask", umask)])).umask, Some(0o27));
    }
}

#[test]
fn guards_run_as_the_command_does() {
    let machine = machine();
    let properties =
        [("user", "app"), ("umask", "077"), ("sandbox", "{read=[/data]}"), ("onlyif", "test -e x")];
    machine.apply(exec("true", &properties));
    let [guard, command] = machine.runner.ran().try_into().expect("a guard and a command");
    let same = |command: &Command| {
        (command.identity.clone(), command.umask, command.sandbox.clone(), command.environment.clone())
    };
    assert_eq!(same(&guard), same(&command));
}

#[test]
fn who_is_not_there_may_come_from_an_earlier_resource() {
    for (property, expected) in
        [("user", "user \"x\" does not exist"), ("group", "group \"x\" does not exist")]
    {
        let transaction = machine().apply(exec("true", &[(property, "x")]));
        let failure = failure(&transaction);
        assert_eq!(failure.chain, [format!("`{property}` can't be used").as_str(), expected]);
        let missing = MissingPrerequisite::Principal("x".to_owned());
        assert_eq!((failure.missing.as_deref(), failure.changed), (Some(&missing), false));
        assert_eq!(
            failure.hints,
            ["check the spelling, or create this user or group with an earlier resource"]
        );
    }
}

#[test]
fn a_failure_names_the_property_that_asked_for_the_start() {
    let refused = machine();
    refused.runner.refuse_identities();
    let unenforceable = machine();
    unenforceable.runner.can_not_enforce("landlock");
    for (machine, property, value) in [(refused, "user", "app"), (unenforceable, "sandbox", "{}")] {
        let transaction = machine.apply(exec("true", &[(property, value)]));
        assert_eq!(failure(&transaction).property.as_deref(), Some(property));
    }
}

#[test]
fn a_sandbox_is_closed_but_for_what_it_opens() {
    let private = Path::new("/tmp/private/work");
    let command = ran(exec("true", &[("sandbox", "{mode=process}")]));
    let sandbox = command.sandbox.clone().expect("a sandbox");
    assert_eq!((command.cwd.as_path(), sandbox.workdir.as_path()), (private, private));
    assert!(sandbox.read.is_empty() && sandbox.write.is_empty() && !sandbox.advisory);
    assert!(!sandbox.network && !sandbox.unix_sockets);
    assert_eq!(
        variables(&command),
        ["PATH=/usr/bin:/bin", "HOME=/tmp/private/work", "TMPDIR=/tmp/private/work"]
    );

    let written = "{workdir=/data|env=inherit|network=true|read=[bin/tool]|write=[/tmp]|unix_sockets=true|advisory=true|\
                   processes=20|memory=512MiB|file_size=64KiB|cpu=90s}";
    let command = ran(exec("true", &[("sandbox", written), ("environment", "{HOME=/x}")]));
    let sandbox = command.sandbox.clone().expect("a sandbox");
    assert_eq!((command.cwd.as_path(), sandbox.workdir.as_path()), (Path::new("/data"), Path::new("/data")));
    assert_eq!(sandbox.read, [Path::new("/bin/tool")]);
    assert_eq!(sandbox.write, [Path::new("/tmp"), private]);
    assert!(sandbox.network && sandbox.unix_sockets && sandbox.advisory);
    let limits = SandboxLimits {
        processes: SandboxLimit::requested(20),
        memory: SandboxLimit::requested(512 << 20),
        file_size: Some(64 << 10),
        cpu: Some(Duration::from_secs(90)),
    };
    assert_eq!(sandbox.limits, limits);
    assert_eq!(
        variables(&command),
        ["PATH=/usr/bin:/bin", "HOME=/x", "INHERITED=yes", "TMPDIR=/tmp/private/work"]
    );
}

#[test]
fn an_executor_fills_the_environment_of_a_sandbox() {
    let settings = [("executors", "{it={kind=native|default_work_dir=/data|default_env={A=b}}}")];
    for (sandbox, cwd) in [
        ("{mode=process}", "/tmp/private/work"),
        ("{workdir=private}", "/tmp/private/work"),
        ("{workdir=/data}", "/data"),
    ] {
        let command =
            ran(with_settings(exec("true", &[("executor", "it"), ("sandbox", sandbox)]), &settings));
        let home = format!("HOME={cwd}");
        assert_eq!(command.cwd, Path::new(cwd));
        assert_eq!(
            variables(&command),
            ["PATH=/usr/bin:/bin", home.as_str(), "TMPDIR=/tmp/private/work", "A=b"]
        );
    }
    let named = [("executor", "it"), ("sandbox", "{mode=process}"), ("cwd", "/")];
    assert_eq!(ran(with_settings(exec("true", &named), &settings)).cwd, Path::new("/"));
    let gone = [("executors", "{it={kind=native|default_work_dir=/gone}}")];
    let transaction = machine().apply(with_settings(exec("true", &[("executor", "it")]), &gone));
    assert_eq!(failure(&transaction).hints, ["check `default_work_dir` of the executor `it`"]);
}

#[test]
fn a_path_that_is_never_opened_is_an_error() {
    for (sandbox, expected) in [
        ("{read=[/]}", "invalid-value sandbox /"),
        ("{write=[/usr/..]}", "invalid-value sandbox /usr/.."),
        ("{workdir=/}", "invalid-value sandbox /"),
        ("{write=[/proc]}", "invalid-value sandbox /proc"),
        ("{workdir=/sys/power}", "invalid-value sandbox /sys/power"),
        ("{read=[/proc/1]}", "invalid-value sandbox /proc/1"),
    ] {
        assert_eq!(errors_of(&exec("true", &[("sandbox", sandbox)])), [expected]);
    }
    assert!(errors_of(&exec("true", &[("sandbox", "{read=[/dev|/proc]|write=[/dev/shm]}")])).is_empty());
}

#[test]
fn every_search_path_is_checked() {
    for (path, expected) in
        [("bin:/bin", "invalid-value environment bin | …"), ("/bin:", "invalid-value environment")]
    {
        for environment in [format!("{{PATH={path}}}"), format!("[PATH={path}]")] {
            assert_eq!(
                errors_of(&exec("true", &[("environment", &environment)])),
                [expected],
                "{environment}"
            );
        }
    }
    assert!(errors_of(&exec("true", &[("environment", "{PATH=/bin:/x}")])).is_empty());
}

#[test]
fn a_guard_that_takes_too_long_says_what_its_deadline_is() {
    let machine = machine();
    let after = Duration::from_secs(1);
    machine.runner.answer_with("guard", printed(Exit::TimedOut { after }, "", ""));
    let transaction = machine.apply(exec("true", &[("onlyif", "guard")]));
    assert_eq!(
        failure(&transaction).hints,
        ["make the guard faster, or raise `timeout`, which limits each guard too"]
    );
}

#[test]
fn a_shell_in_a_private_directory_says_where_it_stands() {
    for (sandbox, expected) in [("{mode=process}", true), ("{workdir=manifest}", false)] {
        let machine = machine();
        let said = printed(Exit::Code(127), "", "/bin/sh: 1: ./bin/tool: not found\n");
        machine.runner.answer_with("/bin/sh -c ./bin/tool", said);
        let transaction = machine.apply(exec("./bin/tool", &[("provider", "shell"), ("sandbox", sandbox)]));
        let hints = &failure(&transaction).hints;
        assert_eq!(hints.iter().any(|hint| hint.contains("workdir: manifest")), expected, "{hints:?}");
    }
}

#[test]
fn a_program_beside_the_manifest_is_opened() {
    let command = ran(exec("./bin/tool", &[("sandbox", "{workdir=/data}")]));
    assert_eq!(command.program, Path::new("/bin/tool"));
    assert_eq!(command.sandbox.expect("a sandbox").read, [Path::new("/bin/tool")]);
    let shell = ran(exec("true", &[("provider", "shell"), ("sandbox", "{workdir=/data}")]));
    assert_eq!(shell.program, Path::new("/bin/sh"));
    assert!(shell.sandbox.expect("a sandbox").read.is_empty());
}

#[test]
fn what_is_not_there_is_named() {
    for (sandbox, property) in
        [("{workdir=/x}", "workdir"), ("{read=[/x]}", "read"), ("{write=[/x]}", "write")]
    {
        let resource = exec("true", &[("sandbox", sandbox)]);
        let machine = machine();
        let transaction = machine.apply(resource.clone());
        let expected = format!("`{property}` of the sandbox: \"/x\" can't be opened");
        assert_eq!(failure(&transaction).chain[0], expected);
        assert_eq!(failure(&transaction).missing.as_deref(), Some(&MissingPrerequisite::Path("/x".into())));
        assert_eq!(failure(&transaction).property.as_deref(), Some("sandbox"));
        let noop = machine.noop(resource);
        assert!(noop.warnings[0].starts_with(&format!("a run would fail now: {expected}")));
        assert!(machine.runner.ran().is_empty());
    }
}

#[test]
fn what_was_not_enforced_is_reported() {
    let machine = machine();
    let enforced = Enforced {
        filesystem: vec![Means::Landlock],
        missing: vec!["`network: false`: this kernel has no seccomp".to_owned()],
        ..Enforced::default()
    };
    let finished = printed(Exit::Code(0), "", "");
    machine.runner.answer_with("true", ccm_host::Finished { enforced: Some(enforced), ..finished });
    let transaction = machine.apply(exec("true", &[("sandbox", "{advisory=true}")]));
    assert_eq!(
        transaction.warnings,
        ["this kernel does not enforce `network: false`: this kernel has no seccomp"]
    );
    let state = serde_json::json!({
        "filesystem": ["landlock"], "network": [], "shared_memory": [], "signals": [], "processes": [], "memory": [],
        "programs": [],
        "not_enforced": ["`network: false`: this kernel has no seccomp"],
    });
    assert_eq!(transaction.state.expect("a state")["sandbox"], state);
}

#[test]
fn failure_names_the_limit_that_was_reached() {
    let machine = machine();
    let killed = Exit::Signal { number: 9, name: "SIGKILL".to_owned() };
    let finished = ccm_host::Finished { reached: vec![ReachedLimit::Memory], ..printed(killed, "", "") };
    machine.runner.answer_with("true", finished);
    let transaction = machine.apply(exec("true", &[("sandbox", "{memory=1GiB}")]));
    let failure = failure(&transaction);
    assert_eq!(failure.chain, ["command was killed by SIGKILL", "the sandbox reached the limit `memory`"]);
    assert_eq!(failure.hints, ["raise `memory` of the sandbox if the command needs more"]);
}

#[test]
fn what_can_not_be_enforced_is_foreseen_and_said_once() {
    let machine = machine();
    machine.runner.can_not_enforce("`network: false`: this kernel has no seccomp");
    let closed = || exec("true", &[("sandbox", "{mode=process}")]);
    let said = "this kernel can't enforce the sandbox: `network: false`: this kernel has no seccomp";
    let noop = machine.noop(closed());
    assert_eq!(noop.outcome, Outcome::WouldChange { message: "Would have executed".to_owned() });
    assert_eq!(noop.warnings, [format!("a run would fail now: {said}")]);
    assert_eq!(failure(&machine.apply(closed())).chain, [said]);
    assert!(machine.runner.ran().is_empty());

    let advisory = || exec("true", &[("sandbox", "{advisory=true}"), ("onlyif", "[guard|guard]")]);
    let said = ["this kernel does not enforce `network: false`: this kernel has no seccomp"];
    assert_eq!(machine.noop(advisory()).warnings, said);
    assert_eq!(machine.runner.lines(), ["guard", "guard"]);
    assert_eq!(machine.apply(advisory()).warnings, said);
    assert_eq!(machine.runner.lines()[2..], ["guard", "guard", "true"]);
}

#[test]
fn invalid_properties_are_rejected() {
    for (properties, expected) in [
        (&[("cwd", "/"), ("sandbox", "{workdir=manifest}")][..], "conflict cwd cwd, workdir | workdir"),
        (&[("sandbox", "{mode=docker}")], "unsupported sandbox docker | docker, executor, sandbox"),
        (&[("sandbox", "{mode=proces}")], "invalid-value sandbox mode, proces | process"),
        (&[("sandbox", "{env=x}")], "invalid-value sandbox env, x | minimal, inherit"),
        (
            &[("sandbox", "{workdir=scratch}")],
            "invalid-value sandbox scratch, private, manifest, / | ./scratch",
        ),
        (&[("umask", "0888")], "invalid-value umask 0888 | 0027"),
        (&[("umask", "1022")], "invalid-value umask 1022 | 0027"),
        (&[("umask", "<18>")], r#"wrong-type umask 18 | "0027""#),
        (&[("sandbox", "{foo=1}")], "unknown-property sandbox foo | …"),
        (&[("sandbox", "{memory=2 apples}")], "invalid-value sandbox 2 apples | 512MiB, 2GiB"),
        (&[("sandbox", "{memory=512}")], "invalid-value sandbox 512 | 512MiB, 2GiB"),
        (&[("sandbox", "{processes=0}")], "invalid-value sandbox processes"),
        (&[("sandbox", "{cpu=500ms}")], "invalid-value sandbox 1s, 500ms | 30s"),
        (&[("user", "")], "invalid-value user"),
    ] {
        assert_eq!(errors_of(&exec("true", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn a_profile_opens_what_its_name_says() {
    let sandbox = |properties: &str, git: bool| {
        let mut machine = machine();
        if git {
            machine.files.directories.extend(["/data/.git".into(), "/data/.git/hooks".into()]);
            machine.files.files.insert("/data/.git/config".into());
        }
        let transaction = machine.apply(exec("true", &[("sandbox", properties)]));
        assert_eq!(transaction.outcome, Outcome::Changed, "{properties}");
        machine.runner.ran().pop().and_then(|command| command.sandbox).expect("a sandbox")
    };
    let plain = sandbox("{}", false);
    assert_eq!(sandbox("{profile=no_network_compute}", false), plain);
    assert_eq!(sandbox("{profile=read_only_local}", false).read, [Path::new("/")]);
    assert_eq!(sandbox("{profile=read_only_local|read=[/data]}", false).read, ["/data", "/"].map(Path::new));
    let workdir = "{profile=no_network_compute|workdir=/data}";
    assert!(sandbox(workdir, false).read.is_empty());
    let repository = sandbox(workdir, true);
    assert_eq!(repository.read, ["/data/.git/hooks", "/data/.git/config"].map(Path::new));
    // What is mounted can't be renamed.
    assert_eq!(repository.write, ["/data/.git", "/tmp/private/work"].map(Path::new));
    assert!(sandbox("{workdir=/data}", true).read.is_empty());
}

#[test]
fn what_would_be_made_in_a_repository_is_no_gap() {
    let mut machine = machine();
    machine.files.directories.insert("/data/.git".into());
    let transaction =
        machine.apply(exec("true", &[("sandbox", "{profile=no_network_compute|workdir=/data}")]));
    let expected = "`profile` of the sandbox: \"/data/.git/hooks\" can't be opened";
    assert_eq!(failure(&transaction).chain[0], expected);
    assert!(machine.runner.ran().is_empty());
}

#[test]
fn an_invalid_profile_is_an_error() {
    for (sandbox, expected) in [
        ("{profile=restricted_remote}", "unsupported sandbox restricted_remote | network: true"),
        (
            "{profile=privileged_operator_approved}",
            "unsupported sandbox privileged_operator_approved | sandbox",
        ),
        ("{profile=x}", "invalid-value sandbox profile, x | no_network_compute, read_only_local"),
        (
            "{profile=no_network_compute|network=true}",
            "conflict sandbox network, no_network_compute | network, profile",
        ),
        (
            "{profile=read_only_local|write=[/data]}",
            "conflict sandbox write, read_only_local | write, profile",
        ),
        (
            "{profile=read_only_local|workdir=/data}",
            "conflict sandbox workdir, read_only_local | workdir, profile",
        ),
    ] {
        assert_eq!(errors_of(&exec("true", &[("sandbox", sandbox)])), [expected], "{sandbox}");
    }
}

#[test]
fn programs_are_those_of_the_list_or_of_the_text() {
    let programs = |command: &str, properties: &[(&str, &str)]| {
        let allowed = ran(exec(command, properties)).sandbox.and_then(|sandbox| sandbox.programs);
        allowed.map(|allowed| {
            let names: Vec<String> =
                allowed.programs.iter().map(|program| program.display().to_string()).collect();
            (names.join(" "), allowed.are_analysed)
        })
    };
    let shell = |text: &str| programs(text, &[("provider", "shell"), ("sandbox", "{programs=analysed}")]);
    assert_eq!(programs("true", &[("sandbox", "{programs=any}")]), None);
    assert_eq!(
        programs("true", &[("sandbox", "{programs=[tar|/opt/tool]}")]),
        Some(("tar /opt/tool".to_owned(), false))
    );
    assert_eq!(programs("true", &[("sandbox", "{programs=analysed}")]), Some((String::new(), true)));
    assert_eq!(shell("cd /data && ls | sort > x"), Some(("ls sort".to_owned(), true)));
    assert_eq!(
        shell("$HOME/tool && ./own"),
        Some(("/tmp/private/work/tool /tmp/private/work/own".to_owned(), true))
    );
}

#[test]
fn guards_have_programs_of_their_own() {
    let machine = machine();
    let properties =
        [("provider", "shell"), ("sandbox", "{programs=analysed}"), ("onlyif", "test -e x && stat x")];
    machine.apply(exec("ls", &properties));
    let programs: Vec<_> = machine
        .runner
        .ran()
        .into_iter()
        .map(|command| command.sandbox.and_then(|sandbox| sandbox.programs).expect("programs").programs)
        .collect();
    assert_eq!(programs, [vec![Path::new("stat")], vec![Path::new("ls")]]);
}

#[test]
fn a_text_whose_programs_are_not_known_is_an_error() {
    let errors = |text: &str, property: (&str, &str)| {
        let sandbox = ("sandbox", "{programs=analysed}");
        errors_of(&exec(text, &[("provider", "shell"), sandbox, property]))
    };
    let known = ("cwd", "/");
    for (text, property, expected) in [
        ("$X a", known, "invalid-value command programs: analysed | programs: [NAME, …], programs: any"),
        (". ./x", known, "invalid-value command programs: analysed | programs: [NAME, …], programs: any"),
        (
            "ls",
            ("unless", "eval \"$X\""),
            "invalid-value unless programs: analysed | programs: [NAME, …], programs: any",
        ),
    ] {
        assert_eq!(errors(text, property), [expected], "{text}");
    }
    assert_eq!(errors("ls &>/dev/null rm x", known).len(), 1);
    assert!(errors("ls", known).is_empty());
    assert!(errors("$X a", ("environment", "{X=ls}")).is_empty());
    for sandbox in ["{programs=[a/b]}", "{programs=all}", "{programs=[..]}"] {
        assert_eq!(errors_of(&exec("true", &[("sandbox", sandbox)])).len(), 1, "{sandbox}");
    }
}

#[test]
fn failure_of_a_refused_program_names_the_property() {
    for (programs, hints) in [
        (vec![Means::Landlock], &["add the program that was refused to `programs` of the sandbox"][..]),
        (Vec::new(), &[]),
    ] {
        let machine = machine();
        let enforced = Some(Enforced { programs, ..Enforced::default() });
        let finished = printed(Exit::Code(126), "", "/bin/sh: 1: rm: Permission denied\n");
        machine.runner.answer_with("true", ccm_host::Finished { enforced, ..finished });
        let transaction = machine.apply(exec("true", &[("sandbox", "{programs=[ls]}")]));
        assert_eq!(failure(&transaction).hints, hints);
    }
}

#[test]
fn a_guard_whose_program_is_refused_does_not_decide() {
    let machine = machine();
    let enforced = Some(Enforced { programs: vec![Means::Landlock], ..Enforced::default() });
    let finished = printed(Exit::Code(126), "", "/bin/sh: 1: rm: Permission denied\n");
    machine.runner.answer_with("guard", ccm_host::Finished { enforced, ..finished });
    let properties = [("sandbox", "{programs=[ls]}"), ("unless", "guard")];
    let transaction = machine.apply(exec("true", &properties));
    assert_eq!(
        failure(&transaction).chain,
        ["`unless` `guard` failed to run", "it exited with 126: a program could not be executed"]
    );
    assert_eq!(machine.runner.lines(), ["guard"]);
}
