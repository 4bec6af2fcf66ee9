//! Goss documents to rules, with every error at its location.

mod impossible;
mod includes;
mod rule_body;
mod settings;
mod subject;
mod templates;

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, Severity, SourceId, closest, escape_control, listed,
};
use ccm_properties::{PropertyKind, PropertyValue, expected};
use ccm_yaml::Limits;

use crate::kinds::RuleKind;
use crate::matcher::MatcherReader;
use crate::rule::Rule;
use includes::IncludeReader;
pub use includes::{RuleFile, RuleFiles};

/// Maximum number of rules of a check.
pub const MAX_RULES: usize = 10_000;
/// Maximum number of errors and warnings. More would not be read.
const MAX_FOUND: usize = 1000;
/// Key above the files that a Goss file includes.
const INCLUDES: &str = "gossfile";

/// Limits on the cost of a hostile file.
const LIMITS: Limits = Limits { depth: 64, nodes: 1_000_000, repeated: 100_000 };

/// Rules that were read, and warnings about them; or every error, with the warnings.
pub type RulesRead = Result<(Vec<Rule>, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Reads rules that are part of another document, such as a manifest. These include no files.
pub fn read_rules(node: &Node) -> RulesRead {
    let mut document = Document::default();
    document.read(node, None);
    document.end(node)
}

/// Rules as a value of a manifest.
#[derive(Clone, Debug)]
pub struct GossRules(pub Vec<Rule>);

impl PropertyValue for GossRules {
    const KIND: PropertyKind = PropertyKind::Map {
        keys: Some(KIND_PATTERN),
        values: &PropertyKind::Map { keys: None, values: &PropertyKind::JsonMap, min: 0 },
        min: 1,
    };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        match read_rules(node) {
            Ok((rules, warnings)) => {
                errors.extend(warnings);
                Some(Self(rules))
            }
            Err(found) => {
                errors.extend(found);
                None
            }
        }
    }
}

/// Regular expression of the kinds of rules, for editors.
const KIND_PATTERN: &str = "^(addr|command|dns|file|group|http|interface|kernel-param|matching|mount|package|port|process|service|user)$";

/// Reads a Goss file, and the files that it includes.
pub fn read_rule_file(file: &RuleFile, files: &mut dyn RuleFiles) -> RulesRead {
    let mut document = Document::default();
    let mut includes = IncludeReader::new(files);
    let whole = document.read_file(file, &mut includes);
    match whole {
        Some(node) => document.end(&node),
        None => Err(document.matchers.found),
    }
}

/// Rules of one check while they are read.
#[derive(Default)]
struct Document {
    rules: Vec<Rule>,
    /// Places of the rules in the list, so that a later file can replace them.
    places: std::collections::HashMap<(RuleKind, String), usize>,
    matchers: MatcherReader,
}

impl Document {
    /// Reads a file and those that it includes. Returns its tree if it has one.
    fn read_file(&mut self, file: &RuleFile, includes: &mut IncludeReader<'_>) -> Option<Node> {
        if let Some(error) = templates::find(file.source, &file.text) {
            self.matchers.found.push(error);
            return None;
        }
        match ccm_yaml::parse(file.source, &file.text, &LIMITS) {
            Err(errors) => {
                self.matchers.found.extend(errors);
                None
            }
            Ok(None) => {
                self.matchers.found.push(no_rules(file.source, 0));
                None
            }
            Ok(Some(node)) => {
                self.read(&node, Some((file, includes)));
                Some(node)
            }
        }
    }

