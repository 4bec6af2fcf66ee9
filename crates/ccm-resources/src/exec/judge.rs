//! What the end of a command means. Pure.

use ccm_engine::Verified;
use ccm_host::{Enforced, Exit, Finished};
use ccm_model::{Failure, FailureKind, display_duration};
use serde_json::Value;

use super::command::Exec;
use super::output::{Shown, tails};
use super::provider::not_found_by_shell;
use super::rules::ExecRule;
use super::tries::Attempt;

/// What is left to say of a command that was started, all its tries being over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    /// The exit code of the last try; none if that did not end by itself.
    pub code: Option<i32>,
    /// How each try ended.
    pub attempts: Vec<Attempt>,
    /// What the last one amounted to.
    pub judged: Result<Success, Failure>,
    /// What of its sandbox was enforced; none without a sandbox.
    pub enforced: Option<Enforced>,
}

/// A command that did what it was meant to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Success {
    pub verified: Verified<ExecRule>,
    /// What others may know of it; none if it captures nothing.
    pub captured: Option<Value>,
}

/// Judges how one try ended, by what it really printed.
pub(crate) fn judge(exec: &Exec, finished: &Finished, shown: Shown<'_>) -> Result<Success, Failure> {
    let judged = match &finished.exit {
        Exit::Code(code) => match not_found_by_shell(exec, finished) {
            Some(failure) => Err(failure),
            None => success(exec, finished, *code, shown),
        },
        Exit::Signal { name, .. } => {
            Err(Failure::new(FailureKind::Signal, format!("command was killed by {name}")))
        }
        Exit::TimedOut { after } => {
            let message = format!("command timed out after {}", display_duration(*after));
            Err(Failure::new(FailureKind::Timeout, message)
                .with_hint("raise `timeout`, or find out what the command waits for"))
        }
        Exit::Cancelled => Err(Failure::new(FailureKind::Stopped, "command was stopped because the run was")),
    };
    judged.map_err(|mut failure| {
        for process in &finished.unkillable {
            failure.chain.push(format!("could not be killed, and still runs: {process}"));
        }
        // Whatever it did before that has happened.
        failure.changed = true;
        failure.output = tails(exec, finished);
        failure
    })
}

/// Judges a command that ended by itself: its code, then what is expected of it, then what it is to yield.
fn success(exec: &Exec, finished: &Finished, code: i32, shown: Shown<'_>) -> Result<Success, Failure> {
    let verified = judge_code(exec, code);
    let (stdout, stderr) = (finished.printed_stdout(), finished.printed_stderr());
    let misses = exec.expect.as_ref().map(|expect| expect.misses(code, stdout, stderr, shown));
    let expects_code = exec.expect.as_ref().is_some_and(|expect| expect.exit_code.is_some());
    let misses = misses.unwrap_or_default();
    let verified = match verified {
        Err(failure) if !expects_code => return Err(failure),
        _ if !misses.is_empty() => {
            let message = "the command did not do what `expect` says";
            let mut failure = Failure::new(FailureKind::Expectation, message);
            failure.chain.extend(misses.iter().map(|miss| miss.shown(exec.sensitive)));
            failure.chain.dedup();
            return Err(failure);
        }
        verified => verified?,
    };
    let captured = match &exec.capture {
        capture if capture.0.is_empty() => None,
        capture => Some(capture.pick(finished, code, shown).map_err(|missing| {
            let message = "what `capture` names is not in what the command did";
            let mut failure = Failure::new(FailureKind::Capture, message);
            failure.chain.extend(missing.into_iter().map(|(name, why)| {
                if exec.sensitive { format!("`{name}` is not there") } else { format!("`{name}`: {why}") }
            }));
            failure
        })?),
    };
    Ok(Success { verified, captured })
}

fn judge_code(exec: &Exec, code: i32) -> Result<Verified<ExecRule>, Failure> {
    let is = |allowed: &u8| i32::from(*allowed) == code;
    if exec.unchanged_returns.iter().any(is) {
        return Ok(Verified::Unchanged(ExecRule::UnchangedReturn(code)));
    }
    if exec.returns.iter().any(is) {
        return Ok(Verified::Changed);
    }
    let allowed: Vec<String> = exec.returns.iter().map(u8::to_string).collect();
    let message = format!("exit code {code} not in allowed returns [{}]", allowed.join(", "));
    Err(Failure::new(FailureKind::Exit, message))
}

#[cfg(test)]
mod tests {
    use ccm_host::Captured;
    use ccm_model::Map;
    use ccm_redaction::Redactor;
    use ccm_testkit::FakeRunner;
    use serde_json::json;

    use super::*;
    use crate::exec::command::Interpreter;
    use crate::exec::expect::Expectations;
    use crate::exec::properties::ExecProperties;
    use crate::exec::values::ExitCode;

    fn exec() -> Exec {
        Exec::build("true", Interpreter::None, ExecProperties::default(), &Map::default()).unwrap()
    }

    fn finished(code: i32, stdout: &str) -> Finished {
        let stdout = Captured { head: stdout.into(), ..Captured::default() };
        Finished { stdout, ..FakeRunner::finished(Exit::Code(code)) }
    }

    #[test]
    fn an_exit_code_is_judged() {
        let exec = Exec { returns: vec![0, 2], unchanged_returns: vec![3], ..exec() };
        let verified = |code| {
            judge(&exec, &finished(code, ""), Shown(&Redactor::default())).map(|success| success.verified)
        };
        assert_eq!(verified(0), Ok(Verified::Changed));
        assert_eq!(verified(2), Ok(Verified::Changed));
        assert_eq!(verified(3), Ok(Verified::Unchanged(ExecRule::UnchangedReturn(3))));
        let failure = verified(7).unwrap_err();
        assert_eq!(failure.chain, ["exit code 7 not in allowed returns [0, 2]"]);
        assert!(failure.changed);
    }

    #[test]
    fn a_wrong_code_is_told_before_what_else_is_not_as_expected() {
        let stdout_json = Some(json!({"a": 1}));
        let mut exec = Exec { expect: Some(Expectations { stdout_json, ..Default::default() }), ..exec() };
        let redactor = Redactor::default();
        let chain = |exec: &Exec, code, stdout| {
            judge(exec, &finished(code, stdout), Shown(&redactor)).map_err(|failure| failure.chain)
        };
        assert_eq!(chain(&exec, 1, "{}").unwrap_err(), ["exit code 1 not in allowed returns [0]"]);
        assert_eq!(
            chain(&exec, 0, "{}").unwrap_err(),
            ["the command did not do what `expect` says", "stdout_json.a: expected 1, found nothing"]
        );
        assert!(chain(&exec, 0, r#"{"a": 1}"#).is_ok());
        exec.expect.as_mut().unwrap().exit_code = Some(ExitCode(0));
        assert_eq!(
            chain(&exec, 1, "{}").unwrap_err()[1..],
            ["exit_code: expected 0, found 1", "stdout_json.a: expected 1, found nothing"]
        );
    }
}
