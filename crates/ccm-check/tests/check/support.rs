//! Rules of texts, and facts of tables.

use ccm_check::{Attribute, Fact, FactError, Facts, Rule, RuleFile, RuleFiles, RulesRead, read_rule_file};
use ccm_model::{Diagnostic, SourceId, SourceMap};
use serde_json::Value as Json;

/// Included files by name, with the texts that were read.
pub(crate) struct Included<'j> {
    pub(crate) files: &'j Json,
    pub(crate) sources: SourceMap,
}

impl RuleFiles for Included<'_> {
    fn files(&mut self, pattern: &str, _: &RuleFile) -> Result<Vec<RuleFile>, String> {
        let Some(text) = self.files.get(pattern).and_then(Json::as_str) else { return Ok(Vec::new()) };
        let source = self.sources.add(pattern.to_owned(), text.to_owned());
        Ok(vec![RuleFile { path: pattern.to_owned(), source, text: text.to_owned() }])
    }
}

/// Reads a Goss file, with the texts for the locations of errors.
pub(crate) fn read(text: &str, files: &Json) -> (RulesRead, SourceMap) {
    let mut included = Included { files, sources: SourceMap::default() };
    let source = included.sources.add("goss.yaml".to_owned(), text.to_owned());
    let file = RuleFile { path: "goss.yaml".to_owned(), source, text: text.to_owned() };
    let read = read_rule_file(&file, &mut included);
    (read, included.sources)
}

/// Reads the only rule of a text.
pub(crate) fn rule(text: &str) -> Rule {
    match read(text, &Json::Null).0 {
        Ok((mut rules, _)) if rules.len() == 1 => rules.remove(0),
        other => panic!("{text}: {other:?}"),
    }
}

/// Formats diagnostics as `line:column message (hint)`.
pub(crate) fn shown(found: &[Diagnostic], sources: &SourceMap) -> Vec<String> {
    let one = |found: &Diagnostic| {
        let place = found.span().map_or_else(String::new, |span| {
            let (name, position) = sources.locate(span).expect("a location");
            let place = position.display();
            if span.source == SourceId::default() { place } else { format!("{name}:{place}") }
        });
        let hints: Vec<String> = found.hints.iter().map(|hint| format!(" ({hint})")).collect();
        format!("{place} {}{}", found.one_line(), hints.concat())
    };
    found.iter().map(one).collect()
}

/// Facts of a table. A question that the table does not answer fails the test.
pub(crate) struct TableFacts<'j> {
    pub(crate) answers: &'j Json,
    pub(crate) asked: Vec<Attribute>,
}

impl Facts for TableFacts<'_> {
    fn fact(&mut self, rule: &Rule, attribute: Attribute) -> Result<Fact, FactError> {
        self.asked.push(attribute);
        let answer = self.answers.get(attribute.name()).cloned();
        let answer = answer.unwrap_or_else(|| panic!("{rule} asks for {attribute:?}"));
        if let Some(error) = answer.get("error").and_then(Json::as_str) {
            return Err(FactError::Unreadable(error.to_owned()));
        }
        if let Some(reason) = answer.get("unsupported").and_then(Json::as_str) {
            return Err(FactError::Unsupported(reason.to_owned()));
        }
        let warning = answer.get("warning").and_then(Json::as_str).map(str::to_owned);
        let value = answer.get("value").unwrap_or(&answer).clone();
        Ok(Fact { warning, ..Fact::new(value.into()) })
    }
}
