//! What texts that are read exactly do, and the options of the programs that run these texts.

use ccm_shell::{ShellCommand, ShellDialect, ShellSpan, ShellWord};

use super::possible_options::may_go_on;
use super::{Analyser, CommandContext, CommandInput, shell_words};
use crate::analysis::{AnalysedOption, WayOut};
use crate::effect::{CodeSource, Effect};
use crate::grammars::{ExactArguments, NotExact, OptionGrammar, TextAction};
use crate::guard_class::GuardClass;

/// Program whose words are read exactly.
#[derive(Clone, Copy)]
pub(super) struct ExactCall<'c> {
    pub(super) index: usize,
    /// Name of the program without directories.
    pub(super) name: &'c str,
    /// Commands of the text, for words that hold the output of commands.
    pub(super) commands: &'c [ShellCommand],
    pub(super) context: &'c CommandContext,
}

impl ExactCall<'_> {
    pub(super) fn span(&self, word: &ShellWord) -> ShellSpan {
        self.context.span.unwrap_or(word.span)
    }
}

impl Analyser<'_> {
    /// Parses the options of a program. An option that the grammar does not list is not known.
    pub(super) fn exact_options(
        &mut self,
        call: ExactCall<'_>,
        grammar: &OptionGrammar,
        words: &[ShellWord],
    ) -> ExactArguments {
        let parsed = grammar.parse(words);
        if let Some(command) = self.analysis.commands.get_mut(call.index) {
            command.options.extend(parsed.options.iter().map(|option| {
                let (name, other_names) = grammar.written(&option.name);
                AnalysedOption { name, other_names, value: option.value.as_ref().map(shell_words::shown) }
            }));
            command.operands.extend(parsed.operands.iter().map(shell_words::shown));
        }
        if let Some(option) = &parsed.unlisted {
            self.unlisted_option(call, option);
        }
        let end = parsed.before_dashes.unwrap_or(parsed.operands.len());
        let count = if grammar.stops { end.min(1) } else { end };
        let values = parsed.options.iter().filter_map(|option| option.value.as_ref());
        let values = values.filter(|word| may_go_on(word, call.commands));
        let words = parsed.operands.iter().take(count).chain(values);
        self.first_possible_option(call.index, call.name, words, call.commands);
        parsed
    }

    pub(super) fn unlisted_option(&mut self, call: ExactCall<'_>, option: &str) {
        self.unlisted(call.index, call.name, option);
    }

    /// Judges what a text does, as far as its grammar reads it.
    pub(super) fn exact_text(
        &mut self,
        call: ExactCall<'_>,
        word: &ShellWord,
        read: fn(&str) -> Result<Vec<TextAction>, NotExact>,
    ) {
        // Each value of the variable of a loop makes a text of its own.
        if let Some(words) = shell_words::listed_words(word).filter(|words| words.len() > 1) {
            for word in &words {
                self.exact_text(call, word, read);
            }
            return;
        }
        let actions = shell_words::with_digits(word).map(|text| read(&text));
        match actions {
            Some(Ok(actions)) => self.text_actions(call, &actions, call.span(word)),
            Some(Err(reason)) => {
                self.record_code(call.index, word);
                self.not_exact(call, &reason.to_string(), call.span(word));
            }
            None => {
                let what = format!("`{}` is not known", shell_words::shown(word).shown);
                self.not_exact(call, &what, call.span(word));
            }
        }
    }

    /// Judges a file of code, which is read exactly if it is the standard input and known.
    pub(super) fn exact_script(
        &mut self,
        call: ExactCall<'_>,
        file: &ShellWord,
        read: fn(&str) -> Result<Vec<TextAction>, NotExact>,
    ) {
        let is_input = matches!(file.text().as_deref(), Some("-" | "/dev/stdin"));
        match &call.context.input {
            CommandInput::Text(text) if is_input => self.exact_text(call, &text.clone(), read),
            _ => self.script(call.index, file, call.name, call.commands, call.context),
        }
    }

    /// Records that a text of a program is not read.
    pub(super) fn not_exact(&mut self, call: ExactCall<'_>, reason: &str, span: ShellSpan) {
        self.effect(call.index, Effect::code(CodeSource::Inline, Some(call.name.to_owned())));
        let what = format!("`{}` gets a text of which ccm does not know what it runs: {reason}", call.name);
        self.finding(call.index, GuardClass::CodeInline, what, span, Some(WayOut::SaveCode));
    }

    pub(super) fn text_actions(&mut self, call: ExactCall<'_>, actions: &[TextAction], span: ShellSpan) {
        let context = CommandContext { span: Some(span), ..call.context.clone() };
        for action in actions {
            let (TextAction::Shell(object)
            | TextAction::Piped(object)
            | TextAction::Read(object)
            | TextAction::Write(object)
            | TextAction::Script(object)) = action;
            let word = match object {
                Some(text) => ShellWord::known(text, span),
                None => shell_words::unknown("…", span),
            };
            match action {
                TextAction::Shell(_) => {
                    self.shell_text(call.index, &word, ShellDialect::Sh, call.commands, &context);
                }
                TextAction::Piped(_) => {
                    let piped = CommandContext { input: CommandInput::Pipe(0..0), ..context.clone() };
                    self.shell_text(call.index, &word, ShellDialect::Sh, call.commands, &piped);
                }
                TextAction::Read(_) => self.read_path(call.index, &word, &context),
                TextAction::Write(_) => self.write_path(call.index, &word, &context),
                TextAction::Script(_) => self.script(call.index, &word, call.name, call.commands, &context),
            }
        }
    }
}
