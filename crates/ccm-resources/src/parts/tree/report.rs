//! What a report says of the changes of a tree.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::{FileAttributes, TreeEntryKind};
use ccm_model::{Action, Change, ChangedLines, EntryAction, Verb};

use super::plan::{RemovedSize, TreeChange, TreeChangeKind};
use super::{DesiredKind, EntryContent, TreeState};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::diff::{
    ChangedContent, DiffScope, MAX_CONTENT, MAX_COUNTED, count_changed_lines, hidden_lines,
};
use crate::support::values::principal::UNKNOWN_ID;

/// Maximum number of entries of an action.
const MAX_ENTRIES: usize = 10_000;
/// Maximum length of all diffs of a tree together, in bytes.
const MAX_DIFF: usize = 1 << 20;

/// Parts of the report that need the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Details {
    /// Lines that change, by path.
    lines: BTreeMap<PathBuf, ChangedLines>,
    /// Files whose size is not shown.
    secret: HashSet<PathBuf>,
    users: BTreeMap<u32, String>,
    groups: BTreeMap<u32, String>,
    /// Diffs of all changed files, if they are requested.
    pub diff: Option<String>,
}

/// Reads what the report of the changes needs to know.
pub(crate) fn details(
    root: &Path,
    changes: &[TreeChange],
    state: &TreeState,
    sensitive: bool,
    accounts: &Accounts<'_>,
    context: &Context<'_>,
) -> Details {
    let mut details = Details::default();
    let mut diff = String::new();
    let redactor = context.secrets.redactor();
    let files = context.host.files;
    let limit = if context.diff { MAX_CONTENT } else { MAX_COUNTED };
    for change in changes.iter().take(MAX_ENTRIES) {
        let path = root.join(&change.path);
        let read = |path: &Path| files.content(path, limit).ok().flatten();
        let found = change.found().and_then(|at| state.found.get(at)).map(|found| &found.entry);
        if let Some(entry) = found {
            details.users.entry(entry.uid).or_insert_with(|| accounts.user_name(entry.uid).to_string());
            details.groups.entry(entry.gid).or_insert_with(|| accounts.group_name(entry.gid).to_string());
        }
        if let Some(FileAttributes { uid, gid, .. }) = change.attributes() {
            if let Some(uid) = uid {
                details.users.entry(uid).or_insert_with(|| match &state.owner {
                    Some(owner) if uid == UNKNOWN_ID => owner.clone(),
                    _ => accounts.user_name(uid).to_string(),
                });
            }
            if let Some(gid) = gid {
                details.groups.entry(gid).or_insert_with(|| match &state.group {
                    Some(group) if gid == UNKNOWN_ID => group.clone(),
                    _ => accounts.group_name(gid).to_string(),
                });
            }
        }
        let old_size = found.filter(|entry| entry.kind == TreeEntryKind::File).map(|entry| entry.size);
        let new = match &change.kind {
            TreeChangeKind::Write { desired, .. } => state.content(*desired),
            TreeChangeKind::Remove { .. } => None,
            _ => continue,
        };
        if sensitive {
            details.secret.insert(change.path.clone());
            continue;
        }
        // A new file needs no reading unless its content is shown or may hold a secret.
        let is_counted = old_size.is_some() && new.is_some();
        if !(is_counted || context.diff || !redactor.is_empty()) || diff.len() > MAX_DIFF {
            continue;
        }
        let size = old_size.unwrap_or_default().max(new.map_or(0, EntryContent::size));
        if size > limit {
            continue;
        }
        let old = old_size.and_then(|_| read(&path));
        let new_bytes = match new {
            Some(EntryContent::Text(text)) => Some(text.to_vec()),
            Some(EntryContent::Copy { source, .. }) => read(source),
            None => None,
        };
        let holds_secret = [&old, &new_bytes].into_iter().flatten().any(|content| redactor.finds(content));
        if holds_secret {
            details.secret.insert(change.path.clone());
        }
        if let (Some(old), Some(new)) = (&old, &new_bytes) {
            let lines =
                Some(()).filter(|()| size <= MAX_COUNTED).and_then(|()| count_changed_lines(old, new));
            details.lines.extend(lines.map(|lines| (change.path.clone(), lines)));
        }
        if context.diff {
            let hidden = |content: &Option<Vec<u8>>| {
                content.as_ref().map(|content| hidden_lines(&redactor, content)).unwrap_or_default()
            };
            let scope = DiffScope {
                path: &path,
                sensitive: false,
                holds_secret,
                size,
                hidden_lines: &(hidden(&old), hidden(&new_bytes)),
            };
            match (&old, &new_bytes) {
                (old, Some(new)) => diff += &scope.diff(ChangedContent { old: old.as_deref(), new }),
                (Some(old), None) => diff += &scope.removal(old),
                (None, None) => {}
            }
        }
    }
    details.diff = (context.diff && !diff.is_empty()).then(|| {
        let is_cut = diff.len() > MAX_DIFF;
        if is_cut { diff + "... (further files are left out)\n" } else { diff }
    });
    details
}

