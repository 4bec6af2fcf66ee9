//! The catalog: what a run applies, as the loader built it from a manifest.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::json::is_false;
use serde::{Deserialize, Serialize};

use crate::json::PathText;
use crate::{Node, NodeEntry, NodeMap, ResourceId, Span};

/// A value and its location in a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Location of the value in its source.
    pub span: Span,
}

/// Position of a resource in its catalog, which is its position in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResourceIndex(pub u32);

impl ResourceIndex {
    /// Returns the position as an index into [`Catalog::resources`].
    pub fn get(self) -> usize {
        self.0 as usize
    }

    /// Builds a position from an index into [`Catalog::resources`].
    pub fn from_usize(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// A resolved `require` or `subscribe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// Resource that is depended on.
    pub on: ResourceIndex,
    /// Location of the value in its source.
    pub span: Span,
}

/// Properties of a resource that belong to its type, over the defaults of its list. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Properties {
    own: Arc<NodeMap>,
    defaults: Option<Arc<NodeMap>>,
}

impl Properties {
    /// Builds the properties of a resource from its own and from the defaults of its list.
    pub fn new(own: impl Into<Arc<NodeMap>>, defaults: Option<Arc<NodeMap>>) -> Self {
        Self { own: own.into(), defaults }
    }

    /// Returns a property by name. A property that is null counts as not given, so that the default applies.
    pub fn entry(&self, name: &str) -> Option<&NodeEntry> {
        let own = self.own.entry(name).filter(|entry| !entry.value.is_null());
        own.or_else(|| {
            let default = self.defaults.as_deref().and_then(|defaults| defaults.entry(name));
            default.filter(|entry| !entry.value.is_null())
        })
    }

    /// Returns the value of a property by name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// Returns all given properties: first those of the resource, then the defaults that it does not replace.
    pub fn given(&self) -> impl Iterator<Item = &NodeEntry> {
        let own = self.own.entries().iter().filter(|entry| !entry.value.is_null());
        let defaults = self.defaults.iter().flat_map(|defaults| defaults.entries());
        own.chain(defaults.filter(|entry| {
            !entry.value.is_null() && self.own.get(&entry.key.text).is_none_or(Node::is_null)
        }))
    }

    /// Returns all properties as written, including null ones and replaced defaults, so that unknown names
    /// can be found.
    pub fn written(&self) -> impl Iterator<Item = &NodeEntry> {
        self.own.entries().iter().chain(self.defaults.iter().flat_map(|defaults| defaults.entries()))
    }

    /// Sets a property of this resource. Other resources of the list keep theirs.
    pub fn replace(&mut self, entry: NodeEntry) {
        let same = |own: &&mut NodeEntry| own.key.text == entry.key.text;
        let own = Arc::make_mut(&mut self.own);
        match own.entries_mut().iter_mut().find(same) {
            Some(own) => *own = entry,
            None => own.push(entry),
        }
    }
}

impl Properties {
    /// Removes a property from this resource, so that its default applies. If the default was the value,
    /// removes that.
    pub fn remove(&mut self, name: &str) {
        let own = Arc::make_mut(&mut self.own);
        let given = |entry: &&mut NodeEntry| &*entry.key.text == name && !entry.value.is_null();
        let map = match (own.entries_mut().iter_mut().find(given), &mut self.defaults) {
            (None, Some(defaults)) => Arc::make_mut(defaults),
            _ => own,
        };
        map.remove(name);
    }
}

/// Result of the `control` of a resource and of the manifests around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// The resource is managed.
    #[default]
    Managed,
    /// The resource is not managed. Resources that depend on it treat it as satisfied.
    NotManaged {
        /// Reason, for people.
        reason: String,
    },
    /// The result is known only when the resource is reached.
    Late,
}

/// Position of a group in its catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupIndex(pub u32);

impl GroupIndex {
    /// Returns the position as an index into [`Catalog::groups`].
    pub fn get(self) -> usize {
        self.0 as usize
    }

