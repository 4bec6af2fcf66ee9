//! Files with rules of Goss, judged by themselves.

mod include_pattern;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ccm_check::{CheckStatus, Rule, RuleFile, RuleFiles, RuleKind, RulesReport, Subject, read_rule_file};
use ccm_governance::audit::{AuditProblem, AuditedExecutor, AuditedOutcome, RunAudit};
use ccm_governance::policy::{AnalysingExecutor, JudgingExecutor, PolicyError};
use ccm_host::{
    Executor, Files, Host, LocalExecutor, RunnerError, STANDARD_INPUT, TextError, absolute, random,
};
use ccm_model::{Counts, Findings, ManifestErrors, Node, SourceId, SourceMap, escape_control};
use ccm_resources::{CheckScope, judge_rules};
use ccm_yaml::Limits;

use crate::canceller::Canceller;
use crate::exit::ExitCode;
use crate::findings::redacted;
use crate::session::Session;
use include_pattern::IncludePattern;

/// Maximum size of a file with rules, in bytes.
const MAX_RULE_FILE: u64 = 16 << 20;
/// Noun of these files in errors.
const WHAT: &str = "Goss file";

/// Error of reading rules.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFileError {
    /// The file can't be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The current directory can't be found.
    #[error("the current directory can't be found")]
    Directory(#[source] io::Error),
    /// The file is a manifest.
    #[error("{name} is a manifest and no Goss file")]
    Manifest {
        /// Name of the file.
        name: String,
    },
    /// The rules have errors.
    #[error("the rules have errors")]
    Errors(ManifestErrors),
}

/// Reason why rules can't be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleJudgementError {
    /// Commands can't be started.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The policy can't be used.
    #[error("the policy can't be used")]
    Policy(#[source] std::sync::Arc<PolicyError>),
    /// The audit log can't be used, and a record is required.
    #[error("the audit log can't be used")]
    Audit(#[from] AuditProblem),
    /// The program has a gate for commands, which knows runs of manifests alone.
    #[error("the gate of this program does not know commands of rules")]
    Gate,
}

/// Options of the judgement of rules or health checks.
#[derive(Clone, Debug, Default)]
pub struct JudgeOptions {
    /// Time for which rules or checks that fail are judged again; `None` judges them once.
    pub retry_timeout: Option<Duration>,
    /// Pause before they are judged again.
    pub sleep: Duration,
    /// Handle that ends the judgement.
    pub canceller: Canceller,
}

/// Rules of a Goss file and of the files that it includes.
pub struct CheckedRules<'s> {
    session: &'s Session,
    name: String,
    text: String,
    directory: PathBuf,
    rules: Vec<Rule>,
    /// Warnings about the rules.
    pub warnings: Findings,
}

impl Session {
    /// Reads a Goss file, or standard input without a path, with all files that it includes. Relative paths in the rules
    /// begin in the directory of the file.
    pub fn read_rules(&self, path: Option<&Path>) -> Result<CheckedRules<'_>, RuleFileError> {
        let (name, text) = self.read_text(path, MAX_RULE_FILE, WHAT)?;
        let whole = absolute(path.unwrap_or(Path::new("."))).map_err(RuleFileError::Directory)?;
        let directory = match path {
            Some(_) => whole.parent().unwrap_or(&whole).to_owned(),
            None => whole,
        };
        let mut files =
            IncludedFiles { session: self, texts: SourceMap::default(), directories: HashMap::new() };
        let identity = path.map_or_else(|| STANDARD_INPUT.to_owned(), |path| files.identity(path));
        let shown = path.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
        let file = files.add(identity, name.clone(), text.clone(), shown);
        let read = read_rule_file(&file, &mut files);
        match read {
            Ok((rules, warnings)) => {
                self.secrets.add(rules.iter().filter_map(password));
                let warnings = redacted(warnings, &files.texts, &self.secrets);
                Ok(CheckedRules { session: self, name, text, directory, rules, warnings })
            }
            Err(_) if is_manifest(&text) => Err(RuleFileError::Manifest { name }),
            Err(errors) => Err(RuleFileError::Errors(self.errors(errors, &files.texts))),
        }
    }
}

/// Returns `true` for YAML with a `ccm` key, which is no kind of rule.
fn is_manifest(text: &str) -> bool {
    let parsed = ccm_yaml::parse_any(SourceId(0), text, &Limits::default());
    let root = parsed.ok().flatten();
    root.as_ref().and_then(Node::as_map).is_some_and(|map| map.get("ccm").is_some())
}

fn password(rule: &Rule) -> Option<&str> {
    match &rule.subject {
        Subject::Http(request) => request.password.as_deref(),
        _ => None,
    }
}

