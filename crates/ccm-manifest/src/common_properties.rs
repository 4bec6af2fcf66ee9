//! The properties that every resource has, whatever its type.

use std::sync::Arc;

use ccm_model::{Diagnostic, Diagnostics, Map, Node, Spanned, Text, closest};
use schemars::JsonSchema;

use crate::wording::{expected, is_blank, listed};

/// What a manifest can say about any resource; its documentation is the reference that users read.
#[derive(Debug, Default, JsonSchema)]
pub struct CommonProperties {
    /// The name of the resource, unique among those of its type. In a list it is the key above the
    /// properties instead.
    pub name: Option<Text>,
    /// A second name for references, unique like the name. It may stand for a long name.
    pub alias: Option<Text>,
    /// The state that the resource is brought to. Default: what its type says.
    pub ensure: Option<Text>,
    /// The provider that does the work. Default: the one that suits the machine best.
    pub provider: Option<Text>,
    /// Resources that must have succeeded before this one, each as `type#name` or `type#alias`.
    pub require: Option<Vec<Text>>,
    /// Resources that must have succeeded before this one, and whose change triggers its refresh, each as
    /// `type#name` or `type#alias`.
    pub subscribe: Option<Vec<Text>>,
    /// Whether the resource is managed. One that is not is skipped, and counts as satisfied for what requires it.
    pub control: Option<ControlProperties>,
}

/// Conditions on which a resource is managed, each an expression without braces.
#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields, inline)]
pub struct ControlProperties {
    /// It is managed only where this is true.
    #[schemars(rename = "if", extend("pattern" = "^\\s*(?!\\s|\\{\\{|\\$\\{)"))]
    pub only_if: Option<Text>,
    /// It is not managed where this is true.
    #[schemars(extend("pattern" = "^\\s*(?!\\s|\\{\\{|\\$\\{)"))]
    pub unless: Option<Text>,
}

/// A common property; `name` is none, it is part of how a resource is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    Alias,
    Ensure,
    Provider,
    Require,
    Subscribe,
    Control,
}

impl Common {
    /// The common property of that name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "alias" => Some(Self::Alias),
            "ensure" => Some(Self::Ensure),
            "provider" => Some(Self::Provider),
            "require" => Some(Self::Require),
            "subscribe" => Some(Self::Subscribe),
            "control" => Some(Self::Control),
            _ => None,
        }
    }
}

/// The common properties of one resource or of the defaults of a list, as they were written: most have few, many
/// have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommonNodes(Vec<(Common, Node)>);

impl CommonNodes {
    /// Adds one that is not there yet.
    pub(crate) fn add(&mut self, property: Common, node: Node) {
        self.0.push((property, node));
    }

    pub(crate) fn get(&self, property: Common) -> Option<&Node> {
        self.0.iter().find(|(other, _)| *other == property).map(|(_, node)| node)
    }

    pub(crate) fn take(&mut self, property: Common) -> Option<Node> {
        let place = self.0.iter().position(|(other, _)| *other == property)?;
        Some(self.0.swap_remove(place).1)
    }

    /// Lays these over defaults; null lets the default show.
    pub(crate) fn over(self, defaults: &Self) -> Self {
        let mut own = self.given();
        for (property, node) in &defaults.0 {
            if !node.is_null() && own.get(*property).is_none() {
                own.add(*property, node.clone());
            }
        }
        own
    }

    /// Leaves out what is null.
    pub(crate) fn given(mut self) -> Self {
        self.0.retain(|(_, node)| !node.is_null());
        self
    }
}

/// The properties of one resource or of the defaults of a list, taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    pub(crate) common: CommonNodes,
    /// What belongs to the type.
    pub(crate) own: Map,
    /// Something of it was reported.
    pub(crate) is_flawed: bool,
}

/// Reads an alias.
pub(crate) fn alias(node: &Node) -> Result<Spanned<Arc<str>>, Diagnostic> {
    match node.as_text() {
        Some(text) if is_blank(text) => Err(Diagnostic::error(node.span, "the alias is empty")),
        Some(text) => Ok(Spanned { value: text.into(), span: node.span }),
        None => Err(expected("text", node)),
    }
}

/// Reads a text that is for the type to judge.
pub(crate) fn text(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let text = node.as_text().ok_or_else(|| expected("text", node))?;
    Ok(Spanned { value: text.to_owned(), span: node.span })
}

/// Reads a word that must be one of those allowed.
pub(crate) fn one_of(node: &Node, allowed: &[&str]) -> Result<Spanned<String>, Diagnostic> {
    let read = text(node)?;
    if allowed.contains(&&*read.value) {
        return Ok(read);
    }
    let suggestion = closest(&read.value, allowed.iter().copied());
    Err(expected(&listed(allowed, "or"), node).with_suggestion(suggestion))
}

/// A reference as it was written, not looked up yet.
#[derive(Clone, Debug)]
pub(crate) struct Reference(pub(crate) Node);

/// Takes a list of references apart.
pub(crate) fn references(node: Node, diagnostics: &mut Diagnostics) -> Vec<Reference> {
    if node.as_list().is_none() {
        let hint = node.as_text().map(|text| format!("write `[\"{}\"]`", text.escape_debug()));
        let mistake = expected("a list of `type#name`", &node);
        diagnostics.push(hint.into_iter().fold(mistake, Diagnostic::with_hint));
        return Vec::new();
    }
    let ccm_model::Value::List(elements) = node.value else { return Vec::new() };
    let is_text = |element: &Node| {
        let is_text = element.as_text().is_some();
        if !is_text {
            diagnostics.push(expected("`type#name`", element));
        }
        is_text
    };
    elements.into_iter().filter(is_text).map(Reference).collect()
}
