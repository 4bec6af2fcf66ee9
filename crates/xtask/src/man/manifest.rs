//! The page about manifests, and one for each resource type, from the documentation and the reference of `ccm explain`.

use ccm_runtime::{Config, Explanation, PropertyReference, Session, TypeReference};

use clap_mangen::roff::{Roff, bold, roman};

use super::markdown::{self, add_item, inlines, reference};
use super::{LAYOUT, MANUAL, PageSources};

/// Name of the page.
pub(crate) const NAME: &str = "ccm-manifest";

/// Marker of the properties of every resource in the documentation.
const COMMON: &str = "properties of every resource";

/// Returns the page about manifests, then those of the types, each with its name.
pub(crate) fn pages(documentation: &str, sources: &PageSources) -> Vec<(String, String)> {
    let types = types();
    let pages = types.iter().map(|found| (type_page_name(found), type_page(found, sources)));
    std::iter::once((NAME.to_owned(), page(documentation, &types, sources))).chain(pages).collect()
}

/// Returns the name of the page of a type: `ccm-file` for `file`.
fn type_page_name(found: &TypeReference) -> String {
    format!("ccm-{}", found.name)
}

fn page(documentation: &str, types: &[TypeReference], sources: &PageSources) -> String {
    let mut title = Roff::new();
    title.control("TH", [&*NAME.to_uppercase(), "5", &sources.date, &sources.version, MANUAL]);
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]);
    roff.text([roman(NAME), roman(" - manifests and the properties of every resource")]);
    markdown::add_page(&mut roff, documentation, |roff, marker| {
        if let (COMMON, Some(first)) = (marker, types.first()) {
            add_properties(roff, &first.common);
        }
    });
    roff.control("SH", ["RESOURCE TYPES"]);
    for found in types {
        add_item(&mut roff, reference(&type_page_name(found), 5), inlines(found.summary));
    }
    roff.control("SH", ["SEE ALSO"]);
    let others = ["ccm", "ccm-apply", "ccm-validate", "ccm-explain"].map(|name| reference(name, 1));
    roff.text(others.join(&roman(", "))).control("PP", []).text([bold("/usr/share/doc/ccm/")]);
    title.render() + LAYOUT + &roff.render()
}

fn type_page(found: &TypeReference, sources: &PageSources) -> String {
    let name = type_page_name(found);
    let mut title = Roff::new();
    title.control("TH", [&*name.to_uppercase(), "5", &sources.date, &sources.version, MANUAL]);
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]);
    roff.text([roman(&name), roman(format!(" - resource type {} of manifests", found.name))]);
    roff.control("SH", ["DESCRIPTION"]);
    add_type(&mut roff, found);
    roff.control("SH", ["SEE ALSO"]);
    let others = [reference(NAME, 5), reference("ccm-explain", 1)];
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
    roff.text(inlines(found.summary));
    if let [default, ..] = found.ensures[..] {
        let ensures = words(&found.ensures);
        roff.control("PP", []).text(inlines(&format!("`ensure`: {ensures}. Default: `{default}`.")));
    }
    if !found.providers.is_empty() {
        roff.control("PP", []).text(inlines(&format!("`provider`: {}.", words(&found.providers))));
    }
    roff.control("SH", ["PROPERTIES"]);
    roff.text([roman("The properties of every resource are in "), bold("ccm-manifest"), roman("(5).")]);
    add_properties(roff, &found.properties);
    if !found.settings.is_empty() {
        roff.control("SH", ["KEYS BELOW CCM OF A MANIFEST"]);
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
