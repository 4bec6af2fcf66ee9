//! Provider posix: local files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{FileAttributes, FileError, FileKind, Files, HashPolicy, InspectOptions, PathInfo, sha256};
use ccm_model::Failure;

use super::decide::{FileEffect, FilePlan, FileResource, Removal, plan};
use super::desired::{DesiredFile, DesiredTree, FileContent, FileEnsure};
use super::details::{self, WritableDirectories};
use super::link;
use super::many;
use super::new_content::{ReadyContent, prepare, preview, source_failure, write};
use super::state::{Desired, FileState};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::backup::back_up;
use crate::parts::diff;
use crate::parts::path_walk::{make_parents, parents_note};
use crate::parts::tree::plan::TreeChange;
use crate::parts::tree::{self, TreeState};
use crate::support::file_failure::file_failure;
use crate::support::secret_content::mark_secret;
use crate::support::values::principal::{UNKNOWN_ID, desired_number};

/// Maximum size of content that is read for a reported checksum alone.
const MAX_REPORTED_HASH: u64 = 16 << 20;

/// Manages local files, one at a time: prefetching 256 files with two threads was no faster on an idle
/// two-core machine, and several times slower on a busy one, because each batch waits for a thread to start.
pub(crate) struct Posix;

impl Provider<FileResource> for Posix {
    async fn status(
        &self,
        file: &DesiredFile,
        reading: ReadPurpose<'_, FileEffect>,
        context: &mut Context<'_>,
    ) -> Result<FileState, Failure> {
        let (accounts, directories) = (Accounts::of(context).await, WritableDirectories::of(context).await);
        status(file, &reading, (&accounts, &directories), context)
    }

    async fn preflight(
        &self,
        file: &DesiredFile,
        state: &FileState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        check_takeover(file, state, context.host.files)?;
        let plan = plan(file, state);
        if plan.writes_content() && !file.validators.is_empty() {
            preview(file, context).await?;
        }
        warn_of_left_entries(state, context);
        let accounts = Accounts::of(context).await;
        Ok(cannot_chown(file, context.host.files, &accounts).into_iter().collect())
    }

    async fn execute(
        &self,
        file: &DesiredFile,
        state: &FileState,
        context: &mut Context<'_>,
    ) -> Result<FileEffect, Failure> {
        warn_of_left_entries(state, context);
        let is_written = plan(file, state).writes_content();
        let ready = if is_written { prepare(file, state, context).await? } else { ReadyContent::Declared };
        execute(file, state, ready, context)
    }

    fn change_batch_size(&self, (_, state): (&DesiredFile, &FileState)) -> usize {
        if state.is_written_with_others { many::MAX_FILES } else { 1 }
    }

    fn can_batch_with(
        &self,
        (_, one): (&DesiredFile, &FileState),
        (_, other): (&DesiredFile, &FileState),
    ) -> bool {
        one.is_written_with_others && other.is_written_with_others
    }

    fn stops_at_failure(&self) -> bool {
        true
    }

    async fn execute_many(
        &self,
        changes: &[(&DesiredFile, &FileState)],
        context: &mut Context<'_>,
    ) -> Vec<Result<FileEffect, Failure>> {
        many::write(changes, context)
    }
}

/// Checks that no other user could have prepared an existing file before ccm changes it.
pub(super) fn check_takeover(
    file: &DesiredFile,
    state: &FileState,
    files: &dyn Files,
) -> Result<(), Failure> {
    let is_unknown = [state.desired.uid, state.desired.gid].contains(&Some(UNKNOWN_ID));
    if is_unknown || !matches!(plan(file, state), FilePlan::Update(_) | FilePlan::ReplaceLink(_)) {
        return Ok(());
    }
    match files.check_attributes(&file.path, attributes(file, state)) {
        Err(error) if file.content.is_none() || matches!(error, FileError::SharedDirectory { .. }) => {
            Err(file_failure(&error))
        }
        // A file with managed content is replaced instead.
        _ => Ok(()),
    }
}

