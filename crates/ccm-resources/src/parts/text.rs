//! Text files that ccm does not own alone.
//!
//! - [`TextFile`] is such a file as it was read, and [`TextLines`] its lines. Both are bytes: what ccm does not know
//!   stays as it is.
//! - [`FilePart`] is what lines, blocks and settings have in common. A type adds its properties and a pure function
//!   from the content of a file to the content with the part as desired.

mod cache;
#[cfg(test)]
pub(crate) mod comparison_table;
mod decide;
mod detached_part;
mod editor;
mod insertion;
#[cfg(test)]
mod lossy_text;
mod pattern;
mod rules;
mod state;
mod text_file;
mod text_lines;

use std::path::PathBuf;

use ccm_model::{ChangedLines, Claim, Diagnostic, Failure, Node, Resource, joined};
use ccm_properties::{OneOrMany, PropertyError, Text};

use crate::parts::unread_names;
use crate::parts::validator::ContentCheck;
use crate::support::values::canonical_path::{CanonicalPath, is_canonical};

pub(crate) use decide::PartKind;
pub(crate) use detached_part::{built, detached};
pub(crate) use editor::PartEditor;
pub(crate) use insertion::{Insertion, several_matches};
pub(crate) use pattern::LinePattern;
pub(crate) use text_file::{TextFile, check_encoding, read_text, replace};
pub(crate) use text_lines::{TextLines, has_line, lines, shown};

/// Maximum size of a file of which a part is managed.
const MAX_FILE: u64 = 64 << 20;

/// Part of a text file, complete and checked.
pub(crate) trait FilePart: 'static {
    /// Name of the type, which messages use for the part.
    const NAME: &'static str;

    /// Returns what the part has in common with those of other types.
    fn target(&self) -> &PartTarget;

    /// Returns the texts that nobody may see if the part is sensitive.
    fn texts(&self) -> Vec<&str>;

    /// Compares a file with the desired part. Pure.
    fn plan(&self, content: &[u8]) -> Result<PartPlan, PartConflict>;
}

/// File with the part, and how the part is managed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartTarget {
    pub resource_name: String,
    pub path: PathBuf,
    pub is_absent: bool,
    /// Makes a missing file.
    pub create: bool,
    pub backup: bool,
    pub sensitive: bool,
    pub validators: Vec<ContentCheck>,
}

/// Properties that all parts have, as the manifest writes them.
#[derive(Debug, Default)]
pub(crate) struct TargetProperties {
    pub path: Option<CanonicalPath>,
    pub create: Option<bool>,
    pub backup: Option<bool>,
    pub sensitive: Option<bool>,
    pub validate: Option<OneOrMany<Text>>,
}

impl PartTarget {
    /// Builds the target; `None` if there is no path.
    pub(crate) fn build(
        resource: &Resource,
        written: TargetProperties,
        errors: &mut Vec<PropertyError>,
    ) -> Option<Self> {
        let is_absent = resource.is_absent();
        if written.path.is_none() {
            errors.push(PropertyError::missing("path", "write `path`, the file to change"));
        }
        if is_absent && written.create == Some(true) {
            errors.push(PropertyError::not_with_absent("create", "remove `create`: nothing is made"));
        }
        let validators = ContentCheck::build(written.validate, errors);
        Some(Self {
            resource_name: resource.id.name.to_string(),
            path: written.path?.0,
            is_absent,
            create: written.create.unwrap_or_default(),
            backup: written.backup.unwrap_or_default(),
            sensitive: written.sensitive.unwrap_or_default(),
            validators,
        })
    }
}

/// Returns the claim on the file of a part. An invalid path is an error of its own.
pub(crate) fn path_claim(resource: &Resource) -> Option<Claim<'_>> {
    path_of(resource).map(Claim::part_of_file)
}

pub(crate) fn path_of(resource: &Resource) -> Option<&str> {
    resource.properties.get("path")?.as_text().filter(|path| is_canonical(path))
}

/// Returns the warning about a file that the program of its directory does not read, if the resource may make it.
pub(crate) fn unread_path(resource: &Resource) -> Option<Diagnostic> {
    let create = resource.properties.get("create").and_then(Node::as_text);
    let is_made = create.is_some_and(|create| create.eq_ignore_ascii_case("true"));
    let span = resource.properties.get("path").map(|node| node.span).filter(|_| is_made)?;
    unread_names::warning(path_of(resource)?, span)
}

/// Result of comparing a file with a desired part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartPlan {
    Keep,
    Change(PartChange),
}

