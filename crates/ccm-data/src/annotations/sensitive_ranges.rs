//! Ranges of sensitive values in a source, found without parsing, because the source may be invalid.

use std::collections::HashSet;
use std::ops::Range;

use super::open_value::OpenValue;

/// Annotations of secrets. An encrypted value may be one that somebody forgot to encrypt.
const MARKS: [&str; 2] = ["@sensitive", "@encrypted"];

/// Finds the values of sensitive keys. Errs on the side of finding too much.
pub fn sensitive_parts(source_text: &str) -> Vec<Range<usize>> {
    find(source_text, &HashSet::new()).0
}

/// Finds the values of sensitive keys in an invalid source. Every key with the name of a sensitive key counts,
/// because such a source may repeat a key.
pub fn sensitive_parts_of_invalid(source_text: &str) -> Vec<Range<usize>> {
    let (_, names) = find(source_text, &HashSet::new());
    find(source_text, &names).0
}

/// Returns the values of keys with these names in an invalid source, as texts that an error may show.
pub fn secrets_of_invalid(source_text: &str, names: &[&str]) -> Vec<String> {
    let (parts, _) = find(source_text, &names.iter().copied().collect());
    let is_between = |part: char| ",{}[]\"'".contains(part);
    let mut secrets = Vec::new();
    for text in parts.into_iter().filter_map(|part| source_text.get(part)) {
        let pieces = std::iter::once(text).chain(text.split(is_between));
        let pieces = pieces.map(|piece| piece.trim().trim_start_matches("- ").trim());
        secrets.extend(pieces.filter(|piece| !piece.is_empty()).map(str::to_owned));
    }
    secrets
}

/// Finds the values of sensitive keys and of keys with these names. Returns the ranges of the values, and the
/// names of the sensitive keys.
fn find<'t>(source_text: &'t str, names: &HashSet<&str>) -> (Vec<Range<usize>>, HashSet<&'t str>) {
    let mut parts = Vec::new();
    let mut found = HashSet::new();
    if names.is_empty() && !MARKS.iter().any(|mark| source_text.contains(mark)) {
        return (parts, found);
    }
    // Indentation of the sensitive key whose value may go on.
    let mut key_indent = None;
    let mut open = OpenValue::default();
    // The next key is sensitive.
    let mut is_annotated = false;
    let mut start = 0;
    for line in source_text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        let text_start = start + indent;
        start += line.len();
        let is_comment = text.starts_with('#');
        // List elements may have the indentation of their key, and so has a value after `? KEY`. YAML allows no
        // tabs as indentation, so nothing is known about a line with one.
        let is_deeper = |key| indent > key || line[..indent].contains('\t');
        let goes_on = |key| text.is_empty() || is_deeper(key) || text.starts_with(['-', ':']);
        if key_indent.is_some_and(goes_on) || open.is_open() {
            parts.push(text_start..end);
            open.read(text, indent);
        } else if !text.is_empty() && !is_comment {
            // A comment ends no value, whatever its indentation.
            key_indent = None;
            open = OpenValue::default();
        }
        if text.is_empty() || is_comment {
            is_annotated |= is_annotation(text);
            continue;
        }
        let is_annotated_here = ends_in_annotation(text);
        if is_annotated || is_annotated_here {
            found.extend(keys(text).next().map(|(name, _)| name));
        }
        if key_indent.is_some() {
            is_annotated = false;
        } else if is_annotated {
            parts.extend(value_start(text).map(|value| text_start + value..end));
            (key_indent, is_annotated) = (Some(indent), false);
            open.read(text, indent);
        } else if is_annotated_here {
            parts.extend(value_start(text).map(|value| text_start + value..end));
            // The annotation may be meant for this line, or for the next key in braces.
            is_annotated = text.split('#').next().unwrap_or_default().trim_end().ends_with(['{', ',', '[']);
        } else if let Some((_, after)) = keys(text).find(|(name, _)| names.contains(name)) {
            parts.push(text_start + after..end);
            key_indent = Some(indent);
            open.read(text, indent);
        }
    }
    parts.retain(|part| !part.is_empty());
    (parts, found)
}

/// Finds the keys of a line without parsing it, each with the offset after its colon.
fn keys(line: &str) -> impl Iterator<Item = (&str, usize)> {
    const BETWEEN: [char; 6] = ['{', '[', ',', ':', '"', '\''];
    let mut start = 0;
    line.match_indices(BETWEEN).chain([(line.len(), "")]).filter_map(move |(at, found)| {
        let name = line[start..at].trim().trim_start_matches(['-', '?']).trim_start();
        let is_explicit = found.is_empty() && line[start..].trim_start().starts_with("? ");
        start = at + found.len();
        let rest = &line[at..];
        let is_key =
            is_explicit || rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start().starts_with(':');
        (is_key && !name.is_empty()).then(|| (name, at + rest.find(':').map_or(0, |colon| colon + 1)))
    })
}

fn value_start(line: &str) -> Option<usize> {
    let after = line.find(':')? + 1;
    Some(after + line[after..].len() - line[after..].trim_start().len())
}

