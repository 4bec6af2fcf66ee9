//! Selection of resources by their names.

use std::fmt;

use ccm_model::{Resource, ResourceId, ResourceIndex, closest};

use crate::manifest::LoadedManifest;
use crate::run::RunOptions;

/// Option that names resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionOption {
    /// [`RunOptions::only`].
    Only,
    /// [`RunOptions::skip`].
    Skip,
}

/// Resources that are not in the manifests.
#[derive(Debug, thiserror::Error)]
pub struct UnknownResources(pub Vec<UnknownResource>);

impl fmt::Display for UnknownResources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(|unknown| unknown.id.to_string()).collect();
        write!(formatter, "not in the manifest: {}", names.join(", "))
    }
}

/// A resource that is in no manifest.
#[derive(Debug)]
pub struct UnknownResource {
    /// Option that names the resource.
    pub option: SelectionOption,
    /// The resource.
    pub id: ResourceId,
    /// The resource with the nearest name.
    pub nearest: Option<String>,
}

/// Resources of one manifest that are selected and excluded.
#[derive(Debug, Default)]
pub(crate) struct NamedResources {
    /// Selected resources; `None` selects all.
    pub(crate) only: Option<Vec<ResourceIndex>>,
    /// Excluded resources.
    pub(crate) skip: Vec<ResourceIndex>,
}

impl NamedResources {
    /// Finds the resources by their names or aliases. Each has to be in one of the manifests.
    pub(crate) fn of_each(
        manifests: &[&LoadedManifest<'_>],
        options: &RunOptions,
    ) -> Result<Vec<Self>, UnknownResources> {
        let mut unknown = Vec::new();
        let only = found(manifests, &options.only, SelectionOption::Only, &mut unknown);
        let skip = found(manifests, &options.skip, SelectionOption::Skip, &mut unknown);
        if !unknown.is_empty() {
            return Err(UnknownResources(unknown));
        }
        let selects_all = options.only.is_empty();
        let each = only.into_iter().zip(skip);
        Ok(each.map(|(only, skip)| Self { only: (!selects_all).then_some(only), skip }).collect())
    }

    /// Returns `true` if no resource is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.only.as_ref().is_some_and(Vec::is_empty)
    }
}

impl LoadedManifest<'_> {
    /// Returns the name or the alias of a resource that is most similar to a name, if one is similar.
    pub fn nearest(&self, id: &ResourceId) -> Option<String> {
        nearest(&[self], id)
    }
}

fn nearest(manifests: &[&LoadedManifest<'_>], id: &ResourceId) -> Option<String> {
    let resources = manifests.iter().flat_map(|manifest| &manifest.catalog.resources);
    let names: Vec<String> = resources.flat_map(names_of).collect();
    closest(&id.to_string(), names.iter().map(String::as_str)).map(str::to_owned)
}

/// Returns the name of a resource, and its aliases as other ones.
fn names_of(resource: &Resource) -> impl Iterator<Item = String> {
    let aliases = resource.aliases.iter().map(|alias| format!("{}#{alias}", resource.id.type_name));
    std::iter::once(resource.id.to_string()).chain(aliases)
}

/// Returns the resources of each manifest that have one of the names.
fn found(
    manifests: &[&LoadedManifest<'_>],
    ids: &[ResourceId],
    option: SelectionOption,
    unknown: &mut Vec<UnknownResource>,
) -> Vec<Vec<ResourceIndex>> {
    let mut found: Vec<Vec<ResourceIndex>> = vec![Vec::new(); manifests.len()];
    if ids.is_empty() {
        return found;
    }
    let known: Vec<_> = manifests.iter().map(|manifest| manifest.catalog.names()).collect();
    for id in ids {
        let mut is_known = false;
        for (names, found) in known.iter().zip(&mut found) {
            if let Some(index) = names.find(id) {
                found.push(index);
                is_known = true;
            }
        }
        if is_known {
            continue;
        }
        unknown.push(UnknownResource { option, id: id.clone(), nearest: nearest(manifests, id) });
    }
    found
}
