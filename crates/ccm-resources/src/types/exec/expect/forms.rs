//! Forms of an expected text: the text itself, `contains("…")` and `matches("…")`.

use ccm_model::{closest, escape_control};
use regex::Regex;

use super::ExpectedText;

/// Forms of an expected text besides equality.
pub(super) const FORMS: [&str; 2] = ["contains", "matches"];
/// Names that expressions of other tools have for the output of a command.
const STREAMS: [&str; 4] = ["stdout", "stderr", "output", "result"];
/// Functions of other tools, with the form to write.
const COUNTERPARTS: [(&[&str], &str); 5] = [
    (&["equals", "equal", "is", "eq"], "the text itself"),
    (&["startsWith", "startswith", "starts_with", "hasPrefix", "has_prefix"], "`matches(\"^TEXT\")`"),
    (&["endsWith", "endswith", "ends_with", "hasSuffix", "has_suffix"], "`matches(\"TEXT\\n?$\")`"),
    (&["regex", "regexp", "match", "search", "like"], "`matches(\"EXPRESSION\")`"),
    (&["includes", "include", "has", "find"], "`contains(\"TEXT\")`"),
];

type FormError = (String, Option<String>);

/// Parses `contains("…")`, `matches("…")`, or a plain text.
pub(super) fn parse(text: &str) -> Result<ExpectedText, FormError> {
    let trimmed = text.trim();
    let word_ends = trimmed.find(|part: char| !part.is_ascii_alphabetic() && part != '_');
    let (word, rest) = trimmed.split_at(word_ends.unwrap_or(trimmed.len()));
    let form = rest.trim_start();
    if !FORMS.contains(&word) || !form.starts_with('(') {
        return match other_form(trimmed, word, form) {
            Some(error) => Err(error),
            None => Ok(ExpectedText::Equal(text.to_owned())),
        };
    }
    let quoted = quoted(form).map_err(|message| {
        (format!("{message} in `{word}(…)`"), Some(format!("write `{word}(\"TEXT\")`")))
    })?;
    if word == "contains" {
        return Ok(ExpectedText::Contains(quoted));
    }
    match Regex::new(&quoted) {
        Ok(regex) => Ok(ExpectedText::Matches(regex)),
        Err(error) => {
            // The last line of the error is the message; those before it draw the position.
            let error = error.to_string();
            let what = error.lines().last().unwrap_or_default().trim();
            let what = what.strip_prefix("error: ").unwrap_or(what);
            Err((format!("`{}` is not a regular expression: {what}", escape_control(&quoted)), None))
        }
    }
}

/// Returns the error of a text that is no form, but has the shape of one: a function or an operator before a quoted text.
fn other_form(text: &str, word: &str, after: &str) -> Option<FormError> {
    let is_quoted = |rest: &str| rest.starts_with(['"', '\'']);
    let is_call = after.strip_prefix('(').is_some_and(|rest| is_quoted(rest.trim_start()));
    let no_form = |hint: String| {
        let message =
            format!("there is no `{}(…)`, only `contains(…)` and `matches(…)`", escape_control(word));
        Some((message, Some(hint)))
    };
    let inner = text.strip_prefix('!').or_else(|| text.strip_prefix("not ")).map(str::trim_start);
    if inner.is_some_and(|inner| FORMS.iter().any(|form| starts_as_call(inner, form))) {
        let message = "there is no negation of `contains(…)` and `matches(…)`".to_owned();
        let hint = "let the command fail where the text is found: with `provider: shell`, write `! COMMAND | grep TEXT`";
        return Some((message, Some(hint.to_owned())));
    }
    if FORMS.contains(&word) && is_quoted(after) {
        let message = format!("`{word}` needs brackets around its text");
        return Some((message, Some(format!("write `{word}(\"TEXT\")`"))));
    }
    let operator = FORMS.into_iter().find(|form| STREAMS.contains(&word) && starts_as_call(after, form));
    if let Some(operator) = operator {
        let message = format!("`{operator}(…)` has no name before it");
        return Some((message, Some(format!("write `{operator}(\"TEXT\")`"))));
    }
    if !is_call {
        return None;
    }
    let (_, meant) = COUNTERPARTS.iter().find(|(words, _)| words.contains(&word)).copied().unzip();
    match (meant, closest(word, FORMS)) {
        (Some(meant), _) => no_form(format!("write {meant}")),
        (None, Some(meant)) => no_form(format!("did you mean `{meant}`?")),
        (None, None) => None,
    }
}

