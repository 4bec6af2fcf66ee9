//! The pure comparison of a file with a setting.

use super::ambiguity;
use super::desired::DesiredSetting;
use super::document::{Document, Setting};
use super::edit::{with_value, without};
use super::format::Format;
use super::placement::placement;
use crate::parts::text::{
    FilePart, PartChangeKind, PartConflict, PartPlan, PartTarget, TextLines, line_numbers,
};

impl FilePart for DesiredSetting {
    const NAME: &'static str = "setting";

    fn target(&self) -> &PartTarget {
        &self.target
    }

    fn texts(&self) -> Vec<&str> {
        let written = self.value.iter().chain(&self.text).map(String::as_str);
        let mut texts: Vec<&str> = written.filter(|text| !text.is_empty()).collect();
        texts.dedup();
        texts
    }

    fn plan(&self, content: &[u8]) -> Result<PartPlan, PartConflict> {
        let lines = TextLines::parse(content)?;
        let document = Document::read(&lines, &self.syntax)?;
        let (sections, found) = self.find(&document);
        if self.syntax.is_assumed {
            ambiguity::check(self, &lines, &document, &sections, &found)?;
        }
        let plan = match self.step(&found)? {
            Step::Keep => return Ok(PartPlan::Keep),
            Step::Remove => {
                let edits = found.iter().flat_map(|found| without(found, &lines)).collect();
                PartPlan::edit(lines, edits, PartChangeKind::Remove)
            }
            Step::Replace(found) => {
                let edits = with_value(found, self.text(), &lines, &self.syntax);
                PartPlan::edit(lines, edits, PartChangeKind::Replace)
            }
            Step::Add => {
                check_is_ini(content, &lines)?;
                self.add(lines, &document, &sections)
            }
        };
        if let PartPlan::Change(change) = &plan {
            self.check_result(&document, &change.content)?;
        }
        Ok(plan)
    }
}

/// Section, key and value of another setting.
type OtherSetting<'d> = (&'d [u8], Vec<u8>, Option<&'d [u8]>);

/// What is to be done with the settings that were found.
enum Step<'d> {
    Keep,
    Add,
    Replace(&'d Setting),
    Remove,
}

