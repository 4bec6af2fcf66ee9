//! `sed`: its scripts, and the files that it changes.

use ccm_shell::ShellWord;

use super::exact::ExactCall;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::grammars::{OptionGrammar, read_sed};
use crate::guard_class::GuardClass;

/// Options of GNU sed.
const OPTIONS: OptionGrammar = OptionGrammar {
    letters: "bnrEe:f:l:i::suzh",
    names: &[
        ("binary", "b"),
        ("debug", "debug"),
        ("expression=", "e"),
        ("file=", "f"),
        ("follow-symlinks", "follow-symlinks"),
        ("help", "h"),
        ("in-place=?", "i"),
        ("line-length=", "l"),
        ("null-data", "z"),
        ("posix", "posix"),
        ("quiet", "n"),
        ("regexp-extended", "E"),
        ("sandbox", "sandbox"),
        ("separate", "s"),
        ("silent", "n"),
        ("unbuffered", "u"),
        ("version", "version"),
        ("zero-terminated", "z"),
    ],
    stops: false,
    last: "",
};

impl Analyser<'_> {
    /// Judges a call of `sed`.
    pub(super) fn sed(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &OPTIONS, all.get(1..).unwrap_or_default());
        let mut scripts: Vec<&ShellWord> = parsed.values("e").collect();
        let mut files = &*parsed.operands;
        if scripts.is_empty() && !parsed.has("f") {
            let Some((script, rest)) = files.split_first() else { return };
            scripts.push(script);
            files = rest;
        }
        for file in parsed.values("f") {
            self.exact_script(call, file, read_sed);
        }
        // In a sandbox sed refuses what runs or opens anything.
        if !parsed.has("sandbox") {
            self.sed_scripts(call, &scripts, parsed.has("f"));
        }
        let is_in_place = parsed.has("i");
        for file in files {
            if is_in_place {
                self.write_path(call.index, file, call.context);
            } else {
                self.read_path(call.index, file, call.context);
            }
        }
        for suffix in parsed.values("i") {
            self.copies_in_place(call, suffix, files);
        }
    }

    /// Judges the copies that `sed -i SUFFIX` leaves: `*` in the suffix stands for the name of the file.
    fn copies_in_place(&mut self, call: ExactCall<'_>, suffix: &ShellWord, files: &[ShellWord]) {
        let text = suffix.text().filter(|text| !text.contains(['*', '/']));
        let Some(text) = text else {
            let what = "`sed -i` writes copies in a place that is not known";
            self.finding(
                call.index,
                GuardClass::WriteOutside,
                what,
                call.span(suffix),
                Some(WayOut::NamePath),
            );
            return;
        };
        for file in files {
            let mut copy = file.clone();
            copy.pieces.extend(ShellWord::known(&*text, file.span).pieces);
            self.write_path(call.index, &copy, call.context);
        }
    }

    /// Judges the parts of a script, which sed reads as lines of one text.
    fn sed_scripts(&mut self, call: ExactCall<'_>, scripts: &[&ShellWord], has_files: bool) {
        let [first, further @ ..] = scripts else { return };
        if further.is_empty() && !has_files {
            self.exact_text(call, first, read_sed);
            return;
        }
        let continues = |word: &&&ShellWord| {
            let text = shell_words::with_digits(word);
            text.is_none_or(|text| has_files && text.ends_with('\\'))
        };
        if let Some(word) = scripts.iter().find(continues) {
            self.not_exact(
                call,
                "a part of the script is not known, or may go on in a file",
                call.span(word),
            );
            return;
        }
        let mut whole = String::new();
        for script in scripts {
            whole += &shell_words::with_digits(script).unwrap_or_default();
            whole.push('\n');
        }
        let span = super::programs::whole_span(
            &further.iter().chain([first]).map(|word| (*word).clone()).collect::<Vec<_>>(),
        );
        self.exact_text(call, &ShellWord::known(whole, call.context.span.unwrap_or(span)), read_sed);
    }
}
