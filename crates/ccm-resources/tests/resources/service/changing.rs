//! Starting, stopping, enabling and masking, and their failures.

use std::path::Path;

use ccm_host::{Exit, Host, LocalExecutor, Role};
use ccm_model::{FailureKind, Outcome, Stream};

use crate::gate::RoleGate;
use crate::run::{failure, printed};
use crate::service::machine::{Machine, SYSTEMCTL};
use crate::service::service;

#[test]
fn steps_run_in_order() {
    let stopped = ("inactive dead", &[][..]);
    let running = ("active running", &["UnitFileState=enabled"][..]);
    for (before, properties, after, steps) in [
        (stopped, &[][..], running, &["start -- web.service"][..]),
        (stopped, &[("enable", "true")], running, &["enable -- web.service", "start -- web.service"]),
        (
            running,
            &[("ensure", "stopped"), ("enable", "false")],
            stopped,
            &["disable -- web.service", "stop -- web.service"],
        ),
        (
            running,
            &[("ensure", "stopped"), ("masked", "true")],
            ("inactive dead", &["LoadState=masked", "UnitFileState=masked"]),
            &["mask -- web.service", "stop -- web.service"],
        ),
        (
            ("active running", &["UnitFileState=enabled-runtime"]),
            &[("enable", "false")],
            ("active running", &[]),
            &["disable --runtime -- web.service"],
        ),
        (
            ("inactive dead", &["UnitFileState=masked-runtime", "LoadState=masked"]),
            &[("ensure", "stopped"), ("masked", "false")],
            stopped,
            &["unmask --runtime -- web.service"],
        ),
        (
            ("failed failed", &["Result=start-limit-hit"]),
            &[],
            running,
            &["reset-failed -- web.service", "start -- web.service"],
        ),
    ] {
        let machine = Machine::new();
        machine.has(before.0, before.1);
        machine.has(after.0, after.1);
        let transaction = machine.apply(service("web", properties));
        assert_eq!(transaction.outcome, Outcome::Changed, "{properties:?}");
        assert_eq!(machine.done(), steps);
        // The last step names the action, because it changes the running unit.
        let last = steps.last().and_then(|step| step.split(' ').next());
        assert_eq!(transaction.action.map(|action| action.verb.infinitive()), last);
    }
}

#[test]
fn unit_file_at_the_path_of_the_mask_is_kept() {
    let properties = [("ensure", "stopped"), ("masked", "true")];
    for (user, path, elsewhere) in [
        (false, "/etc/systemd/system", "/usr/local/lib/systemd/system"),
        (true, "/home/a/.config/systemd/user", "~/.local/share/systemd/user"),
    ] {
        for noop in [true, false] {
            let mut machine = if user { Machine::of_user() } else { Machine::new() };
            machine.has("active running", &["UnitFileState=enabled"]);
            let file = Path::new(path).join("web.service");
            machine.files.files.insert(file.clone());
            let of_user = user.then_some(("user", "true"));
            let properties: Vec<_> = properties.into_iter().chain(of_user).collect();
            let transaction =
                machine.run(vec![service("web", &properties)], noop).pop().expect("a transaction");
            let failure = failure(&transaction);
            assert_eq!(
                failure.chain,
                [
                    "cannot mask `web.service`".to_owned(),
                    format!(
                        "\"{}\" is a file, and the link that masks the unit needs this path",
                        file.display()
                    ),
                ]
            );
            assert!(
                failure.hints[0].contains(&format!("move the file to {elsewhere}, ")),
                "{:?}",
                failure.hints
            );
            assert!(!failure.changed);
            assert_eq!(machine.done(), [""; 0]);
        }
    }
}

