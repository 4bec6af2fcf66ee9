//! The desired file, complete and checked.

use std::path::{Path, PathBuf};

use ccm_host::is_temp_path;
use ccm_model::DiagnosticKind;
use ccm_properties::PropertyError;

use super::decide::REMOVE_SINGLY;
use super::properties::FileProperties;
use super::values::FileSource;
use crate::parts::tree::glob::TreeGlobs;
use crate::parts::tree::{Rendered, TreeRules};
use crate::parts::validator::ContentCheck;
use crate::support::values::canonical_path::redundant_part;
use crate::support::values::checksum::Checksum;
use crate::support::values::file_mode::FileMode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEnsure {
    Present,
    Absent,
    Directory,
    Link,
}

/// Origin of the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileContent {
    Text(String),
    /// Path of a local file, absolute or relative to the directory of the manifest.
    Source(PathBuf),
    /// File of a web server.
    #[cfg(feature = "archive")]
    Web(WebContent),
}

/// File of a web server with a known checksum.
#[cfg(feature = "archive")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebContent {
    pub url: ccm_fetch::HttpUrl,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredFile {
    pub path: PathBuf,
    pub ensure: FileEnsure,
    pub content: Option<FileContent>,
    /// Text of a link.
    pub link_target: Option<PathBuf>,
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: Option<u32>,
    pub force: bool,
    pub backup: bool,
    /// True if the content must not be shown.
    pub sensitive: bool,
    pub validators: Vec<ContentCheck>,
    /// Content of the directory. `None` if only the directory itself is managed.
    pub tree: Option<DesiredTree>,
}

/// Desired content of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DesiredTree {
    /// Path of the directory to copy, absolute or relative to the directory of the manifest.
    pub source: Option<PathBuf>,
    pub rendered: Rendered,
    pub rules: TreeRules,
}

impl DesiredFile {
    /// Returns `true` for content that is at hand without a download.
    pub(crate) fn has_local_content(&self) -> bool {
        match &self.content {
            Some(FileContent::Text(_) | FileContent::Source(_)) => true,
            #[cfg(feature = "archive")]
            Some(FileContent::Web(_)) => false,
            None => false,
        }
    }

    /// Builds the file, or returns all errors.
    pub(crate) fn build(
        name: &str,
        ensure: Option<&str>,
        mut written: FileProperties,
        rendered: Rendered,
    ) -> Result<Self, Vec<PropertyError>> {
        let ensure = match ensure {
            Some("absent") => FileEnsure::Absent,
            Some("directory") => FileEnsure::Directory,
            Some("link") => FileEnsure::Link,
            _ => FileEnsure::Present,
        };
        let mut errors: Vec<PropertyError> = name_error(name).into_iter().collect();
        if ensure != FileEnsure::Absent && is_temp_path(Path::new(name)) {
            let message = format!("`{}` is the name of a temporary file of ccm", name.escape_debug());
            let hint = "choose another name: ccm writes new content to names such as `.NAME.ccm-new`";
            errors.push(PropertyError::of_name(message).with_hint(hint));
        }
        let (force, backup) = (written.force.unwrap_or_default(), written.backup.unwrap_or_default());
        if written.content.is_some() && written.source.is_some() {
            let message = "`content` and `source` exclude each other";
            errors.push(PropertyError::conflict("source", message, "keep one of them"));
        }
        errors.extend(content_errors(ensure, &written));
        errors.extend(checksum_errors(ensure, &written));
        errors.extend(link_errors(ensure, &written));
        errors.extend(tree_errors(name, ensure, &written));
        let ignore = TreeGlobs::build("ignore", written.ignore.take(), &mut errors);
        let is_purged = ensure == FileEnsure::Directory && written.purge == Some(true);
        if force && !is_purged && !matches!(ensure, FileEnsure::Absent | FileEnsure::Link) {
            let message = "`force` is only allowed with `ensure: absent`, `ensure: link` or `purge`";
            errors.push(PropertyError::conflict(
                "force",
                message,
                "remove `force`: a file is replaced without it, and a directory is never replaced by a file",
            ));
        }
        if force && ensure == FileEnsure::Absent && Path::new(name).parent() == Some(Path::new("/")) {
            let message =
                format!("`force` does not remove `{}`, which is directly below `/`", name.escape_debug());
            errors.push(PropertyError::conflict(
                "force",
                message,
                format!("remove `force`, or {REMOVE_SINGLY}"),
            ));
        }
        let validators = ContentCheck::build(written.validate, &mut errors);
        if force && backup && ensure != FileEnsure::Link {
            let message = "`backup` and `force` exclude each other";
            let hint = "remove one of the two: `backup` keeps the content of a file, not of a directory";
            errors.push(PropertyError::conflict("backup", message, hint));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mode = written.mode;
        let rules = TreeRules {
            recurse: written.recurse.unwrap_or_default(),
            purge: written.purge.unwrap_or_default(),
            force,
            ignore,
            mode: mode.map(|mode| mode.0),
        };
        let is_directory = ensure == FileEnsure::Directory;
        let tree = DesiredTree {
            source: written.source.as_ref().filter(|_| is_directory).and_then(local_path),
            rendered,
            rules,
        };
        let is_tree = is_directory && (tree.source.is_some() || tree.rules.recurse || tree.rules.purge);
        Ok(Self {
            path: PathBuf::from(name),
            tree: is_tree.then_some(tree),
            ensure,
            content: match (written.content, written.source) {
                (Some(text), _) => Some(FileContent::Text(text.0)),
                (None, source) => {
                    source.filter(|_| !is_directory).and_then(|source| copied(source, written.checksum))
                }
            },
            link_target: written.target.map(|target| target.0.into()),
            owner: written.owner.map(|owner| owner.0),
            group: written.group.map(|group| group.0),
            mode: match ensure {
                FileEnsure::Directory => mode.map(FileMode::for_directory),
                _ => mode.map(|mode| mode.0),
            },
            force,
            backup,
            sensitive: written.sensitive.unwrap_or_default(),
            validators,
        })
    }
}

/// Returns the content that is copied. A URL has a checksum, which was checked before.
#[cfg_attr(
    not(feature = "archive"),
    expect(clippy::unnecessary_wraps, reason = "with downloads, a source may have none")
)]
fn copied(source: FileSource, checksum: Option<Checksum>) -> Option<FileContent> {
    #[cfg(not(feature = "archive"))]
    drop(checksum);
    match source {
        FileSource::Local(path) => Some(FileContent::Source(path.0.into())),
        #[cfg(feature = "archive")]
        FileSource::Web(url) => checksum.map(|sha256| FileContent::Web(WebContent { url, sha256: sha256.0 })),
    }
}

