//! Resource types for tests, and mistakes as lines of text.

use std::collections::BTreeMap;

use ccm_manifest::{Loaded, load};
use ccm_model::{
    Catalog, Checked, Diagnostic, ManagedPath, Node, Properties, Resource, Severity, SourceId, SourceMap,
    Text, TypeSpec, WantedAt, decode,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

/// A type with everything that the loader has to know about: a shell, an alias, things to come.
pub(crate) struct Task;

/// A type with nothing special.
pub(crate) struct Note;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct TaskProperties {
    /// What to do.
    command: Option<Text>,
    args: Option<Vec<Text>>,
    timeout: Option<u32>,
    /// Only when triggered.
    refresh_only: Option<bool>,
    environment: Option<BTreeMap<String, Text>>,
    guard: Option<OneOrMany>,
    level: Option<Level>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only that it can be read counts")]
enum OneOrMany {
    One(Text),
    Many(Vec<Text>),
}

/// How loud.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    /// Silent.
    Quiet,
    Loud,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct NoteProperties {
    text: Option<Text>,
}

const COMMON: &[&str] = &["alias", "ensure", "provider", "require", "subscribe"];

impl TypeSpec for Task {
    fn name(&self) -> &'static str {
        "task"
    }

    fn summary(&self) -> &'static str {
        "Does something."
    }

    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[("refreshonly", "refresh_only")]
    }

    fn not_yet(&self) -> &'static [&'static str] {
        &["user", "docker"]
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["direct", "shell", "docker"]
    }

    fn is_shell_text(&self, property: &str, provider: Option<&str>, properties: &Properties) -> bool {
        let without_command = properties.get("command").is_none();
        provider == Some("shell")
            && (matches!(property, "command" | "guard") || (property == "name" && without_command))
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let mut found = Vec::new();
        if let Err(mistakes) = decode::<TaskProperties>(&resource.properties, COMMON) {
            found = mistakes;
        }
        let key = |name: &str| resource.properties.entry(name).map(|entry| entry.key.span);
        if let (Some(args), None) = (key("args"), key("command")) {
            found.push(Diagnostic::error(args, "`args` needs a `command`"));
        }
        if resource.id.name.contains('!') {
            found.push(Diagnostic::error(resource.span, "a task is not shouted at"));
        }
        if let (Some(refresh_only), true) = (key("refresh_only"), resource.subscribe.is_empty()) {
            found.push(Diagnostic::warning(refresh_only, format!("{} will never run", resource.id)));
        }
        found
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<TaskProperties>()
    }
}

impl TypeSpec for Note {
    fn name(&self) -> &'static str {
        "note"
    }

    fn summary(&self) -> &'static str {
        "Says something."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["plain"]
    }

    /// A name that is a path is one, and a directory or nothing if the text says so.
    fn managed_path<'r>(&self, resource: &'r Resource) -> Option<ManagedPath<'r>> {
        let path = &*resource.id.name;
        let text = resource.properties.get("text").and_then(Node::as_text);
        let wanted = match text {
            Some("directory") => WantedAt::Directory,
            Some("nothing") => WantedAt::Nothing,
            _ => WantedAt::Other,
        };
        path.starts_with('/').then_some(ManagedPath { path, wanted })
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        decode::<NoteProperties>(&checked.resource.properties, COMMON).err().unwrap_or_default()
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<NoteProperties>()
    }
}

pub(crate) const TYPES: [&dyn TypeSpec; 2] = [&Task, &Note];

pub(crate) fn loaded(text: &str) -> Loaded {
    let loaded = load(SourceId(0), text, &TYPES);
    let has_error = loaded.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(loaded.catalog.is_none(), has_error, "{text}");
    loaded
}

/// Puts items below `ccm` and `resources`, so that their first line is line 3 and begins at column 5.
pub(crate) fn manifest(items: &str) -> String {
    let items: Vec<String> = items.lines().map(|line| format!("    {line}\n")).collect();
    format!("ccm:\n  resources:\n{}", items.concat())
}

/// The catalog of a manifest that has no mistake.
pub(crate) fn catalog(text: &str) -> Catalog {
    loaded(text).catalog.unwrap_or_else(|| panic!("{text}\n{:#?}", reported(text)))
}

/// What is reported, each as `line:column message (line:column label) | hint`.
pub(crate) fn reported(text: &str) -> Vec<String> {
    let mut sources = SourceMap::default();
    let id = sources.add("m.yaml", text);
    assert_eq!(id, SourceId(0));
    let found = loaded(text).diagnostics;
    found.iter().map(|diagnostic| line(diagnostic, &sources)).collect()
}

fn line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let place = |span| sources.locate(span).map(|(_, position)| position.display()).unwrap_or_default();
    let mut line = diagnostic.span().map(place).unwrap_or_default();
    if diagnostic.severity == Severity::Warning {
        line += " warning:";
    }
    line += &format!(" {}", diagnostic.message);
    for label in diagnostic.labels.iter().filter(|label| !label.text.is_empty()) {
        line += &format!(" ({} {})", place(label.span), label.text);
    }
    for hint in &diagnostic.hints {
        let is_manifest = hint.starts_with("the smallest manifest is");
        line += &format!(" | {}", if is_manifest { "the smallest manifest" } else { hint });
    }
    line
}

/// Compares what is reported for each text of a table.
pub(crate) fn check_all(cases: &[(&str, &[&str])]) {
    let mut differences = String::new();
    for (text, expected) in cases {
        let found = reported(text);
        if found != *expected {
            differences += &format!("--- {text}\n{found:#?}\n");
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// The same, with items below `resources`.
pub(crate) fn check_items(cases: &[(&str, &[&str])]) {
    let texts: Vec<String> = cases.iter().map(|(items, _)| manifest(items)).collect();
    let cases: Vec<(&str, &[&str])> =
        texts.iter().zip(cases).map(|(text, (_, expected))| (text.as_str(), *expected)).collect();
    check_all(&cases);
}
