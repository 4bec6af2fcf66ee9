//! Policies: files, rules and decisions.

mod decisions;
mod errors;
mod example;
mod matching;
mod merging;
mod mistakes;
mod schema;

use std::sync::Arc;

use ccm_model::Diagnostic;
use ccm_policy::{
    AnalysedCommand, AnalysedOption, AnalysedWord, Analysis, Caller, Effect, GuardClass, GuardFinding,
    NoValues, Policy, PolicyDecision, PolicyReading, PolicyText, ProgramLocation, ProgramReference,
    read_policy,
};

fn text(name: &str, text: &str) -> PolicyText {
    PolicyText { name: name.to_owned(), text: Arc::from(text) }
}

fn read(policy: &str) -> PolicyReading {
    read_policy(&text("policy.yaml", policy), &[])
}

/// Reads a policy of these sections, without errors.
fn policy(sections: &str) -> Policy {
    let reading = read(&format!("ccm_policy: 1\n{sections}"));
    reading.policy.clone().unwrap_or_else(|| panic!("{:#?}", messages(&reading)))
}

/// Returns each diagnostic as `LINE:COLUMN MESSAGE | HINT`.
fn messages(reading: &PolicyReading) -> Vec<String> {
    reading.diagnostics.iter().map(|found| message(reading, found)).collect()
}

fn message(reading: &PolicyReading, found: &Diagnostic) -> String {
    let place = found.span().and_then(|span| reading.texts.locate(span));
    let place = place.map(|(_, at)| format!("{}:{} ", at.line, at.column)).unwrap_or_default();
    let parts: Vec<&str> = std::iter::once(&found.message).chain(&found.hints).map(String::as_str).collect();
    format!("{place}{}", parts.join(" | "))
}

/// Builds the analysis of a program in `/usr/bin` with arguments. A word that begins with `$` is not known.
fn command(line: &str) -> AnalysedCommand {
    let words: Vec<AnalysedWord> = line
        .split(' ')
        .map(|word| AnalysedWord { shown: word.to_owned(), is_known: !word.starts_with('$') })
        .collect();
    let name = words[0].text().map(str::to_owned);
    let location = name.as_ref().map(|name| ProgramLocation {
        path: format!("/usr/bin/{name}"),
        canonical: format!("/usr/bin/{name}"),
        is_trusted: true,
    });
    let options = words[1..].iter().filter(|word| word.shown.starts_with('-')).map(|word| {
        let (name, value) = word.shown.split_once('=').unzip();
        AnalysedOption {
            name: name.unwrap_or(&word.shown).to_owned(),
            other_names: Vec::new(),
            value: value.map(AnalysedWord::known),
        }
    });
    AnalysedCommand {
        program: Some(ProgramReference { name, location }),
        options: options.collect(),
        operands: words[1..].iter().filter(|word| !word.shown.starts_with('-')).cloned().collect(),
        words,
        variables: Vec::new(),
        codes: Vec::new(),
        is_redirected: false,
        effects: Vec::new(),
        findings: Vec::new(),
        directories: Vec::new(),
        is_directory_unknown: false,
        code_origins: Vec::new(),
        directory: Some("/w".to_owned()),
        parent: None,
        place: ccm_policy::WorkingPlace::Start,
        is_suspected: false,
        span: ccm_shell::ShellSpan::default(),
    }
}

fn with_class(mut command: AnalysedCommand, class: GuardClass) -> AnalysedCommand {
    command.findings.push(GuardFinding {
        class,
        what: class.description().to_owned(),
        span: command.span,
        at_most: None,
        way_out: None,
        origin: ccm_policy::FindingOrigin::Words,
    });
    command
}

fn with_effect(mut command: AnalysedCommand, effect: Effect) -> AnalysedCommand {
    command.effects.push(effect);
    command
}

fn analysis(commands: Vec<AnalysedCommand>) -> Analysis {
    Analysis { commands, unreadable: None }
}

fn decide(policy: &Policy, commands: Vec<AnalysedCommand>) -> PolicyDecision {
    policy.decide(&analysis(commands), Caller::Tool, &NoValues)
}

/// Returns the verdict on one command for a tool.
fn verdict(policy: &Policy, command: AnalysedCommand) -> &'static str {
    decide(policy, vec![command]).verdict.name()
}
