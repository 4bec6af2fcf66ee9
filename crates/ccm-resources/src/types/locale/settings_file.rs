//! The file with the locale of the machine, and the list of locales to generate.

use crate::support::system_file::edited;

/// Returns the value of a variable in a file of assignments.
pub(super) fn value<'t>(content: &'t str, variable: &str) -> Option<&'t str> {
    content.lines().rev().filter_map(assignment).find(|(name, _)| *name == variable).map(|(_, value)| value)
}

/// Returns the content with these values. A variable has one line afterwards.
pub(super) fn with_values(content: &str, values: &[(&str, &str)]) -> String {
    let mut content = content.to_owned();
    for (variable, value) in values {
        let line = format!("{variable}={value}");
        let mut new_line = Some(line.clone());
        let edit = |text: &str| {
            let is_its = assignment(text).is_some_and(|(name, _)| name == *variable);
            is_its.then(|| new_line.take().unwrap_or_default())
        };
        content = edited(&content, edit, String::new);
        if new_line.is_some() {
            content = edited(&content, |_| None, || line);
        }
    }
    content
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().split_once('=')?;
    let name = name.trim_start_matches("export ").trim();
    (!name.starts_with('#')).then(|| (name, value.trim().trim_matches(['"', '\''])))
}

/// Returns the line of the list for a locale, with its encoding. `supported` lists all that can be generated.
pub(super) fn generated_line(supported: &str, is_it: impl Fn(&str) -> bool) -> Option<&str> {
    supported.lines().map(str::trim).find(|line| line.split_whitespace().next().is_some_and(&is_it))
}

/// Returns the list with a line that may be there as a comment.
pub(super) fn with_generated(list: &str, line: &str) -> String {
    let is_it = |text: &str| text.split_whitespace().eq(line.split_whitespace());
    if list.lines().any(is_it) {
        return list.to_owned();
    }
    let mut new_line = Some(line.to_owned());
    let edit = |text: &str| {
        let is_its = text.strip_prefix('#').is_some_and(is_it);
        if is_its { new_line.take() } else { None }
    };
    let content = edited(list, edit, String::new);
    match new_line {
        Some(line) => edited(&content, |_| None, || line),
        None => content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_assignment_counts() {
        let content = "# LANG=x\nLANG=C\nLC_TIME=\"de_DE.UTF-8\"\n LANG='en_US.UTF-8'\n";
        assert_eq!(value(content, "LANG"), Some("en_US.UTF-8"));
        assert_eq!(value(content, "LC_TIME"), Some("de_DE.UTF-8"));
        assert_eq!(value(content, "LC_ALL"), None);
        assert_eq!(
            with_values(content, &[("LANG", "C.UTF-8"), ("LC_NAME", "C")]),
            "# LANG=x\nLANG=C.UTF-8\nLC_TIME=\"de_DE.UTF-8\"\nLC_NAME=C\n"
        );
    }

    #[test]
    fn locales_are_generated_with_their_encoding() {
        let supported = "de_DE.UTF-8 UTF-8\nde_DE ISO-8859-1\n";
        let line = generated_line(supported, |name| name == "de_DE");
        assert_eq!(line, Some("de_DE ISO-8859-1"));
        assert_eq!(
            with_generated("# de_DE ISO-8859-1\n#  x\n", "de_DE ISO-8859-1"),
            "de_DE ISO-8859-1\n#  x\n"
        );
        assert_eq!(with_generated("a A\n", "b B"), "a A\nb B\n");
        assert_eq!(with_generated("b  B\n", "b B"), "b  B\n");
    }
}
