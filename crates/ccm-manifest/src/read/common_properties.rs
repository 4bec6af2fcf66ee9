//! Properties of every type.

use std::sync::Arc;

use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, Node, NodeMap, Spanned, closest, escape_control, listed,
};
use ccm_properties::CommonProperty;

use crate::read::foreign_words;
use crate::resolve::messages::{expected, is_blank, shown};

/// Common properties of one resource or of the defaults of a list. Most have too few for a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommonNodes(Vec<(CommonProperty, Node)>);

impl CommonNodes {
    pub(crate) fn add(&mut self, property: CommonProperty, node: Node) {
        self.0.push((property, node));
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.0.iter().map(|(_, node)| node)
    }

    pub(crate) fn get(&self, property: CommonProperty) -> Option<&Node> {
        self.0.iter().find(|(other, _)| *other == property).map(|(_, node)| node)
    }

    pub(crate) fn take(&mut self, property: CommonProperty) -> Option<Node> {
        let place = self.0.iter().position(|(other, _)| *other == property)?;
        Some(self.0.swap_remove(place).1)
    }

    /// Merges these properties over defaults. Null leaves the default visible.
    pub(crate) fn or_defaults(self, defaults: &Self) -> Self {
        let mut own = self.without_nulls();
        for (property, node) in &defaults.0 {
            if !node.is_null() && own.get(*property).is_none() {
                own.add(*property, node.clone());
            }
        }
        own
    }

    pub(crate) fn without_nulls(mut self) -> Self {
        self.0.retain(|(_, node)| !node.is_null());
        self
    }
}

/// Properties of one resource or of the defaults of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct SplitProperties {
    pub(crate) common: CommonNodes,
    /// Properties of the type.
    pub(crate) own: Arc<NodeMap>,
    pub(crate) has_errors: bool,
}

pub(crate) fn alias(node: &Node) -> Result<Spanned<Arc<str>>, Diagnostic> {
    match node.as_text() {
        Some(text) if is_blank(text) => {
            Err(Diagnostic::error(DiagnosticKind::Missing, node.span, "the alias is empty"))
        }
        Some(text) => Ok(Spanned { value: text.into(), span: node.span }),
        None => Err(expected("text", node)),
    }
}

/// Reads a text that the type validates.
pub(crate) fn text(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let text = node.as_text().ok_or_else(|| expected("text", node))?;
    Ok(Spanned { value: text.to_owned(), span: node.span })
}

/// Reads one of several allowed words.
pub(crate) fn one_of(node: &Node, allowed: &[&str]) -> Result<Spanned<String>, Diagnostic> {
    let read = text(node)?;
    if allowed.contains(&&*read.value) {
        return Ok(read);
    }
    let suggestion = closest(&read.value, allowed.iter().copied());
    let error = expected(&listed(allowed, "or"), node);
    Err(Diagnostic { kind: DiagnosticKind::InvalidValue, ..error }.with_suggestion(suggestion))
}

/// Returns advice on an `ensure` that none of the types has.
pub(crate) fn ensure_advice(written: &str, allowed: &[&str]) -> Option<String> {
    let meant: &[&str] = match &*written.to_ascii_lowercase() {
        "true" | "yes" | "on" | "1" | "enabled" | "started" | "start" | "active" | "up" | "restarted"
        | "remounted" => &["running", "mounted", "present"],
        "false" | "no" | "off" | "0" | "disabled" | "stop" | "inactive" | "down" => {
            &["stopped", "unmounted", "absent"]
        }
        "removed" | "deleted" | "purged" | "uninstalled" | "missing" => &["absent"],
        "installed" | "created" | "managed" | "defined" | "touch" => &["present"],
        _ if written.starts_with('/') && allowed.contains(&"link") => {
            return Some(format!("write `ensure: link` and `target: {}`", shown(written)));
        }
        _ => return None,
    };
    meant.iter().find(|word| allowed.contains(*word)).map(|word| format!("write `ensure: {word}`"))
}

/// Reference as written, not resolved.
#[derive(Clone, Debug)]
pub(crate) struct Reference(pub(crate) Node);

/// Splits a list of references.
pub(crate) fn references(node: Node, diagnostics: &mut Diagnostics) -> Vec<Reference> {
    if node.as_list().is_none() {
        let hint = node.as_text().map(|text| {
            // A comma between two references separates them; any other belongs to a name.
            let is_separated = text.split(", ").all(|part| part.contains(['#', ':']));
            let parts = if is_separated { text.split(", ").collect() } else { vec![text] };
            let listed = |part: &str| listed_text(&meant_reference(part.trim()));
            format!("write `[{}]`", parts.into_iter().map(listed).collect::<Vec<_>>().join(", "))
        });
        let error = expected("a list of `type#name`", &node);
        let foreign = node.as_text().and_then(type_of_other_tool);
        diagnostics.push(match foreign {
            Some(hints) => hints.into_iter().fold(error, Diagnostic::with_hint),
            None => hint.into_iter().fold(error, Diagnostic::with_hint),
        });
        return Vec::new();
    }
    let ccm_model::NodeValue::List(elements) = node.value else { return Vec::new() };
    let is_text = |element: &Node| {
        let is_text = element.as_text().is_some();
        if !is_text {
            diagnostics.push(expected("`type#name`", element));
        }
        is_text
    };
    elements.into_iter().filter(is_text).map(Reference).collect()
}

/// Returns an element of a list in brackets, between double quotes.
fn listed_text(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{}\"", escape_control(&escaped))
}

/// Returns a reference that is written as in other tools: `file:/etc/motd` and `File['/etc/motd']` are `file#/etc/motd`.
pub(crate) fn meant_reference(written: &str) -> String {
    let in_brackets = || {
        let (type_name, name) = written.strip_suffix(']')?.split_once('[')?;
        let type_name = type_name.to_ascii_lowercase();
        let name = name.trim().trim_matches(['\'', '"']);
        (is_type_name(&type_name) && !name.is_empty()).then(|| format!("{type_name}#{name}"))
    };
    if let Some(meant) = in_brackets() {
        return meant;
    }
    match written.split_once(':') {
        Some((type_name, name)) if !written.contains('#') && is_type_name(type_name) => {
            format!("{type_name}#{}", name.trim_start())
        }
        _ => written.to_owned(),
    }
}

/// Returns hints for a reference to a type that only another tool has, such as `Class[ntp]`.
pub(crate) fn type_of_other_tool(written: &str) -> Option<[String; 2]> {
    let (type_name, _) = written.strip_suffix(']')?.split_once('[')?;
    let type_name = type_name.trim().to_ascii_lowercase();
    let advice = foreign_words::resource_type(&type_name)?;
    Some([format!("there is no resource type `{}`", shown(&type_name)), advice.to_owned()])
}

fn is_type_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
