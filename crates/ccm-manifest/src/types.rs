//! The resource types that the loader was given.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use ccm_model::{TypeSpec, closest};

use crate::{later, schema};

/// The resource types that a manifest may use, found by name and named by position.
pub(crate) struct Types<'t> {
    types: Vec<Known<'t>>,
}

struct Known<'t> {
    spec: &'t dyn TypeSpec,
    name: Arc<str>,
    /// Only mistakes ask for them.
    properties: OnceCell<BTreeSet<String>>,
}

impl<'t> Types<'t> {
    pub(crate) fn new(specs: &[&'t dyn TypeSpec]) -> Self {
        let known = |spec: &&'t dyn TypeSpec| Known {
            spec: *spec,
            name: spec.name().into(),
            properties: OnceCell::new(),
        };
        Self { types: specs.iter().map(known).collect() }
    }

    /// The position of the type of that name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.types.iter().position(|known| &*known.name == name)
    }

    pub(crate) fn spec(&self, index: usize) -> &'t dyn TypeSpec {
        self.types[index].spec
    }

    /// All of them, by position.
    pub(crate) fn specs(&self) -> Vec<&'t dyn TypeSpec> {
        self.types.iter().map(|known| known.spec).collect()
    }

    pub(crate) fn name(&self, index: usize) -> &Arc<str> {
        &self.types[index].name
    }

    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|known| &*known.name)
    }

    /// Tells whether a key is a resource type, in this version or a later one.
    pub(crate) fn is_type(&self, key: &str) -> bool {
        self.find(key).is_some() || later::TYPES.contains(&key)
    }

    /// The type that a misspelt key most likely meant.
    pub(crate) fn closest(&self, key: &str) -> Option<&str> {
        closest(key, self.names())
    }

    /// The keys below `ccm` that are a type's.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'static str> {
        self.types.iter().flat_map(|known| known.spec.settings().iter().copied())
    }

    /// Tells whether a key is a property of that type.
    pub(crate) fn has_property(&self, index: usize, key: &str) -> bool {
        self.properties(index).contains(key)
    }

    /// The property that a misspelt key most likely meant.
    pub(crate) fn closest_property(&self, index: usize, key: &str) -> Option<&str> {
        closest(key, self.properties(index).iter().map(String::as_str))
    }

    fn properties(&self, index: usize) -> &BTreeSet<String> {
        let known = &self.types[index];
        known.properties.get_or_init(|| schema::property_names(known.spec))
    }
}
