//! Commands, effects and findings of an analysis.

use ccm_shell::{ShellDirectories, ShellSpan, ShellWord, join_path};

use super::{Analyser, CommandContext, paths, shell_words};
use crate::analysis::{
    AnalysedCommand, FindingOrigin, GuardFinding, ProgramReference, UnreadableRequest, WayOut, WorkingPlace,
};
use crate::effect::Effect;
use crate::guard_class::GuardClass;

/// Maximum number of findings of a command, apart from the first of each class.
const MAX_FINDINGS: usize = 64;

impl Analyser<'_> {
    /// Judges a part of a command.
    pub(super) fn with_origin<R>(&mut self, origin: FindingOrigin, judge: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.origin, origin);
        let result = judge(self);
        self.origin = before;
        result
    }

    fn working_place(&self, directories: &ShellDirectories) -> WorkingPlace {
        let start = join_path("/", &self.request.directory);
        let is_below = |path: &String| paths::is_within(path, &start);
        if self.workspace.is_some() && !self.is_inside(&start) {
            WorkingPlace::Elsewhere
        } else if directories.only() == Some(&*start) {
            WorkingPlace::Start
        } else if !directories.is_unknown && directories.paths.iter().all(is_below) {
            WorkingPlace::Below
        } else {
            WorkingPlace::Elsewhere
        }
    }

    /// Adds a command without effects.
    pub(super) fn push(
        &mut self,
        words: &[ShellWord],
        program: Option<ProgramReference>,
        span: ShellSpan,
        context: &CommandContext,
    ) -> Option<usize> {
        if self.analysis.commands.len() >= self.limits.commands {
            self.too_much(context);
            return None;
        }
        let directory = context.directories.only().map(ToOwned::to_owned);
        let place = self.working_place(&context.directories);
        self.analysis.commands.push(AnalysedCommand {
            words: words.iter().map(shell_words::shown).collect(),
            program,
            options: Vec::new(),
            operands: Vec::new(),
            variables: Vec::new(),
            codes: Vec::new(),
            is_redirected: false,
            effects: Vec::new(),
            findings: Vec::new(),
            place,
            directory,
            directories: context.directories.paths.clone(),
            is_directory_unknown: context.directories.is_unknown,
            code_origins: Vec::new(),
            parent: context.parent,
            is_suspected: context.at_most.is_some(),
            span,
        });
        Some(self.analysis.commands.len() - 1)
    }

    pub(super) fn effect(&mut self, index: usize, effect: Effect) {
        self.effects += 1;
        if self.effects > self.limits.effects {
            let span =
                self.analysis.commands.get(index).map_or_else(ShellSpan::default, |command| command.span);
            if self.analysis.unreadable.is_none() {
                self.analysis.unreadable = Some(UnreadableRequest {
                    class: GuardClass::Unreadable,
                    message: "the command has too many effects to follow".to_owned(),
                    hint: Some(WayOut::UseScript.text()),
                    span,
                });
            }
            return;
        }
        if let Some(command) = self.analysis.commands.get_mut(index)
            && !(command.effects.len() < 64 && command.effects.contains(&effect))
        {
            command.effects.push(effect);
        }
    }

    pub(super) fn finding(
        &mut self,
        index: usize,
        class: GuardClass,
        what: impl Into<String>,
        span: ShellSpan,
        way_out: Option<WayOut>,
    ) {
        self.effects += 1;
        let Some(command) = self.analysis.commands.get_mut(index) else { return };
        // A class that is found over and over says no more.
        let is_known = command.findings.iter().any(|finding| finding.class == class);
        if command.findings.len() >= MAX_FINDINGS && is_known {
            return;
        }
        let origin = self.origin;
        let finding = GuardFinding { class, what: what.into(), span, at_most: None, way_out, origin };
        if !command.findings.contains(&finding) {
            command.findings.push(finding);
        }
    }

    /// Returns the span of a command.
    pub(super) fn span(&self, index: usize) -> ShellSpan {
        self.analysis.commands.get(index).map_or_else(ShellSpan::default, |command| command.span)
    }
}
