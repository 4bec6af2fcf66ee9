//! The manifest that recreates resources as they are.

use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};

use ccm_engine::{ExportRemark, ExportedState, ExportedValue};
use ccm_host::{FileAttributes, FileError, Files};
use ccm_model::{ResourceId, escape_control};
use ccm_properties::TextSyntax;
use ccm_yaml::YamlValue;
use serde_json::Value;

use super::reproduction::ALL_TYPES;
use super::{PresentResource, PresentState, ResourceError, ResourcePresence};
use crate::canceller::Canceller;
use crate::session::Session;

/// Name of the manifest in the directory of [`ManifestOptions::out`].
pub(super) const MANIFEST: &str = "site.yaml";
/// Directory of contents beside the manifest.
const FILES: &str = "files";
/// Mode of the directories: the contents are for nobody else.
const PRIVATE: u32 = 0o700;
/// Maximum length of content that stands in the manifest, in bytes.
const MAX_INLINE: usize = 8 << 10;
/// Names that begin an expression in the text for a shell.
const EXPRESSION_NAMES: [&str; 4] = ["Facts", "Data", "Environ", "Captures"];
/// Columns of an item of a list of resources.
const ITEM: usize = 8;
/// Columns of a property.
const PROPERTY: usize = 12;

/// Options of the manifest.
#[derive(Clone, Debug, Default)]
pub struct ManifestOptions {
    /// Directory to make for the manifest and for contents that are long, private or no text. `None` leaves such
    /// contents out.
    pub out: Option<PathBuf>,
    /// Handle that ends the reading.
    pub canceller: Canceller,
}

/// Manifest that was written.
#[derive(Clone, Debug)]
pub struct ExportedManifest {
    /// Text of the manifest.
    pub text: String,
    /// State that the manifest describes. Resources that a run would change are not exported.
    pub state: PresentState,
    /// Path of the manifest, if it was written to a directory.
    pub path: Option<PathBuf>,
    /// Number of files with contents beside the manifest.
    pub files: usize,
}

/// Directory in which the manifest and its files are.
struct OutDirectory<'s> {
    path: PathBuf,
    files: &'s dyn Files,
    session: &'s Session,
    count: usize,
}

impl Session {
    /// Writes the manifest that recreates resources, and proves by a plan that it changes nothing here. A resource that a
    /// run would change becomes a comment with the reason.
    pub async fn export_manifest(
        &self,
        mut state: PresentState,
        options: &ManifestOptions,
    ) -> Result<ExportedManifest, ResourceError> {
        let mut out = match &options.out {
            Some(path) => Some(OutDirectory::make(path, self)?),
            None => None,
        };
        for resource in &mut state.resources {
            if let ResourcePresence::Present(exported) = &mut resource.state {
                without_expression_names(&resource.id, exported, self);
                place_contents(&resource.id, exported, out.as_mut())?;
            }
        }
        let directory = out.as_ref().map_or_else(|| PathBuf::from("/"), |out| out.path.clone());
        self.prove(&mut state, &directory, &options.canceller).await?;
        let text = manifest_text(&state, self);
        let path = match &out {
            Some(out) => Some(out.write(Path::new(MANIFEST), text.as_bytes())?),
            None => None,
        };
        Ok(ExportedManifest { text, state, path, files: out.map_or(0, |out| out.count) })
    }
}

impl<'s> OutDirectory<'s> {
    /// Makes the directory, which must not exist.
    fn make(path: &Path, session: &'s Session) -> Result<Self, ResourceError> {
        let failed = |source| ResourceError::Directory { path: path.to_owned(), source };
        let whole = ccm_host::absolute(path).map_err(failed)?;
        let files = &*session.doors.files;
        let made = Self { path: whole, files, session, count: 0 };
        made.make_directory(&made.path.clone()).map_err(failed)?;
        Ok(made)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let attributes = FileAttributes { mode: Some(PRIVATE), ..FileAttributes::default() };
        self.files.make_directory(path, attributes).map_err(|error| match error {
            FileError::Step { source, .. } => source,
            other => io::Error::other(other),
        })
    }

    /// Writes content, and returns its path relative to the directory.
    fn store(&mut self, of: &str, content: &[u8]) -> Result<String, ResourceError> {
        // No part of a name leads out of the directory.
        let parts = Path::new(of).components().filter(|part| matches!(part, Component::Normal(_)));
        let relative: PathBuf = [Component::Normal(FILES.as_ref())].into_iter().chain(parts).collect();
        let above = relative.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let mut above: Vec<PathBuf> = above.map(|above| self.path.join(above)).collect();
        above.reverse();
        for directory in above {
            if !self.files.is_directory(&directory).unwrap_or(false) {
                let failed = |source| ResourceError::Directory { path: directory.clone(), source };
                self.make_directory(&directory).map_err(failed)?;
            }
        }
        self.write(&relative, content)?;
        self.count += 1;
        Ok(relative.display().to_string())
    }

