//! Drop-ins of units, and the settings in them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use ccm_host::{InspectOptions, TreeEntryKind, WalkStep};
use ccm_model::split_words;

use super::{TimerError, Timers};

/// Maximum size of a drop-in.
const MAX_DROP_IN: u64 = 1 << 20;
/// Target of a link that hides a drop-in of another directory.
const MASK: &str = "/dev/null";

/// Drop-in of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DropIn {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) mode: u32,
}

impl DropIn {
    /// Returns the name of the file, by which systemd sorts drop-ins.
    pub(super) fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

impl Timers<'_> {
    /// Returns the drop-ins of a unit, the more specific of its names first, in the order in which systemd reads them.
    pub(super) fn drop_ins(&self, names: &[&str]) -> Result<Vec<DropIn>, TimerError> {
        let mut found: BTreeMap<String, Option<DropIn>> = BTreeMap::new();
        let directories = [&self.paths.units].into_iter().chain(&self.paths.others);
        for directory in
            directories.flat_map(|above| names.iter().map(move |name| above.join(format!("{name}.d"))))
        {
            for (name, path, mode) in self.files_of(&directory)? {
                // The first directory hides a file of this name in the others.
                if let Entry::Vacant(vacant) = found.entry(name) {
                    vacant.insert(self.drop_in(path, mode)?);
                }
            }
        }
        Ok(found.into_values().flatten().collect())
    }

    /// Returns names, paths and modes of the drop-ins in a directory.
    fn files_of(&self, directory: &Path) -> Result<Vec<(String, PathBuf, u32)>, TimerError> {
        let files = &self.session.doors.files;
        let Ok(directory) = files.canonical(directory) else { return Ok(Vec::new()) };
        let entries = files.walk(&directory, &|_, _| WalkStep::List)?.unwrap_or_default();
        let is_file = |kind: &TreeEntryKind| matches!(kind, TreeEntryKind::File | TreeEntryKind::Link(_));
        let drop_ins = entries.into_iter().filter(|entry| is_file(&entry.kind)).filter_map(|entry| {
            let name = entry.path.to_str().filter(|name| !name.starts_with('.'))?;
            if entry.path.extension()? != "conf" {
                return None;
            }
            Some((name.to_owned(), directory.join(name), entry.mode))
        });
        Ok(drop_ins.collect())
    }

    /// Reads a drop-in; `None` for a link that hides another one.
    fn drop_in(&self, path: PathBuf, mode: u32) -> Result<Option<DropIn>, TimerError> {
        let files = &self.session.doors.files;
        let link = files.link_target(&path)?;
        if link.as_ref().is_some_and(|target| target == Path::new(MASK)) {
            return Ok(None);
        }
        let mode = match link {
            // That of the link says nothing about who can read the file.
            Some(_) => {
                files.inspect(&path, InspectOptions::default())?.target.map_or(mode, |found| found.mode)
            }
            None => mode,
        };
        let content = files.content(&path, MAX_DROP_IN)?;
        let text = content.and_then(|content| String::from_utf8(content).ok());
        let text = text.ok_or_else(|| TimerError::NoText(path.clone()))?;
        Ok(Some(DropIn { path, text, mode: mode & 0o777 }))
    }
}

