//! From text to catalog, step by step.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_graph::Graph;
use ccm_model::SHORTEST_SECRET;
use ccm_model::{
    Catalog, ClaimKind, Control, Dependency, Diagnostic, Diagnostics, Node, Resource, ResourceIndex,
    Severity, SourceId, SourceMap, Span,
};
use ccm_properties::TypeSpec;
use tracing::{debug, debug_span};

use crate::capturing::Capturing;
use crate::children::{self, Around, Children};
use crate::control::Conditions;
use crate::data::{self, Layered, Overlay, ResolvedData};
use crate::document::{self, Document, Settings, smallest_manifest};
use crate::draft::{Beginning, Draft};
use crate::expand::refused_as_late;
use crate::generated;
use crate::hiera::{self, DataFile};
use crate::late::{Late, LateResource};
use crate::references::Names;
use crate::resources::{Nameless, collect};
use crate::scope::{Evaluator, LateOn, Managed, ManifestScope, Moment};
use crate::sources::Sources;
use crate::types::Types;
use crate::world::World;
use crate::{claims, cycles, paths, wording};

/// A manifest to load.
pub struct Request {
    /// What messages call it: the path as the user gave it.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// The directory it is in, absolute.
    pub directory: PathBuf,
    /// Files whose values are laid over its own, the lowest first.
    pub hiera: Vec<DataFile>,
    /// What is laid over all of them, each as `KEY=VALUE`.
    pub assignments: Vec<String>,
}

/// What came of a manifest.
pub struct Loaded<'s> {
    /// The catalog, if nothing in the manifest is a mistake.
    pub catalog: Option<Catalog>,
    /// Mistakes and warnings, in the order of the manifest and each once.
    pub diagnostics: Vec<Diagnostic>,
    /// The values of the manifest.
    pub data: ResolvedData,
    /// Completes resources when they are reached.
    pub late: Late<'s>,
}

impl Loaded<'_> {
    /// The texts that places point into: the manifest and whatever it is made of.
    pub fn texts(&self) -> SourceMap {
        self.late.texts()
    }
}

/// Reads a manifest that may use these resource types.
pub fn load<'s>(request: Request, types: &[&'s dyn TypeSpec], sources: &'s dyn Sources) -> Loaded<'s> {
    // Messages name no values: which of them are secret is known only at the end.
    let _span = debug_span!("load", manifest = %request.name).entered();
    let mut texts = SourceMap::default();
    let source = texts.add(request.name.as_str(), Arc::clone(&request.text));
    let world = World::new(sources, texts);
    let mut diagnostics = Diagnostics::new();
    let overlays = hiera::overlays(&request.hiera, &request.assignments, &world, &mut diagnostics);
    let is_incomplete = world.has_mistakes() || diagnostics.has_errors();
    let mut loader = Loader {
        world,
        types: &Types::new(types),
        overlays,
        is_incomplete,
        manifests: Vec::new(),
        drafts: Vec::new(),
        children: Children::default(),
        nameless: Vec::new(),
        secrets: Vec::new(),
        broken: HashSet::new(),
        diagnostics,
    };
    let own = Path::new(&request.name).file_name().map(|name| paths::normal(&request.directory.join(name)));
    let around = Around::nothing(own);
    let manifest = Manifest { source, text: request.text, directory: request.directory, around };
    let read = loader.manifest(manifest);
    loader.finish(read, source)
}

/// A manifest on its way.
pub(crate) struct Manifest {
    pub(crate) source: SourceId,
    pub(crate) text: Arc<str>,
    pub(crate) directory: PathBuf,
    pub(crate) around: Around,
}

/// What is known of a manifest once its resources have been collected.
#[derive(Default)]
pub(crate) struct ReadManifest {
    pub(crate) settings: Settings,
    pub(crate) data: ResolvedData,
    /// Where its resources begin.
    items_span: Option<Span>,
}