/// Returns `true` if an annotation follows other text on the line.
fn ends_in_annotation(line: &str) -> bool {
    line.split_once('#')
        .is_some_and(|(_, comment)| MARKS.iter().any(|mark| comment.trim_start().starts_with(mark)))
}

fn is_annotation(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|comment| MARKS.iter().any(|mark| comment.contains(mark)))
}

#[cfg(test)]
mod tests {
    use super::{secrets_of_invalid, sensitive_parts, sensitive_parts_of_invalid};

    #[test]
    fn values_of_named_keys_are_found_in_an_invalid_source() {
        let names = ["pw"];
        for (source, secrets) in [
            ("pw: hunter2\npw: hunter3\n", &["hunter2", "hunter3"][..]),
            ("a: b\n\"pw\": \"hun ter\n", &["\"hun ter", "hun ter"]),
            ("pw:\n  - one\n  - 'two'\nb: : c\n", &["one", "two"]),
        ] {
            let found = secrets_of_invalid(source, &names);
            assert!(
                secrets.iter().all(|secret| found.iter().any(|one| one == secret)),
                "{source}: {found:?}"
            );
        }
        assert!(secrets_of_invalid("a: b\n", &names).is_empty());
    }

    #[test]
    fn values_of_a_key_that_is_given_again_are_found_in_an_invalid_source() {
        for (source, parts) in [
            ("# @sensitive\npw: b\nc: d\npw: e\n", &["b", " e"][..]),
            ("# @encrypted\npw: b\nc: d\npw: e\n", &["b", " e"]),
            ("c: d\npw: e\n# @sensitive\n\"pw\": b\n", &[" e", "b"]),
            ("# @sensitive\npw: b\n'pw' : |\n  x\n  y\nc: d\n", &["b", " |", "x", "y"]),
            ("x: {\n# @sensitive\npw: b,\nc: d, \"pw\":e}\n", &["b,", "e}"]),
            ("# @sensitive\nmy key: b\n- my key: e\n", &["b", "- my key: e"]),
            ("# @sensitive\npw: b\n? pw\n: e\n", &["b", ": e"]),
            ("# @sensitive\npw: b\npws: d\nx.pw: d\npw d\n", &["b"]),
        ] {
            let found: Vec<&str> =
                sensitive_parts_of_invalid(source).into_iter().map(|part| &source[part]).collect();
            assert_eq!(found, parts, "{source}");
        }
    }

    #[test]
    fn values_of_sensitive_keys_are_found() {
        for (source, parts) in [
            ("a: b\n", &[][..]),
            ("# @sensitive\na: b c\nd: e\n", &["b c"]),
            ("x:\n  # @require @sensitive\n  # more\n\n  a: b\n  c: d\n", &["b"]),
            ("# @sensitive\na: |\n  b\n\n  c\nd: e\n", &["|", "b", "c"]),
            ("# @sensitive\na:\n- b\n- c\nd: e\n", &["- b", "- c"]),
            ("# @sensitive\na: \"b\n  c\n", &["\"b", "c"]),
            ("# @sensitive\na: \"b\nc \\\" # d\n\ne\"\nf: g\n", &["\"b", "c \\\" # d", "e\""]),
            ("# @sensitive\n'a': !x 'b\nc''d\n'\nf: g\n", &["!x 'b", "c''d", "'"]),
            ("# @sensitive\na:\n- \"b\nc\"\nf: g\n", &["- \"b", "c\""]),
            ("# @sensitive\na: [b,\nc: {d,\ne}, ]\nf: g\n", &["[b,", "c: {d,", "e}, ]"]),
            ("# @sensitive\na: it's b\nc: d\n", &["it's b"]),
            ("# @sensitive\na: |\n  'b\n  [c\nd: e\n", &["|", "'b", "[c"]),
            ("x:\n  # @sensitive\n  a:\n\tb\n  c: d\n", &["b"]),
            ("x:\n  # @sensitive\n  a: |\n    b\n\tc\n  d: e\n", &["|", "b", "c"]),
            ("# @sensitive\r\na: b\r\nd: e\r\n", &["b"]),
            ("# @sensitive\na: b\n# @sensitive\nc: d\n", &["b", "d"]),
            ("# @sensitive\nno key here", &[""; 0]),
            ("a: '@sensitive'\nb: c\n", &[]),
            ("a: {# @sensitive\n  b: c, d: [\n", &["{# @sensitive", "c, d: ["]),
            ("a: b # @sensitive\nc: d\n", &["b # @sensitive"]),
            ("# @sensitive\na:\n  # @sensitive\n  b: c\n  d: e\nf: g\n", &["# @sensitive", "b: c", "d: e"]),
            ("# @sensitive\na: |\n  b\n  # @sensitive c\n  d\n", &["|", "b", "# @sensitive c", "d"]),
            ("# @sensitive\na:\n  b: c\n# note\n  d: e\nf: g\n", &["b: c", "d: e"]),
            ("# @sensitive\na:\n  b: c\n# @sensitive\n  d: e\n  f: g\n", &["b: c", "d: e", "f: g"]),
        ] {
            let found: Vec<&str> = sensitive_parts(source).into_iter().map(|part| &source[part]).collect();
            assert_eq!(found, parts, "{source}");
        }
    }
}