    /// Reads the kinds of a document, and then the files that it includes.
    fn read(&mut self, node: &Node, includes: Option<(&RuleFile, &mut IncludeReader<'_>)>) {
        let Some(map) = node.as_map() else {
            let hint = "write rules below their kind, such as `port: {tcp:80: {listening: true}}`";
            self.matchers.found.push(expected("a map of rules by their kind", node).with_hint(hint));
            return;
        };
        for entry in map.entries() {
            if self.is_full() {
                return;
            }
            let name = &*entry.key.text;
            match RuleKind::parse(name) {
                Some(kind) => self.read_kind(kind, entry),
                None if name == INCLUDES && includes.is_some() => {}
                None => self.matchers.found.push(unknown_kind(entry, includes.is_some())),
            }
        }
        if let (Some((file, includes)), Some(entry)) = (includes, map.entry(INCLUDES)) {
            includes.read(entry, file, self);
        }
    }

    fn read_kind(&mut self, kind: RuleKind, entry: &NodeEntry) {
        if entry.value.is_null() {
            return;
        }
        let Some(map) = entry.value.as_map() else {
            let noun = format!("a map of `{}` rules", kind.name());
            self.matchers.found.push(expected(&noun, &entry.value));
            return;
        };
        for rule in map.entries() {
            if self.is_full() {
                return;
            }
            if let Some(read) = rule_body::read(kind, rule, &mut self.matchers) {
                self.add(read);
            }
        }
    }

    /// Adds a rule, in place of an earlier one of the same kind and key.
    fn add(&mut self, rule: Rule) {
        let key = (rule.kind(), rule.id.clone());
        if let Some(place) = self.places.get(&key) {
            self.rules[*place] = rule;
        } else if self.rules.len() < MAX_RULES {
            self.places.insert(key, self.rules.len());
            self.rules.push(rule);
        } else {
            let message = format!("there are more than {MAX_RULES} rules");
            let error = Diagnostic::error(DiagnosticKind::LimitExceeded, rule.span, message);
            self.matchers.found.push(error.with_hint("split the rules into several checks"));
        }
    }

    /// Returns `true` if the rest would not be read, or only cost time.
    fn is_full(&self) -> bool {
        let found = &self.matchers.found;
        found.len() >= MAX_FOUND
            || found.last().is_some_and(|last| last.kind == DiagnosticKind::LimitExceeded)
    }

    fn end(self, node: &Node) -> RulesRead {
        let Self { rules, matchers: MatcherReader { mut found, .. }, .. } = self;
        let has_error = |found: &[Diagnostic]| found.iter().any(|found| found.severity == Severity::Error);
        if rules.is_empty() && !has_error(&found) {
            found.push(no_rules(node.span.source, node.span.start as usize));
        }
        if has_error(&found) { Err(found) } else { Ok((rules, found)) }
    }
}

fn no_rules(source: SourceId, at: usize) -> Diagnostic {
    let span = ccm_model::Span::new(source, at, at);
    Diagnostic::error(DiagnosticKind::Missing, span, "there are no rules")
        .with_hint("write rules below their kind, such as `port: {tcp:80: {listening: true}}`")
}

fn unknown_kind(entry: &NodeEntry, is_file: bool) -> Diagnostic {
    let name = &*entry.key.text;
    if name == INCLUDES {
        let message = "rules of a manifest include no files";
        return Diagnostic::error(DiagnosticKind::Misplaced, entry.key.span, message)
            .with_hint("write the rules here, or run `ccm check` with a Goss file");
    }
    let names: Vec<&str> = RuleKind::NAMES.iter().copied().chain(is_file.then_some(INCLUDES)).collect();
    unknown_key("kind of rule", entry, &names)
}

/// Builds the error of a key that is none of these names.
fn unknown_key(noun: &str, entry: &NodeEntry, names: &[&str]) -> Diagnostic {
    let name = &*entry.key.text;
    let message = format!("unknown {noun} `{}`", escape_control(name));
    let error = Diagnostic::error(DiagnosticKind::UnknownKey, entry.key.span, message);
    match closest(name, names.iter().copied()) {
        None => error.with_hint(format!("use one of {}", listed(names, "and"))),
        near => error.with_suggestion(near),
    }
}

#[cfg(test)]
mod tests {
    use super::{KIND_PATTERN, RuleKind};

    #[test]
    fn editors_know_every_kind() {
        assert_eq!(KIND_PATTERN, format!("^({})$", RuleKind::NAMES.join("|")));
    }
}
