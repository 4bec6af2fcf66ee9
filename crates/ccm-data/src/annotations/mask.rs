//! Ranges of sensitive values in a source, found without parsing, because the source may be invalid.

use std::ops::Range;

/// Finds the values of sensitive keys. Errs on the side of finding too much.
pub fn sensitive_parts(source_text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    if !source_text.contains("@sensitive") {
        return parts;
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
                parts.extend(value_of(text).map(|value| first + value..end));
                match text.split('#').next().unwrap_or_default().trim_end() {
                    before if before.ends_with(['{', ',', '[']) => MaskState::Annotation,
                    _ => MaskState::Nothing,
                }
            }
            MaskState::Annotation if text.is_empty() || text.starts_with('#') => MaskState::Annotation,
            MaskState::Annotation => {
                parts.extend(value_of(text).map(|value| first + value..end));
                MaskState::Value(indent)
            }
            // List elements may have the indentation of their key.
            MaskState::Value(key) if text.is_empty() || indent > key || text.starts_with("- ") => {
                parts.push(first..end);
                MaskState::Value(key)
            }
            MaskState::Nothing | MaskState::Value(_) => MaskState::Nothing,
        };
        start += line.len();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Result of the lines so far.
enum MaskState {
    Nothing,
    /// The next key is sensitive.
    Annotation,
    /// Inside the value of a sensitive key with this indentation.
    Value(usize),
}

/// Offset of the value on a line with a key.
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
    use super::sensitive_parts;

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
