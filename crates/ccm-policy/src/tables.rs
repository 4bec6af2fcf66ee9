//! Tables of programs: their options, operands and subcommands, and what these do.
//!
//! The files of `programs/` are compiled in. Each top-level key is a list of names; `mkfs.*` stands for each program
//! that begins so. An entry is parsed when its program is first seen, so that a start does not pay for all of them.

mod entry;
mod index;
mod role;
mod special_role;

use std::sync::OnceLock;

pub(crate) use entry::{OptionSpec, OptionValue, ProgramEntry, ProgramSyntax};
pub(crate) use role::{ArgumentRole, OperandRole};
pub(crate) use special_role::SpecialRole;

use index::position;

/// Returns the entry of a program by its name without directories.
pub(crate) fn find(name: &str) -> Option<&'static ProgramEntry> {
    static PARSED: [OnceLock<Option<Box<ProgramEntry>>>; index::COUNT] =
        [const { OnceLock::new() }; index::COUNT];
    let name = match name {
        "[" => "test",
        ":" => "true",
        name => name,
    };
    let found = position(name).or_else(|| {
        let prefix = name.split_once('.').map(|(prefix, _)| prefix);
        let pattern = prefix.and_then(|prefix| position(&format!("{prefix}.*")));
        pattern.or_else(|| {
            // `python3.12`, `perl5.36.0`, `php-8.3`, `gcc-13`.
            let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
            (plain != name).then(|| position(plain)).flatten()
        })
    })?;
    let parse = || entry::parse(index::ENTRIES[found].text()).ok().map(Box::new);
    PARSED[found].get_or_init(parse).as_deref()
}

/// Checks every entry, and returns the errors.
#[cfg(test)]
pub(crate) fn check() -> Vec<String> {
    let mut errors = Vec::new();
    for entry in &index::ENTRIES {
        if let Err(error) = entry::parse(entry.whole()) {
            errors.push(format!("{} {error}", keys(entry.whole())));
        }
    }
    errors
}

/// Returns the keys of an entry: the names of its programs.
#[cfg(test)]
fn keys(entry: &'static str) -> &'static str {
    entry.split(':').next().unwrap_or_default()
}

/// Returns the names of all handlers.
#[cfg(test)]
pub(crate) fn handlers() -> Vec<String> {
    fn collect(entry: &ProgramEntry, all: &mut Vec<String>) {
        all.extend(entry.handler.as_deref().map(str::to_owned));
        entry.subcommands.iter().for_each(|(_, entry)| collect(entry, all));
    }
    let mut all = Vec::new();
    for entry in &index::ENTRIES {
        if let Ok(entry) = entry::parse(entry.text()) {
            collect(&entry, &mut all);
        }
    }
    all
}

/// Returns the examples of every entry: the first name of the program, the verdict and the command.
#[cfg(test)]
pub(crate) fn examples() -> Vec<(&'static str, Box<str>, Box<str>)> {
    let mut all = Vec::new();
    for entry in &index::ENTRIES {
        let name = keys(entry.whole()).split(' ').next().unwrap_or_default();
        if let Ok(entry) = entry::parse(entry.whole()) {
            all.extend(entry.examples.into_iter().map(|(verdict, text)| (name, verdict, text)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::verdict::{Caller, PolicyVerdict};

    #[test]
    fn every_entry_is_valid_and_has_examples() {
        assert_eq!(check(), Vec::<String>::new());
        let mut names: HashMap<&str, &str> = HashMap::new();
        for (position, text) in index::ENTRIES.iter().enumerate() {
            let keys = keys(text.whole());
            for name in keys.split(' ') {
                assert_eq!(names.insert(name, keys), None, "{name} has two entries");
                assert_eq!(index::position(name), Some(position), "{name}");
            }
            let mut entry = entry::parse(text.whole()).unwrap();
            assert!(!entry.examples.is_empty(), "{keys} has no example");
            // The examples are last, and left out at run time.
            assert!(!text.text().contains("examples:"), "{keys}");
            entry.examples.clear();
            assert_eq!(format!("{entry:?}"), format!("{:?}", entry::parse(text.text()).unwrap()), "{keys}");
        }
        assert!(index::COUNT >= 140 && names.len() >= 400, "{} entries, {} names", index::COUNT, names.len());
    }

    #[test]
    fn only_entries_that_ask_anyway_are_open() {
        fn open(entry: &ProgramEntry, asks: bool, name: &str, found: &mut Vec<String>) {
            let asks = asks
                || entry.does.iter().any(|class| class.default_verdict(Caller::Tool) > PolicyVerdict::Allow);
            if entry.is_open && !asks && entry.handler.is_none() {
                found.push(name.to_owned());
            }
            let inner = entry.subcommands.iter().map(|(names, entry)| (&*names[0], entry));
            for (inner, entry) in inner.chain(entry.otherwise.iter().map(|entry| ("", &**entry))) {
                open(entry, asks, &format!("{name} {inner}"), found);
            }
        }
        let mut found = Vec::new();
        for text in &index::ENTRIES {
            open(&entry::parse(text.text()).unwrap(), false, keys(text.whole()), &mut found);
        }
        // Scripts of the workspace may do anything.
        let known = ["configure config.status", "ccm", "perf sched"];
        found.retain(|name| !known.iter().any(|known| name.starts_with(known)));
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn versions_and_patterns_of_names_are_found() {
        for name in ["python3.12", "perl5.36.0", "mkfs.ext4", "gcc-13", "rm", "[", ":"] {
            assert!(find(name).is_some(), "{name}");
        }
        for name in ["no-such-program", "", "rm:", "rm ", "#"] {
            assert!(find(name).is_none(), "{name}");
        }
    }
}
