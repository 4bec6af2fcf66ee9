//! The pure comparison of a file with a block.

use std::ops::Range;

use ccm_model::ChangedLines;

use super::desired::DesiredBlock;
use crate::parts::text::{
    FilePart, PartChange, PartChangeKind, PartConflict, PartPlan, PartTarget, TextLines, line_numbers,
};

impl FilePart for DesiredBlock {
    const NAME: &'static str = "block";

    fn target(&self) -> &PartTarget {
        &self.target
    }

    fn texts(&self) -> Vec<&str> {
        self.lines.iter().map(String::as_str).collect()
    }

    fn plan(&self, content: &[u8]) -> Result<PartPlan, PartConflict> {
        let mut lines = TextLines::parse(content)?;
        let found = self.find(&lines)?;
        let [begin, end] = self.markers.each_ref().map(String::as_bytes);
        let desired: Vec<&[u8]> = self.lines.iter().map(String::as_bytes).collect();
        let Some(found) = found else {
            if self.target.is_absent {
                return Ok(PartPlan::Keep);
            }
            let before = self.insertion.indices(&lines, false)?;
            let block: Vec<&[u8]> = [begin].into_iter().chain(desired).chain([end]).collect();
            return Ok(PartPlan::add(lines, &before, &block));
        };
        if self.target.is_absent {
            return Ok(PartPlan::remove(lines, found.collect()));
        }
        let inner = found.start + 1..found.end - 1;
        if lines.iter().take(inner.end).skip(inner.start).eq(desired.iter().copied()) {
            return Ok(PartPlan::Keep);
        }
        let changed = changed_lines(&lines, inner.clone(), &desired);
        let at = found.collect();
        lines.splice(inner, desired);
        Ok(PartPlan::Change(PartChange {
            kind: PartChangeKind::Replace,
            content: lines.into_content(),
            at,
            lines: changed,
        }))
    }
}

/// Counts the lines between the equal ones at the beginning and at the end.
fn changed_lines(lines: &TextLines<'_>, inner: Range<usize>, desired: &[&[u8]]) -> ChangedLines {
    let old: Vec<&[u8]> = lines.iter().take(inner.end).skip(inner.start).collect();
    let start = old.iter().zip(desired).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..], &desired[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    ChangedLines { added: new.len() - end, removed: old.len() - end }
}

impl DesiredBlock {
    /// Returns the lines of the block with its markers; `None` if there are no markers. Markers that do not
    /// belong together are an error: ccm can't tell which lines are the block.
    fn find(&self, lines: &TextLines<'_>) -> Result<Option<Range<usize>>, PartConflict> {
        let [begins, ends] = self
            .markers
            .each_ref()
            .map(|marker| lines.positions(|line| line.trim_ascii() == marker.as_bytes()));
        let [begin, end] = &self.markers;
        let hint = "repair or remove the marker lines by hand";
        let error = |message: String| Err(PartConflict::new(message, hint));
        match (&begins[..], &ends[..]) {
            ([], []) => Ok(None),
            ([first], [last]) if first < last => Ok(Some(*first..*last + 1)),
            ([first], [last]) => error(format!(
                "the end of the block, on line {}, is above its beginning, on line {}",
                last + 1,
                first + 1
            )),
            ([_], []) => error(format!("{} is `{begin}`, but no line is `{end}`", line_numbers(&begins))),
            ([], [_]) => error(format!("{} is `{end}`, but no line is `{begin}`", line_numbers(&ends))),
            ([_, _, ..], _) => error(format!("the block begins more than once: {}", line_numbers(&begins))),
            (_, [_, _, ..]) => error(format!("the block ends more than once: {}", line_numbers(&ends))),
        }
    }
}

#[cfg(test)]
mod tests {
    use ccm_model::{Resource, ResourceId};

    use super::super::properties::BlockProperties;
    use super::*;
    use crate::parts::text::comparison_table::{GivenProperties, assert_rows};

    const TABLE: &str = include_str!("block_table.txt");

    #[test]
    fn blocks_are_found_by_their_markers() {
        let rows = assert_rows(TABLE, |properties| {
            let written = BlockProperties {
                path: Some(GivenProperties::path()),
                content: properties.text("content"),
                comment: properties.text("comment"),
                comment_end: properties.text("comment_end"),
                after: properties.text("after"),
                before: properties.text("before"),
                ..BlockProperties::default()
            };
            let id = ResourceId::new("block", "b");
            DesiredBlock::build(&Resource { id, ..properties.resource() }, written)
        });
        assert!(rows >= 25, "{rows} rows");
    }

    #[test]
    fn only_changed_lines_of_a_block_are_counted() {
        let lines = TextLines::parse(b"a\nb\nc\nd\n").unwrap();
        for (desired, added, removed) in [
            ("a b c d", 0, 0),
            ("a x c d", 1, 1),
            ("a b c d e", 1, 0),
            ("b c d", 0, 1),
            ("x", 1, 4),
            ("a a d", 1, 2),
        ] {
            let desired: Vec<&[u8]> = desired.split(' ').map(str::as_bytes).collect();
            assert_eq!(changed_lines(&lines, 0..4, &desired), ChangedLines { added, removed });
        }
    }
}
