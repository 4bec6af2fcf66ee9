//! What the loader hands to the engine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::PathText;
use crate::{Entry, Map, Node, ResourceId, Span};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

/// Position of a resource in its catalog, which is its position in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResourceIndex(pub u32);

impl ResourceIndex {
    /// As an index into [`Catalog::resources`].
    pub fn get(self) -> usize {
        self.0 as usize
    }

    /// From an index into [`Catalog::resources`].
    pub fn from_usize(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// A resolved `require` or `subscribe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The resource it names.
    pub on: ResourceIndex,
    /// Where it was written.
    pub span: Span,
}

/// The properties of a resource that belong to its type, over the defaults of its list. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Properties {
    own: Arc<Map>,
    defaults: Option<Arc<Map>>,
}

impl Properties {
    /// Lays what an entry sets itself over the defaults of its list.
    pub fn new(own: Map, defaults: Option<Arc<Map>>) -> Self {
        Self { own: Arc::new(own), defaults }
    }

    /// The entry of that name; null means not given, so it lets the default show.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        let own = self.own.entry(name).filter(|entry| !entry.value.is_null());
        own.or_else(|| {
            let default = self.defaults.as_deref().and_then(|defaults| defaults.entry(name));
            default.filter(|entry| !entry.value.is_null())
        })
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// Every entry that is given: the resource's own first, then the defaults it does not replace.
    pub fn given(&self) -> impl Iterator<Item = &Entry> {
        let own = self.own.entries().iter().filter(|entry| !entry.value.is_null());
        let defaults = self.defaults.iter().flat_map(|defaults| defaults.entries());
        own.chain(defaults.filter(|entry| {
            !entry.value.is_null() && self.own.get(&entry.key.text).is_none_or(Node::is_null)
        }))
    }

    /// Every entry that was written, null or not, own or default: for finding keys that nobody knows.
    pub fn written(&self) -> impl Iterator<Item = &Entry> {
        self.own.entries().iter().chain(self.defaults.iter().flat_map(|defaults| defaults.entries()))
    }

    /// Replaces the value of that name for this resource alone.
    pub fn replace(&mut self, entry: Entry) {
        let same = |own: &&mut Entry| own.key.text == entry.key.text;
        let own = Arc::make_mut(&mut self.own);
        match own.entries_mut().iter_mut().find(same) {
            Some(own) => *own = entry,
            None => own.push(entry),
        }
    }
}

impl Properties {
    /// Takes the value of that name away from this resource alone: the default shows, or nothing if it was
    /// that.
    pub fn forget(&mut self, name: &str) {
        let own = Arc::make_mut(&mut self.own);
        let given = |entry: &&mut Entry| &*entry.key.text == name && !entry.value.is_null();
        let map = match (own.entries_mut().iter_mut().find(given), &mut self.defaults) {
            (None, Some(defaults)) => Arc::make_mut(defaults),
            _ => own,
        };
        map.remove(name);
    }
}

/// Whether a resource is managed at all: its `control`, and those of the manifests around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// It is.
    #[default]
    Managed,
    /// It is not, and counts as satisfied for what depends on it.
    NotManaged {
        /// Why not, in words.
        reason: String,
    },
    /// That is known only when it is reached.
    Late,
}

/// Position of a group in its catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupIndex(pub u32);

impl GroupIndex {
    /// As an index into [`Catalog::groups`].
    pub fn get(self) -> usize {
        self.0 as usize
    }

    /// From an index into [`Catalog::groups`].
    pub fn from_usize(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// Resources with a policy of their own: those of a child manifest.
///
/// The node of a group is the resource that applies the child manifest ([`Resource::node_of`]). Members come after
/// everything that the node depends on, and before the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Group that this one is in, node and members. `None` in the manifest that was given.
    pub parent: Option<GroupIndex>,
    /// Change nothing in it. A group in a group with `noop` has `noop` as well.
    pub noop: bool,
    /// A member that fails ends the group.
    pub fail_on_error: bool,
    /// Directory that relative paths start from: that of the child manifest.
    #[serde(with = "PathText")]
    pub directory: PathBuf,
}

/// One resource, checked by its type and with its references resolved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Type and name.
    pub id: ResourceId,
    /// Where the name was written.
    pub span: Span,
    /// A second name for references.
    pub alias: Option<Arc<str>>,
    /// The state asked for, such as `present`; not given means the type's default.
    pub ensure: Option<Spanned<String>>,
    /// The provider asked for; not given means the one that suits the host best.
    pub provider: Option<Spanned<String>>,
    /// What must have succeeded before.
    pub require: Vec<Dependency>,
    /// The same, and a change there triggers a refresh here.
    pub subscribe: Vec<Dependency>,
    /// What belongs to the type.
    pub properties: Properties,
    /// What its manifest says below `ccm` for all resources of its type.
    pub settings: Arc<Map>,
    /// Whether it is managed at all.
    pub control: Control,
    /// Group that the resource is a member of. `None` in the manifest that was given.
    pub group: Option<GroupIndex>,
    /// Group that the resource is the node of.
    pub node_of: Option<GroupIndex>,
}

/// A manifest without a mistake, ready to be applied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// `ccm.name`.
    pub name: Option<String>,
    /// Shown before a run.
    pub pre_message: Option<String>,
    /// Shown after a run.
    pub post_message: Option<String>,
    /// Stop after the first failed resource.
    pub fail_on_error: bool,
    /// The resources in manifest order. Requires and subscribes make no cycle.
    pub resources: Vec<Resource>,
    /// The groups of resources, each after the group that it is in.
    pub groups: Vec<Group>,
}

/// The names and aliases of the resources of a catalog, each by type and name.
#[derive(Debug)]
pub struct CatalogNames<'c> {
    positions: HashMap<(&'c str, &'c str), ResourceIndex>,
}

impl CatalogNames<'_> {
    /// Finds a resource by name or alias.
    pub fn find(&self, id: &ResourceId) -> Option<ResourceIndex> {
        self.positions.get(&(&*id.type_name, &*id.name)).copied()
    }
}

impl Catalog {
    /// The group at that position.
    ///
    /// # Panics
    /// If the index is of another catalog.
    pub fn group(&self, index: GroupIndex) -> &Group {
        &self.groups[index.get()]
    }

    /// Returns the group that a resource is a member of, then the groups around that one, outwards.
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

    /// The resource at that position.
    ///
    /// # Panics
    /// If the index is of another catalog.
    pub fn resource(&self, index: ResourceIndex) -> &Resource {
        &self.resources[index.get()]
    }

    /// The names and aliases of all resources.
    pub fn names(&self) -> CatalogNames<'_> {
        let mut positions = HashMap::with_capacity(self.resources.len());
        for (index, resource) in self.indices().zip(&self.resources) {
            for name in [Some(&resource.id.name), resource.alias.as_ref()].into_iter().flatten() {
                positions.entry((&*resource.id.type_name, &**name)).or_insert(index);
            }
        }
        CatalogNames { positions }
    }

    /// All positions, in manifest order.
    pub fn indices(&self) -> impl Iterator<Item = ResourceIndex> + use<> {
        (0..self.resources.len()).map(ResourceIndex::from_usize)
    }
}
