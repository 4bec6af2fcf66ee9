//! Reading services, and noop.

use ccm_host::Exit;
use ccm_model::{MissingPrerequisite, Outcome};
use ccm_testkit::FakeFile;

use crate::run::{failure, printed};
use crate::service::machine::{Machine, SYSTEMCTL};
use crate::service::service;

#[test]
fn unchanged_service_is_read_once() {
    let machine = Machine::new();
    machine.has("active running", &["UnitFileState=enabled"]);
    let transaction = machine.apply(service("web", &[("enable", "true")]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    assert_eq!(machine.runner.lines().len(), 1);
    let command = &machine.runner.ran()[0];
    assert_eq!(
        command.args.last().map(|name| name.to_string_lossy().into_owned()),
        Some("web.service".to_owned())
    );
    assert_eq!(command.args[command.args.len() - 2], "--");
    let state = transaction.state.expect("a state");
    assert_eq!(state["protocol"], "io.choria.ccm.v1.resource.service.state");
    assert_eq!((&state["ensure"], &state["enabled"]), (&"running".into(), &true.into()));
    assert_eq!((&state["name"], &state["unit"]), (&"web".into(), &"web.service".into()));
}

#[test]
fn noop_reports_changes_and_makes_none() {
    for (words, others, properties, message) in [
        ("inactive dead", &[][..], &[][..], "Would have started"),
        ("inactive dead", &[], &[("enable", "true")], "Would have started: enable false to true"),
        ("active running", &["UnitFileState=enabled"], &[("enable", "false")], "Would have disabled"),
        ("active running", &[], &[("ensure", "stopped")], "Would have stopped"),
        (
            "inactive dead",
            &["LoadState=masked"],
            &[("masked", "false")],
            "Would have started: masked true to false",
        ),
    ] {
        let machine = Machine::new();
        machine.has(words, others);
        let transaction = machine.noop(service("web", properties));
        assert_eq!(transaction.outcome, Outcome::WouldChange { message: message.to_owned() });
        assert_eq!(machine.done(), [""; 0]);
    }
}

#[test]
fn services_need_systemd() {
    let mut machine = Machine::new();
    machine.files.directories.clear();
    for transaction in [machine.apply(service("web", &[])), machine.noop(service("web", &[]))] {
        assert_eq!(
            failure(&transaction).chain,
            [
                "no provider can work on this host",
                "systemd: it is not running: \"/run/systemd/system\" does not exist"
            ]
        );
        assert_eq!(failure(&transaction).hints, ["limit the service to some machines with `control`"]);
    }
    assert_eq!(machine.runner.lines(), [""; 0]);
}

#[test]
fn missing_unit_is_reported_with_suggestions() {
    let machine = Machine::new();
    machine.has("inactive dead", &["LoadState=not-found", "UnitFileState="]);
    machine.prints(
        "list-unit-files --no-legend --plain",
        "webd.service enabled enabled\ncron.service enabled -\n",
    );
    let transaction = machine.noop(service("web", &[]));
    let failure = failure(&transaction);
    assert_eq!(failure.chain, ["service not found: unit `web.service` does not exist"]);
    assert_eq!(failure.hints, ["did you mean `webd.service`?"]);
    assert_eq!(failure.missing.as_deref(), Some(&MissingPrerequisite::Unit("web.service".to_owned())));
    assert_eq!(machine.done(), [""; 0]);
}

#[test]
fn missing_instance_lacks_its_template() {
    let machine = Machine::new();
    machine.has_all(&[("web@one.service", "inactive dead", &["LoadState=not-found"])]);
    let transaction = machine.noop(service("web@one", &[]));
    let missing = failure(&transaction).missing.as_deref();
    assert_eq!(missing, Some(&MissingPrerequisite::Unit("web@.service".to_owned())));
}

#[test]
fn transition_is_waited_for() {
    let machine = Machine::new();
    for _ in 0..4 {
        machine.has("activating start-pre", &[]);
    }
    machine.has("active running", &[]);
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Unchanged);
    assert_eq!(machine.runner.lines().len(), 5);
    assert_eq!(machine.done(), [""; 0]);
}

#[test]
fn wait_for_a_transition_is_limited() {
    for (words, others, properties, seconds) in [
        ("activating start", &["TimeoutStartUSec=20s"][..], &[][..], 20),
        ("deactivating stop-sigterm", &["TimeoutStopUSec=10s"], &[("ensure", "stopped")], 10),
        ("activating start", &["TimeoutStartUSec=20s"], &[("timeout", "7s")], 7),
        ("activating start", &["TimeoutStartUSec="], &[], 90),
    ] {
        let machine = Machine::new();
        machine.has(words, others);
        let transaction = machine.apply(service("web", properties));
        let chain = failure(&transaction).chain.join(": ");
        assert!(chain.starts_with("`web.service` is still "), "{chain}");
        assert_eq!(ccm_host::Clock::monotonic(&machine.clock).as_secs(), seconds, "{chain}");
        assert!(machine.runner.lines().len() < 60, "it is asked too often");
        assert_eq!(machine.done(), [""; 0]);
    }
}

#[test]
fn failed_queries_are_reported_with_the_cause() {
    let machine = Machine::new();
    let line = "show --property=";
    let asked = {
        machine.apply(service("web", &[]));
        machine.runner.lines()[0].clone()
    };
    assert!(asked.contains(line), "{asked}");
    let machine = Machine::new();
    machine
        .runner
        .answer_with(&asked, printed(Exit::Code(1), "", "Failed to connect to bus: Host is down\n"));
    assert_eq!(
        failure(&machine.apply(service("web", &[]))).chain,
        ["`systemctl show` failed", "Failed to connect to bus: Host is down"]
    );
    machine.runner.without("systemctl");
    let transaction = machine.apply(service("web", &[]));
    assert_eq!(failure(&transaction).chain, ["\"systemctl\" not found in PATH"]);
    assert_eq!(
        failure(&transaction).missing.as_deref(),
        Some(&MissingPrerequisite::Program("systemctl".to_owned()))
    );
}

#[test]
fn user_services_are_managed() {
    let mut machine = Machine::new();
    let transaction = machine.apply(service("web", &[("user", "true")]));
    assert_eq!(
        failure(&transaction).chain,
        [
            "cannot reach the services of the user who runs ccm",
            "XDG_RUNTIME_DIR is not set and \"/run/user/0\" does not exist"
        ]
    );
    machine.files.directories.insert("/run/user/0".into());
    let transaction = machine.apply(service("web", &[("user", "true")]));
    assert_eq!(failure(&transaction).chain, ["systemctl printed nothing about `web.service`"]);
    let command = &machine.runner.ran()[0];
    assert!(command.environment.contains(&("XDG_RUNTIME_DIR".to_owned(), "/run/user/0".to_owned())));
    assert_eq!(command.args[0], "--user");
    assert!(!machine.runner.lines()[0].starts_with(SYSTEMCTL));
}

#[test]
fn properties_without_effect_are_warned_of() {
    let machine = Machine::new();
    machine.has("active running", &["UnitFileState=static", "NeedDaemonReload=yes"]);
    let transaction = machine.apply(service("web", &[("enable", "false")]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    assert_eq!(
        transaction.warnings,
        [
            "`enable: false` has no effect on a static unit, which starts when something else needs it; set `masked: true` to prevent that",
            "the unit file changed after the service was started; subscribe to the file to restart the service"
        ]
    );
}

#[test]
fn services_are_read_with_one_call() {
    let machine = Machine::new();
    machine.has_all(&[
        ("web.service", "active running", &[]),
        ("database.service", "active running", &["UnitFileState=static"]),
        ("backup.timer", "active waiting", &["UnitFileState=enabled"]),
    ]);
    let resources = vec![
        service("web", &[]),
        service("database", &[("enable", "false")]),
        service("backup.timer", &[("enable", "true")]),
    ];
    let transactions = machine.run(resources, false);
    assert!(transactions.iter().all(|transaction| transaction.outcome == Outcome::Unchanged));
    assert_eq!(transactions.iter().map(|found| found.warnings.len()).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(machine.runner.lines().len(), 1);
}

#[test]
fn unit_paths_are_queried_once_for_all_units() {
    let machine = Machine::new();
    let missing = &["LoadState=not-found"][..];
    machine.has_all(&[
        ("web.service", "inactive dead", missing),
        ("database.service", "inactive dead", missing),
        ("cache.service", "inactive dead", missing),
    ]);
    machine.run(["web", "database", "cache"].map(|name| service(name, &[])).into(), true);
    let lines = machine.runner.lines();
    let asked: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix(SYSTEMCTL)).skip(1).collect();
    assert_eq!(asked, [" show --property=UnitPath", " list-unit-files --no-legend --plain"]);
}

#[test]
fn unreadable_service_fails_alone() {
    let machine = Machine::new();
    machine.has("active running", &[]);
    let transactions = machine.run(vec![service("web", &[]), service("database", &[])], false);
    assert_eq!(transactions[0].outcome, Outcome::Unchanged);
    assert_eq!(failure(&transactions[1]).chain, ["systemctl printed nothing about `database.service`"]);
}

#[test]
fn started_service_provides_no_unit() {
    let machine = Machine::new();
    machine.has_all(&[
        ("web.service", "inactive dead", &[]),
        ("nosuch.service", "inactive dead", &["LoadState=not-found"]),
    ]);
    let transactions = machine.run(vec![service("web", &[]), service("nosuch", &[])], true);
    assert!(matches!(transactions[0].outcome, Outcome::WouldChange { .. }));
    assert_eq!(failure(&transactions[1]).chain, ["service not found: unit `nosuch.service` does not exist"]);
}

#[test]
fn removed_file_provides_no_unit() {
    let mut machine = Machine::new();
    machine.files.directories.insert("/opt".into());
    machine.files.files.insert("/opt/web.service".into());
    machine.has("inactive dead", &["LoadState=not-found"]);
    let file = crate::build::resource("file", "/opt/web.service", &[("ensure", "absent")]);
    let transactions = machine.run(vec![file, service("web", &[])], true);
    assert!(matches!(transactions[0].outcome, Outcome::WouldChange { .. }));
    assert_eq!(failure(&transactions[1]).chain, ["service not found: unit `web.service` does not exist"]);
}

#[test]
fn noop_cannot_judge_a_unit_before_its_mask_is_removed() {
    let mut machine = Machine::new();
    let mask = "/etc/systemd/system/web.service";
    machine.files.directories.insert("/etc/systemd/system".into());
    machine.files.entries.borrow_mut().insert(mask.into(), FakeFile { is_link: true, ..FakeFile::of("") });
    machine.has("inactive dead", &["LoadState=masked", "UnitFileState=masked"]);
    let file = crate::build::resource("file", mask, &[("ensure", "absent")]);
    let transactions = machine.run(vec![file, service("web", &[])], true);
    let message = format!("not known before file#{mask}");
    assert_eq!(transactions[1].outcome, Outcome::WouldChange { message });
}

#[test]
fn noop_cannot_judge_a_unit_before_its_file_exists() {
    let mut machine = Machine::new();
    machine.files.directories.insert("/etc/systemd/system".into());
    machine.has("inactive dead", &["LoadState=not-found"]);
    let file = crate::build::resource("file", "/etc/systemd/system/web.service", &[("content", "new")]);
    let transactions = machine.run(vec![file, service("web", &[])], true);
    let message = "not known before file#/etc/systemd/system/web.service".to_owned();
    assert_eq!(transactions[1].outcome, Outcome::WouldChange { message });
}
