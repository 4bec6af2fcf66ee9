//! Debuggers: the commands in their options and on their standard input.

use ccm_shell::ShellWord;

use super::exact::ExactCall;
use super::{Analyser, CommandInput};
use crate::grammars::{debugger_action, only_reports};

/// Options of debuggers whose value is a command.
const COMMANDS: &str = "\
    -ex --ex -eval-command --eval-command -iex --iex -eiex --eiex -init-eval-command --init-eval-command \
    -early-init-eval-command --early-init-eval-command -o --one-line -O --one-line-before-file -k --one-line-on-crash";

impl Analyser<'_> {
    /// Judges what the commands of a debugger run.
    pub(super) fn debugger(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let is_command = |text: &str| COMMANDS.split_ascii_whitespace().any(|option| option == text);
        for (position, word) in all.iter().enumerate().skip(1) {
            let Some(text) = word.text() else { continue };
            let behind = all.get(position + 1).filter(|_| is_command(&text)).and_then(ShellWord::text);
            let attached =
                text.split_once('=').filter(|(option, _)| is_command(option)).map(|(_, command)| command);
            if let Some(action) =
                behind.as_deref().or(attached).and_then(|command| debugger_action(call.name, command))
            {
                self.text_actions(call, &[action], call.span(word));
            }
        }
        let is_batch = |word: &ShellWord| {
            word.text().is_some_and(|text| {
                matches!(&*text, "-batch" | "--batch" | "-batch-silent" | "--batch-silent")
            }) || call.name.starts_with("lldb") && word.text().as_deref() == Some("-b")
        };
        let is_report = |word: &ShellWord| {
            word.text().is_some_and(|text| {
                matches!(&*text, "-version" | "--version" | "-help" | "--help" | "-v" | "-h")
            })
        };
        if !all.iter().skip(1).any(|word| is_batch(word) || is_report(word)) {
            self.debugger_input(call);
        }
    }

    /// Judges commands on standard input.
    fn debugger_input(&mut self, call: ExactCall<'_>) {
        let CommandInput::Text(text) = &call.context.input else {
            return self.code_from_input(call.index, call.name, call.commands, call.context);
        };
        let span = call.span(text);
        let Some(lines) = text.text() else { return self.inline_code(call.index, call.name, text, span) };
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            if !only_reports(call.name, line) {
                self.inline_code(call.index, call.name, text, span);
            }
            if let Some(action) = debugger_action(call.name, line) {
                self.text_actions(call, &[action], span);
            }
        }
    }
}