/// Returns a warning if ccm is not allowed to set the desired owner and group.
fn cannot_chown(file: &DesiredFile, files: &dyn Files, accounts: &Accounts<'_>) -> Option<String> {
    let found = files.inspect(&file.path, InspectOptions::default()).ok()?.target;
    // Without managed content the file is kept, with its owner and group.
    let kept = found.filter(|_| file.content.is_some() && file.ensure == FileEnsure::Present);
    let number = |name: &Option<String>, find: &dyn Fn(&str) -> Option<u32>| name.as_deref().and_then(find);
    let uid = number(&file.owner, &|name| accounts.user(name).ok().flatten());
    let gid = number(&file.group, &|name| accounts.group(name).ok().flatten());
    let uid = uid.or(kept.as_ref().map(|kept| kept.uid));
    let gid = gid.or(kept.as_ref().map(|kept| kept.gid));
    if matches!(file.ensure, FileEnsure::Absent | FileEnsure::Link) || files.can_chown(uid, gid) {
        return None;
    }
    let owners = match (uid.map(|uid| accounts.user_name(uid)), gid.map(|gid| accounts.group_name(gid))) {
        (Some(user), Some(group)) => format!("{user}:{group}"),
        (Some(user), None) => format!("user {user}"),
        (None, Some(group)) => format!("group {group}"),
        (None, None) => return None,
    };
    Some(format!("only root can give a file to {owners}"))
}

