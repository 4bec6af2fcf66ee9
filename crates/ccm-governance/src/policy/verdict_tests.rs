//! Tests of a policy: commands with the verdicts that they have to get.

use std::path::Path;

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeValue, SourceMap, closest, escape_control};
use ccm_policy::{Caller, PolicyVerdict};

use crate::governance::Governance;
use ccm_host::TextError;
use ccm_model::{Findings, ManifestErrors};

const MAX_SIZE: u64 = 1 << 20;

/// Command with the verdict that it has to get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictTest {
    /// Shell text.
    pub command: String,
    /// Caller.
    pub caller: Caller,
    /// Verdict.
    pub expected: PolicyVerdict,
    /// Line in the file.
    pub line: usize,
}

/// Reason for which a file of tests can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerdictTestError {
    /// The file can't be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Errors in the file.
    #[error(transparent)]
    Errors(#[from] ManifestErrors),
}

impl Governance {
    /// Reads a file of tests: a map of callers (`tool`, `apply`) to verdicts to lists of commands.
    pub fn read_verdict_tests(&self, path: &Path) -> Result<Vec<VerdictTest>, VerdictTestError> {
        let (name, text) = self.read_text(Some(path), MAX_SIZE, "file of tests")?;
        let mut texts = SourceMap::default();
        let source = texts.add(name, text.as_str());
        let mut cases = Vec::new();
        let mut found = Vec::new();
        match ccm_yaml::parse(source, &text, &ccm_yaml::Limits::default()) {
            Ok(Some(root)) => read(&root, &texts, &mut cases, &mut found),
            Ok(None) => {
                let message = "the file has no tests";
                found.push(Diagnostic::without_location(DiagnosticKind::Missing, message));
            }
            Err(errors) => found = errors,
        }
        if found.is_empty() {
            return Ok(cases);
        }
        Err(ManifestErrors(Findings { diagnostics: found, texts }).into())
    }
}

fn read(root: &Node, texts: &SourceMap, cases: &mut Vec<VerdictTest>, found: &mut Vec<Diagnostic>) {
    let expected = |what: &str, node: &Node| {
        let message = format!("expected {what}, found {}", node.describe());
        Diagnostic::error(DiagnosticKind::WrongType, node.span, message)
    };
    let unknown = |key: &ccm_model::NodeKey, names: &[&str]| {
        let message = format!("unknown key `{}`", escape_control(&key.text));
        let error = Diagnostic::error(DiagnosticKind::UnknownKey, key.span, message);
        match closest(&key.text, names.iter().copied()) {
            Some(nearest) => error.with_suggestion(Some(nearest)),
            None => error.with_hint(format!("the keys are {}", ccm_model::listed(names, "and"))),
        }
    };
    let NodeValue::Map(callers) = &root.value else {
        return found.push(expected("callers with verdicts and commands", root));
    };
    for entry in callers.entries() {
        let Some(caller) = Caller::parse(&entry.key.text) else {
            found.push(unknown(&entry.key, &Caller::ALL.map(Caller::name)));
            continue;
        };
        let NodeValue::Map(verdicts) = &entry.value.value else {
            found.push(expected("verdicts with lists of commands", &entry.value));
            continue;
        };
        for entry in verdicts.entries() {
            let Some(verdict) = PolicyVerdict::parse(&entry.key.text) else {
                found.push(unknown(&entry.key, &PolicyVerdict::ALL.map(PolicyVerdict::name)));
                continue;
            };
            let Some(commands) = entry.value.as_list() else {
                found.push(expected("a list of commands", &entry.value));
                continue;
            };
            for command in commands {
                let Some(text) = command.as_text() else {
                    found.push(expected("a command", command));
                    continue;
                };
                let line = texts.locate(command.span).map_or(0, |(_, at)| at.line);
                cases.push(VerdictTest { command: text.to_owned(), caller, expected: verdict, line });
            }
        }
    }
}
