//! `find`: its expression deletes, writes and runs commands.

use std::ops::Range;
use std::sync::Arc;

use ccm_shell::{ShellCommand, ShellDirectories, ShellWord, UnknownOrigin, WordPiece};

use super::path_effects::Deletion;
use super::possible_options::may_go_on;
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::{AnalysedOption, WayOut};
use crate::guard_class::GuardClass;

/// Manner in which the files are deleted that `find` finds.
pub(super) const ALL: Deletion = Deletion { is_recursive: true, is_forced: true, is_move: false };

/// Parts of an expression without an argument.
const ALONE: &str = "\
    -daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race -mount -nowarn -warn -noleaf -xdev -empty \
    -executable -false -nogroup -nouser -readable -true -writable -print -print0 -prune -quit -ls -and -a -or -o -not ! \
    ( ) , -help --help -version --version";

/// Parts of an expression with an argument that is a text.
const WITH_TEXT: &str = "\
    -maxdepth -mindepth -regextype -amin -atime -cmin -context -ctime -fstype -gid -group -ilname -iname -inum -ipath \
    -iregex -iwholename -links -lname -mmin -mtime -name -path -perm -regex -size -type -uid -used -user -wholename \
    -xtype -printf";

/// Programs that delete or empty what they are given.
const DELETING: [&str; 5] = ["rm", "unlink", "shred", "rmdir", "truncate"];

/// Maximum number of directories for each of which a command is judged.
const MAX_ROOTS: usize = 8;

impl Analyser<'_> {
    /// Judges a call of `find`.
    pub(super) fn find(
        &mut self,
        index: usize,
        all: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let mut rest = all.iter().skip(1).peekable();
        while let Some(option) = rest.next_if(|word| {
            let prefix = word.known_prefix();
            matches!(&*prefix, "-H" | "-L" | "-P" | "-D" | "--") || prefix.starts_with("-O")
        }) {
            if option.known_prefix() == "-D" {
                rest.next();
            }
        }
        let mut roots: Vec<ShellWord> = Vec::new();
        while let Some(root) = rest.next_if(|word| !is_expression(word)) {
            roots.push(root.clone());
        }
        if let Some(command) = self.analysis.commands.get_mut(index) {
            command.operands.extend(roots.iter().map(shell_words::shown));
        }
        let expression: Vec<&ShellWord> = rest.collect();
        // A path that begins with a dash is a part of the expression, also behind `--`.
        let further = expression.iter().copied().filter(|word| may_go_on(word, commands));
        self.first_possible_option(index, "find", roots.iter().chain(further), commands);
        if expression.iter().any(|word| word.text().as_deref() == Some("-files0-from")) {
            roots.push(shell_words::unknown("<files0-from>", self.span(index)));
        }
        if roots.is_empty() {
            roots.push(ShellWord::known(".", self.span(index)));
        }
        for root in &roots {
            self.read_path(index, root, context);
        }
        let mut rest = expression.into_iter();
        while let Some(word) = rest.next() {
            self.find_part(index, word, &mut rest, &roots, commands, context);
        }
    }

    /// Judges a part of an expression, and takes its arguments.
    fn find_part<'w>(
        &mut self,
        index: usize,
        word: &ShellWord,
        rest: &mut impl Iterator<Item = &'w ShellWord>,
        roots: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let Some(name) = word.text() else {
            self.unlisted(index, "find", &shell_words::shown(word).shown);
            return;
        };
        let is_listed = |table: &str| table.split_ascii_whitespace().any(|known| *known == *name);
        let mut value = None;
        match &*name {
            "-delete" => {
                for root in roots {
                    self.delete_path(index, &below(root), ALL, context);
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = rest.next() {
                    self.write_path(index, file, context);
                    value = Some(shell_words::shown(file));
                }
                if name == "-fprintf" {
                    rest.next();
                }
            }
            "-files0-from" | "-newer" | "-anewer" | "-cnewer" | "-samefile" => {
                if let Some(file) = rest.next() {
                    self.read_path(index, file, context);
                }
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let takes_plus = name.starts_with("-exec");
                let mut inner: Vec<ShellWord> = Vec::new();
                for word in rest.by_ref() {
                    let is_behind_path =
                        || inner.last().is_some_and(|last| last.text().as_deref() == Some("{}"));
                    match word.text().as_deref() {
                        Some(";") => break,
                        Some("+") if takes_plus && is_behind_path() => break,
                        _ => inner.push(word.clone()),
                    }
                }
                self.find_commands(index, roots, &inner, commands, context, name.ends_with("dir"));
            }
            _ if is_listed(WITH_TEXT) => value = rest.next().map(shell_words::shown),
            _ if is_newer(&name) => {
                if let Some(file) = rest.next() {
                    if name.ends_with('t') {
                        value = Some(shell_words::shown(file));
                    } else {
                        self.read_path(index, file, context);
                    }
                }
            }
            _ if is_listed(ALONE) => {}
            _ => self.unlisted(index, "find", &name),
        }
        if name.starts_with('-')
            && let Some(command) = self.analysis.commands.get_mut(index)
        {
            let option = AnalysedOption { name: name.into_owned(), other_names: Vec::new(), value };
            command.options.push(option);
        }
    }

    /// Judges the command of `-exec` for each root.
    fn find_commands(
        &mut self,
        index: usize,
        roots: &[ShellWord],
        inner: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
        is_in_directory: bool,
    ) {
        let unknown = [shell_words::unknown("{}", self.span(index))];
        let roots = if roots.len() > MAX_ROOTS { &unknown } else { roots };
        for root in roots {
            let mut context = context.clone();
            if is_in_directory {
                // The command works in the directory of what is found.
                let mut directories = ShellDirectories::default();
                for resolved in super::paths::resolve(root, &context.directories) {
                    match resolved.path.filter(|_| !resolved.is_partial) {
                        Some(path) => {
                            // The root itself lies in the directory above.
                            let is_itself = root.text().is_some_and(|text| matches!(&*text, "." | "./"));
                            if let Some((above, _)) = path.rsplit_once('/').filter(|_| !is_itself) {
                                directories.paths.push(if above.is_empty() { "/" } else { above }.to_owned());
                            }
                            directories.paths.push(path);
                        }
                        None => directories.is_unknown = true,
                    }
                }
                context.directories = Arc::new(directories);
            }
            let before = self.analysis.commands.len();
            self.find_command(index, root, inner, commands, &context);
            if is_in_directory {
                // The directories below are further ones.
                for command in self.analysis.commands.iter_mut().skip(before) {
                    command.is_directory_unknown = true;
                }
            }
        }
    }

    /// Returns `true` for a program that deletes or empties what it is given, also behind a link of another name.
    pub(super) fn deletes(&self, name: &str, context: &CommandContext) -> bool {
        let is_deleting = |path: &str| DELETING.contains(&path.rsplit('/').next().unwrap_or_default());
        is_deleting(name)
            || self.locate(name, context).is_some_and(|location| is_deleting(&location.canonical))
    }

    /// Judges the command that `find` runs for each path below a root.
    fn find_command(
        &mut self,
        index: usize,
        root: &ShellWord,
        inner: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let name = inner.first().and_then(ShellWord::text).unwrap_or_default();
        let base = name.rsplit('/').next().unwrap_or_default();
        if self.deletes(&name, context) {
            self.delete_path(index, &below(root), ALL, context);
        }
        let is_text =
            crate::tables::find(base).is_some_and(|entry| entry.handler.as_deref() == Some("shell"));
        if is_text && inner.iter().skip(1).any(with_path_in_text) {
            let what = "names of files become a part of a text for a shell";
            self.finding(index, GuardClass::Eval, what, self.span(index), Some(WayOut::SaveCode));
        }
        let found = if root.text().is_none() && root.known_prefix().is_empty() {
            shell_words::unknown("{}", root.span)
        } else {
            self.found_paths(index).and_then(|found| found.below(root)).unwrap_or_else(|| below(root))
        };
        let words: Vec<ShellWord> =
            inner.iter().map(|word| shell_words::replaced(word, "{}", &found)).collect();
        let before = self.analysis.commands.len();
        self.program(&words, commands, &context.within(index));
        if inner.iter().any(|word| shell_words::shown(word).shown.contains("{}"))
            && let Some(found) = self.found_paths(index)
        {
            self.read_found(&found, before);
        }
    }
}