#[test]
fn noop_cannot_judge_a_mask_before_a_removal() {
    let mut machine = Machine::new();
    machine.files.directories.insert("/etc/systemd/system".into());
    machine.files.files.insert("/etc/systemd/system/web.service".into());
    machine.has("active running", &[]);
    let file = crate::build::resource("file", "/etc/systemd/system/web.service", &[("ensure", "absent")]);
    let web = service("web", &[("ensure", "stopped"), ("masked", "true")]);
    let transactions = machine.run(vec![file, web], true);
    let message = "not known before file#/etc/systemd/system/web.service".to_owned();
    assert_eq!(transactions[1].outcome, Outcome::WouldChange { message });
}

#[test]
fn unmasked_unit_is_read_again() {
    let machine = Machine::new();
    machine.has("inactive dead", &["LoadState=masked", "UnitFileState=masked"]);
    machine.has("inactive dead", &["UnitFileState=enabled"]);
    machine.has("active running", &["UnitFileState=enabled"]);
    let properties = [("masked", "false"), ("enable", "true")];
    assert_eq!(machine.apply(service("web", &properties)).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["unmask -- web.service", "start -- web.service"]);
}

#[test]
fn alias_stands_for_the_primary_name() {
    let machine = Machine::new();
    let names = ["Id=nginx.service", "Names=nginx.service web.service", "UnitFileState=enabled"];
    machine.has("active running", &names);
    machine.has_all(&[("nginx.service", "active running", &[])]);
    assert_eq!(machine.apply(service("web", &[("enable", "false")])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["disable -- nginx.service"]);
}

#[test]
fn failed_start_quotes_the_journal() {
    let machine = Machine::new();
    machine.has("inactive dead", &[]);
    let how = ["Result=exit-code", "ExecMainCode=1", "ExecMainStatus=4"];
    machine.has("failed failed", &how);
    let stderr = "Job for web.service failed because the control process exited with error code.\n\
        See \"systemctl status web.service\" and \"journalctl -xeu web.service\" for details.\n";
    machine.refuses("start -- web.service", stderr);
    let journal =
        "journalctl --no-pager --quiet --output=cat --lines 10 --since=@0.000000 --unit=web.service";
    machine
        .runner
        .answer_with(journal, printed(Exit::Code(0), "no such directory: /srv\nFailed to start.\n", ""));
    let transaction = machine.apply(service("web", &[]));
    let failure = failure(&transaction);
    assert_eq!(
        failure.chain,
        [
            "`systemctl start` failed",
            "Job for web.service failed because the control process exited with error code",
            "its main process ended with exit code 4 (result: exit-code)",
        ]
    );
    assert!(failure.changed);
    assert_eq!(failure.output.len(), 1);
    assert_eq!(failure.output[0].stream, Stream::Journal);
    assert_eq!(failure.output[0].lines, ["no such directory: /srv", "Failed to start."]);
}

#[test]
fn unit_that_exits_right_after_its_start_has_failed() {
    let machine = Machine::new();
    machine.has("inactive dead", &["Type=simple"]);
    machine.has("active running", &["Type=simple"]);
    let how = ["Type=simple", "Result=exit-code", "ExecMainCode=1", "ExecMainStatus=3"];
    machine.has("activating auto-restart", &how);
    let transaction = machine.apply(service("web", &[]));
    assert_eq!(
        failure(&transaction).chain,
        [
            "`web.service` is not in the desired state after the change",
            "it exited and waits for a restart",
            "its main process ended with exit code 3 (result: exit-code)"
        ]
    );
}

#[test]
fn exit_codes_of_systemd_are_explained() {
    let machine = Machine::new();
    machine.has("inactive dead", &[]);
    machine.has("failed failed", &["Result=exit-code", "ExecMainCode=1", "ExecMainStatus=203"]);
    assert_eq!(
        failure(&machine.apply(service("web", &[]))).chain,
        [
            "`web.service` is not in the desired state after the change",
            "it has failed",
            "its main process ended with exit code 203: systemd could not execute its program \
             (result: exit-code)",
        ]
    );
    let machine = Machine::new();
    machine.has("inactive dead", &[]);
    let stderr = "A dependency job for web.service failed. See 'journalctl -xe' for details.\n";
    machine.refuses("start -- web.service", stderr);
    let transaction = machine.apply(service("web", &[]));
    assert_eq!(
        failure(&transaction).chain,
        ["`systemctl start` failed", "A dependency job for web.service failed"]
    );
    assert_eq!(failure(&transaction).hints, ["list failed dependencies with `systemctl --failed`"]);
}

#[test]
fn finished_oneshot_counts_as_started() {
    let machine = Machine::new();
    machine.has("inactive dead", &["Type=oneshot"]);
    let transaction = machine.apply(service("web", &[]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    assert_eq!(
        transaction.notes,
        [
            "the oneshot succeeded and exited; the next run starts it again unless its unit sets `RemainAfterExit=yes`"
        ]
    );
}

#[test]
fn start_timeout_comes_from_the_unit_or_the_manifest() {
    for (properties, seconds) in [(&[][..], 110), (&[("timeout", "5s")], 5)] {
        let machine = Machine::new();
        machine.has("inactive dead", &["TimeoutStartUSec=20s"]);
        machine.has("active running", &[]);
        assert_eq!(machine.apply(service("web", properties)).outcome, Outcome::Changed);
        let start =
            machine.runner.ran().into_iter().find(|command| command.args.iter().any(|arg| arg == "start"));
        assert_eq!(start.and_then(|start| start.timeout).map(|limit| limit.as_secs()), Some(seconds));
    }
    let machine = Machine::new();
    machine.has("inactive dead", &[]);
    let after = std::time::Duration::from_secs(5);
    let line = format!("{SYSTEMCTL} start -- web.service");
    machine.runner.answer_with(&line, printed(Exit::TimedOut { after }, "", ""));
    let transaction = machine.apply(service("web", &[("timeout", "5s")]));
    assert_eq!(failure(&transaction).chain, ["`systemctl start` failed", "systemctl timed out after 5s"]);
    assert_eq!(failure(&transaction).hints, ["raise `timeout`; systemd continues the operation"]);
    // Only the start has the limit of the manifest.
    let machine = Machine::new();
    machine.has("inactive dead", &[]);
    let line = format!("{SYSTEMCTL} enable -- web.service");
    machine.runner.answer_with(&line, printed(Exit::TimedOut { after }, "", ""));
    let transaction = machine.apply(service("web", &[("enable", "true"), ("timeout", "5s")]));
    assert_eq!(failure(&transaction).chain, ["`systemctl enable` failed", "systemctl timed out after 5s"]);
    assert_eq!(failure(&transaction).hints, [""; 0]);
}

#[test]
fn missing_permission_comes_with_a_hint() {
    for denial in ["Interactive authentication required.", "Access denied"] {
        let machine = Machine::new();
        machine.has("inactive dead", &[]);
        machine.refuses("start -- web.service", &format!("Failed to start web.service: {denial}\n"));
        let transaction = machine.apply(service("web", &[]));
        assert_eq!(failure(&transaction).hints, ["run ccm as root, or allow the action in polkit"]);
    }
}

#[test]
fn a_gate_tells_questions_from_changes_and_stays_in_the_failure() {
    let machine = Machine::new();
    machine.has("inactive dead", &[]);
    let executor = LocalExecutor::new(&machine.runner, &machine.runner, &machine.files);
    let host =
        Host { executor: &executor, system: &machine.runner, files: &machine.files, clock: &machine.clock };
    let gate = RoleGate::denying(Role::Tool);
    let done = gate.run(vec![service("web", &[])], false, host).pop().expect("a transaction");
    let expected =
        ["Query: ccm systemctl", "change: it is not running", "Query: ccm systemctl", "Tool: ccm systemctl"];
    assert_eq!(gate.questions(), expected);
    assert_eq!((failure(&done).kind, failure(&done).changed), (FailureKind::Denied, false));
    assert_eq!(machine.done(), [] as [&str; 0]);
    let gate = RoleGate::denying(Role::Query);
    let done = gate.run(vec![service("web", &[])], false, host).pop().expect("a transaction");
    assert_eq!(failure(&done).kind, FailureKind::Denied);
}
