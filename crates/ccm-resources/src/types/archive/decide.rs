//! The pure decision about an archive.

use std::path::Path;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Undescribed, Verified};
use ccm_host::{FileInfo, FileKind};
use ccm_model::{Action, Failure, FailureKind, MissingPrerequisite, Verb};

use super::desired::{DesiredArchive, Extraction, Origin};
use super::rules::{ArchiveRule, Stranger};
use super::state::{ArchiveEffect, ArchiveState, describe};
use crate::support::file_failure::mount_point;
use crate::support::values::canonical_path::directory_of;
use crate::support::values::file_mode::shown_mode;

/// Number of digits of a checksum in a report.
const SHORT: usize = 12;

pub(crate) struct ArchiveResource;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArchivePlan {
    Keep(ArchiveRule),
    /// Downloads the file, and extracts it if that is desired.
    Fetch(ArchiveRule),
    /// Extracts the file that is there.
    Extract(ArchiveRule),
    /// Changes owner, group and mode.
    SetAttributes(Vec<AttributeDifference>),
    Remove,
    Fail(Failure),
}

/// Attribute of the file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttributeDifference {
    pub name: &'static str,
    pub from: String,
    pub to: String,
}

impl ResourceKind for ArchiveResource {
    type Properties = DesiredArchive;
    type State = ArchiveState;
    type Effect = ArchiveEffect;
    type Rule = ArchiveRule;

    fn decide(archive: &DesiredArchive, state: &ArchiveState, _: Option<&Trigger>) -> Decision<ArchiveRule> {
        decide(archive, state)
    }

    fn verify(
        archive: &DesiredArchive,
        state: &ArchiveState,
        _: &ArchiveEffect,
    ) -> Result<Verified<ArchiveRule>, Failure> {
        let path = archive.path.display();
        let wrong = match plan(archive, state) {
            ArchivePlan::Keep(_) => return Ok(Verified::Changed),
            ArchivePlan::Fail(failure) => {
                let failure =
                    failure.because_of(format!("\"{path}\" is not in the desired state after the change"));
                return Err(Failure { kind: FailureKind::Verification, ..failure });
            }
            ArchivePlan::Extract(_) | ArchivePlan::Fetch(_) if not_created(archive, state) => {
                let creates = archive.creates.as_deref().unwrap_or(&archive.path).display();
                let message = format!("\"{creates}\" does not exist after the extraction");
                return Err(Failure::new(FailureKind::Verification, message)
                    .of_property("creates")
                    .with_hint("check `creates` against the names in the archive, and `strip_components`"));
            }
            ArchivePlan::Remove => "the file exists".to_owned(),
            ArchivePlan::Fetch(rule) | ArchivePlan::Extract(rule) => rule.to_string(),
            ArchivePlan::SetAttributes(differences) => in_words(&differences),
        };
        Err(Failure::new(FailureKind::Verification, wrong)
            .because_of(format!("\"{path}\" is not in the desired state after the change"))
            .with_hint("check whether another program changes this path at the same time"))
    }

    fn action_taken(
        archive: &DesiredArchive,
        _: &ArchiveState,
        done: &ArchiveEffect,
        planned: Action,
    ) -> Action {
        let downloaded = done.downloaded.as_ref().zip(archive.origin.as_ref());
        let mut parts: Vec<String> = Vec::new();
        parts.extend(downloaded.map(|((_, size), origin)| format!("{} from {}", bytes(*size), origin.url)));
        parts.extend(done.extracted.zip(archive.extraction.as_ref()).map(|(extracted, extraction)| {
            let files = match extracted.files {
                1 => "1 file".to_owned(),
                files => format!("{files} files"),
            };
            format!("{files} extracted into {}", extraction.into.display())
        }));
        if parts.is_empty() { planned } else { Action { detail: Some(parts.join(", ")), ..planned } }
    }

    fn describe(archive: &DesiredArchive, state: &ArchiveState, _: &str) -> Described {
        describe(archive, state)
    }

    fn undescribed(_: &DesiredArchive, state: &ArchiveState) -> Undescribed {
        Undescribed::found(&(&state.found, &state.extracted_checksum))
    }
}