/// Reads a manifest and the manifests that it applies.
pub(crate) struct Loader<'s, 't> {
    pub(crate) world: World<'s>,
    pub(crate) types: &'t Types<'s>,
    overlays: Vec<Overlay>,
    /// Some values could not be had, which was reported.
    pub(crate) is_incomplete: bool,
    /// The manifests, in the order in which they were begun.
    pub(crate) manifests: Vec<ManifestScope>,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) children: Children,
    nameless: Vec<(Nameless, usize, bool)>,
    /// Every text in the values of any manifest that must not be shown.
    secrets: Vec<String>,
    broken: HashSet<Box<str>>,
    pub(crate) diagnostics: Diagnostics,
}

impl<'s> Loader<'s, '_> {
    /// Reads a manifest up to who its resources are, the resources of its children before what stands for
    /// those.
    pub(crate) fn manifest(&mut self, manifest: Manifest) -> ReadManifest {
        let Manifest { source, text, directory, around } = manifest;
        let root = match ccm_yaml::parse(source, &text, &ccm_yaml::Limits::default()) {
            Ok(root) => root,
            Err(mistakes) => {
                self.diagnostics.extend(mistakes);
                return ReadManifest::default();
            }
        };
        debug!(bytes = text.len(), "parsed the manifest");
        let Document { data, settings, of_types, mut items, template } =
            document::read(source, &text, root, self.types, &mut self.diagnostics);
        let layered = Layered {
            over: &around.overlays(&self.overlays),
            beneath: around.beneath(),
            is_incomplete: self.is_incomplete,
        };
        let mut data = data::resolve(&data, &self.world, &text, &directory, &layered, &mut self.diagnostics);
        data::check(&mut data, &self.world, &mut self.diagnostics);
        debug!(hierarchy = data.entries.len(), sensitive = data.secrets.len(), "resolved the data");
        self.secrets.extend(data.secrets.iter().cloned());
        let own = self.manifests.len();
        let is_incomplete = data.is_incomplete;
        self.manifests.push(ManifestScope {
            text,
            directory,
            data: data.value.clone(),
            settings: Vec::new(),
            is_incomplete,
        });
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let settings = document::settings(settings, self.evaluator(own, Moment::Names), &mut diagnostics);
        let of_types = document::settings_of_types(
            of_types,
            self.types,
            self.evaluator(own, Moment::Names),
            &mut diagnostics,
        );
        self.manifests[own].settings = of_types;
        // The resources stand in the manifest, or in what a template wrote, which is a manifest of its own.
        let mut standing = own;
        let mut verbatim = false;
        let written_at = template.as_ref().map(|template| template.value.span);
        if let Some(template) = template {
            let evaluator = self.evaluator(own, Moment::Names);
            if let Some((text, nodes)) = generated::generate(&template, &evaluator, &mut diagnostics) {
                standing = self.manifests.len();
                verbatim = true;
                self.manifests.push(ManifestScope { text, ..self.manifests[own].clone() });
                items = nodes;
            }
        }
        self.diagnostics = diagnostics;
        let items_span = items.first().map(|item| wording::start_of(item.span)).or(written_at);
        self.collect(items, standing, verbatim, &around, &data);
        ReadManifest { settings, data, items_span }
    }

    /// Collects the resources of a manifest, and reads the manifests among them.
    fn collect(
        &mut self,
        items: Vec<Node>,
        manifest: usize,
        verbatim: bool,
        around: &Around,
        data: &ResolvedData,
    ) {
        let collected = collect(items, self.types, &mut self.diagnostics);
        self.broken.extend(collected.broken);
        self.nameless.extend(collected.nameless.into_iter().map(|nameless| (nameless, manifest, verbatim)));
        for declaration in collected.declarations {
            let mut diagnostics = std::mem::take(&mut self.diagnostics);
            let evaluator = |manifest: usize| self.evaluator(manifest, Moment::Names);
            let beginning = Beginning {
                types: self.types,
                manifest,
                around: &around.conditions,
                evaluator: &evaluator,
                verbatim,
            };
            let mut draft = beginning.draft(declaration, &mut diagnostics);
            draft.resource.group = around.group;
            draft.verbatim = verbatim;
            let spec = self.types.spec(draft.type_index);
            if spec.child_manifest(&draft.resource).is_some() {
                // What it passes on has to be known before its own resources are.
                beginning.complete(&mut draft, &mut diagnostics);
                draft.found.refuse_late();
                diagnostics.append(&mut draft.found.diagnostics);
                self.diagnostics = diagnostics;
                children::read(self, &mut draft, around, data);
            } else {
                self.diagnostics = diagnostics;
            }
            self.drafts.push(draft);
        }
    }

    pub(crate) fn evaluator<'a>(&'a self, manifest: usize, moment: Moment<'a>) -> Evaluator<'a, 's> {
        Evaluator { world: &self.world, manifest: &self.manifests[manifest], moment }
    }

    /// Reads the rest of every resource, all names being known.
    fn finish(mut self, read: ReadManifest, source: SourceId) -> Loaded<'s> {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let mut drafts = std::mem::take(&mut self.drafts);
        let mut secrets = std::mem::take(&mut self.secrets);
        secrets.sort_unstable();
        secrets.dedup();
        let looked_for: Vec<String> =
            secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET).cloned().collect();
        let mut managed = self.managed(&drafts);
        if drafts.iter().any(|draft| draft.is_unsettled) {
            for draft in &mut drafts {
                draft.settle(|manifest| self.evaluator(manifest, Moment::Early(&managed)), &mut diagnostics);
            }
            managed = self.managed(&drafts);
        }
        let broken = std::mem::take(&mut self.broken);
        let nameless = std::mem::take(&mut self.nameless);
        let mut names = Names::new(self.types, &drafts, &broken);
        for (index, draft) in drafts.iter().enumerate() {
            names.add(ResourceIndex::from_usize(index), draft, &mut diagnostics);
        }
        let evaluator = |manifest: usize| self.evaluator(manifest, Moment::Early(&managed));
        let nowhere = Conditions::default();
        let beginning = |manifest, verbatim| Beginning {
            types: self.types,
            manifest,
            around: &nowhere,
            evaluator: &evaluator,
            verbatim,
        };
        for (index, draft) in drafts.iter_mut().enumerate() {
            if diagnostics.is_full() {
                break;
            }
            if self.types.spec(draft.type_index).child_manifest(&draft.resource).is_none() {
                beginning(draft.manifest, draft.verbatim).complete(draft, &mut diagnostics);
            }
            names.resolve(draft, Some(ResourceIndex::from_usize(index)), &mut diagnostics);
            draft.check(self.types, &self.manifests[draft.manifest].text, &looked_for, &mut diagnostics);
        }
        for (nameless, manifest, verbatim) in nameless {
            let text = &self.manifests[manifest].text;
            diagnostics.extend(mistakes_within(nameless, &mut names, &beginning(manifest, verbatim), text));
        }
        let capturing = Capturing::of(&drafts, self.types);
        let mut waiting = HashMap::new();
        for (index, draft) in drafts.iter_mut().enumerate() {
            let index = ResourceIndex::from_usize(index);
            late_edges(draft, index, &capturing, &mut diagnostics);
            if let Some(late) = LateResource::of(draft) {
                waiting.insert(index, late);
            }
        }
        diagnostics.extend(self.world.take_mistakes());
        refuse_early(&self.world, &managed, &mut diagnostics);
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
        let mut claims = claims::of(&catalog, self.types);
        claims.retain(|(index, _)| has_name[index.get()]);
        claims::find_conflicts(&catalog, &claims, &mut diagnostics);
        cycles::find(&catalog, &graph, &mut diagnostics);
        if catalog.resources.is_empty() && !diagnostics.has_errors() {
            let span = read.items_span.unwrap_or(Span::new(source, 0, 0));
            let mistake = Diagnostic::error(span, "the manifest has no resource");
            diagnostics.push(mistake.with_hint(smallest_manifest(self.types)));
        }
        let is_faultless = !diagnostics.has_errors();
        if is_faultless {
            paths::find_below_nothing(&catalog, &claims, &mut diagnostics);
            let wanted = paths::directories_above(&catalog, &claims);
            paths::require_directories(&mut catalog, &graph, wanted, &mut diagnostics);
        }
        debug!(resources = catalog.resources.len(), edges = edges(&catalog), "checked the graph");
        let mut data = read.data;
        data.secrets = secrets;
        let specs = self.types.specs();
        Loaded {
            catalog: is_faultless.then_some(catalog),
            diagnostics: in_order(diagnostics.into_vec()),
            data,
            late: Late::new(self.world, self.manifests, specs, managed, capturing, waiting),
        }
    }

    /// The files that will be managed.
    fn managed(&self, drafts: &[Draft]) -> Managed {
        let mut managed = Managed::with_capacity(drafts.len());
        for (index, draft) in drafts.iter().enumerate() {
            let is_off = matches!(draft.resource.control, Control::NotManaged { .. });
            if !draft.has_name || is_off {
                continue;
            }
            let claims = self.types.spec(draft.type_index).claims(&draft.resource);
            for claim in claims.into_iter().filter(|claim| claim.kind == ClaimKind::Path) {
                let name = &draft.resource.id.name;
                let path = if **name == *claim.key { Arc::clone(name) } else { claim.key.into() };
                managed.entry(path).or_default().push(ResourceIndex::from_usize(index));
            }
        }
        managed
    }
}

