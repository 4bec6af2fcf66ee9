//! Shells: the texts, files and inputs that they run.

use ccm_shell::{ShellCommand, ShellDialect, ShellWord};

use super::{Analyser, CommandContext, shell_words};
use crate::analysis::{AnalysedOption, WayOut};
use crate::effect::{CodeSource, Effect};
use crate::guard_class::GuardClass;

impl Analyser<'_> {
    /// Judges a call of a shell.
    pub(super) fn shell(
        &mut self,
        index: usize,
        all: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let name = all.first().and_then(ShellWord::text).unwrap_or_default();
        let base = name.rsplit('/').next().unwrap_or_default().to_owned();
        let dialect =
            if base.starts_with("bash") || base == "rbash" { ShellDialect::Bash } else { ShellDialect::Sh };
        let mut operands = all.iter().skip(1).peekable();
        let mut options: Vec<String> = Vec::new();
        let mut takes_text = false;
        let mut takes_input = false;
        while let Some(word) = operands.peek() {
            let prefix = word.known_prefix();
            let span = context.span.unwrap_or(word.span);
            if !prefix.starts_with(['-', '+']) || prefix.len() < 2 && word.text().is_some() {
                if prefix == "-" {
                    operands.next();
                }
                break;
            }
            if word.text().is_none() {
                let what = format!("an option of `{base}` is not known");
                self.finding(index, GuardClass::Eval, what, span, Some(WayOut::NameProgram));
            }
            operands.next();
            options.push(prefix.clone().into_owned());
            match &*prefix {
                "--" => break,
                "--rcfile" | "--init-file" => {
                    if let Some(file) = operands.next() {
                        self.script(index, file, &base, commands, context);
                        let what = format!("`{prefix}` of `{base}` runs a file");
                        self.finding(index, GuardClass::Options, what, span, Some(WayOut::DropOption));
                    }
                }
                _ if prefix.starts_with("--") => {}
                cluster => {
                    takes_text |= cluster.starts_with('-') && cluster.contains('c');
                    takes_input |= cluster.starts_with('-') && cluster.contains('s');
                    if cluster.ends_with(['o', 'O']) {
                        operands.next();
                    }
                }
            }
        }
        let operands: Vec<&ShellWord> = operands.collect();
        if let Some(command) = self.analysis.commands.get_mut(index) {
            let names =
                options.into_iter().map(|name| AnalysedOption { name, other_names: Vec::new(), value: None });
            command.options.extend(names);
            command.operands.extend(operands.iter().map(|word| shell_words::shown(word)));
        }
        match operands.split_first() {
            Some((text, _)) if takes_text => self.shell_text(index, text, dialect, commands, context),
            None if takes_text => {}
            Some((script, rest)) if !takes_input => {
                self.script(index, script, &base, commands, context);
                for word in rest {
                    self.maybe_path(index, word, context);
                }
            }
            _ => {
                let context = CommandContext { dialect, ..context.clone() };
                self.code_from_input(index, &base, commands, &context);
            }
        }
    }

    /// Judges a word that is a text for a shell.
    pub(super) fn shell_text(
        &mut self,
        index: usize,
        word: &ShellWord,
        dialect: ShellDialect,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let span = context.span.unwrap_or(word.span);
        if let Some(text) = word.text() {
            let context = CommandContext { dialect, span: Some(span), ..context.within(index) };
            self.text(&text, &context);
            return;
        }
        let is_input = word.pieces.iter().any(|piece| {
            matches!(piece, ccm_shell::WordPiece::Unknown {
                origin: ccm_shell::UnknownOrigin::Variable(name), ..
            } if name == "input" || name == "{}")
        });
        if is_input || Self::is_download(word, commands) {
            self.effect(index, Effect::code(CodeSource::Pipe, None));
            let what = "a text for a shell comes from a pipe or a download";
            self.finding(index, GuardClass::CodePipe, what, span, Some(WayOut::SaveCode));
        } else {
            self.effect(index, Effect::code(CodeSource::Unknown, None));
            let what = format!("the text `{}` for a shell is not known", shell_words::shown(word).shown);
            self.finding(index, GuardClass::Eval, what, span, Some(WayOut::SaveCode));
        }
    }
}
