//! Names for the completion of a command line.

use std::path::Path;

use ccm_host::{ShellError, is_transient};
use ccm_model::{Catalog, Diagnostic, Node, NodeMap, SourceId};
use ccm_yaml::Limits;

use crate::doors::Doors;
use crate::input::{GivenValues, ManifestSource};
use crate::session::Session;

/// Maximum size of a manifest that names are read from. A completion has to be quick.
const MAX_MANIFEST_SIZE: u64 = 1 << 20;

/// Maximum number of names. Nobody chooses from more.
const MAX_NAMES: usize = 5000;

/// Doors of this machine through which loading a manifest runs no command, not even a shell that only parses.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassiveDoors;

impl Doors for PassiveDoors {
    fn parse_shell(&self, texts: &[&str]) -> Vec<Option<ShellError>> {
        vec![None; texts.len()]
    }
}

impl Session {
    /// Returns the references to all resources of a manifest, by name and alias. If the manifest has errors,
    /// returns those that are written without expressions. Names with a secret or a control character are left
    /// out. A pipe is not read.
    pub fn reference_names(&self, manifest: &Path, values: &GivenValues) -> Vec<String> {
        if is_transient(manifest) {
            return Vec::new();
        }
        let mut names = self.loaded_names(manifest, values).unwrap_or_else(|| {
            let text = self.read_text(Some(manifest), MAX_MANIFEST_SIZE, "manifest");
            text.map(|(_, text)| written_names(&text)).unwrap_or_default()
        });
        names.retain(|name| !name.contains(char::is_control) && self.secrets.redact(name) == *name);
        names.truncate(MAX_NAMES);
        names
    }

    fn loaded_names(&self, manifest: &Path, values: &GivenValues) -> Option<Vec<String>> {
        let source = ManifestSource::File(manifest.to_owned());
        let input = self.read(source, values, MAX_MANIFEST_SIZE).ok()?;
        let loaded = self.load(&input).ok()?;
        Some(catalog_names(loaded.catalog()))
    }
}

fn catalog_names(catalog: &Catalog) -> Vec<String> {
    let names = catalog.resources.iter().flat_map(|resource| {
        let aliases = resource.aliases.iter().map(|alias| format!("{}#{alias}", resource.id.type_name));
        std::iter::once(resource.id.to_string()).chain(aliases)
    });
    names.collect()
}

/// Returns the references to the resources that are written in a text. Behind an error of YAML, nothing is found.
fn written_names(text: &str) -> Vec<String> {
    let parse = |text| ccm_yaml::parse_with_duplicates(SourceId(0), text, &Limits::default());
    let parsed = parse(text).or_else(|errors| parse(before_errors(text, &errors)));
    let Ok((Some(root), _)) = parsed else { return Vec::new() };
    let resources = root.as_map().and_then(|root| root.get("ccm")?.as_map()?.get("resources")?.as_list());
    let mut names = Vec::new();
    for item in resources.unwrap_or_default().iter().filter_map(Node::as_map) {
        for entry in item.entries().iter().filter(|entry| &*entry.key.text != "foreach") {
            add_list(&entry.key.text, &entry.value, &mut names);
        }
    }
    names
}

/// Returns the lines before the first error.
fn before_errors<'t>(text: &'t str, errors: &[Diagnostic]) -> &'t str {
    let starts = errors.iter().filter_map(|error| Some(error.labels.first()?.span.range().start));
    let before = text.get(..starts.min().unwrap_or_default()).unwrap_or_default();
    before.rfind('\n').map_or("", |end| &before[..=end])
}

/// Adds the names of the resources of one type: a list of them, or a single one.
fn add_list(type_name: &str, resources: &Node, names: &mut Vec<String>) {
    if let Some(single) = resources.as_map() {
        add_name(type_name, single.get("name"), Some(single), names);
    }
    for resource in resources.as_list().unwrap_or_default() {
        if resource.as_scalar().is_some() {
            add_name(type_name, Some(resource), None, names);
        }
        for entry in resource
            .as_map()
            .into_iter()
            .flat_map(NodeMap::entries)
            .filter(|entry| &*entry.key.text != "defaults")
        {
            let name = Node::text(entry.key.text.clone(), entry.key.span);
            add_name(type_name, Some(&name), entry.value.as_map(), names);
        }
    }
}

fn add_name(type_name: &str, name: Option<&Node>, properties: Option<&NodeMap>, names: &mut Vec<String>) {
    let alias = properties.and_then(|properties| properties.get("alias"));
    let written = [name, alias].into_iter().flatten().filter_map(Node::as_scalar);
    let is_literal = |name: &&str| !name.is_empty() && !name.contains("{{") && !name.contains("${");
    names
        .extend(written.map(|name| &*name.text).filter(is_literal).map(|name| format!("{type_name}#{name}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_they_are_written() {
        let resources = "ccm:\n  resources:\n    - file:\n        - defaults: {mode: 644}\n        - /etc/a b: {alias: a}\n\
                         \x20       - \"{{ Data.x }}\": {alias: x}\n    - exec: {name: 'make it', alias: m}\n    - foreach: [1]\n\
                         \x20     package: [{zsh: null}, git, {\"${v}\": {}}]\n";
        let expected =
            ["file#/etc/a b", "file#a", "file#x", "exec#make it", "exec#m", "package#zsh", "package#git"];
        assert_eq!(written_names(resources), expected);
        for (text, expected) in [
            (format!("{resources}    - exec: [{{unfinished: \"\n"), &expected[..]),
            (format!("{resources}\t- tab\n"), &expected[..]),
            (format!("{resources}    - [\u{0}\n"), &expected[..]),
            ("ccm:\n  resources:\n    - exec:\n        - a: {b\n".to_owned(), &[][..]),
            ("ccm: {resources: 5}".to_owned(), &[][..]),
            ("- 1".to_owned(), &[][..]),
            (String::new(), &[][..]),
        ] {
            assert_eq!(written_names(&text), expected, "{text}");
        }
    }
}
