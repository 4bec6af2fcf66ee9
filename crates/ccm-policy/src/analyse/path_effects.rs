//! Effects of commands on paths.

use std::sync::Arc;

use ccm_shell::{ShellDirectories, ShellWord, UnknownOrigin, WordPiece};

use super::paths::{self, PathMeaning, WordPath};
use super::temporary_files::{is_temporary, temporary_beginning};
use super::{Analyser, CommandContext, credentials};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::links::{self, LinkDestination};
use crate::lookup::{Lookup, LookupPathKind};

/// Manner of a deletion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deletion {
    pub(super) is_recursive: bool,
    pub(super) is_forced: bool,
    /// The path goes elsewhere with all that is below.
    pub(super) is_move: bool,
}

/// Returns `true` for `<(…)` and `>(…)`, whose commands are judged by themselves: the path is that of a pipe.
fn is_process(word: &ShellWord) -> bool {
    matches!(&*word.pieces, [WordPiece::Unknown { origin: UnknownOrigin::Process(_), is_many: false }])
}

impl Analyser<'_> {
    fn home(&self) -> Option<&str> {
        self.request.variable("HOME")
    }

    /// Returns `true` for a path inside the workspace. Without a workspace nothing is inside.
    pub(super) fn is_inside(&self, path: &str) -> bool {
        self.workspace.as_deref().is_some_and(|workspace| paths::is_within(path, workspace))
    }

    /// Returns where a path outside the workspace lies, behind a comma.
    fn outside(&self) -> &'static str {
        if self.workspace.is_some() { "outside the workspace" } else { "and the policy names no workspace" }
    }

    /// Returns the advice on a path outside the workspace.
    fn way_inside(&self) -> WayOut {
        if self.workspace.is_some() { WayOut::StayInWorkspace } else { WayOut::NameWorkspace }
    }

    /// Judges a path that is read, or a directory that is listed.
    pub(super) fn read_path(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        if word.text().as_deref() == Some("-") || is_process(word) {
            return;
        }
        for path in paths::resolve(word, &context.directories) {
            let span = context.span.unwrap_or(word.span);
            let effect = self.effect_on(EffectKind::Read, &path, word);
            let link_target = effect.link_target.clone();
            let is_recursive = path.path.is_some() && self.reads_whole(index);
            self.effect(index, Effect { is_recursive, ..effect });
            if path.is_pattern
                && let Some(directory) = context.directories.only()
                && let Some(secret) = credentials::secret_of_pattern(word, directory, self.home())
            {
                self.secret(index, &secret, "may read", span);
            }
            if (path.is_partial || path.is_pattern) && credentials::is_of_any_process(word) {
                self.secret(index, "what belongs to a process", "reads", span);
            }
            let Some(path) = path.path else { continue };
            let reached = match &link_target {
                LinkDestination::Path(reached) => Some(reached),
                LinkDestination::Same | LinkDestination::Unknown => None,
            };
            for path in std::iter::once(&path).chain(reached) {
                match paths::meaning(path, self.home()) {
                    PathMeaning::Secret => self.secret(index, path, "reads", span),
                    PathMeaning::Disk => self.disk(index, path, "reads", span),
                    PathMeaning::Kernel => self.kernel(index, path, span),
                    PathMeaning::Connection => self.connection(index, path, span),
                    PathMeaning::SafeDevice => {}
                    _ => self.directory_of_secrets(index, path, span),
                }
            }
            self.check_restriction(index, &path, span);
        }
    }

    /// Judges a path that is written.
    pub(super) fn write_path(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        if word.text().as_deref() == Some("-") || is_process(word) {
            return;
        }
        let span = context.span.unwrap_or(word.span);
        for resolved in paths::resolve(word, &context.directories) {
            let effect = self.effect_on(EffectKind::Write, &resolved, word);
            let link_target = effect.link_target.clone();
            let is_recursive = resolved.path.is_some() && self.writes_whole(index);
            self.effect(index, Effect { is_recursive, ..effect });
            let Some(path) = resolved.path else {
                if is_temporary(word) {
                    continue;
                }
                let what = "writes a file that is not known";
                self.finding(index, GuardClass::WriteOutside, what, span, Some(WayOut::NamePath));
                continue;
            };
            let path = self.target(path, link_target);
            self.judge_write(index, &path, "writes", span);
            self.check_restriction(index, &path, span);
        }
    }

    /// Judges a directory in which something is written.
    pub(super) fn judge_directory(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        let span = context.span.unwrap_or_else(|| self.span(index));
        for resolved in paths::resolve(word, &context.directories) {
            let link_target = self.links(&resolved, links::follow);
            let Some(path) = resolved.path else {
                let what = "writes in a directory that is not known";
                self.finding(index, GuardClass::WriteOutside, what, span, Some(WayOut::NamePath));
                continue;
            };
            let path = self.target(path, link_target);
            self.judge_write(index, &path, "writes in", span);
            self.check_restriction(index, &path, span);
        }
    }

    fn judge_write(&mut self, index: usize, path: &str, verb: &str, span: ccm_shell::ShellSpan) {
        let is_inside = self.is_inside(path);
        if verb == "writes"
            && path.rsplit('/').next().is_some_and(|name| name.starts_with('-') && name.len() > 1)
        {
            let what = format!("{verb} {path}, a name that programs read as an option");
            self.finding(index, GuardClass::Options, what, span, Some(WayOut::NamePath));
        }
        let system = |analyser: &mut Self| {
            let what = format!("{verb} {path}, a path of the system");
            analyser.finding(index, GuardClass::WriteSystem, what, span, Some(WayOut::StayInWorkspace));
        };
        match paths::meaning(path, self.home()) {
            PathMeaning::SafeDevice => {}
            PathMeaning::Disk => self.disk(index, path, verb, span),
            PathMeaning::Kernel => self.kernel(index, path, span),
            PathMeaning::Connection => self.connection(index, path, span),
            PathMeaning::Secret => self.secret(index, path, verb, span),
            PathMeaning::Govern => {
                self.effect(index, Effect::new(EffectKind::Govern, Some(path.to_owned())));
                let what = format!("{verb} {path}, a part of the governance");
                self.finding(index, GuardClass::Govern, what, span, Some(WayOut::AskOperator));
            }
            PathMeaning::Persist => {
                self.effect(index, Effect::new(EffectKind::Persist, Some(path.to_owned())));
                let what = format!("{verb} {path}, through which something runs later");
                self.finding(index, GuardClass::Persist, what, span, Some(WayOut::AskOperator));
                if !is_inside
                    && paths::meaning(path, None) != PathMeaning::Plain
                    && !path.starts_with("/home/")
                {
                    system(self);
                }
            }
            PathMeaning::Repository => {
                let what = format!("{verb} {path}, from which git runs programs");
                self.finding(index, GuardClass::Options, what, span, Some(WayOut::AskOperator));
            }
            _ if is_inside => {}
            PathMeaning::System => system(self),
            PathMeaning::Plain => {
                let what = format!("{verb} {path}, {}", self.outside());
                let way = self.way_inside();
                self.finding(index, GuardClass::WriteOutside, what, span, Some(way));
            }
        }
    }

    /// Judges a path that is deleted.
    pub(super) fn delete_path(
        &mut self,
        index: usize,
        word: &ShellWord,
        how: Deletion,
        context: &CommandContext,
    ) {
        let span = context.span.unwrap_or(word.span);
        let is_strong = how.is_recursive || how.is_forced;
        for resolved in paths::resolve(word, &context.directories) {
            let effect = self.effect_on(EffectKind::Delete, &resolved, word);
            // `rm link` deletes the link alone, but `rm -r link/` what is below.
            let is_whole_word = word.text().is_some_and(|text| !text.ends_with('/'));
            let link_target = if is_whole_word && !how.is_recursive {
                self.links(&resolved, links::follow_above)
            } else {
                effect.link_target.clone()
            };
            let effect = Effect { link_target: link_target.clone(), ..effect };
            let is_recursive = how.is_recursive || how.is_move && resolved.path.is_some();
            self.effect(index, Effect { is_recursive, is_forced: how.is_forced, ..effect });
            let known = resolved.path.clone().filter(|_| !resolved.is_partial);
            let Some(path) = known else {
                if is_temporary(word) {
                    continue;
                }
                let (class, what) = if is_strong {
                    (GuardClass::DeleteOutside, "deletes what is not known")
                } else {
                    (GuardClass::WriteOutside, "deletes a file that is not known")
                };
                self.finding(index, class, what, span, Some(WayOut::NamePath));
                continue;
            };
            let path = self.target(path, link_target);
            let is_workspace = self.workspace.as_ref() == Some(&path);
            let is_below = self.is_inside(&path) && (!is_workspace || resolved.is_pattern);
            self.check_restriction(index, &path, span);
            if is_strong && is_below {
                let what = format!("deletes {path}{}", resolved.pattern_tail());
                self.finding(index, GuardClass::DeleteInside, what, span, Some(WayOut::AskOperator));
                self.judge_write(index, &path, "deletes", span);
            } else if is_strong {
                let what = if is_workspace {
                    "deletes the workspace itself".to_owned()
                } else {
                    format!("deletes {path}{}, {}", resolved.pattern_tail(), self.outside())
                };
                let way = self.way_inside();
                self.finding(index, GuardClass::DeleteOutside, what, span, Some(way));
                if matches!(
                    paths::meaning(&path, self.home()),
                    PathMeaning::Govern | PathMeaning::Secret | PathMeaning::Disk | PathMeaning::Kernel
                ) {
                    self.judge_write(index, &path, "deletes", span);
                }
            } else {
                self.judge_write(index, &path, "deletes", span);
            }
        }
    }

    /// Judges a directory in which a program works from here on, and returns the directories.
    pub(super) fn enter_directory(
        &mut self,
        index: usize,
        word: &ShellWord,
        context: &CommandContext,
    ) -> Arc<ShellDirectories> {
        let span = context.span.unwrap_or(word.span);
        let mut directories = ShellDirectories::default();
        let mut is_bounded = true;
        for resolved in paths::resolve(word, &context.directories) {
            let is_pattern = resolved.is_pattern && !resolved.is_partial;
            match resolved.path.filter(|_| !resolved.is_partial) {
                Some(base) if is_pattern => {
                    directories.is_unknown = true;
                    directories.below.push(base);
                }
                Some(path) => {
                    self.check_restriction(index, &path, span);
                    // A shell goes up from the link, and every other program from what the link leads to.
                    let climbing = resolved.climbing.map(|climbing| links::follow(self.lookup, &climbing));
                    if let Some(LinkDestination::Path(reached)) = climbing
                        && links::follow(self.lookup, &path) != LinkDestination::Path(reached.clone())
                        && reached != path
                    {
                        directories.paths.push(reached);
                    }
                    directories.paths.push(path);
                }
                None => {
                    directories.is_unknown = true;
                    is_bounded = false;
                }
            }
        }
        if !is_bounded {
            directories.below.clear();
        }
        Arc::new(directories)
    }

    /// Judges an operand that may be a path, of a program whose operands are not known.
    pub(super) fn maybe_path(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        let Some(text) = word.text() else { return };
        let mut candidates: Vec<&str> = vec![&text];
        for mark in ['=', '@', ':'] {
            if let Some((_, rest)) = text.split_once(mark)
                && !rest.starts_with("//")
            {
                candidates.push(rest);
            }
        }
        if let Some(rest) = text.strip_prefix('-').and_then(|rest| rest.get(1..)) {
            candidates.push(rest);
        }
        for candidate in candidates {
            let is_path = if let Some(rest) = candidate.strip_prefix('/') {
                let first = rest.trim_start_matches('/').split('/').next().unwrap_or_default();
                self.lookup.path_kind(&format!("/{first}")) != LookupPathKind::Missing
            } else {
                paths::path_of_address(candidate).is_some() || candidate.split('/').any(|part| part == "..")
            };
            if is_path {
                self.read_path(index, &ShellWord::known(candidate, word.span), context);
            }
        }
    }

    /// Returns where the links on the way to a path lead.
    fn links(&self, path: &WordPath, follow: fn(&dyn Lookup, &str) -> LinkDestination) -> LinkDestination {
        let Some(known) = &path.path else { return LinkDestination::Same };
        match follow(self.lookup, path.climbing.as_ref().unwrap_or(known)) {
            LinkDestination::Path(reached) if reached == *known => LinkDestination::Same,
            found => found,
        }
    }

    /// Returns the effect on a path, with the path that links lead to.
    pub(super) fn path_effect(&self, kind: EffectKind, path: &WordPath) -> Effect {
        let is_partial = path.path.is_some() && (path.is_partial || path.is_pattern);
        Effect {
            is_partial,
            may_climb: path.path.is_some() && path.is_partial,
            link_target: self.links(path, links::follow),
            ..Effect::new(kind, path.path.clone())
        }
    }

    /// Returns the effect on a path of a word. Of a file that the text itself has made, the beginning of the path is known.
    fn effect_on(&self, kind: EffectKind, path: &WordPath, word: &ShellWord) -> Effect {
        match temporary_beginning(word).filter(|beginning| !beginning.is_empty()) {
            Some(beginning) => Effect { is_partial: true, ..Effect::new(kind, Some(beginning.to_owned())) },
            None => self.path_effect(kind, path),
        }
    }

    /// Chooses between a path and what its links lead to, for a write or a deletion: `/bin` is a link on most machines,
    /// and a workspace may be one.
    fn target(&self, path: String, links: LinkDestination) -> String {
        let LinkDestination::Path(reached) = links else { return path };
        let Some(written) = &self.workspace else { return reached };
        let workspace = match links::follow(self.lookup, written) {
            LinkDestination::Path(workspace) => workspace,
            LinkDestination::Same | LinkDestination::Unknown => written.clone(),
        };
        let is_own = paths::is_within(&reached, &workspace);
        if is_own && self.is_inside(&path) { path } else { reached }
    }

    /// Refuses a path outside the workspace, if the commands are restricted to it.
    pub(super) fn check_restriction(&mut self, index: usize, path: &str, span: ccm_shell::ShellSpan) {
        let is_safe = paths::meaning(path, None) == PathMeaning::SafeDevice;
        if self.is_restricted && !is_safe && !self.is_inside(path) {
            let what = format!("{path} lies outside the workspace");
            self.finding(index, GuardClass::OutsideWorkspace, what, span, Some(WayOut::StayInWorkspace));
        }
    }

    pub(super) fn secret(&mut self, index: usize, path: &str, verb: &str, span: ccm_shell::ShellSpan) {
        self.effect(index, Effect::new(EffectKind::Secrets, Some(path.to_owned())));
        let what = format!("{verb} {path}, which holds credentials");
        self.finding(index, GuardClass::Secrets, what, span, Some(WayOut::AskOperator));
    }

    fn disk(&mut self, index: usize, path: &str, verb: &str, span: ccm_shell::ShellSpan) {
        self.effect(index, Effect::new(EffectKind::Disk, Some(path.to_owned())));
        let what = format!("{verb} {path}, a disk");
        self.finding(index, GuardClass::Disk, what, span, Some(WayOut::AskOperator));
    }

    fn kernel(&mut self, index: usize, path: &str, span: ccm_shell::ShellSpan) {
        self.effect(index, Effect::new(EffectKind::Kernel, Some(path.to_owned())));
        let what = format!("uses {path}, memory of the kernel");
        self.finding(index, GuardClass::Kernel, what, span, Some(WayOut::AskOperator));
    }

    fn connection(&mut self, index: usize, path: &str, span: ccm_shell::ShellSpan) {
        self.effect(index, Effect::new(EffectKind::Network, Some(path.to_owned())));
        let what = format!("opens the connection {path}");
        self.finding(index, GuardClass::RemoteShell, what, span, Some(WayOut::AskOperator));
    }
}

impl WordPath {
    fn pattern_tail(&self) -> &'static str {
        if self.is_pattern { "/…" } else { "" }
    }
}
