//! The file resource: a file, directory or link with its content and attributes, or an absent path.

mod action;
mod content_change;
mod content_check;
mod decide;
mod desired;
mod details;
#[cfg(feature = "archive")]
mod download;
mod export;
mod link;
mod made_by_hand;
mod many;
mod new_content;
mod posix;
mod properties;
mod rules;
mod state;
mod values;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, PathKind, Resource, escape_control};
use ccm_properties::{
    CheckInput, CommandsView, Need, PropertyError, Providers, SourcesView, TreeSource, TreeTemplates,
    TypeSpec, TypedResource,
};

use crate::parts::validator::VALIDATE;
use crate::parts::{tree, unread_names};
use crate::support::values::checksum::Checksum;
use crate::support::values::file_mode::is_world_readable;
use decide::FileResource;
use desired::{DesiredFile, FileContent, FileEnsure};
use posix::Posix;
use properties::FileProperties;

#[derive(Debug)]
pub(crate) struct FileType;

impl TypedResource for FileType {
    type Written = FileProperties;
    type Desired = DesiredFile;
    type Provider = dyn DynProvider<FileResource>;

    const NAME: &'static str = "file";
    const SUMMARY: &'static str = "Manages a file, a directory with what is in it, or a symbolic link: content, owner, group, mode, target.";
    const ENSURES: &'static [&'static str] = &["present", "absent", "directory", "link"];
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &Posix)];

    fn build(resource: &Resource, mut written: FileProperties) -> Result<DesiredFile, Vec<PropertyError>> {
        // The error of an invalid source or checksum is enough.
        let is_invalid =
            |property, is_decoded: bool| !is_decoded && resource.properties.get(property).is_some();
        if is_invalid("source", written.source.is_some()) {
            written.checksum = None;
        } else if is_invalid("checksum", written.checksum.is_some()) {
            written.checksum = Some(Checksum(String::new()));
        }
        let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
        DesiredFile::build(&resource.id.name, ensure, written, tree::rendered(resource))
    }

    fn errors_in_context(file: &DesiredFile, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        world_readable_secret(file, checked).into_iter().collect()
    }

    fn warnings(file: &DesiredFile, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let of_name = literal_name(resource).or_else(|| skipped_file(file, resource));
        of_name.into_iter().chain(content_check::warning(file, checked)).collect()
    }
}

impl TypeSpec for FileType {
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "dir" | "folder" => Some("write `ensure: directory`"),
            "file" | "exists" => Some("write `ensure: present`"),
            "symlink" => Some("write `ensure: link`"),
            _ => None,
        }
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let named = |property| resource.properties.get(property).and_then(Node::as_text);
        let owner = named("owner").map(|owner| (ClaimKind::User, owner.into()));
        let group = named("group").map(|group| (ClaimKind::Group, group.into()));
        owner.into_iter().chain(group).collect()
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let path = &*resource.id.name;
        let has_content = ["content", "source"].iter().any(|name| resource.properties.get(name).is_some());
        vec![match resource.ensure.as_ref().map(|ensure| &*ensure.value) {
            // Other paths may lie behind a link, and come after it.
            Some("directory") => Claim::path(path, PathKind::Directory),
            Some("link") => Claim::path(path, PathKind::Link),
            Some("absent") => Claim::path(path, PathKind::Nothing),
            _ if has_content => Claim::path(path, PathKind::Other),
            // Others may manage the content of a file whose attributes alone are managed here.
            _ => Claim::shared(ClaimKind::Path, path),
        }]
    }

    fn reaches<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let is_directory = resource.ensure.as_ref().is_some_and(|ensure| &*ensure.value == "directory");
        let has = |property: &str| resource.properties.get(property).is_some();
        let fills = is_directory && ["source", "recurse", "purge"].into_iter().any(has);
        fills.then_some(&*resource.id.name).into_iter().collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&VALIDATE)
    }

    fn sources(&self) -> Option<&dyn SourcesView> {
        Some(self)
    }
}

impl SourcesView for FileType {
    fn template(&self) -> Option<(&'static str, &'static str)> {
        Some(("source", "content"))
    }

    fn tree(&self, ensure: Option<&str>) -> Option<TreeSource> {
        (ensure == Some("directory")).then_some(TreeSource {
            property: "source",
            templates: TreeTemplates::Named,
            data: None,
        })
    }

    fn purges<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        tree::purged(resource)
    }
}

/// Returns the warning about a name with wildcards, or with blanks at its ends: each name is one path, taken literally.
fn literal_name(resource: &Resource) -> Option<Diagnostic> {
    let name = &*resource.id.name;
    let (found, hint) = if has_wildcards(name) {
        ("wildcards", "name each file, such as with `foreach`")
    } else if name.trim() != name {
        ("a blank at its end", "write the path without the blank")
    } else {
        return None;
    };
    let message = format!("`{}` is one path with {found}, which is taken literally", escape_control(name));
    Some(Diagnostic::warning(DiagnosticKind::NoEffect, resource.span, message).with_hint(hint))
}

/// Returns the warning about a file that the program of its directory skips, because of its name or its mode.
fn skipped_file(file: &DesiredFile, resource: &Resource) -> Option<Diagnostic> {
    let (path, span) = (&*resource.id.name, resource.span);
    if !matches!(file.ensure, FileEnsure::Present | FileEnsure::Link) {
        return None;
    }
    unread_names::warning(path, span).or_else(|| {
        let mode = resource.properties.entry("mode").map_or(span, |entry| entry.key.span);
        file.content.as_ref().and_then(|_| unread_names::not_executable(path, file.mode, mode))
    })
}

fn has_wildcards(name: &str) -> bool {
    let encloses = |open, close, within: &str| {
        name.split_once(open)
            .and_then(|(_, rest)| rest.split_once(close))
            .is_some_and(|(inner, _)| within.is_empty() || inner.contains(within))
    };
    // `/usr/bin/[` is a program.
    name.contains(['*', '?']) || encloses('[', ']', "") || encloses('{', '}', ",")
}

/// Refuses a secret in a file that everybody can read.
fn world_readable_secret(file: &DesiredFile, checked: &CheckInput<'_>) -> Option<Diagnostic> {
    let content = file.content.as_ref().filter(|_| file.mode.is_none_or(is_world_readable))?;
    let is_secret = |text: &String| checked.secrets.iter().any(|secret| text.contains(secret));
    let (property, what) = match content {
        _ if file.sensitive => ("sensitive", "the content is sensitive"),
        FileContent::Text(text) if is_secret(text) => ("content", "the content holds a sensitive value"),
        _ => return None,
    };
    let span = checked.resource.properties.get(property).map_or(checked.resource.span, |node| node.span);
    let message = match file.mode {
        None => format!("{what}, but without `mode` everybody can read the new file (0644)"),
        Some(mode) => format!("{what}, but with `mode: {mode:04o}` everybody can read the file"),
    };
    Some(Diagnostic::error(DiagnosticKind::ExposedSecret, span, message).with_hint("set `mode: \"0600\"`"))
}