pub(crate) fn decide(archive: &DesiredArchive, state: &ArchiveState) -> Decision<ArchiveRule> {
    let change = |reason, action| Decision::Change { reason, action, diff: None };
    let into = archive.extraction.as_ref().map(|extraction| extraction.into.display().to_string());
    match plan(archive, state) {
        ArchivePlan::Keep(reason) => Decision::Keep { reason },
        ArchivePlan::Fail(failure) => Decision::Fail { reason: ArchiveRule::Conflict, failure },
        ArchivePlan::Fetch(reason) => {
            let url = archive.origin.as_ref().map(|origin| origin.url.to_string()).unwrap_or_default();
            let detail = match &into {
                Some(into) => format!("from {url}, extracted into {into}"),
                None => format!("from {url}"),
            };
            let is_new = state.found.target.is_none() && reason != ArchiveRule::OldTree;
            let action = Action::new(if is_new { Verb::Create } else { Verb::Replace }).of(detail);
            change(reason, with_checksums(action, archive, state))
        }
        ArchivePlan::Extract(reason) => {
            let into = into.unwrap_or_default();
            let verb = if reason == ArchiveRule::OldTree { Verb::Replace } else { Verb::Create };
            change(reason, Action::new(verb).of(format!("extracted into {into}")))
        }
        ArchivePlan::SetAttributes(differences) => {
            let action = differences.iter().fold(Action::new(Verb::Change), |action, difference| {
                action.changing(difference.name, Some(difference.from.clone()), Some(difference.to.clone()))
            });
            change(ArchiveRule::Differs(in_words(&differences)), action)
        }
        ArchivePlan::Remove => change(ArchiveRule::Present, Action::new(Verb::Remove).of("file")),
    }
}

pub(crate) fn plan(archive: &DesiredArchive, state: &ArchiveState) -> ArchivePlan {
    let plan = match &archive.origin {
        None => absent(archive, state),
        Some(origin) => present(archive, origin, state),
    };
    let replaces = matches!(plan, ArchivePlan::Fetch(_) | ArchivePlan::Remove);
    if let Some(mount) = state.mount.as_ref().filter(|_| replaces) {
        return ArchivePlan::Fail(mount_point(mount));
    }
    if matches!(plan, ArchivePlan::Fetch(_)) && state.found.parent_missing {
        return ArchivePlan::Fail(parent_missing(&archive.path));
    }
    if let (ArchivePlan::Fetch(_) | ArchivePlan::Extract(_), Some(extraction), Some(what)) =
        (&plan, &archive.extraction, state.obstacle)
    {
        return ArchivePlan::Fail(no_directory(extraction, what));
    }
    plan
}

fn present(archive: &DesiredArchive, origin: &Origin, state: &ArchiveState) -> ArchivePlan {
    let is_created = archive.creates.is_some() && state.creates_exists;
    if state.found.link {
        let message = format!("\"{}\" is a symbolic link", archive.path.display());
        return ArchivePlan::Fail(
            Failure::conflict(message)
                .with_missing(MissingPrerequisite::Path(archive.path.clone()))
                .with_hint("use the path that the link leads to"),
        );
    }
    let Some(target) = &state.found.target else {
        return match archive.cleanup && is_created {
            true if has_old_tree(origin, state) => ArchivePlan::Fetch(ArchiveRule::OldTree),
            true => ArchivePlan::Keep(ArchiveRule::Extracted),
            false if not_created(archive, state) => ArchivePlan::Fetch(ArchiveRule::NotExtracted),
            false => ArchivePlan::Fetch(ArchiveRule::NoFile),
        };
    };
    if let Some(what) = not_a_file(target.kind) {
        return ArchivePlan::Fail(not_a_file_failure(&archive.path, what));
    }
    // What was written now may have the mode that the manifest asks for.
    if state.written.is_none()
        && let Some(stranger) = stranger(archive, state, (target.uid, target.gid, target.mode))
    {
        return ArchivePlan::Fetch(ArchiveRule::Stranger(stranger));
    }
    if has_other_content(origin, state, target) {
        return ArchivePlan::Fetch(ArchiveRule::OtherContent);
    }
    if not_created(archive, state) {
        return ArchivePlan::Extract(ArchiveRule::NotExtracted);
    }
    if is_created && has_old_tree(origin, state) {
        return ArchivePlan::Extract(ArchiveRule::OldTree);
    }
    let differences = differences(archive, state, target);
    if differences.is_empty() {
        ArchivePlan::Keep(ArchiveRule::AsDesired)
    } else {
        ArchivePlan::SetAttributes(differences)
    }
}

/// Returns who else can change a file with this owner, group and mode. Such a file is no download: others may have put it
/// there, or may change it between the comparison of its checksum and the extraction.
pub(crate) fn stranger(
    archive: &DesiredArchive,
    state: &ArchiveState,
    (uid, gid, mode): (u32, u32, u32),
) -> Option<Stranger> {
    let (own_user, own_group) = state.own;
    if uid != 0 && uid != own_user && Some(uid) != state.uid {
        return Some(Stranger::Owner(uid));
    }
    // The manifest may share the file.
    if archive.mode == Some(mode) {
        return None;
    }
    if mode & 0o002 != 0 {
        return Some(Stranger::Everybody);
    }
    let is_of_others = gid != 0 && gid != own_group && Some(gid) != state.gid;
    (mode & 0o020 != 0 && is_of_others).then_some(Stranger::Group(gid))
}