fn status(
    file: &DesiredFile,
    reading: &ReadPurpose<'_, FileEffect>,
    (accounts, directories): (&Accounts<'_>, &WritableDirectories),
    context: &Context<'_>,
) -> Result<FileState, Failure> {
    let files = context.host.files;
    if file.ensure == FileEnsure::Link {
        return link::status(file, reading.is_before(), context);
    }
    // The state after a change is compared with the written content, even if the source has changed since.
    let before = matches!(reading, ReadPurpose::Before { .. });
    let diff = context.diff && before;
    if let (true, true, Some(FileContent::Text(text))) = (before, file.sensitive, &file.content) {
        mark_secret(text.as_bytes(), context.secrets);
    }
    let redactor = context.secrets.redactor();
    // A sensitive file always counts as secret.
    let mut holds_secret = file.sensitive
        || matches!(&file.content, Some(FileContent::Text(text)) if redactor.finds(text.as_bytes()));
    let is_searched = file.content.is_some() && !redactor.is_empty();
    let keep_up_to = if is_searched || file.sensitive { diff::MAX_CONTENT } else { 0 };
    let mut desired = Desired::default();
    if file.ensure != FileEnsure::Absent {
        let would_be = |name: &str| context.would_be_principal(name);
        desired.uid = desired_number(file.owner.as_deref(), "user", |name| accounts.user(name), would_be)?;
        desired.gid = desired_number(file.group.as_deref(), "group", |name| accounts.group(name), would_be)?;
    }
    if before
        && file.tree.is_none()
        && !context.describe_unchanged
        && let Some(unchanged) = unchanged_by_attributes(file, &desired, files)
    {
        return Ok(unchanged);
    }
    match (reading, &file.content) {
        (ReadPurpose::After(done), _) => {
            desired.sha256.clone_from(&done.sha256);
            desired.size = done.size;
        }
        (_, Some(FileContent::Text(text))) => {
            desired.size = text.len() as u64;
        }
        (_, Some(FileContent::Source(source))) => {
            let read =
                files.read(&context.directory.join(source), keep_up_to).map_err(|e| source_failure(&e))?;
            desired.sha256 = Some(read.sha256);
            desired.size = read.size;
            if let Some(content) = &read.content {
                if file.sensitive {
                    mark_secret(content, context.secrets);
                }
                holds_secret = holds_secret || redactor.finds(content);
            }
            desired.content = read.content.filter(|_| diff);
        }
        #[cfg(feature = "archive")]
        (_, Some(FileContent::Web(web))) => desired.sha256 = Some(web.sha256.clone()),
        (_, None) => {}
    }
    let hash = match file.ensure {
        #[cfg(feature = "archive")]
        FileEnsure::Present if matches!(file.content, Some(FileContent::Web(_))) => {
            HashPolicy::Required(crate::parts::web::MAX_SIZE)
        }
        // A file that is longer than its content should be differs: its owner may have made it endless.
        FileEnsure::Present if file.content.is_some() => {
            HashPolicy::Required(desired.size.max(MAX_REPORTED_HASH))
        }
        FileEnsure::Absent if !diff => HashPolicy::Never,
        _ => HashPolicy::UpTo(MAX_REPORTED_HASH),
    };
    let text = match &file.content {
        Some(FileContent::Text(text)) if before => Some(text.as_bytes()),
        _ => None,
    };
    // Comparing a text is faster than computing its checksum.
    let mut found = match files.inspect(&file.path, InspectOptions { hash, keep_up_to, compare: text }) {
        Ok(found) => found,
        // Nothing exists below a path that is not a directory.
        Err(FileError::NotADirectory { .. }) if file.ensure == FileEnsure::Absent => PathInfo::default(),
        Err(error) => return Err(file_failure(&error)),
    };
    let is_same = found.target.as_ref().is_some_and(|target| target.is_same);
    if let Some(text) = text.filter(|_| !is_same) {
        desired.sha256 = Some(sha256(text));
    }
    if found.parent_missing && file.path.parent().is_some_and(|parent| context.would_be_directory(parent)) {
        found.parent_missing = false;
    }
    #[cfg(feature = "archive")]
    if let (true, Some(FileContent::Web(web)), Some(target)) = (file.sensitive, &file.content, &found.target)
        && target.sha256.as_ref() == Some(&web.sha256)
    {
        mark_secret(target.content.as_deref().unwrap_or_default(), context.secrets);
    }
    let can_back_up = context.state_directory.is_some();
    let needed_by_ccm = context.state_directory.is_some_and(|state| state.starts_with(&file.path));
    let old = found.target.as_ref().and_then(|target| target.content.as_ref());
    holds_secret = holds_secret || old.is_some_and(|content| redactor.finds(content));
    let mut state =
        FileState { found, desired, needed_by_ccm, can_back_up, diff, holds_secret, ..FileState::default() };
    if let Some(tree) = &file.tree {
        state.inside = inside(file, tree, &state, context)?;
    }
    details::complete(file, &mut state, before, (accounts, directories), context)?;
    Ok(state)
}

/// Reads what a directory holds. A link in its place is refused later, and nothing can be in what does not exist.
fn inside(
    file: &DesiredFile,
    tree: &DesiredTree,
    state: &FileState,
    context: &Context<'_>,
) -> Result<Option<TreeState>, Failure> {
    let files = context.host.files;
    let mut inside = TreeState {
        uid: state.desired.uid,
        gid: state.desired.gid,
        owner: file.owner.clone(),
        group: file.group.clone(),
        ..TreeState::default()
    };
    if state.found.link {
        return Ok(Some(inside));
    }
    inside.managed = tree::status::managed(&file.path, &tree.rules, context);
    if let Some(source) = &tree.source {
        let source = tree::source::CopiedTree {
            path: &context.directory.join(source),
            rendered: &tree.rendered,
            ignore: &tree.rules.ignore,
            templates: tree::source::TemplateFiles::Named,
        };
        inside.desired = tree::source::read(&source, &file.path, files)?;
        if file.sensitive {
            tree::mark_secret(&inside.desired, context)?;
        }
    }
    let is_directory =
        state.found.target.as_ref().is_some_and(|target| matches!(target.kind, FileKind::Directory { .. }));
    if is_directory {
        inside.found = tree::status::read(&file.path, &tree.rules, &inside.desired, &inside.managed, files)?;
    }
    Ok(Some(inside))
}

/// Returns the state of an unchanged file without managed content. The content is not read: the checksum
/// would only be reported, and a log may be long.
fn unchanged_by_attributes(file: &DesiredFile, desired: &Desired, files: &dyn Files) -> Option<FileState> {
    if file.content.is_some() {
        return None;
    }
    // The full inspection that follows reports an error.
    let found = files.inspect(&file.path, InspectOptions::default()).ok()?;
    let state = FileState { found, desired: desired.clone(), ..FileState::default() };
    matches!(plan(file, &state), FilePlan::Keep(_)).then_some(state)
}

/// Makes the change.
fn execute(
    file: &DesiredFile,
    state: &FileState,
    ready: ReadyContent,
    context: &mut Context<'_>,
) -> Result<FileEffect, Failure> {
    let is_same = state.found.target.as_ref().is_some_and(|target| target.is_same);
    let mut done = FileEffect { sha256: state.desired.sha256.clone(), size: state.desired.size, parents: 0 };
    if let (Some(FileContent::Text(text)), true) = (&file.content, is_same) {
        done.sha256 = Some(sha256(text.as_bytes()));
    }
    match plan(file, state) {
        FilePlan::Inside(own, changes) => fill(file, state, *own, &changes, &mut done, context)?,
        plan => execute_plan(file, state, plan, ready, &mut done, context)?,
    }
    Ok(done)
}

/// Changes a directory and what is in it, and gives the directory away last, as [`tree::execute::apply`] does.
fn fill(
    file: &DesiredFile,
    state: &FileState,
    own: FilePlan,
    changes: &[TreeChange],
    done: &mut FileEffect,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let attributes = attributes(file, state);
    let is_new = own == FilePlan::MakeDirectory;
    let has_owner = attributes.uid.is_some() || attributes.gid.is_some();
    // Missing directories above it are made by ccm.
    let is_given_last = is_new
        && has_owner
        && (!state.missing_parents.is_empty() || tree::execute::can_be_given_later(&file.path, context));
    if is_new {
        let first = if is_given_last { tree::execute::without_owner(attributes) } else { attributes };
        make_directory(file, state, first, done, context)?;
    }
    if let Some(inside) = &state.inside {
        let filled = tree::execute::apply(&file.path, changes, inside, file.backup, context);
        filled.map_err(|failure| Failure { changed: failure.changed || is_new, ..failure })?;
    }
    let given = match own {
        FilePlan::MakeDirectory if is_given_last => {
            let given = FileAttributes { mode: None, ..attributes };
            context.host.files.set_attributes(&file.path, given).map_err(|error| file_failure(&error))
        }
        FilePlan::MakeDirectory => Ok(()),
        own => execute_plan(file, state, own, ReadyContent::Declared, done, context),
    };
    given.map_err(|failure| Failure { changed: true, ..failure })
}

/// Makes the directory, and those above it.
fn make_directory(
    file: &DesiredFile,
    state: &FileState,
    attributes: FileAttributes,
    done: &mut FileEffect,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    done.parents = make_parents(&state.missing_parents, files)?;
    if let Some(note) = parents_note(&state.missing_parents) {
        context.note(note);
    }
    files.make_directory(&file.path, attributes).map_err(|error| {
        let failure = file_failure(&error);
        Failure { changed: failure.changed || done.parents > 0, ..failure }
    })
}

/// Checks that the content of a file may be replaced, and keeps the old one if the manifest asks for it.
pub(super) fn prepare_update(
    file: &DesiredFile,
    state: &FileState,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    check_takeover(file, state, context.host.files)?;
    if file.backup { back_up(&file.path, context) } else { Ok(()) }
}

fn execute_plan(
    file: &DesiredFile,
    state: &FileState,
    plan: FilePlan,
    ready: ReadyContent,
    done: &mut FileEffect,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    let attributes = attributes(file, state);
    match plan {
        FilePlan::Keep(_) | FilePlan::Inside(..) => {}
        FilePlan::Fail(failure) => return Err(failure),
        FilePlan::Create | FilePlan::ReplaceLink(_) => {
            write(file, ready, attributes, done, context)?;
            done.sha256 = done.sha256.take().filter(|_| file.content.is_some());
        }
        FilePlan::Update(differences) if differences.content => {
            prepare_update(file, state, context)?;
            write(file, ready, attributes, done, context)?;
        }
        FilePlan::Update(_) => {
            match files.set_attributes(&file.path, attributes) {
                // A new file with the same content is certainly not one that a stranger moved there.
                Err(
                    FileError::UntrustedDirectory { .. }
                    | FileError::SeveralNames { .. }
                    | FileError::StrangersDirectory { .. },
                ) if file.has_local_content() => {
                    write(file, ready, attributes, done, context)?;
                }
                result => result.map_err(|error| file_failure(&error))?,
            }
        }
        FilePlan::MakeDirectory => make_directory(file, state, attributes, done, context)?,
        FilePlan::MakeLink(change) => link::execute(file, change, context)?,
        FilePlan::Remove(what) => {
            if file.backup && what == Removal::File {
                back_up(&file.path, context)?;
            }
            files.remove(&file.path, file.force).map_err(|error| file_failure(&error))?;
        }
    }
    Ok(())
}

/// Warns of entries of the source that are left to other resources.
fn warn_of_left_entries(state: &FileState, context: &mut Context<'_>) {
    let Some(inside) = &state.inside else { return };
    let is_left = |path: &Path| {
        let above = path
            .ancestors()
            .skip(1)
            .find(|above| !above.as_os_str().is_empty() && inside.managed.is_tree(above));
        above.map(Path::to_owned)
    };
    let left: BTreeSet<PathBuf> =
        inside.desired.iter().filter_map(|desired| is_left(&desired.path)).collect();
    for path in left {
        context.warn(format!(
            "what `source` holds for `{}` is not copied: another resource manages that directory",
            path.display()
        ));
    }
}

pub(super) fn attributes(file: &DesiredFile, state: &FileState) -> FileAttributes {
    FileAttributes { uid: state.desired.uid, gid: state.desired.gid, mode: file.mode }
}
