//! `perl`: code, scripts and modules.

use ccm_shell::{ShellWord, WordPiece};

use super::Analyser;
use super::exact::ExactCall;
use crate::grammars::{ExactArguments, OptionGrammar, read_perl_line};

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

/// Returns `true` if code is read exactly, and only prints or changes the lines of files that are opened as files.
fn is_known_line(parsed: &ExactArguments, codes: &[&ShellWord]) -> bool {
    // What loads modules, reads code elsewhere or makes variables of the arguments.
    let has_more = ["M", "m", "I", "s", "S", "x", "C", "V", "u", "D"].iter().any(|name| parsed.has(name));
    let is_plain_suffix = |suffix: &ShellWord| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '~' | '_');
        suffix.text().is_some_and(|text| text.chars().all(is_plain))
    };
    let texts: Option<Vec<_>> = codes.iter().map(|code| code.text()).collect();
    let Some(texts) = texts else { return false };
    // The codes are lines of one program, and a statement may go on in the next one.
    let ends = texts.iter().rev().skip(1).all(|text| text.trim_end().ends_with(';'));
    let reads_files = parsed.has("n") || parsed.has("p");
    !has_more
        && parsed.unlisted.is_none()
        && parsed.values("i").all(is_plain_suffix)
        && ends
        && texts.iter().all(|text| read_perl_line(text).is_ok())
        && (!reads_files || parsed.operands.iter().all(is_opened_as_file))
}

/// Returns `true` for an operand that perl opens as a file: `id|` and `|id` are commands, and `>x` is written.
fn is_opened_as_file(word: &ShellWord) -> bool {
    let is_sign = |c: char| matches!(c, '|' | '<' | '>' | '&' | '+' | ' ') || c.is_control();
    let is_unknown = |piece: &WordPiece| matches!(piece, WordPiece::Unknown { .. });
    let known: Vec<&str> = word
        .pieces
        .iter()
        .map(|piece| if let WordPiece::Text { text, .. } = piece { &**text } else { "" })
        .collect();
    let has_ends = [known.first(), known.last()].iter().all(|end| end.is_some_and(|text| !text.is_empty()));
    !word.pieces.iter().any(is_unknown)
        && (has_ends || word.text().is_some_and(|text| !text.is_empty()))
        && !known.iter().any(|text| text.contains(is_sign))
}

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
        let codes: Vec<&ShellWord> = parsed.values("e").chain(parsed.values("E")).collect();
        if !has_code || !is_known_line(&parsed, &codes) {
            self.inline_codes(call, codes.into_iter());
        }
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
                for suffix in parsed.values("i").filter_map(ShellWord::text) {
                    let mut copy = file.clone();
                    copy.pieces.extend(ShellWord::known(suffix, file.span).pieces);
                    self.write_path(call.index, &copy, call.context);
                }
            } else if has_code {
                self.maybe_path(call.index, file, call.context);
            }
        }
    }
}
