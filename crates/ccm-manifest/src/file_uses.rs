//! Properties that use the content of files that no resource manages. An exec, package or service before the
//! resource may change such a file, so that the properties are expanded again if the file has changed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use ccm_graph::Graph;
use ccm_model::{
    Catalog, Control, Diagnostic, Diagnostics, FileVersion, NodeEntry, Properties, ResourceIndex,
};
use ccm_properties::TypeSpec;

use crate::draft::ResourceDraft;
use crate::late::LateResource;
use crate::sources::Sources;
use crate::types::Types;

/// Use of files by the properties of a resource.
#[derive(Debug)]
pub(crate) struct FileUse {
    /// Properties before expansion.
    pub(crate) written: Properties,
    /// Property that the name replaces. It is expanded already.
    pub(crate) named: Option<NodeEntry>,
    /// The files, each with its version before the properties were expanded.
    files: Vec<(PathBuf, Option<FileVersion>)>,
}

impl FileUse {
    /// Returns `true` if a file may have changed since the properties were expanded.
    pub(crate) fn is_outdated(&self, sources: &dyn Sources) -> bool {
        self.files.iter().any(|(path, before)| before.is_none() || sources.version(path) != *before)
    }
}

/// Resources that use files, before the order of the run is known.
pub(crate) struct FileUsers {
    users: Vec<FileUser>,
}

struct FileUser {
    index: ResourceIndex,
    late: LateResource,
    file_use: FileUse,
    /// Errors about files that do not exist.
    missing: Vec<Diagnostic>,
}

impl FileUsers {
    /// Takes the uses of files from managed resources.
    pub(crate) fn take(drafts: &mut [ResourceDraft]) -> Self {
        let mut users = Vec::new();
        for (index, draft) in drafts.iter_mut().enumerate() {
            let is_off = matches!(draft.resource.control, Control::NotManaged { .. });
            if draft.files.is_empty() || is_off {
                continue;
            }
            let file_use = FileUse {
                written: std::mem::take(&mut draft.written),
                named: draft.named.take(),
                files: std::mem::take(&mut draft.files),
            };
            users.push(FileUser {
                index: ResourceIndex::from_usize(index),
                late: LateResource::new(draft),
                file_use,
                missing: std::mem::take(&mut draft.found.missing_files),
            });
        }
        Self { users }
    }

    /// Makes the resources late that come after a resource that may write files. For all others, a missing
    /// file is an error.
    pub(crate) fn resolve(
        self,
        catalog: &Catalog,
        types: &Types<'_>,
        waiting: &mut HashMap<ResourceIndex, LateResource>,
        diagnostics: &mut Diagnostics,
    ) {
        if self.users.is_empty() {
            return;
        }
        let before_writers = before_writers(catalog, types);
        for user in self.users {
            if before_writers.contains(&user.index) {
                diagnostics.extend(user.missing);
            } else {
                let late = waiting.entry(user.index).or_insert(user.late);
                late.file_use = Some(user.file_use);
            }
        }
    }
}

/// Returns the resources up to and including the first one that may write files, in the order of the run.
/// Members of a cycle have no order, and are left out.
fn before_writers(catalog: &Catalog, types: &Types<'_>) -> HashSet<ResourceIndex> {
    let mut before = HashSet::new();
    for index in Graph::of(catalog).order() {
        before.insert(index);
        let resource = catalog.resource(index);
        let is_off = matches!(resource.control, Control::NotManaged { .. });
        let spec = types.find(&resource.id.type_name).map(|index| types.spec(index));
        if !is_off && spec.is_some_and(TypeSpec::may_write_files) {
            break;
        }
    }
    before
}
