//! Options as `getopt_long` parses them.

use ccm_shell::ShellWord;

use crate::analyse::shell_words::without_prefix;

/// Options of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionGrammar {
    /// Letters, as for `getopt`: `:` behind a letter takes a value, `::` only an attached one. `#` takes digits that are
    /// attached, behind which further letters may follow.
    pub(crate) letters: &'static str,
    /// Long names and the option with the same meaning, which is a letter or the name itself: `("file=", "f")`. `=`
    /// behind the name takes a value, `=?` only an attached one.
    pub(crate) names: &'static [(&'static str, &'static str)],
    /// The first operand ends the options.
    pub(crate) stops: bool,
    /// Letters of options that end the options: what follows belongs to a program that they name.
    pub(crate) last: &'static str,
}

/// Option with its value.
#[derive(Clone, Debug)]
pub(crate) struct ExactOption {
    /// Letter, or long name of an option without a letter.
    pub(crate) name: String,
    pub(crate) value: Option<ShellWord>,
}

/// Arguments of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactArguments {
    pub(crate) options: Vec<ExactOption>,
    pub(crate) operands: Vec<ShellWord>,
    /// Number of operands in front of `--`, if it is there.
    pub(crate) before_dashes: Option<usize>,
    /// First option that the grammar does not list, or whose value is missing. It ends the parsing.
    pub(crate) unlisted: Option<String>,
}

enum OptionValueKind {
    None,
    Digits,
    Required,
    Attached,
}

impl OptionGrammar {
    /// Parses the words behind the name of the program.
    pub(crate) fn parse(&self, words: &[ShellWord]) -> ExactArguments {
        let mut parsed = ExactArguments::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let prefix = word.known_prefix();
            let is_known = word.text().is_some();
            if prefix == "--" && is_known {
                parsed.before_dashes = Some(parsed.operands.len());
                break;
            }
            if !prefix.starts_with('-') || prefix.len() == 1 && is_known {
                parsed.operands.push(word.clone());
                if self.stops {
                    break;
                }
                continue;
            }
            let count = parsed.options.len();
            let read = match prefix.strip_prefix("--") {
                Some(long) => self.long(&mut parsed, word, long, &mut rest),
                None => self.cluster(&mut parsed, word, &prefix, &mut rest),
            };
            if read.is_none() {
                parsed.unlisted = Some(prefix.into_owned());
                break;
            }
            let ends = |option: &ExactOption| !option.name.is_empty() && self.last.contains(&*option.name);
            if parsed.options.iter().skip(count).any(ends) {
                break;
            }
        }
        parsed.operands.extend(rest.cloned());
        parsed
    }

    fn long<'w>(
        &self,
        parsed: &mut ExactArguments,
        word: &ShellWord,
        long: &str,
        rest: &mut impl Iterator<Item = &'w ShellWord>,
    ) -> Option<()> {
        let (name, is_attached) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None if word.text().is_none() => return None,
            None => (long, false),
        };
        let plain = |known: &'static str| known.trim_end_matches(['=', '?']);
        let exact = self.names.iter().find(|(known, _)| plain(known) == name);
        let (known, meaning) = exact.or_else(|| {
            // An abbreviation stands for all names that begins so, if they mean the same.
            let mut begins = self.names.iter().filter(|(known, _)| known.starts_with(name));
            let first = begins.next()?;
            begins.all(|(_, meaning)| *meaning == first.1).then_some(first)
        })?;
        let value = match (known.ends_with('='), known.ends_with('?'), is_attached) {
            (true, _, true) | (_, true, true) => Some(without_prefix(word, "--=".len() + name.len())),
            (true, _, false) => Some(rest.next()?.clone()),
            (false, false, true) => return None,
            (false, _, false) => None,
        };
        parsed.options.push(ExactOption { name: (*meaning).to_owned(), value });
        Some(())
    }

    fn cluster<'w>(
        &self,
        parsed: &mut ExactArguments,
        word: &ShellWord,
        prefix: &str,
        rest: &mut impl Iterator<Item = &'w ShellWord>,
    ) -> Option<()> {
        let mut letters = prefix.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            let name = letter.to_string();
            let attached = without_prefix(word, at + letter.len_utf8());
            let value = match self.letter(letter)? {
                OptionValueKind::None => {
                    parsed.options.push(ExactOption { name, value: None });
                    continue;
                }
                OptionValueKind::Digits => {
                    while letters.next_if(|(_, digit)| digit.is_ascii_digit()).is_some() {}
                    parsed.options.push(ExactOption { name, value: None });
                    continue;
                }
                _ if !attached.pieces.is_empty() => Some(attached),
                OptionValueKind::Required => Some(rest.next()?.clone()),
                OptionValueKind::Attached => None,
            };
            parsed.options.push(ExactOption { name, value });
            return Some(());
        }
        // What follows the known letters may be any others.
        word.text().map(|_| ())
    }

    /// Returns an option as it is written, and its other spellings.
    pub(crate) fn written(&self, name: &str) -> (String, Vec<String>) {
        let mut spellings: Vec<String> = Vec::new();
        if name.len() == 1 {
            spellings.push(format!("-{name}"));
        }
        let long = self.names.iter().filter(|(_, meaning)| *meaning == name);
        spellings.extend(long.map(|(known, _)| format!("--{}", known.trim_end_matches(['=', '?']))));
        let first = spellings.first().cloned().unwrap_or_default();
        spellings.drain(..usize::from(!spellings.is_empty()));
        (first, spellings)
    }

    fn letter(&self, letter: char) -> Option<OptionValueKind> {
        let at = self.letters.find(letter).filter(|_| letter.is_ascii_alphanumeric())?;
        let behind = self.letters.get(at + 1..).unwrap_or_default();
        Some(match behind.strip_prefix(':') {
            None if behind.starts_with('#') => OptionValueKind::Digits,
            None => OptionValueKind::None,
            Some(behind) if behind.starts_with(':') => OptionValueKind::Attached,
            Some(_) => OptionValueKind::Required,
        })
    }
}

