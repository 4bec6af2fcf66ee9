//! `ccm check`: the rules of a Goss file, or the health checks of a manifest.

mod document;
mod junit;
mod nagios;
mod outline;
mod tap;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_runtime::process::signals::Signals;
use ccm_runtime::status::CheckLevel;
use ccm_runtime::{
    CheckStatus, CheckedRules, Config, ExitCode, JudgeOptions, RuleFileError, RuleJudgementError, Session,
    StopCause, spawn,
};

use crate::arguments::{CheckArguments, CheckFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::reactor::{SharedRun, supervise};
use crate::{manifest, session, state};
use outline::Outline;

/// Judges the rules of a file, or runs the health checks of a manifest.
pub(crate) fn run(arguments: CheckArguments, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    let identity = arguments.values.identity.identity.clone();
    let config = Config { identity, ..session::config(console, None) };
    let is_nagios = arguments.output.format == CheckFormat::Nagios;
    let command = CheckCommand { arguments, shared: Arc::clone(&shared), console: console.clone() };
    let result = runtime.block_on(async {
        let job = spawn(config, async move |session| Box::pin(command.run(session)).await)?;
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

/// The command in the thread of its session.
struct CheckCommand {
    arguments: CheckArguments,
    shared: Arc<SharedRun>,
    console: Console,
}

impl CheckCommand {
    async fn run(&self, session: Session) -> CommandResult {
        let session = session::with_notices(session, &self.console);
        match &self.arguments.manifest {
            Some(path) => self.check_manifest(path, &session).await,
            None => self.check_rules(&session).await,
        }
    }

    async fn check_rules(&self, session: &Session) -> CommandResult {
        let Self { arguments, shared, console } = self;
        let path = arguments.file.as_deref().filter(|path| *path != Path::new("-"));
        let rules = session.read_rules(path).map_err(|error| unread(error, path))?;
        console.findings(&rules.warnings);
        shared.mark_loaded();
        let began = session.clock().monotonic();
        let report = rules.judge(&self.options()).await.map_err(|error| unjudged(&error, &rules))?;
        let duration = session.clock().monotonic().saturating_sub(began);
        let outline = Outline::of_rules(rules.name(), rules.rules(), &report, duration);
        let document = || document::of_rules(&rules, &report, &outline);
        self.show(session, &outline, document)?;
        let is_ok = report.status() == CheckStatus::Ok;
        Ok(self.code(&outline, if is_ok { ExitCode::Success } else { ExitCode::Failures }))
    }

    async fn check_manifest(&self, path: &Path, session: &Session) -> CommandResult {
        let Self { arguments, shared, console } = self;
        let values = session::values(&arguments.values);
        let input = session.read(manifest::source(path), &values, arguments.limits.max_manifest_size)?;
        let loaded = manifest::load(console, session, &input)?;
        shared.mark_loaded();
        let began = session.clock().monotonic();
        let report = loaded.check(&self.options()).await;
        let report = report.map_err(|error| state::begin_error(session, &error))?;
        let duration = session.clock().monotonic().saturating_sub(began);
        let outline = Outline::of_manifest(input.name(), &report, duration);
        if outline.total() == 0 {
            console.warning(&format!("no health check of {} was run", input.name()));
            if report.counts.not_run == 0 {
                console.hint("add `health_checks` to a resource, or `checks` beside `resources`");
            }
        }
        self.show(session, &outline, || document::of_manifest(&report, &outline))?;
        Ok(self.code(&outline, report.code))
    }

    fn options(&self) -> JudgeOptions {
        JudgeOptions {
            retry_timeout: self.arguments.retry_timeout,
            sleep: self.arguments.sleep,
            canceller: self.shared.canceller.clone(),
        }
    }

    fn show(&self, session: &Session, outline: &Outline, document: impl FnOnce() -> String) -> CommandResult {
        let text = match self.arguments.output.format {
            CheckFormat::Documentation => text::report(outline),
            CheckFormat::Json => document(),
            CheckFormat::Nagios => nagios::report(outline),
            CheckFormat::Tap => tap::report(outline),
            CheckFormat::Junit => junit::report(outline),
        };
        self.console.print(&session.secrets().redact(&text))
    }

    /// Returns the exit code of the command. `code` is that of all formats but the one for monitoring systems.
    fn code(&self, outline: &Outline, code: ExitCode) -> ExitCode {
        match self.shared.canceller.cause() {
            Some(StopCause::Signal { number, .. }) => signal_code(*number),
            _ if self.arguments.output.format == CheckFormat::Nagios => {
                // Something beside the checks failed, such as the record of them.
                let is_good = matches!(outline.level, CheckLevel::Ok | CheckLevel::Warning);
                let is_unknown = is_good && code != ExitCode::Success;
                ExitCode::Check(if is_unknown { CheckLevel::Unknown } else { outline.level })
            }
            _ => code,
        }
    }
}

fn unread(error: RuleFileError, path: Option<&Path>) -> CommandError {
    let file = path.map_or_else(|| PathBuf::from("standard input"), Path::to_path_buf);
    let file = file.display();
    match error {
        RuleFileError::Text(error) => CommandError::from(error),
        RuleFileError::Errors(errors) => {
            CommandError::from(errors).with_message(format!("{file} was not judged"))
        }
        error @ RuleFileError::Manifest { .. } => {
            let named = path.unwrap_or(Path::new("-")).display();
            CommandError::of(&error).hint(format!("run `ccm check --manifest {named}` for its health checks"))
        }
        error => CommandError::of(&error),
    }
}

fn unjudged(error: &RuleJudgementError, rules: &CheckedRules<'_>) -> CommandError {
    let error = CommandError::of(error);
    error.therefore(&format!("{} was not judged", rules.name()))
}
