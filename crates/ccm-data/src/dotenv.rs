//! Files of environment variables, as `.env` is.
//!
//! ```sh
//! # A comment, and a blank line.
//!
//! NAME=value              # a comment behind a value
//! export OTHER=value
//! LITERAL='nothing in here is changed: \n $NAME'
//! ESCAPED="a line\nand \"another\""
//! LINES="one
//! two"
//! ```
//!
//! `$NAME` is never expanded: what stands there is the value.

use ccm_model::{Diagnostic, SourceId, Span, is_variable_name};

/// Nobody reads more mistakes than that.
const MOST_MISTAKES: usize = 100;

/// Reads variables in the order in which they were written; the later of two with one name wins, and stands
/// where the first stood. All mistakes are named, none with a value.
pub fn read(source: SourceId, text: &str) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { source, text, at: start, mistakes: Vec::new() };
    let mut variables = indexmap::IndexMap::new();
    while reader.at < text.len() && reader.mistakes.len() < MOST_MISTAKES {
        match reader.line() {
            Ok(Some((name, value))) => {
                variables.insert(name, value);
            }
            Ok(None) => {}
            Err(mistake) => reader.mistakes.push(*mistake),
        }
        reader.skip_line();
    }
    if reader.mistakes.is_empty() { Ok(variables.into_iter().collect()) } else { Err(reader.mistakes) }
}

struct Reader<'t> {
    source: SourceId,
    text: &'t str,
    at: usize,
    mistakes: Vec<Diagnostic>,
}

type Fallible<T> = Result<T, Box<Diagnostic>>;