/// Number of dependencies in a catalog.
fn edges(catalog: &Catalog) -> usize {
    catalog.resources.iter().map(|resource| resource.require.len() + resource.subscribe.len()).sum()
}

/// Lets a resource require what its late values come from.
fn late_edges(draft: &mut Draft, index: ResourceIndex, capturing: &Capturing, diagnostics: &mut Diagnostics) {
    let of_control = draft.control_late_on.iter().map(|(on, span)| (on, span, true));
    let of_values = draft.found.late_on.iter().map(|(on, span)| (on, span, false));
    for (on, span, is_control) in of_control.chain(of_values) {
        let (found, itself) = match on {
            // What there is now may decide whether there is anything to do.
            LateOn::File(on) if *on == index && is_control => continue,
            LateOn::File(on) | LateOn::Execution(on) => (Ok(*on), "this names the file that it is to make"),
            LateOn::Capture { name, key, .. } => {
                let found = capturing.resolve(name.as_deref(), key.as_deref(), *span);
                (found, "this names what the resource itself is to capture")
            }
            LateOn::NoValue(_) => continue,
        };
        match found {
            Ok(on) if on == index => diagnostics.push(Diagnostic::error(*span, itself)),
            Ok(on) => {
                let mut edges = draft.resource.require.iter().chain(&draft.resource.subscribe);
                if !edges.any(|edge| edge.on == on) {
                    draft.resource.require.push(Dependency { on, span: *span });
                }
            }
            Err(mistake) => diagnostics.push(mistake),
        }
    }
}

