//! Reading of a manifest and of those that it applies, up to the names of the resources.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use ccm_model::{Diagnostics, Node, SourceId};
use ccm_yaml::typographic::{self, CommandKeys};
use tracing::debug;

use super::children::{self, OuterContext};
use super::data::{self, OuterLayers, Overlay, ResolvedData};
use super::data_keys::DataKeys;
use super::document::{self, Document, Settings};
use super::draft::{DraftBuilder, ResourceDraft};
use super::foreach::ItemScope;
use super::resources::{Declaration, Nameless, collect};
use super::{changed_kinds, cut_values, folded_lines, foreign_files, generated, other_braces};
use crate::resolve::declared_data::DeclaredData;
use crate::resolve::scope::{ManifestScope, Phase};
use crate::scopes::Scopes;

/// Manifest to read, the given one or a child.
pub(crate) struct Manifest {
    pub(crate) source: SourceId,
    pub(crate) text: Arc<str>,
    pub(crate) directory: PathBuf,
    pub(crate) outer: OuterContext,
    /// Tree in place of that of the text.
    pub(crate) root: Option<Node>,
}

/// Text with errors that leave no tree. They were reported.
struct Unparsed;

#[derive(Default)]
pub(crate) struct ReadManifest {
    pub(crate) settings: Settings,
    pub(crate) data: ResolvedData,
}

/// Resources that the manifests declare, with names and without values.
#[derive(Default)]
pub(crate) struct DeclaredResources {
    pub(crate) drafts: Vec<ResourceDraft>,
    pub(crate) nameless: Vec<(Nameless, usize, bool)>,
    /// Types with resources whose names are unknown, because the list of a `foreach` has errors.
    pub(crate) incomplete_types: HashSet<usize>,
    pub(crate) invalid_names: HashSet<Box<str>>,
    /// Some resources are unknown, because an input was left out.
    pub(crate) has_unknown_resources: bool,
    /// Secret texts in the data of any manifest.
    pub(crate) secrets: Vec<String>,
}

/// Keys of a manifest whose texts are commands.
pub(crate) const COMMANDS: CommandKeys =
    CommandKeys { values: &["command", "onlyif", "unless", "args", "validate"], names: &["exec"] };

/// Reads a manifest and the manifests that it applies.
pub(crate) struct Reader<'s, 't> {
    pub(crate) scopes: Scopes<'s, 't>,
    pub(crate) overlays: Vec<Overlay>,
    /// Some data is unavailable, which was reported.
    pub(crate) is_incomplete: bool,
    pub(crate) declared: DeclaredResources,
    /// Number of resources that lists made.
    pub(crate) repeated: usize,
    pub(crate) data_keys: DataKeys,
    pub(crate) has_assignments: bool,
    /// Resources in place of those of the given manifest.
    pub(crate) given_resources: Option<Arc<str>>,
}

impl Reader<'_, '_> {
    /// Reads a manifest up to the names of its resources, those of a child before the resource that applies
    /// it.
    pub(crate) fn manifest(&mut self, manifest: Manifest, diagnostics: &mut Diagnostics) -> ReadManifest {
        let (source, text) = (manifest.source, Arc::clone(&manifest.text));
        let read = self.read(manifest, diagnostics);
        typographic::explain(source, &text, diagnostics);
        read
    }

    fn read(&mut self, manifest: Manifest, diagnostics: &mut Diagnostics) -> ReadManifest {
        let Manifest { source, text, directory, outer, root } = manifest;
        let root = match root {
            Some(given) => Some(given),
            None => match Self::parse(source, &text, diagnostics) {
                Ok(root) => root,
                Err(Unparsed) => return ReadManifest::default(),
            },
        };
        let Document { data, lacks_data, settings, type_settings, items, template } =
            document::read(source, &text, root, self.scopes.types, diagnostics);
        self.data_keys.add(&data, self.has_assignments);
        let nodes = data;
        let overlays = outer.overlays(&self.overlays);
        let layered = OuterLayers {
            overlays: &overlays,
            above: &[],
            defaults: outer.defaults(),
            is_incomplete: self.is_incomplete,
        };
        let mut data = data::resolve(&nodes, &self.scopes.context, &text, &directory, &layered, diagnostics);
        data.unknown.add(&outer.unknown);
        let files = std::mem::take(&mut data.files);
        changed_kinds::check(&nodes, &files, &data.merges, diagnostics);
        for file in &files {
            self.data_keys.add_file(file, self.has_assignments);
        }
        let passed = outer.group.map(|_| outer.passed_keys.clone());
        let declared =
            DeclaredData::new(nodes, files, &data, &overlays, passed).with_parent(outer.parent_data.clone());
        let reported = diagnostics.found();
        data::check(&mut data, &self.scopes.context, diagnostics);
        // A required value that is missing is one error, whatever uses it.
        data.is_incomplete |= lacks_data || diagnostics.found() > reported;
        debug!(hierarchy = data.entries.len(), sensitive = data.secrets.len(), "resolved the data");
        self.declared.secrets.extend(data.secrets.iter().cloned());
        let own = self.scopes.manifests.len();
        let is_incomplete = data.is_incomplete;
        self.scopes.manifests.push(ManifestScope {
            text,
            directory: directory.into(),
            data: data.value.clone(),
            settings: Arc::default(),
            is_incomplete,
            item: ItemScope::None,
            unknown: data.unknown.clone(),
            declared: Some(Arc::new(declared)),
        });
        let settings = document::settings(settings, self.scopes.evaluator(own, Phase::Drafts), diagnostics);
        let type_settings = document::settings_of_types(
            type_settings,
            self.scopes.types,
            self.scopes.evaluator(own, Phase::Drafts),
            diagnostics,
        );
        self.scopes.manifests[own].settings = type_settings.into();
        // Errors in generated resources point into the generated text, which therefore gets its own scope.
        let mut is_unchecked = false;
        let evaluator = self.scopes.evaluator(own, Phase::Drafts);
        let (items, generated) = if let Some(text) = self.given_resources.take() {
            let given = generated::items("(given)".to_owned(), text, &evaluator, diagnostics);
            (Vec::new(), Some(given))
        } else {
            let generated = template.and_then(|template| {
                generated::generate(&template, &evaluator, &mut is_unchecked, diagnostics)
            });
            (items, generated)
        };
        self.declared.has_unknown_resources |= is_unchecked;
        self.collect(items, own, false, (&outer, &data), diagnostics);
        if let Some((text, items)) = generated {
            let manifest = self.scopes.manifests.len();
            self.scopes.manifests.push(ManifestScope { text, ..self.scopes.manifests[own].clone() });
            self.collect(items, manifest, true, (&outer, &data), diagnostics);
        }
        ReadManifest { settings, data }
    }

