//! The file with the locale of the machine, and the list of locales to generate.

use crate::parts::text::{TextFile, shown};

/// Returns the value of a variable in a file of assignments.
pub(super) fn value(file: &TextFile, variable: &str) -> Option<String> {
    last_assignment(file, variable).map(|(_, value)| value)
}

/// Returns the last line that assigns a variable, which counts: its index, and the value.
pub(super) fn last_assignment(file: &TextFile, variable: &str) -> Option<(usize, String)> {
    let lines = file.iter().map(assignment).enumerate();
    let found =
        lines.filter_map(|(index, found)| Some((index, found.filter(|(name, _)| *name == variable)?.1)));
    found.last().map(|(index, value)| (index, shown(value).trim().trim_matches(['"', '\'']).to_owned()))
}

/// Returns the content with these values. A variable has one line afterwards.
pub(super) fn with_values(file: &TextFile, values: &[(&str, &str)]) -> Vec<u8> {
    let new: Vec<String> = values.iter().map(|(variable, value)| format!("{variable}={value}")).collect();
    let mut lines = file.lines();
    for ((variable, _), line) in values.iter().zip(&new) {
        let is_its = |text: &[u8]| assignment(text).is_some_and(|(name, _)| name == *variable);
        lines.set(is_its, Some(line.as_bytes()));
    }
    lines.into_content()
}

/// Returns the name and the value of an assignment. The name is text.
fn assignment(line: &[u8]) -> Option<(&str, &[u8])> {
    let (name, value) = line.split_at(memchr::memchr(b'=', line)?);
    let name = str::from_utf8(name).ok()?.trim().trim_start_matches("export ").trim();
    (!name.starts_with('#')).then(|| (name, &value[1..]))
}

/// Returns the line of the list for a locale, with its encoding. `supported` lists all that can be generated.
pub(super) fn generated_line(supported: &str, is_it: impl Fn(&str) -> bool) -> Option<&str> {
    supported.lines().map(str::trim).find(|line| line.split_whitespace().next().is_some_and(&is_it))
}

/// Returns the list with lines that may be there as comments.
pub(super) fn with_generated(list: &TextFile, new: &[&str]) -> Vec<u8> {
    let mut lines = list.lines();
    for line in new {
        let is_it = |text: &[u8]| {
            str::from_utf8(text).is_ok_and(|text| text.split_whitespace().eq(line.split_whitespace()))
        };
        if lines.iter().any(is_it) {
            continue;
        }
        match lines.positions(|text| text.strip_prefix(b"#").is_some_and(is_it)).first() {
            Some(comment) => lines.replace(*comment, line.as_bytes()),
            None => lines.append([line.as_bytes()]),
        }
    }
    lines.into_content()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_assignment_counts() {
        let file = TextFile::of("# LANG=x\nLANG=C\nLC_TIME=\"de_DE.UTF-8\"\n LANG='en_US.UTF-8'\n");
        assert_eq!(value(&file, "LANG").as_deref(), Some("en_US.UTF-8"));
        assert_eq!(value(&file, "LC_TIME").as_deref(), Some("de_DE.UTF-8"));
        assert_eq!(value(&file, "LC_ALL"), None);
        assert_eq!(
            with_values(&file, &[("LANG", "C.UTF-8"), ("LC_NAME", "C")]),
            b"# LANG=x\nLANG=C.UTF-8\nLC_TIME=\"de_DE.UTF-8\"\nLC_NAME=C\n"
        );
        assert_eq!(
            with_values(&TextFile::of(b"# caf\xe9\r\nLANG=\xe9\r\n"), &[("LANG", "C")]),
            b"# caf\xe9\r\nLANG=C\r\n"
        );
    }

    #[test]
    fn locales_are_generated_with_their_encoding() {
        let supported = "de_DE.UTF-8 UTF-8\nde_DE ISO-8859-1\n";
        let line = generated_line(supported, |name| name == "de_DE");
        assert_eq!(line, Some("de_DE ISO-8859-1"));
        let with = |list: &str, line| with_generated(&TextFile::of(list), &[line]);
        assert_eq!(with("# de_DE ISO-8859-1\n#  x\n", "de_DE ISO-8859-1"), b"de_DE ISO-8859-1\n#  x\n");
        assert_eq!(with("a A\n", "b B"), b"a A\nb B\n");
        assert_eq!(with("b  B\n", "b B"), b"b  B\n");
    }
}
