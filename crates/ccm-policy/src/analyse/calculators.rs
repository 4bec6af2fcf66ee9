//! `dc` and `m4`, whose programs may run commands.

use ccm_shell::ShellWord;

use super::Analyser;
use super::exact::ExactCall;
use crate::grammars::{OptionGrammar, read_dc};

const DC: OptionGrammar = OptionGrammar {
    letters: "e:f:hV",
    names: &[("expression=", "e"), ("file=", "f"), ("help", "h"), ("version", "V")],
    stops: false,
    last: "",
};

const M4: OptionGrammar = OptionGrammar {
    letters: "EhiPQsB:D:F:I:L:N:R:S:T:U:d::gGl:o:",
    names: &[
        ("define=", "D"),
        ("debug=?", "d"),
        ("debugfile=?", "o"),
        ("fatal-warnings", "E"),
        ("freeze-state=", "F"),
        ("gnu", "g"),
        ("help", "h"),
        ("include=", "I"),
        ("interactive", "i"),
        ("nesting-limit=", "L"),
        ("prefix-builtins", "P"),
        ("quiet", "Q"),
        ("reload-state=", "R"),
        ("silent", "Q"),
        ("synclines", "s"),
        ("traditional", "G"),
        ("undefine=", "U"),
        ("version", "version"),
    ],
    stops: false,
    last: "",
};

impl Analyser<'_> {
    /// Judges a call of `dc`.
    pub(super) fn dc(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &DC, all.get(1..).unwrap_or_default());
        for text in parsed.values("e") {
            self.exact_text(call, text, read_dc);
        }
        for file in parsed.values("f").chain(&parsed.operands) {
            self.script(call.index, file, call.name, call.commands, call.context);
        }
        if parsed.options.is_empty() && parsed.operands.is_empty() {
            self.statements_from_input(call, read_dc);
        }
    }

    /// Judges a call of `m4`.
    pub(super) fn m4(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &M4, all.get(1..).unwrap_or_default());
        if parsed.has("h") || parsed.has("version") {
            return;
        }
        for option in &parsed.options {
            let Some(value) = &option.value else { continue };
            match &*option.name {
                "F" | "o" => self.write_path(call.index, value, call.context),
                "R" => self.script(call.index, value, call.name, call.commands, call.context),
                "I" => self.module_directory(call, value),
                // The text of a definition is expanded, and may run commands.
                "D" if value.text().is_none_or(|text| text.contains(['(', '`', '$'])) => {
                    self.not_exact(call, "a definition that is expanded", call.span(value));
                }
                _ => {}
            }
        }
        for file in &parsed.operands {
            self.script(call.index, file, call.name, call.commands, call.context);
        }
        if parsed.operands.is_empty() {
            self.code_from_input(call.index, call.name, call.commands, call.context);
        }
    }
}
