//! Late resources: some of their values are known only during the run.

pub(crate) mod captures;
pub(crate) mod file_uses;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use ccm_expr::Value;
use ccm_model::{
    Control, Diagnostic, DiagnosticKind, Diagnostics, Location, NodeEntry, NodeMap, Resource, ResourceIndex,
    Severity, SourceMap, Span,
};
use ccm_properties::{CheckInput, TypeSpec};

use crate::late::captures::CaptureTable;
use crate::late::file_uses::FileUse;
use crate::read::draft::ResourceDraft;
use crate::resolve::control::Conditions;
use crate::resolve::eval_context::EvalContext;
use crate::resolve::expand::Expander;
use crate::resolve::expansion::SpanSet;
use crate::resolve::health_checks;
use crate::resolve::messages::shown;
use crate::resolve::scope::{
    CaptureState, DeferredOn, ManagedPaths, ManifestEvaluator, ManifestScope, Phase, RuntimeContext,
};
use crate::resolve::text_language::ProviderChoice;

/// Completes late resources during the run.
pub struct LateResources<'s> {
    pub(crate) context: EvalContext<'s>,
    pub(crate) manifests: Vec<ManifestScope>,
    pub(crate) types: Vec<&'s dyn TypeSpec>,
    pub(crate) managed: ManagedPaths,
    captures: CaptureTable,
    captured: RefCell<HashMap<ResourceIndex, Value>>,
    pub(crate) waiting: HashMap<ResourceIndex, LateResource>,
}

pub(crate) struct LateResource {
    /// A template wrote the texts, so that they are not expanded.
    verbatim: bool,
    type_index: usize,
    pub(crate) manifest: usize,
    provider: ProviderChoice,
    pub(crate) conditions: Conditions,
    pub(crate) texts: SpanSet,
    /// Resources that manage files whose content is needed.
    pub(crate) files: Vec<ResourceIndex>,
    /// Files that an earlier resource may change.
    pub(crate) file_use: Option<FileUse>,
}

/// Result of completing a resource.
#[derive(Debug)]
pub enum Completion {
    /// The resource has no late values.
    AsWritten,
    /// Complete resource.
    Resource(Box<Resource>),
    /// The `control` of the resource is off, for this reason.
    NotManaged(String),
    /// The resource needs the run of another resource, which noop prevented.
    NotBefore(ResourceIndex),
    /// The resource needs a value that does not exist and has no default, for this reason.
    NoValue(String),
    /// The resource needs a file that does not exist.
    MissingFile {
        /// Path of the file.
        path: PathBuf,
        /// Errors of the resource.
        errors: Vec<Diagnostic>,
    },
    /// The resource has errors.
    Invalid(Vec<Diagnostic>),
}

impl LateResource {
    /// Returns the late parts of a managed resource, if any.
    pub(crate) fn of(draft: &ResourceDraft) -> Option<Self> {
        if draft.resource.is_off()
            || (draft.found.deferred_on.is_empty() && draft.control_deferred_on.is_empty())
        {
            return None;
        }
        Some(Self::new(draft))
    }

    pub(crate) fn new(draft: &ResourceDraft) -> Self {
        let deferred_on = draft.control_deferred_on.iter().chain(&draft.found.deferred_on);
        let file = |on: &DeferredOn| match on {
            DeferredOn::File(index) => Some(*index),
            _ => None,
        };
        Self {
            type_index: draft.type_index,
            manifest: draft.manifest,
            provider: draft.provider.clone(),
            conditions: draft.conditions.clone(),
            verbatim: draft.verbatim,
            texts: draft.found.late.clone(),
            files: deferred_on.filter_map(|(on, _)| file(on)).collect(),
            file_use: None,
        }
    }
}

impl<'s> LateResources<'s> {
    pub(crate) fn new(
        context: EvalContext<'s>,
        manifests: Vec<ManifestScope>,
        types: Vec<&'s dyn TypeSpec>,
        managed: ManagedPaths,
        captures: CaptureTable,
        waiting: HashMap<ResourceIndex, LateResource>,
    ) -> Self {
        context.invalidate_files();
        Self { context, manifests, types, managed, captures, captured: RefCell::default(), waiting }
    }

    /// Stores the map of values that a resource captured.
    pub fn record_captures(&self, index: ResourceIndex, values: serde_json::Value) {
        self.captured.borrow_mut().insert(index, values.into());
    }

    /// Returns the settings of the given manifest for each resource type that has some.
    pub fn settings(&self) -> impl Iterator<Item = &NodeMap> {
        let of_types = self.manifests.first().map_or(&[][..], |manifest| &manifest.settings);
        of_types.iter().map(|settings| &**settings).filter(|settings| !settings.is_empty())
    }

    /// Returns the texts that spans refer to.
    pub fn texts(&self) -> SourceMap {
        self.context.texts.borrow().clone()
    }

    /// Returns the location at which a span begins.
    pub fn location(&self, span: Span) -> Option<Location> {
        self.context.texts.borrow().location(span)
    }

    /// Returns `true` if the resource has late values.
    pub fn is_late(&self, index: ResourceIndex) -> bool {
        self.waiting.contains_key(&index)
    }

    /// Returns `true` if a value at this location, or a part of it, is known only during the run.
    pub fn is_late_value(&self, index: ResourceIndex, span: Span) -> bool {
        let waiting = self.waiting.get(&index);
        waiting.is_some_and(|waiting| waiting.file_use.is_some() || waiting.texts.touches(span))
    }

