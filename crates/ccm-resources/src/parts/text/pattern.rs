//! Regular expressions for lines.

use std::cell::OnceCell;

use ccm_model::{DiagnosticKind, escape_control};
use ccm_properties::{PropertyError, Text};
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::PartConflict;

/// Regular expression that is compared with single lines. It is compiled when it is first needed.
#[derive(Clone, Debug)]
pub(crate) struct LinePattern {
    property: &'static str,
    text: String,
    compiled: OnceCell<Option<Regex>>,
    /// The expression for lines that are not UTF-8. `None` if it makes sense for characters alone.
    of_bytes: OnceCell<Option<Regex>>,
}

impl PartialEq for LinePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl LinePattern {
    /// Checks the text of a property.
    pub(crate) fn build(
        property: &'static str,
        text: Option<Text>,
        errors: &mut Vec<PropertyError>,
    ) -> Option<Self> {
        let text = text?.0;
        if text.is_empty() {
            let message = format!("`{property}` is empty and would match every line");
            errors.push(PropertyError::new(DiagnosticKind::InvalidValue, property, message));
            return None;
        }
        if text.contains(['\n', '\r']) {
            let message = format!("`{property}` contains a line break, so that no line matches it");
            let hint = "write the expression on one line, or begin it with `|-` or `>-`, which leave the line break out";
            errors.push(PropertyError::invalid(property, message, hint));
            return None;
        }
        if can_be_wrong(&text)
            && let Err(error) = regex_syntax::ParserBuilder::new().utf8(false).build().parse(&text)
        {
            errors.push(syntax_error(property, &text, &error));
            return None;
        }
        if needs_line_end(&text) {
            let message =
                format!("`{}` only matches text with a line end, and no line has one", escape_control(&text));
            let hint = "write an expression for one line: each line is compared alone, without its line end";
            errors.push(PropertyError::invalid(property, message, hint));
            return None;
        }
        Some(Self { property, text, compiled: OnceCell::new(), of_bytes: OnceCell::new() })
    }

    /// Returns the comparison with lines; an error if the expression takes too much memory.
    pub(crate) fn matcher(&self) -> Result<impl Fn(&[u8]) -> bool + '_, PartConflict> {
        let compiled = self.compiled.get_or_init(|| Regex::new(&self.text).ok()).as_ref();
        let too_large = || {
            let message = format!("the regular expression of `{}` is too large", self.property);
            PartConflict::new(message, "write a simpler regular expression").of_property(self.property)
        };
        let compiled = compiled.ok_or_else(too_large)?;
        Ok(|line: &[u8]| {
            if line.is_ascii() || str::from_utf8(line).is_ok() {
                return compiled.is_match(line);
            }
            let of_bytes =
                || self.of_bytes.get_or_init(|| RegexBuilder::new(&self.text).unicode(false).build().ok());
            of_bytes().as_ref().unwrap_or(compiled).is_match(line)
        })
    }
}

/// Returns `true` for an expression that matches no text without a line end.
fn needs_line_end(text: &str) -> bool {
    // Only an escape can stand for a line end.
    text.contains('\\')
        && regex_syntax::ParserBuilder::new()
            .utf8(false)
            .build()
            .parse(text)
            .is_ok_and(|parsed| !fits_line(&parsed))
}

/// Returns `true` if an expression may match a text without a line end.
fn fits_line(parsed: &Hir) -> bool {
    match parsed.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => !literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| (range.start(), range.end()) != ('\n', '\n'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| (range.start(), range.end()) != (b'\n', b'\n'))
        }
        HirKind::Repetition(repetition) => repetition.min == 0 || fits_line(&repetition.sub),
        HirKind::Capture(capture) => fits_line(&capture.sub),
        HirKind::Concat(all) => all.iter().all(fits_line),
        HirKind::Alternation(any) => any.iter().any(fits_line),
    }
}

/// Returns `false` if the text has none of the characters that have to stand in certain places of an expression. Most
/// expressions are a text after `^`, and parsing takes longer than finding that out.
fn can_be_wrong(text: &str) -> bool {
    text.bytes().any(|byte| br"\+*?()|[]{}".contains(&byte))
}

