//! Unit files: their directory, their text, and the answers of systemctl about them.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use ccm_host::{FileAttributes, FileError, FileStep, Files, InspectOptions, NewContent, NewFile};

use super::unit_words::systemd_word;

/// Directory of units that an administrator writes.
pub const SYSTEM_UNITS: &str = "/etc/systemd/system";

/// Directories of unit files that an administrator or a package writes.
pub const UNIT_DIRECTORIES: &[&str] = &[
    SYSTEM_UNITS,
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Further directories from which systemd loads units of the system: those of generators, and those until the next boot.
const FURTHER_DIRECTORIES: &[&str] = &[
    "/etc/systemd/system.control",
    "/etc/systemd/system.attached",
    "/run/systemd/system.control",
    "/run/systemd/system.attached",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/run/systemd/generator",
    "/run/systemd/generator.late",
];

/// Maximum size of a unit that is read. ccm writes shorter ones.
const MAX_UNIT: u64 = 1 << 20;
/// Mode of units, which systemd wants to be readable for everybody.
const UNIT_MODE: u32 = 0o644;

/// Returns the names of the two units of a timer: the service, then the timer.
pub fn timer_units(name: impl Display) -> [String; 2] {
    ["service", "timer"].map(|kind| format!("{name}.{kind}"))
}

/// Text of a unit file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct UnitText(String);

impl UnitText {
    /// Begins a text with comments, each line of which has its mark and its line end.
    pub fn new(comment: impl Into<String>) -> Self {
        Self(comment.into())
    }

    /// Begins a section.
    pub fn section(self, name: &str) -> Self {
        self.lines(&format!("[{name}]\n"))
    }

    /// Adds whole lines as they are.
    pub fn lines(mut self, lines: &str) -> Self {
        self.0 += lines;
        self
    }

    /// Adds a directive. A value can't leave its line, and has no specifiers of systemd.
    pub fn directive(self, name: &str, value: impl Display) -> Self {
        let value: String =
            value.to_string().chars().map(|part| if part.is_control() { '?' } else { part }).collect();
        self.lines(&format!("{name}={}\n", value.replace('%', "%%")))
    }

    /// Adds the command of a service.
    pub fn command<'w>(self, words: impl IntoIterator<Item = &'w str>) -> Self {
        let words: Vec<String> = words.into_iter().map(systemd_word).collect();
        self.lines(&format!("ExecStart={}\n", words.join(" ")))
    }

    /// Adds the times of a timer.
    pub fn times(self, times: impl IntoIterator<Item = impl Display>) -> Self {
        times.into_iter().fold(self, |text, time| text.directive("OnCalendar", time))
    }

    /// Returns the whole text.
    pub fn finish(self) -> String {
        self.0
    }
}

/// Returns the values of a directive of a unit, with commas between; `None` if the unit does not have it.
pub(crate) fn directive(unit: &str, name: &str) -> Option<String> {
    let values = unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let values: Vec<&str> = values.collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Content of the path of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitContent {
    /// Nothing is there.
    Missing,
    /// A link, by which systemd masks units, or a file that is too long for a unit.
    Foreign,
    /// A file.
    File(Vec<u8>),
}

/// Reads a unit.
pub fn read_unit(path: &Path, files: &dyn Files) -> Result<UnitContent, FileError> {
    let found = files.inspect(path, InspectOptions::default())?;
    if found.link {
        return Ok(UnitContent::Foreign);
    }
    if found.target.is_none() {
        return Ok(UnitContent::Missing);
    }
    match files.content(path, MAX_UNIT) {
        Ok(content) => Ok(content.map_or(UnitContent::Foreign, UnitContent::File)),
        Err(FileError::Step { step: FileStep::Read, source, .. })
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(UnitContent::Missing)
        }
        Err(error) => Err(error),
    }
}

/// Returns the path of a unit in another directory than [`SYSTEM_UNITS`]. One of the two units would hide the other.
pub fn unit_elsewhere(unit: &str, files: &dyn Files) -> Result<Option<PathBuf>, FileError> {
    let others = UNIT_DIRECTORIES.iter().chain(FURTHER_DIRECTORIES).filter(|other| **other != SYSTEM_UNITS);
    for path in others.map(|directory| Path::new(directory).join(unit)) {
        let found = files.inspect(&path, InspectOptions::default())?;
        if found.link || found.target.is_some() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Writes a unit.
pub fn write_unit(path: &Path, text: &str, files: &dyn Files) -> Result<(), FileError> {
    let attributes = FileAttributes { mode: Some(UNIT_MODE), ..FileAttributes::default() };
    files.write(path, &NewFile { content: NewContent::Bytes(text.as_bytes()), attributes }).map(drop)
}

/// Properties of a unit as `systemctl show` prints them.
pub type ShownUnit<'t> = HashMap<&'t str, &'t str>;

/// Reads what `systemctl show` prints: a block of properties for each unit, by its `Id`.
pub fn shown_units(printed: &str) -> HashMap<&str, ShownUnit<'_>> {
    let blocks = printed.split("\n\n");
    let units = blocks.map(|block| block.lines().filter_map(|line| line.split_once('=')).collect());
    units.filter_map(|unit: ShownUnit<'_>| Some((*unit.get("Id")?, unit))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_leaves_its_line() {
        let text = UnitText::new("# ccm\n")
            .section("Service")
            .directive("Description", "50 %\nExecStart=/bin/false\\")
            .command(["/bin/true", "50%", "a\nb"])
            .finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "# ccm",
                "[Service]",
                "Description=50 %%?ExecStart=/bin/false\\",
                "ExecStart=/bin/true \"50%%\" \"a\\nb\""
            ]
        );
    }

    #[test]
    fn units_are_found_by_their_id() {
        let shown = shown_units("Id=a.timer\nResult=success\n\nResult=none\n\nId=b.timer\nNext=a=b\n");
        assert_eq!(shown.len(), 2);
        assert_eq!((shown["a.timer"]["Result"], shown["b.timer"]["Next"]), ("success", "a=b"));
    }
}