impl DesiredSetting {
    /// Returns the value as it is written.
    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns the sections with the setting, and the settings themselves.
    fn find<'d>(&self, document: &'d Document) -> (Vec<usize>, Vec<&'d Setting>) {
        let name = self.section_name();
        let is_used = |index: usize| document.settings.iter().any(|setting| setting.section == index);
        let is_section = |index: &usize| {
            let section = &document.sections[*index];
            section.name == name
                && match section.header {
                    Some(_) => !name.is_empty(),
                    // For Samba, the lines above the first header are a section that also has a name.
                    None => self.section.is_empty() || is_used(*index),
                }
        };
        let sections: Vec<usize> = (0..document.sections.len()).filter(is_section).collect();
        let key = self.syntax.key(self.key.as_bytes());
        let is_it =
            |setting: &&Setting| sections.contains(&setting.section) && self.syntax.key(&setting.key) == key;
        let mut found: Vec<&Setting> = document.settings.iter().filter(is_it).collect();
        // A line that sets another key for some programs is one of these if the key has a line of its own.
        if self.syntax.is_assumed && found.iter().any(|found| found.other_key.is_none()) {
            found.retain(|found| found.other_key.is_none());
        }
        (sections, found)
    }

    fn step<'d>(&self, found: &[&'d Setting]) -> Result<Step<'d>, PartConflict> {
        let Some(value) = self.value.as_deref().map(str::as_bytes) else {
            return Ok(if found.is_empty() { Step::Keep } else { Step::Remove });
        };
        let is_desired = |found: &&Setting| found.value.as_deref() == Some(value);
        let found = match self.syntax.format {
            Format::Systemd => of_systemd(found, value),
            // Samba leaves out a key without a value.
            Format::Samba if found.iter().any(|found| found.value.is_some()) => {
                found.iter().copied().filter(|found| found.value.is_some()).collect()
            }
            _ => found.to_vec(),
        };
        let counts_last = matches!(self.syntax.format, Format::Mysql | Format::Samba);
        match &found[..] {
            [] => Ok(Step::Add),
            all if all.iter().all(is_desired) => Ok(Step::Keep),
            [.., last] if counts_last && is_desired(last) => Ok(Step::Keep),
            [.., last] if counts_last => Ok(Step::Replace(last)),
            [one] => Ok(Step::Replace(one)),
            all => {
                let at: Vec<usize> = all.iter().map(|found| found.lines.start).collect();
                let message = format!("the key is set more than once: {}", line_numbers(&at));
                let hint = "remove all but one of these lines by hand, or manage them with `line` or `block`";
                Err(PartConflict::new(message, hint).of_property("key"))
            }
        }
    }

    /// Adds the setting to its section, or with its section to the end of the file.
    fn add(&self, lines: TextLines<'_>, document: &Document, sections: &[usize]) -> PartPlan {
        let text = format!("{}{}{}", self.key, self.syntax.separator, self.text());
        let text = text.trim_end();
        let key = self.syntax.key(self.key.as_bytes());
        if let Some(place) = placement(&key, sections, document, &lines, &self.syntax) {
            let new = [&place.indentation, text.as_bytes()].concat();
            return PartPlan::add(lines, &[place.before], &[&new]);
        }
        let header = format!("[{}]", self.section);
        // As git writes it.
        let text = if self.syntax.format == Format::Git { format!("\t{text}") } else { text.to_owned() };
        let needs_blank = lines.iter().next_back().is_some_and(|last| !last.trim_ascii().is_empty());
        let blank: &[&[u8]] = if needs_blank && self.syntax.format != Format::Git { &[b""] } else { &[] };
        let end = lines.len();
        PartPlan::add(lines, &[end], &[blank, &[header.as_bytes(), text.as_bytes()]].concat())
    }

    /// Checks that the program reads the new content as it is meant, and everything else as before.
    fn check_result(&self, before: &Document, content: &[u8]) -> Result<(), PartConflict> {
        let error = || {
            let message = "with this change, the program would read the file differently from what is meant";
            PartConflict::new(message, "manage the file with `line`, `block` or `file`").of_property("value")
        };
        let lines = TextLines::parse(content)?;
        let after = Document::read(&lines, &self.syntax)?;
        if self.others(before) != self.others(&after) {
            return Err(error());
        }
        let (sections, found) = self.find(&after);
        if self.syntax.is_assumed {
            ambiguity::check(self, &lines, &after, &sections, &found)?;
        }
        if matches!(self.step(&found)?, Step::Keep) { Ok(()) } else { Err(error()) }
    }

    /// Returns all other settings, as the program reads them.
    fn others<'d>(&self, document: &'d Document) -> Vec<OtherSetting<'d>> {
        let (name, key) = (self.section_name(), self.syntax.key(self.key.as_bytes()));
        let all = document.settings.iter().map(|setting| {
            let section = &*document.sections[setting.section].name;
            (section, self.syntax.key(&setting.key), setting.value.as_deref())
        });
        all.filter(|(section, found, _)| (*section, found) != (&*name, &key)).collect()
    }
}

/// Returns the settings that count: those below the last one that resets the key with an empty value. A key without a
/// value sets nothing, and is used if there is nothing else.
fn of_systemd<'d>(found: &[&'d Setting], value: &[u8]) -> Vec<&'d Setting> {
    let is_reset = |found: &&Setting| found.value.as_deref() == Some(b"");
    let reset = found.iter().rposition(is_reset);
    let below = &found[reset.map_or(0, |reset| reset + 1)..];
    let assigned: Vec<&Setting> = below.iter().copied().filter(|found| found.value.is_some()).collect();
    match (&assigned[..], below, reset) {
        ([], [.., last], _) if !value.is_empty() => vec![last],
        ([], _, Some(reset)) if value.is_empty() => vec![found[reset]],
        _ => assigned,
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

#[cfg(test)]
mod tests;
