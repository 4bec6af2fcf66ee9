//! Goss files: read with the files that they include, and judged with the same value for every question.

use ccm_check::{
    Attribute, Fact, FactError, Facts, Rule, RuleFile, RuleFiles, RulesRead, judge_all, read_rule_file,
};
use ccm_model::{Severity, SourceMap};

use super::spans;

pub(crate) const WORDS: &[&str] = &[
    "file:\n  /a: {exists: true, mode: \"0644\", contents: [a, \"!b\", \"/^c$/\"]}\n",
    "#--- a.yaml\nfile:\n  /b: {exists: false}\n",
    "gossfile:\n  a.yaml: {}\n",
    "gossfile: {x: {file: a.yaml, skip: true}}\n",
    "port: {tcp6:80: {listening: true, ip: [\"::\"]}}\n",
    "command: {x: {exec: \"true\", exit-status: 0, stdout: {gjson: {a.#: 1}}}}\n",
    "http: {https://a/: {status: 200, request-headers: [\"A: b\"]}}\n",
    "dns: {MX:a.test: {resolvable: true, server: a}}\n",
    "matching: {m: {content: {a: [1]}, matches: {have-key: a}}}\n",
    "{and: [{not: {gt: 1}}, {or: []}]}",
    "{consist-of: [a, {have-prefix: b}]}",
    "{contain-elements: [1, 2]}",
    "{match-regexp: \"(a+)+$\"}",
    "{semver-constraint: \">=1.2 <2 || 3\"}",
    "{xml: {xpath: \"count(//a[@b='c'])\", result: \"1\"}}",
    "{have-patterns: [\"/x/i\"]}",
    "timeout: 100\n",
    "retry_delay: 1m\n",
    "skip: true\n",
    "{{.Vars.x}}",
    "&a ",
    "*a",
    ": ",
    "- ",
    "\"",
    "!",
];

/// Beginning of a line with the name of the next file.
const NEXT: &str = "#--- ";

/// Files of an input, with those that were read.
struct InputFiles<'t> {
    files: Vec<(&'t str, String)>,
    texts: SourceMap,
}

impl RuleFiles for InputFiles<'_> {
    fn files(&mut self, pattern: &str, _: &RuleFile) -> Result<Vec<RuleFile>, String> {
        if pattern.contains('\u{1b}') {
            return Err(pattern.to_owned());
        }
        let found = self.files.iter().filter(|(name, _)| *name == pattern);
        let mut read = Vec::new();
        for (name, text) in found {
            let source = self.texts.add(*name, text.as_str());
            read.push(RuleFile { path: (*name).to_owned(), source, text: text.clone() });
        }
        Ok(read)
    }
}

/// Machine with one value.
struct OneValue(Fact);

impl Facts for OneValue {
    fn fact(&mut self, _: &Rule, _: Attribute) -> Result<Fact, FactError> {
        Ok(self.0.clone())
    }
}

pub(crate) fn run(input: &[u8]) {
    let text = super::text(input);
    let (read, texts) = read_all(&text);
    let (Ok((_, found)) | Err(found)) = &read;
    spans::check(found, &texts);
    let has_error = found.iter().any(|found| found.severity == Severity::Error);
    assert_eq!(has_error, read.is_err());
    assert_eq!(*found, read_all(&text).0.map_or_else(|found| found, |(_, found)| found));
    let Ok((rules, _)) = read else { return };
    for value in [Fact::from(true), Fact::from(1), Fact::from("{\"a\": [1, \"x\"]}\n<a b='c'/>\n1.2.3")] {
        let report = judge_all(&rules, &mut OneValue(value.clone()));
        assert_eq!(report.rules.len(), rules.len());
        assert!(!report.summary().contains('\n'));
        assert_eq!(report, judge_all(&rules, &mut OneValue(value)));
    }
}

fn read_all(text: &str) -> (RulesRead, SourceMap) {
    let mut files = vec![("goss.yaml", String::new())];
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix(NEXT) {
            files.push((name.trim_end(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        }
    }
    let (_, main) = files.remove(0);
    let mut files = InputFiles { files, texts: SourceMap::default() };
    let source = files.texts.add("goss.yaml", main.as_str());
    let file = RuleFile { path: "goss.yaml".to_owned(), source, text: main };
    let read = read_rule_file(&file, &mut files);
    (read, files.texts)
}
