//! Loads the manifests that resources apply.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::interpolation::may_hold_any;
use ccm_data::layers::ValueSource;
use ccm_data::nodes;
use ccm_expr::Value;
use ccm_model::{
    Control, Diagnostic, DiagnosticKind, Diagnostics, Group, GroupIndex, NodeKey, NodeMap, Resource,
    SourceId, normalize,
};

use crate::read::data::{Overlay, ResolvedData};
use crate::read::document::CheckNodes;
use crate::read::draft::ResourceDraft;
use crate::read::reader::{Manifest, Reader};
use crate::resolve::control::Conditions;
use crate::resolve::eval_context::EvalContext;
use crate::resolve::health_checks;
use crate::resolve::messages::{self, shown, shown_path};
use crate::scopes::Scopes;
use crate::unchecked::UnknownPaths;

const MAX_DEPTH: usize = 10;

/// Maximum number of times that children are read: two children that each apply two others double at each depth.
const MAX_READS: usize = 1_000;

/// Child manifests, each a group of the catalog.
#[derive(Default)]
pub(crate) struct ChildManifests {
    pub(crate) groups: Vec<Group>,
    /// Texts that were read. A manifest that is applied several times has one source, so that its errors are reported once.
    texts: HashMap<PathBuf, (SourceId, Arc<str>)>,
    applied: Vec<AppliedManifest>,
    reads: usize,
}

/// Manifest that a resource applies, with what determines the resources of its group.
struct AppliedManifest {
    path: PathBuf,
    data: Value,
    forbids_apply: bool,
    health_check_only: bool,
    noop: bool,
    group: GroupIndex,
}

impl AppliedManifest {
    /// Returns `true` if both apply the same manifest with the same data.
    fn is_equal(&self, other: &Self) -> bool {
        let options = |manifest: &Self| (manifest.forbids_apply, manifest.health_check_only, manifest.noop);
        self.path == other.path && options(self) == options(other) && self.data == other.data
    }
}

/// Effects of the outer manifests on a manifest.
#[derive(Clone, Default)]
pub(crate) struct OuterContext {
    /// Group of its resources. `None` for the top manifest.
    pub(crate) group: Option<GroupIndex>,
    /// Conditions of all outer resources.
    pub(crate) conditions: Conditions,
    /// Paths of the outer manifests and of this manifest, outermost first.
    paths: Vec<PathBuf>,
    /// The manifest must not apply others.
    forbids_apply: bool,
    /// Only the health checks of its resources run.
    health_check_only: bool,
    data: PassedData,
    /// Passed data that is unknown, because an input was left out.
    pub(crate) unknown: UnknownPaths,
    /// Keys of the data that the resource hands over.
    pub(crate) passed_keys: Vec<NodeKey>,
    /// Data of the outer manifest, of which only those keys are handed over.
    pub(crate) parent_data: Value,
}

/// Data that a manifest gets from the outer manifest.
#[derive(Clone, Default)]
enum PassedData {
    #[default]
    None,
    Over(Value),
    /// Defaults for keys without a value.
    Defaults(Value),
}

impl OuterContext {
    /// Creates the context of the top manifest.
    pub(crate) fn root(own: Option<PathBuf>) -> Self {
        Self { paths: own.into_iter().collect(), ..Self::default() }
    }

    /// Returns the layers above the data of the manifest. Data files and assignments apply to every manifest.
    pub(crate) fn overlays(&self, given: &[Overlay]) -> Vec<Overlay> {
        let passed = match &self.data {
            PassedData::Over(value) => {
                let (source, value) = (ValueSource::Parent, value.clone());
                Some(Overlay { source, value, annotations: Vec::new(), unknown: self.unknown.clone() })
            }
            _ => None,
        };
        passed.into_iter().chain(given.iter().cloned()).collect()
    }

    pub(crate) fn defaults(&self) -> Option<&Value> {
        match &self.data {
            PassedData::Defaults(value) => Some(value),
            _ => None,
        }
    }
}

/// Kind, message and hint of the error of a manifest that can't be read.
type UnreadableManifest = (DiagnosticKind, String, Option<String>);

