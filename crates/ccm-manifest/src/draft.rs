//! A resource on its way into the catalog: its texts expanded, its common properties read, its references
//! not looked up yet.

use std::sync::Arc;

use ccm_data::interpolation::{Split, lone, may_hold_any, split};
use ccm_model::{
    Control, Diagnostic, Diagnostics, Entry, Key, Node, Properties, Resource, ResourceId, Severity, Span,
    Spanned, closest,
};
use ccm_properties::{Checked, CommonProperty, TypeSpec};

use crate::common_properties::{CommonNodes, Reference, alias, one_of, references, text};
use crate::control::{self, Conditions};
use crate::expand::{Expanded, Expander, Provider, Reading, reading};
use crate::later::not_supported;
use crate::resources::Declaration;
use crate::scope::{Evaluator, LateOn};
use crate::types::Types;
use crate::wording::{is_blank, shown};

/// A resource whose references have not been looked up.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) type_index: usize,
    /// What it requires and subscribes to is still empty.
    pub(crate) resource: Resource,
    pub(crate) alias_span: Span,
    pub(crate) require: Vec<Reference>,
    pub(crate) subscribe: Vec<Reference>,
    /// Without, its name can't be known.
    pub(crate) has_name: bool,
    /// Something of it was reported.
    pub(crate) is_flawed: bool,
    /// The manifest it stands in.
    pub(crate) manifest: usize,
    /// Whether it is managed depends on these.
    pub(crate) conditions: Conditions,
    /// What these wait for.
    pub(crate) control_late_on: Vec<(LateOn, Span)>,
    /// They depend on a file that may turn out to be managed, so they have to be judged again.
    pub(crate) is_unsettled: bool,
    /// What of it is not known, and what that waits for.
    pub(crate) found: Expanded,
    /// Its texts are what they are: a template wrote them.
    pub(crate) verbatim: bool,
    /// The property that the name stands in for, expanded.
    named: Option<Entry>,
    /// What is common to all types and not read yet.
    common: CommonNodes,
    pub(crate) provider: Choice,
}

/// The provider of a resource.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// The one asked for, or none in particular.
    Known(Option<String>),
    /// What was asked for is a mistake, which has been reported.
    Mistaken,
}

impl Choice {
    pub(crate) fn provider(&self) -> Provider<'_> {
        match self {
            Self::Known(name) => Provider::Known(name.as_deref()),
            Self::Mistaken => Provider::Mistaken,
        }
    }
}

/// What is needed to begin with a resource.
pub(crate) struct Beginning<'a, 'w, 's> {
    pub(crate) types: &'a Types<'a>,
    /// The manifest it stands in.
    pub(crate) manifest: usize,
    /// The conditions of what is around it.
    pub(crate) around: &'a Conditions,
    /// Evaluates what stands in a manifest.
    pub(crate) evaluator: &'a dyn Fn(usize) -> Evaluator<'w, 's>,
    /// Its texts are what they are: a template wrote them.
    pub(crate) verbatim: bool,
}

