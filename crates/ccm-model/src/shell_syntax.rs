//! Text in a command line that a shell would interpret, and a program would not.

use std::ops::Range;

use crate::is_variable_name;
use crate::shell_words::{Word, scan};

/// Programs that only a shell has.
const BUILTINS: [&str; 35] = [
    "cd", "export", "source", ".", "alias", "unalias", "set", "unset", "eval", "exec", "trap", "ulimit",
    "umask", "shift", "return", "exit", "local", "readonly", "declare", "typeset", "let", "pushd", "popd",
    "shopt", "if", "for", "while", "until", "case", "function", "select", "!", "{", "[[", "((",
];

/// Programs that show their arguments or compare them, so that a variable in one was meant for a shell.
const SHOWING_PROGRAMS: [&str; 4] = ["test", "[", "echo", "printf"];

/// Programs that match patterns themselves.
const MATCHING_PROGRAMS: [&str; 25] = [
    "find",
    "locate",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "sed",
    "awk",
    "expr",
    "pgrep",
    "pkill",
    "systemctl",
    "journalctl",
    "apt",
    "apt-get",
    "apt-cache",
    "apt-mark",
    "dpkg",
    "dpkg-query",
    "dnf",
    "yum",
    "rpm",
    "zypper",
    "git",
];

/// Options whose value is a pattern.
const PATTERN_OPTIONS: [&str; 14] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-lname",
    "-ilname",
    "-regex",
    "-iregex",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--glob",
];

/// Kind of text that a shell would interpret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellSyntaxKind {
    /// Operator between commands, such as `|`, `&&` or `;`.
    Operator,
    /// Redirection, such as `2>/dev/null`.
    Redirection,
    /// Substitution of a command, `$(` or a backtick.
    Substitution,
    /// Variable before the program, `NAME=value`.
    Assignment,
    /// Name of a program that only a shell has.
    Builtin,
    /// Operator within a word, such as `a|b`.
    InnerOperator,
    /// Variable, such as `$HOME`.
    Variable,
    /// Home directory, `~`.
    Home,
    /// Pattern of file names, such as `*.bak`.
    Pattern,
    /// Line end between words.
    LineEnd,
}

impl ShellSyntaxKind {
    /// Returns `true` if no program can mean this text literally, so that it is an error without a shell.
    pub fn needs_shell(self) -> bool {
        match self {
            Self::Operator | Self::Redirection | Self::Substitution | Self::Assignment | Self::Builtin => {
                true
            }
            Self::InnerOperator | Self::Variable | Self::Home | Self::Pattern | Self::LineEnd => false,
        }
    }
}

/// Text in a command line that a shell would interpret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellSyntax {
    /// Kind of the text.
    pub kind: ShellSyntaxKind,
    /// Range of the text in bytes.
    pub range: Range<usize>,
}

/// Finds text that a shell would interpret and that is not in quotes: the first that [needs a
/// shell](ShellSyntaxKind::needs_shell), or else the first. A text with unterminated quotes has none.
///
/// In double quotes, variables count for programs such as `test` and `echo`, which do not read them.
pub fn shell_syntax(text: &str) -> Option<ShellSyntax> {
    let words = scan(text).ok()?;
    let of_program = program_syntax(words.first()?, text);
    if !text.contains(['|', '&', ';', '<', '>', '$', '`', '~', '*', '?', '\n']) {
        return of_program;
    }
    let found = of_program.into_iter().chain(words_syntax(&words, text));
    found.min_by_key(|syntax| (!syntax.kind.needs_shell(), syntax.range.start))
}

/// Returns `true` if a name is that of a program that only a shell has.
pub fn is_shell_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Finds an assignment or a builtin in the place of the program.
fn program_syntax(program: &Word, text: &str) -> Option<ShellSyntax> {
    let written = text.get(program.at..program.end)?;
    let kind = match written.split_once('=') {
        Some((name, _)) if is_variable_name(name) => ShellSyntaxKind::Assignment,
        _ if is_shell_builtin(written) => ShellSyntaxKind::Builtin,
        _ => return None,
    };
    Some(ShellSyntax { kind, range: program.at..program.end })
}