impl CheckedRules<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the name of the file in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Judges the rules with the values of this machine. Their commands are judged by the policy, and recorded in the
    /// audit log, as those of a run. A cancellation ends the judgement; rules that were not judged by then are unknown.
    pub async fn judge(&self, options: &JudgeOptions) -> Result<RulesReport, RuleJudgementError> {
        let session = self.session;
        let commands = session.commands()?;
        let cancellation = options.canceller.cancellation();
        let files: Box<dyn Files> = session.doors.doors.files(cancellation);
        let starts = self.rules.iter().any(|rule| rule.kind() == RuleKind::Command && !rule.skip);
        if starts && !session.gate.is_open() {
            return Err(RuleJudgementError::Gate);
        }
        let audit = if starts { self.begin_audit()? } else { None };
        let local = Rc::new(LocalExecutor::new(commands, commands, &*files));
        let mut executor: Rc<dyn Executor + '_> = Rc::new(AnalysingExecutor { executor: local });
        if let Some(audit) = &audit {
            executor = Rc::new(AuditedExecutor { executor, audit: Rc::clone(audit) });
        }
        let governance = &session.governance;
        let (subject, record) = (self.name.clone(), audit.clone());
        let executor = JudgingExecutor { executor, governance, commands, subject, audit: record };
        let clock = session.clock();
        let scope = CheckScope {
            host: Host { executor: &executor, system: commands, files: &*files, clock },
            queries: &executor,
            cancellation,
            secrets: &session.secrets,
            directory: &self.directory,
            timeout: None,
        };
        let began = clock.monotonic();
        let mut report = judge_rules(&self.rules, &scope).await;
        while let Some(limit) = options.retry_timeout
            && report.status().is_failure()
            && clock.monotonic().saturating_sub(began) + options.sleep < limit
            && scope.host.pause(options.sleep, cancellation).await
        {
            report = judge_rules(&self.rules, &scope).await;
        }
        if let Some(audit) = audit {
            let has_failed = report.status() != CheckStatus::Ok;
            let code = match options.canceller.cause() {
                Some(cause) => ExitCode::of_stop(cause),
                None if has_failed => ExitCode::Failures,
                None => ExitCode::Success,
            };
            let summary = report.summary();
            audit.outcome(&AuditedOutcome {
                resource: &self.name,
                outcome: if has_failed { "failed" } else { "unchanged" },
                error: has_failed.then_some(&*summary),
                checks: vec![(&self.name, report.status())],
            });
            let counts = Counts { failed: usize::from(has_failed), ..Counts::default() };
            audit.end_run(&counts, code.number());
            audit.forward(commands).await;
        }
        Ok(report)
    }

    /// Begins the record of the commands, if there is an audit log.
    fn begin_audit(&self) -> Result<Option<Rc<RunAudit>>, RuleJudgementError> {
        let governance = &self.session.governance;
        let policy = governance.run_policy().map_err(RuleJudgementError::Policy)?;
        let audit = RunAudit::open(governance, policy, false)?;
        if let Some(audit) = &audit {
            let run = format!("check_{:032x}", random());
            audit.begin_run((&run, &self.name), (&self.text, None), false)?;
        }
        Ok(audit)
    }
}

impl fmt::Debug for CheckedRules<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CheckedRules").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Files that a Goss file includes.
struct IncludedFiles<'s> {
    session: &'s Session,
    texts: SourceMap,
    /// Directories as they were written, by the identity of a file in them.
    directories: HashMap<String, PathBuf>,
}

impl IncludedFiles<'_> {
    fn add(&mut self, identity: String, name: String, text: String, directory: PathBuf) -> RuleFile {
        let source = self.texts.add(name, text.as_str());
        self.directories.insert(identity.clone(), directory);
        RuleFile { path: identity, source, text }
    }

    /// Returns a name that is always the same for one file.
    fn identity(&self, path: &Path) -> String {
        let canonical = self.session.files().canonical(path);
        canonical.unwrap_or_else(|_| path.to_owned()).display().to_string()
    }

    /// Returns the files that a pattern matches, in order.
    fn matches(&self, pattern: &Path) -> Result<Vec<PathBuf>, String> {
        let files = self.session.files();
        let reason = |error: io::Error| error.to_string();
        let Some(pattern) = IncludePattern::parse(pattern) else {
            let is_there = files.exists(pattern).map_err(reason)?;
            return Ok(is_there.then(|| pattern.to_owned()).into_iter().collect());
        };
        if !files.is_directory(pattern.directory()).map_err(reason)? {
            return Ok(Vec::new());
        }
        let mut found = self.session.doors.doors.files_below(pattern.directory()).map_err(reason)?;
        found.retain(|path| pattern.matches(path));
        Ok(found)
    }
}

impl RuleFiles for IncludedFiles<'_> {
    fn files(&mut self, pattern: &str, including: &RuleFile) -> Result<Vec<RuleFile>, String> {
        let directory = self.directories.get(&including.path).cloned().unwrap_or_default();
        let mut read = Vec::new();
        for path in self.matches(&directory.join(pattern))? {
            let text = self.session.read_text(Some(&path), MAX_RULE_FILE, WHAT);
            let (name, text) = text.map_err(|error| {
                let reasons = ccm_model::error_layers(&error).join(": ");
                escape_control(&reasons).into_owned()
            })?;
            let below = path.parent().unwrap_or(Path::new("")).to_owned();
            let identity = self.identity(&path);
            read.push(self.add(identity, name, text, below));
        }
        Ok(read)
    }
}
