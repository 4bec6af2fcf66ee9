//! The pure comparison of a file with a setting.

use std::ops::Range;

use super::desired::DesiredSetting;
use super::ini_line::{SettingLine, indentation, is_comment, is_commented_out, section, setting};
use crate::parts::text::{FilePart, PartConflict, PartPlan, PartTarget, TextLines, line_numbers};

impl FilePart for DesiredSetting {
    const NAME: &'static str = "setting";

    fn target(&self) -> &PartTarget {
        &self.target
    }

    fn texts(&self) -> Vec<&str> {
        self.value.as_deref().filter(|value| !value.is_empty()).into_iter().collect()
    }

    fn plan(&self, content: &[u8]) -> Result<PartPlan, PartConflict> {
        let lines = TextLines::parse(content)?;
        let sections = self.sections(&lines);
        let indices = sections.iter().cloned().flatten();
        let found: Vec<(usize, SettingLine<'_>)> =
            indices.filter_map(|index| Some((index, self.setting(lines.get(index))?))).collect();
        for (index, setting) in &found {
            check_one_line(&lines, *index, setting, &self.separator)?;
        }
        let at: Vec<usize> = found.iter().map(|(index, _)| *index).collect();
        let Some(value) = &self.value else { return Ok(PartPlan::remove(lines, at)) };
        match &found[..] {
            [] => {
                check_is_ini(content, &lines)?;
                Ok(self.add(lines, &sections, value))
            }
            all if all.iter().all(|(_, found)| found.value == value.as_bytes()) => Ok(PartPlan::Keep),
            [(_, found)] => {
                let new = [found.start, value.as_bytes()].concat();
                let new = if value.is_empty() { new.trim_ascii_end() } else { &new };
                Ok(PartPlan::replace(lines, at, new))
            }
            _ => {
                let message = format!("the key is set more than once: {}", line_numbers(&at));
                let hint = "remove all but one of these lines by hand, or manage them with `line` or `block`";
                Err(PartConflict::new(message, hint).of_property("key"))
            }
        }
    }
}

impl DesiredSetting {
    /// Returns the lines of the section, without headers. A section may be there several times.
    fn sections(&self, lines: &TextLines<'_>) -> Vec<Range<usize>> {
        let mut sections = Vec::new();
        let mut start = self.section.is_empty().then_some(0);
        for (index, line) in lines.iter().enumerate() {
            if let Some(name) = section(line) {
                sections.extend(start.take().map(|start| start..index));
                start = (!self.section.is_empty() && name == self.section.as_bytes()).then_some(index + 1);
            }
        }
        sections.extend(start.map(|start| start..lines.len()));
        sections
    }

    fn setting<'a>(&self, line: &'a [u8]) -> Option<SettingLine<'a>> {
        setting(line, self.key.as_bytes(), &self.separator)
    }

    /// Adds the setting: below a comment that holds it, else at the end of its last section, else in a new
    /// section at the end of the file.
    fn add(&self, lines: TextLines<'_>, sections: &[Range<usize>], value: &str) -> PartPlan {
        let text = format!("{}{}{value}", self.key, self.separator.written);
        let text = text.trim_end();
        let is_commented_out =
            |index: &usize| is_commented_out(lines.get(*index), self.key.as_bytes(), &self.separator);
        let commented = sections.iter().cloned().flatten().find(is_commented_out);
        let Some(section) = sections.last() else {
            let header = format!("[{}]", self.section);
            let needs_blank = lines.iter().next_back().is_some_and(|last| !last.trim_ascii().is_empty());
            let blank: &[&[u8]] = if needs_blank { &[b""] } else { &[] };
            let end = lines.len();
            return PartPlan::add(lines, &[end], &[blank, &[header.as_bytes(), text.as_bytes()]].concat());
        };
        let is_blank = |index: &usize| lines.get(*index).trim_ascii().is_empty();
        let before = match commented {
            Some(index) => index + 1,
            None => {
                section.clone().rev().find(|index| !is_blank(index)).map_or(section.start, |last| last + 1)
            }
        };
        let is_setting = |index: &usize| !is_blank(index) && !is_comment(lines.get(*index));
        let neighbour = section.clone().rev().find(is_setting);
        let indentation = neighbour.map_or(&[][..], |index| indentation(lines.get(index)));
        let new = [indentation, text.as_bytes()].concat();
        PartPlan::add(lines, &[before], &[&new])
    }
}

/// Checks that a new line would not spoil a file of another format. A file whose settings are found is left to the
/// manifest, whatever else it holds.
fn check_is_ini(content: &[u8], lines: &TextLines<'_>) -> Result<(), PartConflict> {
    let first = lines.iter().map(<[u8]>::trim_ascii).find(|line| !line.is_empty()).unwrap_or_default();
    let what = match first {
        _ if memchr::memchr(0, content).is_some() => "holds binary data",
        [b'{', ..] | b"[" | b"[{" => "looks like JSON",
        [b'<', ..] => "looks like XML or HTML",
        [b'#', b'!', ..] => "is a script",
        b"---" => "looks like YAML",
        _ => return Ok(()),
    };
    let message = format!("the file {what}, and is not an ini-like file");
    let hint = "check `path`; manage such a file as a whole with `file`, or single lines with `line`";
    Err(PartConflict::new(message, hint).of_property("path"))
}

/// Checks that the value of a setting is on one line: else a change would leave the rest of it behind.
fn check_one_line(
    lines: &TextLines<'_>,
    index: usize,
    found: &SettingLine<'_>,
    separator: &super::desired::Separator,
) -> Result<(), PartConflict> {
    let next = if index + 1 < lines.len() { lines.get(index + 1) } else { &[] };
    let is_text = !next.trim_ascii().is_empty() && !is_comment(next) && section(next).is_none();
    let core = separator.core().as_bytes();
    let has_separator = !core.is_empty() && memchr::memmem::find(next, core).is_some();
    let is_deeper = indentation(next).len() > indentation(lines.get(index)).len();
    let is_continued = is_text && is_deeper && !has_separator && !core.is_empty();
    if found.value.ends_with(b"\\") || is_continued {
        let message = format!("the value on line {} continues on the next line", index + 1);
        let hint = "write the value on one line by hand, or manage it with `block`";
        return Err(PartConflict::new(message, hint).of_property("key"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::properties::SettingProperties;
    use super::*;
    use crate::parts::text::comparison_table::{GivenProperties, assert_rows};

    const TABLE: &str = include_str!("ini_setting_table.txt");

    #[test]
    fn settings_are_edited_as_by_ini_setting_but_for_listed_differences() {
        let rows = assert_rows(TABLE, |properties| {
            let written = SettingProperties {
                path: Some(GivenProperties::path()),
                section: properties.text("section"),
                key: properties.text("key"),
                value: properties.text("value"),
                separator: properties.text("separator"),
                ..SettingProperties::default()
            };
            DesiredSetting::build(&properties.resource(), written)
        });
        assert!(rows >= 25, "{rows} rows");
    }
}
