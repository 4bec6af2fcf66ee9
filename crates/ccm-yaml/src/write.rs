//! Values to YAML text that every reader interprets alike. Text that some reader might take for another type
//! is quoted: `yes` and `on`, dates, `1:30`, `0644`.

use std::fmt::Write as _;

use ccm_model::steers_terminal;

/// Value to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlValue {
    /// Text, quoted if needed.
    Text(String),
    /// Number, boolean or null, verbatim.
    Plain(String),
    /// List.
    List(Vec<YamlValue>),
    /// Map in this order, with text keys.
    Map(Vec<(String, YamlValue)>),
}

const INDENTATION: usize = 2;
/// Some readers refuse longer keys without a `?`.
const MAX_KEY: usize = 1000;

/// Writes a document.
pub fn write(value: &YamlValue) -> String {
    let mut out = String::new();
    match value {
        YamlValue::List(elements) if !elements.is_empty() => list(&mut out, elements, 0),
        YamlValue::Map(entries) if !entries.is_empty() => map(&mut out, entries, 0),
        single => {
            inline(&mut out, single, 0);
            out.push('\n');
        }
    }
    out
}

/// Writes the elements of a list, one per line; the first line is indented already.
fn list(out: &mut String, elements: &[YamlValue], indentation: usize) {
    for (position, element) in elements.iter().enumerate() {
        if position > 0 {
            indent(out, indentation);
        }
        out.push_str("- ");
        match element {
            YamlValue::List(inner) if !inner.is_empty() => list(out, inner, indentation + INDENTATION),
            YamlValue::Map(inner) if !inner.is_empty() => map(out, inner, indentation + INDENTATION),
            single => {
                inline(out, single, indentation);
                out.push('\n');
            }
        }
    }
}

/// Writes the entries of a map, one per line; the first line is indented already.
fn map(out: &mut String, entries: &[(String, YamlValue)], indentation: usize) {
    for (position, (key, value)) in entries.iter().enumerate() {
        if position > 0 {
            indent(out, indentation);
        }
        let key = on_one_line(key);
        if key.len() > MAX_KEY {
            let _ = writeln!(out, "? {key}");
            indent(out, indentation);
        } else {
            out.push_str(&key);
        }
        out.push(':');
        match value {
            YamlValue::List(inner) if !inner.is_empty() => {
                out.push('\n');
                indent(out, indentation + INDENTATION);
                list(out, inner, indentation + INDENTATION);
            }
            YamlValue::Map(inner) if !inner.is_empty() => {
                out.push('\n');
                indent(out, indentation + INDENTATION);
                map(out, inner, indentation + INDENTATION);
            }
            single => {
                out.push(' ');
                inline(out, single, indentation);
                out.push('\n');
            }
        }
    }
}

/// Writes a scalar or an empty collection; only a block text takes more than one line.
fn inline(out: &mut String, value: &YamlValue, indentation: usize) {
    match value {
        YamlValue::Plain(text) => out.push_str(text),
        YamlValue::List(_) => out.push_str("[]"),
        YamlValue::Map(_) => out.push_str("{}"),
        YamlValue::Text(text) if fits_a_block(text) => block(out, text, indentation + INDENTATION),
        YamlValue::Text(text) => out.push_str(&on_one_line(text)),
    }
}

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

/// Returns `true` if a text can be written as a block.
fn fits_a_block(text: &str) -> bool {
    let is_shown = |character: char| character == '\n' || is_printable(character);
    text.contains('\n') && !text.starts_with([' ', '\n', '\t']) && text.chars().all(is_shown)
}

/// Returns `true` if every reader and terminal accepts the character unescaped.
fn is_printable(character: char) -> bool {
    !steers_terminal(character) && !matches!(character, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

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

/// Returns `true` if every reader takes the unquoted text for that text.
fn is_plain(text: &str) -> bool {
    // A text that begins with a letter is no number, date or indicator; only these words have a meaning.
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
    use ccm_model::{Node, NodeValue, ScalarStyle, SourceId};
    use proptest::prelude::*;

    use super::*;
    use crate::{Limits, parse};

    fn text(text: &str) -> YamlValue {
        YamlValue::Text(text.to_owned())
    }

    #[test]
    fn ambiguous_text_is_quoted() {
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
        let plain = |text: &str| YamlValue::Plain(text.to_owned());
        let map = |entries: Vec<(&str, YamlValue)>| {
            YamlValue::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        let value = map(vec![
            ("a", plain("1")),
            ("b", YamlValue::List(vec![text("x\ny\n"), map(vec![("c", text("z")), ("on", plain("true"))])])),
            (
                "d",
                YamlValue::List(vec![
                    YamlValue::List(vec![plain("1"), plain("2")]),
                    YamlValue::List(Vec::new()),
                ]),
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

    fn any_value() -> impl Strategy<Value = YamlValue> {
        let leaf = prop_oneof![
            any::<String>().prop_map(YamlValue::Text),
            "[ -~\n]{0,30}".prop_map(YamlValue::Text),
            "[a-z0-9:# \n'\"\\-]{0,8}".prop_map(YamlValue::Text),
            any::<i64>().prop_map(|number| YamlValue::Plain(number.to_string())),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(YamlValue::List),
                prop::collection::btree_map(
                    prop_oneof![any::<String>(), "[a-z :#-]{0,5}", "x{1100}"],
                    inner,
                    0..5
                )
                .prop_map(|map| YamlValue::Map(map.into_iter().collect())),
            ]
        })
    }

    fn of_node(node: &Node) -> YamlValue {
        match &node.value {
            NodeValue::Scalar(scalar)
                if scalar.style == ScalarStyle::Plain && scalar.text.parse::<i64>().is_ok() =>
            {
                YamlValue::Plain(scalar.text.to_string())
            }
            NodeValue::Scalar(scalar) => YamlValue::Text(scalar.text.to_string()),
            NodeValue::List(elements) => YamlValue::List(elements.iter().map(of_node).collect()),
            NodeValue::Map(map) => YamlValue::Map(
                map.entries()
                    .iter()
                    .map(|entry| (entry.key.text.to_string(), of_node(&entry.value)))
                    .collect(),
            ),
        }
    }

    proptest! {
        #[test]
        fn written_values_are_read_back(value in any_value()) {
            // A top-level null is no document; in a list it is an element.
            let value = YamlValue::List(vec![value]);
            let written = write(&value);
            let read = parse(SourceId(0), &written, &Limits::default());
            let read = read.map_err(|errors| TestCaseError::fail(format!("{errors:?}\n{written}")))?;
            prop_assert_eq!(read.as_ref().map(of_node), Some(value), "{}", written);
        }
    }
}
