//! The desired line, complete and checked.

use ccm_model::Resource;
use ccm_properties::PropertyError;

use super::properties::LineProperties;
use crate::parts::text::{Insertion, LinePattern, PartTarget, TargetProperties};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DesiredLine {
    pub target: PartTarget,
    /// `None` if lines that match are to be absent.
    pub line: Option<String>,
    pub pattern: Option<LinePattern>,
    pub insertion: Insertion,
    pub multiple: bool,
}

impl DesiredLine {
    /// Builds the line, or returns all errors.
    pub(crate) fn build(resource: &Resource, written: LineProperties) -> Result<Self, Vec<PropertyError>> {
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
        let line = written.line.map(|line| without_line_end(line.0));
        match &line {
            Some(line) => errors.extend(line_error(line)),
            None if is_absent && written.r#match.is_some() => {}
            None if is_absent => errors.push(PropertyError::missing("line", "write `line` or `match`")),
            None => errors.push(PropertyError::missing("line", "write `line`, the text of the line")),
        }
        if is_absent && line.is_some() && written.r#match.is_some() {
            let message = "`line` and `match` exclude each other with `ensure: absent`";
            let hint = "keep `line` to remove equal lines, or `match` to remove a line that matches";
            errors.push(PropertyError::conflict("match", message, hint));
        }
        let pattern = LinePattern::build("match", written.r#match, &mut errors);
        let insertion = Insertion::build(written.after, written.before, is_absent, &mut errors);
        match target {
            Some(target) if errors.is_empty() => {
                Ok(Self { target, line, pattern, insertion, multiple: written.multiple.unwrap_or_default() })
            }
            _ => Err(errors),
        }
    }
}

/// Returns the reference to a group in a line that replaces others, such as `\1`, which is written as it is.
pub(super) fn group_reference(line: &DesiredLine) -> Option<String> {
    let text = line.line.as_deref().filter(|_| line.pattern.is_some())?;
    let digit = text
        .match_indices('\\')
        .find_map(|(at, _)| text[at + 1..].chars().next().filter(char::is_ascii_digit))?;
    Some(format!("\\{digit}"))
}

/// Returns a text without the line end that a block of YAML adds.
fn without_line_end(mut line: String) -> String {
    if line.ends_with('\n') {
        line.pop();
    }
    line
}

fn line_error(line: &str) -> Option<PropertyError> {
    let error = |message: &str, hint: &str| Some(PropertyError::invalid("line", message, hint));
    if line.is_empty() {
        error("the line is empty", "write the text of the line")
    } else if line.contains(['\n', '\r']) {
        error("the line contains a line end", "write a resource for each line, or use `block`")
    } else if line.contains('\0') {
        error("the line contains a NUL character", "remove it")
    } else {
        None
    }
}