/// Refuses the content of managed files where it was needed before it was known that they are.
fn refuse_early(world: &World<'_>, managed: &Managed, diagnostics: &mut Diagnostics) {
    for (path, span) in world.take_used_early() {
        if let Some(on) = managed.get(&*path.to_string_lossy()).and_then(|all| all.first()) {
            // What it is like now does not matter, nor whether there is one.
            diagnostics.retain(|mistake| !mistake.span().is_some_and(|found| span.contains(found)));
            diagnostics.push(refused_as_late(&LateOn::File(*on), span));
        }
    }
}

/// Checks properties that no resource has. What is said of the resource that stands in for one, outside of
/// them, does not count, and neither does a warning of what it would do.
fn mistakes_within(
    nameless: Nameless,
    names: &mut Names<'_, '_>,
    beginning: &Beginning<'_, '_, '_>,
    text: &str,
) -> impl Iterator<Item = Diagnostic> {
    let mut found = Diagnostics::new();
    let mut draft = beginning.draft(nameless.declaration, &mut found);
    beginning.complete(&mut draft, &mut found);
    names.resolve(&mut draft, None, &mut found);
    draft.check(beginning.types, text, &[], &mut found);
    let is_within =
        move |mistake: &Diagnostic| mistake.span().is_some_and(|span| nameless.within.contains(span));
    found.into_vec().into_iter().filter(move |mistake| is_error(mistake) && is_within(mistake))
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Sorts by place and leaves out what is there twice: a mistake in defaults is found once for each resource
/// of the list.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(Diagnostic::span);
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span(), diagnostic.message.clone())));
    diagnostics
}
