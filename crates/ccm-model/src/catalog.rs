//! What the loader hands to the engine.

use std::sync::Arc;

use crate::{Entry, Map, Node, ResourceId, Span};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

/// Position of a resource in its catalog, which is its position in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The resource it names.
    pub on: ResourceIndex,
    /// Where it was written.
    pub span: Span,
}

/// The properties of a resource that belong to its type, over the defaults of its list. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
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
        let given = |map: &'_ Map| map.entry(name).is_some_and(|entry| !entry.value.is_null());
        if given(&self.own) {
            return self.own.entry(name);
        }
        self.defaults.as_deref().filter(|defaults| given(defaults)).and_then(|defaults| defaults.entry(name))
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

/// One resource, checked by its type and with its references resolved.
#[derive(Clone, Debug, PartialEq)]
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
}

/// A manifest without a mistake, ready to be applied.
#[derive(Clone, Debug, Default, PartialEq)]
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
}

impl Catalog {
    /// The resource at that position.
    ///
    /// # Panics
    /// If the index is of another catalog.
    pub fn resource(&self, index: ResourceIndex) -> &Resource {
        &self.resources[index.get()]
    }

    /// Finds a resource by name or alias.
    pub fn find(&self, id: &ResourceId) -> Option<ResourceIndex> {
        let named = |resource: &Resource| {
            resource.id == *id
                || (resource.id.type_name == id.type_name && resource.alias.as_ref() == Some(&id.name))
        };
        self.resources.iter().position(named).map(ResourceIndex::from_usize)
    }

    /// All positions, in manifest order.
    pub fn indices(&self) -> impl Iterator<Item = ResourceIndex> + use<> {
        (0..self.resources.len()).map(ResourceIndex::from_usize)
    }
}
