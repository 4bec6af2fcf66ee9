//! Lines that programs read differently, if the manifest names no format.

use super::desired::DesiredSetting;
use super::document::{Document, Section, Setting, is_blank, is_comment, trim, trim_end};
use super::format::lowercase;
use super::ini_file::{section, setting};
use crate::parts::text::{PartConflict, TextLines, shown};

const WHICH_PROGRAM: &str =
    "set `format` to say which program reads the file, or write the value on one line by hand";
const WHICH_NAME: &str =
    "write the name as the file has it, or set `format` to say which program reads the file";

/// Checks that programs agree about a setting and about its section.
pub(super) fn check(
    desired: &DesiredSetting,
    lines: &TextLines<'_>,
    document: &Document,
    sections: &[usize],
    found: &[&Setting],
) -> Result<(), PartConflict> {
    let syntax = &desired.syntax;
    check_section_names(desired, document, sections)?;
    let key = desired.key.as_bytes();
    for one in found {
        if let Some(other) = &one.other_key {
            let message = format!(
                "line {} sets `{}` for some programs and `{}` for others",
                one.lines.start + 1,
                desired.key,
                shown(other)
            );
            return Err(PartConflict::new(message, WHICH_PROGRAM).of_property("key"));
        }
        if one.lines.len() > 1 || is_continued(lines, one.lines.start, desired) {
            return Err(continued(one.lines.start));
        }
        let above = one.lines.start.checked_sub(1);
        if let Some(above) = above.filter(|above| ends_with_continuation(lines.get(*above))) {
            return Err(continued(above));
        }
    }
    for setting_above in &document.settings {
        let within = setting_above.lines.clone().skip(1);
        for line in within.filter(|line| !setting_above.comments.contains(line)) {
            check_continuation(desired, lines.get(line), line, sections.contains(&setting_above.section))?;
        }
    }
    if !found.is_empty() {
        return Ok(());
    }
    let of_section = document.settings.iter().filter(|setting| sections.contains(&setting.section));
    let mut alike = of_section.clone().filter(|setting| lowercase(&setting.key) == lowercase(key));
    if let Some(alike) = alike.next() {
        let message = format!(
            "line {} sets `{}`, which differs from `{}` in upper and lower case alone",
            alike.lines.start + 1,
            shown(&alike.key),
            desired.key
        );
        return Err(PartConflict::new(message, WHICH_NAME).of_property("key"));
    }
    let last = of_section.clone().next_back().filter(|_| !desired.target.is_absent);
    match last.filter(|last| ends_with_continuation(lines.get(last.lines.end - 1))) {
        Some(last) if syntax.core() != "" => Err(continued(last.lines.end - 1)),
        _ => Ok(()),
    }
}

/// Checks that the name of the section is not another one for other programs.
fn check_section_names(
    desired: &DesiredSetting,
    document: &Document,
    sections: &[usize],
) -> Result<(), PartConflict> {
    let name = desired.section.as_bytes();
    let headers = || document.sections.iter().filter_map(|section| Some((section, section.header?)));
    let error = |message: String| Err(PartConflict::new(message, WHICH_NAME).of_property("section"));
    let is_ambiguous =
        |found: &Section| found.other_name.as_ref().is_some_and(|other| found.name == name || other == name);
    if let Some((found, header)) = headers().find(|(found, _)| is_ambiguous(found)) {
        let names =
            [Some(&found.name), found.other_name.as_ref()].map(|name| shown(name.map_or(&[], Vec::as_slice)));
        let [one, other] = names;
        return error(format!(
            "line {} begins the section `{one}` for some programs and `{other}` for others",
            header + 1
        ));
    }
    if !sections.is_empty() || name.is_empty() {
        return Ok(());
    }
    let form = |name: &[u8]| lowercase(trim(name));
    match headers().find(|(found, _)| form(&found.name) == form(name)) {
        Some((found, header)) => error(format!(
            "line {} begins the section `{}`, which differs from `{}` in blanks or upper and lower case alone",
            header + 1,
            shown(&found.name),
            desired.section
        )),
        None => Ok(()),
    }
}

/// Checks a line that continues the value above it for configparser, and stands for itself for others.
fn check_continuation(
    desired: &DesiredSetting,
    line: &[u8],
    index: usize,
    is_in_section: bool,
) -> Result<(), PartConflict> {
    let syntax = &desired.syntax;
    let message = if is_in_section
        && setting(line, index, 0, &syntax.delimiters)
            .is_some_and(|found| found.key == desired.key.as_bytes())
    {
        format!(
            "line {} sets the key for some programs, and continues the value above it for others",
            index + 1
        )
    } else if section(line, syntax).is_some_and(|name| name == desired.section.as_bytes()) {
        format!(
            "line {} begins the section for some programs, and continues the value above it for others",
            index + 1
        )
    } else {
        return Ok(());
    };
    Err(PartConflict::new(message, WHICH_PROGRAM).of_property("key"))
}

fn continued(line: usize) -> PartConflict {
    let message = format!("the value on line {} continues on the next line", line + 1);
    PartConflict::new(message, WHICH_PROGRAM).of_property("key")
}

/// Returns `true` if the backslash at the end of a line may continue it, and is not that of a path.
fn is_continued(lines: &TextLines<'_>, index: usize, desired: &DesiredSetting) -> bool {
    let line = lines.get(index);
    if !trim_end(line).ends_with(b"\\") {
        return false;
    }
    if ends_with_continuation(line) {
        return true;
    }
    let next = if index + 1 < lines.len() { lines.get(index + 1) } else { b"" };
    let syntax = &desired.syntax;
    let is_own = is_blank(next)
        || is_comment(next)
        || section(next, syntax).is_some()
        || !syntax.delimiters.is_empty()
            && setting(next, index + 1, 0, &syntax.delimiters).is_some_and(|found| found.value.is_some());
    !is_own
}

/// Returns `true` for a line whose last word is a backslash.
fn ends_with_continuation(line: &[u8]) -> bool {
    let line = trim_end(line);
    !is_comment(line)
        && line.strip_suffix(b"\\").is_some_and(|before| before.last().is_none_or(u8::is_ascii_whitespace))
}
