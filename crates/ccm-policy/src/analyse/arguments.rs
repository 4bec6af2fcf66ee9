//! Arguments of a program: options with their values, and operands, as the program parses them.

use ccm_shell::ShellWord;

use super::shell_words::without_prefix;
use crate::tables::{ArgumentRole, OptionSpec, OptionValue, ProgramSyntax};

/// Option of a command line.
#[derive(Clone, Debug)]
pub(super) struct ParsedOption {
    /// Name with dashes. The full name, if a long option is abbreviated.
    pub(super) name: String,
    pub(super) spec: Option<&'static OptionSpec>,
    pub(super) value: Option<ShellWord>,
    /// The program does not take the option as it is written, or a part of the name is not known.
    pub(super) is_odd: bool,
}

/// Arguments of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct ParsedArguments {
    pub(super) options: Vec<ParsedOption>,
    pub(super) operands: Vec<ShellWord>,
    /// Command behind an option that takes all further words.
    pub(super) command: Vec<ShellWord>,
    /// Number of operands in front of `--`, if it is there.
    pub(super) before_dashes: Option<usize>,
}

/// Name in a table of options such as `-5`.
const NUMBER: &str = "-#";
/// Name in a table of options such as `+nightly`.
const TOOLCHAIN: &str = "+NAME";

