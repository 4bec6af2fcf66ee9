//! Origins of the code that a command runs: files and directories that are known, and what is not known.

use ccm_shell::{ShellWord, join_path};

use super::exact::ExactCall;
use super::{Analyser, CommandContext, paths, shell_words};
use crate::analysis::{CodeOrigin, CodePlace};

/// Variables whose value names files, directories of modules, or options that name them.
const VARIABLES: [&str; 20] = [
    "AWKPATH",
    "BASH_ENV",
    "CLASSPATH",
    "ENV",
    "GNUMAKEFLAGS",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MAKEFILES",
    "MAKEFLAGS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "VIMRUNTIME",
];

impl Analyser<'_> {
    /// Records an origin of code.
    pub(super) fn code_origin(&mut self, index: usize, place: CodePlace, word: &ShellWord) {
        let origin = CodeOrigin { place, word: shell_words::shown(word).shown };
        if let Some(command) = self.analysis.commands.get_mut(index)
            && !command.code_origins.contains(&origin)
        {
            self.effects += 1;
            command.code_origins.push(origin);
        }
    }

    /// Records code whose place is not known.
    pub(super) fn unknown_origin(&mut self, index: usize, word: &ShellWord) {
        self.code_origin(index, CodePlace::Unknown, word);
    }

    /// Records the file that a word names as an origin of code.
    pub(super) fn origin_of_word(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        for place in places(word, context) {
            self.code_origin(index, place, word);
        }
    }

    /// Records files that an interpreter looks up by a name in the working directory: with each of these endings.
    pub(super) fn origins_by_name(
        &mut self,
        call: ExactCall<'_>,
        word: &ShellWord,
        name: &str,
        endings: &[&str],
    ) {
        if call.context.directories.is_unknown && !name.starts_with('/') {
            self.unknown_origin(call.index, word);
        }
        for directory in &call.context.directories.paths {
            for ending in endings {
                let place = CodePlace::Path(join_path(directory, &format!("{name}{ending}")));
                self.code_origin(call.index, place, word);
            }
        }
    }

    /// Records the files of a variable through which programs find code.
    pub(super) fn origin_of_variable(
        &mut self,
        index: usize,
        name: &str,
        value: Option<&ShellWord>,
        context: &CommandContext,
    ) {
        let Some(value) = value else { return };
        if super::variable_names::starts_program(name) && value.text().is_none() {
            self.unknown_origin(index, value);
        }
        if !VARIABLES.contains(&name) {
            return;
        }
        let Some(text) = value.text() else { return self.unknown_origin(index, value) };
        let names_files =
            matches!(name, "BASH_ENV" | "ENV") || name.ends_with("PATH") || name.ends_with("LIB");
        for part in text.split([':', ' ', '=', ',']).filter(|part| !part.is_empty()) {
            // `-I.` and `-r./a` have their value attached.
            let part = part.strip_prefix('-').map_or(part, |option| option.get(1..).unwrap_or_default());
            if names_files || part.contains('/') || part.starts_with('.') {
                let endings: &[&str] = match name {
                    "NODE_OPTIONS" => &["", ".js", ".json", ".cjs", ".mjs"],
                    "RUBYOPT" => &["", ".rb"],
                    _ => &[""],
                };
                for ending in endings {
                    let file = ShellWord::known(format!("{part}{ending}"), value.span);
                    self.origin_of_word(index, &file, context);
                }
            }
        }
    }
}

/// Returns the places of a file that a word names.
fn places(word: &ShellWord, context: &CommandContext) -> Vec<CodePlace> {
    let Some(words) = shell_words::listed_words(word) else { return vec![CodePlace::Unknown] };
    let paths = words.iter().flat_map(|word| paths::resolve(word, &context.directories));
    paths
        .map(|path| match path.path {
            Some(known) if !path.is_partial && path.is_pattern => CodePlace::Below(known),
            Some(known) if !path.is_partial => CodePlace::Path(known),
            _ => CodePlace::Unknown,
        })
        .collect()
}
