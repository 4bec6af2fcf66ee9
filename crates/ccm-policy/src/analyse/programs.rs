//! Programs: where they lie, and what follows a program that is not known.

use ccm_shell::{ShellCommand, ShellSearchPath, ShellSpan, ShellWord, join_path};

use super::entries::Call;
use super::program_names::{self, CopiedProgram};
use super::{Analyser, CommandContext, CommandInput};
use crate::analysis::{AnalysedWord, FindingOrigin, ProgramReference, WayOut};
use crate::effect::{CodeSource, Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::lookup::ProgramLocation;
use crate::tables;
use crate::verdict::PolicyVerdict;

/// Directories of programs of the system.
const PROGRAM_DIRECTORIES: [&str; 10] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/usr/lib/",
    "/usr/libexec/",
    "/lib/",
    "/nix/store/",
];

impl Analyser<'_> {
    /// Judges a program and its arguments.
    pub(super) fn program(
        &mut self,
        words: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> Option<usize> {
        let before = std::mem::take(&mut self.origin);
        let index = self.called_program(words, commands, context);
        self.origin = before;
        index
    }

    fn called_program(
        &mut self,
        words: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> Option<usize> {
        let context = &self.nested(context)?;
        let first = words.first()?;
        let span = context.span.unwrap_or_else(|| whole_span(words));
        let name = first.text().filter(|_| !first.is_many());
        let mut location = name.as_deref().and_then(|name| self.locate(name, context));
        let copied = name.as_deref().and_then(|name| match &location {
            Some(location) if location.is_trusted => None,
            _ => self.copied_program(name, context),
        });
        if let (Some(CopiedProgram::Known(source)), Some(name)) = (&copied, &name) {
            let path = location.map_or_else(|| name.clone().into_owned(), |location| location.path);
            location = Some(ProgramLocation { path, canonical: source.clone(), is_trusted: false });
        }
        let known_name = name.as_deref().filter(|_| copied != Some(CopiedProgram::Unknown));
        let reference = ProgramReference { name: known_name.map(str::to_owned), location: location.clone() };
        let index = self.push(words, Some(reference), span, context)?;
        let Some(name) = name else {
            // The words behind a program that is not known may be no command.
            if context.at_most.is_none() {
                self.origin_of_word(index, first, context);
            }
            self.effect(index, Effect::new(EffectKind::Run, None));
            let what = format!("the program `{}` is not known", super::shell_words::shown(first).shown);
            let (class, way_out) = if Self::is_download(first, commands) {
                (GuardClass::CodePipe, WayOut::SaveCode)
            } else {
                (GuardClass::ProgramUnknown, WayOut::NameProgram)
            };
            self.finding(index, class, what, first.span, Some(way_out));
            self.plain_operands(index, words);
            self.suspected(index, words, commands, context);
            self.cap(index, context);
            return Some(index);
        };
        self.effect(index, Effect::new(EffectKind::Run, Some(name.clone().into_owned())));
        if location.is_none() && name.contains('/') {
            self.origin_of_word(index, first, context);
        }
        let is_foreign = self.with_origin(FindingOrigin::Location, |analyser| {
            analyser.judge_location(index, &name, location.as_ref(), first.span, context)
        });
        let base = name.rsplit('/').next().unwrap_or_default();
        if *context.search_path == ShellSearchPath::Unknown && !name.contains('/') {
            let what = format!("`{base}` is looked up on a search path that is not known");
            self.with_origin(FindingOrigin::Location, |analyser| {
                let way = Some(WayOut::NameProgram);
                analyser.finding(index, GuardClass::ProgramUnknown, what, first.span, way);
            });
        }
        if let Some(copied) = &copied {
            self.is_copy(index, copied, first, base);
        }
        let own = program_names::behind_link(base, location.as_ref());
        if let Some((own, entry)) = own {
            let mut words = words.to_vec();
            if let Some(first) = words.first_mut() {
                *first = ShellWord::known(own, first.span);
            }
            self.entry(index, entry, &words, commands, context);
        }
        if let Some(entry) = tables::find(base) {
            self.entry(index, entry, words, commands, context);
            if is_foreign {
                self.suspected(index, words, commands, context);
            }
        } else if own.is_none() {
            self.unknown_program(index, words, context);
            if !is_foreign {
                self.unlisted_program(index, base, words, context);
            }
            self.suspected(index, words, commands, context);
        }
        self.git_program(index, base, words, commands, context);
        self.cap(index, context);
        Some(index)
    }

    /// Judges `git-push` as `git push`.
    fn git_program(
        &mut self,
        index: usize,
        base: &str,
        words: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let Some(subcommand) = base.strip_prefix("git-").filter(|name| !name.is_empty()) else { return };
        let is_own = tables::find("git").is_some_and(|git| git.subcommand(subcommand).is_some());
        if let Some(first) = words.first().filter(|_| is_own) {
            let names = ["git", subcommand].map(|name| ShellWord::known(name, first.span));
            let words: Vec<ShellWord> = names.into_iter().chain(words.iter().skip(1).cloned()).collect();
            self.program(&words, commands, &context.within(index));
        }
    }

    pub(super) fn locate(&self, name: &str, context: &CommandContext) -> Option<ProgramLocation> {
        let search_path = match &*context.search_path {
            ShellSearchPath::Initial => {
                self.request.variable("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin")
            }
            ShellSearchPath::Path(path) => path,
            ShellSearchPath::Unknown => "",
        };
        let directory = context.directories.only().unwrap_or("/");
        if name.contains('/') && !name.starts_with('/') && context.directories.only().is_none() {
            return None;
        }
        self.lookup.find_program(name, search_path, directory)
    }

    /// Judges where a program lies. Returns `true` if it is none of the system.
    fn judge_location(
        &mut self,
        index: usize,
        name: &str,
        location: Option<&ProgramLocation>,
        span: ShellSpan,
        context: &CommandContext,
    ) -> bool {
        let path = match location {
            Some(location) if location.is_trusted => return false,
            Some(location) => location.canonical.clone(),
            None if !name.contains('/') => return false,
            None if name.starts_with('/') => join_path("/", name),
            None => {
                let Some(directory) = context.directories.only() else {
                    let what = format!("`{name}` is run in a directory that is not known");
                    self.finding(index, GuardClass::CodeOutside, what, span, Some(WayOut::NameProgram));
                    return true;
                };
                join_path(directory, name)
            }
        };
        if self.is_downloaded(&path) {
            self.code_from_pipe(index, name, span);
        }
        if self.is_inside(&path) {
            return true;
        }
        if location.is_none() && PROGRAM_DIRECTORIES.iter().any(|directory| path.starts_with(directory)) {
            return false;
        }
        let what = format!("{path} lies outside the workspace, and is no program of the system");
        self.effect(index, Effect::code(CodeSource::File, Some(path)));
        self.finding(index, GuardClass::CodeOutside, what.clone(), span, Some(WayOut::StayInWorkspace));
        if self.is_restricted {
            self.finding(index, GuardClass::OutsideWorkspace, what, span, Some(WayOut::StayInWorkspace));
        }
        true
    }

    /// Judges the arguments of a program without an entry.
    fn unknown_program(&mut self, index: usize, words: &[ShellWord], context: &CommandContext) {
        self.plain_operands(index, words);
        for word in words.iter().skip(1) {
            self.maybe_path(index, word, context);
        }
    }

    /// Reports the arguments of a program of the system without an entry. A program of the workspace may do whatever it
    /// does without any argument as well.
    fn unlisted_program(&mut self, index: usize, name: &str, words: &[ShellWord], context: &CommandContext) {
        let reports = |word: &ShellWord| matches!(word.text().as_deref(), Some("--help" | "--version"));
        // Without a word, it may run what it reads.
        let reads =
            matches!(context.input, CommandInput::Pipe(_) | CommandInput::Text(_) | CommandInput::File(_));
        let has_words = words.len() > 1 && !matches!(words, [_, only] if reports(only));
        if has_words || words.len() == 1 && reads {
            let what = format!("the tables do not list `{name}`, so that its effects are not known");
            self.finding(index, GuardClass::OptionUnknown, what, self.span(index), Some(WayOut::AskOperator));
        }
    }

    /// Records operands and options of a program whose options are not known.
    fn plain_operands(&mut self, index: usize, words: &[ShellWord]) {
        let Some(command) = self.analysis.commands.get_mut(index) else { return };
        for word in words.iter().skip(1) {
            let shown = super::shell_words::shown(word);
            if shown.shown.len() > 1 && shown.shown.starts_with('-') {
                let (name, value) = match shown.shown.split_once('=') {
                    Some((name, value)) => {
                        let value = AnalysedWord { shown: value.to_owned(), is_known: shown.is_known };
                        (name.to_owned(), Some(value))
                    }
                    None => (shown.shown, None),
                };
                command.options.push(crate::AnalysedOption { name, other_names: Vec::new(), value });
            } else {
                command.operands.push(shown);
            }
        }
    }

    /// Judges what stands behind each word as a command: the program may run its arguments.
    fn suspected(
        &mut self,
        index: usize,
        words: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        const MAX_WORDS: usize = 12;
        if context.at_most.is_some() {
            return;
        }
        for (position, word) in words.iter().enumerate().skip(1).take(MAX_WORDS) {
            let Some(name) = word.text() else { continue };
            let base = name.rsplit('/').next().unwrap_or_default();
            let may_be_program = !name.contains('/') || name.contains("bin/");
            if !may_be_program || tables::find(base).is_none_or(|entry| entry.is_word) {
                continue;
            }
            let before = self.analysis.commands.len();
            let context = CommandContext { at_most: Some(PolicyVerdict::Ask), ..context.within(index) };
            self.program(words.get(position..).unwrap_or_default(), commands, &context);
            let is_harmless =
                self.analysis.commands.iter().skip(before).all(|command| command.findings.is_empty());
            if is_harmless {
                self.analysis.commands.truncate(before);
            } else {
                // What stands behind the words of this command was judged with it.
                break;
            }
        }
    }

    /// Judges the name of a script of a project, which is that of a program if there is no such script.
    pub(super) fn script_or_program(&mut self, call: &Call<'_>) {
        let mut words = call.operands.to_vec();
        if call.name != "bun" {
            // The name is that of the subcommand.
            let Some(name) = call.action.split(' ').next_back().filter(|name| !name.is_empty()) else {
                return;
            };
            words.insert(0, ShellWord::known(name, self.span(call.index)));
        }
        let name = words.first().and_then(ShellWord::text);
        let Some(base) = name.as_deref().map(|name| name.rsplit('/').next().unwrap_or_default()) else {
            return;
        };
        let is_program = tables::find(base).is_some_and(|entry| !entry.is_word);
        let most = if is_program { PolicyVerdict::Deny } else { PolicyVerdict::Allow };
        let context = CommandContext { at_most: Some(most), ..call.context.within(call.index) };
        self.program(&words, call.commands, &context);
    }

    /// Marks findings of a command that may be none.
    pub(super) fn cap(&mut self, index: usize, context: &CommandContext) {
        if let (Some(most), Some(command)) = (context.at_most, self.analysis.commands.get_mut(index)) {
            for finding in &mut command.findings {
                finding.at_most = Some(most);
            }
        }
    }
}

/// Returns the span of all words.
pub(super) fn whole_span(words: &[ShellWord]) -> ShellSpan {
    let first = words.first().map_or_else(ShellSpan::default, |word| word.span);
    words.iter().fold(first, |span, word| span.to(word.span))
}
