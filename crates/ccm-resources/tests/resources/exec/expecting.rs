//! What a command has to do to count as a success, and what others may know of it.

use ccm_host::{Exit, Finished, Unredacted};
use ccm_model::Outcome;
use serde_json::json;

use crate::build::errors_of;
use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::run::{failure, printed};

fn answering(code: i32, stdout: &str, stderr: &str) -> Machine {
    let machine = Machine::new();
    machine.runner.answer_with("verify", printed(Exit::Code(code), stdout, stderr));
    machine
}

#[test]
fn what_is_expected_decides_over_success() {
    for (expect, code, misses) in [
        ("{exit_code=3}", 3, &[][..]),
        ("{exit_code=0}", 3, &["exit_code: expected 0, found 3"]),
        ("{stdout=contains('valid')}", 0, &[]),
        ("{stderr=}", 0, &["stderr: expected \"\", found \"note\""]),
        ("{stdout_json={hash=SHA512}}", 0, &["stdout_json.hash: expected SHA512, found SHA256"]),
        (
            "{exit_code=0|stdout=matches('^x')}",
            1,
            &[
                "exit_code: expected 0, found 1",
                "stdout: expected text that matches \"^x\", found \"{\\\"valid\\\": true, \\\"hash\\\": \\\"SHA256\\\"}\"",
            ],
        ),
    ] {
        let machine = answering(code, r#"{"valid": true, "hash": "SHA256"}"#, "note");
        let transaction = machine.apply(exec("verify", &[("expect", expect)]));
        if misses.is_empty() {
            assert_eq!(transaction.outcome, Outcome::Changed, "{expect}");
        } else {
            let failure = failure(&transaction);
            assert_eq!(failure.chain[0], "the result of the command differs from `expect`");
            assert_eq!(failure.chain[1..], *misses, "{expect}");
            assert!(failure.changed && !failure.output.is_empty());
        }
    }
}

#[test]
fn what_is_captured_is_named_and_not_shown() {
    let machine = answering(0, r#"{"token": "s3cret"}"#, "");
    let transaction =
        machine.apply(exec("verify", &[("capture", "{token=stdout.json.token|code=exit_code}")]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    let state = transaction.state.unwrap_or_default();
    assert_eq!(state["captured"], json!(["token", "code"]));
    assert!(!state.to_string().contains("s3cret"));
}

#[test]
fn what_can_not_be_captured_fails_the_resource() {
    let machine = answering(0, "{}", "");
    let transaction = machine.apply(exec("verify", &[("capture", "{root=stdout.json.merkle.root}")]));
    assert_eq!(
        failure(&transaction).chain,
        [
            "values of `capture` are missing from the result of the command",
            "`root`: there is no `stdout.json.merkle`"
        ]
    );
    assert_eq!(transaction.state.unwrap_or_default()["captured"], json!([]));
}

#[test]
fn invalid_properties_are_rejected() {
    for (properties, expected) in [
        (
            &[("returns", "[0|1]"), ("expect", "{exit_code=0}")][..],
            "conflict returns returns, exit_code, expect | …",
        ),
        (
            &[("unchanged_returns", "[3]"), ("expect", "{exit_code=3}")],
            "conflict unchanged_returns unchanged_returns, exit_code, expect | …",
        ),
        (&[("expect", "{exit_kode=0}")], "unknown-property expect exit_kode | exit_code"),
        (&[("expect", "{nothing=1}")], "unknown-property expect nothing | …"),
        (&[("expect", "{exit_code=300}")], "invalid-value expect"),
        (&[("expect", "{stdout=contains(ok)}")], r#"invalid-value expect contains(…) | contains("TEXT")"#),
        (&[("expect", "{stderr=matches('[')}")], "invalid-value expect ["),
        (&[("capture", "{a=stdout.jso.b}")], "invalid-value capture stdout.jso.b | stdout.json"),
        (&[("expect", "{}")], "missing expect expect | exit_code, stdout, stderr, stdout_json"),
        (
            &[("expect", "{stdout_json=null}")],
            "missing expect expect | exit_code, stdout, stderr, stdout_json",
        ),
        (&[("capture", "{}")], "missing capture capture | NAME: stdout.json.KEY, capture"),
        (&[("capture", "[a]")], "wrong-type capture"),
        (&[("tries", "0")], "invalid-value tries tries"),
        (&[("try_sleep", "5")], "invalid-value try_sleep 5 | 5s, 5m"),
    ] {
        assert_eq!(errors_of(&exec("true", properties)), [expected], "{properties:?}");
    }
}

/// A machine on which `verify` prints a secret that is known.
fn printing_a_secret(stdout: &str) -> Machine {
    let machine = Machine::new();
    machine.secrets.add(["S3cr3tPassword", "47114711"]);
    let real = printed(Exit::Code(0), stdout, "");
    let hidden = machine.secrets.redact(stdout).into_owned();
    let unredacted = Unredacted { stdout: real.stdout, stderr: real.stderr };
    let finished = Finished { unredacted: Some(Box::new(unredacted)), ..printed(Exit::Code(0), &hidden, "") };
    machine.runner.answer_with("verify", finished);
    machine
}

#[test]
fn secrets_are_judged_as_they_were_printed() {
    for (expect, stdout) in [
        ("{stdout=S3cr3tPassword}", "S3cr3tPassword"),
        ("{stdout=matches('Pass')}", "S3cr3tPassword"),
        ("{stdout_json={pin=47114711}}", r#"{"pin": 47114711}"#),
    ] {
        let transaction = printing_a_secret(stdout).apply(exec("verify", &[("expect", expect)]));
        assert_eq!(transaction.outcome, Outcome::Changed, "{expect}");
    }
    let transaction =
        printing_a_secret("S3cr3tPassword").apply(exec("verify", &[("expect", "{stdout=contains('x')}")]));
    assert_eq!(
        failure(&transaction).chain[1],
        "stdout: expected text that contains \"x\", found \"[redacted]\""
    );
}

#[test]
fn a_captured_value_that_holds_a_secret_is_one() {
    let machine = printing_a_secret(r#"{"token": "Bearer S3cr3tPassword", "user": "somebody"}"#);
    let transaction = machine.apply(exec("verify", &[("capture", "{all=stdout.json}")]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    assert_eq!(machine.secrets.redact("<Bearer S3cr3tPassword> somebody"), "<[redacted]> somebody");
}

#[test]
fn every_missing_capture_is_named() {
    let machine = answering(0, "{}", "");
    let transaction =
        machine.apply(exec("verify", &[("capture", "{a=stdout.json.a|b=exit_code|c=stdout.json.c}")]));
    assert_eq!(
        failure(&transaction).chain[1..],
        ["`a`: there is no `stdout.json.a`", "`c`: there is no `stdout.json.c`"]
    );
}

#[test]
fn a_sensitive_exec_names_what_was_not_as_expected() {
    let machine = answering(0, r#"{"a": "b"}"#, "");
    let properties = [
        ("sensitive", "true"),
        ("expect", "{stdout=x|stdout_json={a=c|d=e}}"),
        ("capture", "{k=stdout.json.k}"),
    ];
    let transaction = machine.apply(exec("verify", &properties));
    let rest = "not as expected; details are hidden, because the exec is `sensitive`";
    assert_eq!(failure(&transaction).chain[1..], [format!("stdout: {rest}"), format!("stdout_json: {rest}")]);
}
