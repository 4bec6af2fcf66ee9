//! Commands of `validate`, on a fake machine.

use std::path::Path;

use ccm_host::{Exit, Host, LocalExecutor, Role};
use ccm_model::{FailureKind, Outcome, Resource, Transaction};
use ccm_testkit::{FakeClock, FakeFile, FakeFiles, FakeRunner};

use crate::build::resource;
use crate::run::{Manner, failure, printed, run};

const COPY: &str = "/tmp/private/work/f";
const CHECK: &str = "check /tmp/private/work/f";

struct Machine {
    runner: FakeRunner,
    files: FakeFiles,
}

impl Machine {
    /// A machine with the file `/etc/f` and a place for private directories.
    fn new() -> Self {
        let mut files = FakeFiles::default();
        files.directories.extend(["/etc".into(), "/tmp/private/work".into()]);
        files.entries.borrow_mut().insert("/etc/f".into(), FakeFile::of("old\n"));
        files.entries.borrow_mut().insert("/etc/source".into(), FakeFile::of("new\n"));
        Self { runner: FakeRunner::default(), files }
    }

    fn apply(&self, resource: Resource, noop: bool) -> Transaction {
        let clock = FakeClock::default();
        let executor = LocalExecutor::new(&self.runner, &self.runner, &self.files);
        let host = Host { executor: &executor, system: &self.runner, files: &self.files, clock: &clock };
        let manner = Manner { noop, directory: Path::new("/etc"), ..Manner::default() };
        run(vec![resource], host, &manner).pop().expect("a transaction")
    }

    fn content(&self, path: &str) -> Option<String> {
        let content = self.files.entries.borrow().get(Path::new(path))?.content.clone()?;
        Some(String::from_utf8(content).expect("text"))
    }
}

/// Resources that change `/etc/f`, with the new content.
fn resources(validate: &str, more: &[(&str, &str)]) -> Vec<(Resource, &'static str)> {
    let part = |kind: &str, properties: &[(&str, &str)]| {
        resource(kind, "it", &[&[("path", "/etc/f"), ("validate", validate)], properties, more].concat())
    };
    let file =
        |property| resource("file", "/etc/f", &[&[("validate", validate)], &[property][..], more].concat());
    vec![
        (part("line", &[("line", "new"), ("match", "^old$")]), "new\n"),
        (part("block", &[("content", "new")]), "old\n# BEGIN ccm it\nnew\n# END ccm it\n"),
        (part("setting", &[("key", "new"), ("value", "1")]), "old\nnew = 1\n"),
        (file(("content", "new\n")), "new\n"),
        (file(("source", "source")), "new\n"),
    ]
}

#[test]
fn content_that_passes_is_written() {
    for (resource, content) in resources("check %s", &[]) {
        for noop in [true, false] {
            let machine = Machine::new();
            let transaction = machine.apply(resource.clone(), noop);
            assert!(transaction.outcome.is_change(), "{transaction:?}");
            assert_eq!(machine.runner.lines(), [CHECK]);
            let command = &machine.runner.ran()[0];
            assert_eq!((command.role, command.timeout.map(|limit| limit.as_secs())), (Role::Check, Some(60)));
            assert_eq!(machine.content(COPY).as_deref(), Some(content));
            assert_eq!(machine.files.entries.borrow()[Path::new(COPY)].mode, 0o600);
            let expected = if noop { "old\n" } else { content };
            assert_eq!(machine.content("/etc/f").as_deref(), Some(expected));
            assert_eq!(transaction.warnings, [""; 0]);
        }
    }
}

#[test]
fn content_that_is_refused_leaves_the_old_file() {
    for (resource, _) in resources("check %s", &[]) {
        let machine = Machine::new();
        let refusal = printed(Exit::Code(3), "", &format!("checking\n{COPY}:1: bad word\n"));
        machine.runner.answer_with(CHECK, refusal);
        let transaction = machine.apply(resource.clone(), false);
        let failed = failure(&transaction);
        let chain = ["`validate` refused the new content", "`check %s` exited with 3", "/etc/f:1: bad word"];
        assert_eq!(
            (failed.kind, failed.changed, &*failed.chain),
            (FailureKind::Exit, false, &chain.map(str::to_owned)[..])
        );
        assert_eq!(failed.output[0].lines, ["checking", "/etc/f:1: bad word"]);
        assert_eq!(failed.property.as_deref(), Some("validate"));
        assert_eq!(machine.content("/etc/f").as_deref(), Some("old\n"));
        let noop = machine.apply(resource, true);
        assert!(matches!(noop.outcome, Outcome::WouldChange { .. }));
        let warning = "a run would fail now: `validate` refused the new content: `check %s` exited with 3: /etc/f:1: bad word";
        assert_eq!(noop.warnings, [warning]);
    }
}

