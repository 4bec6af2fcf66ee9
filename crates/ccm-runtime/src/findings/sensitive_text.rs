//! Sensitive values in a source: values that are marked `# @sensitive`, and values of resources that are
//! `sensitive`.
//!
//! Only the text is searched, because a manifest with errors may not have been read any further.

use std::ops::Range;

use ccm_data::annotations::{OpenValue, sensitive_parts, sensitive_parts_of_invalid};
use ccm_model::{Node, NodeMap, NodeValue, ScalarKind, SourceId};
use ccm_properties::{CommonProperty, NAME, SENSITIVE};
use ccm_redaction::Redactor;
use ccm_yaml::{Limits, parse};

/// Sensitive values of one source.
pub(super) struct SensitiveText {
    /// Ranges of the sensitive values, not sorted.
    pub(super) parts: Vec<Range<usize>>,
    /// Words that are hidden in messages about a range of the source.
    words: Vec<(Range<usize>, Redactor)>,
    /// Values of an invalid source, which may appear elsewhere in it. Those of other sources are known.
    pub(super) values: Redactor,
}

impl SensitiveText {
    /// Finds the sensitive values of a source.
    pub(super) fn of(source: &str) -> Self {
        let parts = sensitive_parts(source);
        let mut hidden = Self { parts, words: Vec::new(), values: Redactor::default() };
        if !source.contains(SENSITIVE) {
            return hidden;
        }
        match parse(SourceId(0), source, &Limits::default()) {
            Ok(Some(root)) => {
                // Values in data are already known, but not the words in them that look like names.
                for part in &hidden.parts {
                    let names = source.get(part.clone()).map(names_in_expressions).unwrap_or_default();
                    if !names.is_empty() {
                        hidden.words.push((part.clone(), Redactor::new(names)));
                    }
                }
                hidden.collect(&root, false);
            }
            Ok(None) => {}
            Err(_) => {
                hidden.parts = sensitive_parts_of_invalid(source);
                let texts = hidden.parts.iter().filter_map(|part| source.get(part.clone()));
                hidden.values = Redactor::new(texts.flat_map(values));
                hidden.parts.extend(parts_of_resources(source));
                let texts = hidden.parts.iter().filter_map(|part| source.get(part.clone()));
                let words: Vec<&str> = texts.flat_map(words).collect();
                hidden.words.push((0..source.len() + 1, Redactor::new(words)));
            }
        }
        hidden
    }

    /// Redacts the sensitive words in a message about an offset of the source.
    pub(super) fn redact(&self, text: &str, offset: usize) -> String {
        let about = self.words.iter().filter(|(range, _)| range.contains(&offset));
        about.fold(text.to_owned(), |text, (_, redactor)| redactor.redact(&text).into_owned())
    }

    fn collect(&mut self, node: &Node, is_default: bool) {
        match &node.value {
            NodeValue::Scalar(_) => {}
            NodeValue::List(elements) => {
                let defaults =
                    elements.iter().filter_map(|element| element.as_map()?.get("defaults")?.as_map());
                let by_default = defaults.into_iter().any(|defaults| is_marked(defaults) == Some(true));
                for element in elements {
                    self.collect(element, by_default);
                }
            }
            NodeValue::Map(map) if is_marked(map).unwrap_or_default() => self.hide(map, node.span.range()),
            NodeValue::Map(map) => {
                for entry in map.entries() {
                    let range = entry.key.span.start as usize..entry.value.span.end as usize;
                    match entry.value.as_map() {
                        Some(properties) if is_marked(properties).unwrap_or(is_default) => {
                            self.hide(properties, range);
                        }
                        _ => self.collect(&entry.value, false),
                    }
                }
            }
        }
    }

    fn hide(&mut self, properties: &NodeMap, range: Range<usize>) {
        let mut texts = Vec::new();
        let entries = properties.entries().iter();
        // A misspelt property may stand for one that is hidden.
        let is_harmless =
            |name: &str| name == NAME.name || name == SENSITIVE || CommonProperty::of(name).is_some();
        for entry in entries.filter(|entry| !is_harmless(&entry.key.text)) {
            self.hide_texts(&entry.value, &mut texts);
        }
        self.words.push((range, Redactor::new(texts)));
    }

