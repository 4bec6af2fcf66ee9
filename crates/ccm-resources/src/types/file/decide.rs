//! The pure decision about a file.

use std::fmt;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Undescribed, Verified};
use ccm_host::{FileInfo, FileKind};
use ccm_model::{Action, Failure, FailureKind, MissingPrerequisite, Verb};

use super::action;
use super::content_change::{self, ContentChange};
use super::desired::{DesiredFile, FileEnsure};
use super::link::{self, LinkChange};
use super::rules::FileRule;
use super::state::{FileState, describe, undescribed};
use crate::parts::tree::plan::TreeChange;
use crate::parts::tree::{self, report};
use crate::support::file_failure::{mount_point, untrusted_link};
use crate::support::values::file_mode::shown_mode;

const SET_ID: u32 = 0o6000;

pub(crate) struct FileResource;

/// Effect of an execution, used for verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEffect {
    /// SHA-256 of the content that should be there now, if content is managed.
    pub sha256: Option<String>,
    /// Length of the content, as far as it is known.
    pub size: u64,
    /// Number of directories that were made above the path.
    pub parents: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FilePlan {
    Keep(FileRule),
    Create,
    /// A new file in place of a link.
    ReplaceLink(Differences),
    /// Changed attributes, or a new file if the content differs.
    Update(Differences),
    MakeDirectory,
    MakeLink(LinkChange),
    Remove(Removal),
    /// The plan for the directory itself, and changes in it.
    Inside(Box<Self>, Vec<TreeChange>),
    Fail(Failure),
}

/// Thing that `ensure: absent` removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    Link,
    EmptyDirectory,
    Tree,
    /// A directory with unreadable content.
    Directory,
    File,
    /// Neither file nor directory.
    Special,
}

impl fmt::Display for Removal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Link => "the link",
            Self::EmptyDirectory => "the empty directory",
            Self::Tree => "the directory and everything in it",
            Self::Directory => "the directory",
            Self::File => "the file",
            Self::Special => "the special file",
        })
    }
}

/// Differences to the desired state, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub content: bool,
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: Option<String>,
}