impl ExactArguments {
    /// Returns `true` if an option is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name == name)
    }

    /// Returns the values of an option, in order.
    pub(crate) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ShellWord> {
        self.options
            .iter()
            .filter(move |option| option.name == name)
            .filter_map(|option| option.value.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use ccm_shell::ShellSpan;

    use super::*;

    const GRAMMAR: OptionGrammar = OptionGrammar {
        letters: "ab:c::m:0#",
        names: &[("bar=", "b"), ("baz=", "b"), ("cut=?", "c"), ("all", "a"), ("also", "also")],
        stops: false,
        last: "m",
    };

    fn parsed(grammar: OptionGrammar, words: &[&str]) -> String {
        let words: Vec<ShellWord> =
            words.iter().map(|word| ShellWord::known(*word, ShellSpan::default())).collect();
        let parsed = grammar.parse(&words);
        let option = |option: &ExactOption| match &option.value {
            Some(value) => format!("{}={}", option.name, value.text().unwrap()),
            None => option.name.clone(),
        };
        let mut shown: Vec<String> = parsed.options.iter().map(option).collect();
        shown.extend(parsed.unlisted.map(|unlisted| format!("?{unlisted}")));
        shown.push("|".to_owned());
        shown.extend(parsed.operands.iter().map(|word| word.text().unwrap().into_owned()));
        shown.join(" ")
    }

    #[test]
    fn options_are_parsed_as_getopt_does() {
        for (words, expected) in [
            (&["-ab", "x", "y", "-c", "z"][..], "a b=x c | y z"),
            (&["-abx", "-cy", "--", "-a"], "a b=x c=y | -a"),
            (&["--ba", "x", "--bar=", "--cut", "y", "--cu=z"], "b=x b= c c=z | y"),
            (&["--al"], "?--al |"),
            (&["--all=x", "y"], "?--all=x | y"),
            (&["-0777ab1", "-0"], "0 a b=1 0 |"),
            (&["-b"], "?-b |"),
            (&["-ax", "y"], "a ?-ax | y"),
            (&["-", "-a"], "a | -"),
            (&["-m", "x", "-a", "--", "y"], "m=x | -a -- y"),
        ] {
            assert_eq!(parsed(GRAMMAR, words), expected, "{words:?}");
        }
        let stops = OptionGrammar { stops: true, ..GRAMMAR };
        assert_eq!(parsed(stops, &["-a", "x", "-a", "--"]), "a | x -a --");
    }
}
