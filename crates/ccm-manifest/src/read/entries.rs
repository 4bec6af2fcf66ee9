//! Splits the properties of one resource, or of the defaults of a list.

use std::sync::Arc;

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, NodeEntry, NodeMap};
use ccm_properties::{CommonProperty, TypeSpec, aliases};

use crate::read::common_properties::{CommonNodes, SplitProperties};
use crate::read::shape_errors::A_NAME_EACH;
use crate::resolve::messages::shown;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'a> {
    Entry(&'a str),
    /// Resource written as one map, without its `name`.
    Single,
    Defaults,
}

/// Separates the common properties from those of the type, and resolves aliases.
pub(crate) fn split_properties(
    map: NodeMap,
    spec: &dyn TypeSpec,
    holder: Holder<'_>,
    diagnostics: &mut Diagnostics,
) -> SplitProperties {
    let reported = diagnostics.found();
    let mut common = CommonNodes::default();
    let of_type = map.into_entries().into_iter().filter_map(|entry| {
        let key = &*entry.key.text;
        if let Some(error) = forbidden_property_error(&entry, holder) {
            diagnostics.push(error);
        } else if let Some(property) = CommonProperty::of(key).filter(|found| found.is_apart()) {
            common.add(property, entry.value);
        } else if key != "name" {
            return Some(entry);
        }
        None
    });
    let mut own = NodeMap::new(of_type.collect());
    let has_alias = |own: &NodeMap| {
        aliases(spec.properties())
            .any(|(alias, _)| own.entries().iter().any(|entry| alias == &*entry.key.text))
    };
    if has_alias(&own) {
        let entries = std::mem::take(&mut own).into_entries();
        for entry in entries {
            add(&mut own, entry, spec, diagnostics);
        }
    }
    SplitProperties { common, own: Arc::new(own), has_errors: diagnostics.found() > reported }
}

/// Returns the error for a property that is not allowed here.
fn forbidden_property_error(entry: &NodeEntry, holder: Holder<'_>) -> Option<Diagnostic> {
    let span = entry.key.span;
    let key = &*entry.key.text;
    match (key, holder) {
        ("name" | "alias", Holder::Defaults) => {
            let error =
                Diagnostic::error(DiagnosticKind::Misplaced, span, format!("`{key}` can't be a default"));
            Some(error.with_hint(format!("set `{key}` on each resource")))
        }
        ("name", Holder::Entry(name)) if entry.value.as_text() == Some(name) => None,
        ("name", Holder::Entry(name)) => {
            let name = shown(name);
            let error = Diagnostic::error(
                DiagnosticKind::Conflict,
                span,
                format!("this resource already has the name `{name}`"),
            );
            let is_list = entry.value.as_list().is_some();
            Some(error.with_hint(if is_list { A_NAME_EACH } else { "use `alias` for a second name" }))
        }
        ("defaults", Holder::Single) => {
            let error =
                Diagnostic::error(DiagnosticKind::Misplaced, span, "`defaults` needs a list of resources");
            Some(error.with_hint("write the resources as `- NAME:` below the type"))
        }
        _ => None,
    }
}

fn add(own: &mut NodeMap, mut entry: NodeEntry, spec: &dyn TypeSpec, diagnostics: &mut Diagnostics) {
    let mut aliases = aliases(spec.properties());
    let alias = aliases.clone().find(|(alias, _)| *alias == &*entry.key.text);
    let written = alias.map(|(_, name)| std::mem::replace(&mut entry.key.text, name.into()));
    let may_be_twice = aliases.any(|(_, name)| name == &*entry.key.text);
    let is_same = |other: &&mut NodeEntry| other.key.text == entry.key.text;
    let Some(other) = own.entries_mut().iter_mut().filter(|_| may_be_twice).find(is_same) else {
        own.push(entry);
        return;
    };
    if entry.value.is_null() {
        return;
    }
    if !other.value.is_null() {
        let name = &entry.key.text;
        let message = match written {
            Some(written) => format!("`{written}` is an alias of `{name}`, which is also given"),
            None => format!("`{name}` is given twice, here and under another name"),
        };
        let error = Diagnostic::error(DiagnosticKind::DuplicateKey, entry.key.span, message);
        diagnostics.push(error.with_label(other.key.span, "the first"));
        return;
    }
    *other = entry;
}
