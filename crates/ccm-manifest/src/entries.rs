//! Takes the properties of one resource, or of the defaults of a list, apart.

use ccm_model::{Diagnostic, Diagnostics, Entry, Map};
use ccm_properties::{CommonProperty, TypeSpec, aliases};

use crate::common_properties::{CommonNodes, Split};
use crate::later::{self, not_supported};
use crate::wording::shown;

/// What the properties belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'a> {
    /// A resource of that name in a list.
    Entry(&'a str),
    /// A resource written as one map; its name has been taken out.
    Single,
    /// The defaults of a list.
    Defaults,
}

/// Separates the common properties from those of the type, puts names for aliases and refuses what comes in
/// later versions.
pub(crate) fn split(
    map: Map,
    spec: &dyn TypeSpec,
    holder: Holder<'_>,
    diagnostics: &mut Diagnostics,
) -> Split {
    let reported = diagnostics.found();
    let mut common = CommonNodes::default();
    // What belongs to the type stays where it is.
    let of_type = map.into_entries().into_iter().filter_map(|entry| {
        let key = &*entry.key.text;
        if let Some(mistake) = refused(&entry, spec, holder) {
            diagnostics.push(mistake);
        } else if let Some(property) = CommonProperty::of(key) {
            common.add(property, entry.value);
        } else if key != "name" {
            return Some(entry);
        }
        None
    });
    let mut own = Map::new(of_type.collect());
    let has_alias = |own: &Map| {
        aliases(spec.properties())
            .any(|(alias, _)| own.entries().iter().any(|entry| alias == &*entry.key.text))
    };
    if has_alias(&own) {
        let entries = std::mem::take(&mut own).into_entries();
        for entry in entries {
            add(&mut own, entry, spec, diagnostics);
        }
    }
    Split { common, own, is_flawed: diagnostics.found() > reported }
}

/// Says why a property can't stand here, if it can't.
fn refused(entry: &Entry, spec: &dyn TypeSpec, holder: Holder<'_>) -> Option<Diagnostic> {
    let span = entry.key.span;
    let key = &*entry.key.text;
    if later::PROPERTIES.contains(&key) || spec.not_yet().contains(&key) {
        return Some(not_supported(key, span));
    }
    match (key, holder) {
        ("name" | "alias", Holder::Defaults) => {
            let mistake = Diagnostic::error(span, format!("`{key}` can't be a default"));
            Some(mistake.with_hint("each resource has its own"))
        }
        ("name", Holder::Entry(name)) => {
            let name = shown(name);
            let mistake = Diagnostic::error(span, format!("this resource has a name already: `{name}`"));
            Some(mistake.with_hint("the key above the properties is the name; a second one is an `alias`"))
        }
        ("defaults", Holder::Single) => {
            let mistake = Diagnostic::error(span, "`defaults` needs a list of resources");
            Some(mistake.with_hint("write the resources as `- NAME:` below the type"))
        }
        _ => None,
    }
}

/// Adds a property of the type under the name that it is known by.
fn add(own: &mut Map, mut entry: Entry, spec: &dyn TypeSpec, diagnostics: &mut Diagnostics) {
    let mut aliases = aliases(spec.properties());
    let alias = aliases.clone().find(|(alias, _)| *alias == &*entry.key.text);
    let written = alias.map(|(_, name)| std::mem::replace(&mut entry.key.text, name.into()));
    let may_be_twice = aliases.any(|(_, name)| name == &*entry.key.text);
    let is_same = |other: &&mut Entry| other.key.text == entry.key.text;
    let Some(other) = own.entries_mut().iter_mut().filter(|_| may_be_twice).find(is_same) else {
        own.push(entry);
        return;
    };
    // Null is as good as not given.
    if entry.value.is_null() {
        return;
    }
    if !other.value.is_null() {
        let name = &entry.key.text;
        let message = match written {
            Some(written) => format!("`{written}` is another name for `{name}`, which is given too"),
            None => format!("`{name}` is given twice, here and by another name"),
        };
        let mistake = Diagnostic::error(entry.key.span, message);
        diagnostics.push(mistake.with_label(other.key.span, "the first"));
        return;
    }
    *other = entry;
}