impl TreeState {
    fn content(&self, desired: usize) -> Option<&EntryContent> {
        match &self.desired.get(desired)?.kind {
            DesiredKind::File { content, .. } => Some(content),
            DesiredKind::Directory | DesiredKind::Link(_) => None,
        }
    }
}

impl TreeChange {
    fn found(&self) -> Option<usize> {
        match &self.kind {
            TreeChangeKind::MakeDirectory(_) => None,
            TreeChangeKind::Write { old, .. } | TreeChangeKind::MakeLink { old, .. } => *old,
            TreeChangeKind::SetAttributes { found, .. } | TreeChangeKind::Remove { found, .. } => {
                Some(*found)
            }
        }
    }

    fn attributes(&self) -> Option<FileAttributes> {
        match &self.kind {
            TreeChangeKind::MakeDirectory(attributes)
            | TreeChangeKind::Write { attributes, .. }
            | TreeChangeKind::SetAttributes { attributes, .. } => Some(*attributes),
            TreeChangeKind::MakeLink { .. } | TreeChangeKind::Remove { .. } => None,
        }
    }

    fn verb(&self) -> Verb {
        match &self.kind {
            TreeChangeKind::MakeDirectory(_) => Verb::Create,
            TreeChangeKind::Write { old: None, .. } | TreeChangeKind::MakeLink { old: None, .. } => {
                Verb::Create
            }
            TreeChangeKind::Remove { .. } => Verb::Remove,
            _ => Verb::Change,
        }
    }
}

/// Adds the changes of the entries to the action of a tree: their numbers, and each by itself.
pub(crate) fn add_entries(mut action: Action, changes: &[TreeChange], state: &TreeState) -> Action {
    let mut removed = RemovedSize::default();
    let is_removal = |change: &TreeChange| matches!(change.kind, TreeChangeKind::Remove { .. });
    let is_secret =
        changes.iter().any(|change| is_removal(change) && state.details.secret.contains(&change.path));
    for change in changes {
        if let TreeChangeKind::Remove { size, .. } = &change.kind {
            removed.files += size.files;
            removed.bytes += size.bytes;
        }
    }
    let number = |verb: Verb| changes.iter().filter(|change| change.verb() == verb).count() as u64;
    let counts = [
        ("create", number(Verb::Create), String::new()),
        ("change", number(Verb::Change), String::new()),
        (
            "remove",
            number(Verb::Remove),
            if is_secret {
                format!(" with {}", counted(removed.files, "file"))
            } else {
                format!(" with {}, {}", counted(removed.files, "file"), counted(removed.bytes, "byte"))
            },
        ),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(_, number, _)| *number > 0)
        .map(|(verb, number, size)| format!("{verb} {number}{size}"))
        .collect();
    let number = changes.len();
    let entries = if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") };
    let inside = format!("{entries} in it ({})", parts.join(", "));
    action.detail = Some(match action.detail.take() {
        Some(own) => format!("{own}; {inside}"),
        None => inside,
    });
    action.entries = changes.iter().take(MAX_ENTRIES).map(|change| entry(change, state)).collect();
    action
}

