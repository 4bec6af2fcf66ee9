//! Rules of Goss on this machine, with real files, processes, sockets and servers.

mod commands;
mod goss;
mod machine;
mod name_server;
mod network;
mod reading;

use std::path::Path;
use std::time::Duration;

use ccm_check::{AttributeOutcome, Rule, RuleFile, RuleFiles, RulesReport, read_rule_file};
use ccm_host::{Cancellation, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_model::{Diagnostic, SourceId};
use ccm_redaction::Secrets;
use ccm_resources::{CheckScope, judge_rules};
use serde_json::Value as Json;

/// Included files by name.
struct Included<'j>(&'j Json);

impl RuleFiles for Included<'_> {
    fn files(&mut self, pattern: &str, _: &RuleFile) -> Result<Vec<RuleFile>, String> {
        let text = self.0.get(pattern).and_then(Json::as_str).map(str::to_owned);
        let file = |text| RuleFile { path: pattern.to_owned(), source: SourceId(1), text };
        Ok(text.map(file).into_iter().collect())
    }
}

/// Reads rules and the files that they include.
fn read(text: &str, files: &Json) -> Result<(Vec<Rule>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let file = RuleFile { path: "goss.yaml".to_owned(), source: SourceId(0), text: text.to_owned() };
    read_rule_file(&file, &mut Included(files))
}

/// Reads rules without errors.
fn rules(text: &str) -> Vec<Rule> {
    match read(text, &Json::Null) {
        Ok((rules, _)) => rules,
        Err(errors) => panic!("{text}: {errors:?}"),
    }
}

/// Options of a judgement.
#[derive(Clone)]
struct Options<'a> {
    directory: &'a Path,
    timeout: Option<Duration>,
    cancellation: Cancellation,
    secrets: Secrets,
}

impl<'a> Options<'a> {
    fn in_directory(directory: &'a Path) -> Self {
        Self { directory, timeout: None, cancellation: Cancellation::never(), secrets: Secrets::new() }
    }
}

/// Judges rules on this machine.
fn judged(rules: &[Rule], options: &Options<'_>) -> RulesReport {
    let files = SystemFiles::new(options.cancellation.clone());
    let runner = SystemRunner::new().expect("a runner").redacting(options.secrets.clone());
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let host = Host { executor: &executor, system: &runner, files: &files, clock: &SystemClock::default() };
    let scope = CheckScope {
        host,
        queries: &executor,
        cancellation: &options.cancellation,
        secrets: &options.secrets,
        directory: options.directory,
        timeout: options.timeout,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(judge_rules(rules, &scope))
}

/// Judges rules in the root directory, and returns a word and the reason for each attribute.
fn outcomes(text: &str) -> Vec<String> {
    outcomes_with(text, &Options::in_directory(Path::new("/")))
}

fn outcomes_with(text: &str, options: &Options<'_>) -> Vec<String> {
    let report = judged(&rules(text), options);
    report.attributes().map(|(_, result)| shown(&result.outcome)).collect()
}

fn shown(outcome: &AttributeOutcome) -> String {
    let word = word(outcome);
    outcome.reason().map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}"))
}

/// Word of the vectors for an outcome.
fn word(outcome: &AttributeOutcome) -> &'static str {
    match outcome {
        AttributeOutcome::Passed => "pass",
        AttributeOutcome::Failed { .. } => "fail",
        AttributeOutcome::Error(_) => "fail (error)",
        AttributeOutcome::Skipped => "skip",
        AttributeOutcome::Unknown(_) => "unknown",
    }
}