fn syntax_error(property: &'static str, text: &str, error: &regex_syntax::Error) -> PropertyError {
    let (what, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(*error.span())),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(*error.span())),
        _ => ("it can't be parsed".to_owned(), None),
    };
    let message = format!("`{}` is not a regular expression: {what}", escape_control(text));
    let hint = match error {
        regex_syntax::Error::Parse(error) if *error.kind() == ErrorKind::UnsupportedLookAround => {
            "look-around is not supported: match the whole line, such as `^b$`"
        }
        regex_syntax::Error::Parse(error) if *error.kind() == ErrorKind::UnsupportedBackreference => {
            "references such as `\\1` are not supported"
        }
        _ => "put `\\` before a character that stands for itself, such as `\\(` or `\\*`",
    };
    let error = PropertyError::invalid(property, message, hint);
    match span {
        Some(span) => error.at_bytes(span.start.offset..span.end.offset.max(span.start.offset + 1)),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, line: &[u8]) -> bool {
        let mut errors = Vec::new();
        let pattern = LinePattern::build("match", Some(pattern.into()), &mut errors);
        let pattern = pattern.unwrap_or_else(|| panic!("{errors:?}"));
        pattern.matcher().unwrap_or_else(|error| panic!("{error:?}"))(line)
    }

    #[test]
    fn lines_that_are_not_utf_8_are_matched_as_bytes() {
        for (pattern, line, expected) in [
            ("^name=.*$", &b"name=J\xfcrgen"[..], true),
            ("^name=.*$", "name=Jürgen".as_bytes(), true),
            ("^name=J.rgen$", b"name=J\xfcrgen", true),
            ("^name=J.rgen$", "name=Jürgen".as_bytes(), true),
            (r"^name=[^\s]+$", b"name=\xfc", true),
            (r"(?-u:\xfc)$", b"name=\xfc", true),
            // This needs characters, so invalid bytes do not match it.
            (r"^\p{Greek}+$", b"\xfc", false),
            (r"^\p{Greek}+$", "λ".as_bytes(), true),
        ] {
            assert_eq!(matches(pattern, line), expected, "{pattern} {}", line.escape_ascii());
        }
    }

    #[test]
    fn an_expression_that_is_not_parsed_is_never_wrong() {
        let is_wrong =
            |text: &str| regex_syntax::ParserBuilder::new().utf8(false).build().parse(text).is_err();
        let characters: Vec<char> = (' '..='~').chain(['\t', '\u{1}', 'ü']).collect();
        for first in &characters {
            for second in &characters {
                for text in
                    [format!("{first}{second}"), format!("^a{first}{second}$"), format!("{first}a{second}")]
                {
                    assert!(can_be_wrong(&text) || !is_wrong(&text), "{text}");
                }
            }
        }
        for text in ["^key = ", "$", "^", ".", "a^b$c", "x#y", "a-z", "&&", "~~", "--"] {
            assert!(!can_be_wrong(text), "{text}");
        }
    }

    #[test]
    fn a_line_end_may_be_possible() {
        for pattern in [r"(?m)^a$", r"a\n?", r"a(\n|$)", r"[^\n]+", r"a\s*b", r"(?s)a.b", r"\\n", r"a[\n\t]"]
        {
            let mut errors = Vec::new();
            assert!(LinePattern::build("match", Some(pattern.into()), &mut errors).is_some(), "{errors:?}");
        }
    }

    #[test]
    fn errors_have_a_place() {
        for (pattern, message) in [
            ("a(b", "`a(b` is not a regular expression: unclosed group"),
            ("", "`match` is empty and would match every line"),
            (
                "a{2,1}",
                "`a{2,1}` is not a regular expression: invalid repetition count range, the start must be <= the end",
            ),
            ("^a$\n", "`match` contains a line break, so that no line matches it"),
            (r"(?m)a\nb", r"`(?m)a\nb` only matches text with a line end, and no line has one"),
            (r"a\x0a+", r"`a\x0a+` only matches text with a line end, and no line has one"),
            (r"[\n](a|b)", r"`[\n](a|b)` only matches text with a line end, and no line has one"),
            (r"\p{Klingon}", r"`\p{Klingon}` is not a regular expression: Unicode property not found"),
        ] {
            let mut errors = Vec::new();
            assert!(LinePattern::build("match", Some(pattern.into()), &mut errors).is_none());
            assert_eq!(errors[0].to_string(), message);
        }
    }
}