impl Differences {
    fn between(file: &DesiredFile, state: &FileState, target: &FileInfo) -> Self {
        let desired = &state.desired;
        let is = |found: &str, desired: &str| format!("{found}, not {desired}");
        let (owner, group) = state.names.as_ref().map_or(("", ""), |(owner, group)| (owner, group));
        let differs = |found: u32, desired: Option<u32>| desired.is_some_and(|desired| desired != found);
        let desired_owner = file.owner.as_deref().unwrap_or_default();
        let desired_group = file.group.as_deref().unwrap_or_default();
        let owner = differs(target.uid, desired.uid).then(|| is(owner, desired_owner));
        let group = differs(target.gid, desired.gid).then(|| is(group, desired_group));
        let mode = match file.mode {
            Some(desired) => {
                (desired != target.mode).then(|| is(&shown_mode(target.mode), &shown_mode(desired)))
            }
            None => loses_set_id(target, owner.is_some() || group.is_some()),
        };
        let content = desired.sha256.is_some() && desired.sha256 != target.sha256;
        Self { content, owner, group, mode }
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the difference of an unmanaged mode: a new owner or group removes the set-id bits of a file.
fn loses_set_id(target: &FileInfo, changes_owner: bool) -> Option<String> {
    let is_directory = matches!(target.kind, FileKind::Directory { .. });
    let loses = changes_owner && !is_directory && target.mode & SET_ID != 0;
    loses.then(|| format!("{}, which a new owner or group does not keep", shown_mode(target.mode)))
}

impl fmt::Display for Differences {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = self.content.then(|| "the content differs".to_owned());
        let attribute = |name: &str, is: &Option<String>| is.as_ref().map(|is| format!("the {name} is {is}"));
        let all = [
            content,
            attribute("owner", &self.owner),
            attribute("group", &self.group),
            attribute("mode", &self.mode),
        ];
        formatter.write_str(&all.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

impl ResourceKind for FileResource {
    type Properties = DesiredFile;
    type State = FileState;
    type Effect = FileEffect;
    type Rule = FileRule;

    fn decide(file: &DesiredFile, state: &FileState, _: Option<&Trigger>) -> Decision<FileRule> {
        decide(file, state)
    }

    fn verify(file: &DesiredFile, state: &FileState, _: &FileEffect) -> Result<Verified<FileRule>, Failure> {
        let wrong = match plan(file, state) {
            FilePlan::Keep(_) => return Ok(Verified::Changed),
            FilePlan::Fail(failure) => {
                let failure = failure.because_of(not_as_desired(file));
                return Err(Failure { kind: FailureKind::Verification, ..failure });
            }
            FilePlan::Update(differences) | FilePlan::ReplaceLink(differences) => differences.to_string(),
            FilePlan::Create | FilePlan::MakeDirectory | FilePlan::MakeLink(LinkChange::Create) => {
                "the path does not exist".to_owned()
            }
            FilePlan::MakeLink(_) => "the path is not the link".to_owned(),
            FilePlan::Inside(_, changes) => {
                let first = changes.first().map_or(&*file.path, |change| &change.path);
                format!("`{}` in it is not as it should be", first.display())
            }
            FilePlan::Remove(what) => format!("{what} exists"),
        };
        Err(Failure::new(FailureKind::Verification, wrong)
            .because_of(not_as_desired(file))
            .with_hint("check whether another program changes this path at the same time"))
    }

    fn action_taken(file: &DesiredFile, state: &FileState, done: &FileEffect, planned: Action) -> Action {
        action::taken(file, state, done.parents, planned)
    }

    fn describe(file: &DesiredFile, state: &FileState, _: &str) -> Described {
        describe(file, state)
    }

    fn undescribed(file: &DesiredFile, state: &FileState) -> Undescribed {
        undescribed(file, state)
    }
}

pub(crate) fn decide(file: &DesiredFile, state: &FileState) -> Decision<FileRule> {
    decide_plan(file, state, plan(file, state))
}

fn decide_plan(file: &DesiredFile, state: &FileState, plan: FilePlan) -> Decision<FileRule> {
    let change = |reason, action: Action, diff: Option<String>| Decision::Change { reason, action, diff };
    match plan {
        FilePlan::Keep(reason) => Decision::Keep { reason },
        FilePlan::Inside(own, changes) => inside(file, state, *own, &changes),
        FilePlan::Fail(failure) => Decision::Fail { reason: FileRule::Conflict, failure },
        FilePlan::Create => {
            let ContentChange { diff, .. } = content_change::to_desired(file, state);
            change(FileRule::NoFile, action::creation(file, state), diff)
        }
        FilePlan::MakeDirectory => change(FileRule::NoDirectory, action::creation(file, state), None),
        FilePlan::MakeLink(linking) => {
            change(FileRule::Link(linking), link::action(file, state, linking), None)
        }
        FilePlan::ReplaceLink(differences) => {
            let ContentChange { diff, lines } = content_change::to_desired(file, state);
            let diff = diff.filter(|_| differences.content || differences.is_none());
            let action = action::replacement(file, state, &differences, lines);
            let reason = match state.found.untrusted_owner {
                _ if !differences.is_none() => FileRule::DiffersBehindLink(differences),
                Some(owner) => FileRule::UntrustedLink(owner),
                None => FileRule::DanglingLink,
            };
            change(reason, action, diff)
        }
        FilePlan::Update(differences) => {
            let content = differences.content.then(|| content_change::to_desired(file, state));
            let ContentChange { diff, lines } = content.unwrap_or_default();
            let action = action::update(file, state, &differences, lines);
            change(FileRule::Differs(differences), action, diff)
        }
        FilePlan::Remove(what) => {
            let (action, diff) =
                (action::removal(file, state, what), content_change::to_nothing(file, state));
            change(FileRule::Present(what), action, diff)
        }
    }
}

/// Adds the changes in a directory to the decision on the directory itself.
fn inside(
    file: &DesiredFile,
    state: &FileState,
    own: FilePlan,
    changes: &[TreeChange],
) -> Decision<FileRule> {
    let (reason, action) = match decide_plan(file, state, own) {
        Decision::Change { reason, action, .. } => (reason, action),
        Decision::Keep { .. } => (FileRule::Inside(changes.len()), Action::new(Verb::Change)),
        failed @ Decision::Fail { .. } => return failed,
    };
    let (action, diff) = match &state.inside {
        Some(tree) => (report::add_entries(action, changes, tree), tree.details.diff.clone()),
        None => (action, None),
    };
    Decision::Change { reason, action, diff }
}

/// Adds the changes in a directory to the plan for the directory itself.
fn with_inside(file: &DesiredFile, state: &FileState, own: FilePlan) -> FilePlan {
    let Some((tree, inside)) = file.tree.as_ref().zip(state.inside.as_ref()) else { return own };
    if matches!(own, FilePlan::Fail(_)) {
        return own;
    }
    if state.found.link {
        return FilePlan::Fail(attributes_of_link(file));
    }
    if tree.rules.purge && state.is_top_level {
        let failure = top_level(file).of_property("purge");
        return FilePlan::Fail(failure);
    }
    match tree::plan::changes(&file.path, &tree.rules, inside) {
        Err(failure) => FilePlan::Fail(failure),
        Ok(changes) if changes.is_empty() => own,
        Ok(changes) if file.backup && !state.can_back_up => {
            drop(changes);
            FilePlan::Fail(no_backups())
        }
        Ok(changes) => FilePlan::Inside(Box::new(own), changes),
    }
}

pub(crate) fn plan(file: &DesiredFile, state: &FileState) -> FilePlan {
    let plan = match file.ensure {
        FileEnsure::Present => present(file, state),
        FileEnsure::Absent => absent(file, state),
        FileEnsure::Directory => with_inside(file, state, directory(file, state)),
        FileEnsure::Link => link::plan(file, state),
    };
    let loses_content = match &plan {
        FilePlan::Update(differences) => differences.content,
        FilePlan::Remove(what) => *what == Removal::File,
        FilePlan::MakeLink(change) => *change == LinkChange::ReplaceFile,
        _ => false,
    };
    if file.backup && loses_content && !state.can_back_up {
        return FilePlan::Fail(no_backups());
    }
    if state.needed_by_ccm && matches!(plan, FilePlan::Remove(_)) {
        let path = file.path.display();
        let message =
            format!("can't remove \"{path}\", which is or contains the state directory of this run");
        return FilePlan::Fail(
            Failure::conflict(message)
                .with_hint("remove this resource, or use --state-dir to name another directory"),
        );
    }
    if let Some(mount) = state.mount.as_ref().filter(|_| plan.replaces()) {
        return FilePlan::Fail(mount_point(mount));
    }
    // Only the parents of a directory are made.
    if matches!(plan, FilePlan::Create | FilePlan::MakeLink(LinkChange::Create)) && state.found.parent_missing
    {
        return FilePlan::Fail(parent_missing(file));
    }
    plan
}

impl FilePlan {
    /// Returns `true` if the plan changes the content of a file that exists.
    pub(crate) fn changes_content(&self) -> bool {
        matches!(self, Self::Update(differences) | Self::ReplaceLink(differences) if differences.content)
    }

    /// Returns `true` if the plan writes a file with its content.
    pub(crate) fn writes_content(&self) -> bool {
        match self {
            Self::Create | Self::ReplaceLink(_) => true,
            Self::Update(differences) => differences.content,
            Self::Keep(_)
            | Self::MakeDirectory
            | Self::MakeLink(_)
            | Self::Remove(_)
            | Self::Inside(..)
            | Self::Fail(_) => false,
        }
    }

    /// Returns `true` if the plan replaces or removes the existing file.
    pub(crate) fn replaces(&self) -> bool {
        match self {
            Self::Update(differences) => differences.content,
            Self::Remove(_) => true,
            Self::MakeLink(change) => !matches!(change, LinkChange::Create | LinkChange::Retarget),
            Self::ReplaceLink(_)
            | Self::Create
            | Self::MakeDirectory
            | Self::Keep(_)
            | Self::Inside(..)
            | Self::Fail(_) => false,
        }
    }
}

fn present(file: &DesiredFile, state: &FileState) -> FilePlan {
    let path = file.path.display();
    let target = match (&state.found.target, state.found.link) {
        (Some(target), _) => target,
        (None, true) if file.content.is_some() => return FilePlan::ReplaceLink(Differences::default()),
        (None, true) => return FilePlan::Fail(attributes_of_link(file)),
        (None, false) => return FilePlan::Create,
    };
    let differences = Differences::between(file, state, target);
    match target.kind {
        FileKind::Directory { .. } => {
            let failure = Failure::conflict(format!("\"{path}\" is a directory"));
            let failure = failure.with_missing(MissingPrerequisite::Path(file.path.clone()));
            FilePlan::Fail(failure.with_hint("use `ensure: directory` for a directory"))
        }
        FileKind::Special(what) if file.content.is_some() => {
            let message = format!("\"{path}\" is {what}, whose content cannot be managed");
            let missing = MissingPrerequisite::Path(file.path.clone());
            FilePlan::Fail(Failure::conflict(message).with_missing(missing))
        }
        _ if differences.is_none() => FilePlan::Keep(FileRule::AsDesired),
        _ if !state.found.link => FilePlan::Update(differences),
        _ if file.content.is_some() => FilePlan::ReplaceLink(differences),
        _ => FilePlan::Fail(attributes_of_link(file)),
    }
}

fn directory(file: &DesiredFile, state: &FileState) -> FilePlan {
    let path = file.path.display();
    let Some(target) = &state.found.target else {
        return match (state.found.link, state.found.untrusted_owner) {
            (true, Some(owner)) => FilePlan::Fail(untrusted_link(&file.path, owner)),
            (true, None) => FilePlan::Fail(dangling_link(file)),
            (false, _) => FilePlan::MakeDirectory,
        };
    };
    let differences = Differences::between(file, state, target);
    match target.kind {
        FileKind::Directory { .. } if differences.is_none() => FilePlan::Keep(FileRule::AsDesired),
        FileKind::Directory { .. } if state.found.link => FilePlan::Fail(attributes_of_link(file)),
        FileKind::Directory { .. } => FilePlan::Update(differences),
        other => {
            let what = if let FileKind::Special(what) = other { what } else { "a file" };
            let failure = Failure::conflict(format!("\"{path}\" is {what}, not a directory"));
            let failure = failure.with_missing(MissingPrerequisite::Path(file.path.clone()));
            FilePlan::Fail(
                failure.with_hint("move away what is at this path: ccm does not replace it with a directory"),
            )
        }
    }
}

fn absent(file: &DesiredFile, state: &FileState) -> FilePlan {
    if state.found.link {
        return FilePlan::Remove(Removal::Link);
    }
    match state.found.target.as_ref().map(|target| target.kind) {
        None => FilePlan::Keep(FileRule::Absent),
        Some(FileKind::Directory { empty: Some(true) }) => FilePlan::Remove(Removal::EmptyDirectory),
        Some(FileKind::Directory { .. }) if file.force && state.is_top_level => {
            FilePlan::Fail(top_level(file))
        }
        Some(FileKind::Directory { .. }) if file.force => FilePlan::Remove(Removal::Tree),
        // An attempt to remove the directory shows whether it is empty, and loses nothing.
        Some(FileKind::Directory { empty: None }) => FilePlan::Remove(Removal::Directory),
        Some(FileKind::Directory { .. }) => {
            let path = file.path.display();
            let failure = Failure::conflict(format!("the directory \"{path}\" is not empty"));
            let failure = failure.with_missing(MissingPrerequisite::Path(file.path.clone()));
            FilePlan::Fail(failure.with_hint(if state.is_top_level {
                REMOVE_SINGLY
            } else {
                "set `force: true` to remove the directory with its content"
            }))
        }
        Some(FileKind::File) => FilePlan::Remove(Removal::File),
        Some(FileKind::Special(_)) => FilePlan::Remove(Removal::Special),
    }
}

fn no_backups() -> Failure {
    Failure::conflict("`backup` needs a state directory")
        .of_property("backup")
        .with_hint("set HOME or XDG_STATE_HOME, or remove `backup`")
}

fn not_as_desired(file: &DesiredFile) -> String {
    format!("\"{}\" is not in the desired state after the change", file.path.display())
}

/// Hint for the removal of a directory directly below `/`.
pub(crate) const REMOVE_SINGLY: &str = "remove what is in it with resources of their own: ccm does not remove a directory directly below `/` with its content";

/// Returns the failure of a path that turned out to lead to a directory directly below `/`.
fn top_level(file: &DesiredFile) -> Failure {
    let path = file.path.display();
    Failure::conflict(format!("\"{path}\" is a directory directly below `/`"))
        .of_property("force")
        .with_hint(REMOVE_SINGLY)
}

fn attributes_of_link(file: &DesiredFile) -> Failure {
    let message =
        format!("\"{}\" is a symbolic link, whose attributes cannot be managed", file.path.display());
    Failure::conflict(message).with_hint("use the path that the link leads to")
}

fn dangling_link(file: &DesiredFile) -> Failure {
    let message = format!("\"{}\" is a dangling symbolic link", file.path.display());
    Failure::conflict(message)
        .with_hint("use the path that the link leads to")
        .with_missing(MissingPrerequisite::Path(file.path.clone()))
}

fn parent_missing(file: &DesiredFile) -> Failure {
    let parent = file.path.parent().unwrap_or(&file.path).display();
    Failure::conflict(format!("the directory \"{parent}\" does not exist"))
        .with_missing(MissingPrerequisite::Path(file.path.parent().unwrap_or(&file.path).to_owned()))
        .with_hint("manage the directory with a file resource and `ensure: directory`")
}

#[cfg(test)]
mod tests;
