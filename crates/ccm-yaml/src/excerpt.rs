//! Excerpts of the text for messages and hints.

/// Returns the start of the line that holds `at`, and the line without its end.
pub(crate) fn line_around(text: &str, at: usize) -> (usize, &str) {
    let start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let end = text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end);
    (start, &text[start..end])
}

/// Returns the rest of the line from `at`, without a trailing comment and blanks, cut if very long.
pub(crate) fn rest_of_line(text: &str, at: usize) -> &str {
    const MAX_LENGTH: usize = 2048;
    let mut limit = text.len().min(at + MAX_LENGTH);
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let rest = &text[at..limit];
    let rest = rest.find(['\n', '\r']).map_or(rest, |end| &rest[..end]);
    rest.find(" #").map_or(rest, |comment| &rest[..comment]).trim_end_matches([' ', '\t'])
}

/// Length in bytes of the word at `at`, or of its beginning if the word is very long.
pub(crate) fn word_length(text: &str, at: usize) -> usize {
    const MAX_LENGTH: usize = 80;
    let mut characters = text[at..].char_indices().take(MAX_LENGTH + 1);
    let is_end = |character| matches!(character, ' ' | '\t' | '\n' | '\r');
    let end = characters.find(|(offset, character)| *offset >= MAX_LENGTH || is_end(*character));
    end.map_or(text.len() - at, |(offset, _)| offset)
}

pub(crate) fn shown(text: &str) -> String {
    const MAX_LENGTH: usize = 40;
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}

/// Hint to quote a value; a short value is shown in its quotes.
pub(crate) fn quote_it(value: &str) -> String {
    const MAX_LENGTH: usize = 80;
    let fits = !value.is_empty() && value.len() <= MAX_LENGTH && !value.chars().any(char::is_control);
    if fits && !value.contains(['"', '\\']) {
        format!("quote it: `\"{value}\"`")
    } else if fits && !value.contains('\'') {
        format!("quote it: `'{value}'`")
    } else {
        "quote it".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_shows_quotes_that_need_no_escape() {
        let long = "x".repeat(81);
        for (value, hint) in [
            ("@x", "quote it: `\"@x\"`"),
            (r#"{{ a["b"] }}"#, r#"quote it: `'{{ a["b"] }}'`"#),
            (r"a\d: b", r"quote it: `'a\d: b'`"),
            (r#"a['b'] + "c""#, "quote it"),
            ("", "quote it"),
            (&long, "quote it"),
        ] {
            assert_eq!(quote_it(value), hint, "{value}");
        }
    }

    #[test]
    fn the_rest_of_a_line_ends_before_a_comment() {
        for (text, at, rest) in
            [("a: b # c\nd", 3, "b"), ("a: b#c \nd", 3, "b#c"), ("a: b\r\nd", 3, "b"), ("a", 1, "")]
        {
            assert_eq!(rest_of_line(text, at), rest, "{text}");
        }
    }
}