impl Beginning<'_, '_, '_> {
    fn expander(&self) -> Expander<'_, '_> {
        Expander::new((self.evaluator)(self.manifest)).verbatim(self.verbatim)
    }

    /// Reads who a resource is: whether it is managed, its provider, its alias and its name.
    pub(crate) fn draft(&self, declaration: Declaration, diagnostics: &mut Diagnostics) -> Draft {
        let Declaration { type_index, mut name, split, defaults } = declaration;
        let reported = diagnostics.found();
        let types = self.types;
        let spec = types.spec(type_index);
        let is_flawed = split.is_flawed || defaults.as_ref().is_some_and(|defaults| defaults.is_flawed);
        let (mut common, below) = match defaults {
            Some(defaults) => (split.common.over(&defaults.common), Some(Arc::clone(&defaults.own))),
            None => (split.common.given(), None),
        };
        let properties = Properties::new(split.own, below);
        unknown_nulls(&properties, type_index, types, diagnostics);

        let mut conditions = self.around.clone();
        if let Some(control) = common.take(CommonProperty::Control) {
            conditions = control::read(&control, self.manifest, diagnostics).within(&conditions);
        }
        let judged = conditions.judge(self.evaluator, diagnostics);
        let idle = matches!(judged.control, Control::NotManaged { .. });

        let mut expander = self.expander();
        expander.idle = idle;
        let mut alias_node = common.take(CommonProperty::Alias);
        let mut provider_node = common.take(CommonProperty::Provider);
        for node in [&mut alias_node, &mut provider_node].into_iter().flatten() {
            expander.node(node, Reading::PLAIN);
        }
        let provider = provider_node.filter(|node| !expander.found.hides(node.span));
        let provider = provider.map(|node| read_provider(&node, spec, diagnostics));
        let choice = match &provider {
            None => Choice::Known(None),
            Some(None) => Choice::Mistaken,
            Some(Some(provider)) => Choice::Known(Some(provider.value.clone())),
        };
        let mut named = None;
        if may_hold_any(&name.text) {
            let reading = reading(spec, "name", choice.provider(), &properties);
            let mut quoted = name.clone();
            if idle {
                // Its name may need what is not there where it is not managed.
                let mut trial = self.expander();
                trial.key(&mut name, reading.unquoted());
                if trial.found.hides(name.span) {
                    expander.key(&mut name, reading.unquoted());
                }
            } else {
                expander.key(&mut name, reading.unquoted());
                self.expander().key(&mut quoted, reading);
            }
            // A name says what references say; quotes are for what is read in its place.
            if let Some(property) = spec.named_property().filter(|_| reading.is_words() && !idle)
                && quoted.text != name.text
                && !expander.found.hides(name.span)
            {
                let key = Key { text: property.into(), span: name.span };
                named = Some(Entry { key, value: Node::text(quoted.text, name.span) });
            }
        }
        let mut found = expander.found;
        found.refuse_late();
        if !found.hides(name.span) && is_blank(&name.text) {
            diagnostics.push(Diagnostic::error(name.span, "the name is empty"));
            found.refuse(name.span);
        }
        diagnostics.append(&mut found.diagnostics);
        let alias_node = alias_node.filter(|node| !found.hides(node.span));
        let alias = report(alias_node.map(|node| alias(&node)), diagnostics);
        let resource = Resource {
            id: ResourceId { type_name: Arc::clone(types.name(type_index)), name: name.text.into() },
            span: name.span,
            alias: alias.as_ref().map(|alias| Arc::clone(&alias.value)),
            provider: provider.flatten(),
            properties,
            control: judged.control,
            settings: (self.evaluator)(self.manifest)
                .manifest
                .settings
                .get(type_index)
                .cloned()
                .unwrap_or_default(),
            ..Resource::default()
        };
        Draft {
            type_index,
            alias_span: alias.map_or(name.span, |alias| alias.span),
            require: Vec::new(),
            subscribe: Vec::new(),
            has_name: !found.hides(name.span),
            is_flawed: is_flawed || diagnostics.found() > reported,
            manifest: self.manifest,
            conditions,
            control_late_on: judged.late_on,
            is_unsettled: judged.is_unsettled,
            found,
            verbatim: self.verbatim,
            named,
            common,
            provider: choice,
            resource,
        }
    }

    /// Reads the rest of a resource, the names of all being known.
    pub(crate) fn complete(&self, draft: &mut Draft, diagnostics: &mut Diagnostics) {
        let reported = diagnostics.found();
        let spec = self.types.spec(draft.type_index);
        let mut common = std::mem::take(&mut draft.common);
        let [mut ensure, mut require, mut subscribe] =
            [CommonProperty::Ensure, CommonProperty::Require, CommonProperty::Subscribe]
                .map(|property| common.take(property));
        let mut expander = self.expander();
        expander.idle = matches!(draft.resource.control, Control::NotManaged { .. });
        for node in [&mut ensure, &mut require, &mut subscribe].into_iter().flatten() {
            expander.node(node, Reading::PLAIN);
        }
        expander.found.refuse_late();
        expander.found.add(std::mem::take(&mut draft.found));
        expander.properties(&mut draft.resource.properties, spec, draft.provider.provider());
        // Not before: what it holds is not expanded again.
        if let Some(named) = draft.named.take() {
            draft.resource.properties.replace(named);
        }
        let mut found = expander.found;
        diagnostics.append(&mut found.diagnostics);

        let known = |node: &Node| !found.hides(node.span);
        let ensure = ensure.filter(known).map(|node| {
            let advice = || node.as_text().and_then(|text| spec.ensure_advice(text));
            let found = match spec.ensure_pattern() {
                Some(_) => text(&node),
                None => one_of(&node, spec.ensures()),
            };
            found.map_err(|mistake| advice().into_iter().fold(mistake, Diagnostic::with_hint))
        });
        draft.resource.ensure = report(ensure, diagnostics);
        let mut read = |node: Option<Node>| {
            let mut references =
                node.filter(known).map(|node| references(node, diagnostics)).unwrap_or_default();
            references.retain(|reference| known(&reference.0));
            references
        };
        (draft.require, draft.subscribe) = (read(require), read(subscribe));
        draft.found = found;
        draft.is_flawed |= diagnostics.found() > reported;
    }
}

