//! What a manifest asks of a file, complete and checked.

use std::path::PathBuf;

use ccm_properties::PropertyError;

use super::properties::FileProperties;

/// What a path is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEnsure {
    Present,
    Absent,
    Directory,
}

/// Where content comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileContent {
    /// The manifest.
    Text(String),
    /// A file, absolute or relative to the directory of the manifest.
    Source(PathBuf),
}

/// What a manifest asks of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredFile {
    pub path: PathBuf,
    pub ensure: FileEnsure,
    pub content: Option<FileContent>,
    /// A name, or digits.
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: Option<u32>,
    pub force: bool,
    pub backup: bool,
    /// Nothing of the content is to be shown.
    pub sensitive: bool,
}

impl DesiredFile {
    /// Builds it, or says everything that is wrong.
    pub(crate) fn build(
        name: &str,
        ensure: Option<&str>,
        written: FileProperties,
    ) -> Result<Self, Vec<PropertyError>> {
        let ensure = match ensure {
            Some("absent") => FileEnsure::Absent,
            Some("directory") => FileEnsure::Directory,
            _ => FileEnsure::Present,
        };
        let mut errors: Vec<PropertyError> = name_error(name).into_iter().collect();
        let (force, backup) = (written.force.unwrap_or_default(), written.backup.unwrap_or_default());
        if written.content.is_some() && written.source.is_some() {
            let message = "`content` and `source` are both given";
            errors.push(PropertyError::new("source", message).with_hint("keep one of them"));
        }
        let given = [("content", written.content.is_some()), ("source", written.source.is_some())];
        for (property, _) in given.into_iter().filter(|(_, given)| *given) {
            let reason = match ensure {
                FileEnsure::Present => continue,
                FileEnsure::Absent => "what is absent has no content",
                FileEnsure::Directory => "a directory has no content of its own",
            };
            let word = if ensure == FileEnsure::Absent { "absent" } else { "directory" };
            let message = format!("`{property}` has no meaning with `ensure: {word}`");
            errors.push(PropertyError::new(property, message).with_hint(reason));
        }
        if force && ensure != FileEnsure::Absent {
            let message = "`force` has a meaning with `ensure: absent` only";
            errors.push(
                PropertyError::new("force", message)
                    .with_hint("it removes a directory with everything in it"),
            );
        }
        if force && backup {
            let message = "`backup` can't keep what `force` removes";
            let hint = "it keeps the content of one file; drop one of them";
            errors.push(PropertyError::new("backup", message).with_hint(hint));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mode = written.mode;
        Ok(Self {
            path: PathBuf::from(name),
            ensure,
            content: match (written.content, written.source) {
                (Some(text), _) => Some(FileContent::Text(text.0)),
                (None, Some(source)) => Some(FileContent::Source(source.0.into())),
                (None, None) => None,
            },
            owner: written.owner.map(|owner| owner.0),
            group: written.group.map(|group| group.0),
            mode: match ensure {
                FileEnsure::Directory => mode.map(super::values::FileMode::for_directory),
                _ => mode.map(|mode| mode.0),
            },
            force,
            backup,
            sensitive: written.sensitive.unwrap_or_default(),
        })
    }
}

/// The first part of an absolute path without which there is a shorter one.
fn redundant_part(path: &str) -> Option<&str> {
    // Parts are compared as bytes, which costs less than to look for a character.
    let odd =
        path.as_bytes()[1..].split(|byte| *byte == b'/').find(|part| matches!(*part, b"" | b"." | b".."))?;
    str::from_utf8(odd).ok()
}

/// What keeps a name from being the path of something that can be managed.
fn name_error(name: &str) -> Option<PropertyError> {
    let shown = name.escape_debug();
    let (message, hint) = if !name.starts_with('/') {
        (format!("`{shown}` is not an absolute path"), Some("the name of a file resource is its path"))
    } else if name.trim_matches('/').is_empty() {
        ("`/` can't be managed as a file".to_owned(), None)
    } else if name.contains('\0') {
        ("the name holds a NUL character".to_owned(), None)
    } else if name.ends_with('/') {
        (
            format!("the path `{shown}` ends with a slash"),
            Some("a directory is asked for with `ensure: directory`"),
        )
    } else if let Some(part) = redundant_part(name) {
        let what = if part.is_empty() { "`//`".to_owned() } else { format!("the part `{part}`") };
        (format!("the path `{shown}` holds {what}"), Some("write the shortest path that leads there"))
    } else {
        return None;
    };
    Some(hint.into_iter().fold(PropertyError::of_name(message), PropertyError::with_hint))
}
