//! The desired block, complete and checked.

use ccm_model::Resource;
use ccm_properties::{PropertyError, Text};

use super::properties::BlockProperties;
use crate::parts::text::{Insertion, PartTarget, TargetProperties};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DesiredBlock {
    pub target: PartTarget,
    /// First and last line of the block.
    pub markers: [String; 2],
    /// Lines between them, each without a line end.
    pub lines: Vec<String>,
    pub insertion: Insertion,
}

impl DesiredBlock {
    /// Builds the block, or returns all errors.
    pub(crate) fn build(resource: &Resource, written: BlockProperties) -> Result<Self, Vec<PropertyError>> {
        let mut errors = Vec::new();
        let target = TargetProperties {
            path: written.path,
            create: written.create,
            backup: written.backup,
            sensitive: written.sensitive,
            validate: written.validate,
        };
        let is_absent = resource.is_absent();
        let target = PartTarget::build(resource, target, &mut errors);
        let name = &*resource.id.name;
        if name.contains(['\n', '\r', '\0']) || name.trim() != name {
            let message = "the name of a block is part of its marker lines, and must be one line without blanks around it";
            errors.push(PropertyError::of_name(message));
        }
        let comment = comment("comment", written.comment, "#", &mut errors);
        let comment_end = comment_end(written.comment_end, &mut errors);
        let markers = ["BEGIN", "END"].map(|word| format!("{comment} {word} ccm {name}{comment_end}"));
        match &written.content {
            Some(_) if is_absent => {
                errors.push(PropertyError::not_with_absent(
                    "content",
                    "remove `content`: the block is removed whole",
                ));
            }
            None if !is_absent => {
                errors.push(PropertyError::missing("content", "write `content`, the lines of the block"));
            }
            Some(content) => errors.extend(content_error(content, &markers)),
            None => {}
        }
        let insertion = Insertion::build(written.after, written.before, is_absent, &mut errors);
        let content = written.content.unwrap_or_default();
        match target {
            Some(target) if errors.is_empty() => {
                Ok(Self { target, markers, lines: content.lines().map(str::to_owned).collect(), insertion })
            }
            _ => Err(errors),
        }
    }
}

fn comment(
    property: &'static str,
    text: Option<Text>,
    default: &str,
    errors: &mut Vec<PropertyError>,
) -> String {
    let text = text.map_or_else(|| default.to_owned(), |text| text.0);
    if text.trim().is_empty() || text.contains(['\n', '\r', '\0']) {
        let message = format!("`{property}` must be the text of a comment on one line");
        errors.push(PropertyError::invalid(
            property,
            message,
            "write the text with which comments begin or end, such as `#` or `;`",
        ));
    }
    text.trim().to_owned()
}

fn comment_end(text: Option<Text>, errors: &mut Vec<PropertyError>) -> String {
    text.map(|text| format!(" {}", comment("comment_end", Some(text), "", errors))).unwrap_or_default()
}

fn content_error(content: &str, markers: &[String; 2]) -> Option<PropertyError> {
    let error = |message: &str, hint: &str| Some(PropertyError::invalid("content", message, hint));
    if content.contains('\0') {
        return error("the content contains a NUL character", "remove it");
    }
    if content.lines().any(|line| markers.iter().any(|marker| line.trim_end() == marker)) {
        return error(
            "the content contains a marker line of this block",
            "remove the line: ccm adds both marker lines",
        );
    }
    None
}