fn words_syntax<'t>(words: &'t [Word], text: &'t str) -> impl Iterator<Item = ShellSyntax> + 't {
    let program = words.first().map_or("", |program| program.text.rsplit('/').next().unwrap_or_default());
    words.iter().enumerate().flat_map(move |(position, word)| {
        let before = position.checked_sub(1).and_then(|before| words.get(before));
        let line_end = before.filter(|_| word.begins_line).map(|_| {
            let first = text[word.at..].chars().next().map_or(0, char::len_utf8);
            ShellSyntax { kind: ShellSyntaxKind::LineEnd, range: word.at..word.at + first }
        });
        let reader = WordReader {
            characters: characters(text, word),
            is_url: word.text.contains("://"),
            is_last: position + 1 == words.len(),
            program,
            option: before.map_or("", |before| &*before.text),
        };
        line_end.into_iter().chain(reader.all())
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quoting {
    None,
    /// In single quotes, or after a backslash.
    Literal,
    Double,
}

/// Character of a word, with its offset in the text.
#[derive(Clone, Copy, Debug)]
struct Character {
    at: usize,
    end: usize,
    value: char,
    quoting: Quoting,
}

/// Returns the characters of a word without its quotes.
fn characters(text: &str, word: &Word) -> Vec<Character> {
    let mut found = Vec::with_capacity(word.text.len());
    let mut open = Quoting::None;
    let mut rest = text[word.at..word.end].char_indices();
    while let Some((offset, character)) = rest.next() {
        let (at, end) = (word.at + offset, word.at + offset + character.len_utf8());
        match (open, character) {
            (Quoting::None, '\'') => open = Quoting::Literal,
            (Quoting::Literal, '\'') | (Quoting::Double, '"') => open = Quoting::None,
            (Quoting::None, '"') => open = Quoting::Double,
            (Quoting::None | Quoting::Double, '\\') => {
                let escaped = rest.next().filter(|(_, escaped)| *escaped != '\n');
                let quoting = Quoting::Literal;
                found.extend(escaped.map(|(_, character)| Character {
                    at,
                    end: end + character.len_utf8(),
                    value: character,
                    quoting,
                }));
            }
            (quoting, character) => found.push(Character { at, end, value: character, quoting }),
        }
    }
    found
}

/// Reads one word as a shell would.
struct WordReader<'t> {
    characters: Vec<Character>,
    is_url: bool,
    is_last: bool,
    /// Name of the program, without its directory.
    program: &'t str,
    /// The word before.
    option: &'t str,
}

impl WordReader<'_> {
    /// Returns a character that is not in quotes, as a shell reads it; any other character as a line end.
    fn bare(&self, index: usize) -> char {
        let found = self.characters.get(index).filter(|found| found.quoting == Quoting::None);
        found.map_or('\n', |found| found.value)
    }

    /// Returns `true` if the bare text from a position on begins with a text.
    fn is_bare(&self, index: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, character)| self.bare(index + offset) == character)
    }

    fn count(&self, index: usize, is_counted: impl Fn(char) -> bool) -> usize {
        (index..self.characters.len()).take_while(|index| is_counted(self.bare(*index))).count()
    }

    /// Returns the finding of some characters.
    fn found(&self, kind: ShellSyntaxKind, from: usize, to: usize) -> ShellSyntax {
        let found = self.characters.get(from..to).unwrap_or_default();
        let (at, end) =
            (found.first().map_or(0, |found| found.at), found.last().map_or(0, |found| found.end));
        ShellSyntax { kind, range: at..end }
    }

    fn all(self) -> Vec<ShellSyntax> {
        let redirection = self.redirection_at_start();
        let mut index = if redirection.is_some() {
            self.count(0, |bare| is_operator(bare) || bare.is_ascii_digit())
        } else {
            0
        };
        let mut found: Vec<ShellSyntax> = redirection.into_iter().collect();
        while index < self.characters.len() {
            let operators = self.count(index, is_operator);
            found.extend(if operators > 0 {
                self.operator(index, index + operators)
            } else {
                self.expansion(index)
            });
            index += operators.max(1);
        }
        found
    }

    /// Finds a redirection that the word begins with, such as `2>/dev/null`. The whole word is its range.
    fn redirection_at_start(&self) -> Option<ShellSyntax> {
        let digits = self.count(0, |bare| bare.is_ascii_digit());
        let is_redirection = matches!(self.bare(digits), '<' | '>') || self.is_bare(0, "&>");
        is_redirection.then(|| self.found(ShellSyntaxKind::Redirection, 0, self.characters.len()))
    }

    /// Judges the operators at a position of the word.
    fn operator(&self, from: usize, to: usize) -> Option<ShellSyntax> {
        let operators: String = (from..to).map(|index| self.bare(index)).collect();
        let (is_start, is_end) = (from == 0, to == self.characters.len());
        let has_equals = self.characters.iter().any(|found| found.value == '=');
        let angle = operators.contains(['<', '>']);
        let kind = match &*operators {
            _ if self.is_url && !is_start => return None,
            _ if angle && self.is_redirection(from, to) => ShellSyntaxKind::Redirection,
            // Comparisons and arrows.
            _ if angle
                && (self.bare(to) == '='
                    || (from > 0 && matches!(self.bare(from - 1), '-' | '=' | '~' | '!'))) =>
            {
                return None;
            }
            _ if angle => ShellSyntaxKind::InnerOperator,
            _ if is_start || operators.contains("&&") || operators.contains("||") => {
                ShellSyntaxKind::Operator
            }
            "&" if has_equals => return None,
            "&" if is_end => ShellSyntaxKind::Operator,
            _ if is_end && !self.is_last => ShellSyntaxKind::Operator,
            _ => ShellSyntaxKind::InnerOperator,
        };
        Some(self.found(kind, from, to))
    }

    /// Returns `true` for a redirection behind other text, such as `x>/dev/null`, `x>&2`, or `x>` before a word.
    fn is_redirection(&self, from: usize, to: usize) -> bool {
        let is_pair = (0..from).any(|index| matches!(self.bare(index), '<' | '>'));
        let is_end = to == self.characters.len() && !self.is_last;
        let is_arrow = from > 0 && matches!(self.bare(from - 1), '-' | '=');
        self.is_bare(to, "/dev/")
            || (self.bare(to - 1) == '&' && self.bare(to).is_ascii_digit())
            || (is_end && !is_pair && !is_arrow)
    }

    /// Judges what a shell would replace at a position of the word.
    fn expansion(&self, index: usize) -> Option<ShellSyntax> {
        let character = self.characters.get(index)?;
        let next = self.characters.get(index + 1).map_or('\n', |next| next.value);
        let is_shown = character.quoting == Quoting::Double && SHOWING_PROGRAMS.contains(&self.program);
        let (kind, length) = match (character.quoting, character.value) {
            (Quoting::None, '$') if self.bare(index + 1) == '(' => (ShellSyntaxKind::Substitution, 2),
            (Quoting::None, '`') => (ShellSyntaxKind::Substitution, 1),
            (Quoting::Double, '$') if is_shown && next == '(' => (ShellSyntaxKind::Variable, 2),
            (Quoting::None, '$') if is_parameter(next) || "@*#?$!".contains(next) => {
                (ShellSyntaxKind::Variable, self.variable(index))
            }
            (Quoting::Double, '$') if is_shown && is_parameter(next) => {
                (ShellSyntaxKind::Variable, self.variable(index))
            }
            (Quoting::None, '~') if index == 0 && self.is_home() => (ShellSyntaxKind::Home, 1),
            (Quoting::None, '*' | '?') if self.is_pattern(index) => {
                return Some(self.found(ShellSyntaxKind::Pattern, 0, self.characters.len()));
            }
            _ => return None,
        };
        Some(self.found(kind, index, (index + length).min(self.characters.len())))
    }

    /// Returns the number of characters of a variable.
    fn variable(&self, index: usize) -> usize {
        let rest = || self.characters.iter().skip(index + 1).map(|found| found.value);
        if rest().next() == Some('{') {
            return 2 + rest().take_while(|character| *character != '}').count();
        }
        let name =
            rest().take_while(|character| character.is_ascii_alphanumeric() || *character == '_').count();
        1 + name.max(1)
    }

    fn is_home(&self) -> bool {
        let next = self.bare(1);
        self.characters.len() == 1 || next == '/' || next.is_ascii_alphabetic()
    }

    /// Returns `true` if a shell would look for files: neither an address nor a value, and no pattern that the
    /// program itself matches.
    fn is_pattern(&self, index: usize) -> bool {
        let is_path = self.characters.iter().any(|found| found.value == '/');
        let is_value = (0..index).any(|before| self.bare(before) == '=');
        let is_matched = self.program == "find" || (!is_path && MATCHING_PROGRAMS.contains(&self.program));
        !self.is_url && !is_value && !is_matched && !PATTERN_OPTIONS.contains(&self.option)
    }
}

