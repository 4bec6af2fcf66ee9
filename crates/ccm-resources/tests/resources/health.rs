//! Health checks as commands of this machine, well-behaved and hostile, and as rules.

use std::time::{Duration, Instant};

use ccm_engine::Verdict;
use ccm_host::{Cancellation, Host, LocalExecutor, Role, SystemClock, SystemFiles, SystemRunner};
use ccm_model::{
    FailureKind, HealthCheckResult, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Outcome, PerformanceValue,
    Resource, Span, Transaction,
};
use ccm_redaction::Secrets;
use ccm_testkit::{Scratch, wait_until};

use crate::build::{errors_of, resource, with_settings};
use crate::gate::{RoleGate, run_behind};
use crate::local_run::{outcome, run_on_machine};
use crate::run::{Manner, failure};

/// Returns an exec that has nothing to do, with health checks.
fn healthy(checks: &str) -> Resource {
    resource("exec", "x", &[("command", "true"), ("creates", "/"), ("health_checks", checks)])
}

fn apply(resource: Resource) -> Transaction {
    apply_in(resource, &Manner::default())
}

fn apply_in(resource: Resource, manner: &Manner<'_>) -> Transaction {
    run_on_machine(vec![resource], manner).pop().expect("a transaction")
}

/// Runs one check of a resource that is unchanged.
fn checked(check: &str) -> (HealthCheckResult, Transaction) {
    let transaction = apply(healthy(&format!("[{check}]")));
    (transaction.health_checks[0].clone(), transaction)
}

#[test]
fn exit_code_and_first_line_are_the_result() {
    let long = format!("{{provider=shell|command=printf '{}'}}", "x".repeat(600));
    for (check, status, output) in [
        ("{command=true}", "ok", ""),
        ("{command=echo all well}", "ok", "all well"),
        ("{nagios=printf 'DISK OK\\nmore'}", "ok", "DISK OK"),
        ("{provider=shell|command=echo slow; exit 1}", "warning", "slow"),
        ("{provider=shell|command=echo down >&2; exit 2}", "critical", "down"),
        ("{command=test -e /no/such}", "warning", "exit code 1, and no output of `test -e /no/such`"),
        ("{provider=shell|command=exit 3}", "unknown", "exit code 3, and no output of `exit 3`"),
        ("{provider=shell|command=echo odd; exit 44}", "unknown", "exit code 44: odd"),
        ("{provider=shell|command=exit 300}", "unknown", "exit code 44"),
        ("{provider=shell|command=kill -9 $$}", "unknown", "the command was killed by SIGKILL"),
        ("{command=no-such-program -x}", "unknown", "\"no-such-program\" not found in PATH"),
        ("{command=/etc/passwd}", "unknown", "permission denied"),
        (&*long, "ok", "x…"),
    ] {
        let (result, transaction) = checked(check);
        assert_eq!(result.status.as_str(), status, "{check}: {result:?}");
        let is_expected = match (check, output) {
            (_, "permission denied") => result.output.to_lowercase().contains("/etc/passwd"),
            (_, "x…") => result.output.ends_with("x…") && result.output.chars().count() == 501,
            _ => result.output == output,
        };
        assert!(is_expected, "{check}: {result:?}");
        let is_failed = matches!(transaction.outcome, Outcome::Failed(_));
        assert_eq!(is_failed, matches!(status, "critical" | "unknown"), "{check}");
    }
}

#[test]
fn numbers_behind_a_bar_are_values() {
    let (result, _) = checked("{provider=shell|command=printf 'OK \\174 a=1.5s;2;3 b=x\\n'}");
    let expected = PerformanceValue {
        label: "a".to_owned(),
        value: Some(1.5),
        unit: "s".to_owned(),
        warning: Some("2".to_owned()),
        critical: Some("3".to_owned()),
        ..PerformanceValue::default()
    };
    assert_eq!((&*result.output, result.values), ("OK", vec![expected]));
}

