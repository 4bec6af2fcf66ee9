//! Ranges of sensitive values in a source, found without parsing, because the source may be invalid.

use std::collections::HashSet;
use std::ops::Range;

/// Finds the values of sensitive keys. Errs on the side of finding too much.
pub fn sensitive_parts(source_text: &str) -> Vec<Range<usize>> {
    find(source_text, &HashSet::new()).0
}

/// Finds the values of sensitive keys in an invalid source, which may repeat a key: of all keys of that name.
pub fn sensitive_parts_of_invalid(source_text: &str) -> Vec<Range<usize>> {
    let (_, names) = find(source_text, &HashSet::new());
    find(source_text, &names).0
}

/// Finds the values of sensitive keys and of keys with these names. Returns the sensitive keys' names, too.
fn find<'t>(source_text: &'t str, names: &HashSet<&str>) -> (Vec<Range<usize>>, HashSet<&'t str>) {
    let mut parts = Vec::new();
    let mut found = HashSet::new();
    if !source_text.contains("@sensitive") {
        return (parts, found);
    }
    let mut state = MaskState::Nothing;
    let mut start = 0;
    for line in source_text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        let first = start + indent;
        state = match state {
            MaskState::Nothing | MaskState::Value(_) if is_annotation(text) => MaskState::Annotation,
            // The annotation may be meant for this line, or for the next key in braces.
            MaskState::Nothing if ends_in_annotation(text) => {
                found.extend(keys(text).next().map(|(name, _)| name));
                parts.extend(value_of(text).map(|value| first + value..end));
                match text.split('#').next().unwrap_or_default().trim_end() {
                    before if before.ends_with(['{', ',', '[']) => MaskState::Annotation,
                    _ => MaskState::Nothing,
                }
            }
            MaskState::Annotation if text.is_empty() || text.starts_with('#') => MaskState::Annotation,
            MaskState::Annotation => {
                found.extend(keys(text).next().map(|(name, _)| name));
                parts.extend(value_of(text).map(|value| first + value..end));
                MaskState::Value(indent)
            }
            // List elements may have the indentation of their key, and so has a value after `? KEY`.
            MaskState::Value(key) if text.is_empty() || indent > key || text.starts_with(['-', ':']) => {
                parts.push(first..end);
                MaskState::Value(key)
            }
            MaskState::Nothing | MaskState::Value(_) => {
                match keys(text).find(|(name, _)| names.contains(name)) {
                    Some((_, after)) => {
                        parts.push(first + after..end);
                        MaskState::Value(indent)
                    }
                    None => MaskState::Nothing,
                }
            }
        };
        start += line.len();
    }
    parts.retain(|part| !part.is_empty());
    (parts, found)
}

/// Result of the lines so far.
enum MaskState {
    Nothing,
    /// The next key is sensitive.
    Annotation,
    /// Inside the value of a sensitive key with this indentation.
    Value(usize),
}

/// Keys of a line as far as they can be told without parsing, each with the offset of what follows it.
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

fn value_of(line: &str) -> Option<usize> {
    let after = line.find(':')? + 1;
    Some(after + line[after..].len() - line[after..].trim_start().len())
}

/// Returns `true` if an annotation follows other text on the line.
fn ends_in_annotation(line: &str) -> bool {
    line.split_once('#').is_some_and(|(_, comment)| comment.trim_start().starts_with("@sensitive"))
}

fn is_annotation(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|comment| comment.contains("@sensitive"))
}

#[cfg(test)]
mod tests {
    use super::{sensitive_parts, sensitive_parts_of_invalid};

    #[test]
    fn values_of_a_key_that_is_given_again_are_found_in_an_invalid_source() {
        for (source, parts) in [
            ("# @sensitive\npw: b\nc: d\npw: e\n", &["b", " e"][..]),
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
            ("# @sensitive\r\na: b\r\nd: e\r\n", &["b"]),
            ("# @sensitive\na: b\n# @sensitive\nc: d\n", &["b", "d"]),
            ("# @sensitive\nno key here", &[""; 0]),
            ("a: '@sensitive'\nb: c\n", &[]),
            ("a: {# @sensitive\n  b: c, d: [\n", &["{# @sensitive", "c, d: ["]),
            ("a: b # @sensitive\nc: d\n", &["b # @sensitive"]),
        ] {
            let found: Vec<&str> = sensitive_parts(source).into_iter().map(|part| &source[part]).collect();
            assert_eq!(found, parts, "{source}");
        }
    }
}
