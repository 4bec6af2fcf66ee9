//! Lists of names: files or standard input from which a program reads the names of further files.

use ccm_shell::{ShellWord, WordPiece};

use super::entries::Call;
use super::shell_words::{FILE_NAMES, INPUT};
use super::{Analyser, CommandContext, CommandInput, possible_options, shell_words, whole_names};

/// Form of the lines of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListForm {
    /// A name on each line, or behind each NUL.
    Names,
    /// A checksum and a name on each line.
    Sums,
}

/// Option of programs that read names from a list.
struct NameList {
    programs: &'static str,
    /// Options whose value names the list; without a value it is standard input.
    options: &'static str,
    /// Options with which a NUL ends each name; `*` if it always does.
    nul: &'static str,
    form: ListForm,
}

const LISTS: [NameList; 10] = [
    NameList::names("tar bsdtar gtar", "-T --files-from", "--null"),
    NameList::names("zip zipx", "-@ --names-stdin", ""),
    NameList::names("rsync", "--files-from", "-0 --from0"),
    NameList::names("wc sort du", "--files0-from", "*"),
    NameList::names("git", "--stdin-paths", ""),
    NameList::names("file", "-f --files-from", ""),
    NameList::names("xz unxz lzma unlzma lzcat xzcat", "--files", ""),
    NameList::names("xz unxz lzma unlzma lzcat xzcat", "--files0", "*"),
    NameList::names("zstd unzstd zstdcat", "--filelist", ""),
    NameList::names("cpio", "-o --create -p --pass-through", "-0 --null"),
];

/// Programs that check sums of the files in a list.
const SUMS: &str = "\
    sum cksum b2sum b3sum md5 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum xxhsum xxh64sum xxh128sum";

impl NameList {
    const fn names(programs: &'static str, options: &'static str, nul: &'static str) -> Self {
        Self { programs, options, nul, form: ListForm::Names }
    }
}

fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

impl Analyser<'_> {
    /// Judges the files whose names a program reads from lists.
    pub(super) fn listed_names(&mut self, call: &Call<'_>) {
        if has(SUMS, call.name) && call.parsed.has(&["-c", "--check"]) {
            let sums = NameList { programs: SUMS, options: "", nul: "-z --zero", form: ListForm::Sums };
            let operands: Vec<Option<&ShellWord>> = call.parsed.operands.iter().map(Some).collect();
            let lists = if operands.is_empty() { vec![None] } else { operands };
            for list in lists {
                self.names_of_list(call, &sums, list);
            }
        }
        // An archive that is read has its own names.
        let extracts = matches!(call.name, "tar" | "bsdtar" | "gtar")
            && !call
                .parsed
                .has(&["-c", "-r", "-u", "-d", "-A", "--create", "--append", "--update", "--diff"]);
        let lists = LISTS.iter().filter(|list| has(list.programs, call.name) && !extracts);
        for list in lists {
            let options = call.parsed.options.iter().filter(|option| {
                has(list.options, &option.name)
                    || list.options.split_ascii_whitespace().any(|name| option.is_named(name))
            });
            for option in options {
                self.names_of_list(call, list, option.value.as_ref());
            }
        }
    }

    /// Judges the names of one list. Without a word it is standard input.
    fn names_of_list(&mut self, call: &Call<'_>, list: &NameList, word: Option<&ShellWord>) {
        let context = CommandContext { input: CommandInput::Empty, ..call.context.clone() };
        let is_input = |word: &ShellWord| {
            word.text()
                .is_some_and(|text| matches!(&*text, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
        };
        let has_nul =
            list.nul == "*" || list.nul.split_ascii_whitespace().any(|option| call.parsed.has(&[option]));
        let span = call.context.span.unwrap_or_else(|| self.span(call.index));
        let unknown = match (word.filter(|word| !is_input(word)), &call.context.input) {
            (Some(file), _) => {
                self.read_path(call.index, file, &context);
                let names = if is_process(file) { INPUT } else { FILE_NAMES };
                Some(shell_words::unknown(names, span))
            }
            (None, CommandInput::Empty) => None,
            (None, CommandInput::Text(text)) => match names_of_text(text, list.form, has_nul) {
                Some(names) => {
                    for name in names {
                        self.read_path(call.index, &ShellWord::known(name, text.span), &context);
                    }
                    None
                }
                None => Some(shell_words::unknown(INPUT, span)),
            },
            (None, CommandInput::Pipe(range)) => {
                let names =
                    if possible_options::print_no_option(range, call.commands) { FILE_NAMES } else { INPUT };
                let whole = has_nul.then(|| whole_names::below(range, call.commands)).flatten();
                Some(whole.unwrap_or_else(|| shell_words::unknown(names, span)))
            }
            (None, CommandInput::File(_) | CommandInput::Unknown) => Some(shell_words::unknown(INPUT, span)),
        };
        if let Some(unknown) = unknown {
            self.read_path(call.index, &unknown, &context);
        }
    }
}

fn is_process(word: &ShellWord) -> bool {
    matches!(&*word.pieces, [WordPiece::Unknown { .. }])
}

/// Returns the names in a text; `None` if the text is not known, or has escapes.
fn names_of_text(text: &ShellWord, form: ListForm, has_nul: bool) -> Option<Vec<String>> {
    let text = text.text()?;
    let lines = text.split(if has_nul { '\0' } else { '\n' }).filter(|line| !line.is_empty());
    match form {
        ListForm::Names => Some(lines.map(str::to_owned).collect()),
        ListForm::Sums => lines.map(name_of_sum).collect(),
    }
}

/// Returns the name of `SUM  NAME`, `SUM *NAME` and `MD5 (NAME) = SUM`.
fn name_of_sum(line: &str) -> Option<String> {
    let line = line.trim_start();
    if line.starts_with('\\') {
        return None;
    }
    if let Some((_, rest)) = line.split_once(" (") {
        return Some(rest.rsplit_once(") = ")?.0.to_owned());
    }
    let (_, name) = line.split_once(' ')?;
    Some(name.strip_prefix([' ', '*']).unwrap_or(name).to_owned())
}

#[cfg(test)]
mod tests {
    use ccm_shell::ShellSpan;

    use super::*;

    #[test]
    fn names_in_lists_are_those_that_programs_read() {
        for (text, form, has_nul, expected) in [
            ("a\nb c\n", ListForm::Names, false, Some(vec!["a", "b c"])),
            ("a\nb\0c\0", ListForm::Names, true, Some(vec!["a\nb", "c"])),
            ("12  a b\n12 *c\n", ListForm::Sums, false, Some(vec!["a b", "c"])),
            ("MD5 (a (b)) = 12", ListForm::Sums, false, Some(vec!["a (b)"])),
            ("\\12  a\\nb", ListForm::Sums, false, None),
        ] {
            let word = ShellWord::known(text, ShellSpan::default());
            let found = names_of_text(&word, form, has_nul);
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(found, expected, "{text}");
        }
    }
}
