//! Resources with values that are known only when they are reached.

use std::cell::RefCell;
use std::collections::HashMap;

use ccm_expr::Value;
use ccm_model::{
    Control, Diagnostic, Diagnostics, Entry, Resource, ResourceIndex, Severity, SourceMap, Span,
};
use ccm_properties::{Checked, TypeSpec};

use crate::capturing::Capturing;
use crate::control::Conditions;
use crate::draft::{Choice, Draft};
use crate::expand::{Expander, Places};
use crate::scope::{Captured, Evaluator, LateOn, Managed, ManifestScope, Moment, Reached};
use crate::wording::shown;
use crate::world::World;

/// Completes resources when they are reached.
pub struct Late<'s> {
    pub(crate) world: World<'s>,
    pub(crate) manifests: Vec<ManifestScope>,
    pub(crate) types: Vec<&'s dyn TypeSpec>,
    pub(crate) managed: Managed,
    capturing: Capturing,
    captured: RefCell<HashMap<ResourceIndex, Value>>,
    pub(crate) waiting: HashMap<ResourceIndex, LateResource>,
}

/// A resource that has to wait.
pub(crate) struct LateResource {
    /// A template wrote its texts: they are what they are.
    verbatim: bool,
    type_index: usize,
    pub(crate) manifest: usize,
    provider: Choice,
    pub(crate) conditions: Conditions,
    /// The texts that have to wait.
    pub(crate) texts: Places,
    /// The resources whose files it waits for.
    pub(crate) files: Vec<ResourceIndex>,
}

/// What a resource came to when it was reached.
#[derive(Debug)]
pub enum Completed {
    /// It did not have to wait.
    AsWritten,
    /// It is complete now.
    Resource(Box<Resource>),
    /// Its `control` is off.
    NotManaged(String),
    /// It can't be completed before that resource was executed, which noop does not do.
    NotBefore(ResourceIndex),
    /// What it needs has no value and no default, for this reason.
    NoValue(String),
    /// It can't be completed.
    Mistaken(Vec<Diagnostic>),
}

impl LateResource {
    /// What a resource waits for, if it does.
    pub(crate) fn of(draft: &Draft) -> Option<Self> {
        let is_off = matches!(draft.resource.control, Control::NotManaged { .. });
        if is_off || (draft.found.late_on.is_empty() && draft.control_late_on.is_empty()) {
            return None;
        }
        let late_on = draft.control_late_on.iter().chain(&draft.found.late_on);
        let file = |on: &LateOn| match on {
            LateOn::File(index) => Some(*index),
            _ => None,
        };
        Some(Self {
            type_index: draft.type_index,
            manifest: draft.manifest,
            provider: draft.provider.clone(),
            conditions: draft.conditions.clone(),
            verbatim: draft.verbatim,
            texts: draft.found.late.clone(),
            files: late_on.filter_map(|(on, _)| file(on)).collect(),
        })
    }
}

impl<'s> Late<'s> {
    pub(crate) fn new(
        world: World<'s>,
        manifests: Vec<ManifestScope>,
        types: Vec<&'s dyn TypeSpec>,
        managed: Managed,
        capturing: Capturing,
        waiting: HashMap<ResourceIndex, LateResource>,
    ) -> Self {
        world.forget_files();
        Self { world, manifests, types, managed, capturing, captured: RefCell::default(), waiting }
    }

    /// Takes what a resource captured: a map.
    pub fn remember(&self, index: ResourceIndex, values: serde_json::Value) {
        self.captured.borrow_mut().insert(index, values.into());
    }

    /// The texts that places point into.
    pub fn texts(&self) -> SourceMap {
        self.world.texts.borrow().clone()
    }

    /// Tells whether a resource has something to be completed.
    pub fn waits(&self, index: ResourceIndex) -> bool {
        self.waiting.contains_key(&index)
    }