    /// Completes a resource. `would_change` returns `true` for a resource that noop kept from changing.
    pub fn complete(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        would_change: &dyn Fn(ResourceIndex) -> bool,
    ) -> Completion {
        let Some(waiting) = self.waiting.get(&index) else { return Completion::AsWritten };
        let sources = self.context.sources;
        let outdated = waiting.file_use.as_ref().filter(|file_use| file_use.is_outdated(sources));
        if outdated.is_none() && waiting.texts.is_empty() && resource.control != Control::Late {
            return Completion::AsWritten;
        }
        self.context.invalidate_files();
        self.context.take_missing_file();
        let runtime = CompletionContext { late: self, would_change };
        let evaluator = |manifest: usize| {
            ManifestEvaluator::new(&self.context, &self.manifests[manifest], Phase::Runtime(&runtime))
        };
        let mut diagnostics = Diagnostics::new();
        let decision = waiting.conditions.decide(evaluator, &mut diagnostics);
        diagnostics.extend(self.context.take_errors());
        let diagnostics = diagnostics.into_vec();
        match (decision.control, stop_reason(&decision.deferred_on)) {
            _ if !diagnostics.is_empty() => return self.invalid(diagnostics),
            (Control::NotManaged { reason }, _) => return Completion::NotManaged(reason),
            (Control::Late, Some(completion)) => return completion,
            _ => {}
        }
        let mut completed = resource.clone();
        completed.control = Control::Managed;
        let mut expander = Expander::new(evaluator(waiting.manifest)).verbatim(waiting.verbatim);
        match outdated {
            Some(file_use) => completed.properties = file_use.written.clone(),
            None => expander = expander.only(&waiting.texts),
        }
        let spec = self.types[waiting.type_index];
        expander.properties(&mut completed.properties, spec, &waiting.provider);
        let ensure = completed.ensure.as_ref().map(|ensure| &*ensure.value);
        if let Some(rendered) = expander.tree(&completed.properties, spec, ensure) {
            completed.rendered = rendered;
        }
        // Inserted after the expansion, because this text is expanded already.
        if let Some(named) = outdated.and_then(|file_use| file_use.named.clone()) {
            completed.properties.replace(named);
        }
        let mut found = expander.found;
        found.diagnostics.extend(self.context.take_errors());
        if let Some(completion) = stop_reason(&found.deferred_on) {
            return completion;
        }
        if found.diagnostics.is_empty() && found.refused.is_empty() && found.late.is_empty() {
            let source_text = &self.manifests[waiting.manifest].text;
            let input = CheckInput {
                resource: &completed,
                source_text,
                secrets: &[],
                subscribes: !completed.subscribe.is_empty(),
            };
            let checked = spec.check(&input);
            let is_new = |found: &Diagnostic| {
                found.severity == Severity::Error && (outdated.is_some() || waiting.texts.explains(found))
            };
            let of_health = health_checks::check(&input, spec.refreshes());
            found.diagnostics.extend(checked.into_iter().chain(of_health).filter(is_new));
        } else if found.diagnostics.is_empty() {
            return Completion::Invalid(Vec::new());
        }
        if found.diagnostics.is_empty() {
            return Completion::Resource(Box::new(completed));
        }
        for error in found.diagnostics.iter_mut().filter(|error| error.property.is_none()) {
            let holds = |entry: &&NodeEntry| error.span().is_some_and(|span| entry.value.span.contains(span));
            if let Some(entry) = resource.properties.given().find(holds) {
                error.property = Some(entry.key.text.to_string().into());
            }
        }
        self.invalid(found.diagnostics)
    }

    /// Returns the completion for errors, with the file that was not found.
    fn invalid(&self, errors: Vec<Diagnostic>) -> Completion {
        match self.context.take_missing_file() {
            Some(path) if errors.iter().any(|error| error.kind == DiagnosticKind::Unreadable) => {
                Completion::MissingFile { path, errors }
            }
            _ => Completion::Invalid(errors),
        }
    }
}

/// Returns the completion for late values that stay unknown; noop takes precedence.
fn stop_reason(deferred_on: &[(DeferredOn, Span)]) -> Option<Completion> {
    let before = deferred_on.iter().find_map(|(on, _)| match on {
        DeferredOn::File(index) | DeferredOn::Execution(index) => Some(Completion::NotBefore(*index)),
        DeferredOn::Capture { .. } | DeferredOn::NoValue(_) => None,
    });
    before.or_else(|| {
        deferred_on.iter().find_map(|(on, _)| match on {
            DeferredOn::NoValue(reason) => Some(Completion::NoValue(reason.clone())),
            _ => None,
        })
    })
}

/// State of the run, for one completion.
struct CompletionContext<'a, 's> {
    late: &'a LateResources<'s>,
    would_change: &'a dyn Fn(ResourceIndex) -> bool,
}

impl RuntimeContext for CompletionContext<'_, '_> {
    fn captures(&self) -> Value {
        let captured = self.late.captured.borrow();
        let names = self.late.captures.names();
        Value::map(names.filter_map(|(name, index)| Some((name, captured.get(&index)?.clone()))))
    }

    fn capture_state(&self, name: &str) -> CaptureState {
        let Some((index, id)) = self.late.captures.find(name) else {
            return CaptureState::Missing(format!("no resource `{}` captures values", shown(name)));
        };
        if (self.would_change)(index) {
            CaptureState::NotBefore(index)
        } else if self.late.captured.borrow().contains_key(&index) {
            CaptureState::Available
        } else {
            CaptureState::Missing(format!("{id} captured nothing, because it was not run"))
        }
    }

    fn pending_manager(&self, path: &str) -> Option<ResourceIndex> {
        let managing = self.late.managed.get(path)?;
        managing.iter().copied().find(|index| (self.would_change)(*index))
    }
}