/// Options that a program knows.
pub(super) type OptionTable<'t> = &'t [&'static OptionSpec];

/// Parses arguments. Everything behind the first operand is an operand if `stops` is set.
pub(super) fn parse(
    words: &[ShellWord],
    table: OptionTable<'_>,
    syntax: ProgramSyntax,
    stops: bool,
) -> ParsedArguments {
    let mut parsed = ParsedArguments::default();
    if syntax == ProgramSyntax::Words {
        parsed.operands = words.to_vec();
        return parsed;
    }
    let mut rest = words.iter();
    let mut is_first = true;
    while let Some(word) = rest.next() {
        let prefix = word.known_prefix();
        if syntax == ProgramSyntax::Cluster && is_first && !prefix.starts_with('-') {
            is_first = false;
            if word.text().is_none() {
                parsed.push_odd(&prefix, None, None);
            } else {
                parsed.old_cluster(&prefix, table, &mut rest);
                continue;
            }
        }
        is_first = false;
        if prefix == "--" && word.text().is_some() {
            parsed.before_dashes = Some(parsed.operands.len());
            parsed.operands.extend(rest.cloned());
            break;
        }
        let is_dashed = prefix.starts_with('-') && (prefix.len() > 1 || word.text().is_none());
        let is_option = is_dashed
            || prefix.starts_with(['/', '+']) && table.iter().any(|spec| spec.has_name(before_mark(&prefix)))
            || is_toolchain(&prefix) && table.iter().any(|spec| spec.has_name(TOOLCHAIN));
        if !is_option {
            parsed.operands.push(word.clone());
            if stops {
                parsed.operands.extend(rest.cloned());
                break;
            }
            continue;
        }
        let count = parsed.options.len();
        if prefix.starts_with('+') && !table.iter().any(|spec| spec.has_name(&prefix)) {
            parsed.single(word, TOOLCHAIN, table, &mut rest);
        } else if prefix.starts_with("--") {
            parsed.long(word, &prefix, table, &mut rest);
        } else if syntax == ProgramSyntax::Single || !prefix.starts_with('-') {
            parsed.single(word, &prefix, table, &mut rest);
        } else if let Some(long) = long_behind_one_dash(&prefix, table, syntax) {
            let mut with_dash = ShellWord::known("-", word.span);
            with_dash.pieces.extend(word.pieces.iter().cloned());
            parsed.long(&with_dash, &long, table, &mut rest);
        } else {
            parsed.cluster(word, &prefix, table, syntax == ProgramSyntax::Pairs, &mut rest);
        }
        // What follows such an option belongs to the command that the option names.
        let ends = |option: &ParsedOption| {
            option
                .spec
                .is_some_and(|spec| matches!(spec.role, ArgumentRole::SplitCommand | ArgumentRole::Module))
        };
        let takes_rest =
            |option: &ParsedOption| option.spec.is_some_and(|spec| spec.value == OptionValue::Rest);
        if parsed.options.iter().skip(count).any(takes_rest) {
            let attached = parsed.options.last().and_then(|option| option.value.clone());
            let further = rest.by_ref().take_while(|word| word.text().as_deref() != Some(";")).cloned();
            parsed.command = attached.into_iter().chain(further).collect();
            continue;
        }
        if parsed.options.iter().skip(count).any(ends) {
            parsed.operands.extend(rest.cloned());
            break;
        }
    }
    parsed
}

/// Returns what stands in front of a value: `/p` of `/p:x=y`.
fn before_mark(prefix: &str) -> &str {
    prefix.split(['=', ':']).next().unwrap_or_default()
}

/// Returns `--cache=x` for `-cache=x` of npm, which knows long names behind one dash, unless all letters are options.
fn long_behind_one_dash(prefix: &str, table: OptionTable<'_>, syntax: ProgramSyntax) -> Option<String> {
    let name = prefix.strip_prefix('-')?.split('=').next()?;
    if syntax != ProgramSyntax::Nopt
        || name.len() < 2
        || table.iter().any(|spec| spec.has_name(&prefix[..=name.len()]))
    {
        return None;
    }
    let long = format!("-{prefix}");
    let begins = |exact: bool| {
        table.iter().flat_map(|spec| &spec.names).any(|known| {
            known
                .strip_prefix("--")
                .is_some_and(|known| if exact { known == name } else { known.starts_with(name) })
        })
    };
    let are_letters = name.chars().all(|letter| table.iter().any(|spec| spec.has_letter(letter)));
    (begins(true) || !are_letters && begins(false)).then_some(long)
}

/// Returns `true` for `+nightly`, `+1.88`.
fn is_toolchain(prefix: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    prefix.strip_prefix('+').is_some_and(|name| !name.is_empty() && name.bytes().all(is_part))
}

/// Returns `NAME=VALUE` of a name and a value that are words of their own.
fn setting(name: &ShellWord, value: &ShellWord) -> ShellWord {
    let mut both = name.clone();
    both.pieces.extend(ShellWord::known("=", name.span).pieces);
    both.pieces.extend(value.pieces.iter().cloned());
    both
}

impl ParsedArguments {
    /// Returns `true` if an option is given, under any of its names.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.iter().any(|name| option.is_named(name)))
    }

    /// Returns the value of the last option with this name, however it is spelled.
    pub(super) fn value_of(&self, name: &str) -> Option<&ShellWord> {
        let is_named = |option: &&ParsedOption| option.spec.is_some_and(|spec| spec.has_name(name));
        self.options.iter().rev().find(is_named).and_then(|option| option.value.as_ref())
    }

    fn push(&mut self, name: &str, spec: Option<&'static OptionSpec>, value: Option<ShellWord>) {
        self.options.push(ParsedOption { name: name.to_owned(), spec, value, is_odd: false });
    }

    fn push_odd(&mut self, name: &str, spec: Option<&'static OptionSpec>, value: Option<ShellWord>) {
        self.options.push(ParsedOption { name: name.to_owned(), spec, value, is_odd: true });
    }

    fn long<'w>(
        &mut self,
        word: &ShellWord,
        prefix: &str,
        table: OptionTable<'_>,
        rest: &mut impl Iterator<Item = &'w ShellWord>,
    ) {
        let (name, attached) = match prefix.split_once('=') {
            Some((name, _)) => (name, Some(without_prefix(word, name.len() + 1))),
            None => (prefix, None),
        };
        let exact = table.iter().find(|spec| spec.has_name(name));
        // A name that is cut short stands for the only option that begins so; more than one is an error of the
        // program, or the table has only some of them.
        let spec = exact.or_else(|| {
            let begins = |spec: &&&OptionSpec| spec.names.iter().any(|known| known.starts_with(name));
            // Those of a subcommand stand in front, and the last of several is taken.
            table
                .iter()
                .rev()
                .filter(begins)
                .max_by_key(|spec| (spec.does.len(), spec.role != ArgumentRole::Text))
        });
        let full = spec.and_then(|spec| {
            spec.names
                .iter()
                .find(|known| ***known == *name)
                .or_else(|| spec.names.iter().find(|known| known.starts_with(name)))
        });
        let name = full.map_or(name, |full| full).to_owned();
        if let Some(OptionSpec { value: OptionValue::Several(count), role, .. }) = spec {
            let values: Vec<ShellWord> = rest.take(usize::from(*count)).cloned().collect();
            let value = match (role, &*values) {
                (ArgumentRole::Setting, [variable, value]) => Some(setting(variable, value)),
                (ArgumentRole::Read, _) => values.into_iter().next_back(),
                _ => values.into_iter().next(),
            };
            self.push(&name, spec.copied(), value);
            return;
        }
        // `--force=x`, and `--out$x`.
        let is_odd = attached.is_some() && spec.is_some_and(|spec| spec.value == OptionValue::None)
            || attached.is_none() && word.text().is_none();
        let value = attached.or_else(|| {
            let takes = spec.is_some_and(|spec| spec.value == OptionValue::Required);
            takes.then(|| rest.next().cloned()).flatten()
        });
        if is_odd {
            self.push_odd(&name, spec.copied(), value);
        } else {
            self.push(&name, spec.copied(), value);
        }
    }

    /// Parses an option with one dash and a long name, such as `-name x` or `-name=x`.
    fn single<'w>(
        &mut self,
        word: &ShellWord,
        prefix: &str,
        table: OptionTable<'_>,
        rest: &mut impl Iterator<Item = &'w ShellWord>,
    ) {
        let before_value = |name: &str| {
            prefix.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', ':']))
        };
        let names = table.iter().flat_map(|spec| spec.names.iter()).filter(|name| before_value(name));
        let name = names.max_by_key(|name| name.len()).map(|name| &**name);
        let name = name.unwrap_or_else(|| prefix.split(['=', ':']).next().unwrap_or(prefix));
        if word.text().is_none() && name.len() == prefix.len() {
            // Only the beginning of the name is known.
            self.push_odd(prefix, table.iter().copied().find(|spec| spec.has_name(name)), None);
            return;
        }
        if let Some(spec) = table.iter().find(|spec| spec.has_name(name)) {
            let value = match spec.value {
                _ if name.len() < prefix.len() => Some(without_prefix(word, name.len() + 1)),
                OptionValue::Required => rest.next().cloned(),
                _ => None,
            };
            self.push(name, Some(spec), value);
            return;
        }
        // `-I/usr/include`: the longest name that the word begins with and that takes a value.
        let begins = table
            .iter()
            .filter(|spec| spec.value != OptionValue::None)
            .flat_map(|spec| spec.names.iter().map(move |name| (*spec, name)))
            .filter(|(_, name)| prefix.starts_with(&***name))
            .max_by_key(|(_, name)| name.len());
        match begins {
            Some((spec, name)) => self.push(name, Some(spec), Some(without_prefix(word, name.len()))),
            None => self.push(prefix, None, None),
        }
    }

    /// Parses letters behind one dash.
    fn cluster<'w>(
        &mut self,
        word: &ShellWord,
        prefix: &str,
        table: OptionTable<'_>,
        has_pairs: bool,
        rest: &mut impl Iterator<Item = &'w ShellWord>,
    ) {
        // Some programs have options with one dash and several letters beside clusters.
        let whole = prefix.split('=').next().unwrap_or_default();
        if let Some(spec) = table.iter().find(|spec| whole.len() > 2 && spec.has_name(whole)) {
            let value = match spec.value {
                _ if whole.len() < prefix.len() => Some(without_prefix(word, whole.len() + 1)),
                OptionValue::Required => rest.next().cloned(),
                _ => None,
            };
            self.push(whole, Some(spec), value);
            return;
        }
        let is_number = prefix.len() > 1 && prefix.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        if let Some(spec) = table.iter().find(|spec| is_number && spec.has_name(NUMBER)) {
            self.push(prefix, Some(spec), None);
            return;
        }
        let mut letters = prefix.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            let second = letters.peek().filter(|_| has_pairs).map(|(_, second)| *second);
            let pair = second.map(|second| format!("-{letter}{second}"));
            let pair = pair.filter(|pair| table.iter().any(|spec| spec.has_name(pair)));
            if pair.is_some() {
                letters.next();
            }
            let length =
                letter.len_utf8() + pair.as_ref().map_or(0, |pair| pair.len() - 1 - letter.len_utf8());
            let spec = match &pair {
                Some(pair) => table.iter().find(|spec| spec.has_name(pair)),
                None => table.iter().find(|spec| spec.has_letter(letter)),
            };
            let name = pair.unwrap_or_else(|| format!("-{letter}"));
            let Some(spec) = spec else {
                self.push(&name, None, None);
                continue;
            };
            if spec.value == OptionValue::None {
                self.push(&name, Some(spec), None);
                continue;
            }
            let attached = without_prefix(word, at + length);
            let mark = usize::from(has_pairs && attached.known_prefix().starts_with('='));
            let attached = without_prefix(&attached, mark);
            let value = match spec.value {
                _ if !attached.pieces.is_empty() => Some(attached),
                OptionValue::Required => rest.next().cloned(),
                _ => None,
            };
            self.push(&name, Some(spec), value);
            return;
        }
        if word.text().is_none() {
            self.push_odd(prefix, None, None);
        }
    }

    /// Parses letters without a dash; their values are the next words, in order.
    fn old_cluster<'w>(
        &mut self,
        letters: &str,
        table: OptionTable<'_>,
        rest: &mut impl Iterator<Item = &'w ShellWord>,
    ) {
        for letter in letters.chars() {
            let name = format!("-{letter}");
            let spec = table.iter().find(|spec| spec.has_name(&name));
            let takes = spec.is_some_and(|spec| spec.value == OptionValue::Required);
            let value = takes.then(|| rest.next().cloned()).flatten();
            self.push(&name, spec.copied(), value);
        }
    }
}

