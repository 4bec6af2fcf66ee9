//! Tables of programs: their options, operands and subcommands, and what these do.
//!
//! The files of `programs/` are compiled in. Each top-level key is a list of names; `mkfs.*` stands for each program
//! that begins so. An entry is parsed when its program is first seen, so that a start does not pay for all of them.

mod entry;
mod role;

use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use entry::{OptionSpec, OptionValue, ProgramEntry, ProgramSyntax};
pub(crate) use role::{ArgumentRole, OperandRole};

/// Files of entries.
const FILES: [&str; 11] = [
    include_str!("../programs/wrappers.yaml"),
    include_str!("../programs/interpreters.yaml"),
    include_str!("../programs/files.yaml"),
    include_str!("../programs/texts.yaml"),
    include_str!("../programs/archives.yaml"),
    include_str!("../programs/network.yaml"),
    include_str!("../programs/packages.yaml"),
    include_str!("../programs/containers.yaml"),
    include_str!("../programs/development.yaml"),
    include_str!("../programs/git.yaml"),
    include_str!("../programs/system.yaml"),
];

struct Slot {
    /// Text of the entry, its keys included.
    text: &'static str,
    entry: OnceLock<Option<Box<ProgramEntry>>>,
}

struct TableIndex {
    names: HashMap<&'static str, usize>,
    slots: Vec<Slot>,
}

/// Returns the entry of a program by its name without directories.
pub(crate) fn find(name: &str) -> Option<&'static ProgramEntry> {
    let name = match name {
        "[" => "test",
        ":" => "true",
        name => name,
    };
    let index = index();
    let slot = index.names.get(name).or_else(|| {
        let prefix = name.split_once('.').map(|(prefix, _)| prefix);
        let pattern = prefix.and_then(|prefix| index.names.get(&*format!("{prefix}.*")));
        pattern.or_else(|| {
            // `python3.12`, `perl5.36.0`, `php-8.3`, `gcc-13`.
            let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
            (plain != name).then(|| index.names.get(plain)).flatten()
        })
    })?;
    let slot = index.slots.get(*slot)?;
    slot.entry.get_or_init(|| entry::parse(slot.text).ok().map(Box::new)).as_deref()
}

fn index() -> &'static TableIndex {
    static INDEX: OnceLock<TableIndex> = OnceLock::new();
    INDEX.get_or_init(build)
}

/// Splits the files at their top-level keys.
fn build() -> TableIndex {
    let mut index = TableIndex { names: HashMap::with_capacity(1_024), slots: Vec::with_capacity(512) };
    for text in FILES {
        let mut starts: Vec<usize> = Vec::new();
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            if !line.starts_with([' ', '#', '\n']) {
                starts.push(offset);
            }
            offset += line.len();
        }
        for (position, start) in starts.iter().enumerate() {
            let end = starts.get(position + 1).copied().unwrap_or(text.len());
            let slice = &text[*start..end];
            let keys =
                slice.split_once(": ").or_else(|| slice.split_once(":\n")).map_or(slice, |(key, _)| key);
            let keys = keys.split_once(":\n").map_or(keys, |(key, _)| key);
            for name in keys.split(' ') {
                index.names.insert(name, index.slots.len());
            }
            index.slots.push(Slot { text: slice, entry: OnceLock::new() });
        }
    }
    index
}

/// Checks every entry, and returns the errors.
#[cfg(test)]
pub(crate) fn check() -> Vec<String> {
    let mut errors = Vec::new();
    let index = index();
    for slot in &index.slots {
        if let Err(error) = entry::parse(slot.text) {
            let first = slot.text.lines().next().unwrap_or_default();
            errors.push(format!("{first} {error}"));
        }
    }
    errors
}

/// Returns the names of all handlers.
#[cfg(test)]
pub(crate) fn handlers() -> Vec<&'static str> {
    fn collect(entry: &'static ProgramEntry, all: &mut Vec<&'static str>) {
        all.extend(entry.handler.as_deref());
        entry.subcommands.iter().for_each(|(_, entry)| collect(entry, all));
    }
    let mut all = Vec::new();
    for slot in &index().slots {
        let name = slot.text.split([' ', ':']).next().unwrap_or_default();
        if let Some(entry) = find(name) {
            collect(entry, &mut all);
        }
    }
    all
}

/// Returns the examples of every entry: the names of the program, the verdict and the command.
#[cfg(test)]
pub(crate) fn examples() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all = Vec::new();
    for slot in &index().slots {
        let name = slot.text.split([' ', ':']).next().unwrap_or_default();
        if let Some(entry) = find(name.trim_end_matches(".*")).or_else(|| find(&name.replace('*', "x"))) {
            all.extend(entry.examples.iter().map(|(verdict, text)| (name, &**verdict, &**text)));
        }
    }
    all
}

/// Returns the number of entries and of names.
#[cfg(test)]
pub(crate) fn count() -> (usize, usize) {
    (index().slots.len(), index().names.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_valid_and_has_examples() {
        assert_eq!(check(), Vec::<String>::new());
        let mut names: HashMap<&str, &str> = HashMap::new();
        for slot in &index().slots {
            let keys = slot.text.split(':').next().unwrap_or_default();
            for name in keys.split(' ') {
                assert_eq!(names.insert(name, keys), None, "{name} has two entries");
            }
            let entry = entry::parse(slot.text).unwrap();
            assert!(!entry.examples.is_empty(), "{keys} has no example");
        }
        let (entries, names) = count();
        assert!(entries >= 140 && names >= 400, "{entries} entries, {names} names");
    }

    #[test]
    fn versions_and_patterns_of_names_are_found() {
        for name in ["python3.12", "perl5.36.0", "mkfs.ext4", "gcc-13", "rm"] {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("no-such-program").is_none());
    }
}
