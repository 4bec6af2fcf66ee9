//! Scripts of GNU sed.

use super::brackets::end_of_delimited;
use super::{NotExact, TextAction};

/// Returns the actions of a script outside of its input and output. The parts of `-e` are joined by line ends.
pub(crate) fn read_sed(script: &str) -> Result<Vec<TextAction>, NotExact> {
    let read = |knows_brackets| SedReader::read(script, knows_brackets);
    if !script.contains('[') {
        return read(true).map_err(SedError::reason);
    }
    // Versions differ in whether a delimiter in brackets ends a pattern. A script with an error does nothing at all.
    match (read(true), read(false)) {
        (Ok(one), Ok(other)) if one == other => Ok(one),
        (Ok(one), Ok(other)) => Ok(one.into_iter().chain(other).collect()),
        (Ok(actions), Err(SedError::Invalid(_))) | (Err(SedError::Invalid(_)), Ok(actions)) => Ok(actions),
        (Err(error), _) | (_, Err(error)) => Err(error.reason()),
    }
}

/// Reason for which a script is not read.
#[derive(Clone, Copy)]
enum SedError {
    /// Every sed refuses the script.
    Invalid(&'static str),
    Unknown(&'static str),
}

impl SedError {
    fn reason(self) -> NotExact {
        let (Self::Invalid(reason) | Self::Unknown(reason)) = self;
        NotExact(reason)
    }
}

struct SedReader<'s> {
    rest: &'s str,
    /// A delimiter in brackets ends no pattern.
    knows_brackets: bool,
    actions: Vec<TextAction>,
    /// Number of open blocks.
    depth: u32,
}

impl<'s> SedReader<'s> {
    fn read(script: &'s str, knows_brackets: bool) -> Result<Vec<TextAction>, SedError> {
        let mut reader = Self { rest: script, knows_brackets, actions: Vec::new(), depth: 0 };
        while reader.command()? {}
        if reader.depth == 0 { Ok(reader.actions) } else { Err(SedError::Invalid("a block without an end")) }
    }

    /// Reads a command with its addresses. Returns `false` at the end of the script.
    fn command(&mut self) -> Result<bool, SedError> {
        self.rest = self.rest.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
        if self.rest.is_empty() {
            return Ok(false);
        }
        let has_address = self.address(false)?;
        self.blanks();
        if has_address && self.next_if(',') {
            self.blanks();
            if !self.address(true)? {
                return Err(SedError::Unknown("a comma without an address"));
            }
            self.blanks();
        }
        if self.next_if('!') {
            self.blanks();
        }
        let name = self.next().ok_or(SedError::Unknown("an address without a command"))?;
        match name {
            '{' => self.depth += 1,
            '}' => {
                self.depth = self.depth.checked_sub(1).ok_or(SedError::Invalid("a brace without a block"))?;
                self.end()?;
            }
            '#' if !has_address => {
                self.line();
            }
            '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => {
                self.end()?;
            }
            'q' | 'Q' | 'l' => {
                self.blanks();
                self.digits();
                self.end()?;
            }
            ':' if !has_address => self.label(true)?,
            'b' | 't' | 'T' => self.label(false)?,
            'a' | 'i' | 'c' => {
                self.text()?;
            }
            'e' => {
                self.blanks();
                let is_input = self.rest.is_empty() || self.rest.starts_with('\n');
                let text = self.text()?;
                // Backslashes are removed by rules of their own.
                self.actions.push(TextAction::Shell(text.filter(|text| !is_input && !text.contains('\\'))));
            }
            'r' | 'R' => {
                let file = self.file()?;
                self.actions.push(TextAction::Read(Some(file)));
            }
            'w' | 'W' => {
                let file = self.file()?;
                self.actions.push(TextAction::Write(Some(file)));
            }
            's' => self.substitution()?,
            'y' => {
                let delimiter = self.delimiter()?;
                self.delimited(delimiter, false)?;
                self.delimited(delimiter, false)?;
                self.end()?;
            }
            'A'..='Z' | 'a'..='z' => return Err(SedError::Unknown("a command that is not known")),
            _ => return Err(SedError::Invalid("a character that is no command")),
        }
        Ok(true)
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
        Some(next)
    }

