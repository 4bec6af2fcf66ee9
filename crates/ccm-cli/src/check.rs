//! `ccm check`: the rules of a Goss file.

mod document;
mod junit;
mod nagios;
mod tap;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ccm_runtime::process::signals::Signals;
use ccm_runtime::status::CheckLevel;
use ccm_runtime::{
    CheckStatus, CheckedRules, ExitCode, JudgeOptions, Rule, RuleFileError, RuleJudgementError, RulesReport,
    Session, StopCause, spawn,
};

use crate::arguments::{CheckArguments, CheckFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::reactor::{SharedRun, supervise};
use crate::session;

/// Judgement of a file, for its report.
struct CheckedFile<'r> {
    name: &'r str,
    rules: &'r [Rule],
    report: &'r RulesReport,
    duration: Duration,
}

impl CheckedFile<'_> {
    /// Returns the rule of a result. There is one result for each rule, in the same order.
    fn rule(&self, position: usize) -> Option<&Rule> {
        self.rules.get(position)
    }

    /// Returns the level for monitoring systems: a warning about a rule counts if nothing is worse.
    fn level(&self) -> CheckLevel {
        let has_warning = self.report.rules.iter().any(|rule| !rule.warnings.is_empty());
        match self.report.status() {
            CheckStatus::Ok if has_warning => CheckLevel::Warning,
            CheckStatus::Ok => CheckLevel::Ok,
            CheckStatus::Warning => CheckLevel::Warning,
            CheckStatus::Critical => CheckLevel::Critical,
            CheckStatus::Unknown => CheckLevel::Unknown,
        }
    }
}

/// Judges the rules of a file.
pub(crate) fn run(arguments: CheckArguments, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    let config = session::config(console, None);
    let (of_job, console_of_job) = (Arc::clone(&shared), console.clone());
    let is_nagios = arguments.output.format == CheckFormat::Nagios;
    let result = runtime.block_on(async {
        let job = spawn(config, async move |session| {
            let session = session::with_notices(session, &console_of_job);
            Box::pin(check(&arguments, &session, &of_job, &console_of_job)).await
        })?;
        supervise(job, &signals, None, &shared).await
    });
    match result {
        Err(error) if is_nagios && !matches!(error.code(), ExitCode::Signal(_)) => {
            // A monitoring system shows standard output alone.
            console.print(&nagios::unknown(&error))?;
            Err(error.with_code(ExitCode::Check(CheckLevel::Unknown)))
        }
        result => result,
    }
}

async fn check(
    arguments: &CheckArguments,
    session: &Session,
    shared: &SharedRun,
    console: &Console,
) -> CommandResult {
    let path = Some(&arguments.file).filter(|path| *path != Path::new("-"));
    let rules = session.read_rules(path.map(PathBuf::as_path)).map_err(|error| unread(error, arguments))?;
    console.findings(&rules.warnings);
    shared.mark_loaded();
    let options = JudgeOptions {
        retry_timeout: arguments.retry_timeout,
        sleep: arguments.sleep,
        canceller: shared.canceller.clone(),
    };
    let began = session.clock().monotonic();
    let report = rules.judge(&options).await.map_err(|error| unjudged(&error, &rules))?;
    let duration = session.clock().monotonic().saturating_sub(began);
    let checked = CheckedFile { name: rules.name(), rules: rules.rules(), report: &report, duration };
    let text = match arguments.output.format {
        CheckFormat::Documentation => text::report(&checked),
        CheckFormat::Json => document::report(&checked),
        CheckFormat::Nagios => nagios::report(&checked),
        CheckFormat::Tap => tap::report(&checked),
        CheckFormat::Junit => junit::report(&checked),
    };
    console.print(&session.secrets().redact(&text))?;
    if let Some(StopCause::Signal { number, .. }) = shared.canceller.cause() {
        return Ok(signal_code(*number));
    }
    Ok(match arguments.output.format {
        CheckFormat::Nagios => ExitCode::Check(checked.level()),
        _ if report.status() == CheckStatus::Ok => ExitCode::Success,
        _ => ExitCode::Failures,
    })
}

fn unread(error: RuleFileError, arguments: &CheckArguments) -> CommandError {
    match error {
        RuleFileError::Text(error) => CommandError::from(error),
        RuleFileError::Errors(errors) => {
            let is_input = arguments.file.as_os_str() == "-";
            let file = if is_input { "standard input".into() } else { arguments.file.to_string_lossy() };
            CommandError::from(errors).with_message(format!("{file} was not judged"))
        }
        error @ RuleFileError::Manifest { .. } => {
            let file = arguments.file.display();
            let hint = format!(
                "run `ccm apply --noop {file}` to see what a run would change, or `ccm validate {file}`"
            );
            CommandError::of(&error).hint(hint)
        }
        error => CommandError::of(&error),
    }
}

fn unjudged(error: &RuleJudgementError, rules: &CheckedRules<'_>) -> CommandError {
    let error = CommandError::of(error);
    error.therefore(&format!("{} was not judged", rules.name()))
}
