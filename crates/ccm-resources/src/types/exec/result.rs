//! Evaluation of the end of a command. Pure.

use ccm_engine::Verified;
use ccm_host::{Enforced, Exit, Finished, ReachedLimit};
use ccm_model::{Failure, FailureKind, escape_control};
use serde_json::Value;

use super::command::Exec;
use super::not_found::not_found_by_shell;
use super::output::{Redacted, tails};
use super::rules::ExecRule;
use super::state::Guards;
use super::tries::Attempt;

/// Result of an exec after all its tries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExecResult {
    /// Exit code of the last try; `None` if it did not end by itself.
    pub code: Option<i32>,
    pub attempts: Vec<Attempt>,
    pub outcome: Result<Success, Failure>,
    /// Enforced parts of the sandbox; `None` without a sandbox.
    pub enforced: Option<Enforced>,
    /// Results of the guards before the first try.
    pub guards: Guards,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Success {
    pub verified: Verified<ExecRule>,
    /// Captured values; `None` if it captures nothing.
    pub captured: Option<Value>,
}

/// Evaluates the end of one try, with its output as printed.
pub(crate) fn evaluate_exit(
    exec: &Exec,
    finished: &Finished,
    redact: Redacted<'_>,
) -> Result<Success, Failure> {
    let outcome = match finished.exit.code("command") {
        Ok(code) => match not_found_by_shell(exec, finished) {
            Some(failure) => Err(failure),
            None => success(exec, finished, code, redact),
        },
        Err(failure) if failure.kind == FailureKind::Timeout => {
            Err(failure.with_hint("raise `timeout`, or find out what the command waits for"))
        }
        Err(failure) => Err(failure),
    };
    outcome.map_err(|mut failure| {
        for process in &finished.unkillable {
            failure.chain.push(format!("could not be killed and is still running: {process}"));
        }
        for limit in &finished.reached {
            let (place, owner) = match &exec.executor {
                Some(executor) if *limit == ReachedLimit::ContainerMemory => {
                    ("container", format!("executor `{}`", escape_control(&executor.name)))
                }
                _ => ("sandbox", "sandbox".to_owned()),
            };
            failure.chain.push(format!("the {place} reached the limit `{limit}`"));
            failure.hints.push(format!("raise `{limit}` of the {owner} if the command needs more"));
        }
        // The code of a shell for a program that could not be executed.
        let is_limited = finished.enforced.as_ref().is_some_and(|enforced| !enforced.programs.is_empty());
        if is_limited && finished.exit == Exit::Code(126) {
            let hint = "add the program that was refused to `programs` of the sandbox";
            failure.hints.push(hint.to_owned());
        }
        let explanation = finished.container.as_ref().and_then(|container| container.explanation.clone());
        failure.chain.extend(explanation);
        failure.property.get_or_insert_with(|| "command".into());
        // The command may have changed something before it failed.
        failure.changed = true;
        failure.output = tails(exec, finished);
        failure
    })
}

/// Evaluates a command that ended by itself: its exit code, then `expect`, then `capture`.
fn success(exec: &Exec, finished: &Finished, code: i32, redact: Redacted<'_>) -> Result<Success, Failure> {
    let verified = evaluate_code(exec, code);
    let (stdout, stderr) = (finished.printed_stdout(), finished.printed_stderr());
    let mismatches = exec.expect.as_ref().map(|expect| expect.mismatches(code, stdout, stderr, redact));
    let expects_code = exec.expect.as_ref().is_some_and(|expect| expect.exit_code.is_some());
    let mismatches = mismatches.unwrap_or_default();
    let verified = match verified {
        Err(failure) if !expects_code => return Err(failure),
        _ if !mismatches.is_empty() => {
            let message = "the result of the command differs from `expect`";
            let mut failure = Failure::new(FailureKind::Expectation, message);
            failure.chain.extend(mismatches.iter().map(|mismatch| mismatch.line(exec.sensitive)));
            failure.chain.dedup();
            return Err(failure);
        }
        verified => verified?,
    };
    let captured = match &exec.capture {
        capture if capture.0.is_empty() => None,
        capture => Some(capture.extract(finished, code, redact).map_err(|missing| {
            let message = "values of `capture` are missing from the result of the command";
            let mut failure = Failure::new(FailureKind::Capture, message);
            failure.chain.extend(missing.into_iter().map(|(name, why)| {
                if exec.sensitive { format!("`{name}` is not there") } else { format!("`{name}`: {why}") }
            }));
            failure
        })?),
    };
    Ok(Success { verified, captured })
}