    fn hide_texts<'n>(&mut self, node: &'n Node, texts: &mut Vec<&'n str>) {
        match &node.value {
            NodeValue::Scalar(scalar) if matches!(scalar.kind(), ScalarKind::Null | ScalarKind::Bool(_)) => {}
            NodeValue::Scalar(scalar) => {
                self.parts.push(node.span.range());
                texts.push(&scalar.text);
            }
            NodeValue::List(elements) => {
                for element in elements {
                    self.hide_texts(element, texts);
                }
            }
            NodeValue::Map(map) => {
                for entry in map.entries() {
                    self.hide_texts(&entry.value, texts);
                }
            }
        }
    }
}

/// Returns the value of `sensitive`; `None` if it is not given. A value that is not known to be `false` may
/// turn out to be true.
fn is_marked(properties: &NodeMap) -> Option<bool> {
    let node = properties.get(SENSITIVE).filter(|node| !node.is_null())?;
    Some(node.as_scalar().is_none_or(|scalar| scalar.kind() != ScalarKind::Bool(false)))
}

/// Finds the values around `sensitive:` in a text that is not valid YAML. Errs on the side of hiding too
/// much.
fn parts_of_resources(source: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines: Vec<(usize, &str)> = source
        .split_inclusive('\n')
        .map(|line| {
            let at = start;
            start += line.len();
            (at, line.trim_end())
        })
        .collect();
    let mut parts = Vec::new();
    for (number, (_, line)) in lines.iter().enumerate() {
        let Some((before, after)) = line.split_once(SENSITIVE) else { continue };
        let said = after.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':').map(str::trim);
        if said.is_none_or(|said| said.starts_with("false")) || before.trim_start().starts_with('#') {
            continue;
        }
        let (mut first, mut last) = (number, number);
        // A resource in braces ends with them. Defaults belong to the resources beside them.
        if before.matches('{').count() <= before.matches('}').count() || before.contains("defaults") {
            (first, last) = lines_around(&lines, number);
        }
        if lines[first].1.contains("defaults") {
            (first, last) = lines_around(&lines, first);
        }
        let mut open = OpenValue::default();
        for (number, (_, line)) in lines.iter().enumerate().skip(first) {
            if number > last && !open.is_open() {
                break;
            }
            open.read(line, indent(line));
            last = last.max(number);
        }
        for (at, line) in &lines[first..=last] {
            let value = match line.find(": ") {
                Some(colon) => colon + 2,
                None if line.ends_with(':') => line.len(),
                None => indent(line),
            };
            parts.push(at + value..at + line.len());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the first and the last line that belong together with a line, by their indentation.
fn lines_around(lines: &[(usize, &str)], number: usize) -> (usize, usize) {
    let (mut first, mut last) = (number, number);
    let belongs = |line: &str| {
        let is_tabbed = line[..indent(line)].contains('\t');
        line.trim().is_empty() || is_tabbed || indent(line) >= indent(lines[number].1)
    };
    while first > 0 && belongs(lines[first - 1].1) {
        first -= 1;
    }
    while last + 1 < lines.len() && belongs(lines[last + 1].1) {
        last += 1;
    }
    // The enclosing value may begin in the line before.
    (first.saturating_sub(1), last)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the values in a text: the whole text, and what is between its quotes, brackets and keys.
fn values(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split([',', '{', '}', '[', ']', '"', '\'']);
    let values = pieces.map(|piece| {
        let value = piece.rsplit_once(": ").map_or(piece, |(_, value)| value).trim();
        value.strip_prefix("- ").unwrap_or(value).trim_end_matches(':').trim()
    });
    std::iter::once(text.trim()).chain(values)
}

/// Returns the parts of a text that an error may quote: the whole text, and its words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |part: char| part.is_whitespace() || ",{}[]\"'".contains(part);
    let words =
        text.split(is_between).map(|word| word.trim_end_matches(':').trim_start_matches(['*', '&', '!']));
    std::iter::once(text.trim()).chain(words.filter(|word| word.chars().any(char::is_alphanumeric)))
}

/// Returns the names in what looks like expressions, because a secret may hold a `${`. Names and functions that
/// lead to a value of ccm are left out.
fn names_in_expressions(text: &str) -> Vec<&str> {
    const KNOWN: [&str; 11] = [
        "Facts",
        "Data",
        "Environ",
        "Captures",
        "Item",
        "Index",
        "lookup",
        "file",
        "readFile",
        "template",
        "credential",
    ];
    let is_part = |part: char| part.is_alphanumeric() || matches!(part, '_' | '.');
    let expressions = text.split("${").skip(1).chain(text.split("{{").skip(1));
    let inner = expressions.map(|rest| rest.split('}').next().unwrap_or_default());
    let unquoted = inner.flat_map(|inner| inner.split(['"', '\'', '`']).step_by(2));
    let paths = unquoted.flat_map(|piece| piece.split(move |part: char| !is_part(part)));
    let names = paths.map(|path| path.split('.').next().unwrap_or_default());
    names.filter(|name| !name.is_empty() && !KNOWN.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(source: &str) -> Vec<&str> {
        let mut parts = SensitiveText::of(source).parts;
        parts.sort_by_key(|part| part.start);
        parts.into_iter().map(|part| &source[part]).collect()
    }

    #[test]
    fn the_values_of_a_sensitive_resource_are_found() {
        for (source, expected) in [
            (
                "- a:\n    command: x y\n    sensitive: true\n    environment: {K: v}\n    ensure: present\n- b: {command: z}\n",
                &["x y", "v"][..],
            ),
            ("exec: {name: a, sensitive: \"{{ Data.x }}\", stdn: [b, true]}\n", &["b"]),
            (
                "- defaults: {sensitive: true}\n- a: {command: x}\n- b: {sensitive: false, command: z}\n",
                &["x"],
            ),
            ("- a: {command: x, sensitive: false}\n", &[]),
            // Such texts can't be parsed.
            (
                "- a:\n    command: x\n    sensitive: true\n    stdin: \"b\n- c: {command: z}\n",
                &["x", "true", "\"b", "{command: z}"],
            ),
            ("- a: {command: x, sensitive: true\n- c: z\n", &["{command: x, sensitive: true", "z"]),
            ("- a: {command: x, sensitive: true}\n- c: z: z\n", &["{command: x, sensitive: true}"]),
            (
                "  - defaults: {sensitive: true}\n  - a: {stdin: b: x}\nc: d\n",
                &["{sensitive: true}", "{stdin: b: x}"],
            ),
            ("- defaults:\n    sensitive: true\n- a: {stdin: b: x}\n", &["true", "{stdin: b: x}"]),
            (
                "- a: {sensitive: true,\n    command: x,\n  stdin: b\nc}\n- d: : e\n",
                &["{sensitive: true,", "x,", "b", "c}"],
            ),
            (
                "- a:\n    sensitive: true\n\tstdin: b\n    args: \"c\nd\"\n- e: : f\n",
                &["true", "b", "\"c", "d\""],
            ),
            ("- a: {command: x, sensitive: false\n- c: z\n", &[]),
            ("# @sensitive\npw: b\npw: e\n", &["b", " e"]),
        ] {
            assert_eq!(parts(source), expected, "{source}");
        }
    }

    #[test]
    fn words_are_hidden_where_they_belong() {
        let source = "- a: {command: prog --password hushhush, sensitive: true}\n- b: {command: c}\n";
        let hidden = SensitiveText::of(source);
        let text = "`prog --password hushhush` is not in the whitelist";
        assert_eq!(hidden.redact(text, 5), "`[redacted]` is not in the whitelist");
        assert_eq!(hidden.redact(text, source.len() - 3), text);
        let alias = "# @sensitive\npw: *S3cr3tPassword\n";
        assert_eq!(SensitiveText::of(alias).redact("no `&S3cr3tPassword`", 18), "no `&[redacted]`");
        let literal = "# @sensitive\npw: \"x${hunter2} {{ Environ.PASSWORD }}\"\nother: 1\n";
        let hidden = SensitiveText::of(literal);
        assert_eq!(hidden.redact("unknown name `hunter2`", 20), "unknown name `[redacted]`");
        assert_eq!(hidden.redact("there is no `Environ.PASSWORD`", 30), "there is no `Environ.PASSWORD`");
        let broken = "# @sensitive\npw: S3cr3tPassword: x\n";
        assert_eq!(
            SensitiveText::of(broken).redact("quote it: `\"S3cr3tPassword: x\"`", 17),
            "quote it: `\"[redacted]\"`"
        );
    }
}