/// Reads the text of a manifest.
fn text_of(
    context: &EvalContext<'_>,
    written: &str,
    path: &Path,
    directory: &Path,
) -> Result<Arc<str>, UnreadableManifest> {
    if is_url(written) {
        let message = format!("the manifest `{}`: a URL is not supported", shown(written));
        let hint = "download the file first, and use its path".to_owned();
        return Err((DiagnosticKind::Unsupported, message, Some(hint)));
    }
    context.read(path).map_err(|source| {
        let message = messages::unreadable("the manifest ", path, &source);
        let is_missing = source.kind() == std::io::ErrorKind::NotFound && Path::new(written).is_relative();
        let hint = match source.kind() {
            _ if written.contains(['*', '?']) => {
                Some("name each manifest: wildcards are not expanded".to_owned())
            }
            std::io::ErrorKind::IsADirectory => Some("name the manifest in this directory".to_owned()),
            _ => is_missing.then(|| match context.near_name(path) {
                // The name of a file alone would be one beside the manifest.
                Some(name) => {
                    let meant = Path::new(written).with_file_name(name);
                    format!("did you mean `{}`?", shown_path(&meant))
                }
                None => format!("a relative path starts from {}", shown_path(directory)),
            }),
        };
        (DiagnosticKind::Unreadable, message, hint)
    })
}

/// Returns the error of a manifest that can't be read; `None` if its path stands in a property that `apply` does not have,
/// which is reported.
fn unreadable(resource: &Resource, path: &str, error: UnreadableManifest) -> Option<Diagnostic> {
    let mut given = resource.properties.given();
    if given.any(|entry| is_path_elsewhere(&entry.key.text)) {
        return None;
    }
    let (kind, message, hint) = error;
    let mut written = resource.properties.given().map(|entry| &entry.value);
    let named = written.find(|value| value.as_text() == Some(path)).map(|value| value.span);
    let error = Diagnostic::error(kind, named.unwrap_or(resource.span), message);
    Some(hint.into_iter().fold(error, Diagnostic::with_hint))
}

/// Returns `true` for a property of other tools that has the path of a manifest.
fn is_path_elsewhere(property: &str) -> bool {
    matches!(property, "path" | "src" | "source" | "file")
}

/// Returns `true` if a path is a URL.
fn is_url(path: &str) -> bool {
    path.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    })
}

/// Returns the error of a manifest that may not be applied here.
fn refusal(
    children: &ChildManifests,
    draft: &ResourceDraft,
    path: &Path,
    outer: &OuterContext,
) -> Option<Diagnostic> {
    let refused = |kind, message: String| Some(Diagnostic::error(kind, draft.resource.span, message));
    if outer.forbids_apply {
        let message =
            "this manifest may not apply others, because its parent applies it with `allow_apply: false`";
        return refused(DiagnosticKind::Conflict, message.to_owned());
    }
    if let Some(first) = outer.paths.iter().position(|before| before == path) {
        let mut cycle: Vec<String> = outer.paths[first..].iter().map(|path| shown_path(path)).collect();
        cycle.push(shown_path(path));
        return refused(DiagnosticKind::Cycle, format!("a manifest applies itself: {}", cycle.join(" → ")));
    }
    // The first path is the top manifest.
    if outer.paths.len() > MAX_DEPTH {
        let message = format!("manifests are nested more than {MAX_DEPTH} deep");
        return refused(DiagnosticKind::LimitExceeded, message);
    }
    if children.reads == MAX_READS {
        let message = format!("manifests are applied more than {MAX_READS} times");
        return refused(DiagnosticKind::LimitExceeded, message);
    }
    None
}

/// Returns the source and the text of a manifest, which is read once.
fn source_of(
    scopes: &mut Scopes<'_, '_>,
    written: &str,
    path: &Path,
    directory: &Path,
) -> Result<(SourceId, Arc<str>), UnreadableManifest> {
    if let Some(known) = scopes.children.texts.get(path) {
        return Ok(known.clone());
    }
    let text = text_of(&scopes.context, written, path, directory)?;
    let source = scopes.context.texts.borrow_mut().add(path.display().to_string(), Arc::clone(&text));
    scopes.children.texts.insert(path.to_owned(), (source, Arc::clone(&text)));
    Ok((source, text))
}

/// Returns `true` if an earlier resource applies the same manifest with the same data. It brings the same resources, also those
/// that have no second declaration, such as commands, so that those from `first` on are dropped.
fn replaced_by_earlier(
    reader: &mut Reader<'_, '_>,
    draft: &mut ResourceDraft,
    applied: AppliedManifest,
    first: usize,
) -> bool {
    if draft.resource.control != Control::Managed {
        return false;
    }
    let children = &mut reader.scopes.children;
    let Some(earlier) = children.applied.iter().find(|earlier| earlier.is_equal(&applied)) else {
        children.applied.push(applied);
        return false;
    };
    draft.same_child = Some(earlier.group);
    draft.resource.node_of = None;
    reader.declared.drafts.truncate(first);
    children.groups.truncate(applied.group.get());
    children.applied.retain(|known| known.group < applied.group);
    true
}

