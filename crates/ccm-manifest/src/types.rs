//! The resource types that the loader was given.

use std::sync::Arc;

use ccm_model::closest;
use ccm_properties::{CommonProperty, NAME, TypeSpec, aliases};

use crate::later;

/// The resource types that a manifest may use, found by name and named by position.
pub(crate) struct Types<'t> {
    types: Vec<Known<'t>>,
}

struct Known<'t> {
    spec: &'t dyn TypeSpec,
    name: Arc<str>,
}

impl<'t> Types<'t> {
    pub(crate) fn new(specs: &[&'t dyn TypeSpec]) -> Self {
        let known = |spec: &&'t dyn TypeSpec| Known { spec: *spec, name: spec.name().into() };
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
        self.types.iter().flat_map(|known| known.spec.settings().iter().map(|setting| setting.name))
    }

    /// Returns `true` if a key is a property of that type, in this version or a later one.
    pub(crate) fn has_property(&self, index: usize, key: &str) -> bool {
        self.properties(index).any(|name| name == key)
    }

    /// The property that a misspelt key most likely meant.
    pub(crate) fn closest_property(&self, index: usize, key: &str) -> Option<&'static str> {
        closest(key, self.properties(index))
    }

    fn properties(&self, index: usize) -> impl Iterator<Item = &'static str> {
        let spec = self.types[index].spec;
        let common = CommonProperty::ALL.into_iter().map(CommonProperty::spec).chain([&NAME]);
        let names = common.chain(spec.properties()).map(|property| property.name);
        let aliases = aliases(spec.properties()).map(|(alias, _)| alias);
        names.chain(aliases).chain(spec.not_yet().iter().copied()).chain(later::PROPERTIES)
    }
}