#[test]
fn a_validator_that_hangs_or_dies_refuses() {
    for (exit, kind, message) in [
        (
            Exit::TimedOut { after: std::time::Duration::from_secs(60) },
            FailureKind::Timeout,
            "`check %s` timed out after 1m0s",
        ),
        (
            Exit::Signal { number: 11, name: "SIGSEGV".to_owned() },
            FailureKind::Signal,
            "`check %s` was killed by SIGSEGV",
        ),
        (Exit::Cancelled, FailureKind::Stopped, "`check %s` was stopped together with the run"),
    ] {
        for (resource, _) in resources("check %s", &[]) {
            let machine = Machine::new();
            machine.runner.answer_with(CHECK, FakeRunner::finished(exit.clone()));
            let transaction = machine.apply(resource, false);
            let failed = failure(&transaction);
            assert_eq!((failed.kind, &*failed.chain[1]), (kind, message));
            let is_verdict = kind == FailureKind::Signal;
            let context =
                if is_verdict { "`validate` refused the new content" } else { "`validate` did not finish" };
            assert_eq!(failed.chain[0], context);
            assert_eq!(machine.content("/etc/f").as_deref(), Some("old\n"));
        }
    }
}

#[test]
fn all_validators_run_up_to_the_first_that_refuses() {
    for (resource, _) in resources("[check %s|second -f %s|third %s]", &[]) {
        let machine = Machine::new();
        machine.runner.answer("second -f /tmp/private/work/f", 1);
        let transaction = machine.apply(resource, false);
        assert_eq!(failure(&transaction).chain[1], "`second -f %s` exited with 1");
        assert_eq!(machine.runner.lines(), [CHECK, "second -f /tmp/private/work/f"]);
    }
}

#[test]
fn nothing_is_validated_without_new_content() {
    for (resource, content) in resources("check %s", &[]) {
        let machine = Machine::new();
        machine.files.entries.borrow_mut().insert("/etc/f".into(), FakeFile::of(content));
        let transaction = machine.apply(resource, false);
        assert_eq!(transaction.outcome, Outcome::Unchanged);
        assert_eq!(machine.runner.lines(), [""; 0]);
    }
    let machine = Machine::new();
    let properties = [("content", "old\n"), ("mode", "0600"), ("validate", "check %s")];
    assert_eq!(machine.apply(resource("file", "/etc/f", &properties), false).outcome, Outcome::Changed);
    assert_eq!(machine.runner.lines(), [""; 0]);
}

#[test]
fn output_about_sensitive_content_is_not_shown() {
    for (resource, _) in resources("check %s", &[("sensitive", "true")]) {
        let machine = Machine::new();
        machine
            .files
            .entries
            .borrow_mut()
            .insert("/etc/f".into(), FakeFile { mode: 0o600, ..FakeFile::of("old\n") });
        machine.runner.answer_with(CHECK, printed(Exit::Code(1), "", "a part of it"));
        let transaction = machine.apply(resource, false);
        let failed = failure(&transaction);
        assert_eq!(failed.output, []);
        assert!(!failed.one_line().contains("part"), "{}", failed.one_line());
        assert!(machine.runner.ran()[0].sensitive);
    }
}

#[test]
fn a_missing_validator_refuses() {
    for (resource, _) in resources("check %s", &[]) {
        let machine = Machine::new();
        machine.runner.without("check");
        let transaction = machine.apply(resource, false);
        let failed = failure(&transaction);
        assert_eq!(failed.chain, ["`validate` failed to run", "\"check\" not found in PATH"]);
        assert!(failed.missing.is_some());
        assert_eq!(machine.content("/etc/f").as_deref(), Some("old\n"));
    }
}
