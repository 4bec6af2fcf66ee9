//! Parts of the state of a file that are read only for a change or its report.

use std::cell::RefCell;
use std::collections::HashSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::{ChangedPart, FileKind, Files};
use ccm_model::Failure;

use super::decide::{FilePlan, Removal, plan};
use super::desired::{DesiredFile, FileContent, FileEnsure};
use super::many;
use super::state::{Desired, FileState};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::diff;
use crate::parts::path_walk::missing_parents;
use crate::parts::tree::{self, report};
use crate::support::file_failure::{check_writable, file_failure};

/// Maximum number of entries to count in a directory that is to be removed.
const MAX_COUNTED_ENTRIES: u64 = 1_000_000;

/// Directories in which files can be made, each checked once until something is executed.
#[derive(Default)]
pub(super) struct WritableDirectories(RefCell<HashSet<PathBuf>>);

impl WritableDirectories {
    pub(super) async fn of(context: &Context<'_>) -> Rc<Self> {
        let cache = context.state_cache(async || Ok::<_, Infallible>(Self::default())).await;
        cache.unwrap_or_else(|never| match never {})
    }

    /// Checks that the file system lets a file be made where there is none.
    fn check(&self, path: &Path, files: &dyn Files) -> Result<(), Failure> {
        let Some(directory) = path.parent() else { return Ok(()) };
        if self.0.borrow().contains(directory) {
            return Ok(());
        }
        check_writable(path, ChangedPart::Entry, files)?;
        self.0.borrow_mut().insert(directory.to_owned());
        Ok(())
    }
}

/// Reads what only the report of a change and the change itself need. `before` is false after a change.
pub(super) fn complete(
    file: &DesiredFile,
    state: &mut FileState,
    before: bool,
    (accounts, directories): (&Accounts<'_>, &WritableDirectories),
    context: &Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    let is_purged = file.tree.as_ref().is_some_and(|tree| tree.rules.purge);
    if file.ensure == FileEnsure::Absent || is_purged {
        state.is_top_level = is_top_level(file, state, files);
    }
    let plan = plan(file, state);
    let is_kept = before && matches!(plan, FilePlan::Keep(_));
    if !is_kept || context.describe_unchanged {
        state.names = names_found(file, state, accounts);
    }
    if !before || is_kept {
        return Ok(());
    }
    state.is_written_with_others = many::can_write(file, &plan, context);
    complete_plan(file, &plan, state, accounts, context)?;
    // The mounts are slow to read, and only matter for a replacement or removal.
    if plan.replaces() {
        let mount = files.blocking_mount(&file.path, file.force);
        state.mount = mount.map_err(|error| file_failure(&error))?;
    }
    match plan {
        _ if state.mount.is_some() => Ok(()),
        FilePlan::Create => directories.check(&file.path, files),
        plan => check_changes(file, &plan, files),
    }
}

/// Returns the failure of a plan that the file system or a flag of a file forbids.
pub(super) fn check_changes(file: &DesiredFile, plan: &FilePlan, files: &dyn Files) -> Result<(), Failure> {
    let (own, changes) = match plan {
        FilePlan::Inside(own, changes) => (&**own, &changes[..]),
        plan => (plan, &[][..]),
    };
    let part = match own {
        FilePlan::Keep(_) | FilePlan::Fail(_) | FilePlan::Inside(..) => None,
        FilePlan::MakeDirectory => Some(ChangedPart::NewDirectory),
        FilePlan::Update(differences) if !differences.content => Some(ChangedPart::Attributes),
        _ => Some(ChangedPart::Entry),
    };
    part.map_or(Ok(()), |part| check_writable(&file.path, part, files))?;
    tree::execute::check(&file.path, changes, files)
}

fn complete_plan(
    file: &DesiredFile,
    plan: &FilePlan,
    state: &mut FileState,
    accounts: &Accounts<'_>,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    let (plan, changes) = match plan {
        FilePlan::Inside(own, changes) => (&**own, &changes[..]),
        plan => (plan, &[][..]),
    };
    if let Some(inside) = state.inside.as_mut().filter(|_| !changes.is_empty()) {
        inside.details = report::details(&file.path, changes, inside, file.sensitive, accounts, context);
    }
    if *plan == FilePlan::MakeDirectory && state.found.parent_missing {
        state.missing_parents =
            missing_parents(&file.path, files, |parent| context.would_be_directory(parent))?;
    }
    if matches!(plan, FilePlan::Create | FilePlan::MakeDirectory | FilePlan::ReplaceLink(_)) {
        state.new_names = names_of_new(file, &state.desired, accounts);
    }
    let is_removal = *plan == FilePlan::Remove(Removal::File);
    let is_new = matches!(plan, FilePlan::Create | FilePlan::ReplaceLink(_));
    if !file.sensitive && (plan.changes_content() || state.diff && (is_new || is_removal)) {
        read_contents(file, state, context);
    }
    if *plan == FilePlan::Remove(Removal::Tree) {
        state.tree = Some(files.tree_size(&file.path, MAX_COUNTED_ENTRIES));
    }
    Ok(())
}

