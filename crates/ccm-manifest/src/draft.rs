//! A resource on its way into the catalog: its texts expanded, its common properties read, its references
//! not looked up yet.

use std::sync::Arc;

use ccm_model::{
    Checked, Diagnostic, Node, Properties, Resource, ResourceId, Severity, Span, Spanned, TypeSpec, closest,
};

use crate::common_properties::{CommonNodes, Reference, alias, one_of, references};
use crate::expand::{Expander, Provider, Reader, Refused, reader};
use crate::expressions::may_hold_any;
use crate::later::not_supported;
use crate::resources::Declaration;
use crate::types::Types;
use crate::wording::shown;

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
    refused: Refused,
}

/// Reads a declaration.
pub(crate) fn draft(
    declaration: Declaration,
    types: &Types<'_>,
    source_text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Draft {
    let Declaration { type_index, mut name, split, defaults } = declaration;
    let reported = diagnostics.len();
    let spec = types.spec(type_index);
    let is_flawed = split.is_flawed || defaults.as_ref().is_some_and(|defaults| defaults.is_flawed);
    let (mut common, below) = match defaults {
        Some(defaults) => (split.common.over(&defaults.common), Some(Arc::clone(&defaults.own))),
        None => (split.common.given(), None),
    };
    let mut properties = Properties::new(split.own, below);
    unknown_nulls(&properties, type_index, types, diagnostics);
    let mut expander = Expander::new(source_text);
    expand_common(&mut common, &mut expander);
    let CommonNodes { alias: alias_node, ensure, provider, require, subscribe } = common;

    let provider = provider.map(|node| read_provider(&node, spec, diagnostics, expander.refused()));
    let choice = match &provider {
        None => Provider::Known(None),
        Some(None) => Provider::Mistaken,
        Some(Some(provider)) => Provider::Known(Some(&provider.value)),
    };
    expander.properties(&mut properties, spec, choice);
    if may_hold_any(&name.text) {
        let reader = reader(spec, "name", choice, &properties);
        expander.key(&mut name, reader);
    }
    let refused = expander.finish(diagnostics);

    let unless_refused = |node: &Node| !refused.covers(node.span);
    let alias = report(alias_node.filter(unless_refused).map(|node| alias(&node)), diagnostics);
    let ensure = ensure.filter(unless_refused).map(|node| {
        let advice = || node.as_text().and_then(|text| spec.ensure_advice(text));
        one_of(&node, spec.ensures())
            .map_err(|mistake| advice().into_iter().fold(mistake, Diagnostic::with_hint))
    });
    let ensure = report(ensure, diagnostics);
    let mut read = |node: Option<Node>| {
        let mut found =
            node.filter(unless_refused).map(|node| references(node, diagnostics)).unwrap_or_default();
        found.retain(|reference| unless_refused(&reference.0));
        found
    };
    let (require, subscribe) = (read(require), read(subscribe));
    let resource = Resource {
        id: ResourceId { type_name: Arc::clone(types.name(type_index)), name: name.text.into() },
        span: name.span,
        alias: alias.as_ref().map(|alias| Arc::clone(&alias.value)),
        ensure,
        provider: provider.flatten(),
        require: Vec::new(),
        subscribe: Vec::new(),
        properties,
    };
    Draft {
        type_index,
        alias_span: alias.map_or(name.span, |alias| alias.span),
        require,
        subscribe,
        has_name: !refused.covers(name.span),
        is_flawed: is_flawed || diagnostics.len() > reported,
        resource,
        refused,
    }
}

/// Reports keys that nobody knows and that have no value. Those that have one are the type's to find; of
/// these it sees nothing, because null is as good as not given.
fn unknown_nulls(
    properties: &Properties,
    type_index: usize,
    types: &Types<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for entry in properties.written().filter(|entry| entry.value.is_null()) {
        let key = &*entry.key.text;
        if !types.has_property(type_index, key) {
            let mistake = Diagnostic::error(entry.key.span, format!("unknown property `{}`", shown(key)));
            diagnostics.push(mistake.with_suggestion(types.closest_property(type_index, key)));
        }
    }
}

fn expand_common(common: &mut CommonNodes, expander: &mut Expander<'_>) {
    let CommonNodes { alias, ensure, provider, require, subscribe } = common;
    for node in [alias, ensure, provider, require, subscribe].into_iter().flatten() {
        expander.node(node, Reader::CCM);
    }
}

/// Reads the provider. Of one that is misspelt comes the one that was meant, so that the rest of the resource
/// is looked at as it was meant, too.
fn read_provider(
    node: &Node,
    spec: &dyn TypeSpec,
    diagnostics: &mut Vec<Diagnostic>,
    refused: &Refused,
) -> Option<Spanned<String>> {
    if refused.covers(node.span) {
        return None;
    }
    let text = node.as_text().unwrap_or_default();
    let supported = supported_providers(spec);
    let mistake = match one_of(node, &supported) {
        Ok(provider) => return Some(provider),
        Err(_) if spec.not_yet().contains(&text) => not_supported(text, node.span),
        Err(mistake) => mistake,
    };
    diagnostics.push(mistake);
    let meant = closest(text, supported)?;
    Some(Spanned { value: meant.to_owned(), span: node.span })
}

/// The providers of a type that this version has.
pub(crate) fn supported_providers(spec: &dyn TypeSpec) -> Vec<&'static str> {
    spec.providers().iter().copied().filter(|name| !spec.not_yet().contains(name)).collect()
}

fn report<T>(read: Option<Result<T, Diagnostic>>, diagnostics: &mut Vec<Diagnostic>) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(mistake) => {
            diagnostics.push(mistake);
            None
        }
    }
}

impl Draft {
    /// Lets the type look at the resource, whose references have been looked up by now.
    ///
    /// A resource with mistakes gets no warning: what the warning misses may be what the mistake left out.
    pub(crate) fn check(&self, types: &Types<'_>, source_text: &str, diagnostics: &mut Vec<Diagnostic>) {
        let found = types.spec(self.type_index).check(&Checked { resource: &self.resource, source_text });
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        let is_flawed = self.is_flawed || found.iter().any(is_error);
        let is_new = |diagnostic: &Diagnostic| {
            !self.refused.explains(diagnostic) && (!is_flawed || is_error(diagnostic))
        };
        diagnostics.extend(found.into_iter().filter(is_new));
    }
}