#[test]
fn a_check_that_hangs_is_unknown_and_leaves_no_process() {
    let scratch = Scratch::new();
    let pid = scratch.path().join("pid");
    let check = format!(
        "{{provider=shell|timeout=300ms|command=trap '' TERM; echo $$ > {}; echo begun; sleep 60 & sleep 60; wait}}",
        pid.display()
    );
    let began = Instant::now();
    let (result, transaction) = checked(&check);
    assert_eq!(
        (result.status.as_str(), &*result.output),
        ("unknown", "the command timed out after 300ms: begun")
    );
    assert_eq!(failure(&transaction).kind, FailureKind::HealthCheck);
    assert!(began.elapsed() < Duration::from_secs(30));
    let pid = std::fs::read_to_string(pid).expect("a pid");
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "it still runs");
}

#[test]
fn a_flood_is_bounded() {
    let (result, transaction) = checked("{provider=shell|command=head -c 20000000 /dev/zero; exit 2}");
    assert_eq!(result.status.as_str(), "critical");
    assert!(result.output.len() < 5000, "{}", result.output.len());
    let quoted: usize =
        failure(&transaction).output.iter().flat_map(|tail| &tail.lines).map(String::len).sum();
    assert!(quoted < 100_000, "{quoted}");
    let (result, _) = checked("{provider=shell|command=printf 'OK\\174'; printf 'a%s=1 a0=2 ' $(seq 20000)}");
    let labels: Vec<&str> = result.values.iter().map(|value| &*value.label).take(3).collect();
    assert_eq!((&*result.output, &labels[..]), ("OK", &["a1", "a0", "a2"][..]));
    assert!(result.values.len() <= 1000, "{}", result.values.len());
}

#[test]
fn a_daemon_that_a_check_leaves_is_a_warning() {
    let scratch = Scratch::new();
    let check = format!(
        "{{name=web|provider=shell|command=sleep 600 >/dev/null 2>&1 & echo $! > {}; echo up}}",
        scratch.at("pid")
    );
    let (result, transaction) = checked(&check);
    assert_eq!((result.status.as_str(), &*result.output), ("ok", "up"));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    let [warning] = &transaction.warnings[..] else { panic!("{:?}", transaction.warnings) };
    assert!(warning.starts_with("the health check `web` left process "), "{warning}");
    // Nobody may reap it here, so that its entry stays.
    let pid = scratch.read("pid").expect("a pid");
    let is_gone = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    wait_until("the process that was left is gone", is_gone);
}

#[test]
fn a_secret_in_the_output_is_hidden() {
    let secrets = Secrets::new();
    secrets.add(["s3cret-word".to_owned()]);
    let manner = Manner { secrets, ..Manner::default() };
    let check = "[{provider=shell|command=printf 'is s3cret-word \\174 s3cret-word=1'; exit 2}]";
    let transaction = apply_in(healthy(check), &manner);
    assert!(!format!("{:?}", transaction.health_checks).contains("s3cret-word"), "{transaction:?}");
    assert!(!format!("{:?}", transaction.outcome).contains("s3cret-word"), "{transaction:?}");
}

#[test]
fn a_change_waits_for_its_check() {
    let scratch = Scratch::new();
    let (flag, count) = (scratch.path().join("flag"), scratch.path().join("count"));
    let check = format!(
        "[{{provider=shell|try_sleep=0|command=echo x >> {count}; test $(wc -l < {count}) -ge 3 || exit 2}}]",
        count = count.display()
    )
    .replace(" || ", " && exit 0; ");
    let command = format!("touch {}", flag.display());
    let flag = flag.display().to_string();
    let transaction =
        apply(resource("exec", "x", &[("command", &command), ("creates", &flag), ("health_checks", &check)]));
    assert_eq!((outcome(&transaction), transaction.health_checks[0].tries), ("changed".to_owned(), 3));
}

#[test]
fn a_stop_ends_a_check_that_runs() {
    let (source, cancellation) = ccm_host::CancellationSource::new();
    let manner = Manner { cancellation, ..Manner::default() };
    let scratch = Scratch::new();
    let (flag, sign) = (scratch.at("begun"), scratch.path().join("begun"));
    let stopper = std::thread::spawn(move || {
        wait_until("the check has begun", || sign.exists());
        source.raise(ccm_host::CancellationLevel::Stop);
        source
    });
    let began = Instant::now();
    let checks = format!("[{{provider=shell|command=touch {flag}; sleep 60|tries=5}}|{{command=sleep 61}}]");
    let transaction = apply_in(healthy(&checks), &manner);
    drop(stopper.join());
    assert!(began.elapsed() < Duration::from_secs(20));
    let results = &transaction.health_checks;
    assert_eq!((results[0].tries, results[1].tries), (1, 0), "{results:?}");
    assert_eq!(failure(&transaction).kind, FailureKind::Stopped);
}

