//! Runs the steps of loading.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ccm_expr::Value;
use ccm_model::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Node, ResourceId, SourceMap, normalize};
use ccm_properties::TypeSpec;
use tracing::debug_span;

use crate::check::data_notes::{self, NotedFiles};
use crate::check::{catalog, unused_keys};
use crate::late::LateResources;
use crate::read::children::{ChildManifests, OuterContext};
use crate::read::data::ResolvedData;
use crate::read::data_keys::DataKeys;
use crate::read::hiera::{self, DataFile};
use crate::read::reader::{DeclaredResources, Manifest, ReadManifest, Reader};
use crate::read::types::Types;
use crate::resolve::eval_context::EvalContext;
use crate::resolve::machine_secrets::LongSecrets;
use crate::resolve::resolver;
use crate::scopes::Scopes;
use crate::sources::{FactPath, Sources};
use crate::unchecked::OmittedInputs;

/// Manifest to load.
pub struct Request {
    /// Path as the user wrote it, for messages.
    pub name: String,
    /// Text of the manifest.
    pub text: Arc<str>,
    /// Absolute path of the directory of the manifest.
    pub directory: PathBuf,
    /// Data files merged over the data of the manifest, lowest first.
    pub hiera: Vec<DataFile>,
    /// `KEY=VALUE` assignments, merged over all data files.
    pub assignments: Vec<String>,
    /// Assignments may have keys that no data has.
    pub allows_new_keys: bool,
    /// Resources in place of those of the manifest: a list as YAML, whose texts hold no expressions.
    pub resources: Option<Arc<str>>,
    /// Tree of the manifest, if its text is something else than YAML, such as a command line. Its spans are parts of the text,
    /// with the default source.
    pub root: Option<Node>,
    /// Resources that were managed before, if references may name them.
    pub earlier: Option<Rc<EarlierResources>>,
}

/// Resources that were managed before the manifest.
#[derive(Clone, Debug, Default)]
pub struct EarlierResources {
    /// Names and aliases, each with the resource that it means.
    pub names: BTreeMap<ResourceId, ResourceId>,
    /// Hint for a reference to a resource that is not among them.
    pub hint: String,
}

/// References of a manifest to resources that were managed before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierReferences {
    /// Resources that have to have succeeded.
    pub require: Vec<ResourceId>,
    /// Resources that have to have succeeded, and whose changes trigger a refresh.
    pub subscribe: Vec<ResourceId>,
}

/// Result of loading a manifest.
pub struct LoadResult<'s> {
    /// Catalog, unless the manifest has errors.
    pub catalog: Option<Catalog>,
    /// Errors and warnings without duplicates, in manifest order.
    pub diagnostics: Vec<Diagnostic>,
    /// Resolved data of the manifest.
    pub data: ResolvedData,
    /// Completes late resources during the run.
    pub late: LateResources<'s>,
    /// References to resources that were managed before.
    pub earlier: EarlierReferences,
}

impl LoadResult<'_> {
    /// Returns the texts that spans refer to: the manifest and all other files that were loaded.
    pub fn texts(&self) -> SourceMap {
        self.late.texts()
    }

    /// Returns the facts that expressions and templates name, with their values.
    pub fn used_facts(&self) -> Vec<(FactPath, Value)> {
        self.late.context.used_facts()
    }

    /// Returns notes about the data, in manifest order. For one of several machines, `is_of_matrix`, data files that
    /// this machine does not read have a note: one that all machines have in common is about a file without a use.
    pub fn data_notes(&self, is_of_matrix: bool) -> Vec<Diagnostic> {
        let noted = if is_of_matrix { NotedFiles::Unread } else { NotedFiles::WithoutLevel };
        in_order(data_notes::notes(&self.late.manifests, &self.late.context, noted))
    }

    /// Returns notes about keys of `data` that nothing uses. An input that was left out may use any key.
    pub fn unused_keys(&self) -> Vec<Diagnostic> {
        if self.diagnostics.iter().any(|found| found.kind == DiagnosticKind::NotChecked) {
            return Vec::new();
        }
        in_order(unused_keys::notes(&self.late.manifests, &self.late.context))
    }
}

/// Loads a manifest that may use these resource types.
pub fn load<'s>(request: Request, types: &[&'s dyn TypeSpec], sources: &'s dyn Sources) -> LoadResult<'s> {
    load_omitting(request, types, sources, OmittedInputs::default())
}

/// Loads a manifest to check it without these inputs of its machine, with a note for each input that was left out. The
/// catalog then lacks values, so that it can't be applied.
pub fn load_omitting<'s>(
    request: Request,
    types: &[&'s dyn TypeSpec],
    sources: &'s dyn Sources,
    omitted: OmittedInputs,
) -> LoadResult<'s> {
    // Log messages name no values: the secrets are known only at the end.
    let _span = debug_span!("load", manifest = %request.name).entered();
    let mut texts = SourceMap::default();
    let source = texts.add(request.name.as_str(), Arc::clone(&request.text));
    let context = EvalContext::new(sources, texts).omitting(omitted);
    let mut diagnostics = Diagnostics::new();
    let mut data_keys = DataKeys::default();
    let overlays =
        hiera::overlays(&request.hiera, &request.assignments, &context, &mut data_keys, &mut diagnostics);
    let is_incomplete = context.has_errors() || diagnostics.has_errors();
    let types = &Types::new(types);
    let mut reader = Reader {
        scopes: Scopes { context, types, manifests: Vec::new(), children: ChildManifests::default() },
        overlays,
        is_incomplete,
        declared: DeclaredResources::default(),
        repeated: 0,
        data_keys,
        has_assignments: !request.assignments.is_empty(),
        given_resources: request.resources,
    };
    let own = Path::new(&request.name).file_name().map(|name| normalize(&request.directory.join(name)));
    let outer = OuterContext::root(own);
    let Request { text, directory, root, earlier, .. } = request;
    let manifest = Manifest { source, text, directory, outer, root };
    let ReadManifest { settings, mut data } = reader.manifest(manifest, &mut diagnostics);
    let Reader { mut scopes, declared, data_keys, .. } = reader;
    // Errors may hide a part of the data.
    if !diagnostics.has_errors() && !scopes.context.has_errors() {
        data_keys.check_overrides(&mut diagnostics);
        if !request.allows_new_keys {
            data_keys.check_assignments(&request.assignments, &mut diagnostics);
        }
    }
    let mut resolved = resolver::resolve(declared, &scopes, earlier.as_deref(), &mut diagnostics);
    data.secrets = std::mem::take(&mut resolved.secrets);
    let earlier = std::mem::take(&mut resolved.earlier);
    let (managed, captures) = (std::mem::take(&mut resolved.managed), std::mem::take(&mut resolved.captures));
    let secrets = LongSecrets::of(&data.secrets).texts;
    let (catalog, waiting) = catalog::build(resolved, settings, &secrets, &mut scopes, &mut diagnostics);
    let is_valid = !diagnostics.has_errors();
    if is_valid {
        diagnostics.extend(unused_keys::misspelt(&scopes.manifests, &scopes.context));
    }
    LoadResult {
        catalog: is_valid.then_some(catalog),
        diagnostics: in_order(diagnostics.into_vec()),
        data,
        late: LateResources::new(scopes.context, scopes.manifests, types.specs(), managed, captures, waiting),
        earlier,
    }
}

/// Sorts by location and removes duplicates: an error in defaults occurs once for each resource of the list.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(Diagnostic::span);
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span(), diagnostic.message.clone())));
    diagnostics
}