#[cfg_attr(
    not(feature = "archive"),
    expect(clippy::unnecessary_wraps, reason = "with downloads, a source may have none")
)]
fn local_path(source: &FileSource) -> Option<PathBuf> {
    match source {
        FileSource::Local(path) => Some(PathBuf::from(&path.0)),
        #[cfg(feature = "archive")]
        FileSource::Web(_) => None,
    }
}

/// Checks that a URL, and nothing else, has a checksum.
fn checksum_errors(ensure: FileEnsure, written: &FileProperties) -> Vec<PropertyError> {
    let is_web = written.source.as_ref().is_some_and(|source| local_path(source).is_none());
    if is_web && ensure == FileEnsure::Directory {
        let message = "`source` can't be a URL with `ensure: directory`";
        let hint = "use an `archive` with `extract_parent`";
        return vec![PropertyError::conflict("source", message, hint)];
    }
    match (is_web, &written.checksum) {
        (true, None) => {
            let message = "a URL as `source` needs `checksum`";
            let hint = "write the 64 hexadecimal digits that `sha256sum FILE` prints; without them, a run could not \
                        find out whether the file is the right one";
            vec![PropertyError::new(DiagnosticKind::Missing, "source", message).with_hint(hint)]
        }
        (false, Some(_)) => {
            let message = "`checksum` needs a URL as `source`";
            let error = PropertyError::new(DiagnosticKind::Conflict, "checksum", message);
            vec![error.with_hint("remove `checksum`: local content is compared as it is")]
        }
        _ => Vec::new(),
    }
}

impl FileEnsure {
    fn word(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Directory => "directory",
            Self::Link => "link",
        }
    }
}

