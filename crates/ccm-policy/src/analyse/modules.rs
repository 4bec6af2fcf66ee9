//! Modules and directories of modules that interpreters load.

use ccm_shell::{ShellWord, join_path};

use super::exact::ExactCall;
use super::{Analyser, paths, shell_words};
use crate::analysis::WayOut;
use crate::effect::{CodeSource, Effect};
use crate::guard_class::GuardClass;
use crate::lookup::LookupPathKind;

impl Analyser<'_> {
    /// Judges a module that is loaded by its name, unless the module is known to be harmless.
    pub(super) fn module(&mut self, call: ExactCall<'_>, word: &ShellWord, harmless: &[&str]) {
        let text = word.text();
        if text.as_deref().is_some_and(|name| harmless.contains(&name)) {
            return;
        }
        if text.is_none() {
            self.unknown_origin(call.index, word);
        }
        self.effect(call.index, Effect::code(CodeSource::Inline, Some(call.name.to_owned())));
        let shown = shell_words::shown(word).shown;
        let what = format!("`{}` loads `{shown}`, of which ccm does not know what it runs", call.name);
        self.finding(call.index, GuardClass::CodeInline, what, call.span(word), Some(WayOut::SaveCode));
    }

    /// Judges a directory in which an interpreter looks up modules.
    pub(super) fn module_directory(&mut self, call: ExactCall<'_>, word: &ShellWord) {
        self.read_path(call.index, word, call.context);
        self.origin_of_word(call.index, word, call.context);
        for resolved in paths::resolve(word, &call.context.directories) {
            let is_inside = resolved.path.as_deref().is_some_and(|path| self.is_inside(path));
            if !is_inside {
                let shown = shell_words::shown(word).shown;
                let what = format!("`{}` looks up modules in {shown}, outside the workspace", call.name);
                let way = Some(WayOut::StayInWorkspace);
                self.finding(call.index, GuardClass::CodeOutside, what, call.span(word), way);
            }
        }
    }

    /// Judges a directory that a web server shows to others.
    pub(super) fn served(&mut self, call: ExactCall<'_>, word: &ShellWord) {
        self.read_path(call.index, word, call.context);
        self.everything_read_below(call.index, word, call.context);
        for resolved in paths::resolve(word, &call.context.directories) {
            if resolved.path.as_deref().is_none_or(|path| !self.is_inside(path)) {
                let what = format!("`{}` shows others what is outside the workspace", call.name);
                let way = Some(WayOut::StayInWorkspace);
                self.finding(call.index, GuardClass::Remote, what, call.span(word), way);
            }
        }
    }

    /// Judges a directory whose files an interpreter runs when a client asks for them.
    pub(super) fn script_directory(&mut self, call: ExactCall<'_>, word: &ShellWord) {
        for resolved in paths::resolve(word, &call.context.directories) {
            if resolved.path.as_deref().is_none_or(|path| !self.is_inside(path)) {
                self.effect(call.index, Effect::code(CodeSource::File, resolved.path));
                let what = format!("`{}` runs files outside the workspace", call.name);
                let way = Some(WayOut::StayInWorkspace);
                self.finding(call.index, GuardClass::CodeOutside, what, call.span(word), way);
            }
        }
    }

    /// Returns `true` if the working directory lies in the workspace and has a file or directory of this name.
    pub(super) fn is_in_directory(&self, call: ExactCall<'_>, name: &str) -> bool {
        let Some(directory) = call.context.directories.only() else { return false };
        let path = join_path(directory, name);
        self.is_inside(&path) && self.lookup.path_kind(&path) != LookupPathKind::Missing
    }

    /// Judges the first operand as a script and the others as its arguments; without operands, code from standard input.
    pub(super) fn script_operands(&mut self, call: ExactCall<'_>, operands: &[ShellWord]) {
        match operands.split_first() {
            Some((script, rest)) => {
                self.script(call.index, script, call.name, call.commands, call.context);
                for word in rest {
                    self.maybe_path(call.index, word, call.context);
                }
            }
            None => self.code_from_input(call.index, call.name, call.commands, call.context),
        }
    }

    pub(super) fn inline_codes<'w>(
        &mut self,
        call: ExactCall<'_>,
        codes: impl Iterator<Item = &'w ShellWord>,
    ) {
        for code in codes {
            self.inline_code(call.index, call.name, code, call.span(code));
        }
    }

    /// Judges an option that changes what an interpreter runs.
    pub(super) fn code_option(&mut self, call: ExactCall<'_>, option: &str) {
        let what = format!("`{option}` of `{}` changes what runs", call.name);
        self.finding(call.index, GuardClass::Options, what, self.span(call.index), Some(WayOut::DropOption));
    }
}
