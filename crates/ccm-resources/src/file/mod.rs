//! The file resource: a file or a directory with its content and attributes, or none.

mod decide;
mod diff;
mod posix;
mod properties;
mod rules;
mod state;
mod values;
mod wanted;

use ccm_engine::{Managed, Provider, ResourceType, bind};
use ccm_host::Host;
use ccm_model::{
    Checked, Claim, ClaimKind, Diagnostic, Failure, MissingKind, PathKind, Resource, TypeSpec, decode,
};
use schemars::{Schema, SchemaGenerator};

use crate::mistakes::{COMMON, Mistake, as_failure, computed_octal};
use decide::FileResource;
use posix::Posix;
use properties::FileProperties;
use wanted::{Content, File};

/// The type `file`.
#[derive(Debug)]
pub(crate) struct FileType;

static PROVIDERS: [&'static dyn Provider<FileResource>; 1] = [&Posix];

impl TypeSpec for FileType {
    fn name(&self) -> &'static str {
        "file"
    }

    fn summary(&self) -> &'static str {
        "Manages a file or a directory: its content, owner, group and mode."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent", "directory"]
    }

    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "dir" | "folder" => Some("did you mean `directory`?"),
            "file" | "exists" => Some("did you mean `present`?"),
            "link" | "symlink" => Some("links can't be managed in this version"),
            _ => None,
        }
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn template_source(&self) -> Option<(&'static str, &'static str)> {
        Some(("source", "content"))
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let path = &*resource.id.name;
        let has_content = ["content", "source"].iter().any(|name| resource.properties.get(name).is_some());
        vec![match resource.ensure.as_ref().map(|ensure| &*ensure.value) {
            Some("directory") => Claim::path(path, PathKind::Directory),
            Some("absent") => Claim::path(path, PathKind::Nothing),
            _ if has_content => Claim::path(path, PathKind::Other),
            // Others may manage what is in a file of which this manages the attributes alone.
            _ => Claim::shared(ClaimKind::Path, path),
        }]
    }

    fn may_provide(&self, resource: &Resource, missing: MissingKind) -> bool {
        let is_absent = resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "absent");
        !is_absent || missing.may_be_by_removal()
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let computed_mode = computed_octal(checked.resource, "mode", "0644");
        let mut diagnostics = match decode::<FileProperties>(&checked.resource.properties, COMMON) {
            Ok(properties) => match build(checked.resource, properties) {
                Ok(file) => readable_by_all(&file, checked).into_iter().collect(),
                Err(mistakes) => mistakes.into_iter().map(|mistake| mistake.at(checked)).collect(),
            },
            Err(diagnostics) => diagnostics,
        };
        if let Some(mistake) = computed_mode {
            // What else there is to say of it comes from the wrong base.
            diagnostics.retain(|other| other.span() != mistake.span());
            diagnostics.push(mistake);
        }
        diagnostics.sort_by_key(Diagnostic::span);
        diagnostics
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<FileProperties>()
    }
}

impl ResourceType for FileType {
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn Managed>, Failure> {
        if let Some(mistake) = computed_octal(resource, "mode", "0644") {
            return Err(as_failure(vec![mistake]));
        }
        let properties = decode::<FileProperties>(&resource.properties, COMMON).map_err(as_failure)?;
        let file = build(resource, properties)
            .map_err(|mistakes| as_failure(mistakes.into_iter().map(Mistake::without_place).collect()))?;
        bind(file, resource.provider.as_ref().map(|provider| &*provider.value), &PROVIDERS, host)
    }
}

/// Warns of a secret that everybody could read once the file is made.
fn readable_by_all(file: &File, checked: &Checked<'_>) -> Option<Diagnostic> {
    let content = file.content.as_ref().filter(|_| file.mode.is_none())?;
    let is_secret = |text: &String| checked.secrets.iter().any(|secret| text.contains(secret));
    let (property, what) = match content {
        _ if file.sensitive => ("sensitive", "this is sensitive"),
        Content::Text(text) if is_secret(text) => ("content", "this holds a sensitive value"),
        _ => return None,
    };
    let place = checked.resource.properties.get(property).map_or(checked.resource.span, |node| node.span);
    let message = format!("{what}, and without `mode` the file is made with 0644, which everybody can read");
    Some(Diagnostic::warning(place, message).with_hint("set `mode: \"0600\"`"))
}

fn build(resource: &Resource, properties: FileProperties) -> Result<File, Vec<Mistake>> {
    let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
    File::build(&resource.id.name, ensure, properties)
}
