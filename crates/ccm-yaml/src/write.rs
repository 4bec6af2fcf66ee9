//! Values to YAML text that every reader takes for the same.
//!
//! A text that some reader might take for something else is quoted: `yes` and `on`, dates, `1:30`, `0644`.

use std::fmt::Write as _;

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Text, quoted where that is needed.
    Text(String),
    /// A number, a boolean or null, written as it is.
    Plain(String),
    /// A list.
    List(Vec<Written>),
    /// A map, in this order; its keys are text.
    Map(Vec<(String, Written)>),
}

/// How far what is within a list or a map is indented.
const STEP: usize = 2;
/// A longer key is no implicit key for all readers.
const LONGEST_KEY: usize = 1000;

/// Writes a document.
pub fn write(value: &Written) -> String {
    let mut out = String::new();
    match value {
        Written::List(elements) if !elements.is_empty() => list(&mut out, elements, 0),
        Written::Map(entries) if !entries.is_empty() => map(&mut out, entries, 0),
        single => {
            inline(&mut out, single, 0);
            out.push('\n');
        }
    }
    out
}

/// Writes the elements of a list, each on lines of its own; the place where it begins is indented already.
fn list(out: &mut String, elements: &[Written], indentation: usize) {
    for (position, element) in elements.iter().enumerate() {
        if position > 0 {
            indent(out, indentation);
        }
        out.push_str("- ");
        match element {
            Written::List(inner) if !inner.is_empty() => list(out, inner, indentation + STEP),
            Written::Map(inner) if !inner.is_empty() => map(out, inner, indentation + STEP),
            single => {
                inline(out, single, indentation);
                out.push('\n');
            }
        }
    }
}

/// Writes the entries of a map, each on lines of its own; the place where it begins is indented already.
fn map(out: &mut String, entries: &[(String, Written)], indentation: usize) {
    for (position, (key, value)) in entries.iter().enumerate() {
        if position > 0 {
            indent(out, indentation);
        }
        let key = on_one_line(key);
        if key.len() > LONGEST_KEY {
            let _ = writeln!(out, "? {key}");
            indent(out, indentation);
        } else {
            out.push_str(&key);
        }
        out.push(':');
        match value {
            Written::List(inner) if !inner.is_empty() => {
                out.push('\n');
                indent(out, indentation + STEP);
                list(out, inner, indentation + STEP);
            }
            Written::Map(inner) if !inner.is_empty() => {
                out.push('\n');
                indent(out, indentation + STEP);
                map(out, inner, indentation + STEP);
            }
            single => {
                out.push(' ');
                inline(out, single, indentation);
                out.push('\n');
            }
        }
    }
}

/// Writes what needs no lines of its own, but for a text of several lines.
fn inline(out: &mut String, value: &Written, indentation: usize) {
    match value {
        Written::Plain(text) => out.push_str(text),
        Written::List(_) => out.push_str("[]"),
        Written::Map(_) => out.push_str("{}"),
        Written::Text(text) if fits_a_block(text) => block(out, text, indentation + STEP),
        Written::Text(text) => out.push_str(&on_one_line(text)),
    }
}

/// Writes a text line by line, without a line break behind the last.
fn block(out: &mut String, text: &str, indentation: usize) {
    let body = text.trim_end_matches('\n');
    out.push_str(match text.len() - body.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    let lines = text.strip_suffix('\n').unwrap_or(text);
    for line in lines.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            indent(out, indentation);
            out.push_str(line);
        }
    }
}

/// Tells whether a text has lines that can be shown as they are.
fn fits_a_block(text: &str) -> bool {
    let is_shown = |character: char| character == '\n' || is_printable(character);
    text.contains('\n') && !text.starts_with([' ', '\n', '\t']) && text.chars().all(is_shown)
}

/// Tells whether every reader takes a character for itself.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Writes a text without a line break.
fn on_one_line(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let needs_escapes = !text.chars().all(is_printable);
    if !needs_escapes && text.contains(['"', '\\']) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            character if is_printable(character) => quoted.push(character),
            character => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Tells whether a text without quotes is that text for every reader.
fn is_plain(text: &str) -> bool {
    // What begins with a letter is no number, no date and no indicator; these are the words that mean something.
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '/' | '_'));
    let is_usual =
        |character: char| character.is_ascii_alphanumeric() || " _-./+@%,=:#()".contains(character);
    begins
        && text.chars().all(is_usual)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([' ', ':'])
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn indent(out: &mut String, indentation: usize) {
    out.extend(std::iter::repeat_n(' ', indentation));
}

