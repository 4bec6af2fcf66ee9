//! The pure comparison of a file with a line.

use super::desired::DesiredLine;
use crate::parts::text::{
    FilePart, LineEdits, PartChangeKind, PartConflict, PartPlan, PartTarget, TextLines, has_line,
    line_numbers, several_matches,
};

impl FilePart for DesiredLine {
    const NAME: &'static str = "line";

    fn target(&self) -> &PartTarget {
        &self.target
    }

    fn texts(&self) -> Vec<&str> {
        self.line.as_deref().into_iter().collect()
    }

    fn plan(&self, content: &[u8]) -> Result<PartPlan, PartConflict> {
        match &self.line {
            Some(line) if !self.target.is_absent => self.present(line.as_bytes(), content),
            line => self.absent(line.as_deref().map(str::as_bytes), content),
        }
    }
}

impl DesiredLine {
    fn present(&self, line: &[u8], content: &[u8]) -> Result<PartPlan, PartConflict> {
        let Some(pattern) = &self.pattern else {
            if has_line(content, line) {
                return Ok(PartPlan::Keep);
            }
            return self.add(TextLines::parse(content)?, line);
        };
        let lines = TextLines::parse(content)?;
        let mut matching = lines.positions(pattern.matcher()?);
        let is_there = has_line(content, line);
        if is_there {
            // Comments may stay beside the line itself.
            matching.retain(|index| lines.get(*index) == line || !is_comment(lines.get(*index)));
        }
        let differing: Vec<usize> =
            matching.iter().copied().filter(|index| lines.get(*index) != line).collect();
        if self.multiple {
            return self.first_of(lines, &matching, &differing, line);
        }
        match (is_there, &differing[..]) {
            (true, []) => Ok(PartPlan::Keep),
            (true, others) => Err(beside_the_line(others)),
            (false, []) => self.add(lines, line),
            (false, [_]) => Ok(PartPlan::replace(lines, differing, line)),
            (false, several) => Err(several_matches("match", several)),
        }
    }

    /// Makes the first of these lines the line, and removes the others.
    fn first_of(
        &self,
        lines: TextLines<'_>,
        matching: &[usize],
        differing: &[usize],
        line: &[u8],
    ) -> Result<PartPlan, PartConflict> {
        let is_there = lines.iter().any(|found| found == line);
        let is_elsewhere = is_there && matching.len() == differing.len();
        let (first, others) = match matching {
            [] if !is_there => return self.add(lines, line),
            _ if differing.is_empty() => return Ok(PartPlan::Keep),
            all if is_elsewhere => (None, all),
            [first, others @ ..] => (Some(*first).filter(|first| differing.contains(first)), others),
            [] => return Ok(PartPlan::Keep),
        };
        let kind = if first.is_some() { PartChangeKind::Replace } else { PartChangeKind::Remove };
        let mut edits: LineEdits = first.into_iter().map(|first| (first, Some(line.to_vec()))).collect();
        edits.extend(others.iter().map(|other| (*other, None)));
        Ok(PartPlan::edit(lines, edits, kind))
    }

    fn add(&self, lines: TextLines<'_>, line: &[u8]) -> Result<PartPlan, PartConflict> {
        let before = self.insertion.indices(&lines, self.multiple)?;
        Ok(PartPlan::add(lines, &before, &[line]))
    }

    fn absent(&self, line: Option<&[u8]>, content: &[u8]) -> Result<PartPlan, PartConflict> {
        if line.is_some_and(|line| !has_line(content, line)) {
            return Ok(PartPlan::Keep);
        }
        let lines = TextLines::parse(content)?;
        if let Some(line) = line {
            let equal = lines.positions(|found| found == line);
            return Ok(PartPlan::remove(lines, equal));
        }
        let Some(pattern) = &self.pattern else { return Ok(PartPlan::Keep) };
        let matching = lines.positions(pattern.matcher()?);
        if matching.len() > 1 && !self.multiple {
            return Err(several_matches("match", &matching));
        }
        Ok(PartPlan::remove(lines, matching))
    }
}

/// Returns the error of lines that match beside the line itself: for some programs the first one counts.
fn beside_the_line(others: &[usize]) -> PartConflict {
    let (matches, differ) = if others.len() == 1 { ("matches", "differs") } else { ("match", "differ") };
    let others = line_numbers(others);
    let message = format!("{others} {matches} `match` and {differ} from the line, which is in the file");
    let hint = "remove the other lines by hand, or set `multiple: true` to remove them";
    PartConflict::new(message, hint).of_property("match")
}

fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [b'#' | b';', ..])
}

#[cfg(test)]
mod tests {
    use ccm_properties::PropertyError;

    use super::super::properties::LineProperties;
    use super::*;
    use crate::parts::text::comparison_table::{GivenProperties, assert_own_rows, assert_rows};

    const TABLE: &str = include_str!("file_line_table.txt");
    const OTHER_MATCHES: &str = include_str!("other_matches_table.txt");

    fn build(properties: &GivenProperties<'_>) -> Result<DesiredLine, Vec<PropertyError>> {
        let written = LineProperties {
            path: Some(GivenProperties::path()),
            line: properties.text("line"),
            r#match: properties.text("match"),
            after: properties.text("after"),
            before: properties.text("before"),
            multiple: properties.flag("multiple"),
            ..LineProperties::default()
        };
        DesiredLine::build(&properties.resource(), written)
    }

    #[test]
    fn lines_are_edited_as_by_file_line_but_for_listed_differences() {
        let rows = assert_rows(TABLE, build);
        assert!(rows >= 25, "{rows} rows");
    }

    #[test]
    fn lines_that_match_beside_the_line_are_errors_or_removed() {
        let rows = assert_own_rows(OTHER_MATCHES, build);
        assert!(rows >= 9, "{rows} rows");
    }
}
