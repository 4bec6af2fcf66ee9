//! Resource types for tests, and diagnostics as lines of text.

use std::io;
use std::path::Path;

use ccm_expr::{Timestamp, Value};
use ccm_manifest::{FactPath, LoadResult, Request, Sources, load};
use ccm_model::{
    Catalog, Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, PathKind, Properties, Resource, ScalarKind,
    Severity, SourceMap,
};
use ccm_properties::{
    CheckInput, ChildManifest, CommandsView, JsonMap, NamedValues, OneOrMany, PropertyKind, PropertySet,
    PropertySpec, SourcesView, Text, TextSyntax, TextValue, TypeDeclaration, TypeSpec, ValueError,
    WrittenCommand, decode, properties,
};

/// Type with all features of a type: a shell, an alias.
pub(crate) struct Task;

/// Type without any special feature.
pub(crate) struct Note;

/// Type of files, with template sources and captures.
pub(crate) struct Copy;

/// Type of child manifests.
pub(crate) struct Apply;

properties! {
    #[derive(Default)]
    struct TaskProperties {
        /// Command to run.
        command: Text { syntax: TextSyntax::Argv },
        args: Vec<Text>,
        timeout: i64,
        /// Runs only when triggered.
        refresh_only: bool { aliases: &["refreshonly"] },
        environment: NamedValues<Text>,
        guard: OneOrMany<Text> { syntax: TextSyntax::Argv },
        level: Level,
    }
}

/// Volume.
struct Level;

impl TextValue for Level {
    const KIND: PropertyKind = PropertyKind::Words(&["quiet", "loud"]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "quiet" | "loud" => Ok(Self),
            _ => Err(ValueError::not_one_of(text, &["quiet", "loud"])),
        }
    }
}

properties! {
    #[derive(Default)]
    struct NoteProperties {
        text: Text,
    }
}

properties! {
    #[derive(Default)]
    struct CopyProperties {
        content: Text,
        source: Text,
        mode: Text,
        capture: NamedValues<Text>,
    }
}

properties! {
    #[derive(Default)]
    struct ApplyProperties {
        manifest: Text,
        noop: bool,
        health_check_only: bool,
        allow_apply: bool,
        data: JsonMap,
    }
}

impl TypeSpec for Task {
    fn refreshes(&self) -> bool {
        true
    }

    fn may_write_files(&self) -> bool {
        true
    }

    fn merges(&self) -> bool {
        false
    }

    fn syntax(&self, property: &str, provider: Option<&str>, properties: &Properties) -> TextSyntax {
        match (self.declared_syntax(property, properties), provider) {
            (TextSyntax::Argv, Some("shell")) => TextSyntax::Shell,
            (declared, _) => declared,
        }
    }
}

impl TypeDeclaration for Task {
    fn name(&self) -> &'static str {
        "task"
    }

    fn named_property(&self) -> Option<&'static str> {
        Some("command")
    }

    fn summary(&self) -> &'static str {
        "Does something."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> Vec<&'static str> {
        vec!["direct", "shell"]
    }

    fn properties(&self) -> &'static [PropertySpec] {
        TaskProperties::PROPERTIES
    }

    fn check(&self, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let (_, mut found) = decode::<TaskProperties>(&resource.properties);
        let key = |name: &str| resource.properties.entry(name).map(|entry| entry.key.span);
        if let (Some(args), None) = (key("args"), key("command")) {
            found.push(Diagnostic::error(DiagnosticKind::Missing, args, "`args` needs a `command`"));
        }
        if resource.id.name.contains('!') {
            found.push(Diagnostic::error(
                DiagnosticKind::Conflict,
                resource.span,
                "a task is not shouted at",
            ));
        }
        if let (Some(refresh_only), true) = (key("refresh_only"), resource.subscribe.is_empty()) {
            found.push(Diagnostic::warning(
                DiagnosticKind::NoEffect,
                refresh_only,
                format!("{} will never run", resource.id),
            ));
        }
        found
    }
}

impl TypeSpec for Note {
    fn refreshes(&self) -> bool {
        true
    }

    /// Claims the name as a path, of the kind that `text` names. A suffix behind `+` makes the name unique
    /// and is no part of the path.
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = resource.id.name.split('+').next().unwrap_or_default();
        let text = resource.properties.get("text").and_then(Node::as_text);
        vec![match text {
            _ if !name.starts_with('/') => Claim::exclusive(ClaimKind::User, name),
            Some("directory") => Claim::path(name, PathKind::Directory),
            Some("nothing") => Claim::path(name, PathKind::Nothing),
            Some("part") => Claim::shared(ClaimKind::Path, name),
            Some("line") => Claim::part_of_file(name),
            _ => Claim::path(name, PathKind::Other),
        }]
    }
}

impl TypeDeclaration for Note {
    fn name(&self) -> &'static str {
        "note"
    }

    fn summary(&self) -> &'static str {
        "Says something."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> Vec<&'static str> {
        vec!["plain"]
    }

    fn properties(&self) -> &'static [PropertySpec] {
        NoteProperties::PROPERTIES
    }

    fn check(&self, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        decode::<NoteProperties>(&checked.resource.properties).1
    }
}

impl TypeSpec for Copy {
    fn ensure_pattern(&self) -> Option<&'static str> {
        Some("^[0-9]")
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = resource.id.name.split('+').next().unwrap_or_default();
        let has_content = ["content", "source"].iter().any(|name| resource.properties.get(name).is_some());
        vec![if has_content {
            Claim::path(name, PathKind::Other)
        } else {
            Claim::shared(ClaimKind::Path, name)
        }]
    }

    fn sources(&self) -> Option<&dyn SourcesView> {
        Some(self)
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(self)
    }
}

