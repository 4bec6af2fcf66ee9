//! What systemd does not say by itself: real enablement, crash loops, units that go away.

use std::time::Duration;

use ccm_host::Exit;
use ccm_model::{Dependency, Outcome, Resource, ResourceIndex, Span};
use ccm_testkit::FakeFile;

use crate::build::resource;
use crate::run::{failure, printed};
use crate::service::machine::Machine;
use crate::service::service;

const UNIT_FILE: &str = "/etc/systemd/system/web.service";

/// Returns a machine on which the unit file of an enabled service says this, and these links exist.
fn installed(text: &str, links: &[&str]) -> Machine {
    let machine = Machine::new();
    machine.has("active running", &["UnitFileState=enabled", &format!("FragmentPath={UNIT_FILE}")]);
    let paths = links.iter().map(|link| (format!("/etc/systemd/system/{link}").into(), FakeFile::of("")));
    machine.files.entries.borrow_mut().extend(paths.chain([(UNIT_FILE.into(), FakeFile::of(text))]));
    machine
}

#[test]
fn init_scripts_are_enabled_as_is_enabled_says() {
    let generated = ["UnitFileState=generated", "SourcePath=/etc/init.d/web"];
    for (enable, before, after, done) in [
        ("true", "disabled", "enabled", &["enable -- web.service"][..]),
        ("true", "enabled", "enabled", &[]),
        ("false", "enabled", "disabled", &["disable -- web.service"]),
        ("false", "disabled", "disabled", &[]),
    ] {
        let machine = Machine::new();
        machine.has("active running", &generated);
        for word in [before, after] {
            let code = Exit::Code(i32::from(word == "disabled"));
            let line = "systemctl --no-ask-password --no-pager is-enabled -- web.service";
            machine.runner.answer_with(line, printed(code, &format!("{word}\n"), ""));
        }
        let transaction = machine.apply(service("web", &[("enable", enable)]));
        let expected = if done.is_empty() { Outcome::Unchanged } else { Outcome::Changed };
        assert_eq!(transaction.outcome, expected, "{enable} {before}");
        assert_eq!(machine.done(), done);
        assert_eq!(transaction.warnings, [""; 0]);
    }
}

#[test]
fn a_changed_install_section_is_applied() {
    let wanted = "multi-user.target.wants/web.service";
    for (text, links, done) in [
        ("[Install]\nWantedBy=multi-user.target\n", &[wanted][..], &[][..]),
        ("[Install]\nWantedBy=graphical.target\n", &[wanted], &["reenable -- web.service"]),
        (
            "[Install]\nWantedBy=multi-user.target\nAlias=www.service\n",
            &[wanted],
            &["reenable -- web.service"],
        ),
        ("[Install]\nWantedBy=multi-user.target\nAlias=www.service\n", &[wanted, "www.service"], &[]),
        // Somebody may have added a link by hand.
        ("[Install]\nWantedBy=multi-user.target\n", &[wanted, "graphical.target.wants/web.service"], &[]),
    ] {
        let machine = installed(text, links);
        let _transaction = machine.apply(service("web", &[("enable", "true")]));
        assert_eq!(machine.done(), done, "{text} {links:?}");
    }
}

