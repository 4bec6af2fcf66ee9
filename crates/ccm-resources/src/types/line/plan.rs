//! The pure comparison of a file with a line.

use super::desired::DesiredLine;
use crate::parts::text::{
    FilePart, PartConflict, PartPlan, PartTarget, TextLines, has_line, several_matches,
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
        let replaces_all = self.multiple && self.pattern.is_some();
        if !replaces_all && has_line(content, line) {
            return Ok(PartPlan::Keep);
        }
        let lines = TextLines::parse(content)?;
        if let Some(pattern) = &self.pattern {
            let matching = lines.positions(pattern.matcher()?);
            if matching.len() > 1 && !self.multiple {
                return Err(several_matches("match", &matching));
            }
            let differing: Vec<usize> =
                matching.iter().copied().filter(|index| lines.get(*index) != line).collect();
            if !differing.is_empty() {
                return Ok(PartPlan::replace(lines, differing, line));
            }
            if !matching.is_empty() || has_line(content, line) {
                return Ok(PartPlan::Keep);
            }
        }
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

#[cfg(test)]
mod tests {
    use super::super::properties::LineProperties;
    use super::*;
    use crate::parts::text::comparison_table::{GivenProperties, assert_rows};

    const TABLE: &str = include_str!("file_line_table.txt");

    #[test]
    fn lines_are_edited_as_by_file_line_but_for_listed_differences() {
        let rows = assert_rows(TABLE, |properties| {
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
        });
        assert!(rows >= 25, "{rows} rows");
    }
}
