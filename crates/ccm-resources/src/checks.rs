//! Rules of Goss on this machine: where the values come from that `ccm-check` judges.
//!
//! [`judge_rules`] drives the judgement of each rule, and reads only what a rule asserts. Three parts run side by side:
//!
//! - `local`: what files, `/proc` and the databases of users tell, on a thread of its own, because a dead network file
//!   system can block a read for ever.
//! - `network`: addresses, names and web servers.
//! - `programs`: commands of rules, and helpers such as `systemctl`, one at a time through the executor of the run.
//!
//! Tables that several rules need, such as the ports of the machine, are read once. Each observation has a deadline:
//! that of its rule, and that of all rules together. What can't be read is an error with its reason and never a proof
//! of absence.
//!
//! No code here may judge a value, or know what happens to a result.

mod accounts;
mod address;
mod command;
mod dns;
mod file;
mod http;
mod interface;
mod kernel_parameter;
mod local;
mod mount;
mod network;
mod observation;
mod package;
mod ports;
mod processes;
mod programs;
mod service;

use std::path::Path;
use std::time::Duration;

use ccm_check::{AttributeOutcome, FactError, Judgement, Rule, RuleKind, RuleResult, RulesReport};
use ccm_engine::Context;
use ccm_host::{Cancellation, Executor, Host};
use ccm_redaction::Secrets;

use crate::support::program::ProgramScope;
use observation::Deadline;

pub(crate) use command::end_leftovers;

/// What the judgement of rules needs of a run.
#[derive(Clone, Copy)]
pub struct CheckScope<'a> {
    /// Doors to the machine. Their executor runs the commands of rules.
    pub host: Host<'a>,
    /// Executor of helper programs, which change nothing.
    pub queries: &'a dyn Executor,
    /// Cancellation from outside. Rules that were not judged by then are unknown.
    pub cancellation: &'a Cancellation,
    /// Values that no result may show.
    pub secrets: &'a Secrets,
    /// Directory from which relative paths start, and in which commands run.
    pub directory: &'a Path,
    /// Time limit of all rules together. Rules that were not judged by then are unknown.
    pub timeout: Option<Duration>,
}

impl<'a> CheckScope<'a> {
    /// Builds the scope of a check of a resource.
    pub fn of(context: &Context<'a>, timeout: Option<Duration>) -> Self {
        let Context { host, queries, cancellation, directory, secrets, .. } = *context;
        Self { host, queries, cancellation, secrets, directory, timeout }
    }
}

impl<'a> From<&CheckScope<'a>> for ProgramScope<'a> {
    fn from(scope: &CheckScope<'a>) -> Self {
        Self { host: scope.host, queries: scope.queries, cancellation: scope.cancellation }
    }
}

/// Rule with its position in a check.
#[derive(Clone, Copy)]
struct PlacedRule<'r> {
    position: usize,
    rule: &'r Rule,
}

/// Result of a rule, with the position of the rule.
type PlacedResult = (usize, RuleResult);

/// Part of the machine that rules of a kind are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Local,
    Network,
    Programs,
}

/// Judges rules with the values of this machine. Secrets in the results are `[redacted]`.
pub async fn judge_rules(rules: &[Rule], scope: &CheckScope<'_>) -> RulesReport {
    let deadline = Deadline::begin(scope);
    let of_part = |part: Part| -> Vec<PlacedRule<'_>> {
        let placed = rules.iter().enumerate().map(|(position, rule)| PlacedRule { position, rule });
        placed.filter(|placed| part_of(placed.rule.kind()) == part).collect()
    };
    let (local, network, programs) = tokio::join!(
        local::judge(of_part(Part::Local), scope, &deadline),
        network::judge(of_part(Part::Network), scope, &deadline),
        programs::judge(of_part(Part::Programs), scope, &deadline),
    );
    let mut results: Vec<PlacedResult> = local.into_iter().chain(network).chain(programs).collect();
    results.sort_by_key(|(position, _)| *position);
    let mut report = RulesReport { rules: results.into_iter().map(|(_, result)| result).collect() };
    redact(&mut report, scope.secrets);
    report
}

fn part_of(kind: RuleKind) -> Part {
    match kind {
        RuleKind::Addr | RuleKind::Dns | RuleKind::Http => Part::Network,
        RuleKind::Command | RuleKind::Package | RuleKind::Service => Part::Programs,
        RuleKind::File
        | RuleKind::Group
        | RuleKind::Interface
        | RuleKind::KernelParam
        | RuleKind::Matching
        | RuleKind::Mount
        | RuleKind::Port
        | RuleKind::Process
        | RuleKind::User => Part::Local,
    }
}

/// Returns the result of a rule each of whose values is missing for one reason.
fn unread(rule: &Rule, reason: &FactError) -> RuleResult {
    let mut judgement = Judgement::new(rule);
    while judgement.next_question().is_some() {
        judgement.answer(Err(reason.clone()));
    }
    judgement.finish()
}

/// Takes the secrets out of a report.
fn redact(report: &mut RulesReport, secrets: &Secrets) {
    let redactor = secrets.redactor();
    if redactor.is_empty() {
        return;
    }
    let redact = |text: &mut String| *text = redactor.redact(text).into_owned();
    for rule in &mut report.rules {
        rule.warnings.iter_mut().for_each(redact);
        for result in &mut rule.results {
            match &mut result.outcome {
                AttributeOutcome::Failed { expected, found } => {
                    redact(expected);
                    redact(found);
                }
                AttributeOutcome::Error(reason) | AttributeOutcome::Unknown(reason) => redact(reason),
                AttributeOutcome::Passed | AttributeOutcome::Skipped => {}
            }
        }
    }
}
