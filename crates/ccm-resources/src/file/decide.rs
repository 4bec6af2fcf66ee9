//! What a file lacks, and what has to be done about it. Pure.

use std::fmt;
use std::path::Path;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_host::{FileKind, FileState};
use ccm_model::{Failure, FailureKind, Missing};

use super::diff;
use super::rules::FileRule;
use super::state::{State, describe, mode};
use super::wanted::{Ensure, File};

/// The typed side of file.
pub(crate) struct FileResource;

/// What an execution leaves to verify against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// The sha256 of the content that should be there now, if content is managed.
    pub sha256: Option<String>,
}

/// What has to be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    /// Nothing.
    Keep(FileRule),
    /// Write a file where none is.
    Create,
    /// Write a file in the place of a link.
    ReplaceLink(Differences),
    /// Bring the file to what is wanted: by a new one if the content differs.
    Update(Differences),
    /// Make a directory.
    MakeDirectory,
    /// Remove what is there.
    Remove(Removed),
    /// Give up.
    Fail(Failure),
}

/// What `ensure: absent` removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    Link,
    EmptyDirectory,
    /// A directory and everything in it.
    Tree,
    /// A directory of which nobody knows what is in it.
    Directory,
    File,
    /// Neither file nor directory.
    Special,
}

impl fmt::Display for Removed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Link => "the link",
            Self::EmptyDirectory => "the empty directory",
            Self::Tree => "the directory and everything in it",
            Self::Directory => "the directory",
            Self::File => "the file",
            Self::Special => "what is neither file nor directory",
        })
    }
}

/// What differs from what is wanted, each in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub content: bool,
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: Option<String>,
}

