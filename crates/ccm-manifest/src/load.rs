//! Runs the steps of loading.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_graph::Graph;
use ccm_model::{
    Catalog, ClaimKind, Control, Dependency, Diagnostic, DiagnosticKind, Diagnostics, Node, Resource,
    ResourceIndex, Severity, SourceId, SourceMap,
};
use ccm_properties::TypeSpec;
use tracing::{debug, debug_span};

use crate::captures::CaptureTable;
use crate::children::{self, ChildManifests, OuterContext};
use crate::control::Conditions;
use crate::credentials::LongSecrets;
use crate::data::{self, OuterLayers, Overlay, ResolvedData};
use crate::data_keys::DataKeys;
use crate::document::{self, Document, Settings};
use crate::draft::{DraftBuilder, ResourceDraft};
use crate::eval_context::EvalContext;
use crate::expansion::needed_before_run;
use crate::file_uses::FileUsers;
use crate::foreach::ItemScope;
use crate::generated;
use crate::hiera::{self, DataFile};
use crate::late::{LateResource, LateResources};
use crate::references::NameTable;
use crate::resources::{Declaration, Nameless, collect};
use crate::scope::{DeferredOn, ManagedPaths, ManifestEvaluator, ManifestScope, Phase};
use crate::sources::Sources;
use crate::types::Types;
use crate::unchecked::OmittedInputs;
use crate::{autorequire, claims, cycles, missing_sources, paths, shell_check, typographic_quotes};

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
}

impl LoadResult<'_> {
    /// Returns the texts that spans refer to: the manifest and all other files that were loaded.
    pub fn texts(&self) -> SourceMap {
        self.late.texts()
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
    let mut loader = Loader {
        context,
        types: &Types::new(types),
        overlays,
        is_incomplete,
        manifests: Vec::new(),
        drafts: Vec::new(),
        children: ChildManifests::default(),
        nameless: Vec::new(),
        repeated: 0,
        incomplete_types: HashSet::new(),
        secrets: Vec::new(),
        data_keys,
        has_assignments: !request.assignments.is_empty(),
        invalid_names: HashSet::new(),
        has_unknown_resources: false,
        diagnostics,
    };
    let own =
        Path::new(&request.name).file_name().map(|name| paths::normalize(&request.directory.join(name)));
    let outer = OuterContext::root(own);
    let manifest = Manifest { source, text: request.text, directory: request.directory, outer };
    let read = loader.manifest(manifest);
    // Errors may hide a part of the data.
    if !loader.diagnostics.has_errors() && !loader.context.has_errors() {
        loader.data_keys.check_overrides(&mut loader.diagnostics);
        if !request.allows_new_keys {
            loader.data_keys.check_assignments(&request.assignments, &mut loader.diagnostics);
        }
    }
    loader.finish(read)
}

/// Manifest to read, the given one or a child.
pub(crate) struct Manifest {
    pub(crate) source: SourceId,
    pub(crate) text: Arc<str>,
    pub(crate) directory: PathBuf,
    pub(crate) outer: OuterContext,
}

#[derive(Default)]
pub(crate) struct ReadManifest {
    pub(crate) settings: Settings,
    pub(crate) data: ResolvedData,
}

/// Reads a manifest and the manifests that it applies.
pub(crate) struct Loader<'s, 't> {
    pub(crate) context: EvalContext<'s>,
    pub(crate) types: &'t Types<'s>,
    overlays: Vec<Overlay>,
    /// Some data is unavailable, which was reported.
    pub(crate) is_incomplete: bool,
    /// Scopes of the manifests, in the order of reading.
    pub(crate) manifests: Vec<ManifestScope>,
    pub(crate) drafts: Vec<ResourceDraft>,
    pub(crate) children: ChildManifests,
    pub(crate) nameless: Vec<(Nameless, usize, bool)>,
    /// Number of resources that lists made.
    pub(crate) repeated: usize,
    /// Types with resources whose names are unknown, because the list of a `foreach` has errors.
    pub(crate) incomplete_types: HashSet<usize>,
    /// Secret texts in the data of any manifest.
    pub(crate) secrets: Vec<String>,
    pub(crate) data_keys: DataKeys,
    pub(crate) has_assignments: bool,
    invalid_names: HashSet<Box<str>>,
    /// Some resources are unknown, because an input was left out.
    has_unknown_resources: bool,
    pub(crate) diagnostics: Diagnostics,
}