fn is_operator(bare: char) -> bool {
    matches!(bare, '|' | '&' | ';' | '<' | '>')
}

/// Returns `true` for a character that begins a parameter after `$`.
fn is_parameter(next: char) -> bool {
    next.is_ascii_alphanumeric() || matches!(next, '_' | '{')
}

#[cfg(test)]
mod tests {
    use super::*;

    use ShellSyntaxKind::{
        Assignment, Builtin, Home, InnerOperator, LineEnd, Operator, Pattern, Redirection, Substitution,
        Variable,
    };

    fn assert_found(rows: &[(&str, Option<(ShellSyntaxKind, &str)>)]) {
        for (text, expected) in rows {
            let found = shell_syntax(text);
            let found = found.as_ref().map(|found| (found.kind, text.get(found.range.clone()).unwrap()));
            assert_eq!(found, *expected, "{text}");
        }
    }

    #[test]
    fn operators_and_redirections_need_a_shell() {
        assert_found(&[
            ("test -e /a || test -e /b", Some((Operator, "||"))),
            ("a && b", Some((Operator, "&&"))),
            ("a&&b", Some((Operator, "&&"))),
            ("a ||b", Some((Operator, "||"))),
            ("a | b", Some((Operator, "|"))),
            ("a |b", Some((Operator, "|"))),
            ("a| b", Some((Operator, "|"))),
            ("a |& b", Some((Operator, "|&"))),
            ("a ; b", Some((Operator, ";"))),
            ("a x; b", Some((Operator, ";"))),
            ("find . -exec rm {} ;", Some((Operator, ";"))),
            ("sleep 1 &", Some((Operator, "&"))),
            ("sleep 1&", Some((Operator, "&"))),
            ("a > /tmp/x", Some((Redirection, ">"))),
            ("a >/tmp/x", Some((Redirection, ">/tmp/x"))),
            ("a >> x", Some((Redirection, ">>"))),
            ("a 2>/dev/null", Some((Redirection, "2>/dev/null"))),
            ("a 2> '/dev/null'", Some((Redirection, "2>"))),
            ("a 2>&1", Some((Redirection, "2>&1"))),
            ("a &>/dev/null", Some((Redirection, "&>/dev/null"))),
            ("a < x", Some((Redirection, "<"))),
            ("a <x", Some((Redirection, "<x"))),
            ("a <<E", Some((Redirection, "<<E"))),
            ("diff <(a) <(b)", Some((Redirection, "<(a)"))),
            ("a x>/dev/null", Some((Redirection, ">"))),
            ("a x>&2", Some((Redirection, ">&"))),
            ("echo x> /tmp/f", Some((Redirection, ">"))),
            ("rm *.bak || true", Some((Operator, "||"))),
            ("a b|c 2>x", Some((Redirection, "2>x"))),
            ("a *.x`b`", Some((Substitution, "`"))),
        ]);
    }

