//! Files of environment variables, such as `.env`.
//!
//! ```sh
//! # A comment, and a blank line.
//!
//! NAME=value              # a comment after a value
//! export OTHER=value
//! LITERAL='single quotes change nothing: \n $NAME'
//! ESCAPED="a line\nand \"another\""
//! LINES="one
//! two"
//! ```
//!
//! `$NAME` is never expanded.

use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span, is_variable_name};

/// Maximum number of errors: nobody reads more.
const MAX_ERRORS: usize = 100;

/// Parses variables in their order. The last of equal names wins, at the position of the first. All errors
/// are reported, without values.
pub fn read(source: SourceId, text: &str) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut parser = DotenvParser { source, text, at: start, errors: Vec::new() };
    let mut variables = indexmap::IndexMap::new();
    while parser.at < text.len() && parser.errors.len() < MAX_ERRORS {
        match parser.line() {
            Ok(Some((name, value))) => {
                variables.insert(name, value);
            }
            Ok(None) => {}
            Err(error) => parser.errors.push(*error),
        }
        parser.skip_line();
    }
    if parser.errors.is_empty() { Ok(variables.into_iter().collect()) } else { Err(parser.errors) }
}

struct DotenvParser<'t> {
    source: SourceId,
    text: &'t str,
    at: usize,
    errors: Vec<Diagnostic>,
}

type DotenvResult<T> = Result<T, Box<Diagnostic>>;

