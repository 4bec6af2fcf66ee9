//! Symbolic links: `ensure: link`.

use std::path::Path;

use ccm_engine::Context;
use ccm_host::{FileKind, InspectOptions};
use ccm_model::{Action, Failure, MissingPrerequisite, Verb};

use super::decide::{FilePlan, plan as file_plan};
use super::desired::DesiredFile;
use super::details::check_changes;
use super::rules::FileRule;
use super::state::FileState;
use crate::parts::backup::back_up;
use crate::support::file_failure::file_failure;
use crate::support::secret_content::mark_secret;

/// Change that makes a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkChange {
    Create,
    /// The link leads elsewhere.
    Retarget,
    ReplaceFile,
    ReplaceEmptyDirectory,
}

/// Reads the state of the path of a link, without what is behind it.
pub(super) fn status(file: &DesiredFile, before: bool, context: &Context<'_>) -> Result<FileState, Failure> {
    let files = context.host.files;
    let link = files.link_target(&file.path).map_err(|error| file_failure(&error))?;
    if file.sensitive {
        let targets = [link.as_deref(), target(file)].into_iter().flatten();
        targets.for_each(|target| mark_secret(target.as_os_str().as_encoded_bytes(), context.secrets));
    }
    let mut state = FileState {
        link,
        can_back_up: context.state_directory.is_some(),
        needed_by_ccm: context.state_directory.is_some_and(|state| state.starts_with(&file.path)),
        ..FileState::default()
    };
    if state.link.is_some() {
        state.found.link = true;
    } else {
        read_other(file, &mut state, context)?;
    }
    if before && state.mount.is_none() {
        check_changes(file, &file_plan(file, &state), files)?;
    }
    Ok(state)
}

/// Reads what is at the path in place of a link.
fn read_other(file: &DesiredFile, state: &mut FileState, context: &Context<'_>) -> Result<(), Failure> {
    let files = context.host.files;
    state.found =
        files.inspect(&file.path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
    let would_be = |parent: &Path| context.would_be_directory(parent);
    if file.path.parent().is_some_and(would_be) {
        state.found.parent_missing = false;
    }
    if state.found.target.is_some() {
        state.mount = files.blocking_mount(&file.path, false).map_err(|error| file_failure(&error))?;
    }
    Ok(())
}

pub(super) fn plan(file: &DesiredFile, state: &FileState) -> FilePlan {
    if let Some(found) = &state.link {
        let change = FilePlan::MakeLink(LinkChange::Retarget);
        let keep = FilePlan::Keep(FileRule::AsDesired);
        return if Some(&**found) == target(file) { keep } else { change };
    }
    let path = file.path.display();
    let missing = || MissingPrerequisite::Path(file.path.clone());
    let conflict = |message: String| Failure::conflict(message).with_missing(missing());
    let change = match state.found.target.as_ref().map(|target| target.kind) {
        None => LinkChange::Create,
        Some(FileKind::File) if file.force => LinkChange::ReplaceFile,
        Some(FileKind::File) => {
            let failure = conflict(format!("\"{path}\" is a file, not a link"));
            return FilePlan::Fail(failure.with_hint("set `force: true` to replace the file with the link"));
        }
        Some(FileKind::Directory { empty: Some(true) }) if file.force => LinkChange::ReplaceEmptyDirectory,
        Some(FileKind::Directory { empty: Some(true) }) => {
            let failure = conflict(format!("\"{path}\" is an empty directory, not a link"));
            return FilePlan::Fail(
                failure.with_hint("set `force: true` to replace the directory with the link"),
            );
        }
        Some(FileKind::Directory { .. }) => {
            let failure = conflict(format!("\"{path}\" is a directory that holds something"));
            return FilePlan::Fail(
                failure
                    .with_hint("move away what is in it: ccm does not replace such a directory with a link"),
            );
        }
        Some(FileKind::Special(what)) => {
            let failure = conflict(format!("\"{path}\" is {what}, not a link"));
            return FilePlan::Fail(failure.with_hint("move away what is at this path"));
        }
    };
    FilePlan::MakeLink(change)
}

fn target(file: &DesiredFile) -> Option<&Path> {
    file.link_target.as_deref()
}

pub(super) fn action(file: &DesiredFile, state: &FileState, change: LinkChange) -> Action {
    let text = |path: Option<&Path>| path.map(|path| path.display().to_string());
    let to = text(target(file));
    let replacement = |from: &str| {
        Action::new(Verb::Replace).of(format!("link to {}", to.as_deref().unwrap_or_default())).changing(
            "kind",
            Some(from.to_owned()),
            Some("link".to_owned()),
        )
    };
    match change {
        LinkChange::Create => {
            Action::new(Verb::Create).of(format!("link to {}", to.as_deref().unwrap_or_default()))
        }
        LinkChange::Retarget => {
            Action::new(Verb::Change).changing("target", text(state.link.as_deref()), to.clone())
        }
        LinkChange::ReplaceFile => replacement("file"),
        LinkChange::ReplaceEmptyDirectory => replacement("empty directory"),
    }
}

/// Makes the link.
pub(super) fn execute(
    file: &DesiredFile,
    change: LinkChange,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    let Some(target) = target(file) else { return Ok(()) };
    if file.backup && change == LinkChange::ReplaceFile {
        back_up(&file.path, context)?;
    }
    let removes = change == LinkChange::ReplaceEmptyDirectory;
    if removes {
        files.remove(&file.path, false).map_err(|error| file_failure(&error))?;
    }
    files.make_link(&file.path, target, change == LinkChange::ReplaceFile).map_err(|error| {
        let failure = file_failure(&error);
        Failure { changed: failure.changed || removes, ..failure }
    })
}