    fn write(&self, relative: &Path, content: &[u8]) -> Result<PathBuf, ResourceError> {
        let path = self.path.join(relative);
        let written = self.session.create_file(&path, content);
        written.map_err(|source| ResourceError::File { path: path.clone(), source })?;
        Ok(path)
    }
}

/// Decides where contents are: in the manifest, in a file beside it, or nowhere.
fn place_contents(
    id: &ResourceId,
    state: &mut ExportedState,
    mut out: Option<&mut OutDirectory<'_>>,
) -> Result<(), ResourceError> {
    let mut placed = Vec::new();
    for (property, value) in std::mem::take(&mut state.properties) {
        let ExportedValue::Content { bytes, is_private } = value else {
            placed.push((property, value));
            continue;
        };
        match (inline(&bytes).filter(|_| !is_private), &mut out) {
            (Some(text), _) => placed.push((property, ExportedValue::Json(Value::String(text)))),
            (None, Some(out)) => {
                let source = out.store(&id.name, &bytes)?;
                placed.push(("source", ExportedValue::Json(Value::String(source))));
            }
            (None, None) => {
                let what = if is_private { "not every user may read it" } else { "it is long, or no text" };
                let reason = format!("{what}: use `--out DIR`");
                state.remarks.push(ExportRemark::Unread { property, reason });
            }
        }
    }
    state.properties = placed;
    Ok(())
}

/// Returns content that can stand in a manifest.
fn inline(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_INLINE)?;
    let is_shown = |part: char| matches!(part, '\n' | '\t' | '\r') || !ccm_model::steers_terminal(part);
    text.chars().all(is_shown).then(|| text.to_owned())
}

/// Returns the manifest as text.
pub(super) fn manifest_text(state: &PresentState, session: &Session) -> String {
    let is_proved = state.unseen.iter().all(|unseen| unseen.type_name != ALL_TYPES);
    let proof = if is_proved { " Applied on this machine, it changes nothing." } else { "" };
    let mut text = format!("# Written by `ccm resource`.{proof}\n");
    for unseen in &state.unseen {
        comment(
            &mut text,
            0,
            &format!("{}: not everything could be seen: {}", unseen.type_name, unseen.reason),
        );
    }
    let mut current = "";
    let mut body = String::new();
    for resource in &state.resources {
        let is_listed = is_listed(resource, session);
        if is_listed && current != &*resource.id.type_name {
            current = &resource.id.type_name;
            let _ = writeln!(body, "    - {current}:");
        }
        if is_listed {
            item(&mut body, resource, session);
        } else {
            left_out(&mut body, resource);
        }
    }
    let is_empty = !state.resources.iter().any(|resource| is_listed(resource, session));
    text += if is_empty { "ccm:\n  resources: []\n" } else { "ccm:\n  resources:\n" };
    text + &body
}

/// Returns `true` for a resource that the manifest declares.
pub(super) fn is_listed(resource: &PresentResource, session: &Session) -> bool {
    match &resource.state {
        ResourcePresence::Present(_) => true,
        ResourcePresence::Absent => {
            session.type_named(&resource.id.type_name).is_ok_and(|found| found.ensures().contains(&"absent"))
        }
        ResourcePresence::NotExported(_) => false,
    }
}

fn left_out(body: &mut String, resource: &PresentResource) {
    match &resource.state {
        ResourcePresence::NotExported(reason) => {
            comment(body, ITEM - 4, &format!("{} is not exported: {}", resource.id, reason.reason));
            if let Some(hint) = &reason.hint {
                comment(body, ITEM - 4, &format!("  {hint}"));
            }
        }
        ResourcePresence::Present(_) | ResourcePresence::Absent => {
            comment(body, ITEM - 4, &format!("{} does not exist", resource.id));
        }
    }
}

fn item(body: &mut String, resource: &PresentResource, session: &Session) {
    let shell_properties = shell_properties(&resource.id, session);
    let mut properties: Vec<(String, YamlValue)> = Vec::new();
    let mut push = |name: &str, value: YamlValue| properties.push((name.to_owned(), value));
    let mut remarks: &[ExportRemark] = &[];
    match &resource.state {
        ResourcePresence::Present(state) => {
            if let Some(ensure) = &state.ensure {
                push("ensure", YamlValue::Text(literal(ensure)));
            }
            if let Some(provider) = state.provider {
                push("provider", YamlValue::Text(provider.to_owned()));
            }
            for (name, value) in &state.properties {
                match value {
                    ExportedValue::Json(Value::String(text)) if shell_properties.contains(name) => {
                        push(name, YamlValue::Text(literal_braces(text)));
                    }
                    ExportedValue::Json(value) => push(name, yaml(value)),
                    ExportedValue::Content { .. } => {}
                }
            }
            remarks = &state.remarks;
        }
        ResourcePresence::Absent => push("ensure", YamlValue::Text("absent".to_owned())),
        ResourcePresence::NotExported(_) => {}
    }
    for (name, ids) in [("require", &resource.require), ("subscribe", &resource.subscribe)] {
        if !ids.is_empty() {
            let ids = ids.iter().map(|id| YamlValue::Text(literal(&id.to_string())));
            push(name, YamlValue::List(ids.collect()));
        }
    }
    let name = literal(&resource.id.name);
    let written = ccm_yaml::write(&YamlValue::Map(vec![(name, YamlValue::Map(properties))]));
    let mut lines = written.lines();
    let _ = writeln!(body, "{:ITEM$}- {}", "", lines.next().unwrap_or_default());
    for remark in remarks {
        comment(body, PROPERTY, &remark_text(&resource.id, remark));
    }
    for line in lines {
        // The text of a block keeps its empty lines.
        let width = if line.is_empty() { 0 } else { PROPERTY - 2 };
        let _ = writeln!(body, "{:width$}{line}", "");
    }
}

