//! Regular expressions for lines.

use std::cell::OnceCell;

use ccm_model::{DiagnosticKind, escape_control};
use ccm_properties::{PropertyError, Text};
use regex::bytes::{Regex, RegexBuilder};

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
        if can_be_wrong(&text)
            && let Err(error) = regex_syntax::ParserBuilder::new().utf8(false).build().parse(&text)
        {
            errors.push(syntax_error(property, &text, &error));
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
    let error = PropertyError::invalid(
        property,
        message,
        "put `\\` before a character that stands for itself, such as `\\(` or `\\*`",
    );
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
    fn errors_have_a_place() {
        for (pattern, message) in [
            ("a(b", "`a(b` is not a regular expression: unclosed group"),
            ("", "`match` is empty and would match every line"),
            (
                "a{2,1}",
                "`a{2,1}` is not a regular expression: invalid repetition count range, the start must be <= the end",
            ),
            (r"\p{Klingon}", r"`\p{Klingon}` is not a regular expression: Unicode property not found"),
        ] {
            let mut errors = Vec::new();
            assert!(LinePattern::build("match", Some(pattern.into()), &mut errors).is_none());
            assert_eq!(errors[0].to_string(), message);
        }
    }
}