impl<'s> Loader<'s, '_> {
    /// Reads a manifest up to the names of its resources, those of a child before the resource that applies
    /// it.
    pub(crate) fn manifest(&mut self, manifest: Manifest) -> ReadManifest {
        let Manifest { source, text, directory, outer } = manifest;
        let root = match ccm_yaml::parse_with_duplicates(source, &text, &ccm_yaml::Limits::default()) {
            Ok((root, duplicates)) => {
                self.diagnostics.extend(duplicates);
                root
            }
            Err(errors) => {
                self.diagnostics.extend(errors);
                return ReadManifest::default();
            }
        };
        debug!(bytes = text.len(), "parsed the manifest");
        if let Some(root) = &root {
            typographic_quotes::check(root, &text, &mut self.diagnostics);
        }
        let Document { data, settings, type_settings, items, template } =
            document::read(source, &text, root, self.types, &mut self.diagnostics);
        self.data_keys.add(&data, self.has_assignments);
        let layered = OuterLayers {
            overlays: &outer.overlays(&self.overlays),
            above: &[],
            defaults: outer.defaults(),
            is_incomplete: self.is_incomplete,
        };
        let mut data =
            data::resolve(&data, &self.context, &text, &directory, &layered, &mut self.diagnostics);
        data.unknown.add(&outer.unknown);
        for file in std::mem::take(&mut data.files) {
            self.data_keys.add_file(file, self.has_assignments);
        }
        data::check(&mut data, &self.context, &mut self.diagnostics);
        debug!(hierarchy = data.entries.len(), sensitive = data.secrets.len(), "resolved the data");
        self.secrets.extend(data.secrets.iter().cloned());
        let own = self.manifests.len();
        let is_incomplete = data.is_incomplete;
        self.manifests.push(ManifestScope {
            text,
            directory: directory.into(),
            data: data.value.clone(),
            settings: Arc::default(),
            is_incomplete,
            item: ItemScope::None,
            unknown: data.unknown.clone(),
        });
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let settings = document::settings(settings, self.evaluator(own, Phase::Drafts), &mut diagnostics);
        let type_settings = document::settings_of_types(
            type_settings,
            self.types,
            self.evaluator(own, Phase::Drafts),
            &mut diagnostics,
        );
        self.manifests[own].settings = type_settings.into();
        // Errors in generated resources point into the generated text, which therefore gets its own scope.
        let mut is_unchecked = false;
        let generated = template.and_then(|template| {
            let evaluator = self.evaluator(own, Phase::Drafts);
            generated::generate(&template, &evaluator, &mut is_unchecked, &mut diagnostics)
        });
        self.has_unknown_resources |= is_unchecked;
        self.diagnostics = diagnostics;
        self.collect(items, own, false, &outer, &data);
        if let Some((text, items)) = generated {
            let manifest = self.manifests.len();
            self.manifests.push(ManifestScope { text, ..self.manifests[own].clone() });
            self.collect(items, manifest, true, &outer, &data);
        }
        ReadManifest { settings, data }
    }

    /// Collects the resources of a manifest, and reads the manifests that they apply.
    fn collect(
        &mut self,
        items: Vec<Node>,
        manifest: usize,
        verbatim: bool,
        outer: &OuterContext,
        data: &ResolvedData,
    ) {
        let collected = collect(items, self.types, verbatim, &mut self.diagnostics);
        self.invalid_names.extend(collected.invalid_names);
        for nameless in collected.nameless {
            let scope = if nameless.in_foreach { self.scope_of_unknown_item(manifest) } else { manifest };
            self.nameless.push((nameless, scope, verbatim));
        }
        let mut declarations = collected.declarations.into_iter();
        let mut at = 0;
        for foreach in collected.foreach {
            for declaration in declarations.by_ref().take(foreach.declarations.start - at) {
                self.declare(declaration, manifest, verbatim, outer, data);
            }
            at = foreach.declarations.end;
            let repeated = declarations.by_ref().take(foreach.declarations.len()).collect();
            self.repeat(&foreach, repeated, manifest, outer, data);
        }
        for declaration in declarations {
            self.declare(declaration, manifest, verbatim, outer, data);
        }
    }

    /// Adds a resource, and reads the manifest that it applies.
    pub(crate) fn declare(
        &mut self,
        declaration: Declaration,
        manifest: usize,
        verbatim: bool,
        outer: &OuterContext,
        data: &ResolvedData,
    ) {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let evaluator = |manifest: usize| self.evaluator(manifest, Phase::Drafts);
        let builder = DraftBuilder {
            types: self.types,
            manifest,
            outer_conditions: &outer.conditions,
            evaluator: &evaluator,
            verbatim,
        };
        let mut draft = builder.draft(declaration, &mut diagnostics);
        draft.resource.group = outer.group;
        draft.verbatim = verbatim;
        let spec = self.types.spec(draft.type_index);
        if spec.child_manifest(&draft.resource).is_some() {
            // The child needs the data of this resource.
            builder.complete(&mut draft, &mut diagnostics);
            draft.found.refuse_late();
            draft.files.clear();
            diagnostics.append(&mut draft.found.diagnostics);
            self.diagnostics = diagnostics;
            children::read(self, &mut draft, outer, data);
        } else {
            self.diagnostics = diagnostics;
        }
        self.drafts.push(draft);
    }

    pub(crate) fn evaluator<'a>(&'a self, manifest: usize, phase: Phase<'a>) -> ManifestEvaluator<'a, 's> {
        ManifestEvaluator { context: &self.context, manifest: &self.manifests[manifest], phase }
    }

    /// Completes all resources, once all names are known.
    fn finish(mut self, read: ReadManifest) -> LoadResult<'s> {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let mut drafts = std::mem::take(&mut self.drafts);
        let mut secrets = std::mem::take(&mut self.secrets);
        secrets.sort_unstable();
        secrets.dedup();
        let mut long_secrets = LongSecrets::of(&secrets);
        let managed = self.recheck_controls(&mut drafts, &mut diagnostics);
        let invalid_names = std::mem::take(&mut self.invalid_names);
        let nameless = std::mem::take(&mut self.nameless);
        let incomplete_types = std::mem::take(&mut self.incomplete_types);
        let mut names = NameTable::new(self.types, &drafts, &invalid_names, &incomplete_types)
            .incomplete_if(self.has_unknown_resources);
        self.add_names(&mut names, &drafts, &mut diagnostics);
        let evaluator = |manifest: usize| self.evaluator(manifest, Phase::BeforeRun(&managed));
        let no_conditions = Conditions::default();
        let builder = |manifest, verbatim| DraftBuilder {
            types: self.types,
            manifest,
            outer_conditions: &no_conditions,
            evaluator: &evaluator,
            verbatim,
        };
        for (index, draft) in drafts.iter_mut().enumerate() {
            if diagnostics.is_full() {
                break;
            }
            diagnostics.set_context(self.context_of(draft));
            if self.types.spec(draft.type_index).child_manifest(&draft.resource).is_none() {
                builder(draft.manifest, draft.verbatim).complete(draft, &mut diagnostics);
            }
            names.resolve(draft, Some(ResourceIndex::from_usize(index)), &mut diagnostics);
            long_secrets.add(&self.context.credentials);
            draft.check(
                self.types,
                &self.manifests[draft.manifest].text,
                &long_secrets.texts,
                &mut diagnostics,
            );
        }
        diagnostics.set_context(None);
        for (nameless, manifest, verbatim) in nameless {
            let text = &self.manifests[manifest].text;
            diagnostics.extend(errors_within(nameless, &mut names, &builder(manifest, verbatim), text));
        }
        let missing_sources = missing_sources::find(&drafts, &self);
        shell_check::check(&drafts, &self, &long_secrets.texts, &mut diagnostics);
        let captures = CaptureTable::of(&drafts, self.types);
        let mut waiting = self.late_resources(&mut drafts, &captures, &mut diagnostics);
        let file_users = FileUsers::take(&mut drafts, self.types);
        diagnostics.extend(self.context.take_errors());
        self.context.credentials.report(&mut secrets, &mut diagnostics);
        refuse_early_uses(&self.context, &managed, &drafts, &mut diagnostics);
        debug!(resources = drafts.len(), late = waiting.len(), "expanded the resources");

        let Settings { name, pre_message, post_message, fail_on_error } = read.settings;
        let has_name: Vec<bool> = drafts.iter().map(|draft| draft.has_name).collect();
        let resources: Vec<Resource> = drafts.into_iter().map(|draft| draft.resource).collect();
        let mut catalog = Catalog {
            name: name.map(|name| name.0),
            pre_message: pre_message.map(|message| message.0),
            post_message: post_message.map(|message| message.0),
            fail_on_error: fail_on_error.unwrap_or(false),
            resources,
            groups: std::mem::take(&mut self.children.groups),
        };
        let graph = Graph::of(&catalog);
        let spellings = &self.context.spellings;
        let mut claims = claims::collect(&catalog, self.types, spellings);
        claims.retain(|(index, _)| has_name[index.get()]);
        claims::find_conflicts(&catalog, &claims, &mut diagnostics);
        claims::find_filled_purges(&catalog, self.types, spellings, &mut diagnostics);
        paths::find_below_files(&catalog, &claims, &mut diagnostics);
        cycles::find(&catalog, &graph, &mut diagnostics);
        let known = missing_sources::KnownFiles { catalog: &catalog, graph: &graph, claims: &claims };
        missing_sources::report(&missing_sources, &known, self.types, &self.context, &mut diagnostics);
        if !diagnostics.has_errors() {
            paths::warn_below_absent(&catalog, &claims, &mut diagnostics);
            let missing = paths::directories_above(&catalog, &claims);
            let unordered = paths::files_of_parts(&catalog, &claims);
            paths::require_directories(&mut catalog, &graph, missing, &mut diagnostics);
            paths::require_files(&mut catalog, &graph, unordered);
            autorequire::require_needed(&mut catalog, self.types, spellings);
        }
        file_users.resolve(&mut catalog, self.types, &mut waiting, &mut diagnostics);
        diagnostics.extend(self.context.take_unchecked());
        let is_valid = !diagnostics.has_errors();
        debug!(resources = catalog.resources.len(), edges = edges(&catalog), "checked the graph");
        let mut data = read.data;
        data.secrets = secrets;
        let specs = self.types.specs();
        LoadResult {
            catalog: is_valid.then_some(catalog),
            diagnostics: in_order(diagnostics.into_vec()),
            data,
            late: LateResources::new(self.context, self.manifests, specs, managed, captures, waiting),
        }
    }

    /// Adds the names and aliases of all resources to the table.
    fn add_names(
        &self,
        names: &mut NameTable<'_, '_>,
        drafts: &[ResourceDraft],
        diagnostics: &mut Diagnostics,
    ) {
        for (index, draft) in drafts.iter().enumerate() {
            diagnostics.set_context(self.context_of(draft));
            names.add(ResourceIndex::from_usize(index), draft, &self.manifests[draft.manifest], diagnostics);
        }
    }

    /// Returns the resources with late values, and adds the dependencies that these imply.
    fn late_resources(
        &self,
        drafts: &mut [ResourceDraft],
        captures: &CaptureTable,
        diagnostics: &mut Diagnostics,
    ) -> HashMap<ResourceIndex, LateResource> {
        let mut waiting = HashMap::new();
        for (index, draft) in drafts.iter_mut().enumerate() {
            let index = ResourceIndex::from_usize(index);
            diagnostics.set_context(self.context_of(draft));
            deferred_edges(draft, index, captures, diagnostics);
            if let Some(late) = LateResource::of(draft) {
                waiting.insert(index, late);
            }
        }
        diagnostics.set_context(None);
        waiting
    }

    /// Evaluates the conditions again that read files, and returns the managed paths.
    fn recheck_controls(&self, drafts: &mut [ResourceDraft], diagnostics: &mut Diagnostics) -> ManagedPaths {
        let managed = self.managed(drafts);
        if !drafts.iter().any(|draft| draft.needs_recheck) {
            return managed;
        }
        for draft in drafts.iter_mut() {
            diagnostics.set_context(self.context_of(draft));
            draft.recheck_control(
                &self.context,
                |manifest| self.evaluator(manifest, Phase::BeforeRun(&managed)),
                diagnostics,
            );
        }
        diagnostics.set_context(None);
        self.managed(drafts)
    }

    fn managed(&self, drafts: &[ResourceDraft]) -> ManagedPaths {
        let mut managed = ManagedPaths::with_capacity(drafts.len());
        for (index, draft) in drafts.iter().enumerate() {
            let is_off = matches!(draft.resource.control, Control::NotManaged { .. });
            if !draft.has_name || is_off {
                continue;
            }
            let claims = claims::of(&draft.resource, self.types, &self.context.spellings);
            for claim in claims.into_iter().filter(|claim| claim.kind == ClaimKind::Path) {
                let name = &draft.resource.id.name;
                let path = if **name == *claim.key { Arc::clone(name) } else { claim.key.into() };
                managed.entry(path).or_default().push(ResourceIndex::from_usize(index));
            }
        }
        managed
    }
}

