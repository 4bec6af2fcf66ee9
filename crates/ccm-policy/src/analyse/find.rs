//! `find`: its expression deletes, writes and runs commands.

use ccm_shell::{ShellCommand, ShellWord, UnknownOrigin, WordPiece};

use super::path_effects::Deletion;
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::{AnalysedOption, WayOut};
use crate::guard_class::GuardClass;

const ALL: Deletion = Deletion { is_recursive: true, is_forced: true };

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
            matches!(&*prefix, "-H" | "-L" | "-P" | "-D") || prefix.starts_with("-O")
        }) {
            if option.known_prefix() == "-D" {
                rest.next();
            }
        }
        let mut roots: Vec<ShellWord> = Vec::new();
        while let Some(root) =
            rest.next_if(|word| !word.known_prefix().starts_with(['-', '(', ')', '!', ',']))
        {
            roots.push(root.clone());
        }
        if let Some(command) = self.analysis.commands.get_mut(index) {
            command.operands.extend(roots.iter().map(shell_words::shown));
        }
        if roots.is_empty() {
            roots.push(ShellWord::known(".", self.span(index)));
        }
        for root in &roots {
            self.read_path(index, root, context);
        }
        while let Some(word) = rest.next() {
            let Some(name) = word.text() else { continue };
            let mut value = None;
            match &*name {
                "-delete" => {
                    for root in &roots {
                        self.delete_path(index, &below(root), ALL, context);
                    }
                }
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                    if let Some(file) = rest.next() {
                        self.write_path(index, file, context);
                        value = Some(shell_words::shown(file));
                    }
                }
                "-files0-from" => {
                    if let Some(file) = rest.next() {
                        self.read_path(index, file, context);
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let mut inner: Vec<ShellWord> = Vec::new();
                    for word in rest.by_ref() {
                        match word.text().as_deref() {
                            Some(";") => break,
                            Some("+")
                                if inner.last().is_some_and(|last| last.text().as_deref() == Some("{}")) =>
                            {
                                break;
                            }
                            _ => inner.push(word.clone()),
                        }
                    }
                    self.find_command(index, &roots, &inner, commands, context);
                }
                _ => {}
            }
            if name.starts_with('-')
                && let Some(command) = self.analysis.commands.get_mut(index)
            {
                command.options.push(AnalysedOption {
                    name: name.into_owned(),
                    other_names: Vec::new(),
                    value,
                });
            }
        }
    }

    /// Judges the command that `find` runs for each path.
    fn find_command(
        &mut self,
        index: usize,
        roots: &[ShellWord],
        inner: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let name = inner.first().and_then(ShellWord::text).unwrap_or_default();
        let base = name.rsplit('/').next().unwrap_or_default();
        if matches!(base, "rm" | "unlink" | "shred" | "rmdir" | "truncate") {
            for root in roots {
                self.delete_path(index, &below(root), ALL, context);
            }
        }
        let is_text =
            crate::tables::find(base).is_some_and(|entry| entry.handler.as_deref() == Some("shell"));
        if is_text && inner.iter().skip(1).any(with_path_in_text) {
            let what = "names of files become a part of a text for a shell";
            self.finding(index, GuardClass::Eval, what, self.span(index), Some(WayOut::SaveCode));
        }
        let words: Vec<ShellWord> = inner
            .iter()
            .map(|word| {
                // A path that is found lies below a root.
                let by = match roots {
                    [root] => below(root),
                    _ => shell_words::unknown("{}", word.span),
                };
                shell_words::replaced(word, "{}", &by)
            })
            .collect();
        let mut context = context.within(index);
        context.input = super::CommandInput::Empty;
        self.program(&words, commands, &context);
    }
}

/// Returns the word of what lies below a root.
fn below(root: &ShellWord) -> ShellWord {
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
