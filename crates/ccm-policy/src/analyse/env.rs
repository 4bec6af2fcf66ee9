//! `env`: settings, and the words of a program.

use std::sync::Arc;

use ccm_shell::{ShellSearchPath, ShellWord, WordPiece};

use super::exact::ExactCall;
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::WayOut;
use crate::grammars::{OptionGrammar, split_string};
use crate::guard_class::GuardClass;

/// Options of env of GNU coreutils.
const OPTIONS: OptionGrammar = OptionGrammar {
    letters: "iu:v0C:S:a:",
    names: &[
        ("ignore-environment", "i"),
        ("null", "0"),
        ("unset=", "u"),
        ("chdir=", "C"),
        ("default-signal=?", "default-signal"),
        ("ignore-signal=?", "ignore-signal"),
        ("block-signal=?", "block-signal"),
        ("list-signal-handling", "list-signal-handling"),
        ("argv0=", "a"),
        ("debug", "v"),
        ("split-string=", "S"),
        ("help", "help"),
        ("version", "version"),
    ],
    stops: true,
    last: "S",
};

/// Maximum number of `-S` within one another.
const MAX_SPLITS: u32 = 8;

impl Analyser<'_> {
    /// Judges a call of `env`.
    pub(super) fn env(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let mut words = all.get(1..).unwrap_or_default().to_vec();
        let mut context = call.context.clone();
        let mut splits = 0;
        let operands = loop {
            let parsed = self.exact_options(call, &OPTIONS, &words);
            for option in &parsed.options {
                let Some(value) = &option.value else { continue };
                match &*option.name {
                    "C" => {
                        self.directory_effect(call.index, value, &context);
                        context.directories = self.enter_directory(call.index, value, &context);
                    }
                    "a" => {
                        let what = "`env` starts a program under another name".to_owned();
                        self.finding(
                            call.index,
                            GuardClass::Options,
                            what,
                            call.span(value),
                            Some(WayOut::DropOption),
                        );
                    }
                    _ => {}
                }
            }
            let split = parsed.options.last().filter(|option| option.name == "S");
            let Some(text) = split.and_then(|option| option.value.as_ref()) else { break parsed.operands };
            splits += 1;
            let parts = text.text().and_then(|text| split_string(&text).ok());
            let Some(parts) = parts.filter(|_| splits <= MAX_SPLITS) else {
                let what = "`env -S` starts a program that is not known";
                let span = call.span(text);
                self.finding(call.index, GuardClass::ProgramUnknown, what, span, Some(WayOut::NameProgram));
                return;
            };
            let span = call.span(text);
            words = parts.into_iter().map(|part| ShellWord::known(part, span)).collect();
            words.extend(parsed.operands);
        };
        let is_lone_dash = |word: &ShellWord| word.text().as_deref() == Some("-");
        let skipped = usize::from(operands.first().is_some_and(is_lone_dash));
        let operands = operands.get(skipped..).unwrap_or_default();
        let settings = operands.iter().take_while(|word| is_setting(word)).count();
        let (settings, inner) = operands.split_at(settings);
        for setting in settings {
            self.env_setting(call, setting, inner, &mut context);
        }
        if !inner.is_empty() {
            self.program(inner, call.commands, &context.within(call.index));
        }
    }

    /// Judges a setting in front of a program, of which env allows any name.
    fn env_setting(
        &mut self,
        call: ExactCall<'_>,
        setting: &ShellWord,
        inner: &[ShellWord],
        context: &mut CommandContext,
    ) {
        let prefix = setting.known_prefix();
        let span = call.span(setting);
        let Some((name, _)) = prefix.split_once('=') else {
            let what = "a variable is set whose name is not known";
            self.finding(call.index, GuardClass::Variables, what, span, Some(WayOut::DropOption));
            return;
        };
        let value = shell_words::without_prefix(setting, name.len() + 1);
        if name == "PATH" {
            let path = value.text().map(|path| ShellSearchPath::Path(path.into_owned()));
            context.search_path = Arc::new(path.unwrap_or(ShellSearchPath::Unknown));
        }
        self.set_variable(call, name, &value, inner);
    }
}

/// Returns `true` for a word that env takes for a setting.
fn is_setting(word: &ShellWord) -> bool {
    if word.known_prefix().contains('=') {
        return true;
    }
    let has_sign =
        word.pieces.iter().any(|piece| matches!(piece, WordPiece::Text { text, .. } if text.contains('=')));
    has_sign && !word.is_many()
}