fn evaluate_code(exec: &Exec, code: i32) -> Result<Verified<ExecRule>, Failure> {
    let is = |allowed: &u8| i32::from(*allowed) == code;
    if exec.unchanged_returns.iter().any(is) {
        return Ok(Verified::Unchanged(ExecRule::UnchangedReturn(code)));
    }
    if exec.returns.iter().any(is) {
        return Ok(Verified::Changed);
    }
    let allowed = if exec.returns.is_empty() { &exec.unchanged_returns } else { &exec.returns };
    let allowed: Vec<String> = allowed.iter().map(u8::to_string).collect();
    let message = format!("exit code {code} not in allowed returns [{}]", allowed.join(", "));
    Err(Failure::new(FailureKind::Exit, message))
}

#[cfg(test)]
mod tests {
    use ccm_host::CapturedOutput;
    use ccm_model::NodeMap;
    use ccm_redaction::Redactor;
    use ccm_testkit::FakeRunner;
    use serde_json::json;

    use super::*;
    use crate::types::exec::command::CommandSyntax;
    use crate::types::exec::expect::Expectations;
    use crate::types::exec::properties::ExecProperties;
    use crate::types::exec::values::ExitCodeValue;

    fn exec() -> Exec {
        Exec::build("true", CommandSyntax::Words, ExecProperties::default(), &NodeMap::default()).unwrap()
    }

    fn finished(code: i32, stdout: &str) -> Finished {
        let stdout = CapturedOutput { head: stdout.into(), ..CapturedOutput::default() };
        Finished { stdout, ..FakeRunner::finished(Exit::Code(code)) }
    }

    #[test]
    fn an_exit_code_is_evaluated() {
        let exec = Exec { returns: vec![0, 2], unchanged_returns: vec![3], ..exec() };
        let verified = |code| {
            evaluate_exit(&exec, &finished(code, ""), Redacted(&Redactor::default()))
                .map(|success| success.verified)
        };
        assert_eq!(verified(0), Ok(Verified::Changed));
        assert_eq!(verified(2), Ok(Verified::Changed));
        assert_eq!(verified(3), Ok(Verified::Unchanged(ExecRule::UnchangedReturn(3))));
        let failure = verified(7).unwrap_err();
        assert_eq!(failure.chain, ["exit code 7 not in allowed returns [0, 2]"]);
        assert!(failure.changed);
    }

    #[test]
    fn a_wrong_exit_code_is_reported_before_other_mismatches() {
        let stdout_json = Some(json!({"a": 1}));
        let mut exec = Exec { expect: Some(Expectations { stdout_json, ..Default::default() }), ..exec() };
        let redactor = Redactor::default();
        let chain = |exec: &Exec, code, stdout| {
            evaluate_exit(exec, &finished(code, stdout), Redacted(&redactor)).map_err(|failure| failure.chain)
        };
        assert_eq!(chain(&exec, 1, "{}").unwrap_err(), ["exit code 1 not in allowed returns [0]"]);
        assert_eq!(
            chain(&exec, 0, "{}").unwrap_err(),
            ["the result of the command differs from `expect`", "stdout_json.a: expected 1, found nothing"]
        );
        assert!(chain(&exec, 0, r#"{"a": 1}"#).is_ok());
        exec.expect.as_mut().unwrap().exit_code = Some(ExitCodeValue(0));
        assert_eq!(
            chain(&exec, 1, "{}").unwrap_err()[1..],
            ["exit_code: expected 0, found 1", "stdout_json.a: expected 1, found nothing"]
        );
    }
}
