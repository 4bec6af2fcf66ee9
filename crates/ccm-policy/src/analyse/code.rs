//! Code from files and from standard input.

use ccm_shell::{ShellCommand, ShellWord};

use super::{Analyser, CommandContext, CommandInput, paths, shell_words};
use crate::analysis::WayOut;
use crate::effect::{CodeSource, Effect};
use crate::guard_class::GuardClass;

const SHELLS: [&str; 9] = ["sh", "dash", "bash", "rbash", "ksh", "mksh", "zsh", "ash", "the shell"];

impl Analyser<'_> {
    /// Judges a file that is run as code.
    pub(super) fn script(
        &mut self,
        index: usize,
        word: &ShellWord,
        name: &str,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let span = context.span.unwrap_or(word.span);
        if word.text().is_some_and(|text| is_standard_input(&text)) {
            if name == "the shell" && !matches!(context.input, CommandInput::Empty) {
                self.code_from_pipe(index, name, span);
            } else {
                self.code_from_input(index, name, commands, context);
            }
            return;
        }
        let is_url = word.known_prefix().contains("://");
        if is_url || Self::is_download(word, commands) {
            self.code_from_pipe(index, name, span);
            return;
        }
        self.origin_of_word(index, word, context);
        for resolved in paths::resolve(word, &context.directories) {
            let known = resolved.path.clone().filter(|_| !resolved.is_partial);
            if known.as_deref().is_some_and(|path| self.is_downloaded(path)) {
                self.code_from_pipe(index, name, span);
            }
            self.effect(index, Effect::code(CodeSource::File, resolved.path.clone()));
            match known {
                None => {
                    let what = format!(
                        "`{name}` runs `{}`, a file that is not known",
                        shell_words::shown(word).shown
                    );
                    self.finding(index, GuardClass::Eval, what, span, Some(WayOut::NamePath));
                }
                Some(path) if !self.is_inside(&path) => {
                    let what = format!("`{name}` runs {path}, outside the workspace");
                    self.finding(index, GuardClass::CodeOutside, what, span, Some(WayOut::StayInWorkspace));
                }
                Some(_) => {}
            }
        }
        self.read_path(index, word, context);
    }

    /// Judges code that a program reads from standard input.
    pub(super) fn code_from_input(
        &mut self,
        index: usize,
        name: &str,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let span = context.span.unwrap_or_else(|| self.span(index));
        match context.input.clone() {
            CommandInput::Empty => {}
            CommandInput::Pipe(_) | CommandInput::Unknown => self.code_from_pipe(index, name, span),
            CommandInput::File(file) => {
                let context = CommandContext { input: CommandInput::Pipe(0..0), ..context.clone() };
                self.script(index, &file, name, commands, &context);
            }
            CommandInput::Text(text) => {
                let is_shell =
                    SHELLS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
                if is_shell {
                    let context = CommandContext { input: CommandInput::Unknown, ..context.clone() };
                    self.shell_text(index, &text, context.dialect, commands, &context);
                } else {
                    self.inline_code(index, name, &text, span);
                }
            }
        }
    }

    pub(super) fn code_from_pipe(&mut self, index: usize, name: &str, span: ccm_shell::ShellSpan) {
        self.effect(index, Effect::code(CodeSource::Pipe, Some(name.to_owned())));
        let what = format!("`{name}` runs code from a pipe or a download");
        self.finding(index, GuardClass::CodePipe, what, span, Some(WayOut::SaveCode));
    }
}

/// Returns `true` for names of standard input.
fn is_standard_input(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0")
}