/// Reports keys that nobody knows and that have no value. Those that have one are the type's to find; of
/// these it sees nothing, because null is as good as not given.
fn unknown_nulls(
    properties: &Properties,
    type_index: usize,
    types: &Types<'_>,
    diagnostics: &mut Diagnostics,
) {
    for entry in properties.written().filter(|entry| entry.value.is_null()) {
        let key = &*entry.key.text;
        if !types.has_property(type_index, key) {
            let mistake = Diagnostic::error(entry.key.span, format!("unknown property `{}`", shown(key)));
            diagnostics.push(mistake.with_suggestion(types.closest_property(type_index, key)));
        }
    }
}

/// Reads the provider. Of one that is misspelt comes the one that was meant, so that the rest of the resource
/// is looked at as it was meant, too.
fn read_provider(node: &Node, spec: &dyn TypeSpec, diagnostics: &mut Diagnostics) -> Option<Spanned<String>> {
    let text = node.as_text().unwrap_or_default();
    let mistake = match one_of(node, spec.providers()) {
        Ok(provider) => return Some(provider),
        Err(_) if spec.not_yet().contains(&text) => not_supported(text, node.span),
        Err(mistake) => spec.provider_advice(text).into_iter().fold(mistake, Diagnostic::with_hint),
    };
    diagnostics.push(mistake);
    let meant = closest(text, spec.providers().iter().copied())?;
    Some(Spanned { value: meant.to_owned(), span: node.span })
}

fn report<T>(read: Option<Result<T, Diagnostic>>, diagnostics: &mut Diagnostics) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(mistake) => {
            diagnostics.push(mistake);
            None
        }
    }
}

impl Draft {
    /// Judges whether it is managed once it is known which files are.
    pub(crate) fn settle<'a, 's: 'a>(
        &mut self,
        evaluator: impl Fn(usize) -> Evaluator<'a, 's>,
        diagnostics: &mut Diagnostics,
    ) {
        let is_off = matches!(self.resource.control, Control::NotManaged { .. });
        if is_off || !std::mem::take(&mut self.is_unsettled) {
            return;
        }
        let judged = self.conditions.judge(evaluator, diagnostics);
        self.resource.control = judged.control;
        self.control_late_on = judged.late_on;
    }

    /// Lets the type look at the resource, whose references have been looked up by now.
    ///
    /// A resource with mistakes gets no warning: what the warning misses may be what the mistake left out.
    pub(crate) fn check(
        &self,
        types: &Types<'_>,
        source_text: &str,
        secrets: &[String],
        diagnostics: &mut Diagnostics,
    ) {
        let checked = Checked { resource: &self.resource, source_text, secrets };
        let found = types.spec(self.type_index).check(&checked);
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        let is_flawed = self.is_flawed || found.iter().any(is_error);
        let is_new = |diagnostic: &Diagnostic| {
            !self.found.explains(diagnostic) && (!is_flawed || is_error(diagnostic))
        };
        let explained = found.into_iter().filter(is_new).map(|mut mistake| {
            let is_computed = mistake.span().is_some_and(|span| self.is_computed(span, types, source_text));
            if !self.verbatim && is_error(&mistake) && is_computed {
                mistake = mistake.with_hint("this is what the expression yields");
            }
            mistake
        });
        diagnostics.extend(explained);
    }

    /// Tells whether the value at a place is what an expression made of it. What an expression yields stays
    /// within its word, so that a text of words that has more than an expression is wrong as it was written.
    fn is_computed(&self, span: Span, types: &Types<'_>, source_text: &str) -> bool {
        let Some(written) = source_text.get(span.range()).filter(|text| may_hold_any(text)) else {
            return false;
        };
        let properties = &self.resource.properties;
        let spec = types.spec(self.type_index);
        let is_words = properties.given().any(|entry| {
            entry.value.span.contains(span)
                && reading(spec, &entry.key.text, self.provider.provider(), properties).is_words()
        });
        let text = written.trim_matches(['"', '\'']);
        !is_words || matches!(split(text, false), Split::Parts(parts) if lone(&parts).is_some())
    }
}