#[test]
fn a_unit_that_can_not_be_enabled_is_named() {
    let machine = installed("[Service]\nExecStart=web\n", &["multi-user.target.wants/web.service"]);
    let transaction = machine.apply(service("web", &[("enable", "true")]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    assert!(
        transaction.warnings[0].contains("without an `[Install]` section: an old link"),
        "{:?}",
        transaction.warnings
    );
    let machine = Machine::new();
    machine.has("active running", &["UnitFileState=static"]);
    let transaction = machine.apply(service("web", &[("enable", "true")]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    assert!(
        transaction.warnings[0].contains("starts only when something else needs it"),
        "{:?}",
        transaction.warnings
    );
    assert_eq!(machine.apply(service("web", &[])).warnings, [""; 0]);
}

#[test]
fn a_unit_that_goes_away_when_it_is_stopped_is_stopped() {
    let machine = Machine::new();
    machine.has("active running", &["UnitFileState=transient"]);
    let missing = ["LoadState=not-found", "UnitFileState="];
    machine.has("inactive dead", &missing);
    let stopped = || service("web", &[("ensure", "stopped")]);
    assert_eq!(machine.apply(stopped()).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["stop -- web.service"]);
    let transaction = machine.apply(stopped());
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    let reason = transaction.reason.expect("a reason");
    assert_eq!(reason.text, "it does not exist, so that it does not run");
    // A name that ccm has not stopped may be misspelt, and what is to run has to exist.
    let other = Machine::new();
    other.has("inactive dead", &missing);
    assert_eq!(
        failure(&other.apply(stopped())).chain,
        ["service not found: unit `web.service` does not exist"]
    );
    assert_eq!(
        failure(&machine.apply(service("web", &[]))).chain,
        ["service not found: unit `web.service` does not exist"]
    );
}

#[test]
fn a_manifest_can_remove_a_service_again_and_again() {
    let stopped = || service("web", &[("ensure", "stopped"), ("enable", "false")]);
    let absent = |type_name, name| resource(type_name, name, &[("ensure", "absent")]);
    for (others, outcome) in [
        (vec![absent("file", UNIT_FILE)], Outcome::Unchanged),
        (vec![absent("file", "/lib/systemd/system/web.service")], Outcome::Unchanged),
        (vec![absent("package", "web")], Outcome::Unchanged),
    ] {
        for noop in [false, true] {
            let machine = Machine::new();
            machine.has("inactive dead", &["LoadState=not-found", "UnitFileState="]);
            let resources = [vec![stopped()], others.clone()].concat();
            assert_eq!(machine.run(resources, noop)[0].outcome, outcome);
        }
    }
    // A package of another name has to have an edge to the service.
    for has_edge in [false, true] {
        let machine = Machine::new();
        machine.has("inactive dead", &["LoadState=not-found", "UnitFileState="]);
        let mut package = absent("package", "web-server");
        if has_edge {
            package.require.push(Dependency { on: ResourceIndex::from_usize(0), span: Span::default() });
        }
        let outcome = machine.run(vec![stopped(), package], true)[0].outcome.clone();
        assert_eq!(outcome == Outcome::Unchanged, has_edge);
    }
}

#[test]
fn a_crash_loop_is_no_start() {
    for (at_start, after_a_second, is_started) in
        [("0", "0", true), ("1", "1", true), ("0", "4", false), ("1", "2", false)]
    {
        let machine = Machine::new();
        machine.has("inactive dead", &["Type=simple"]);
        for restarts in [at_start, after_a_second] {
            machine.has(
                "active running",
                &["Type=simple", &format!("NRestarts={restarts}"), "ExecMainCode=1", "ExecMainStatus=1"],
            );
        }
        let transaction = machine.apply(service("web", &[]));
        if is_started {
            assert_eq!(transaction.outcome, Outcome::Changed);
            continue;
        }
        let chain = failure(&transaction).chain.join(": ");
        assert!(
            chain.contains("systemd restarted it") && chain.contains("ended with exit code 1"),
            "{chain}"
        );
    }
}

#[test]
fn a_service_that_ends_well_was_started() {
    let machine = Machine::new();
    machine.has("inactive dead", &["Type=simple"]);
    machine.has("active running", &["Type=simple"]);
    machine.has("inactive dead", &["Type=simple"]);
    let transaction = machine.apply(service("web", &[]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    assert!(transaction.notes[0].contains("the service succeeded and exited"), "{:?}", transaction.notes);
}

#[test]
fn services_that_were_started_are_watched_together() {
    let machine = Machine::new();
    let names: Vec<String> = (0..20).map(|number| format!("web{number}")).collect();
    for name in &names {
        machine.has_each(
            &format!("{name}.service"),
            &[("inactive dead", &["Type=simple"]), ("active running", &["Type=simple"])],
        );
    }
    let stopped: Vec<String> = names.iter().map(|name| format!("{name}.service")).collect();
    let all: Vec<(&str, &str, &[&str])> =
        stopped.iter().map(|unit| (&**unit, "inactive dead", &["Type=simple"][..])).collect();
    machine.has_all(&all);
    let transactions = machine.run(names.iter().map(|name| service(name, &[])).collect(), false);
    assert!(transactions.iter().all(|transaction| transaction.outcome == Outcome::Changed));
    assert_eq!(machine.done().len(), 20);
    assert_eq!(ccm_host::Clock::monotonic(&machine.clock), Duration::from_secs(1));
}

#[test]
fn services_that_one_change_restarts_are_watched_together() {
    let machine = Machine::new();
    let running = ("active running", &["Type=simple"][..]);
    machine.has_each("first.service", &[("inactive dead", &["Type=simple"]), running, running]);
    let names: Vec<String> = (0..20).map(|number| format!("web{number}")).collect();
    for name in &names {
        machine.has_each(&format!("{name}.service"), &[running]);
    }
    let units: Vec<String> = names.iter().map(|name| format!("{name}.service")).collect();
    let states = [("first.service", "inactive dead", &["Type=simple"][..])];
    let others = units.iter().map(|unit| (&**unit, running.0, running.1));
    machine.has_all(&states.into_iter().chain(others).collect::<Vec<_>>());
    let mut resources = vec![service("first", &[])];
    for name in &names {
        let subscribe = vec![Dependency { on: ResourceIndex(0), span: Span::default() }];
        resources.push(Resource { subscribe, ..service(name, &[]) });
    }
    let transactions = machine.run(resources, false);
    assert!(transactions[1..].iter().all(|transaction| transaction.outcome == Outcome::Refreshed));
    assert_eq!(machine.done().iter().filter(|call| call.starts_with("restart")).count(), 20);
    // One second for the first, and one for all others.
    assert_eq!(ccm_host::Clock::monotonic(&machine.clock), Duration::from_secs(2));
}

#[test]
fn a_service_that_systemd_keeps_restarting_is_named() {
    for (restarts, since, is_named) in [
        ("3", "Thu 1970-01-01 00:16:38 UTC", true),
        ("3", "Thu 1970-01-01 00:10:00 UTC", false),
        ("0", "Thu 1970-01-01 00:16:38 UTC", false),
    ] {
        let machine = Machine::new();
        machine.clock.advance(Duration::from_secs(1000));
        machine.has(
            "active running",
            &[&format!("NRestarts={restarts}"), &format!("ActiveEnterTimestamp={since}")],
        );
        let transaction = machine.apply(service("web", &[]));
        assert_eq!(transaction.outcome, Outcome::Unchanged);
        let is_warned = transaction.warnings.iter().any(|warning| {
            warning.starts_with("systemd has restarted it 3 times, last 2s ago, so that it may be failing")
        });
        assert_eq!(is_warned, is_named, "{:?}", transaction.warnings);
    }
}

#[test]
fn a_socket_that_starts_a_stopped_service_again_is_named() {
    for (state, is_managed, is_named) in [
        ("active listening", false, true),
        ("inactive dead", false, false),
        ("active listening", true, false),
    ] {
        let machine = Machine::new();
        machine.has("inactive dead", &["TriggeredBy=web.socket"]);
        machine.has_all(&[("web.socket", state, &[])]);
        let mut resources = vec![service("web", &[("ensure", "stopped")])];
        if is_managed {
            resources.push(service("web.socket", &[("ensure", "running")]));
        }
        let transaction = machine.run(resources, true).remove(0);
        assert_eq!(transaction.outcome, Outcome::Unchanged);
        let is_warned = transaction
            .warnings
            .iter()
            .any(|warning| warning.starts_with("`web.socket` runs and starts it again"));
        assert_eq!(is_warned, is_named, "{state}: {:?}", transaction.warnings);
    }
}

#[test]
fn a_start_limit_of_earlier_tries_is_reset_once() {
    let machine = Machine::new();
    machine.has("inactive dead", &[]);
    machine.has("failed failed", &["Result=start-limit-hit"]);
    machine.has("active running", &[]);
    machine.refuses("start -- web.service", "Job for web.service failed.\n");
    machine.prints("start -- web.service", "");
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Changed);
    assert_eq!(
        machine.done(),
        ["start -- web.service", "reset-failed -- web.service", "start -- web.service"]
    );
    // The result of a unit that failed before does not tell why it is not started again.
    let machine = Machine::new();
    machine.has("failed failed", &["Result=exit-code"]);
    machine.has("active running", &[]);
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["reset-failed -- web.service", "start -- web.service"]);
}