impl ParsedOption {
    /// Returns `true` if the option is given under this or another of its names.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.spec.is_some_and(|spec| spec.has_name(name))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use ccm_shell::ShellSpan;

    use super::*;
    use crate::tables;

    fn parsed(program: &str, words: &[&str]) -> String {
        let entry = tables::find(program).unwrap();
        let words: Vec<ShellWord> =
            words.iter().map(|word| ShellWord::known(*word, ShellSpan::default())).collect();
        let table: Vec<&'static OptionSpec> = entry.options.iter().collect();
        let parsed = parse(&words, &table, entry.syntax, entry.syntax == ProgramSyntax::Posix);
        let mut shown: Vec<String> = Vec::new();
        for option in &parsed.options {
            let value = option.value.as_ref().and_then(ShellWord::text);
            shown.push(value.map_or_else(|| option.name.clone(), |value| format!("{}={value}", option.name)));
        }
        shown.push("|".to_owned());
        shown.extend(parsed.operands.iter().filter_map(ShellWord::text).map(Cow::into_owned));
        shown.join(" ")
    }

    #[test]
    fn options_are_parsed_as_the_program_does() {
        for (program, words, expected) in [
            ("rm", &["-rf", "a", "-v", "--", "-x"][..], "-r -f -v | a -x"),
            ("rm", &["--recu", "a"], "--recursive | a"),
            ("sort", &["-o", "x", "-ukey", "f"], "-o=x -u -k=ey | f"),
            ("sort", &["--out=x", "--output", "y"], "--output=x --output=y |"),
            ("tar", &["cfz", "x", "y"], "-c -f=x -z | y"),
            ("tar", &["-czf", "x", "-C/etc", "y"], "-c -z -f=x -C=/etc | y"),
            ("timeout", &["-k", "1", "--sig=KILL", "5", "rm", "-r"], "-k=1 --signal=KILL | 5 rm -r"),
            ("gcc", &["-I/etc", "-o", "x", "-c", "a.c"], "-I=/etc -o=x -c | a.c"),
            ("nsenter", &["-r/x", "-t", "1", "sh", "-c"], "-r=/x -t=1 | sh -c"),
            ("ls", &["-", "-a"], "-a | -"),
        ] {
            assert_eq!(parsed(program, words), expected, "{program} {words:?}");
        }
    }
}
