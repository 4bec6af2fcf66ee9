//! `awk`: its programs, and what they run, read and write.

use ccm_shell::{ShellSpan, ShellWord};

use super::Analyser;
use super::exact::ExactCall;
use crate::analysis::WayOut;
use crate::grammars::{OptionGrammar, read_awk};
use crate::guard_class::GuardClass;

/// Options of gawk, mawk and the original awk, as far as they mean the same.
const OPTIONS: OptionGrammar = OptionGrammar {
    letters: "bcf:F:v:E:i:e:l:d::o::p::hMnNOPrsStV",
    names: &[
        ("assign=", "v"),
        ("bignum", "M"),
        ("characters-as-bytes", "b"),
        ("csv", "csv"),
        ("dump-variables=?", "d"),
        ("exec=", "E"),
        ("field-separator=", "F"),
        ("file=", "f"),
        ("help", "h"),
        ("include=", "i"),
        ("lint=?", "lint"),
        ("load=", "l"),
        ("non-decimal-data", "n"),
        ("optimize", "O"),
        ("posix", "P"),
        ("pretty-print=?", "o"),
        ("profile=?", "p"),
        ("re-interval", "r"),
        ("sandbox", "S"),
        ("source=", "e"),
        ("traditional", "c"),
        ("use-lc-numeric", "N"),
        ("version", "V"),
    ],
    stops: true,
    last: "",
};

impl Analyser<'_> {
    /// Judges a call of `awk`.
    pub(super) fn awk(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &OPTIONS, all.get(1..).unwrap_or_default());
        let mut programs: Vec<&ShellWord> = parsed.values("e").collect();
        let mut files = &*parsed.operands;
        let has_files = parsed.has("f") || parsed.has("E");
        if programs.is_empty() && !has_files && !parsed.has("V") && !parsed.has("h") {
            let Some((program, rest)) = files.split_first() else { return };
            programs.push(program);
            files = rest;
        }
        let span = self.span(call.index);
        for option in &parsed.options {
            let Some(value) = &option.value else { continue };
            match &*option.name {
                "f" | "E" => self.exact_script(call, value, read_awk),
                "i" if value.text().as_deref() == Some("inplace") => {}
                "i" => {
                    self.script(call.index, value, call.name, call.commands, call.context);
                    self.loaded(call, "a library that is looked up", call.span(value));
                }
                "l" => self.loaded(call, "a library", call.span(value)),
                "d" | "o" | "p" => self.write_path(call.index, value, call.context),
                _ => {}
            }
        }
        let is_in_place = parsed.values("i").any(|value| value.text().as_deref() == Some("inplace"));
        for option in parsed.options.iter().filter(|option| option.value.is_none()) {
            let default = match &*option.name {
                "d" => "awkvars.out",
                "o" | "p" => "awkprof.out",
                _ => continue,
            };
            self.write_path(call.index, &ShellWord::known(default, span), call.context);
        }
        for program in programs {
            self.exact_text(call, program, read_awk);
        }
        for file in files {
            let is_setting = super::variables::setting_name(file).is_some();
            if is_in_place && !is_setting {
                self.write_path(call.index, file, call.context);
            } else {
                self.maybe_path(call.index, file, call.context);
            }
        }
    }

    fn loaded(&mut self, call: ExactCall<'_>, what: &str, span: ShellSpan) {
        let what = format!("`{}` loads {what}", call.name);
        self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
    }
}
