//! The page about manifests, from its page of the documentation and the reference of `ccm explain`.

use ccm_runtime::{Config, Explanation, PropertyReference, Session, TypeReference};

use clap_mangen::roff::{Roff, bold, roman};

use super::markdown::{self, add_item, inlines, reference};
use super::{LAYOUT, MANUAL, PageSources};

/// Name of the page.
pub(crate) const NAME: &str = "ccm-manifest";

/// Marker of the properties of every resource in the documentation.
const COMMON: &str = "properties of every resource";

/// Returns the page.
pub(crate) fn page(documentation: &str, sources: &PageSources) -> String {
    let types = types();
    let mut title = Roff::new();
    title.control("TH", [&*NAME.to_uppercase(), "5", &sources.date, &sources.version, MANUAL]);
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]);
    roff.text([roman(NAME), roman(" - manifests, resource types and their properties")]);
    markdown::add_page(&mut roff, documentation, |roff, marker| {
        if let (COMMON, Some(first)) = (marker, types.first()) {
            add_properties(roff, &first.common);
        }
    });
    for found in &types {
        add_type(&mut roff, found);
    }
    roff.control("SH", ["SEE ALSO"]);
    let others = ["ccm", "ccm-apply", "ccm-validate", "ccm-explain"].map(|name| reference(name, 1));
    roff.text(others.join(&roman(", "))).control("PP", []).text([bold("/usr/share/doc/ccm/")]);
    title.render() + LAYOUT + &roff.render()
}

/// Returns the reference of all types.
fn types() -> Vec<TypeReference> {
    match Session::open(Config::default()).explain(None) {
        Ok(Explanation::Types(types)) => types,
        _ => Vec::new(),
    }
}

fn add_type(roff: &mut Roff, found: &TypeReference) {
    roff.control("SH", [&*format!("RESOURCE TYPE {}", found.name.to_uppercase())]);
    roff.text(inlines(found.summary));
    if let [default, ..] = found.ensures[..] {
        let ensures = words(&found.ensures);
        roff.control("PP", []).text(inlines(&format!("`ensure`: {ensures}. Default: `{default}`.")));
    }
    if !found.providers.is_empty() {
        roff.control("PP", []).text(inlines(&format!("`provider`: {}.", words(&found.providers))));
    }
    add_properties(roff, &found.properties);
    if !found.settings.is_empty() {
        roff.control("SS", ["Keys below ccm of a manifest"]);
        add_properties(roff, &found.settings);
    }
}

fn words(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Adds properties, each with those of its map below it.
fn add_properties(roff: &mut Roff, properties: &[PropertyReference]) {
    for property in properties {
        let kind = inlines(&property.kind);
        let term = [vec![bold(property.name), roman(" (")], kind, vec![roman(")")]].concat();
        add_item(roff, term, inlines(&meaning(property)));
        if !property.properties.is_empty() {
            roff.control("RS", []);
            add_properties(roff, &property.properties);
            roff.control("RE", []);
        }
    }
}

fn meaning(property: &PropertyReference) -> String {
    let mut meaning = property.meaning.clone();
    if property.required {
        meaning += " Required.";
    }
    if let Some(default) = property.default {
        meaning += &format!(" Default: {default}.");
    }
    if !property.aliases.is_empty() {
        meaning += &format!(" Other names: {}.", words(&property.aliases));
    }
    if property.sensitive {
        meaning += " `sensitive: true` hides its value.";
    }
    meaning
}
