//! Builtins of the shell, and effects of the shell that are not known.

use ccm_shell::{DoubtKind, ShellCommand, ShellReading, ShellWord, UnknownOrigin, WordPiece};

use super::{Analyser, CommandContext, downloads};
use crate::analysis::WayOut;
use crate::effect::{CodeSource, Effect};
use crate::guard_class::GuardClass;
use crate::tables;

impl Analyser<'_> {
    /// Judges a builtin.
    pub(super) fn builtin(
        &mut self,
        words: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> Option<usize> {
        let name = words.first().and_then(ShellWord::text)?;
        let span = super::programs::whole_span(words);
        let index = self.push(words, None, span, context)?;
        match &*name {
            "." | "source" => {
                if let Some(file) = words.get(1) {
                    self.script(index, file, "the shell", commands, context);
                }
                self.finding(
                    index,
                    GuardClass::Eval,
                    format!("`{name}` runs a file in this shell"),
                    span,
                    Some(WayOut::SaveCode),
                );
            }
            "cd" | "pushd" => {
                let target = words.iter().skip(1).find(|word| !word.known_prefix().starts_with('-'));
                if let Some(target) = target {
                    self.enter_directory(index, target, context);
                } else if name == "cd"
                    && let Some(home) = self.request.variable("HOME")
                {
                    let home = ShellWord::known(home, span);
                    self.enter_directory(index, &home, context);
                }
            }
            "exit" | "eval" | "trap" | "exec" => {}
            _ => {
                if let Some(entry) = tables::find(&name) {
                    self.entry(index, entry, words, commands, context);
                }
            }
        }
        Some(index)
    }

    /// Judges effects of the shell that are not known.
    pub(super) fn doubts(
        &mut self,
        index: usize,
        command: &ShellCommand,
        reading: &ShellReading,
        context: &CommandContext,
    ) {
        for doubt in &command.doubts {
            let span = context.span.unwrap_or(doubt.span);
            let (class, what, way_out) = match doubt.kind {
                DoubtKind::SourcedFile => continue,
                DoubtKind::Arithmetic
                    if doubt
                        .output
                        .as_ref()
                        .is_some_and(|range| self.prints_number(range, reading, context)) =>
                {
                    continue;
                }
                DoubtKind::Arithmetic => {
                    (GuardClass::Eval, "a value that is not known is evaluated, which can run commands", None)
                }
                DoubtKind::Code => {
                    let is_download = sources_of(command)
                        .flat_map(ShellWord::sources)
                        .any(|range| downloads(&reading.commands, range));
                    if is_download {
                        self.effect(index, Effect::code(CodeSource::Pipe, None));
                        (GuardClass::CodePipe, "a download is run", Some(WayOut::SaveCode))
                    } else {
                        let shown = sources_of(command).find(|word| word.text().is_none()).cloned();
                        let word = shown.unwrap_or_else(|| ShellWord::known("eval", span));
                        self.unknown_origin(index, &word);
                        self.effect(index, Effect::code(CodeSource::Unknown, None));
                        (GuardClass::Eval, "a text that is not known is run", Some(WayOut::SaveCode))
                    }
                }
                DoubtKind::VariableName => {
                    (GuardClass::Eval, "a variable is set whose name is not known", None)
                }
                DoubtKind::ShellOption => (
                    GuardClass::Eval,
                    "an option changes how the shell reads what follows",
                    Some(WayOut::DropOption),
                ),
                DoubtKind::Renamed => {
                    (GuardClass::ProgramUnknown, "a name gets another meaning", Some(WayOut::NameProgram))
                }
                DoubtKind::ExportedFunction => (
                    GuardClass::Variables,
                    "a function is passed on to other shells",
                    Some(WayOut::DropOption),
                ),
                DoubtKind::ForkBomb => (GuardClass::ForkBomb, "a function starts itself over and over", None),
            };
            self.finding(index, class, what, span, way_out);
        }
    }

    /// Returns `true` if a word holds what commands print, and one of these fetches from another machine.
    pub(super) fn is_download(word: &ShellWord, commands: &[ShellCommand]) -> bool {
        word.pieces.iter().any(|piece| match piece {
            WordPiece::Unknown {
                origin:
                    UnknownOrigin::Output(range)
                    | UnknownOrigin::Process(range)
                    | UnknownOrigin::Stored { range, .. },
                ..
            } => downloads(commands, range.clone()),
            _ => false,
        })
    }
}

/// Returns the words and values of a command.
fn sources_of(command: &ShellCommand) -> impl Iterator<Item = &ShellWord> {
    command.words.iter().chain(command.assignments.iter().filter_map(|assignment| assignment.value.as_ref()))
}