fn edges(catalog: &Catalog) -> usize {
    catalog.resources.iter().map(|resource| resource.require.len() + resource.subscribe.len()).sum()
}

/// Adds the dependencies that late values imply.
fn deferred_edges(
    draft: &mut ResourceDraft,
    index: ResourceIndex,
    captures: &CaptureTable,
    diagnostics: &mut Diagnostics,
) {
    let of_control = draft.control_deferred_on.iter().map(|(on, span)| (on, span, true));
    let of_values = draft.found.deferred_on.iter().map(|(on, span)| (on, span, false));
    for (on, span, is_control) in of_control.chain(of_values) {
        let (found, itself) = match on {
            // A condition may depend on the current content of the file that its own resource manages.
            DeferredOn::File(on) if *on == index && is_control => continue,
            DeferredOn::File(on) | DeferredOn::Execution(on) => {
                (Ok(*on), "this expression reads the file that its own resource manages")
            }
            DeferredOn::Capture { name, key, .. } => {
                let found = captures.resolve(name.as_deref(), key.as_deref(), *span);
                (found, "this expression uses a value that its own resource captures")
            }
            DeferredOn::NoValue(_) => continue,
        };
        match found {
            Ok(on) if on == index => {
                diagnostics.push(Diagnostic::error(DiagnosticKind::Cycle, *span, itself));
            }
            Ok(on) => {
                let mut edges = draft.resource.require.iter().chain(&draft.resource.subscribe);
                if !edges.any(|edge| edge.on == on) {
                    draft.resource.require.push(Dependency { on, span: *span });
                }
            }
            Err(error) => diagnostics.push(error),
        }
    }
}