    /// Parses the text of a manifest, and checks how it is written.
    fn parse(source: SourceId, text: &str, diagnostics: &mut Diagnostics) -> Result<Option<Node>, Unparsed> {
        let root = match ccm_yaml::parse_with_duplicates(source, text, &ccm_yaml::Limits::default()) {
            Ok((root, duplicates)) => {
                diagnostics.extend(duplicates);
                root
            }
            Err(mut errors) => {
                // What would mend the line only leads to the next error.
                if let (Some(advice), Some(first)) = (foreign_files::of_text(text), errors.first_mut()) {
                    first.hints = vec![advice.to_owned()];
                }
                diagnostics.extend(errors);
                return Err(Unparsed);
            }
        };
        debug!(bytes = text.len(), "parsed the manifest");
        if let Some(root) = &root {
            diagnostics.extend(typographic::check(root, text, COMMANDS));
            cut_values::check(root, text, diagnostics);
            folded_lines::check(root, text, diagnostics);
            diagnostics.extend(other_braces::warnings(source, text));
        }
        Ok(root)
    }

    /// Collects the resources of a manifest, and reads the manifests that they apply.
    fn collect(
        &mut self,
        items: Vec<Node>,
        manifest: usize,
        verbatim: bool,
        (outer, data): (&OuterContext, &ResolvedData),
        diagnostics: &mut Diagnostics,
    ) {
        let collected = collect(items, self.scopes.types, verbatim, diagnostics);
        self.declared.invalid_names.extend(collected.invalid_names);
        for nameless in collected.nameless {
            let scope = if nameless.in_foreach { self.scope_of_unknown_item(manifest) } else { manifest };
            self.declared.nameless.push((nameless, scope, verbatim));
        }
        let mut declarations = collected.declarations.into_iter();
        let mut at = 0;
        for foreach in collected.foreach {
            for declaration in declarations.by_ref().take(foreach.declarations.start - at) {
                self.declare(declaration, manifest, verbatim, (outer, data), diagnostics);
            }
            at = foreach.declarations.end;
            let repeated = declarations.by_ref().take(foreach.declarations.len()).collect();
            self.repeat(&foreach, repeated, manifest, (outer, data), diagnostics);
        }
        for declaration in declarations {
            self.declare(declaration, manifest, verbatim, (outer, data), diagnostics);
        }
    }

    /// Adds a resource, and reads the manifest that it applies.
    pub(crate) fn declare(
        &mut self,
        declaration: Declaration,
        manifest: usize,
        verbatim: bool,
        (outer, data): (&OuterContext, &ResolvedData),
        diagnostics: &mut Diagnostics,
    ) {
        let evaluator = |manifest: usize| self.scopes.evaluator(manifest, Phase::Drafts);
        let builder = DraftBuilder {
            types: self.scopes.types,
            manifest,
            outer_conditions: &outer.conditions,
            evaluator: &evaluator,
            verbatim,
        };
        let mut draft = builder.draft(declaration, diagnostics);
        draft.resource.group = outer.group;
        draft.verbatim = verbatim;
        let spec = self.scopes.types.spec(draft.type_index);
        if spec.child_manifest(&draft.resource).is_some() {
            // The child needs the data of this resource.
            builder.complete(&mut draft, diagnostics);
            draft.found.refuse_late();
            draft.files.clear();
            diagnostics.append(&mut draft.found.diagnostics);
            builder.expand_idle_data(&mut draft);
            children::read(self, &mut draft, (outer, data), diagnostics);
        }
        self.declared.drafts.push(draft);
    }
}