fn absent(archive: &DesiredArchive, state: &ArchiveState) -> ArchivePlan {
    match state.found.target.as_ref().map(|target| target.kind) {
        Some(kind) if !state.found.link => match not_a_file(kind) {
            Some(what) => ArchivePlan::Fail(not_a_file_failure(&archive.path, what)),
            None => ArchivePlan::Remove,
        },
        _ if state.found.link => ArchivePlan::Remove,
        _ => ArchivePlan::Keep(ArchiveRule::Absent),
    }
}

/// Returns `true` if `creates` is given and does not exist.
fn not_created(archive: &DesiredArchive, state: &ArchiveState) -> bool {
    archive.creates.is_some() && !state.creates_exists
}

/// Returns `true` if a file with another checksum than the desired one was extracted last.
fn has_old_tree(origin: &Origin, state: &ArchiveState) -> bool {
    let checksums = origin.checksum.as_ref().zip(state.extracted_checksum.as_ref());
    state.written.is_none() && checksums.is_some_and(|(desired, extracted)| desired != extracted)
}

/// Returns `true` if the file is not the one with the desired checksum. After an execution the checksum is the one
/// that was computed while the file was written.
fn has_other_content(origin: &Origin, state: &ArchiveState, target: &FileInfo) -> bool {
    let written = state.written.as_ref().and_then(|written| written.downloaded.as_ref());
    match (written, &origin.checksum) {
        (Some((_, size)), _) => target.size != *size,
        (None, None) => false,
        // Nothing was downloaded, and the content was compared before.
        (None, Some(_)) if state.written.is_some() => false,
        (None, Some(checksum)) => target.sha256.as_ref() != Some(checksum),
    }
}

fn differences(
    archive: &DesiredArchive,
    state: &ArchiveState,
    target: &FileInfo,
) -> Vec<AttributeDifference> {
    let (owner, group) = state.names.as_ref().map_or(("", ""), |(owner, group)| (owner, group));
    let id = |name, found: u32, desired: Option<u32>, from: &str, to: &Option<String>| {
        desired.filter(|desired| *desired != found).map(|_| AttributeDifference {
            name,
            from: from.to_owned(),
            to: to.clone().unwrap_or_default(),
        })
    };
    let mode_difference = archive.mode.filter(|desired| *desired != target.mode).map(|desired| {
        AttributeDifference { name: "mode", from: shown_mode(target.mode), to: shown_mode(desired) }
    });
    let ids = [
        id("owner", target.uid, state.uid, owner, &archive.owner),
        id("group", target.gid, state.gid, group, &archive.group),
        mode_difference,
    ];
    ids.into_iter().flatten().collect()
}

fn in_words(differences: &[AttributeDifference]) -> String {
    let words = differences
        .iter()
        .map(|AttributeDifference { name, from, to }| format!("the {name} is {from}, not {to}"));
    words.collect::<Vec<_>>().join("; ")
}

/// Adds the change of the checksum, if it is known before the download.
fn with_checksums(action: Action, archive: &DesiredArchive, state: &ArchiveState) -> Action {
    let new = archive.origin.as_ref().and_then(|origin| origin.checksum.as_ref());
    let target = state.found.target.as_ref();
    let old = target.map_or(state.extracted_checksum.as_ref(), |target| target.sha256.as_ref());
    let short = |digits: &String| digits.chars().take(SHORT).collect::<String>();
    match (old, new) {
        (Some(old), Some(new)) if old != new => {
            action.changing("checksum", Some(short(old)), Some(short(new)))
        }
        _ => action,
    }
}

fn not_a_file(kind: FileKind) -> Option<&'static str> {
    match kind {
        FileKind::File => None,
        FileKind::Directory { .. } => Some("a directory"),
        FileKind::Special(what) => Some(what),
    }
}

fn not_a_file_failure(path: &Path, what: &str) -> Failure {
    let message = format!("\"{}\" is {what}, not a file", path.display());
    Failure::conflict(message)
        .with_missing(MissingPrerequisite::Path(path.to_owned()))
        .with_hint("use the path of the downloaded file as the name, and `extract_parent` for the directory")
}

fn parent_missing(path: &Path) -> Failure {
    let directory = directory_of(path);
    let message = format!("the directory \"{}\" does not exist", directory.display());
    Failure::conflict(message)
        .with_missing(MissingPrerequisite::Path(directory.to_owned()))
        .with_hint("manage the directory with a file resource and `ensure: directory`")
}

fn no_directory(extraction: &Extraction, what: &str) -> Failure {
    let message = format!("\"{}\" is {what}, not a directory", extraction.into.display());
    Failure::conflict(message)
        .of_property("extract_parent")
        .with_missing(MissingPrerequisite::Path(extraction.into.clone()))
        .with_hint("move away what is at this path, or extract into another directory")
}

fn bytes(number: u64) -> String {
    format!("{number} byte{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