    /// Builds a position from an index into [`Catalog::groups`].
    pub fn from_usize(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// The resources of a child manifest, which has its own noop and `fail_on_error`.
///
/// The node of a group is the resource that applies the child manifest ([`Resource::node_of`]). Members come
/// after everything that the node depends on, and before the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Group that contains this group, its node and its members. `None` in the given manifest.
    pub parent: Option<GroupIndex>,
    /// `true` if nothing in the group is changed. A group in a group with `noop` has `noop` as well.
    pub noop: bool,
    /// `true` if a member that fails ends the group.
    pub fail_on_error: bool,
    /// Directory of the child manifest, from which relative paths start.
    #[serde(with = "PathText")]
    pub directory: PathBuf,
}

/// A resource that its type has checked, with resolved references.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Type and name.
    pub id: ResourceId,
    /// Location of the name in the manifest.
    pub span: Span,
    /// Other names, for references. Declarations of the same resource may each add one.
    #[serde(default)]
    pub aliases: Vec<Arc<str>>,
    /// Desired state, such as `present`. `None` means the default of the type.
    pub ensure: Option<Spanned<String>>,
    /// Provider that the manifest names. `None` means the one that suits the host best.
    pub provider: Option<Spanned<String>>,
    /// Resources that must have succeeded before.
    pub require: Vec<Dependency>,
    /// Resources that must have succeeded before, and whose change refreshes this resource.
    pub subscribe: Vec<Dependency>,
    /// Resources in `require` that the manifest does not name: the loader found that this one needs them.
    #[serde(default)]
    pub autorequired: Vec<ResourceIndex>,
    /// Value of `autorequire`. `None` means `true`.
    #[serde(default)]
    pub autorequire: Option<bool>,
    /// Properties that belong to the type.
    pub properties: Properties,
    /// Settings below `ccm` in the manifest, for all resources of the type.
    pub settings: Arc<NodeMap>,
    /// Texts of the templates in the directory that the resource copies, by their paths in it.
    #[serde(default)]
    pub rendered: Arc<NodeMap>,
    /// Result of `control`.
    pub control: Control,
    /// The health checks of the resource run, though it is not managed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_monitored: bool,
    /// Group that the resource is a member of. `None` in the given manifest.
    pub group: Option<GroupIndex>,
    /// Group that the resource is the node of.
    pub node_of: Option<GroupIndex>,
}

impl Resource {
    /// Returns `true` if nothing of the resource runs, not even its health checks.
    pub fn is_off(&self) -> bool {
        matches!(self.control, Control::NotManaged { .. }) && !self.is_monitored
    }

    /// Returns `true` if the resource is to be absent.
    pub fn is_absent(&self) -> bool {
        self.ensure.as_ref().is_some_and(|ensure| ensure.value == "absent")
    }
}

/// A manifest without errors, ready to be applied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Name of the manifest: `ccm.name`.
    pub name: Option<String>,
    /// Message for people before the run.
    pub pre_message: Option<String>,
    /// Message for people after the run.
    pub post_message: Option<String>,
    /// `true` if the run stops after the first failed resource.
    pub fail_on_error: bool,
    /// Health checks after the whole run, in the form of a resource that has nothing else.
    #[serde(default)]
    pub checks: Option<Box<Resource>>,
    /// Resources in the order of the manifest. Their dependencies form no cycle.
    pub resources: Vec<Resource>,
    /// Groups of resources, each after the group that it is in.
    pub groups: Vec<Group>,
}

/// Positions of the resources of a catalog, by name and by alias.
#[derive(Debug)]
pub struct CatalogNames<'c> {
    positions: HashMap<(&'c str, &'c str), ResourceIndex>,
}

impl CatalogNames<'_> {
    /// Returns the position of a resource by name or alias.
    pub fn find(&self, id: &ResourceId) -> Option<ResourceIndex> {
        self.positions.get(&(&*id.type_name, &*id.name)).copied()
    }
}

impl Catalog {
    /// Returns a group by position.
    ///
    /// # Panics
    /// If the position belongs to another catalog.
    pub fn group(&self, index: GroupIndex) -> &Group {
        &self.groups[index.get()]
    }

    /// Returns the group that a resource is a member of, then the outer groups, outwards.
    pub fn groups_around(&self, resource: &Resource) -> impl Iterator<Item = GroupIndex> {
        std::iter::successors(resource.group, |group| self.group(*group).parent)
    }

    /// Returns the node of each group, by the position of the group.
    pub fn group_nodes(&self) -> Vec<Option<ResourceIndex>> {
        let mut nodes = vec![None; self.groups.len()];
        if !nodes.is_empty() {
            for index in self.indices() {
                if let Some(group) = self.resource(index).node_of {
                    nodes[group.get()] = Some(index);
                }
            }
        }
        nodes
    }

    /// Returns a resource by position.
    ///
    /// # Panics
    /// If the position belongs to another catalog.
    pub fn resource(&self, index: ResourceIndex) -> &Resource {
        &self.resources[index.get()]
    }

    /// Returns the names and aliases of all resources.
    pub fn names(&self) -> CatalogNames<'_> {
        let mut positions = HashMap::with_capacity(self.resources.len());
        for (index, resource) in self.indices().zip(&self.resources) {
            for name in std::iter::once(&resource.id.name).chain(&resource.aliases) {
                positions.entry((&*resource.id.type_name, &**name)).or_insert(index);
            }
        }
        CatalogNames { positions }
    }

    /// Returns all positions, in the order of the manifest.
    pub fn indices(&self) -> impl Iterator<Item = ResourceIndex> + use<> {
        (0..self.resources.len()).map(ResourceIndex::from_usize)
    }
}
