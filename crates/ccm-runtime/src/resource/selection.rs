//! Order of the resources in a manifest, and those that another manifest manages.

use std::collections::HashSet;
use std::path::Path;

use ccm_engine::{ExportedState, ExportedValue};
use ccm_model::{
    Claim, ClaimKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, PathKind, Properties, Resource, Scalar,
    ScalarStyle, Span, Spanned,
};
use ccm_properties::FilledExtent;
use serde_json::Value;

use super::{PresentResource, PresentState, ResourcePresence};
use crate::manifest::LoadedManifest;
use crate::session::Session;

/// Types in the order in which a manifest has them. Others come at the end.
const ORDER: [&str; 17] = [
    "hostname",
    "timezone",
    "locale",
    "host",
    "package_repository",
    "package",
    "package_hold",
    "group",
    "user",
    "authorized_key",
    "kernel_module",
    "sysctl",
    "mount",
    "file",
    "git",
    "cron",
    "timer",
];

/// Directories whose files come before the packages.
const BEFORE_PACKAGES: [&str; 3] = ["/etc/apt", "/etc/yum.repos.d", "/etc/pki/rpm-gpg"];

/// Sorts resources into the order of a manifest. Those of one type keep theirs.
pub(super) fn in_manifest_order(resources: &mut [PresentResource]) {
    let position = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    resources.sort_by_key(|resource| {
        let path = Path::new(&*resource.id.name);
        let is_early = &*resource.id.type_name == "file"
            && BEFORE_PACKAGES.iter().any(|directory| path.starts_with(directory));
        if is_early { (position("package_repository"), 0) } else { (position(&resource.id.type_name), 1) }
    });
}

impl Session {
    /// Leaves out the resources that a manifest manages, by the claims of its resources.
    pub fn without_managed(&self, state: &mut PresentState, manifest: &LoadedManifest<'_>) {
        let mut claimed: HashSet<(ClaimKind, String)> = HashSet::new();
        let mut filled: Vec<String> = Vec::new();
        for resource in &manifest.catalog.resources {
            let Ok(resource_type) = self.type_named(&resource.id.type_name) else { continue };
            let whole =
                resource_type.claims(resource).into_iter().filter(|claim| claim.desired != PathKind::Part);
            claimed.extend(whole.map(|claim| (claim.kind, claim.key.into_owned())));
            let trees = resource_type.fills(resource).into_iter();
            let trees = trees.filter(|filled| filled.extent == FilledExtent::Tree);
            filled.extend(trees.map(|filled| filled.path.to_owned()));
        }
        let is_managed = |claim: &Claim<'_>| {
            claimed.contains(&(claim.kind, claim.key.to_string()))
                || claim.kind == ClaimKind::Path
                    && filled.iter().any(|tree| Path::new(&*claim.key).starts_with(tree))
        };
        state.resources.retain(|resource| {
            let as_resource = resource.as_resource();
            let names = manifest.catalog.resources.iter().any(|managed| managed.id == resource.id);
            let claims = self.type_named(&resource.id.type_name).map(|found| found.claims(&as_resource));
            !names && !claims.unwrap_or_default().iter().any(is_managed)
        });
    }

    /// Leaves out files and units that other resources describe, such as those of a timer or the file of a parameter.
    pub fn without_described_files(&self, state: &mut PresentState) {
        let mut described: HashSet<String> = HashSet::new();
        for resource in state.resources.iter().filter(|resource| &*resource.id.type_name != "file") {
            let as_resource = resource.as_resource();
            let Ok(found) = self.type_named(&resource.id.type_name) else { continue };
            let paths = found.claims(&as_resource).into_iter().filter(|claim| claim.kind == ClaimKind::Path);
            described.extend(paths.map(|claim| claim.key.into_owned()));
        }
        let timers: HashSet<String> = state
            .resources
            .iter()
            .filter(|resource| &*resource.id.type_name == "timer")
            .map(|resource| format!("{}.timer", resource.id.name))
            .collect();
        state.resources.retain(|resource| match &*resource.id.type_name {
            "file" => !described.contains(&*resource.id.name),
            "service" => !timers.contains(&*resource.id.name),
            _ => true,
        });
    }
}

impl PresentResource {
    /// Returns the resource as a catalog has it.
    pub(super) fn as_resource(&self) -> Resource {
        let resource = Resource { id: self.id.clone(), ..Resource::default() };
        match &self.state {
            ResourcePresence::Present(state) => of_state(resource, state),
            ResourcePresence::Absent => Resource { ensure: Some(spanned("absent".to_owned())), ..resource },
            ResourcePresence::NotExported(_) => resource,
        }
    }
}

fn of_state(resource: Resource, state: &ExportedState) -> Resource {
    let entries = state.properties.iter().filter_map(|(name, value)| match value {
        ExportedValue::Json(value) => Some(entry(name, value)),
        ExportedValue::Content { bytes, .. } => {
            Some(entry(name, &Value::String(String::from_utf8(bytes.clone()).ok()?)))
        }
    });
    let properties = Properties::new(NodeMap::new(entries.collect()), None);
    let ensure = state.ensure.clone().map(spanned);
    let provider = state.provider.map(|provider| spanned(provider.to_owned()));
    Resource { ensure, provider, properties, ..resource }
}

fn spanned(value: String) -> Spanned<String> {
    Spanned { value, span: Span::default() }
}

fn entry(name: &str, value: &Value) -> NodeEntry {
    NodeEntry { key: NodeKey { text: name.into(), span: Span::default() }, value: node(value) }
}

fn node(value: &Value) -> Node {
    let scalar = |text: String, style| NodeValue::Scalar(Scalar { text: text.into(), style });
    let value = match value {
        Value::String(text) => scalar(text.clone(), ScalarStyle::Quoted),
        Value::Array(values) => NodeValue::List(values.iter().map(node).collect()),
        Value::Object(map) => {
            NodeValue::Map(NodeMap::new(map.iter().map(|(key, value)| entry(key, value)).collect()))
        }
        other => scalar(other.to_string(), ScalarStyle::Computed),
    };
    Node { value, span: Span::default() }
}