impl<'t> DotenvParser<'t> {
    /// Parses a line up to the end of its value.
    fn line(&mut self) -> DotenvResult<Option<(String, String)>> {
        self.skip_blanks();
        let line = self.rest_of_line();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if let Some(after) = line.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])) {
            self.at += line.len() - after.len();
            self.skip_blanks();
        }
        let line = self.rest_of_line();
        let Some((name, _)) = line.split_once('=') else {
            let end = self.at + line.trim_end().len();
            return Err(self.error(self.at, end, "expected `NAME=value`").into());
        };
        let start = self.at;
        self.at += name.len() + 1;
        let name = name.trim_end_matches([' ', '\t']);
        self.check_name(name, start)?;
        self.skip_blanks();
        let start = self.at;
        let value = match self.rest_of_line().chars().next() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
            _ => self.bare().to_owned(),
        };
        if value.contains('\0') {
            let error = self.error(start, self.at, "a value can't hold a NUL character");
            return Err(error.into());
        }
        Ok(Some((name.to_owned(), value)))
    }

    fn check_name(&self, name: &str, start: usize) -> DotenvResult<()> {
        if is_variable_name(name) {
            return Ok(());
        }
        let end = start + name.len();
        Err(Box::new(if name.is_empty() {
            self.error(start, end, "the name before the `=` is missing")
        } else {
            self.error(start, end, "this is not a valid variable name")
                .with_hint("use letters, digits and underscores, and don't begin with a digit")
        }))
    }

    /// Parses a value without quotes, which ends before a comment or trailing blanks.
    fn bare(&mut self) -> &'t str {
        let line = self.rest_of_line();
        let is_comment = |at: &usize| {
            line.as_bytes()[*at] == b'#' && (*at == 0 || matches!(line.as_bytes()[*at - 1], b' ' | b'\t'))
        };
        let end = (0..line.len()).find(is_comment).unwrap_or(line.len());
        self.at += end;
        line[..end].trim_end()
    }

    /// Parses a value in quotes, which may span lines.
    fn quoted(&mut self, quote: char) -> DotenvResult<String> {
        let start = self.at;
        let body = &self.text[start + 1..];
        let mut value = String::new();
        let mut characters = body.char_indices();
        let end = loop {
            match characters.next() {
                None => {
                    let length = self.rest_of_line().trim_end().len();
                    self.at = self.text.len();
                    return Err(self.error(start, start + length.min(1), "the quote is not closed").into());
                }
                Some((at, character)) if character == quote => break start + 1 + at + 1,
                Some((_, '\\')) if quote == '"' => match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, escaped @ ('"' | '\\' | '$' | '`'))) => value.push(escaped),
                    // A backslash continues the line; at the end of the text the quote is not closed.
                    Some((_, '\n')) | None => {}
                    // As in a shell, any other backslash is literal.
                    Some((_, other)) => value.extend(['\\', other]),
                },
                Some((_, character)) => value.push(character),
            }
        };
        self.at = end;
        let after = self.rest_of_line();
        let rest = after.trim();
        if rest.is_empty() || (rest.starts_with('#') && after.starts_with([' ', '\t'])) {
            return Ok(value);
        }
        let at = end + after.len() - after.trim_start().len();
        let error = self.error(at, at + rest.len(), "unexpected text after the closing quote");
        Err(error.with_hint("put the whole value in quotes, with `\\\"` for a quote in it").into())
    }

    fn skip_blanks(&mut self) {
        let line = self.rest_of_line();
        self.at += line.len() - line.trim_start_matches([' ', '\t']).len();
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
    }

    fn rest_of_line(&self) -> &'t str {
        let rest = &self.text[self.at..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        line.strip_suffix('\r').unwrap_or(line)
    }

    fn error(&self, start: usize, end: usize, message: &str) -> Diagnostic {
        Diagnostic::error(DiagnosticKind::Syntax, Span::new(self.source, start, end), message)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variables(text: &str) -> Vec<(String, String)> {
        read(SourceId(0), text).unwrap_or_else(|errors| panic!("{text:?}: {errors:?}"))
    }

    #[test]
    fn values_are_parsed() {
        for (text, value) in [
            ("A=b", "b"),
            ("A=", ""),
            ("A=  ", ""),
            ("A=# comment", ""),
            ("  A = b ", "b"),
            ("export A=b", "b"),
            ("export\tA=b", "b"),
            ("A=b c  # comment", "b c"),
            ("A=b#c", "b#c"),
            ("A=b=c", "b=c"),
            ("A=it's \"so\"", "it's \"so\""),
            (r"A=C:\new\$B", r"C:\new\$B"),
            ("A=$B ${C} $(d)", "$B ${C} $(d)"),
            ("A=''", ""),
            (r#"A='a\n"$B" # c'"#, r#"a\n"$B" # c"#),
            ("A='a' # c", "a"),
            ("A=\"\"", ""),
            (r#"A="a\n\t\r\"\\\$B\`'""#, "a\n\t\r\"\\$B`'"),
            (r#"A="C:\dir\x""#, r"C:\dir\x"),
            ("A=\"one\ntwo\n\"  # c", "one\ntwo\n"),
            ("A=\"one \\\ntwo\"", "one two"),
            ("A='one\ntwo'", "one\ntwo"),
            ("A=\"$B # c\"", "$B # c"),
            ("\u{feff}A=b", "b"),
            ("A=b\r\n", "b"),
            ("A=ä ö", "ä ö"),
        ] {
            assert_eq!(variables(text), [("A".to_owned(), value.to_owned())], "{text:?}");
        }
    }

    #[test]
    fn the_last_of_equal_names_wins() {
        let text = "# c\n\n  # c\nB=1\r\n\texport A=2\n_c9=\"3\n4\"\nB=5\nexport=6\nexported=7\n";
        let found: Vec<String> =
            variables(text).iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(found, ["B=5", "A=2", "_c9=3\n4", "export=6", "exported=7"]);
        assert!(variables("").is_empty() && variables("\n#\n").is_empty());
    }

    #[test]
    fn all_errors_are_reported_without_values() {
        let text = "A\nexport\nexport B\n1C=x\nD-E=x\n=x\nF='secret'x\nG=\"secret\" \"x\"\nH=a\0b\nI=ok\nJ='secret\nK=x";
        let errors = read(SourceId(0), text).expect_err("errors");
        let found: Vec<(&str, DiagnosticKind)> =
            errors.iter().map(|error| (&text[error.span().expect("a span").range()], error.kind)).collect();
        let places = ["A", "export", "B", "1C", "D-E", "", "x", "\"x\"", "a\0b", "'"];
        assert_eq!(found, places.map(|place| (place, DiagnosticKind::Syntax)));
    }

    #[test]
    fn hostile_texts_are_parsed_or_refused() {
        assert_eq!(
            read(SourceId(0), &"x\n".repeat(1_000_000)).err().map(|found| found.len()),
            Some(MAX_ERRORS)
        );
        assert_eq!(variables(&format!("A=\"{}\"", "\\\"".repeat(1_000_000)))[0].1.len(), 1_000_000);
        assert_eq!(variables(&"A=1\n".repeat(100_000)).len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in r#"([AB=#'"\\ \n\r\t$x]|export |ä|\x00)*"#) {
            for error in read(SourceId(0), &text).err().unwrap_or_default() {
                let span = error.span().expect("a span");
                prop_assert!(text.get(span.range()).is_some());
            }
        }

        #[test]
        fn quoted_values_are_read_back(values in prop::collection::vec("[^\0]*", 0..5)) {
            let quote = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
            let text: String = values
                .iter()
                .enumerate()
                .flat_map(|(index, value)| [format!("V{index}=\""), quote(value), "\"\n".to_owned()])
                .collect();
            let found: Vec<String> = variables(&text).into_iter().map(|(_, value)| value).collect();
            prop_assert_eq!(found, values);
        }
    }
}