/// Reads short contents for a diff, or for counting the changed lines. Content that can't be read is left out.
fn read_contents(file: &DesiredFile, state: &mut FileState, context: &Context<'_>) {
    let files = context.host.files;
    let limit = if state.diff { diff::MAX_CONTENT } else { diff::MAX_COUNTED };
    let read = |path: &Path| files.content(path, limit).ok().flatten();
    let old = state.found.target.as_mut().filter(|target| target.kind == FileKind::File);
    let old_size = old.as_ref().map_or(0, |old| old.size);
    if !state.diff && old_size.max(state.desired.size) > limit {
        if let Some(old) = old {
            old.content = None;
        }
        return;
    }
    if let Some(old) = old.filter(|old| old.content.is_none() && old.size <= limit) {
        old.content = read(&file.path);
    }
    state.desired.content = match &file.content {
        _ if file.ensure == FileEnsure::Absent || state.desired.size > limit => None,
        Some(FileContent::Text(text)) => Some(text.as_bytes().to_owned()),
        Some(FileContent::Source(source)) => {
            state.desired.content.take().or_else(|| read(&context.directory.join(source)))
        }
        // A download is only read when the file is replaced.
        #[cfg(feature = "archive")]
        Some(FileContent::Web(_)) => None,
        None => None,
    };
    if state.diff {
        let redactor = context.secrets.redactor();
        let hidden_lines = |content: Option<&Vec<u8>>| {
            content.map(|content| diff::hidden_lines(&redactor, content)).unwrap_or_default()
        };
        let old = state.found.target.as_ref().and_then(|target| target.content.as_ref());
        state.hidden_lines = (hidden_lines(old), hidden_lines(state.desired.content.as_ref()));
    }
}

/// Returns the names of owner and group that a new file gets.
fn names_of_new(
    file: &DesiredFile,
    desired: &Desired,
    accounts: &Accounts<'_>,
) -> Option<(Rc<str>, Rc<str>)> {
    let (user, group) = accounts.own()?;
    let written = |name: &Option<String>| name.as_deref().filter(|name| !is_number(name)).map(Rc::from);
    let owner = written(&file.owner).unwrap_or_else(|| accounts.user_name(desired.uid.unwrap_or(user)));
    let group = written(&file.group).unwrap_or_else(|| accounts.group_name(desired.gid.unwrap_or(group)));
    Some((owner, group))
}

/// Returns `true` for a directory directly below `/`, also if links among the parents lead to it.
fn is_top_level(file: &DesiredFile, state: &FileState, files: &dyn Files) -> bool {
    let is_directory =
        state.found.target.as_ref().is_some_and(|target| matches!(target.kind, FileKind::Directory { .. }));
    let lies_below_root = |path: &Path| path.parent().is_none_or(|parent| parent == Path::new("/"));
    is_directory
        && !state.found.link
        && lies_below_root(files.canonical(&file.path).as_deref().unwrap_or(&file.path))
}

/// Returns the names of owner and group, spelt as in the manifest where they match.
fn names_found(file: &DesiredFile, state: &FileState, accounts: &Accounts<'_>) -> Option<(Rc<str>, Rc<str>)> {
    let target = state.found.target.as_ref()?;
    let written = |number, desired: Option<u32>, written: &Option<String>| {
        let written = written.as_deref().filter(|name| desired == Some(number) && !is_number(name));
        written.map(Rc::from)
    };
    let owner = written(target.uid, state.desired.uid, &file.owner);
    let group = written(target.gid, state.desired.gid, &file.group);
    Some((
        owner.unwrap_or_else(|| accounts.user_name(target.uid)),
        group.unwrap_or_else(|| accounts.group_name(target.gid)),
    ))
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}
