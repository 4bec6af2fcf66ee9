//! Running the guards.

use ccm_engine::Context;
use ccm_host::{Command, Finished, LaunchPlan, Purpose, Role, StartError};
use ccm_model::{Failure, FailureKind, GuardResult, RefusalKind, Stream, StreamTail, escape_control};
use ccm_redaction::REDACTED;
use tracing::debug;

use super::command::{Exec, Guard};
use super::not_found::{explained, not_found_by_shell};
use super::output::tails;
use super::provider::{not_enforced, report_closed};
use super::rules::{GuardExit, NotRunBecause};
use super::state::{GuardVerdict, Guards};
use crate::support::left_running::left_running;

/// Runs the guards in order, `onlyif` first, up to the first that decides.
pub(crate) async fn run(exec: &Exec, context: &mut Context<'_>) -> Guards {
    let mut guards = Guards::default();
    let launch = exec.launch(context.directory);
    let plan = match context.host.executor.resolve(&launch, Purpose::Run).await {
        Ok(plan) => plan,
        Err(error) => {
            let failure = exec.start_failure(&error, context.directory);
            guards.verdict = broken(failure.because_of("the guards failed to run"));
            return guards;
        }
    };
    run_all(exec, &*plan, &mut guards, context).await;
    report_closed(plan.close().await, context);
    guards
}

async fn run_all(exec: &Exec, plan: &dyn LaunchPlan, guards: &mut Guards, context: &mut Context<'_>) {
    let onlyif = exec.onlyif.iter().map(|guard| (guard, true));
    let unless = exec.unless.iter().map(|guard| (guard, false));
    for (guard, wants_success) in onlyif.chain(unless) {
        let property = if wants_success { "onlyif" } else { "unless" };
        guards.results.push(GuardResult {
            property: property.into(),
            command: if exec.sensitive { REDACTED.to_owned() } else { guard.text.clone() },
            exit_code: None,
            stderr: None,
            allows: None,
        });
        let (code, stderr) = match exit_code(exec, plan, guard, context).await {
            Ok(GuardEnd::Exited { code, stderr }) => (code, stderr),
            Ok(GuardEnd::NotRun(because)) => {
                guards.verdict = GuardVerdict::Unknown { property, command: shown(exec, guard), because };
                continue;
            }
            Err(failure) => {
                if let Some(result) = guards.results.last_mut() {
                    result.stderr = last_line(&failure.output);
                }
                let shown = shown(exec, guard);
                let mut failure = failure.because_of(format!("`{property}` `{shown}` failed to run"));
                // Another property, such as `cwd`, holds for the guard as well.
                if failure.property.as_deref().is_none_or(|named| named == "command") {
                    failure = failure.of_property(property);
                }
                guards.verdict = broken(failure);
                return;
            }
        };
        let satisfied = (code == 0) == wants_success;
        debug!(guard = %property, exit = code, satisfied, "guard ended");
        let known = if wants_success { &mut guards.onlyif_satisfied } else { &mut guards.unless_satisfied };
        *known = Some(satisfied);
        if let Some(result) = guards.results.last_mut() {
            (result.exit_code, result.allows) = (Some(code), Some(satisfied));
            result.stderr.clone_from(&stderr);
        }
        let exit = GuardExit { property, command: shown(exec, guard), exit_code: code, stderr };
        if !satisfied {
            guards.verdict = GuardVerdict::Prevented(exit);
            return;
        }
        match &guards.verdict {
            GuardVerdict::NotRun => guards.verdict = GuardVerdict::Allowed(exit),
            GuardVerdict::Allowed(earlier) if !earlier.is_unusual() => {
                guards.verdict = GuardVerdict::Allowed(exit);
            }
            _ => {}
        }
    }
}

/// Returns the verdict of a guard that failed to run. A refusal keeps its kind.
fn broken(failure: Failure) -> GuardVerdict {
    let kind = if failure.kind.is_refusal() { failure.kind } else { FailureKind::Guard };
    GuardVerdict::Broken(Failure { kind, ..failure })
}

/// End of a guard.
enum GuardEnd {
    Exited {
        code: i32,
        /// Last line of standard error.
        stderr: Option<String>,
    },
    /// Noop did not run the guard.
    NotRun(NotRunBecause),
}

/// Runs a guard to its end, if noop may run it.
async fn exit_code(
    exec: &Exec,
    plan: &dyn LaunchPlan,
    guard: &Guard,
    context: &mut Context<'_>,
) -> Result<GuardEnd, Failure> {
    let command = Command { role: Role::Guard, ..guard.line.command(exec, plan)? };
    let mut ignore = |_, _: &str| {};
    let finished = match plan.run(&command, context.cancellation, &mut ignore).await {
        Ok(finished) => finished,
        Err(StartError::Refused { refusal, noop: true }) if refusal.kind != RefusalKind::Denied => {
            return Ok(GuardEnd::NotRun(NotRunBecause::Approval));
        }
        Err(StartError::NotInNoop) => return Ok(GuardEnd::NotRun(NotRunBecause::Container)),
        Err(error) => return Err(exec.start_failure(&error, plan.program_base())),
    };
    not_enforced(finished.enforced.as_ref()).for_each(|warning| context.warn(warning));
    for process in &finished.left_running {
        context.warn(left_running(process, " by a guard"));
    }
    if let Some(failure) = not_found_by_shell(exec, &finished) {
        let failure = explained(exec, (plan, &command), &finished, failure, context);
        return Err(failure.with_hint("use `command -v NAME` to test for a program"));
    }
    let failure = match finished.exit.code("it") {
        // The code of a shell for a program that could not be executed.
        Ok(126) if finished.enforced.as_ref().is_some_and(|enforced| !enforced.programs.is_empty()) => {
            let message = "it exited with 126: a program could not be executed";
            Failure::new(FailureKind::Guard, message)
                .with_hint("add the program that was refused to `programs` of the sandbox")
        }
        Ok(code) => return Ok(GuardEnd::Exited { code, stderr: last_error(exec, &finished) }),
        Err(failure) if failure.kind == FailureKind::Timeout => {
            failure.with_hint("make the guard faster, or raise `timeout`, which limits each guard too")
        }
        Err(failure) => failure,
    };
    Err(Failure { kind: FailureKind::Guard, output: tails(exec, &finished), ..failure })
}

/// Returns the last line of standard error that is not blank, unless the exec is sensitive.
fn last_error(exec: &Exec, finished: &Finished) -> Option<String> {
    last_line(&tails(exec, finished))
}

/// Returns the last line of standard error that is not blank.
fn last_line(output: &[StreamTail]) -> Option<String> {
    const MAX_CHARACTERS: usize = 200;
    let stderr = output.iter().find(|tail| tail.stream == Stream::Stderr)?;
    let line = stderr.lines.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty())?;
    let line = escape_control(line);
    Some(match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    })
}

fn shown(exec: &Exec, guard: &Guard) -> String {
    if exec.sensitive { REDACTED.to_owned() } else { shorten(&guard.text) }
}

/// Shortens the text of a guard, which may be a script, to one line.
fn shorten(text: &str) -> String {
    const MAX_TEXT: usize = 60;
    let line = text.trim().lines().next().unwrap_or_default();
    let cut: String = line.chars().take(MAX_TEXT).collect();
    if cut.len() < text.trim().len() { format!("{cut}…") } else { cut }
}
