//! The common part of both providers: reading the state and running the command.

use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{ClosedPlan, Command, Enforced, Exit, Finished, Host, LaunchPlan, Purpose, random};
use ccm_model::{Failure, FailureKind, MIN_SECRET_LENGTH, escape_control};
use ccm_redaction::Redactor;

use super::command::Exec;
use super::decide::{ExecKind, needs_guards};
use super::guards;
use super::not_found::explained;
use super::output::Redacted;
use super::record;
use super::result::{ExecResult, Success, evaluate_exit};
use super::state::{ExecState, Guards};
use super::tries::{Attempt, pause, summary};
use super::values::LogOutput;
use crate::support::left_running::left_running;

const MAX_LIVE: u64 = 1 << 20;

/// Provider of exec. The exec itself holds the command, so that providers differ only in
/// requirements.
pub(crate) struct ExecProvider(pub fn(Host<'_>) -> Suitability);

impl Provider<ExecKind> for ExecProvider {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        (self.0)(host)
    }

    async fn status(
        &self,
        exec: &Exec,
        reading: ReadPurpose<'_, ExecResult>,
        context: &mut Context<'_>,
    ) -> Result<ExecState, Failure> {
        let mut state = ExecState::default();
        let mut missing = None;
        let failed = matches!(reading, ReadPurpose::After(ExecResult { outcome: Err(_), .. }));
        // After a failure the guards do not matter.
        for path in exec.creates.iter().filter(|_| !failed) {
            let files = context.host.files;
            // Another user may have made the link by the command itself, and sees no more than he may.
            let trusted = if exec.user.is_none() { files.check_links(path) } else { Ok(()) };
            let exists = trusted.and_then(|()| files.exists(path)).map_err(|error| {
                Failure::from_error(FailureKind::Read, &error)
                    .because_of(format!("`creates` \"{}\" can't be inspected", path.display()))
                    .of_property("creates")
            })?;
            if !exists {
                missing = Some(path);
                break;
            }
        }
        state.creates_satisfied = !exec.creates.is_empty() && missing.is_none();
        match reading {
            ReadPurpose::Before { triggered } if needs_guards(exec, state.creates_satisfied, triggered) => {
                state.guards = guards::run(exec, context).await;
            }
            ReadPurpose::Before { .. } => {}
            ReadPurpose::After(result) => {
                state.exit_code = result.code;
                state.attempts.clone_from(&result.attempts);
                state.enforced.clone_from(&result.enforced);
                state.guards.clone_from(&result.guards);
                state.captured = result.outcome.as_ref().is_ok_and(|success| success.captured.is_some());
                if let Some(path) = missing.filter(|_| result.outcome.is_ok()) {
                    let path = path.display();
                    context.warn(format!(
                    "`creates: {path}` does not exist after the command, so the next run will run the command again"
                ));
                }
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        exec: &Exec,
        state: &ExecState,
        context: &mut Context<'_>,
    ) -> Result<ExecResult, Failure> {
        let launch = exec.launch(context.directory);
        let plan = context.host.executor.resolve(&launch, Purpose::Run).await.map_err(|error| {
            context.record_artifacts(record::files(exec, None, None, true));
            exec.start_failure(&error, context.directory)
        })?;
        let result = try_all(exec, &*plan, &state.guards, context).await;
        report_closed(plan.close().await, context);
        result
    }

    async fn preflight(
        &self,
        exec: &Exec,
        _: &ExecState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        let launch = exec.launch(context.directory);
        let plan = context.host.executor.resolve(&launch, Purpose::Preflight).await;
        let plan = plan.map_err(|error| exec.start_failure(&error, context.directory))?;
        let command = exec.line.command(exec, &*plan)?;
        let asked = context.ask_gate(&command).await;
        asked.map_err(|error| exec.start_failure(&error, plan.program_base()))?;
        let enforced = plan.preflight(&command);
        let enforced = enforced.map_err(|error| exec.start_failure(&error, plan.program_base()))?;
        let warnings: Vec<String> = not_enforced(enforced.as_ref()).collect();
        Ok([warnings, plan.close().await.warnings].concat())
    }
}

async fn try_all(
    exec: &Exec,
    plan: &dyn LaunchPlan,
    guards: &Guards,
    context: &mut Context<'_>,
) -> Result<ExecResult, Failure> {
    let cwd = Some(plan.cwd());
    let command = exec.line.command(exec, plan);
    let mut command =
        command.inspect_err(|_| context.record_artifacts(record::files(exec, cwd, None, true)))?;
    command.stdin = exec.stdin.as_deref().map(Into::into);
    let mut enforced = None;
    let mut attempts: Vec<Attempt> = Vec::new();
    loop {
        let (code, duration, outcome, again) = match run(exec, plan, &command, context).await {
            Ok(finished) => {
                enforced.clone_from(&finished.enforced);
                let redactor = context.secrets.redactor();
                let outcome = evaluate_exit(exec, &finished, Redacted(&redactor))
                    .map_err(|failure| explained(exec, (plan, &command), &finished, failure, context));
                if let Ok(Success { captured: Some(captured), .. }) = &outcome {
                    add_secrets(exec, captured, &redactor, context);
                }
                context.record_artifacts(record::files(exec, cwd, Some(&finished), outcome.is_err()));
                let again = outcome.as_ref().is_err_and(|failure| failure.missing.is_none());
                (exit_code(&finished), finished.duration, outcome, again && finished.exit != Exit::Cancelled)
            }
            Err(NotStarted { failure, may_start_later }) => {
                if attempts.is_empty() && !(may_start_later && exec.tries > 1) {
                    context.record_artifacts(record::files(exec, cwd, None, true));
                    return Err(failure);
                }
                (None, Duration::ZERO, Err(failure), may_start_later)
            }
        };
        let error = outcome.as_ref().err().map(one_line);
        attempts.push(Attempt { exit_code: code, duration, error });
        let again = again && attempts.len() < exec.tries;
        if again
            && context.host.pause(pause(exec.try_sleep, attempts.len(), random()), context.cancellation).await
        {
            continue;
        }
        if let Some(summary) = summary(outcome.is_ok(), attempts.len(), exec.tries) {
            context.note(summary);
        }
        return Ok(ExecResult { code, attempts, outcome, enforced, guards: guards.clone() });
    }
}

/// Returns the failure of a try in one line.
fn one_line(failure: &Failure) -> String {
    /// Maximum number of characters; there may be a thousand tries.
    const MAX_LENGTH: usize = 2000;
    let mut one_line = match &*failure.chain {
        [] => String::new(),
        [one] => one.clone(),
        [first, causes @ ..] => format!("{first}: {}", causes.join("; ")),
    };
    if let Some((at, _)) = one_line.char_indices().nth(MAX_LENGTH) {
        one_line.truncate(at);
        one_line.push('…');
    }
    one_line
}

/// Adds captured values to the secrets: all values of a sensitive exec, else each line that holds a secret.
fn add_secrets(exec: &Exec, captured: &serde_json::Value, redactor: &Redactor, context: &mut Context<'_>) {
    let mut texts = Vec::new();
    leaves(captured, &mut texts);
    if exec.sensitive {
        for (name, value) in captured.as_object().into_iter().flatten() {
            let mut own = Vec::new();
            leaves(value, &mut own);
            if own.iter().any(|text| (1..MIN_SECRET_LENGTH).contains(&text.trim().len())) {
                let name = escape_control(name);
                context.warn(format!(
                    "`{name}` of `capture` is sensitive, but too short to be redacted everywhere"
                ));
            }
        }
        context.secrets.add(texts);
    } else if !redactor.is_empty() {
        let lines = texts.iter().flat_map(|text| text.lines());
        context.secrets.add(lines.filter(|line| redactor.finds(line.as_bytes())));
    }
}

/// Collects the texts and numbers of a value, as text.
fn leaves(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::Null | serde_json::Value::Bool(_) => {}
        serde_json::Value::Number(number) => texts.push(number.to_string()),
        serde_json::Value::String(text) => texts.push(text.clone()),
        serde_json::Value::Array(elements) => elements.iter().for_each(|element| leaves(element, texts)),
        serde_json::Value::Object(map) => map.values().for_each(|value| leaves(value, texts)),
    }
}

/// Command that did not start.
struct NotStarted {
    failure: Failure,
    /// Waiting may help.
    may_start_later: bool,
}

async fn run(
    exec: &Exec,
    plan: &dyn LaunchPlan,
    command: &Command,
    context: &mut Context<'_>,
) -> Result<Finished, NotStarted> {
    let cancellation = context.cancellation;
    let show = exec.logoutput == LogOutput::Always && !exec.sensitive;
    let mut on_line = |stream, line: &str| {
        if show {
            context.line(stream, line);
        }
    };
    let finished = plan.run(command, cancellation, &mut on_line).await;
    let finished = finished.map_err(|error| NotStarted {
        failure: exec.start_failure(&error, plan.program_base()),
        may_start_later: error.is_of_busy_program(),
    })?;
    not_enforced(finished.enforced.as_ref()).for_each(|warning| context.warn(warning));
    for process in &finished.left_running {
        context.warn(left_running(process, ""));
    }
    if show {
        for (stream, captured) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
            if let Some(more) = captured.total().checked_sub(MAX_LIVE).filter(|more| *more > 0) {
                context.warn(format!("{stream}: {more} more bytes are not shown"));
            }
        }
    }
    Ok(finished)
}

pub(crate) fn exit_code(finished: &Finished) -> Option<i32> {
    match finished.exit {
        Exit::Code(code) => Some(code),
        _ => None,
    }
}

/// Reports what a closed plan leaves to report.
pub(crate) fn report_closed(closed: ClosedPlan, context: &mut Context<'_>) {
    closed.warnings.into_iter().for_each(|warning| context.warn(warning));
    closed.notes.into_iter().for_each(|note| context.note(note));
}

/// Reports the parts of an advisory sandbox that this kernel does not enforce.
pub(crate) fn not_enforced(enforced: Option<&Enforced>) -> impl Iterator<Item = String> {
    let missing = enforced.into_iter().flat_map(|enforced| &enforced.missing);
    missing.map(|missing| format!("this kernel does not enforce {missing}"))
}
