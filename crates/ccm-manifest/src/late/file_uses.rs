//! Properties and conditions that use the content of files that no resource manages. An exec, package or service
//! before the resource may change such a file. The properties are therefore expanded again if the file has changed,
//! and the conditions are evaluated when the resource is reached.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use ccm_graph::Graph;
use ccm_model::{
    Catalog, Control, Diagnostic, Diagnostics, FileVersion, NodeEntry, Properties, ResourceIndex,
};
use ccm_properties::{SourcesView, TypeSpec};

use crate::late::LateResource;
use crate::read::draft::ResourceDraft;
use crate::read::types::Types;
use crate::sources::Sources;

/// Use of files by the properties of a resource.
#[derive(Debug)]
pub(crate) struct FileUse {
    /// Properties before expansion.
    pub(crate) written: Properties,
    /// Property that the name replaces. It is expanded already.
    pub(crate) named: Option<NodeEntry>,
    /// The files, each with its version before the properties were expanded.
    files: Vec<(PathBuf, Option<FileVersion>)>,
    /// The resource was not managed before the run, so that its properties are not expanded.
    was_off: bool,
}

impl FileUse {
    /// Returns `true` if the properties are not expanded, or a file may have changed since they were.
    pub(crate) fn is_outdated(&self, sources: &dyn Sources) -> bool {
        self.was_off
            || self.files.iter().any(|(path, before)| before.is_none() || sources.version(path) != *before)
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
    /// The conditions use files.
    is_conditional: bool,
    /// Errors about files that do not exist.
    missing: Vec<Diagnostic>,
}

impl FileUsers {
    /// Takes the uses of files from all resources that may be managed when they are reached.
    pub(crate) fn take(drafts: &mut [ResourceDraft], types: &Types<'_>) -> Self {
        let mut users = Vec::new();
        for (index, draft) in drafts.iter_mut().enumerate() {
            let is_off = matches!(draft.resource.control, Control::NotManaged { .. });
            let is_conditional = draft.control_uses_files && !(is_off && draft.has_unknown_common);
            if !is_conditional && (is_off || draft.files.is_empty()) {
                continue;
            }
            let spec = types.spec(draft.type_index);
            // The child of an unmanaged resource is read, and the resource itself has nothing to expand.
            let was_off = is_off && spec.child_manifest(&draft.resource).is_none();
            let mut late = LateResource::new(draft);
            let template = spec
                .sources()
                .and_then(SourcesView::template)
                .and_then(|(source, _)| draft.resource.properties.get(source));
            late.texts.extend(template.filter(|_| was_off).map(|node| node.span));
            let file_use = FileUse {
                written: std::mem::take(&mut draft.written),
                named: draft.named.take(),
                files: std::mem::take(&mut draft.files),
                was_off,
            };
            let mut missing = std::mem::take(&mut draft.found.missing_files);
            missing.append(&mut draft.missing_in_control);
            let index = ResourceIndex::from_usize(index);
            users.push(FileUser { index, late, file_use, is_conditional, missing });
        }
        Self { users }
    }

    /// Makes the resources late that come after a resource that may write files. For all others, a missing
    /// file is an error.
    pub(crate) fn resolve(
        self,
        catalog: &mut Catalog,
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
                continue;
            }
            let late = waiting.entry(user.index).or_insert(user.late);
            late.file_use = Some(user.file_use);
            if user.is_conditional {
                catalog.resources[user.index.get()].control = Control::Late;
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
