//! `make`: variables that become parts of recipes.

use ccm_shell::{
    ShellBudget, ShellCommand, ShellContext, ShellDialect, ShellWord, UnknownOrigin, WordPiece,
    read as read_shell,
};

use super::exact::ExactCall;
use super::{Analyser, CommandInput, shell_words};
use crate::analysis::{FindingOrigin, WayOut};
use crate::grammars::{MakePiece, OptionGrammar, read_make};
use crate::guard_class::GuardClass;
use crate::tables;

/// Options of GNU make.
const OPTIONS: OptionGrammar = OptionGrammar {
    letters: "bmBdeikLnpqrRsStvwhC:f:I:o:W:E:j::l::O::",
    names: &[
        ("always-make", "B"),
        ("assume-new=", "W"),
        ("assume-old=", "o"),
        ("check-symlink-times", "L"),
        ("debug=?", "d"),
        ("directory=", "C"),
        ("dry-run", "n"),
        ("environment-overrides", "e"),
        ("eval=", "E"),
        ("file=", "f"),
        ("help", "h"),
        ("ignore-errors", "i"),
        ("include-dir=", "I"),
        ("jobs=?", "j"),
        ("just-print", "n"),
        ("keep-going", "k"),
        ("load-average=?", "l"),
        ("makefile=", "f"),
        ("max-load=?", "l"),
        ("new-file=", "W"),
        ("no-builtin-rules", "r"),
        ("no-builtin-variables", "R"),
        ("no-keep-going", "S"),
        ("no-print-directory", "no-print-directory"),
        ("no-silent", "no-silent"),
        ("old-file=", "o"),
        ("output-sync=?", "O"),
        ("print-data-base", "p"),
        ("print-directory", "w"),
        ("question", "q"),
        ("quiet", "s"),
        ("recon", "n"),
        ("shuffle=?", "shuffle"),
        ("silent", "s"),
        ("stop", "S"),
        ("touch", "t"),
        ("trace", "trace"),
        ("version", "v"),
        ("warn-undefined-variables", "warn-undefined-variables"),
        ("what-if=", "W"),
    ],
    stops: false,
    last: "",
};

/// Options that mean the same for every make.
const COMMON: &str = "fCjknsi";

/// Variables whose values are commands in the rules that make has by itself, and in most makefiles.
const COMMANDS: [&str; 29] = [
    "AR", "AS", "CC", "CO", "CPP", "CTANGLE", "CWEAVE", "CXX", "F77", "FC", "GET", "INSTALL", "LD", "LEX",
    "LINT", "LN", "M2C", "MAKE", "MAKEINFO", "MV", "OBJC", "PC", "RM", "TANGLE", "TEX", "TEXI2DVI", "WEAVE",
    "YACC", "RANLIB",
];

/// Characters that a shell reads as more than a part of a word.
const SHELL_CHARACTERS: [char; 9] = [';', '&', '|', '<', '>', '(', ')', '`', '\n'];

/// Characters of a shell whose meaning depends on where a recipe uses the value.
const QUOTES: [char; 4] = ['"', '\'', '\\', '$'];