fn entry(change: &TreeChange, state: &TreeState) -> EntryAction {
    let details = &state.details;
    let is_secret = details.secret.contains(&change.path);
    let found = change.found().and_then(|at| state.found.get(at)).map(|found| &found.entry);
    let mut action = EntryAction {
        path: change.path.to_string_lossy().into_owned(),
        verb: change.verb(),
        detail: None,
        changes: Vec::new(),
    };
    let mut changing = |aspect: &'static str, from: Option<String>, to: Option<String>| {
        action.changes.push(Change { aspect: aspect.into(), from, to, lines: None });
    };
    if let (Some(attributes), Some(found)) = (change.attributes(), found) {
        let name = |names: &BTreeMap<u32, String>, id: u32| {
            Some(names.get(&id).cloned().unwrap_or_else(|| id.to_string()))
        };
        if let Some(uid) = attributes.uid.filter(|uid| *uid != found.uid) {
            changing("owner", name(&details.users, found.uid), name(&details.users, uid));
        }
        if let Some(gid) = attributes.gid.filter(|gid| *gid != found.gid) {
            changing("group", name(&details.groups, found.gid), name(&details.groups, gid));
        }
        let is_link = matches!(found.kind, TreeEntryKind::Link(_));
        if let Some(mode) = attributes.mode.filter(|mode| *mode != found.mode && !is_link) {
            changing("mode", Some(format!("{:04o}", found.mode)), Some(format!("{mode:04o}")));
        }
    }
    match (&change.kind, found.map(|found| &found.kind)) {
        (TreeChangeKind::MakeDirectory(attributes), _) => {
            action.detail = Some(format!("directory {}", made(*attributes, details)));
        }
        (TreeChangeKind::Write { desired, attributes, .. }, None) => {
            let size = state.content(*desired).filter(|_| !is_secret).map(EntryContent::size);
            let size = size.map(|size| format!(", {}", counted(size, "byte"))).unwrap_or_default();
            action.detail = Some(format!("{}{size}", made(*attributes, details)));
        }
        (TreeChangeKind::Write { .. }, Some(TreeEntryKind::Link(_))) => {
            changing("kind", Some("link".to_owned()), Some("file".to_owned()));
        }
        (TreeChangeKind::Write { desired, .. }, Some(_)) => {
            let lines = details.lines.get(&change.path).copied();
            let size = |size: u64| Some(counted(size, "byte")).filter(|_| lines.is_none() && !is_secret);
            let (from, to) = (found.map(|found| found.size), state.content(*desired).map(EntryContent::size));
            changing("content", from.and_then(size), to.and_then(size));
            if let Some(last) = action.changes.last_mut() {
                last.lines = lines;
            }
        }
        (TreeChangeKind::MakeLink { to, .. }, None) => {
            action.detail = Some(format!("link to {}", to.display()));
        }
        (TreeChangeKind::MakeLink { to, .. }, Some(TreeEntryKind::Link(from))) => {
            changing("target", Some(from.display().to_string()), Some(to.display().to_string()));
        }
        (TreeChangeKind::MakeLink { .. }, Some(_)) => {
            changing("kind", Some("file".to_owned()), Some("link".to_owned()));
        }
        (TreeChangeKind::Remove { size, .. }, Some(kind)) => {
            action.detail = Some(removal(kind, *size, is_secret));
        }
        _ => {}
    }
    action
}

fn removal(kind: &TreeEntryKind, size: RemovedSize, is_secret: bool) -> String {
    match kind {
        TreeEntryKind::File if is_secret => "file".to_owned(),
        TreeEntryKind::File => format!("file, {}", counted(size.bytes, "byte")),
        TreeEntryKind::Directory { .. } if !size.is_tree => "empty directory".to_owned(),
        TreeEntryKind::Directory { .. } if is_secret => {
            format!("directory, {}", counted(size.files, "file"))
        }
        TreeEntryKind::Directory { .. } => {
            format!("directory, {}, {}", counted(size.files, "file"), counted(size.bytes, "byte"))
        }
        TreeEntryKind::Link(to) => format!("link to {}", to.display()),
        TreeEntryKind::Special(_) => "special file".to_owned(),
    }
}

/// Returns the attributes of a new entry, as far as they are given.
fn made(attributes: FileAttributes, details: &Details) -> String {
    let mut text =
        attributes.mode.map_or_else(|| "with its attributes".to_owned(), |mode| format!("{mode:04o}"));
    let name = |names: &BTreeMap<u32, String>, id: Option<u32>| id.and_then(|id| names.get(&id).cloned());
    match (name(&details.users, attributes.uid), name(&details.groups, attributes.gid)) {
        (Some(user), Some(group)) => text += &format!(" {user}:{group}"),
        (Some(user), None) => text += &format!(" {user}"),
        (None, Some(group)) => text += &format!(" :{group}"),
        (None, None) => {}
    }
    text
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