/// Refuses managed files whose content was used before the managed files were known.
fn refuse_early_uses(
    context: &EvalContext<'_>,
    managed: &ManagedPaths,
    drafts: &[ResourceDraft],
    diagnostics: &mut Diagnostics,
) {
    for (path, span) in context.take_early_uses() {
        if let Some(on) = managed.get(&*context.spelling(&path)).and_then(|all| all.first()) {
            // Errors about the current content, or its absence, are obsolete: the resource changes the file.
            diagnostics.retain(|error| !error.span().is_some_and(|found| span.contains(found)));
            let id = drafts.get(on.get()).map(|draft| &draft.resource.id);
            diagnostics.push(needed_before_run(&DeferredOn::File(*on), id, span));
        }
    }
}

/// Returns the errors in properties without a resource, except those about the placeholder resource.
fn errors_within(
    nameless: Nameless,
    names: &mut NameTable<'_, '_>,
    builder: &DraftBuilder<'_, '_, '_>,
    text: &str,
) -> impl Iterator<Item = Diagnostic> {
    let mut found = Diagnostics::new();
    let mut draft = builder.draft(nameless.declaration, &mut found);
    builder.complete(&mut draft, &mut found);
    found.extend(std::mem::take(&mut draft.found.missing_files));
    found.extend(std::mem::take(&mut draft.missing_in_control));
    names.resolve(&mut draft, None, &mut found);
    draft.check(builder.types, text, &[], &mut found);
    let is_within = move |error: &Diagnostic| error.span().is_some_and(|span| nameless.within.contains(span));
    found.into_vec().into_iter().filter(move |error| is_error(error) && is_within(error))
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Sorts by location and removes duplicates: an error in defaults occurs once for each resource of the list.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(Diagnostic::span);
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span(), diagnostic.message.clone())));
    diagnostics
}
