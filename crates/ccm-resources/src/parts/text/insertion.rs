//! Places for new lines.

use ccm_properties::{PropertyError, Text};

use super::pattern::LinePattern;
use super::text_lines::TextLines;
use super::{PartConflict, line_numbers};

/// Place of new lines in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Insertion {
    End,
    After(LinePattern),
    Before(LinePattern),
}

impl Insertion {
    /// Checks `after` and `before`, neither of which is allowed for something that is to be absent.
    pub(crate) fn build(
        after: Option<Text>,
        before: Option<Text>,
        is_absent: bool,
        errors: &mut Vec<PropertyError>,
    ) -> Self {
        for (property, is_given) in [("after", after.is_some()), ("before", before.is_some())] {
            if is_absent && is_given {
                errors
                    .push(PropertyError::not_with_absent(property, "remove this property: nothing is added"));
            }
        }
        if after.is_some() && before.is_some() {
            let message = "`after` and `before` exclude each other";
            errors.push(PropertyError::conflict("before", message, "keep one of them"));
        }
        let after = LinePattern::build("after", after, errors);
        let before = LinePattern::build("before", before, errors);
        match (after, before) {
            (Some(pattern), _) => Self::After(pattern),
            (None, Some(pattern)) => Self::Before(pattern),
            (None, None) => Self::End,
        }
    }

    /// Returns the indices of the lines before which the new ones come. Without a match it is the end of the
    /// file. Several matches are an error unless `multiple` is set.
    pub(crate) fn indices(&self, lines: &TextLines<'_>, multiple: bool) -> Result<Vec<usize>, PartConflict> {
        let (pattern, property, distance) = match self {
            Self::End => return Ok(vec![lines.len()]),
            Self::After(pattern) => (pattern, "after", 1),
            Self::Before(pattern) => (pattern, "before", 0),
        };
        let found = lines.positions(pattern.matcher()?);
        match found.len() {
            0 => Ok(vec![lines.len()]),
            1 => Ok(vec![found[0] + distance]),
            _ if multiple => Ok(found.into_iter().map(|index| index + distance).collect()),
            _ => Err(several_matches(property, &found)),
        }
    }
}

/// Returns the error of a regular expression that matches several lines.
pub(crate) fn several_matches(property: &'static str, found: &[usize]) -> PartConflict {
    let message = format!("{} match `{property}`", line_numbers(found));
    PartConflict::new(message, "make the regular expression match one line alone").of_property(property)
}