/// Change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartChange {
    pub kind: PartChangeKind,
    /// The whole new content.
    pub content: Vec<u8>,
    /// Indices of the lines that are added, changed or removed.
    pub at: Vec<usize>,
    pub lines: ChangedLines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartChangeKind {
    Add,
    Replace,
    Remove,
}

impl PartPlan {
    /// Builds the addition of lines before these indices.
    pub(crate) fn add<'a>(mut lines: TextLines<'a>, before: &[usize], new: &[&'a [u8]]) -> Self {
        // From the end, so that the indices stay valid.
        for index in before.iter().rev() {
            lines.splice(*index..*index, new.iter().copied());
        }
        Self::Change(PartChange {
            kind: PartChangeKind::Add,
            content: lines.into_content(),
            at: before.to_vec(),
            lines: ChangedLines { added: before.len() * new.len(), removed: 0 },
        })
    }

    /// Builds the replacement of lines by one text.
    pub(crate) fn replace<'a>(mut lines: TextLines<'a>, at: Vec<usize>, text: &'a [u8]) -> Self {
        for index in &at {
            lines.replace(*index, text);
        }
        let changed = ChangedLines { added: at.len(), removed: at.len() };
        Self::Change(PartChange {
            kind: PartChangeKind::Replace,
            content: lines.into_content(),
            at,
            lines: changed,
        })
    }

    /// Builds a change of lines, whose order does not matter.
    pub(crate) fn edit(lines: TextLines<'_>, mut edits: LineEdits, kind: PartChangeKind) -> Self {
        edits.sort_unstable_by_key(|(line, _)| *line);
        let added = edits.iter().filter(|(_, new)| new.is_some()).count();
        let at: Vec<usize> = edits.iter().map(|(line, _)| *line).collect();
        let mut lines: TextLines<'_> = lines;
        for (line, new) in edits.iter().rev() {
            match new {
                Some(new) => lines.replace(*line, new),
                None => lines.splice(*line..*line + 1, []),
            }
        }
        let content = lines.into_content();
        let removed = at.len();
        Self::Change(PartChange { kind, content, at, lines: ChangedLines { added, removed } })
    }

    /// Builds the removal of lines.
    pub(crate) fn remove(mut lines: TextLines<'_>, at: Vec<usize>) -> Self {
        if at.is_empty() {
            return Self::Keep;
        }
        for index in at.iter().rev() {
            lines.splice(*index..*index + 1, []);
        }
        let removed = at.len();
        Self::Change(PartChange {
            kind: PartChangeKind::Remove,
            content: lines.into_content(),
            at,
            lines: ChangedLines { added: 0, removed },
        })
    }
}

/// New texts of lines by their indices; `None` removes a line.
pub(crate) type LineEdits = Vec<(usize, Option<Vec<u8>>)>;

/// Reason why a part of a file can't be brought to the desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartConflict {
    message: String,
    hint: &'static str,
    property: Option<&'static str>,
}

impl PartConflict {
    pub(crate) fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint, property: None }
    }

    pub(crate) fn of_property(self, property: &'static str) -> Self {
        Self { property: Some(property), ..self }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    fn failure(self, target: &PartTarget) -> Failure {
        let failure = Failure::conflict(self.message)
            .because_of(format!("\"{}\" can't be changed", target.path.display()))
            .with_hint(self.hint);
        self.property.into_iter().fold(failure, Failure::of_property)
    }
}

/// Maximum number of lines that a message names.
const MAX_NAMED: usize = 5;

/// Returns lines in words, such as `lines 3, 7 and 9` or `lines 3 to 9`.
pub(crate) fn line_numbers(indices: &[usize]) -> String {
    if let [first, _, .., last] = indices
        && last - first + 1 == indices.len()
    {
        return format!("lines {} to {}", first + 1, last + 1);
    }
    let numbers: Vec<String> = indices.iter().take(MAX_NAMED).map(|index| (index + 1).to_string()).collect();
    match &numbers[..] {
        [] => "no line".to_owned(),
        [one] => format!("line {one}"),
        all if indices.len() > all.len() => {
            format!("lines {} and {} more", all.join(", "), indices.len() - all.len())
        }
        all => format!("lines {}", joined(all, "and")),
    }
}

#[cfg(test)]
mod tests {
    use super::line_numbers;

    #[test]
    fn lines_are_named_shortly() {
        for (indices, named) in [
            (&[2][..], "line 3"),
            (&[2, 3], "lines 3 and 4"),
            (&[2, 3, 4], "lines 3 to 5"),
            (&[0, 2, 8], "lines 1, 3 and 9"),
            (&[0, 2, 4, 6, 8, 10, 12], "lines 1, 3, 5, 7, 9 and 2 more"),
        ] {
            assert_eq!(line_numbers(indices), named);
        }
    }
}
