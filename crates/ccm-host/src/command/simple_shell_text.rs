//! Recognition of shell text that every shell can parse, so that none has to be started.

/// Words that begin a construct in the place of a program.
const RESERVED: [&str; 21] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in",
    "function", "select", "time", "coproc", "!", "[[", "{", "}",
];

/// Returns `true` for a text that is certainly valid: simple commands with quotes, redirections and `|`, `&&`, `||`, `;`
/// or line ends between them. `false` means that only a shell can tell.
pub(super) fn is_certainly_valid(text: &str) -> bool {
    let mut reader = Reader { rest: text, command: CommandPart::None, needs_word: false };
    while !reader.rest.is_empty() {
        if reader.token().is_none() {
            return false;
        }
    }
    !reader.needs_word && reader.command != CommandPart::Expected
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandPart {
    /// A command may begin.
    None,
    /// A command has to begin, because of the operator before.
    Expected,
    /// The command has a word.
    Begun,
}

struct Reader<'t> {
    rest: &'t str,
    command: CommandPart,
    /// A redirection has no target yet.
    needs_word: bool,
}

impl Reader<'_> {
    /// Reads a token; `None` for one that is not certainly valid.
    fn token(&mut self) -> Option<()> {
        match self.rest.chars().next()? {
            ' ' | '\t' => self.skip(1),
            _ if self.rest.starts_with(['|', '&', ';', '\n']) => self.separator()?,
            '<' | '>' => self.redirection()?,
            '#' => return None,
            _ => self.word()?,
        }
        Some(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn separator(&mut self) -> Option<()> {
        if self.needs_word {
            return None;
        }
        if self.rest.starts_with('\n') {
            // Behind an operator, line ends are blanks.
            if self.command == CommandPart::Begun {
                self.command = CommandPart::None;
            }
            self.skip(1);
            return Some(());
        }
        let length = self.rest.bytes().take_while(|byte| matches!(byte, b'|' | b'&' | b';')).count();
        let (operator, after) = self.rest.split_at_checked(length)?;
        let is_known = matches!(operator, "|" | "||" | "&&" | ";" | "&") && !after.starts_with(['<', '>']);
        if self.command != CommandPart::Begun || !is_known {
            return None;
        }
        self.command = if matches!(operator, ";" | "&") { CommandPart::None } else { CommandPart::Expected };
        self.skip(length);
        Some(())
    }

    fn redirection(&mut self) -> Option<()> {
        let length = self.rest.bytes().take_while(|byte| matches!(byte, b'<' | b'>' | b'&' | b'|')).count();
        let (operator, after) = self.rest.split_at_checked(length)?;
        if self.needs_word || !matches!(operator, "<" | ">" | ">>" | ">&" | "<&") || after.starts_with('(') {
            return None;
        }
        // A redirection without a command is valid as well.
        self.command = CommandPart::Begun;
        self.needs_word = true;
        self.skip(length);
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let start = self.rest;
        loop {
            let mut characters = self.rest.chars();
            match characters.next() {
                None | Some(' ' | '\t' | '\n' | '|' | '&' | ';' | '<' | '>') => break,
                Some('\'') => {
                    let length = characters.as_str().find('\'')?;
                    self.skip(length + 2);
                }
                Some('"') => self.double_quoted()?,
                Some('\\') => self.escape()?,
                Some('$') => self.variable()?,
                Some(plain) if is_plain(plain) => self.skip(plain.len_utf8()),
                Some('[' | ']') => self.skip(1),
                Some(_) => return None,
            }
        }
        let word = start.get(..start.len() - self.rest.len())?;
        // Before a redirection, digits are a number of a file, and no target of the redirection before.
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit()) && self.rest.starts_with(['<', '>']);
        if self.needs_word && is_number {
            return None;
        }
        // `a[` may begin an element of an array.
        let is_bracket = matches!(word, "[" | "]");
        if !is_bracket && word.contains(['[', ']']) {
            return None;
        }
        if self.command != CommandPart::Begun && !self.needs_word && RESERVED.contains(&word) {
            return None;
        }
        // Behind a variable, a shell may look for a reserved word again.
        let is_assignment = self.command != CommandPart::Begun && word.contains('=');
        if is_assignment {
            return None;
        }
        self.needs_word = false;
        self.command = CommandPart::Begun;
        Some(())
    }

    fn double_quoted(&mut self) -> Option<()> {
        self.skip(1);
        loop {
            match self.rest.chars().next()? {
                '"' => {
                    self.skip(1);
                    return Some(());
                }
                '\\' => self.escape()?,
                '$' => self.variable()?,
                '`' => return None,
                other => self.skip(other.len_utf8()),
            }
        }
    }

    /// Reads a backslash with the character that it quotes.
    fn escape(&mut self) -> Option<()> {
        let is_quoted =
            self.rest.as_bytes().get(1).is_some_and(|next| next.is_ascii_graphic() || *next == b' ');
        self.skip(2);
        is_quoted.then_some(())
    }

    /// Reads a variable without braces.
    fn variable(&mut self) -> Option<()> {
        let next = *self.rest.as_bytes().get(1)?;
        self.skip(2);
        (next.is_ascii_alphanumeric() || matches!(next, b'_' | b'?' | b'@' | b'*' | b'#' | b'$'))
            .then_some(())
    }
}

/// Returns `true` for a character without a meaning for the structure of a text.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "_-./,:=+@%^~*?".contains(character)
}

#[cfg(test)]
mod tests {
    use super::super::shell_parser::parse_with_shell;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn simple_texts_need_no_shell() {
        for text in [
            "test -e /x",
            "a | b && c || d; e &",
            "a > /x 2>&1 < 'y z'",
            "echo \"$HOME\" '$(x)' $1 \\; a\\ b",
            "set -eu\ncd /x\n\nmake install\n",
            "a &&\n\n  b",
            "> /x",
            "[ -e /x ] && true",
            "echo if then",
            "",
        ] {
            assert!(is_certainly_valid(text), "{text}");
            assert_eq!(parse_with_shell(&[text]), [None], "{text}");
        }
    }

    #[test]
    fn other_texts_are_left_to_a_shell() {
        for text in [
            "if true; then a; fi",
            "fi",
            "a &&",
            "| a",
            "a ||| b",
            "a;; b",
            "a >",
            "a > | b",
            "a < 2> b",
            "echo 'a",
            "echo \"a",
            "echo $(a)",
            "echo `a`",
            "${A}",
            "(a)",
            "a()",
            "{ a; }",
            "! a",
            "a # b",
            "cat <<E\nE",
            "a <<< b",
            "a \\",
            "a[1",
            "A=(1)",
            "a &> b",
            "A=b if true",
            "; a",
            "a\r",
        ] {
            assert!(!is_certainly_valid(text), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn a_shell_agrees(parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "if", "then", "fi", "do", "{", "}", "!", "[", "]", "=", "A=b", "'", "\"", "\\", "$", "$A", "|", "||",
                "&&", "&", ";", "<", ">", "2>", "\n", " ", " ", " ", "#", "(", ")", "`", "*", "~", "x y", "esac", "in",
            ]), 0..8)
        ) {
            let text = parts.concat();
            if is_certainly_valid(&text) {
                prop_assert_eq!(parse_with_shell(&[&text]), [None]);
            }
        }
    }
}
