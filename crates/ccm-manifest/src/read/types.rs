//! Resource types that the caller provides.

use std::sync::Arc;

use ccm_model::{Claim, PathSpellings, Resource, closest};
use ccm_properties::{CommonProperty, NAME, SettingsView, TypeSpec, aliases};

use crate::read::reserved;

/// Resource types of a manifest, by name and by index.
pub(crate) struct Types<'t> {
    types: Vec<TypeEntry<'t>>,
}

struct TypeEntry<'t> {
    spec: &'t dyn TypeSpec,
    name: Arc<str>,
}

impl<'t> Types<'t> {
    pub(crate) fn new(specs: &[&'t dyn TypeSpec]) -> Self {
        let entry = |spec: &&'t dyn TypeSpec| TypeEntry { spec: *spec, name: spec.name().into() };
        Self { types: specs.iter().map(entry).collect() }
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.types.iter().position(|entry| &*entry.name == name)
    }

    pub(crate) fn spec(&self, index: usize) -> &'t dyn TypeSpec {
        self.types[index].spec
    }

    pub(crate) fn specs(&self) -> Vec<&'t dyn TypeSpec> {
        self.types.iter().map(|entry| entry.spec).collect()
    }

    pub(crate) fn name(&self, index: usize) -> &Arc<str> {
        &self.types[index].name
    }

    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|entry| &*entry.name)
    }

    /// Returns `true` if the key is a type of this version or a reserved one.
    pub(crate) fn is_type(&self, key: &str) -> bool {
        self.find(key).is_some() || reserved::TYPES.contains(&key)
    }

    /// Returns the closest type for a misspelt key.
    pub(crate) fn closest(&self, key: &str) -> Option<&str> {
        closest(key, self.names())
    }

    /// Returns `true` if a resource ends what it claims.
    pub(crate) fn ends(&self, resource: &Resource) -> bool {
        self.find(&resource.id.type_name).is_some_and(|found| self.spec(found).ends(resource))
    }

    /// Returns the claims of a resource, with the canonical spellings of their paths.
    pub(crate) fn claims<'r>(&self, resource: &'r Resource, spellings: &PathSpellings<'_>) -> Vec<Claim<'r>> {
        let spec = self.find(&resource.id.type_name).map(|found| self.spec(found));
        spec.map(|spec| spellings.claims(spec.claims(resource))).unwrap_or_default()
    }

    /// Returns the keys below `ccm` that belong to types.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'static str> {
        let keys = self.types.iter().filter_map(|entry| entry.spec.settings()).flat_map(SettingsView::keys);
        keys.map(|setting| setting.name)
    }

    /// Returns `true` if the key is a property of the type.
    pub(crate) fn has_property(&self, index: usize, key: &str) -> bool {
        self.properties(index).any(|name| name == key)
    }

    /// Returns the closest property for a misspelt key.
    pub(crate) fn closest_property(&self, index: usize, key: &str) -> Option<&'static str> {
        closest(key, self.properties(index))
    }

    fn properties(&self, index: usize) -> impl Iterator<Item = &'static str> {
        let spec = self.types[index].spec;
        let common = CommonProperty::ALL.into_iter().map(CommonProperty::spec).chain([&NAME]);
        let names = common.chain(spec.properties()).map(|property| property.name);
        let aliases = aliases(spec.properties()).map(|(alias, _)| alias);
        names.chain(aliases)
    }
}