#[test]
fn the_gate_decides_on_the_commands_of_checks() {
    let files = SystemFiles::new(Cancellation::never());
    let runner = SystemRunner::new().expect("a runner");
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let host = Host { executor: &executor, system: &runner, files: &files, clock: &SystemClock::default() };
    let wait = Verdict::Wait { reason: "ask".to_owned(), hints: Vec::new(), intent: None };
    let deny = Verdict::Deny { reason: "rule 1".to_owned(), hints: Vec::new() };
    for (verdict, kind) in [(deny, FailureKind::Denied), (wait, FailureKind::ApprovalRequired)] {
        let gate = RoleGate::new(Role::Check, verdict);
        let check = "[{command=true|tries=3}|{command=true|provider=shell}]";
        let transactions = run_behind(&gate, vec![healthy(check)], false, host);
        assert_eq!(failure(&transactions[0]).kind, kind);
        assert_eq!(transactions[0].health_checks[0].tries, 1);
        assert_eq!(gate.questions().len(), 2, "{:?}", gate.questions());
        assert_eq!(gate.questions()[1], "Check: shell `true`");
    }
}

const BUILDER: (&str, &str) = (
    "executors",
    "{builder={kind=native|default_env={A=of-builder}|command_whitelist=[true|/bin/sh -c 'echo $A']}}",
);

#[test]
fn an_executor_starts_the_checks_of_its_exec() {
    let of = |checks: &str| {
        let properties =
            [("command", "true"), ("creates", "/"), ("executor", "builder"), ("health_checks", checks)];
        with_settings(resource("exec", "x", &properties), &[BUILDER])
    };
    let transaction = apply(of("[{command=/bin/sh -c 'echo $A'}]"));
    assert_eq!(transaction.health_checks[0].output, "of-builder", "{transaction:?}");
    for (checks, found) in [
        ("[{command=true}]", &[][..]),
        ("[{command=other}]", &["invalid-value"]),
        ("[{goss_rules={port={tcp:80={listening=true}}}}]", &["conflict"]),
    ] {
        let errors = errors_of(&of(checks));
        let kinds: Vec<&str> = errors.iter().filter_map(|error| error.split(' ').next()).collect();
        assert_eq!(kinds, found, "{checks}: {errors:?}");
    }
}

/// Returns an exec with a check of one rule.
fn with_rule(path: &str) -> Resource {
    let span = Span::default();
    let entry = |key: &str, value: Node| NodeEntry { key: NodeKey { text: key.into(), span }, value };
    let map =
        |key: &str, value: Node| Node { value: NodeValue::Map(NodeMap::new(vec![entry(key, value)])), span };
    let yes = Node {
        value: NodeValue::Scalar(ccm_model::Scalar {
            text: "true".into(),
            style: ccm_model::ScalarStyle::Plain,
        }),
        span,
    };
    let rules = map("file", map(path, map("exists", yes)));
    let list = Node { value: NodeValue::List(vec![map("goss_rules", rules)]), span };
    let mut resource = resource("exec", "x", &[("command", "true"), ("creates", "/")]);
    resource.properties.replace(entry("health_checks", list));
    resource
}

#[test]
fn rules_are_judged_with_the_values_of_this_machine() {
    let scratch = Scratch::new();
    let missing = scratch.at("missing");
    for (path, status, output) in [
        (&*missing, "critical", format!("1 of 1 failed: file {missing} exists (expected true, found false)")),
        ("/", "ok", "1 passed".to_owned()),
    ] {
        let transaction = apply(with_rule(path));
        let result = &transaction.health_checks[0];
        assert_eq!((result.status.as_str(), &*result.output, &*result.name), (status, &*output, "goss"));
    }
}
