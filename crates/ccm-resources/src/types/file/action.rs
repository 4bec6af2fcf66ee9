//! Actions of the file resource, as data for reports.

use ccm_host::{FileInfo, FileKind};
use ccm_model::{Action, ChangedLines, Verb};

use super::decide::{Differences, Removal};
use super::desired::{DesiredFile, FileEnsure};
use super::state::FileState;
use crate::support::values::file_mode::shown_mode;

#[cfg(feature = "archive")]
use super::desired::FileContent;

const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;
const SET_ID: u32 = 0o6000;

/// Number of digits of a checksum.
#[cfg(feature = "archive")]
const SHORT: usize = 12;

/// Returns the action that makes a file or directory.
pub(super) fn creation(file: &DesiredFile, state: &FileState) -> Action {
    Action::new(Verb::Create).of(planned_attributes(file, state))
}

/// Returns the action that puts a file in the place of a link.
pub(super) fn replacement(
    file: &DesiredFile,
    state: &FileState,
    differences: &Differences,
    lines: Option<ChangedLines>,
) -> Action {
    let action = Action::new(Verb::Replace);
    let action = match state.found.target {
        Some(_) => action,
        None => action.of(planned_attributes(file, state)),
    };
    let action = action.changing("kind", Some("link".to_owned()), Some("file".to_owned()));
    with_differences(action, file, state, differences, lines)
}

/// Returns the action that changes attributes or content.
pub(super) fn update(
    file: &DesiredFile,
    state: &FileState,
    differences: &Differences,
    lines: Option<ChangedLines>,
) -> Action {
    with_differences(Action::new(Verb::Change), file, state, differences, lines)
}

fn with_differences(
    mut action: Action,
    file: &DesiredFile,
    state: &FileState,
    differences: &Differences,
    lines: Option<ChangedLines>,
) -> Action {
    let Some(old) = &state.found.target else { return action };
    let names = state.names.as_ref();
    let owner = names.map(|(owner, _)| owner.to_string());
    let group = names.map(|(_, group)| group.to_string());
    if differences.owner.is_some() {
        action = action.changing("owner", owner, file.owner.clone());
    }
    if differences.group.is_some() {
        action = action.changing("group", group, file.group.clone());
    }
    if differences.mode.is_some() {
        let to = file.mode.unwrap_or(old.mode & !SET_ID);
        action = action.changing("mode", Some(shown_mode(old.mode)), Some(shown_mode(to)));
    }
    if differences.content { with_content(action, file, state, old, lines) } else { action }
}

/// Returns the action that removes what is there.
pub(super) fn removal(file: &DesiredFile, state: &FileState, what: Removal) -> Action {
    let size = state.found.target.as_ref().map(|target| target.size);
    let detail = match (what, &state.tree) {
        (Removal::Link, _) => "link".to_owned(),
        (Removal::EmptyDirectory, _) => "empty directory".to_owned(),
        (Removal::Tree, Some(tree)) => {
            let least = if tree.is_partial { "at least " } else { "" };
            format!("directory, {least}{}, {}", counted(tree.files, "file"), counted(tree.bytes, "byte"))
        }
        (Removal::Tree | Removal::Directory, _) => "directory".to_owned(),
        (Removal::File, _) => match size.filter(|_| !is_secret(file, state)) {
            Some(size) => format!("file, {}", counted(size, "byte")),
            None => "file".to_owned(),
        },
        (Removal::Special, _) => "special file".to_owned(),
    };
    Action::new(Verb::Remove).of(detail)
}

/// Returns the action that was taken, with the attributes that the new file has.
pub(super) fn taken(file: &DesiredFile, state: &FileState, parents: usize, planned: Action) -> Action {
    match &state.found.target {
        Some(new) if planned.detail.is_some() && matches!(planned.verb, Verb::Create | Verb::Replace) => {
            let size = (new.kind == FileKind::File).then_some(new.size);
            let names = state.names.as_ref().map(|(owner, group)| (&**owner, &**group));
            let size = size.filter(|_| !is_secret(file, state));
            Action { detail: Some(attributes(new.mode, names, size, parents)), ..planned }
        }
        _ => planned,
    }
}

fn planned_attributes(file: &DesiredFile, state: &FileState) -> String {
    let is_directory = file.ensure == FileEnsure::Directory;
    let new_mode = file.mode.unwrap_or(if is_directory { DIRECTORY_MODE } else { FILE_MODE });
    let names = state.new_names.as_ref().map(|(owner, group)| (&**owner, &**group));
    let size = (!is_directory && !is_secret(file, state)).then_some(state.desired.size);
    #[cfg(feature = "archive")]
    if let Some(FileContent::Web(web)) = &file.content {
        return attributes(new_mode, names, None, 0) + &format!(", from {}", web.url);
    }
    attributes(new_mode, names, size, state.missing_parents.len())
}

/// Returns the text `0644 root:root, 214 bytes`.
fn attributes(new_mode: u32, names: Option<(&str, &str)>, size: Option<u64>, parents: usize) -> String {
    let mut text = shown_mode(new_mode);
    if let Some((owner, group)) = names {
        text += &format!(" {owner}:{group}");
    }
    if let Some(size) = size {
        text += &format!(", {}", counted(size, "byte"));
    }
    match parents {
        0 => text,
        1 => text + ", and 1 directory above it",
        _ => text + &format!(", and {parents} directories above it"),
    }
}

/// Adds the change of content: as lines if they were counted, else as sizes. Neither tells about a sensitive
/// file, and the size of content that holds a secret is not shown.
fn with_content(
    action: Action,
    file: &DesiredFile,
    state: &FileState,
    old: &FileInfo,
    lines: Option<ChangedLines>,
) -> Action {
    match lines {
        Some(lines) => action.changing_lines("content", lines),
        None if is_secret(file, state) => action.changing("content", None, None),
        // The size of a download is only known when the file was replaced.
        #[cfg(feature = "archive")]
        None if matches!(file.content, Some(FileContent::Web(_))) => {
            let short = |sum: &String| Some(format!("sha256 {}", sum.get(..SHORT).unwrap_or(sum)));
            let [from, to] = [&old.sha256, &state.desired.sha256].map(|sum| sum.as_ref().and_then(short));
            action.changing("content", from, to)
        }
        None => {
            let size = |size| Some(counted(size, "byte"));
            action.changing("content", size(old.size), size(state.desired.size))
        }
    }
}

fn is_secret(file: &DesiredFile, state: &FileState) -> bool {
    file.sensitive || state.holds_secret
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