/// Returns `true` for a text that begins with a form and a quoted text, with or without brackets.
fn starts_as_call(text: &str, form: &str) -> bool {
    let is_quoted = |rest: &str| rest.trim_start().starts_with(['"', '\'']);
    let rest = text.strip_prefix(form).map(str::trim_start);
    rest.is_some_and(|rest| is_quoted(rest.strip_prefix('(').unwrap_or(rest)))
}

/// Returns the text of `("…")` or `('…')`. Between double quotes `\"`, `\\`, `\n` and `\t` are one character
/// each. Every other backslash stays, and so does everything between single quotes.
fn quoted(form: &str) -> Result<String, &'static str> {
    let inner = form.strip_prefix('(').map(str::trim_start).unwrap_or_default();
    let quote = inner.chars().next().filter(|first| matches!(first, '"' | '\'')).ok_or("no quoted text")?;
    let mut text = String::new();
    let mut rest = inner[1..].chars();
    loop {
        match rest.next().ok_or("a quote is not closed")? {
            end if end == quote => break,
            '\\' if quote == '"' => match rest.next() {
                Some(escaped @ ('"' | '\\')) => text.push(escaped),
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.extend(['\\', other]),
                None => return Err("a quote is not closed"),
            },
            other => text.push(other),
        }
    }
    let after = rest.as_str().trim_start();
    match after.strip_prefix(')').map(str::trim) {
        Some("") => Ok(text),
        Some(_) => Err("unexpected text after the end"),
        None if after.is_empty() => Err("no closing `)`"),
        None => Err("unexpected text after the quoted text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_read() {
        let shown = |text: &str| match parse(text) {
            Ok(ExpectedText::Equal(text)) => format!("equal {text:?}"),
            Ok(ExpectedText::Contains(text)) => format!("contains {text:?}"),
            Ok(ExpectedText::Matches(regex)) => format!("matches {:?}", regex.as_str()),
            Err((message, hint)) => hint.map_or(message.clone(), |hint| format!("{message} | {hint}")),
        };
        for (text, expected) in [
            ("ok", "equal \"ok\""),
            ("", "equal \"\""),
            ("f(x)", "equal \"f(x)\""),
            ("contains", "equal \"contains\""),
            ("contains more", "equal \"contains more\""),
            (r#"contains("ok")"#, "contains \"ok\""),
            (" contains ( 'a\\n' ) ", r#"contains "a\\n""#),
            (r#"contains("a\"b\\c\n")"#, r#"contains "a\"b\\c\n""#),
            (r#"matches("^v\d+\.")"#, r#"matches "^v\\d+\\.""#),
            ("contains(ok)", "no quoted text in `contains(…)` | write `contains(\"TEXT\")`"),
            ("contains(\"ok)", "a quote is not closed in `contains(…)` | write `contains(\"TEXT\")`"),
            ("matches('a'", "no closing `)` in `matches(…)` | write `matches(\"TEXT\")`"),
            (
                "matches('a' b)",
                "unexpected text after the quoted text in `matches(…)` | write `matches(\"TEXT\")`",
            ),
            ("matches('a') b", "unexpected text after the end in `matches(…)` | write `matches(\"TEXT\")`"),
            ("matches('(')", "`(` is not a regular expression: unclosed group"),
            (
                "contain('x')",
                "there is no `contain(…)`, only `contains(…)` and `matches(…)` | did you mean `contains`?",
            ),
            (
                "startsWith(\"x\")",
                "there is no `startsWith(…)`, only `contains(…)` and `matches(…)` | write `matches(\"^TEXT\")`",
            ),
            ("contains 'x'", "`contains` needs brackets around its text | write `contains(\"TEXT\")`"),
            ("stdout contains 'x'", "`contains(…)` has no name before it | write `contains(\"TEXT\")`"),
            ("not found", "equal \"not found\""),
            ("! contains more", "equal \"! contains more\""),
            ("stdout is empty", "equal \"stdout is empty\""),
            ("output contains 3 lines", "equal \"output contains 3 lines\""),
            (
                "is (\"x\" or \"y\")",
                "there is no `is(…)`, only `contains(…)` and `matches(…)` | write the text itself",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_negated_form_is_an_error() {
        for text in [
            "not contains(\"x\")",
            "!contains('x')",
            "! matches(\"x\")",
            "not  matches 'x'",
            " not contains (\"x\")",
        ] {
            let (message, hint) = parse(text).map(|_| ()).unwrap_err();
            assert_eq!(message, "there is no negation of `contains(…)` and `matches(…)`", "{text}");
            assert!(hint.is_some_and(|hint| hint.contains("grep")), "{text}");
        }
    }
}