impl Differences {
    fn between(file: &File, state: &State, target: &FileState) -> Self {
        let wanted = &state.wanted;
        let is = |found: &str, wanted: &str| format!("{found}, not {wanted}");
        let (owner, group) = state.names.as_ref().map_or(("", ""), |(owner, group)| (owner, group));
        let differs = |found: u32, wanted: Option<u32>| wanted.is_some_and(|wanted| wanted != found);
        let owner_wanted = file.owner.as_deref().unwrap_or_default();
        let group_wanted = file.group.as_deref().unwrap_or_default();
        Self {
            content: wanted.sha256.is_some() && wanted.sha256 != target.sha256,
            owner: differs(target.uid, wanted.uid).then(|| is(owner, owner_wanted)),
            group: differs(target.gid, wanted.gid).then(|| is(group, group_wanted)),
            mode: file
                .mode
                .filter(|wanted| *wanted != target.mode)
                .map(|wanted| is(&mode(target.mode), &mode(wanted))),
        }
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Their names in a sentence.
    fn names(&self) -> String {
        let all = [
            ("content", self.content),
            ("owner", self.owner.is_some()),
            ("group", self.group.is_some()),
            ("mode", self.mode.is_some()),
        ];
        let names: Vec<&str> =
            all.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
        match &names[..] {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }
}

/// Each of them, with `; ` between.
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
    type Properties = File;
    type State = State;
    type Effect = Done;
    type Rule = FileRule;

    fn decide(file: &File, state: &State, _: Option<&Trigger>) -> Decision<FileRule> {
        decide(file, state)
    }

    fn verify(file: &File, state: &State, _: &Done) -> Result<Verified<FileRule>, Failure> {
        let wrong = match plan(file, state) {
            Plan::Keep(_) => return Ok(Verified::Changed),
            Plan::Fail(failure) => {
                let failure = failure.because_of("it is not as wanted after the change");
                return Err(Failure { kind: FailureKind::Verification, ..failure });
            }
            Plan::Update(differences) | Plan::ReplaceLink(differences) => differences.to_string(),
            Plan::Create | Plan::MakeDirectory => "nothing is there".to_owned(),
            Plan::Remove(what) => format!("{what} is there"),
        };
        Err(Failure::new(FailureKind::Verification, wrong)
            .because_of("it is not as wanted after the change")
            .with_hint("does something else manage it at the same time?"))
    }

    fn describe(file: &File, state: &State, _: &str) -> Described {
        describe(file, state)
    }
}

/// Decides by the plan.
pub(crate) fn decide(file: &File, state: &State) -> Decision<FileRule> {
    let change = |reason, message: String, diff: Option<String>| Decision::Change {
        reason,
        noop_message: format!("Would have {message}"),
        diff,
    };
    match plan(file, state) {
        Plan::Keep(reason) => Decision::Keep { reason },
        Plan::Fail(failure) => Decision::Fail { reason: FileRule::Conflict, failure },
        Plan::Create => change(FileRule::NoFile, "created the file".to_owned(), diff::to_wanted(file, state)),
        Plan::MakeDirectory => change(FileRule::NoDirectory, "created the directory".to_owned(), None),
        Plan::ReplaceLink(differences) => {
            let diff = diff::to_wanted(file, state).filter(|_| differences.content || differences.is_none());
            let reason = match state.found.stranger {
                _ if !differences.is_none() => FileRule::DiffersBehindLink(differences),
                Some(owner) => FileRule::StrangersLink(owner),
                None => FileRule::LinkToNothing,
            };
            change(reason, "replaced the link by a file".to_owned(), diff)
        }
        Plan::Update(differences) => {
            let diff = diff::to_wanted(file, state).filter(|_| differences.content);
            let names = differences.names();
            change(FileRule::Differs(differences), format!("updated {names}"), diff)
        }
        Plan::Remove(what) => {
            change(FileRule::Present(what), format!("removed {what}"), diff::to_nothing(file, state))
        }
    }
}

/// Finds what has to be done.
pub(crate) fn plan(file: &File, state: &State) -> Plan {
    let plan = match file.ensure {
        Ensure::Present => present(file, state),
        Ensure::Absent => absent(file, state),
        Ensure::Directory => directory(file, state),
    };
    let loses_content = match &plan {
        Plan::Update(differences) => differences.content,
        Plan::Remove(what) => *what == Removed::File,
        _ => false,
    };
    if file.backup && loses_content && !state.can_back_up {
        return Plan::Fail(
            Failure::new(
                FailureKind::Conflict,
                "`backup` asks for a copy of the old content, and ccm has no state directory to keep it in",
            )
            .of_property("backup")
            .with_hint("set HOME or XDG_STATE_HOME, or drop `backup`"),
        );
    }
    if state.needed_by_ccm && matches!(plan, Plan::Remove(_)) {
        let path = file.path.display();
        let message = format!("\"{path}\" is or holds the state directory of this run");
        return Plan::Fail(Failure::new(FailureKind::Conflict, message));
    }
    if let Some(mount) = state.mount.as_ref().filter(|_| plan.replaces()) {
        return Plan::Fail(mount_point(mount));
    }
    let makes_something = matches!(plan, Plan::Create | Plan::MakeDirectory);
    if makes_something && state.found.parent_missing {
        return Plan::Fail(parent_missing(file));
    }
    plan
}

impl Plan {
    /// Tells whether something else, or nothing, takes the place of what is there.
    pub(crate) fn replaces(&self) -> bool {
        match self {
            Self::Update(differences) => differences.content,
            Self::Remove(_) => true,
            Self::ReplaceLink(_) | Self::Create | Self::MakeDirectory | Self::Keep(_) | Self::Fail(_) => {
                false
            }
        }
    }
}

fn present(file: &File, state: &State) -> Plan {
    let path = file.path.display();
    let target = match (&state.found.target, state.found.link) {
        (Some(target), _) => target,
        (None, true) if file.content.is_some() => return Plan::ReplaceLink(Differences::default()),
        (None, true) => return Plan::Fail(attributes_of_link(file)),
        (None, false) => return Plan::Create,
    };
    let differences = Differences::between(file, state, target);
    match target.kind {
        FileKind::Directory { .. } => {
            let failure = conflict(format!("\"{path}\" is a directory"));
            let failure = failure.with_missing(Missing::Path(file.path.clone()));
            Plan::Fail(failure.with_hint("a directory is asked for with `ensure: directory`"))
        }
        FileKind::Special(what) if file.content.is_some() => {
            Plan::Fail(conflict(format!("\"{path}\" is {what}, and its content can't be managed")))
        }
        _ if differences.is_none() => Plan::Keep(FileRule::AsWanted),
        _ if !state.found.link => Plan::Update(differences),
        _ if file.content.is_some() => Plan::ReplaceLink(differences),
        _ => Plan::Fail(attributes_of_link(file)),
    }
}

fn directory(file: &File, state: &State) -> Plan {
    let path = file.path.display();
    let Some(target) = &state.found.target else {
        return match (state.found.link, state.found.stranger) {
            (true, Some(owner)) => Plan::Fail(strangers_link(file, owner)),
            (true, None) => Plan::Fail(link_to_nothing(file)),
            (false, _) => Plan::MakeDirectory,
        };
    };
    let differences = Differences::between(file, state, target);
    match target.kind {
        FileKind::Directory { .. } if differences.is_none() => Plan::Keep(FileRule::AsWanted),
        FileKind::Directory { .. } if state.found.link => Plan::Fail(attributes_of_link(file)),
        FileKind::Directory { .. } => Plan::Update(differences),
        other => {
            let what = if let FileKind::Special(what) = other { what } else { "a file" };
            let failure = conflict(format!("\"{path}\" is {what}, not a directory"));
            let failure = failure.with_missing(Missing::Path(file.path.clone()));
            Plan::Fail(failure.with_hint("remove it first: ccm makes no directory in the place of something"))
        }
    }
}

fn absent(file: &File, state: &State) -> Plan {
    if state.found.link {
        return Plan::Remove(Removed::Link);
    }
    match state.found.target.as_ref().map(|target| target.kind) {
        None => Plan::Keep(FileRule::Absent),
        Some(FileKind::Directory { empty: Some(true) }) => Plan::Remove(Removed::EmptyDirectory),
        Some(FileKind::Directory { .. }) if file.force => Plan::Remove(Removed::Tree),
        // Only trying tells whether it is empty, and nothing is lost by that.
        Some(FileKind::Directory { empty: None }) => Plan::Remove(Removed::Directory),
        Some(FileKind::Directory { .. }) => {
            let path = file.path.display();
            let failure = conflict(format!("the directory \"{path}\" is not empty"));
            let failure = failure.with_missing(Missing::Path(file.path.clone()));
            Plan::Fail(failure.with_hint("`force: true` removes it with everything in it"))
        }
        Some(FileKind::File) => Plan::Remove(Removed::File),
        Some(FileKind::Special(_)) => Plan::Remove(Removed::Special),
    }
}

fn conflict(message: String) -> Failure {
    Failure::new(FailureKind::Conflict, message)
}

pub(crate) fn mount_point(path: &Path) -> Failure {
    conflict(format!("\"{}\" is a mount point", path.display()))
        .with_hint("unmount it, or manage what is in it")
}

fn attributes_of_link(file: &File) -> Failure {
    let message =
        format!("\"{}\" is a symbolic link, whose attributes can't be managed", file.path.display());
    conflict(message).with_hint("name the path that it leads to")
}

fn strangers_link(file: &File, owner: u32) -> Failure {
    let message = format!("\"{}\" is a link of user {owner}, which is not followed", file.path.display());
    conflict(message).with_hint("name the path that it leads to, or let root own the link")
}

fn link_to_nothing(file: &File) -> Failure {
    let message = format!("\"{}\" is a symbolic link that leads to no directory", file.path.display());
    conflict(message)
        .with_hint("name the path that it leads to")
        .with_missing(Missing::Path(file.path.clone()))
}

fn parent_missing(file: &File) -> Failure {
    let parent = file.path.parent().unwrap_or(&file.path).display();
    conflict(format!("the directory \"{parent}\" does not exist"))
        .with_missing(Missing::Path(file.path.parent().unwrap_or(&file.path).to_owned()))
        .with_hint("manage it with a file resource and `ensure: directory`")
}

#[cfg(test)]
mod tests;