/// Checks the properties of a directory with what is in it.
fn tree_errors(name: &str, ensure: FileEnsure, written: &FileProperties) -> Vec<PropertyError> {
    let conflict =
        |property, message: String| PropertyError::new(DiagnosticKind::Conflict, property, message);
    let mut errors = Vec::new();
    let given = [
        ("recurse", written.recurse.is_some()),
        ("purge", written.purge.is_some()),
        ("ignore", written.ignore.is_some()),
    ];
    for (property, _) in given.into_iter().filter(|(_, given)| *given && ensure != FileEnsure::Directory) {
        let message = format!("`{property}` is only allowed with `ensure: directory`");
        errors
            .push(conflict(property, message).with_hint("add `ensure: directory`, or remove this property"));
    }
    if ensure != FileEnsure::Directory {
        return errors;
    }
    let is_on = |flag: Option<bool>| flag == Some(true);
    if is_on(written.purge) && Path::new(name).parent() == Some(Path::new("/")) {
        let message =
            format!("`purge` is not allowed for `{}`, which is directly below `/`", name.escape_debug());
        errors.push(conflict("purge", message).with_hint("purge a directory in it"));
    }
    let is_tree = written.source.is_some() || is_on(written.purge) || is_on(written.recurse);
    if written.ignore.is_some() && !is_tree {
        let message = "`ignore` needs `source`, `recurse` or `purge`".to_owned();
        errors.push(
            conflict("ignore", message).with_hint("remove `ignore`: nothing in the directory is managed"),
        );
    }
    let has_attribute = written.owner.is_some() || written.group.is_some() || written.mode.is_some();
    if is_on(written.recurse) && !has_attribute {
        let message = "`recurse` needs `owner`, `group` or `mode`".to_owned();
        errors
            .push(conflict("recurse", message).with_hint("add what everything in the directory is to have"));
    }
    errors
}

/// Checks that content is given, and checked, only where there can be content.
fn content_errors(ensure: FileEnsure, written: &FileProperties) -> Vec<PropertyError> {
    let mut errors = Vec::new();
    let given = [("content", written.content.is_some()), ("source", written.source.is_some())];
    for (property, _) in given.into_iter().filter(|(_, given)| *given) {
        let reason = match ensure {
            FileEnsure::Present => continue,
            FileEnsure::Directory if property == "source" => continue,
            FileEnsure::Absent => "remove this property: an absent file has no content",
            FileEnsure::Directory => "remove this property: a directory has no content",
            FileEnsure::Link => "remove this property: manage the target with a resource of its own",
        };
        let word = ensure.word();
        let message = format!("`{property}` is not allowed with `ensure: {word}`");
        errors.push(PropertyError::conflict(property, message, reason));
    }
    let has_content = written.content.is_some() || written.source.is_some();
    if written.validate.is_some() && ensure == FileEnsure::Directory {
        let message = "`validate` is not allowed with `ensure: directory`";
        errors.push(PropertyError::conflict(
            "validate",
            message,
            "manage the file to check with a resource of its own",
        ));
    } else if written.validate.is_some() && !has_content {
        let message = "`validate` needs `content` or `source`";
        errors.push(PropertyError::conflict(
            "validate",
            message,
            "remove `validate`: there is no new content to check",
        ));
    }
    errors
}

/// Checks `target`, and the attributes that a link does not have.
fn link_errors(ensure: FileEnsure, written: &FileProperties) -> Vec<PropertyError> {
    if ensure != FileEnsure::Link {
        let message = "`target` is only allowed with `ensure: link`".to_owned();
        let hint = "add `ensure: link`, or remove `target`";
        return written
            .target
            .iter()
            .map(|_| PropertyError::conflict("target", message.clone(), hint))
            .collect();
    }
    let mut errors = Vec::new();
    if written.target.is_none() {
        errors.push(PropertyError::missing("target", "write `target`, the path that the link leads to"));
    }
    let attributes = [
        ("owner", written.owner.is_some()),
        ("group", written.group.is_some()),
        ("mode", written.mode.is_some()),
    ];
    for (property, _) in attributes.into_iter().filter(|(_, is_given)| *is_given) {
        let message = format!("`{property}` is not allowed with `ensure: link`");
        errors.push(PropertyError::conflict(
            property,
            message,
            "manage the target with a resource of its own",
        ));
    }
    errors
}

fn name_error(name: &str) -> Option<PropertyError> {
    let shown = name.escape_debug();
    let (message, hint) = if !name.starts_with('/') {
        (
            format!("`{shown}` is not an absolute path"),
            Some("write the full path: the name of a file resource is its path"),
        )
    } else if name.trim_matches('/').is_empty() {
        ("`/` cannot be managed as a file".to_owned(), None)
    } else if name.contains('\0') {
        ("the name contains a NUL character".to_owned(), None)
    } else if name.ends_with('/') {
        (
            format!("the path `{shown}` ends with a slash"),
            Some("remove the slash, and use `ensure: directory` for a directory"),
        )
    } else if let Some(part) = redundant_part(name) {
        let what = if part.is_empty() { "`//`".to_owned() } else { format!("the part `{part}`") };
        (format!("the path `{shown}` contains {what}"), Some("write the shortest form of the path"))
    } else {
        return None;
    };
    Some(hint.into_iter().fold(PropertyError::of_name(message), PropertyError::with_hint))
}