    /// Completes a resource. `would_change` tells of a resource that would have been changed, and was not.
    pub fn complete(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        would_change: &dyn Fn(ResourceIndex) -> bool,
    ) -> Completed {
        let Some(waiting) = self.waiting.get(&index) else { return Completed::AsWritten };
        self.world.forget_files();
        let reached = Progressed { late: self, would_change };
        let evaluator = |manifest: usize| Evaluator {
            world: &self.world,
            manifest: &self.manifests[manifest],
            moment: Moment::Late(&reached),
        };
        let mut diagnostics = Diagnostics::new();
        let judged = waiting.conditions.judge(evaluator, &mut diagnostics);
        diagnostics.extend(self.world.take_mistakes());
        let diagnostics = diagnostics.into_vec();
        match (judged.control, unknown(&judged.late_on)) {
            _ if !diagnostics.is_empty() => return Completed::Mistaken(diagnostics),
            (Control::NotManaged { reason }, _) => return Completed::NotManaged(reason),
            (Control::Late, Some(unknown)) => return unknown,
            _ => {}
        }
        let mut completed = resource.clone();
        completed.control = Control::Managed;
        let expander = Expander::new(evaluator(waiting.manifest));
        let mut expander = expander.only(&waiting.texts).verbatim(waiting.verbatim);
        let spec = self.types[waiting.type_index];
        expander.properties(&mut completed.properties, spec, waiting.provider.provider());
        let mut found = expander.found;
        found.diagnostics.extend(self.world.take_mistakes());
        if let Some(unknown) = unknown(&found.late_on) {
            return unknown;
        }
        if found.diagnostics.is_empty() && found.refused.is_empty() && found.late.is_empty() {
            let source_text = &self.manifests[waiting.manifest].text;
            let checked = spec.check(&Checked { resource: &completed, source_text, secrets: &[] });
            let is_new =
                |found: &Diagnostic| found.severity == Severity::Error && waiting.texts.explains(found);
            found.diagnostics.extend(checked.into_iter().filter(is_new));
        } else if found.diagnostics.is_empty() {
            return Completed::Mistaken(Vec::new());
        }
        if found.diagnostics.is_empty() {
            return Completed::Resource(Box::new(completed));
        }
        for mistake in found.diagnostics.iter_mut().filter(|mistake| mistake.property.is_none()) {
            let holds = |entry: &&Entry| mistake.span().is_some_and(|span| entry.value.span.contains(span));
            if let Some(entry) = resource.properties.given().find(holds) {
                mistake.property = Some(entry.key.text.to_string().into());
            }
        }
        Completed::Mistaken(found.diagnostics)
    }
}

/// What becomes of a resource that needs what is not known. What noop does not do outranks what is not there.
fn unknown(late_on: &[(LateOn, Span)]) -> Option<Completed> {
    let before = late_on.iter().find_map(|(on, _)| match on {
        LateOn::File(index) | LateOn::Execution(index) => Some(Completed::NotBefore(*index)),
        LateOn::Capture { .. } | LateOn::NoValue(_) => None,
    });
    before.or_else(|| {
        late_on.iter().find_map(|(on, _)| match on {
            LateOn::NoValue(reason) => Some(Completed::NoValue(reason.clone())),
            _ => None,
        })
    })
}

/// What is known when a resource is reached.
struct Progressed<'a, 's> {
    late: &'a Late<'s>,
    would_change: &'a dyn Fn(ResourceIndex) -> bool,
}

impl Reached for Progressed<'_, '_> {
    fn captures(&self) -> Value {
        let captured = self.late.captured.borrow();
        let names = self.late.capturing.names();
        Value::map(names.filter_map(|(name, index)| Some((name, captured.get(&index)?.clone()))))
    }

    fn captured(&self, name: &str) -> Captured {
        let Some((index, id)) = self.late.capturing.find(name) else {
            return Captured::Nothing(format!("nothing captures `{}`", shown(name)));
        };
        if (self.would_change)(index) {
            Captured::NotBefore(index)
        } else if self.late.captured.borrow().contains_key(&index) {
            Captured::Known
        } else {
            Captured::Nothing(format!("{id} captured nothing, because it was not run"))
        }
    }

    fn not_before(&self, path: &str) -> Option<ResourceIndex> {
        let managing = self.late.managed.get(path)?;
        managing.iter().copied().find(|index| (self.would_change)(*index))
    }
}