    #[test]
    fn substitutions_variables_and_builtins_need_a_shell() {
        assert_found(&[
            ("echo $(id)", Some((Substitution, "$("))),
            ("echo a$(id)", Some((Substitution, "$("))),
            ("echo `id`", Some((Substitution, "`"))),
            ("FOO=1 make", Some((Assignment, "FOO=1"))),
            ("FOO='a b' make", Some((Assignment, "FOO='a b'"))),
            ("cd /x", Some((Builtin, "cd"))),
            ("source /x", Some((Builtin, "source"))),
            (". /x", Some((Builtin, "."))),
            ("! test -e /x", Some((Builtin, "!"))),
            ("[[ -e /x ]]", Some((Builtin, "[["))),
            ("if true", Some((Builtin, "if"))),
        ]);
    }

    #[test]
    fn other_syntax_is_doubtful() {
        assert_found(&[
            ("echo $HOME", Some((Variable, "$HOME"))),
            ("echo x$HOME/y", Some((Variable, "$HOME"))),
            ("echo ${HOME}/x", Some((Variable, "${HOME}"))),
            ("echo $1", Some((Variable, "$1"))),
            ("test $? -eq 0", Some((Variable, "$?"))),
            ("test -n \"$HOME\"", Some((Variable, "$HOME"))),
            ("[ \"$(id -u)\" = 0 ]", Some((Variable, "$("))),
            ("ls ~/x", Some((Home, "~"))),
            ("ls ~", Some((Home, "~"))),
            ("ls ~ada/x", Some((Home, "~"))),
            ("rm -f /x/*.bak", Some((Pattern, "/x/*.bak"))),
            ("rm -f *.bak", Some((Pattern, "*.bak"))),
            ("rm file?", Some((Pattern, "file?"))),
            ("grep x /etc/*.conf", Some((Pattern, "/etc/*.conf"))),
            ("a;b", Some((InnerOperator, ";"))),
            ("apt-get clean;", Some((InnerOperator, ";"))),
            ("ps aux|wc", Some((InnerOperator, "|"))),
            ("a x&y", Some((InnerOperator, "&"))),
            ("echo a>b", Some((InnerOperator, ">"))),
            ("git commit --author=Bob<bob@x>", Some((InnerOperator, "<"))),
            ("one\ntwo\n", Some((LineEnd, "t"))),
            ("one\n\u{e4}\n", Some((LineEnd, "\u{e4}"))),
        ]);
    }

