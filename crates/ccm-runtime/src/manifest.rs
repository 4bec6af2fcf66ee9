//! Manifests that were loaded and checked.

use std::fmt;

use ccm_graph::Format;
use ccm_manifest::{Loaded, load};
use ccm_model::{Catalog, Diagnostic, ResourceId, ResourceIndex, Severity, SourceMap};

use crate::input::Input;
use crate::session::Session;

/// A manifest without a mistake, ready to be planned or applied.
pub struct Manifest<'s> {
    pub(crate) session: &'s Session,
    pub(crate) input: &'s Input,
    pub(crate) catalog: Catalog,
    pub(crate) loaded: Loaded<'s>,
    texts: SourceMap,
}

/// Mistakes that were found, with the texts that they point into.
#[derive(Debug)]
pub struct Mistakes {
    /// Mistakes and warnings, in the order of the texts and each once.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub texts: SourceMap,
}

/// `1 mistake`, `3 mistakes`. Warnings do not count.
impl fmt::Display for Mistakes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.diagnostics.iter().filter(|found| found.severity == Severity::Error).count() {
            1 => formatter.write_str("1 mistake"),
            count => write!(formatter, "{count} mistakes"),
        }
    }
}

impl std::error::Error for Mistakes {}

/// Resources of a manifest that are applied alone.
#[derive(Clone, Debug)]
pub struct Selection(pub(crate) Vec<ResourceIndex>);

/// Resources that are not in the manifest.
#[derive(Debug, thiserror::Error)]
#[error("not in the manifest: {}", .0.iter().map(|unknown| unknown.id.to_string()).collect::<Vec<_>>().join(", "))]
pub struct UnknownResources(pub Vec<UnknownResource>);

/// A resource that is not in the manifest.
#[derive(Debug)]
pub struct UnknownResource {
    /// The resource.
    pub id: ResourceId,
    /// The resource with the nearest name.
    pub nearest: Option<String>,
}

impl Session {
    /// Loads and checks a manifest. Nothing is run.
    pub fn load<'s>(&'s self, input: &'s Input) -> Result<Manifest<'s>, Mistakes> {
        let mut loaded = load(input.request(), &self.specs(), &input.machine);
        self.secrets.add(loaded.data.secrets.iter().cloned());
        let mut texts = loaded.texts();
        // A file of facts that nothing asks for has to be readable as well.
        let unnoticed = input.machine.unnoticed(&mut texts);
        let catalog = loaded.catalog.take().filter(|_| unnoticed.is_empty());
        loaded.diagnostics.extend(unnoticed);
        match catalog {
            Some(catalog) => Ok(Manifest { session: self, input, catalog, loaded, texts }),
            None => Err(Mistakes { diagnostics: loaded.diagnostics, texts }),
        }
    }
}

impl Manifest<'_> {
    /// Returns the resources and their edges.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns what deserves a warning.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.loaded.diagnostics
    }

    /// Returns the texts that warnings point into.
    pub fn texts(&self) -> &SourceMap {
        &self.texts
    }

    /// Finds resources by their names.
    pub fn select(&self, ids: &[ResourceId]) -> Result<Selection, UnknownResources> {
        let known = self.catalog.names();
        let mut selected = Vec::new();
        let mut unknown = Vec::new();
        for id in ids {
            if let Some(index) = known.find(id) {
                selected.push(index);
                continue;
            }
            let names: Vec<String> =
                self.catalog.resources.iter().map(|resource| resource.id.to_string()).collect();
            let nearest = ccm_model::closest(&id.to_string(), names.iter().map(String::as_str));
            unknown.push(UnknownResource { id: id.clone(), nearest: nearest.map(str::to_owned) });
        }
        if unknown.is_empty() { Ok(Selection(selected)) } else { Err(UnknownResources(unknown)) }
    }

    /// Returns the manifest with all values put in, as YAML without secrets.
    pub fn render(&self) -> Result<String, Mistakes> {
        ccm_manifest::render(&self.catalog, &self.loaded)
            .map_err(|diagnostics| Mistakes { diagnostics, texts: self.loaded.texts() })
    }

    /// Returns the order of the resources and their edges, without secrets.
    pub fn graph(&self, format: Format) -> String {
        self.session.secrets.redact(&ccm_graph::render(&self.catalog, format)).into_owned()
    }
}

impl fmt::Debug for Manifest<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resources = self.catalog.resources.len();
        formatter.debug_struct("Manifest").field("resources", &resources).finish_non_exhaustive()
    }
}