impl<'t> Reader<'t> {
    /// Reads a line up to the end of its value.
    fn line(&mut self) -> Fallible<Option<(String, String)>> {
        self.skip_blanks();
        let line = self.rest_of_line();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if let Some(behind) = line.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])) {
            self.at += line.len() - behind.len();
            self.skip_blanks();
        }
        let line = self.rest_of_line();
        let Some((name, _)) = line.split_once('=') else {
            let end = self.at + line.trim_end().len();
            return Err(self.mistake(self.at, end, "expected `NAME=value`").into());
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
            let mistake = self.mistake(start, self.at, "a value can't hold a NUL character");
            return Err(mistake.into());
        }
        Ok(Some((name.to_owned(), value)))
    }

    fn check_name(&self, name: &str, start: usize) -> Fallible<()> {
        if is_variable_name(name) {
            return Ok(());
        }
        let end = start + name.len();
        Err(Box::new(if name.is_empty() {
            self.mistake(start, end, "there is no name before the `=`")
        } else {
            self.mistake(start, end, "this is no name of a variable")
                .with_hint("a name has letters, digits and underscores, and doesn't begin with a digit")
        }))
    }

    /// A value without quotes ends before a comment and before the blanks at the end of its line.
    fn bare(&mut self) -> &'t str {
        let line = self.rest_of_line();
        let is_comment = |at: &usize| {
            line.as_bytes()[*at] == b'#' && (*at == 0 || matches!(line.as_bytes()[*at - 1], b' ' | b'\t'))
        };
        let end = (0..line.len()).find(is_comment).unwrap_or(line.len());
        self.at += end;
        line[..end].trim_end()
    }

    /// A value in quotes; it may go over several lines.
    fn quoted(&mut self, quote: char) -> Fallible<String> {
        let start = self.at;
        let body = &self.text[start + 1..];
        let mut value = String::new();
        let mut characters = body.char_indices();
        let end = loop {
            match characters.next() {
                None => {
                    let length = self.rest_of_line().trim_end().len();
                    // All that follows is taken to be within the quotes, and nothing is left to be read.
                    self.at = self.text.len();
                    return Err(self.mistake(start, start + length.min(1), "the quote is not closed").into());
                }
                Some((at, character)) if character == quote => break start + 1 + at + 1,
                Some((_, '\\')) if quote == '"' => match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, escaped @ ('"' | '\\' | '$' | '`'))) => value.push(escaped),
                    // The line goes on behind its end; with nothing at all there, the quote is not closed.
                    Some((_, '\n')) | None => {}
                    // Any other backslash is one, as in a shell.
                    Some((_, other)) => value.extend(['\\', other]),
                },
                Some((_, character)) => value.push(character),
            }
        };
        self.at = end;
        let behind = self.rest_of_line();
        let rest = behind.trim();
        if rest.is_empty() || (rest.starts_with('#') && behind.starts_with([' ', '\t'])) {
            return Ok(value);
        }
        let at = end + behind.len() - behind.trim_start().len();
        let mistake = self.mistake(at, at + rest.len(), "text stands behind the closing quote");
        Err(mistake.with_hint("put all of the value in quotes, with `\\\"` for a quote in it").into())
    }

    fn skip_blanks(&mut self) {
        let line = self.rest_of_line();
        self.at += line.len() - line.trim_start_matches([' ', '\t']).len();
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
    }

    /// What follows on the line, without its end.
    fn rest_of_line(&self) -> &'t str {
        let rest = &self.text[self.at..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        line.strip_suffix('\r').unwrap_or(line)
    }

    fn mistake(&self, start: usize, end: usize, message: &str) -> Diagnostic {
        Diagnostic::error(Span::new(self.source, start, end), message)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variables(text: &str) -> Vec<(String, String)> {
        read(SourceId(0), text).unwrap_or_else(|mistakes| panic!("{text:?}: {mistakes:?}"))
    }

    #[test]
    fn values_are_read() {
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
    fn variables_keep_their_order_and_the_later_wins() {
        let text = "# c\n\n  # c\nB=1\r\n\texport A=2\n_c9=\"3\n4\"\nB=5\nexport=6\nexported=7\n";
        let found: Vec<String> =
            variables(text).iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(found, ["B=5", "A=2", "_c9=3\n4", "export=6", "exported=7"]);
        assert!(variables("").is_empty() && variables("\n#\n").is_empty());
    }

    #[test]
    fn all_mistakes_are_named_and_no_value_is_shown() {
        let text = "A\nexport\nexport B\n1C=x\nD-E=x\n=x\nF='secret'x\nG=\"secret\" \"x\"\nH=a\0b\nI=ok\nJ='secret\nK=x";
        let mistakes = read(SourceId(0), text).expect_err("mistakes");
        let found: Vec<String> = mistakes
            .iter()
            .map(|mistake| {
                format!("{}: {}", &text[mistake.span().expect("a place").range()], mistake.message)
            })
            .collect();
        assert_eq!(
            found,
            [
                "A: expected `NAME=value`",
                "export: expected `NAME=value`",
                "B: expected `NAME=value`",
                "1C: this is no name of a variable",
                "D-E: this is no name of a variable",
                ": there is no name before the `=`",
                "x: text stands behind the closing quote",
                "\"x\": text stands behind the closing quote",
                "a\0b: a value can't hold a NUL character",
                "': the quote is not closed",
            ]
        );
    }

    #[test]
    fn a_hostile_text_is_survived() {
        assert_eq!(
            read(SourceId(0), &"x\n".repeat(1_000_000)).err().map(|found| found.len()),
            Some(MOST_MISTAKES)
        );
        assert_eq!(variables(&format!("A=\"{}\"", "\\\"".repeat(1_000_000)))[0].1.len(), 1_000_000);
        assert_eq!(variables(&"A=1\n".repeat(100_000)).len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in r#"([AB=#'"\\ \n\r\t$x]|export |ä|\x00)*"#) {
            for mistake in read(SourceId(0), &text).err().unwrap_or_default() {
                let span = mistake.span().expect("a place");
                prop_assert!(text.get(span.range()).is_some());
            }
        }

        #[test]
        fn what_is_quoted_comes_back(values in prop::collection::vec("[^\0]*", 0..5)) {
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
