//! The page about manifests, from its page of the documentation and the reference of `ccm explain`.

use ccm_runtime::{Config, Explanation, PropertyReference, Session, TypeReference};

use super::roff::{ManPage, bold, formatted, reference};
use super::{PageSources, markdown};

/// Name of the page.
pub(crate) const NAME: &str = "ccm-manifest";

/// Marker of the properties of every resource in the documentation.
const COMMON: &str = "properties of every resource";

/// Returns the page.
pub(crate) fn page(documentation: &str, sources: &PageSources) -> String {
    let types = types();
    let mut page = ManPage::new(NAME, 5, &sources.date, &sources.version, super::MANUAL);
    page.section("Name");
    page.line(&format!("{} \\- manifests, resource types and their properties", formatted(NAME)));
    markdown::add_page(&mut page, documentation, |page, marker| {
        if let (COMMON, Some(first)) = (marker, types.first()) {
            add_properties(page, &first.common);
        }
    });
    for found in &types {
        add_type(&mut page, found);
    }
    page.section("See also");
    let others = ["ccm", "ccm-apply", "ccm-validate", "ccm-explain"].map(|name| reference(name, 1));
    page.line(&others.join(",\n"));
    page.paragraph("`/usr/share/doc/ccm/`");
    page.finish()
}

/// Returns the reference of all types.
fn types() -> Vec<TypeReference> {
    match Session::open(Config::default()).explain(None) {
        Ok(Explanation::Types(types)) => types,
        _ => Vec::new(),
    }
}

fn add_type(page: &mut ManPage, found: &TypeReference) {
    page.section(&format!("Resource type {}", found.name));
    page.line(&formatted(found.summary));
    if let [default, ..] = found.ensures[..] {
        let ensures = words(&found.ensures);
        page.paragraph(&format!("`ensure`: {ensures}. Default: `{default}`."));
    }
    if !found.providers.is_empty() {
        page.paragraph(&format!("`provider`: {}.", words(&found.providers)));
    }
    add_properties(page, &found.properties);
    if !found.settings.is_empty() {
        page.subsection("Keys below ccm of a manifest");
        add_properties(page, &found.settings);
    }
}

fn words(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Adds properties, each with those of its map below it.
fn add_properties(page: &mut ManPage, properties: &[PropertyReference]) {
    for property in properties {
        let kind = formatted(&property.kind);
        page.item(&format!("{} ({kind})", bold(property.name)), &meaning(property));
        if !property.properties.is_empty() {
            page.begin_indented();
            add_properties(page, &property.properties);
            page.end_indented();
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