#[cfg(test)]
mod tests {
    use ccm_model::{Node, ScalarStyle, SourceId, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::{Limits, parse};

    fn text(text: &str) -> Written {
        Written::Text(text.to_owned())
    }

    #[test]
    fn what_some_reader_would_mistake_is_quoted() {
        for (value, expected) in [
            ("plain", "plain\n"),
            ("/etc/app.conf", "/etc/app.conf\n"),
            ("two words", "two words\n"),
            ("", "\"\"\n"),
            ("yes", "\"yes\"\n"),
            ("No", "\"No\"\n"),
            ("ON", "\"ON\"\n"),
            ("y", "\"y\"\n"),
            ("null", "\"null\"\n"),
            ("~", "\"~\"\n"),
            ("2026-11-20", "\"2026-11-20\"\n"),
            ("1:30", "\"1:30\"\n"),
            ("0644", "\"0644\"\n"),
            ("1_000", "\"1_000\"\n"),
            (".inf", "\".inf\"\n"),
            ("-", "\"-\"\n"),
            ("a: b", "\"a: b\"\n"),
            ("a #b", "\"a #b\"\n"),
            ("a:", "\"a:\"\n"),
            ("it's", "\"it's\"\n"),
            ("say \"it's\"", "'say \"it''s\"'\n"),
            ("{{ x }}", "\"{{ x }}\"\n"),
            ("a\u{1b}\u{85}b", "\"a\\u001b\\u0085b\"\n"),
            ("one\ntwo\n", "|\n  one\n  two\n"),
            ("one\n\ntwo", "|-\n  one\n\n  two\n"),
            ("one\n\n", "|+\n  one\n\n"),
            (" one\n", "\" one\\n\"\n"),
        ] {
            assert_eq!(write(&text(value)), expected, "{value:?}");
        }
    }

    #[test]
    fn lists_and_maps_are_indented() {
        let plain = |text: &str| Written::Plain(text.to_owned());
        let map = |entries: Vec<(&str, Written)>| {
            Written::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        let value = map(vec![
            ("a", plain("1")),
            ("b", Written::List(vec![text("x\ny\n"), map(vec![("c", text("z")), ("on", plain("true"))])])),
            (
                "d",
                Written::List(vec![Written::List(vec![plain("1"), plain("2")]), Written::List(Vec::new())]),
            ),
            ("e", map(Vec::new())),
        ]);
        let expected = "\
a: 1
b:
  - |
    x
    y
  - c: z
    \"on\": true
d:
  - - 1
    - 2
  - []
e: {}
";
        assert_eq!(write(&value), expected);
    }

    fn any_written() -> impl Strategy<Value = Written> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Written::Text),
            "[ -~\n]{0,30}".prop_map(Written::Text),
            "[a-z0-9:# \n'\"\\-]{0,8}".prop_map(Written::Text),
            any::<i64>().prop_map(|number| Written::Plain(number.to_string())),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Written::List),
                prop::collection::btree_map(
                    prop_oneof![any::<String>(), "[a-z :#-]{0,5}", "x{1100}"],
                    inner,
                    0..5
                )
                .prop_map(|map| Written::Map(map.into_iter().collect())),
            ]
        })
    }

    fn of_node(node: &Node) -> Written {
        match &node.value {
            Value::Scalar(scalar)
                if scalar.style == ScalarStyle::Plain && scalar.text.parse::<i64>().is_ok() =>
            {
                Written::Plain(scalar.text.to_string())
            }
            Value::Scalar(scalar) => Written::Text(scalar.text.to_string()),
            Value::List(elements) => Written::List(elements.iter().map(of_node).collect()),
            Value::Map(map) => Written::Map(
                map.entries()
                    .iter()
                    .map(|entry| (entry.key.text.to_string(), of_node(&entry.value)))
                    .collect(),
            ),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in any_written()) {
            // A document of its own is null or a scalar no longer; within a list it is.
            let value = Written::List(vec![value]);
            let written = write(&value);
            let read = parse(SourceId(0), &written, &Limits::default());
            let read = read.map_err(|mistakes| TestCaseError::fail(format!("{mistakes:?}\n{written}")))?;
            prop_assert_eq!(read.as_ref().map(of_node), Some(value), "{}", written);
        }
    }
}
