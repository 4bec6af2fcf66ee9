//! The places of a source that hold sensitive values, found by its text alone: it may be one that can't be read.

use std::ops::Range;

/// Finds what is written below keys that are sensitive. Rather too much is found than too little.
pub fn sensitive_parts(source_text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    if !source_text.contains("@sensitive") {
        return parts;
    }
    let mut reading = Reading::Nothing;
    let mut start = 0;
    for line in source_text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        let first = start + indent;
        reading = match reading {
            Reading::Nothing | Reading::Value(_) if is_annotation(text) => Reading::Annotation,
            // It may be meant for what stands before it, or for what comes next in braces.
            Reading::Nothing if ends_in_annotation(text) => {
                parts.extend(value_of(text).map(|value| first + value..end));
                match text.split('#').next().unwrap_or_default().trim_end() {
                    before if before.ends_with(['{', ',', '[']) => Reading::Annotation,
                    _ => Reading::Nothing,
                }
            }
            Reading::Annotation if text.is_empty() || text.starts_with('#') => Reading::Annotation,
            Reading::Annotation => {
                parts.extend(value_of(text).map(|value| first + value..end));
                Reading::Value(indent)
            }
            // The elements of a list may stand as far left as its key.
            Reading::Value(key) if text.is_empty() || indent > key || text.starts_with("- ") => {
                parts.push(first..end);
                Reading::Value(key)
            }
            Reading::Nothing | Reading::Value(_) => Reading::Nothing,
        };
        start += line.len();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// What the lines so far have led to.
enum Reading {
    Nothing,
    /// The next key is sensitive.
    Annotation,
    /// This is below a sensitive key with that indentation.
    Value(usize),
}

/// Where the value begins in a line with a key.
fn value_of(line: &str) -> Option<usize> {
    let behind = line.find(':')? + 1;
    Some(behind + line[behind..].len() - line[behind..].trim_start().len())
}

/// Tells whether a line goes on with an annotation behind something else.
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
    fn what_is_written_below_a_sensitive_key_is_found() {
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