/// Returns the settings of a section, in order. An empty value takes back those before it, which is left to the caller.
pub(super) fn settings(text: &str, section: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in whole_lines(text, " ") {
        if line.starts_with('[') {
            is_inside = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(section);
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_inside) {
            found.push((key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    found
}

/// Returns the lines that are no comments, each with those that continue it.
fn whole_lines(text: &str, joint: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut begun: Option<String> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        // A comment may stand between the parts of a line.
        if trimmed.starts_with(['#', ';']) || (trimmed.is_empty() && begun.is_none()) {
            continue;
        }
        let (part, goes_on) = match trimmed.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (trimmed, false),
        };
        let whole = begun.take().unwrap_or_default() + part;
        if goes_on { begun = Some(whole + joint) } else { lines.push(whole) }
    }
    lines.extend(begun);
    lines
}

/// Returns the variables in values of `Environment=`.
pub(super) fn assignments(value: &str) -> Vec<(String, String)> {
    let words = split_words(value).unwrap_or_default();
    words
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Returns the variables in a file for `EnvironmentFile=`.
pub(super) fn variables_of_file(text: &str) -> Vec<(String, String)> {
    let unquoted = |value: &str| {
        // Quotes within a value are a part of it.
        let is_quoted = value.starts_with(['"', '\'']);
        let words = is_quoted.then(|| split_words(value).ok()).flatten();
        words.map_or_else(|| value.to_owned(), |words| words.join(" "))
    };
    let assigned = whole_lines(text, "").into_iter().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        Some((name.trim().to_owned(), unquoted(value.trim())))
    });
    assigned.collect()
}

/// Replaces the specifiers that depend on the instance of a unit by their values.
pub(super) fn without_instance(text: &str, prefix: &str, instance: &str) -> String {
    let unescaped = |name: &str| name.replace('-', "/");
    let last = |name: &str| name.rsplit('-').next().unwrap_or_default().to_owned();
    let mut replaced = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '%' {
            replaced.push(next);
            continue;
        }
        match rest.next() {
            Some('i') => replaced += instance,
            Some('I') => replaced += &unescaped(instance),
            Some('f') => replaced += &format!("/{}", unescaped(instance)),
            Some('p') => replaced += prefix,
            Some('P') => replaced += &unescaped(prefix),
            Some('j') => replaced += &last(prefix),
            Some('J') => replaced += &unescaped(&last(prefix)),
            other => {
                replaced.push('%');
                replaced.extend(other);
            }
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(found: Vec<(String, String)>) -> Vec<String> {
        found.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn settings_of_a_section_are_read() {
        for (text, expected) in [
            ("[Service]\nA=1\n[Timer]\nB=2\n[Service]\n A = 3 \n", &["A=1", "A=3"][..]),
            ("A=1\n[Service]\n#B=2\n;C=3\nD=\n", &["D="]),
            ("[Service]\nA=1 \\\n# between\n  2\nB=x=y\n", &["A=1  2", "B=x=y"]),
            ("[Service]\nA=1\\", &["A=1"]),
            ("[Service\nA=1\n", &[]),
        ] {
            assert_eq!(pairs(settings(text, "Service")), expected, "{text}");
        }
    }

    #[test]
    fn variables_are_read_as_systemd_reads_them() {
        for (value, expected) in [
            ("A=1 B=2", &["A=1", "B=2"][..]),
            ("\"A=one two\" 'B=x'", &["A=one two", "B=x"]),
            ("A=\"one two\"", &["A=one two"]),
            ("", &[]),
        ] {
            assert_eq!(pairs(assignments(value)), expected, "{value}");
        }
        for (text, expected) in [
            ("A=1\n# B=2\n;C=3\n\n D = x y \n", &["A=1", "D=x y"][..]),
            ("A=\"x y\"\nB='--data \"a=b c\"'\nC=a\\\nb\n", &["A=x y", "B=--data \"a=b c\"", "C=ab"]),
            ("A='open\nB=2\nC=--data 'a=b c'\n", &["A='open", "B=2", "C=--data 'a=b c'"]),
            ("export\n", &[]),
        ] {
            assert_eq!(pairs(variables_of_file(text)), expected, "{text}");
        }
    }

    #[test]
    fn specifiers_of_an_instance_get_its_values() {
        for (text, expected) in [
            ("/etc/ccm/%i.yaml", "/etc/ccm/web-1.yaml"),
            ("%I %f %p %P %j %J", "web/1 /web/1 ccm-apply ccm/apply apply apply"),
            ("notify@%n.service %H %%i 50%", "notify@%n.service %H %%i 50%"),
            ("%", "%"),
        ] {
            assert_eq!(without_instance(text, "ccm-apply", "web-1"), expected, "{text}");
        }
    }
}