    fn next_if(&mut self, expected: char) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Skips digits. Returns `true` if there is one.
    fn digits(&mut self) -> bool {
        let behind = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let has_digit = behind.len() < self.rest.len();
        self.rest = behind;
        has_digit
    }

    /// Returns the rest of the line.
    fn line(&mut self) -> &'s str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// Reads the end of a command.
    fn end(&mut self) -> Result<(), SedError> {
        self.blanks();
        match self.rest.chars().next() {
            None | Some('}' | '#') => Ok(()),
            Some('\n' | ';') => {
                self.next();
                Ok(())
            }
            Some(_) => Err(SedError::Invalid("something behind a command")),
        }
    }

    /// Reads an address. Returns `false` if there is none.
    fn address(&mut self, is_second: bool) -> Result<bool, SedError> {
        match self.rest.chars().next() {
            Some(first @ ('/' | '\\')) => {
                self.next();
                let delimiter = if first == '/' { '/' } else { self.delimiter()? };
                self.delimited(delimiter, true)?;
                self.blanks();
                while self.next_if('I') || self.next_if('M') {
                    self.blanks();
                }
            }
            Some('$') => {
                self.next();
            }
            Some('0'..='9') => {
                self.digits();
                if self.rest.trim_start_matches([' ', '\t']).starts_with('~') {
                    self.blanks();
                    self.next();
                    self.number()?;
                }
            }
            Some('+' | '~') if is_second => {
                self.next();
                self.number()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn number(&mut self) -> Result<(), SedError> {
        self.blanks();
        if self.digits() { Ok(()) } else { Err(SedError::Unknown("an address without its number")) }
    }

    /// Reads the character that parts the patterns of a command.
    fn delimiter(&mut self) -> Result<char, SedError> {
        let delimiter =
            self.next().filter(|delimiter| delimiter.is_ascii() && !matches!(delimiter, '\\' | '\n'));
        delimiter.ok_or(SedError::Unknown("a pattern without a delimiter"))
    }

    /// Skips to the end of a pattern or replacement.
    fn delimited(&mut self, delimiter: char, is_pattern: bool) -> Result<(), SedError> {
        let end = end_of_delimited(self.rest, delimiter, is_pattern && self.knows_brackets);
        self.rest =
            end.and_then(|end| self.rest.get(end..)).ok_or(SedError::Invalid("a pattern without an end"))?;
        Ok(())
    }

    fn substitution(&mut self) -> Result<(), SedError> {
        let delimiter = self.delimiter()?;
        self.delimited(delimiter, true)?;
        self.delimited(delimiter, false)?;
        loop {
            match self.rest.chars().next() {
                Some('i' | 'I' | 'm' | 'M' | 'p' | 'g' | '0'..='9') => {}
                Some('e') => self.actions.push(TextAction::Shell(None)),
                Some('w') => {
                    self.next();
                    let file = self.file()?;
                    self.actions.push(TextAction::Write(Some(file)));
                    return Ok(());
                }
                _ => return self.end(),
            }
            self.next();
        }
    }

    fn label(&mut self, is_definition: bool) -> Result<(), SedError> {
        self.blanks();
        let is_label = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let behind = self.rest.trim_start_matches(is_label);
        if is_definition && behind.len() == self.rest.len() {
            return Err(SedError::Unknown("a label without a name"));
        }
        self.rest = behind;
        self.end()
    }

    fn file(&mut self) -> Result<String, SedError> {
        self.blanks();
        let file = self.line();
        if file.is_empty() {
            Err(SedError::Unknown("a command without its file"))
        } else {
            Ok(file.to_owned())
        }
    }

    /// Reads the text of `a`, `i`, `c` and `e`, which ends at a line end without a backslash.
    fn text(&mut self) -> Result<Option<String>, SedError> {
        self.blanks();
        let behind = self.rest.strip_prefix('\\').map(|behind| behind.trim_start_matches([' ', '\t']));
        if behind.is_some_and(|behind| behind.starts_with('\n') && !self.rest.starts_with("\\\n")) {
            return Err(SedError::Unknown("a backslash in front of blanks and a line end"));
        }
        let mut is_escaped = false;
        let end = self.rest.find(|c: char| {
            let ends = c == '\n' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        if end.is_none() && is_escaped {
            return Err(SedError::Unknown("a backslash at the end of the script"));
        }
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Ok(Some(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let Ok(actions) = read_sed(script) else { return "?".to_owned() };
        TextAction::list(&actions)
    }

    #[test]
    fn actions_are_found() {
        for (script, expected) in [
            ("s/^/id/e", "sh ?"),
            ("w /etc/passwd", "w /etc/passwd"),
            ("1e id", "sh id"),
            ("1 ! e id -u", "sh id -u"),
            ("e", "sh ?"),
            ("e echo a\\\nb", "sh ?"),
            ("s/a/b/w out", "w out"),
            ("s|a|b|gw out\np", "w out"),
            ("/x/W f", "w f"),
            ("p;e id", "sh id"),
            ("$!{p;w f\n}", "w f"),
            ("\\,x,w f", "w f"),
            ("1~2w f", "w f"),
            ("1,+3e id", "sh id"),
            ("r /etc/shadow", "r /etc/shadow"),
            ("1R ../x", "r ../x"),
            (": x\ne id", "sh id"),
            ("# c\\\ne id", "sh id"),
            ("r x\\\ne id", "r x\\, sh id"),
            ("bx;e id\n:x", "sh id"),
            ("a\\\ntext\ne id", "sh id"),
            ("a text\\\ne no\ne id", "sh id"),
            ("s/[[:space:]]*[^]]/b/;e id", "sh id"),
            ("s/\\[/b/;e id", "sh id"),
            ("s/a/b/ ; e id", "sh id"),
            ("s/[/]/#/;e rm -r x", "sh rm -r x"),
            ("s/[\\\\/]/x/;e id", "sh id"),
            ("s/[/]/e;e id", "sh ?, sh id"),
        ] {
            assert_eq!(shown(script), expected, "{script}");
        }
    }

    #[test]
    fn ordinary_scripts_have_no_actions() {
        for script in [
            "s/a/b/",
            "s/a/b/g;s/e/w/",
            "s|/old|/new|g",
            "/we/d",
            "1,$p",
            "1,20p",
            "y/ew/we/",
            "$!N;P;D",
            "a w f",
            ":e;N;$!be",
            ":a;N;$!ba;s/\\n/ /g",
            "$!{N;ba}",
            "/a/,/b/{s/x/y/;p}",
            "/a/I,/b/ M { s/x/y/ ; p ; }",
            "s/a\\/e/b/",
            "1i\\\nwe",
            "# w f",
            "\\,e,d",
            "10q",
            "q 5;p",
            "s/x/y/2p",
            "s/[\\/]/x/",
            "s,[^/]*$,,",
            "s/[^/]*$//",
            "/[/]/d",
            "s/[/]/_/g",
            "a\\  text",
            "s/[ \\t]*$//",
            "/^$/d",
            "/^#/!s/a/b/",
            "0~3d",
            "2,~4d",
            "",
        ] {
            assert_eq!(shown(script), "", "{script}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for script in [
            "s/a",
            "s/a/b/k",
            "p p",
            "1{p}e id",
            "b x y",
            ":x{",
            "a\\ \ntext",
            "a x\\",
            "1,p",
            "+1p",
            "}",
            "{p",
            "é",
            "séaébé",
            "v 4.2",
            "s/a\nb/c/",
            "1",
            "r",
        ] {
            assert_eq!(shown(script), "?", "{script}");
        }
    }
}
