//! Directories with what is in them, for types that manage whole trees.
//!
//! [`source::read`] lists what a tree is to hold, [`status::read`] what it holds, [`plan::changes`] compares the two
//! without looking at the machine, and [`execute::apply`] makes the changes.

pub(crate) mod execute;
pub(crate) mod glob;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod source;
pub(crate) mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::{Context, ManagedExtent, ManagedPath};
use ccm_host::TreeEntry;
use ccm_model::{Failure, Node, Resource, ResourceId, ScalarKind};

use crate::support::file_failure::file_failure;
use crate::support::secret_content::mark_secret as mark_secret_content;
use glob::TreeGlobs;

/// Maximum size of a file whose content is redacted everywhere, in bytes.
const MAX_SECRET: u64 = 64 << 10;

/// Maximum size of all such files of a tree together, in bytes.
const MAX_SECRET_BYTES: u64 = 4 << 20;

/// Texts that templates were rendered to, by the paths of the templates in the source.
pub(crate) type Rendered = BTreeMap<PathBuf, Rc<[u8]>>;

/// Rules of a manifest for the entries of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeRules {
    /// Owner, group and mode hold for every entry, and not only for those of the source.
    pub recurse: bool,
    /// Entries that nothing declares are removed.
    pub purge: bool,
    /// A directory that nothing declares is removed with its content.
    pub force: bool,
    /// Entries that are neither copied nor changed.
    pub ignore: TreeGlobs,
    /// Mode of the files.
    pub mode: Option<u32>,
}

/// Entry that a tree is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredEntry {
    /// Path relative to the tree.
    pub path: PathBuf,
    pub kind: DesiredKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DesiredKind {
    Directory,
    File { content: EntryContent, is_executable: bool },
    Link(PathBuf),
}

/// Content of a file in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryContent {
    /// Content of another file.
    Copy {
        source: PathBuf,
        size: u64,
    },
    Text(Rc<[u8]>),
}

impl EntryContent {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Copy { size, .. } => *size,
            Self::Text(text) => text.len() as u64,
        }
    }
}

/// Entry that a tree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundEntry {
    pub entry: TreeEntry,
    /// A file with the desired content.
    pub is_same: bool,
}

/// State of a tree. Both lists are in the order of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeState {
    pub desired: Vec<DesiredEntry>,
    pub found: Vec<FoundEntry>,
    /// Paths that other resources manage.
    pub managed: PathsOfOthers,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    /// Their names as written. Who is only made by an earlier resource has no number in noop.
    pub owner: Option<String>,
    pub group: Option<String>,
    /// Details of the changes, for the report.
    pub details: report::Details,
}

/// Paths in a tree that other resources manage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathsOfOthers {
    paths: BTreeMap<PathBuf, ManagedExtent>,
    /// Directories that a purge leaves with everything in them, and that are managed like others otherwise.
    kept: BTreeSet<PathBuf>,
    /// Resource that fills the tree itself.
    pub filler: Option<ResourceId>,
}

impl PathsOfOthers {
    pub(crate) fn new(paths: impl IntoIterator<Item = ManagedPath>) -> Self {
        let mut managed = Self::default();
        for ManagedPath { path, extent } in paths {
            if extent == ManagedExtent::Existence {
                managed.kept.insert(path);
                continue;
            }
            let known = managed.paths.entry(path).or_insert(extent);
            *known = extent.max(*known);
        }
        managed
    }

    /// Returns what other resources manage of a path, or of a directory above it.
    pub(crate) fn extent(&self, path: &Path) -> Option<ManagedExtent> {
        if self.paths.is_empty() {
            return None;
        }
        let above =
            || path.ancestors().skip(1).any(|above| self.paths.get(above) == Some(&ManagedExtent::Tree));
        self.paths.get(path).copied().or_else(|| above().then_some(ManagedExtent::Tree))
    }

    /// Returns `true` if another resource manages this directory with everything in it.
    pub(crate) fn is_tree(&self, path: &Path) -> bool {
        self.paths.get(path) == Some(&ManagedExtent::Tree)
    }

    /// Returns `true` if a purge leaves a path, because another resource needs it or a directory above it to stay.
    pub(crate) fn is_kept(&self, path: &Path) -> bool {
        !self.kept.is_empty() && path.ancestors().any(|above| self.kept.contains(above))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.keys().chain(&self.kept).map(PathBuf::as_path)
    }
}

/// Marks the content of every file that a sensitive tree is to hold as secret, wherever else it turns up. Longer content
/// is only hidden in reports about the tree.
pub(crate) fn mark_secret(desired: &[DesiredEntry], context: &Context<'_>) -> Result<(), Failure> {
    let mut left = MAX_SECRET_BYTES;
    for entry in desired {
        let DesiredKind::File { content, .. } = &entry.kind else { continue };
        if content.size() > MAX_SECRET.min(left) {
            continue;
        }
        left -= content.size();
        match content {
            EntryContent::Text(text) => mark_secret_content(text, context.secrets),
            EntryContent::Copy { source, .. } => {
                let read = context.host.files.content(source, MAX_SECRET);
                let read = read.map_err(|error| file_failure(&error))?;
                mark_secret_content(&read.unwrap_or_default(), context.secrets);
            }
        }
    }
    Ok(())
}

/// Returns the path of a resource whose name is a directory that it purges.
pub(crate) fn purged(resource: &Resource) -> Option<&str> {
    let purge = resource.properties.get("purge").and_then(Node::as_scalar);
    purge.filter(|scalar| scalar.kind() == ScalarKind::Bool(true)).map(|_| &*resource.id.name)
}

/// Returns the rendered texts of a resource.
pub(crate) fn rendered(resource: &Resource) -> Rendered {
    let entries = resource.rendered.entries().iter();
    let text = |node: &Node| node.as_text().unwrap_or_default().as_bytes().into();
    entries.map(|entry| (PathBuf::from(&*entry.key.text), text(&entry.value))).collect()
}