/// Returns a remark as a comment says it.
pub(super) fn remark_text(id: &ResourceId, remark: &ExportRemark) -> String {
    match remark {
        ExportRemark::ReadOnly { name, value } => format!("{name}: {value}"),
        ExportRemark::Secret { property } => {
            let credential = credential_name(id, property);
            format!(
                "{property} is left out, because it may be a secret: \"{{{{ credential('{credential}') }}}}\""
            )
        }
        ExportRemark::Unread { property, reason } => format!("{property} is left out: {reason}"),
    }
}

/// Returns a name for the credential of a property.
fn credential_name(id: &ResourceId, property: &str) -> String {
    let name = format!("{}-{property}", id.name);
    let part = |part: char| if part.is_ascii_alphanumeric() { part } else { '-' };
    let name: String = name.trim_start_matches('/').chars().map(part).collect();
    name.trim_matches('-').to_owned()
}

/// Adds a comment of one line.
fn comment(text: &mut String, width: usize, words: &str) {
    let _ = writeln!(text, "{:width$}# {}", "", escape_control(words));
}

fn yaml(value: &Value) -> YamlValue {
    match value {
        Value::String(text) => YamlValue::Text(literal(text)),
        Value::Array(values) => YamlValue::List(values.iter().map(yaml).collect()),
        Value::Object(map) => {
            YamlValue::Map(map.iter().map(|(key, value)| (literal(key), yaml(value))).collect())
        }
        other => YamlValue::Plain(other.to_string()),
    }
}

/// Returns a text that a manifest takes as it is, without expressions in it.
fn literal(text: &str) -> String {
    literal_braces(text).replace("${", "\\${")
}

/// Returns a text for a shell that a manifest takes as it is: parameters of the shell are no expressions.
fn literal_braces(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
}

/// Returns the properties of a resource whose text is for a shell.
fn shell_properties(id: &ResourceId, session: &Session) -> Vec<&'static str> {
    let Ok(found) = session.type_named(&id.type_name) else { return Vec::new() };
    let of_shell = found.properties().iter().filter(|property| property.syntax == TextSyntax::Shell);
    of_shell.map(|property| property.name).collect()
}

/// Leaves out texts for a shell whose parameters have the names of expressions: no manifest can have them.
fn without_expression_names(id: &ResourceId, state: &mut ExportedState, session: &Session) {
    let shell_properties = shell_properties(id, session);
    let is_expression = |text: &str| EXPRESSION_NAMES.iter().any(|name| text.contains(&format!("${{{name}")));
    let has_form = |(name, value): &(&'static str, ExportedValue)| match value {
        ExportedValue::Json(Value::String(text)) => !shell_properties.contains(name) || !is_expression(text),
        _ => true,
    };
    let (kept, without_form): (Vec<_>, Vec<_>) =
        std::mem::take(&mut state.properties).into_iter().partition(has_form);
    state.properties = kept;
    let reason = "it has a parameter of the shell with the name of an expression";
    let remarks = without_form.into_iter();
    state
        .remarks
        .extend(remarks.map(|(property, _)| ExportRemark::Unread { property, reason: reason.to_owned() }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_hold_no_expressions() {
        assert_eq!(literal("a {{ b }} ${c} $d"), "a {{ \"{{\" }} b }} \\${c} $d");
    }

    #[test]
    fn only_short_text_stands_in_a_manifest() {
        assert_eq!(inline(b"a\tb\n").as_deref(), Some("a\tb\n"));
        for bytes in [&b"\xff"[..], b"a\0b", b"a\x1b[1m", &[b'a'; MAX_INLINE + 1]] {
            assert_eq!(inline(bytes), None);
        }
    }

    #[test]
    fn credentials_have_names_without_slashes() {
        let id = ResourceId::new("file", "/etc/app/db.conf");
        assert_eq!(credential_name(&id, "content"), "etc-app-db-conf-content");
    }
}
