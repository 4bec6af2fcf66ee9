//! Sensitive values in a source: values that are marked `# @sensitive`, values of resources that are `sensitive`, values
//! of properties that are always secret, and users and passwords in URLs.
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
        hidden.hide_ranges(source, credentials_in_urls(source));
        let secrets = secret_names();
        if !source.contains(SENSITIVE) && !secrets.iter().any(|name| source.contains(name)) {
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
                hidden.collect_secrets(&root, &secrets);
            }
            Ok(None) => {}
            Err(_) => {
                hidden.parts = sensitive_parts_of_invalid(source);
                hidden.parts.extend(credentials_in_urls(source));
                hidden.parts.extend(parts_of_secrets(source, &secrets));
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

    /// Hides ranges of the source, and their texts in each message about the source.
    fn hide_ranges(&mut self, source: &str, ranges: Vec<Range<usize>>) {
        let texts: Vec<&str> = ranges.iter().filter_map(|range| source.get(range.clone())).collect();
        if !texts.is_empty() {
            self.words.push((0..source.len() + 1, Redactor::new(texts)));
            self.parts.extend(ranges);
        }
    }

    /// Hides the values of properties that are always secret, wherever they stand.
    fn collect_secrets(&mut self, node: &Node, secrets: &[&str]) {
        match &node.value {
            NodeValue::Scalar(_) => {}
            NodeValue::List(elements) => {
                for element in elements {
                    self.collect_secrets(element, secrets);
                }
            }
            NodeValue::Map(map) => {
                for entry in map.entries() {
                    if secrets.contains(&&*entry.key.text) {
                        let mut texts = Vec::new();
                        self.hide_texts(&entry.value, &mut texts);
                        self.words.push((node.span.range(), Redactor::new(texts)));
                    } else {
                        self.collect_secrets(&entry.value, secrets);
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

/// Returns the names of the properties that are secret in each resource.
fn secret_names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for found in ccm_resources::types() {
        names.extend(
            found.properties().iter().filter(|property| property.secret).map(|property| property.name),
        );
    }
    names
}

/// Finds what stands between `://` and `@` in URLs.
fn credentials_in_urls(source: &str) -> Vec<Range<usize>> {
    let credentials = source.match_indices("://").filter_map(|(at, mark)| {
        let start = at + mark.len();
        let rest = source.get(start..)?;
        let is_end = |part: char| part.is_whitespace() || "/?#\"'`<>".contains(part);
        let authority = rest.split(is_end).next()?;
        let length = authority.rfind('@').filter(|length| *length > 0)?;
        Some(start..start + length)
    });
    credentials.collect()
}

/// Finds the values of properties that are always secret in a text that is not valid YAML: the rest of their lines.
fn parts_of_secrets(source: &str, secrets: &[&str]) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut parts = Vec::new();
    for line in source.split_inclusive('\n') {
        for name in secrets {
            let Some((before, after)) = line.split_once(name) else { continue };
            let value = after.trim_start_matches(['"', '\'']).trim_start();
            if let Some(value) = value.strip_prefix(':').filter(|_| !before.trim_start().starts_with('#')) {
                let end = start + line.trim_end().len();
                let value = start + line.len() - value.trim_start().len();
                parts.extend((value < end).then_some(value..end));
            }
        }
        start += line.len();
    }
    parts
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
    std::iter::once(text.trim()).chain(values).filter(|value| !HARMLESS.contains(value))
}

/// Values of other properties on the line of a secret, which manifests have everywhere.
const HARMLESS: [&str; 9] =
    ["true", "false", "null", "present", "absent", "latest", "running", "stopped", "directory"];

/// Returns the parts of a text that an error may quote: the whole text, and its words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |part: char| part.is_whitespace() || ",{}[]\"'".contains(part);
    let words =
        text.split(is_between).map(|word| word.trim_end_matches(':').trim_start_matches(['*', '&', '!']));
    let words = words.filter(|word| word.chars().any(char::is_alphanumeric));
    std::iter::once(text.trim()).chain(words).filter(|word| !HARMLESS.contains(word))
}

/// Returns the names in what looks like expressions, because a secret may hold a `${`. Names and functions that
/// lead to a value of ccm are left out.
fn names_in_expressions(text: &str) -> Vec<&str> {
    const KNOWN: [&str; 12] = [
        "Facts",
        "Data",
        "Environ",
        "Captures",
        "Manifest",
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
            // Properties that are always secret.
            ("- ada: {password_hash: hunter2, shell: [a]}\n", &["hunter2"]),
            ("- ada:\n    password_hash: hunter2\n    shell: a: b\n", &["hunter2"]),
            ("- a: {source: \"https://ada:pw@host/x\", url: http://host/@x}\n", &["ada:pw"]),
        ] {
            assert_eq!(parts(source), expected, "{source}");
        }
    }

    #[test]
    fn what_stands_beside_a_secret_is_shown_elsewhere() {
        let source = "- ada: {password_hash: hunter22, purge_keys: true}\n- b: {enable: true, x: [}\n";
        let hidden = SensitiveText::of(source);
        assert_eq!(hidden.values.redact("{enable: true, x: hunter22}"), "{enable: true, x: [redacted]}");
        assert_eq!(hidden.redact("`true` and `hunter22`", 60), "`true` and `[redacted]`");
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
