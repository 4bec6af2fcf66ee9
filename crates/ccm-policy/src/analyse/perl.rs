//! `perl`: code, scripts and modules.

use ccm_shell::ShellWord;

use super::Analyser;
use super::exact::ExactCall;
use crate::grammars::OptionGrammar;

const OPTIONS: OptionGrammar = OptionGrammar {
    letters: "0#acC::e:E:fF::ghi::I:l#m::M::npstTuUvV::wWx::X",
    names: &[("help", "h"), ("version", "v")],
    stops: true,
    last: "",
};

/// Modules of perl itself that change how code is read or offer functions.
const HARMLESS: [&str; 20] = [
    "Cwd",
    "Data::Dumper",
    "Digest::MD5",
    "Digest::SHA",
    "Encode",
    "File::Basename",
    "File::Spec",
    "JSON::PP",
    "List::Util",
    "MIME::Base64",
    "POSIX",
    "Scalar::Util",
    "Time::HiRes",
    "Time::Local",
    "bigint",
    "feature",
    "integer",
    "strict",
    "utf8",
    "warnings",
];

impl Analyser<'_> {
    /// Judges a call of `perl`.
    pub(super) fn perl(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &OPTIONS, all.get(1..).unwrap_or_default());
        for option in &parsed.options {
            let Some(value) = &option.value else { continue };
            let text = value.text();
            match &*option.name {
                "M" | "m" => {
                    // `use MODULE LIST`: `-MList::Util=sum` imports names.
                    let name = text.as_deref().unwrap_or_default();
                    let name = name.strip_prefix('-').unwrap_or(name);
                    let (module, names) = name.split_once('=').unwrap_or((name, ""));
                    let is_plain =
                        names.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':'));
                    let is_version = !module.is_empty()
                        && module.trim_start_matches('v').chars().all(|c| c.is_ascii_digit() || c == '.');
                    let is_harmless = is_version || is_plain && HARMLESS.contains(&module);
                    if !is_harmless {
                        self.module(call, value, &[]);
                    }
                }
                "I" => self.module_directory(call, value),
                "C" => {
                    let is_plain = text.is_some_and(|text| {
                        text.chars().all(|c| c.is_ascii_digit() || "IOEioASDLa".contains(c))
                    });
                    if !is_plain {
                        self.code_option(call, "-C");
                    }
                }
                // The pattern becomes a part of the code.
                "F" => {
                    let is_plain = text.is_some_and(|text| {
                        text.chars().count() == 1
                            || text.chars().all(|c| {
                                c.is_ascii_alphanumeric() || matches!(c, ':' | ',' | ' ' | ';' | '|')
                            })
                    });
                    if !is_plain {
                        self.code_option(call, "-F");
                    }
                }
                "V" | "x" => self.code_option(call, &format!("-{}", option.name)),
                _ => {}
            }
        }
        let is_in_place = parsed.has("i");
        let has_code = parsed.has("e") || parsed.has("E");
        self.inline_codes(call, parsed.values("e").chain(parsed.values("E")));
        if parsed.has("v") || parsed.has("h") || parsed.has("V") && !has_code {
            return;
        }
        let files = if has_code {
            &*parsed.operands
        } else {
            self.script_operands(call, &parsed.operands);
            parsed.operands.get(1..).unwrap_or_default()
        };
        for file in files {
            if is_in_place {
                self.write_path(call.index, file, call.context);
            } else if has_code {
                self.maybe_path(call.index, file, call.context);
            }
        }
    }
}