impl Analyser<'_> {
    /// Judges a call of `make`.
    pub(super) fn make(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &OPTIONS, all.get(1..).unwrap_or_default());
        let mut context = call.context.clone();
        if !matches!(call.name, "make" | "gmake")
            && let Some(option) = parsed.options.iter().find(|option| !COMMON.contains(&*option.name))
        {
            self.unlisted_option(call, &format!("-{}", option.name));
        }
        for directory in parsed.values("C") {
            self.directory_effect(call.index, directory, &context);
            context.directories = self.enter_directory(call.index, directory, &context);
        }
        let call = ExactCall { context: &context, ..call };
        for file in parsed.values("f") {
            let is_input = matches!(file.text().as_deref(), Some("-" | "/dev/stdin"));
            match &context.input {
                CommandInput::Text(text) if is_input => self.makefile_text(call, &text.clone()),
                _ => self.script(call.index, file, call.name, call.commands, &context),
            }
        }
        for directory in parsed.values("I") {
            self.module_directory(call, directory);
        }
        for text in parsed.values("E") {
            self.makefile_text(call, text);
        }
        if !parsed.has("f") {
            self.makefile_of_directory(call);
        }
        let (settings, goals): (Vec<&ShellWord>, Vec<&ShellWord>) =
            parsed.operands.iter().partition(|word| shell_words::with_placeholders(word).contains('='));
        for setting in settings {
            self.make_setting(call, setting);
        }
        if parsed.has("t") {
            for goal in goals {
                self.write_path(call.index, goal, &context);
            }
        }
    }

    /// Judges the makefile that make finds by itself.
    fn makefile_of_directory(&mut self, call: ExactCall<'_>) {
        self.code_of_directory(call.index, call.name, call.context, "runs the makefile of its directory");
    }

    /// Judges the text of `--eval`, a part of a makefile: what `$(shell …)` and recipes run.
    fn makefile_text(&mut self, call: ExactCall<'_>, word: &ShellWord) {
        let span = call.span(word);
        self.not_exact(call, "a part of a makefile", span);
        let Some(text) = word.text() else { return };
        for line in text.lines() {
            let recipe = line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
            let pieces = read_make(recipe.unwrap_or(line));
            let Ok(pieces) = pieces else { continue };
            self.shell_pieces(call, &pieces, word);
            if recipe.is_some() {
                let text = joined(&pieces, span);
                self.shell_text(call.index, &text, ShellDialect::Sh, call.commands, call.context);
            }
        }
    }

    /// Judges `NAME=VALUE` among the words of make, with every operator.
    fn make_setting(&mut self, call: ExactCall<'_>, word: &ShellWord) {
        let prefix = word.known_prefix();
        let Some((before, _)) = prefix.split_once('=') else {
            self.not_exact(call, "the name of a variable is not known", call.span(word));
            return;
        };
        let value = shell_words::without_prefix(word, before.len() + 1);
        let name = before.trim_end_matches([':', '+', '?', '!']).trim_matches([' ', '\t']);
        let span = call.span(word);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if !name.chars().all(is_name) {
            self.not_exact(call, &format!("the name of the variable `{name}` is computed"), span);
        }
        if before.ends_with('!') {
            self.shell_text(call.index, &value, ShellDialect::Sh, call.commands, call.context);
        }
        self.variable(call.index, name, Some(&value), span, Some(call.name), call.context);
        if super::interpreter_variables::is_loaded(name) {
            self.code_option(call, name);
        }
        if name == ".SHELLFLAGS" && value.text().as_deref() != Some("-c") {
            let what = "the variable .SHELLFLAGS changes how recipes are run";
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
        }
        if let Some(command) = self.analysis.commands.get_mut(call.index) {
            command.variables.push(name.to_owned());
        }
        self.make_value(call, name, &value);
    }

    /// Judges a variable that a program gets: `inner` are the words of the program.
    pub(super) fn set_variable(
        &mut self,
        call: ExactCall<'_>,
        name: &str,
        value: &ShellWord,
        inner: &[ShellWord],
    ) {
        let program = inner.first().and_then(ShellWord::text);
        self.with_origin(FindingOrigin::Variable, |analyser| {
            let span = call.span(value);
            analyser.variable(call.index, name, Some(value), span, program.as_deref(), call.context);
        });
        if let Some(command) = self.analysis.commands.get_mut(call.index) {
            command.variables.push(name.to_owned());
        }
        self.with_origin(FindingOrigin::Variable, |analyser| {
            analyser.variable_of_make(call, name, value, program.as_deref());
        });
    }

    /// Judges a variable of the environment, which make takes over.
    pub(super) fn variable_of_make(
        &mut self,
        call: ExactCall<'_>,
        name: &str,
        value: &ShellWord,
        program: Option<&str>,
    ) {
        if super::interpreter_variables::is_loaded(name) && value.text().is_none_or(|value| !value.is_empty())
        {
            let what = format!("the variable {name} names code that is loaded, or options that run code");
            self.finding(call.index, GuardClass::Variables, what, call.span(value), Some(WayOut::DropOption));
        }
        let base = program.map(|program| program.rsplit('/').next().unwrap_or_default());
        let is_make = base.is_some_and(|base| {
            tables::find(base).is_some_and(|entry| entry.handler.as_deref() == Some("make"))
        });
        if is_make || COMMANDS.contains(&name) {
            self.make_value(call, name, value);
        }
    }

    /// Judges the value of a variable, which recipes use as commands or as parts of them.
    fn make_value(&mut self, call: ExactCall<'_>, name: &str, value: &ShellWord) {
        let Some(text) = value.text() else { return };
        let span = call.span(value);
        let pieces = match read_make(&text) {
            Ok(pieces) => pieces,
            Err(reason) => {
                self.not_exact(call, &format!("the value of {name} has {reason}"), span);
                return;
            }
        };
        self.shell_pieces(call, &pieces, value);
        let word = joined(&pieces, span);
        let Some(text) = word.text() else {
            let is_output = pieces.iter().any(|piece| matches!(piece, MakePiece::Shell(_)));
            let known = shell_words::with_placeholders(&word);
            if COMMANDS.contains(&name)
                || is_output
                || known.contains(SHELL_CHARACTERS)
                || known.contains(QUOTES)
            {
                self.not_exact(call, &format!("the value of {name} is computed"), span);
            }
            return;
        };
        if text.contains(QUOTES) {
            // What the quotes quote depends on the recipe.
            self.not_exact(call, &format!("the value of {name} has quotes"), span);
            return;
        }
        // What stands in front of a line of a recipe.
        let text = text.trim_start_matches(['@', '-', '+', ' ', '\t']);
        let word = ShellWord::known(text, span);
        let has_commands = text.contains(SHELL_CHARACTERS);
        if !has_commands && !self.may_be_command(call, name, text) {
            return;
        }
        let shell = ShellContext { directory: "/", variables: Vec::new() };
        let mut budget = ShellBudget::default();
        if read_shell(text, ShellDialect::Sh, &shell, &mut budget).is_ok() {
            self.shell_text(call.index, &word, ShellDialect::Sh, call.commands, call.context);
        } else {
            self.not_exact(call, &format!("the value of {name} is a part of a command"), span);
        }
    }

    /// Returns `true` if the first word of a value names a program.
    fn may_be_command(&self, call: ExactCall<'_>, name: &str, text: &str) -> bool {
        let Some(first) = text.split_ascii_whitespace().next() else { return false };
        let base = first.rsplit('/').next().unwrap_or_default();
        let is_listed = !first.contains('/') && tables::find(base).is_some_and(|entry| !entry.is_word);
        COMMANDS.contains(&name) || is_listed || self.locate(first, call.context).is_some()
    }

    /// Judges the texts that make runs to compute a value.
    fn shell_pieces(&mut self, call: ExactCall<'_>, pieces: &[MakePiece], word: &ShellWord) {
        for piece in pieces {
            if let MakePiece::Shell(inner) = piece {
                self.shell_pieces(call, inner, word);
                let text = joined(inner, call.span(word));
                self.shell_text(call.index, &text, ShellDialect::Sh, call.commands, call.context);
            }
        }
    }
}

/// Returns `true` if a command may start make, by itself or in a text for another shell.
pub(super) fn names_make(commands: &[ShellCommand]) -> bool {
    let mut words = commands.iter().flat_map(|command| &command.words);
    words.any(|word| shell_words::with_placeholders(word).contains("make"))
}

/// Returns a word of the parts of a value.
fn joined(pieces: &[MakePiece], span: ccm_shell::ShellSpan) -> ShellWord {
    let piece = |piece: &MakePiece| match piece {
        MakePiece::Text(text) => WordPiece::Text { text: text.clone(), is_quoted: true },
        MakePiece::Shell(_) | MakePiece::Unknown => {
            WordPiece::Unknown { origin: UnknownOrigin::Variable("(…)".to_owned()), is_many: true }
        }
    };
    ShellWord { pieces: pieces.iter().map(piece).collect(), span }
}