/// Returns the word of what `find` prints into a pipe, by the range of the commands in front, if there is one root.
pub(super) fn found_below(range: &Range<usize>, commands: &[ShellCommand]) -> Option<ShellWord> {
    let words = &commands.get(range.start)?.words;
    if words.first()?.text().is_none_or(|name| name.rsplit('/').next() != Some("find")) {
        return None;
    }
    let is_option = |word: &&ShellWord| matches!(&*word.known_prefix(), "-H" | "-L" | "-P");
    let mut rest = words.iter().skip(1).skip_while(is_option);
    let root = match rest.next() {
        Some(root) if !is_expression(root) => root.clone(),
        first => {
            let span = first.unwrap_or(&words[0]).span;
            return Some(below(&ShellWord::known(".", span)));
        }
    };
    let is_only = rest.next().is_none_or(is_expression);
    (is_only && root.text().is_some()).then(|| below(&root))
}

/// Returns `true` for the first word of an expression.
fn is_expression(word: &ShellWord) -> bool {
    let prefix = word.known_prefix();
    let is_operator = matches!(&*prefix, "(" | ")" | "!" | ",") && word.text().is_some();
    is_operator || prefix.starts_with('-') && (prefix.len() > 1 || word.text().is_none())
}

/// Returns `true` for `-newerXY`.
fn is_newer(name: &str) -> bool {
    name.strip_prefix("-newer").is_some_and(|rest| {
        let mut letters = rest.chars();
        letters.next().is_some_and(|of| "aBcm".contains(of))
            && letters.next().is_some_and(|than| "aBcmt".contains(than))
            && letters.next().is_none()
    })
}

/// Returns the word of what lies below a root.
pub(super) fn below(root: &ShellWord) -> ShellWord {
    let mut below = root.clone();
    below.pieces.push(WordPiece::Text { text: "/".to_owned(), is_quoted: true });
    below.pieces.push(WordPiece::Pattern('*'));
    below
}

/// Returns `true` for `rm {}` within a word, where a name is read by a shell.
fn with_path_in_text(word: &ShellWord) -> bool {
    let Some(text) = word.text() else {
        return word.pieces.iter().any(|piece| {
            matches!(piece, WordPiece::Unknown { origin: UnknownOrigin::Variable(name), .. } if name == "{}")
        });
    };
    text.contains("{}") && text != "{}"
}
