//! What a file lacks, and what has to be done about it. Pure.

use std::path::Path;

use ccm_engine::{Decision, Described, ResourceKind, Verified};
use ccm_host::{FileKind, FileState};
use ccm_model::{Failure, Missing};

use super::diff;
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
    Keep(&'static str),
    /// Write a file where none is.
    Create,
    /// Write a file in the place of a link.
    ReplaceLink(Differences),
    /// Bring the file to what is wanted: by a new one if the content differs.
    Update(Differences),
    /// Make a directory.
    MakeDirectory,
    /// Remove what is there, which is this.
    Remove(&'static str),
    /// Give up.
    Fail(Failure),
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

    /// What they are.
    fn reason(&self) -> String {
        let content = self.content.then(|| "the content differs".to_owned());
        let attribute = |name: &str, is: &Option<String>| is.as_ref().map(|is| format!("the {name} is {is}"));
        let all = [
            content,
            attribute("owner", &self.owner),
            attribute("group", &self.group),
            attribute("mode", &self.mode),
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

impl ResourceKind for FileResource {
    type Properties = File;
    type State = State;
    type Effect = Done;

    fn decide(file: &File, state: &State, _: bool) -> Decision {
        decide(file, state)
    }

    fn verify(file: &File, state: &State, _: &Done) -> Result<Verified, Failure> {
        let wrong = match plan(file, state) {
            Plan::Keep(_) => return Ok(Verified::Changed),
            Plan::Fail(failure) => return Err(failure.because_of("it is not as wanted after the change")),
            Plan::Update(differences) | Plan::ReplaceLink(differences) => differences.reason(),
            Plan::Create | Plan::MakeDirectory => "nothing is there".to_owned(),
            Plan::Remove(what) => format!("{what} is there"),
        };
        Err(Failure::new(wrong)
            .because_of("it is not as wanted after the change")
            .with_hint("does something else manage it at the same time?"))
    }

    fn describe(file: &File, state: &State, _: &str) -> Described {
        describe(file, state)
    }
}

/// Puts a plan into words.
pub(crate) fn decide(file: &File, state: &State) -> Decision {
    let change = |reason: String, message: String, diff: Option<String>| Decision::Change {
        reason,
        noop_message: format!("Would have {message}"),
        diff,
    };
    match plan(file, state) {
        Plan::Keep(reason) => Decision::Keep { reason: reason.to_owned() },
        Plan::Fail(failure) => {
            Decision::Fail { reason: "it can't be brought to the state asked for".to_owned(), failure }
        }
        Plan::Create => {
            let diff = diff::to_wanted(file, state);
            change("there is no file".to_owned(), "created the file".to_owned(), diff)
        }
        Plan::MakeDirectory => {
            change("there is no directory".to_owned(), "created the directory".to_owned(), None)
        }
        Plan::ReplaceLink(differences) => {
            let reason = match differences.reason() {
                none if none.is_empty() => match state.found.stranger {
                    Some(owner) => format!("there is a link of user {owner}, which is not followed"),
                    None => "there is a link that leads to no file".to_owned(),
                },
                reason => format!("{reason} behind the link that is there"),
            };
            let diff = diff::to_wanted(file, state).filter(|_| differences.content || differences.is_none());
            change(reason, "replaced the link by a file".to_owned(), diff)
        }
        Plan::Update(differences) => {
            let diff = diff::to_wanted(file, state).filter(|_| differences.content);
            change(differences.reason(), format!("updated {}", differences.names()), diff)
        }
        Plan::Remove(what) => {
            change(format!("{what} is there"), format!("removed {what}"), diff::to_nothing(file, state))
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
        Plan::Remove(what) => *what == "the file",
        _ => false,
    };
    if file.backup && loses_content && !state.can_back_up {
        return Plan::Fail(
            Failure::new(
                "`backup` asks for a copy of the old content, and ccm has no state directory to keep it in",
            )
            .with_hint("set HOME or XDG_STATE_HOME, or drop `backup`"),
        );
    }
    if state.needed_by_ccm && matches!(plan, Plan::Remove(_)) {
        let path = file.path.display();
        return Plan::Fail(Failure::new(format!("\"{path}\" is or holds the state directory of this run")));
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
            let mut failure = Failure::new(format!("\"{path}\" is a directory"));
            failure.missing = Some(Missing::Path(file.path.clone()));
            Plan::Fail(failure.with_hint("a directory is asked for with `ensure: directory`"))
        }
        FileKind::Special(what) if file.content.is_some() => {
            Plan::Fail(Failure::new(format!("\"{path}\" is {what}, and its content can't be managed")))
        }
        _ if differences.is_none() => Plan::Keep("it is as wanted"),
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
        FileKind::Directory { .. } if differences.is_none() => Plan::Keep("it is as wanted"),
        FileKind::Directory { .. } if state.found.link => Plan::Fail(attributes_of_link(file)),
        FileKind::Directory { .. } => Plan::Update(differences),
        other => {
            let what = if let FileKind::Special(what) = other { what } else { "a file" };
            let mut failure = Failure::new(format!("\"{path}\" is {what}, not a directory"));
            failure.missing = Some(Missing::Path(file.path.clone()));
            Plan::Fail(failure.with_hint("remove it first: ccm makes no directory in the place of something"))
        }
    }
}

fn absent(file: &File, state: &State) -> Plan {
    if state.found.link {
        return Plan::Remove("the link");
    }
    match state.found.target.as_ref().map(|target| target.kind) {
        None => Plan::Keep("it is absent"),
        Some(FileKind::Directory { empty: Some(true) }) => Plan::Remove("the empty directory"),
        Some(FileKind::Directory { .. }) if file.force => Plan::Remove("the directory and everything in it"),
        // Only trying tells whether it is empty, and nothing is lost by that.
        Some(FileKind::Directory { empty: None }) => Plan::Remove("the directory"),
        Some(FileKind::Directory { .. }) => {
            let path = file.path.display();
            let mut failure = Failure::new(format!("the directory \"{path}\" is not empty"));
            failure.missing = Some(Missing::Path(file.path.clone()));
            Plan::Fail(failure.with_hint("`force: true` removes it with everything in it"))
        }
        Some(FileKind::File) => Plan::Remove("the file"),
        Some(FileKind::Special(_)) => Plan::Remove("what is neither file nor directory"),
    }
}

pub(crate) fn mount_point(path: &Path) -> Failure {
    Failure::new(format!("\"{}\" is a mount point", path.display()))
        .with_hint("unmount it, or manage what is in it")
}

fn attributes_of_link(file: &File) -> Failure {
    let message =
        format!("\"{}\" is a symbolic link, whose attributes can't be managed", file.path.display());
    Failure::new(message).with_hint("name the path that it leads to")
}

fn strangers_link(file: &File, owner: u32) -> Failure {
    let message = format!("\"{}\" is a link of user {owner}, which is not followed", file.path.display());
    Failure::new(message).with_hint("name the path that it leads to, or let root own the link")
}

fn link_to_nothing(file: &File) -> Failure {
    let message = format!("\"{}\" is a symbolic link that leads to no directory", file.path.display());
    let mut failure = Failure::new(message).with_hint("name the path that it leads to");
    failure.missing = Some(Missing::Path(file.path.clone()));
    failure
}

fn parent_missing(file: &File) -> Failure {
    let parent = file.path.parent().unwrap_or(&file.path).display();
    let mut failure = Failure::new(format!("the directory \"{parent}\" does not exist"));
    failure.missing = Some(Missing::Path(file.path.parent().unwrap_or(&file.path).to_owned()));
    failure.with_hint("manage it with a file resource and `ensure: directory`")
}

#[cfg(test)]
mod tests;