    #[test]
    fn literal_text_is_left_alone() {
        assert_found(&[
            ("", None),
            ("test -e /x", None),
            ("one \\\n two", None),
            ("echo one\n", None),
            ("\n echo one", None),
            ("echo 'a", None),
            ("grep '|' x", None),
            ("a \"&&\" b", None),
            ("find . -exec rm {} \\;", None),
            ("find . -exec rm {} ';'", None),
            ("find . -exec rm {} +", None),
            ("find / -name *.bak", None),
            ("find /x/*.d", None),
            ("find . ( -name a -o -name b )", None),
            ("grep -r --include=*.x foo /y", None),
            ("rsync --exclude *.o a b", None),
            ("grep foo.*bar /x", None),
            ("systemctl stop php*", None),
            ("apt-get purge linux-image-*", None),
            ("curl https://h/x?a=b&c=d", None),
            ("curl -d a=1&b=2 h", None),
            ("expr 1 \">\" 2", None),
            ("pip install flask>=2.0 x<=3", None),
            ("gem install x -v ~>1.0", None),
            ("a 'x'->y", None),
            ("echo '$HOME' \\$HOME \"\\$HOME\"", None),
            ("sh -c \"cd /x && echo $HOME $(date)\"", None),
            ("grep foo$ /x", None),
            ("sed s/$/x/ /y", None),
            ("make A=b", None),
            ("env A=b make", None),
            ("'cd' /x", None),
            ("echo cd", None),
            ("printf 'a\nb'", None),
            ("echo {a,b} [x] !x #x", None),
            ("dig x.y @~z", None),
        ]);
    }
}