/// Reads the manifest that a resource applies. The child's resources precede the resource in the catalog.
pub(crate) fn read(
    reader: &mut Reader<'_, '_>,
    draft: &mut ResourceDraft,
    (outer, data): (&OuterContext, &ResolvedData),
    diagnostics: &mut Diagnostics,
) {
    let spec = reader.scopes.types.spec(draft.type_index);
    if !draft.has_name {
        return;
    }
    let Some(child) = spec.child_manifest(&draft.resource) else { return };
    // The properties of an unmanaged resource may use values that this machine lacks.
    let is_off = matches!(draft.resource.control, Control::NotManaged { .. });
    if is_off && child.path != &*draft.resource.id.name && may_hold_any(child.path) {
        return;
    }
    let directory = reader.scopes.manifests[draft.manifest].directory.clone();
    let path = normalize(&directory.join(child.path));
    let (noop, health_check_only) = (child.noop, child.health_check_only || outer.health_check_only);
    let forbids_apply = !child.allow_apply;
    // The type reports data that is no map.
    let has_invalid_data = child.data.is_some_and(|data| !data.is_null() && data.as_map().is_none());
    let mut unknown = UnknownPaths::default();
    let passed = if let Some(node) = child.data.filter(|data| data.as_map().is_some()) {
        unknown.add_node(node, &draft.found.unchecked);
        PassedData::Over(nodes::to_value(node))
    } else {
        unknown.add(&data.unknown);
        PassedData::Defaults(data.value.clone())
    };
    let is_handed_over = matches!(passed, PassedData::Over(_));
    if let Some(node) = child.data {
        reader.data_keys.add_data(node, reader.has_assignments);
    }
    let handed_over = child.data.and_then(|node| node.as_map()).into_iter().flat_map(NodeMap::entries);
    let passed_keys = handed_over.map(|entry| entry.key.clone()).collect();
    if let Some(refusal) = refusal(&reader.scopes.children, draft, &path, outer) {
        // Without the name, no duplicate resource is reported too.
        draft.has_name &= refusal.kind != DiagnosticKind::Cycle;
        diagnostics.push(refusal);
        return;
    }
    reader.scopes.children.reads += 1;
    let (source, text) = match source_of(&mut reader.scopes, child.path, &path, &directory) {
        Ok(read) => read,
        Err(error) => {
            diagnostics.extend(unreadable(&draft.resource, child.path, error));
            return;
        }
    };
    let index = GroupIndex::from_usize(reader.scopes.children.groups.len());
    let outer_noop = outer.group.is_some_and(|outer| reader.scopes.children.groups[outer.get()].noop);
    let directory = path.parent().unwrap_or(Path::new("/")).to_owned();
    reader.scopes.children.groups.push(Group {
        parent: outer.group,
        noop: noop || outer_noop,
        fail_on_error: false,
        directory: directory.clone(),
    });
    draft.resource.node_of = Some(index);
    draft.child = Some(path.clone());
    let mut paths = outer.paths.clone();
    paths.push(path.clone());
    let first = reader.declared.drafts.len();
    let is_incomplete = reader.is_incomplete;
    reader.is_incomplete |= has_invalid_data || reader.scopes.manifests[draft.manifest].is_incomplete;
    let read = reader.manifest(
        Manifest {
            source,
            text,
            directory,
            root: None,
            outer: OuterContext {
                group: Some(index),
                conditions: draft.conditions.clone().attributed_to(&draft.resource.id),
                paths,
                forbids_apply,
                health_check_only,
                data: passed,
                unknown,
                passed_keys,
                parent_data: if is_handed_over { data.value.clone() } else { Value::Null },
            },
        },
        diagnostics,
    );
    reader.is_incomplete = is_incomplete;
    let applied = AppliedManifest {
        path,
        data: read.data.value,
        forbids_apply,
        health_check_only,
        noop: noop || outer_noop,
        group: index,
    };
    if replaced_by_earlier(reader, draft, applied, first) {
        return;
    }
    let children = &mut reader.scopes.children;
    children.groups[index.get()].fail_on_error = read.settings.fail_on_error.unwrap_or(false);
    if let Some(CheckNodes(checks)) = read.settings.checks {
        health_checks::add_to_node(&mut draft.resource, checks);
    }
    if health_check_only {
        reader.declared.drafts[first..].iter_mut().for_each(monitor_only);
    }
}

/// Leaves nothing of a resource but its health checks.
fn monitor_only(draft: &mut ResourceDraft) {
    if matches!(draft.resource.control, Control::NotManaged { .. }) {
        return;
    }
    // Conditions that only the run decides are not asked.
    draft.resource.is_monitored = draft.resource.control == Control::Managed;
    let reason = "`health_check_only` is set for its manifest".to_owned();
    draft.resource.control = Control::NotManaged { reason };
}
