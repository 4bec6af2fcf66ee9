//! Health checks on this machine: a command with its exit code and its output, or rules of Goss.

use std::collections::HashSet;
use std::time::Duration;

use ccm_check::{CheckStatus, NagiosOutput, read_rules};
use ccm_engine::{Context, HealthProbe, ProbeRequest, Probed};
use ccm_host::{
    CapturedOutput, Command, Finished, Launch, LaunchPlan, Local, Process, Role, StartError, run_launched,
};
use ccm_model::{Failure, Node, Stream, StreamTail, escape_control};
use ccm_properties::{CheckCommand, CheckSubject, HealthCheck, WrittenLine};

use crate::checks::{CheckScope, end_leftovers, judge_rules};
use crate::support::output_tail::tail;
use crate::support::program::start_failure;

/// Maximum number of bytes of standard output that are read for summary and values.
const MAX_READ: usize = 64 << 10;
/// Maximum number of characters of a summary.
const MAX_SUMMARY: usize = 500;
/// Maximum number of bytes of the label of a value.
const MAX_LABEL: usize = 200;

/// Probe of health checks on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct HealthChecks;

impl HealthProbe for HealthChecks {
    fn probe<'a>(&'a self, request: &'a ProbeRequest<'a>, context: &'a mut Context<'_>) -> Local<'a, Probed> {
        Box::pin(async move {
            match &request.check.subject {
                CheckSubject::Command(command) => run(command, request, context).await,
                CheckSubject::Rules(node) => judge(node, request.timeout, context).await,
            }
        })
    }
}

/// Judges the rules of a check.
async fn judge(node: &Node, timeout: Duration, context: &Context<'_>) -> Probed {
    let (rules, _) = match read_rules(node) {
        Ok(read) => read,
        Err(errors) => {
            let first = errors.first().map(|error| error.one_line().into_owned()).unwrap_or_default();
            return Probed::new(CheckStatus::Unknown, first);
        }
    };
    let report = judge_rules(&rules, &CheckScope::of(context, Some(timeout))).await;
    let warnings = report.rules.iter().flat_map(|rule| rule.warnings.iter().cloned()).collect();
    Probed { warnings, ..Probed::new(report.status(), report.summary()) }
}

/// Runs the command of a check.
async fn run(command: &CheckCommand, request: &ProbeRequest<'_>, context: &mut Context<'_>) -> Probed {
    let (program, args, is_interpreted) = match &command.line {
        WrittenLine::Words(words) => match &words[..] {
            [program, args @ ..] => (program.as_str(), args.to_vec(), false),
            [] => return Probed::new(CheckStatus::Unknown, "there is no command"),
        },
        WrittenLine::Shell(text) => ("/bin/sh", vec!["-c".to_owned(), text.clone()], true),
    };
    let launch = Launch { is_interpreted, ..request.launch.clone() };
    let command = |plan: &dyn LaunchPlan| {
        let command = plan.command(program, &args)?;
        Ok(Command { role: Role::Check, ..command })
    };
    let executor = context.host.executor;
    let (finished, closed) =
        run_launched(executor, &launch, command, context.cancellation, &mut |_, _| {}).await;
    let mut probed = match finished {
        Ok(finished) => ended(request.check, &finished),
        Err(error) => not_started(&error),
    };
    probed.warnings.extend(closed.warnings);
    closed.notes.into_iter().for_each(|note| context.note(note));
    probed
}

fn not_started(error: &StartError) -> Probed {
    let failure = start_failure(error, None);
    let probed = Probed::new(CheckStatus::Unknown, cut(&failure.one_line()));
    let refusal = Some(failure).filter(|failure| failure.kind.is_refusal()).map(Box::new);
    Probed { refusal, ..probed }
}

/// Returns the result of a command that was started.
fn ended(check: &HealthCheck, finished: &Finished) -> Probed {
    let NagiosOutput { summary, mut values, .. } = NagiosOutput::parse(&beginning(&finished.stdout));
    let mut labels = HashSet::new();
    // A label stands for one value.
    values.retain(|value| value.label.len() <= MAX_LABEL && labels.insert(value.label.clone()));
    let summary = if summary.is_empty() { last_line(&finished.stderr) } else { summary };
    let summary = cut(&summary);
    let (status, end) = match finished.exit.code("the command") {
        // A program that is no plugin says nothing.
        Ok(code @ 1..=3) if summary.is_empty() => {
            let command = check.subject.command().map_or("", |command| &command.text);
            let end =
                cut(&format!("exit code {code}, and no output of `{}`", escape_control(command.trim())));
            (CheckStatus::from_exit_code(code), Some(end))
        }
        Ok(code @ 0..=3) => (CheckStatus::from_exit_code(code), None),
        Ok(code) => (CheckStatus::Unknown, Some(format!("exit code {code}"))),
        Err(failure) => (CheckStatus::Unknown, Some(unfinished(&failure, finished))),
    };
    let output = match end {
        Some(end) if summary.is_empty() => end,
        Some(end) => format!("{end}: {summary}"),
        None => summary,
    };
    // A check changes nothing, and leaves nothing.
    end_leftovers(&finished.left_running);
    let left = |process: &Process| {
        format!("the health check `{}` left process {process}, which was killed", check.name)
    };
    Probed {
        status,
        output,
        values,
        tails: if status == CheckStatus::Ok { Vec::new() } else { tails(finished) },
        warnings: finished.left_running.iter().map(left).collect(),
        refusal: None,
    }
}

/// Returns the end of a command that did not end by itself, with the processes that could not be ended.
fn unfinished(failure: &Failure, finished: &Finished) -> String {
    let mut text = failure.one_line();
    for process in &finished.unkillable {
        text += &format!(", and {process} could not be killed");
    }
    text
}

/// Returns the last lines of both streams, if there are more than the summary.
fn tails(finished: &Finished) -> Vec<StreamTail> {
    let both = [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)];
    let tails: Vec<_> = both.into_iter().filter_map(|(stream, captured)| tail(stream, captured)).collect();
    let lines: usize = tails.iter().map(|tail| tail.lines.len()).sum();
    if lines > 1 { tails } else { Vec::new() }
}

fn beginning(captured: &CapturedOutput) -> String {
    String::from_utf8_lossy(&captured.head[..captured.head.len().min(MAX_READ)]).into_owned()
}

/// Returns the last line that is not blank.
fn last_line(captured: &CapturedOutput) -> String {
    let tail = tail(Stream::Stderr, captured);
    let lines = tail.iter().flat_map(|tail| &tail.lines).rev();
    lines.map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SUMMARY) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