impl CommandsView for Copy {
    fn commands(&self, _: &Resource) -> Vec<WrittenCommand> {
        Vec::new()
    }

    fn captures<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let map = resource.properties.get("capture").and_then(Node::as_map);
        map.map(|map| map.entries().iter().map(|entry| &*entry.key.text).collect()).unwrap_or_default()
    }
}

impl SourcesView for Copy {
    fn template(&self) -> Option<(&'static str, &'static str)> {
        Some(("source", "content"))
    }
}

impl TypeDeclaration for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn summary(&self) -> &'static str {
        "Fills a file."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> Vec<&'static str> {
        vec!["plain"]
    }

    fn properties(&self) -> &'static [PropertySpec] {
        CopyProperties::PROPERTIES
    }

    fn check(&self, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let properties = &checked.resource.properties;
        let (_, mut found) = decode::<CopyProperties>(properties);
        if let (Some(source), Some(_)) = (properties.entry("source"), properties.entry("content")) {
            found.push(Diagnostic::error(
                DiagnosticKind::Conflict,
                source.key.span,
                "`source` and `content` are both given",
            ));
        }
        found
    }
}

impl TypeSpec for Apply {
    fn child_manifest<'r>(&self, resource: &'r Resource) -> Option<ChildManifest<'r>> {
        let is = |name: &str, otherwise: bool| {
            let scalar = resource.properties.get(name).and_then(Node::as_scalar);
            scalar.map_or(otherwise, |scalar| scalar.kind() == ScalarKind::Bool(true))
        };
        Some(ChildManifest {
            path: resource.properties.get("manifest").and_then(Node::as_text).unwrap_or(&resource.id.name),
            noop: is("noop", false),
            health_check_only: is("health_check_only", false),
            allow_apply: is("allow_apply", true),
            data: resource.properties.get("data"),
        })
    }
}

impl TypeDeclaration for Apply {
    fn name(&self) -> &'static str {
        "apply"
    }

    fn summary(&self) -> &'static str {
        "Applies a manifest."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> Vec<&'static str> {
        vec!["manifest"]
    }

    fn properties(&self) -> &'static [PropertySpec] {
        ApplyProperties::PROPERTIES
    }

    fn check(&self, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        decode::<ApplyProperties>(&checked.resource.properties).1
    }
}

pub(crate) const TYPES: [&dyn TypeSpec; 2] = [&Task, &Note];

/// Machine without files, facts and variables.
pub(crate) struct Nothing;

impl Sources for Nothing {
    fn read(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        Ok(Value::map::<&str>([]))
    }

    fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        Ok(Vec::new())
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

pub(crate) fn loaded(text: &str) -> LoadResult<'static> {
    let request = Request {
        name: "m.yaml".to_owned(),
        text: text.into(),
        directory: "/m".into(),
        hiera: Vec::new(),
        assignments: Vec::new(),
        allows_new_keys: false,
        resources: None,
        root: None,
        earlier: None,
    };
    let loaded = load(request, &TYPES, &Nothing);
    let has_error = loaded.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(loaded.catalog.is_none(), has_error, "{text}");
    loaded
}

/// Puts items below `ccm` and `resources`, so that their first line is line 3 and begins at column 5.
pub(crate) fn manifest(items: &str) -> String {
    let items: Vec<String> = items.lines().map(|line| format!("    {line}\n")).collect();
    format!("ccm:\n  resources:\n{}", items.concat())
}

/// Returns the catalog of a valid manifest.
pub(crate) fn catalog(text: &str) -> Catalog {
    loaded(text).catalog.unwrap_or_else(|| panic!("{text}\n{:#?}", reported(text)))
}

/// Returns the diagnostics, each as a [`line`].
pub(crate) fn reported(text: &str) -> Vec<String> {
    let loaded = loaded(text);
    let sources = loaded.texts();
    loaded.diagnostics.iter().map(|diagnostic| line(diagnostic, &sources)).collect()
}

/// Returns a diagnostic as `LINE:COLUMN kind property (LINE:COLUMN of a label) | code in a hint`, without the
/// wording. The path of a missing value follows the kind too, and `…` is a hint without code.
pub(crate) fn line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let place = |span| {
        let Some((name, position)) = sources.locate(span) else { return String::new() };
        let of = if name == "m.yaml" { String::new() } else { format!("{name}:") };
        format!("{of}{}", position.display())
    };
    let mut line = diagnostic.span().map(place).unwrap_or_default();
    if diagnostic.severity == Severity::Warning {
        line += " warning:";
    }
    line += &format!(" {}", diagnostic.kind);
    if let Some(property) = &diagnostic.property {
        line += &format!(" {property}");
    }
    if let Some(missing) = diagnostic.missing.as_ref().filter(|path| !path.is_empty()) {
        line += &format!(" {}", missing.join("."));
    }
    for label in diagnostic.labels.iter().skip(1) {
        line += &format!(" ({})", place(label.span));
    }
    for hint in &diagnostic.hints {
        let code: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
        line += &format!(" | {}", if code.is_empty() { "…".to_owned() } else { code.join(", ") });
    }
    line
}

/// Compares the diagnostics for each text of a table.
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

/// Compares the diagnostics for items below `resources`.
pub(crate) fn check_items(cases: &[(&str, &[&str])]) {
    let texts: Vec<String> = cases.iter().map(|(items, _)| manifest(items)).collect();
    let cases: Vec<(&str, &[&str])> =
        texts.iter().zip(cases).map(|(text, (_, expected))| (text.as_str(), *expected)).collect();
    check_all(&cases);
}
