//! Layout of the text report, and escapes for text of unknown origin.

use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Style};
use ccm_model::{ResourceId, escape_control};

/// Indentation of details: level and blank, so that details are below the name of the resource.
const INDENT: &str = "      ";

/// Returns the name of a resource, on one line.
pub(super) fn name(id: &ResourceId) -> String {
    escape_control(&id.to_string()).into_owned()
}

/// Returns the names of resources, on one line.
pub(super) fn names(ids: &[ResourceId]) -> String {
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Joins names, of which only the first are shown.
pub(super) fn few(names: &[String]) -> String {
    /// Maximum number of names in a line.
    const MAX_NAMES: usize = 5;
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Writes a detail below the line of its resource. Further lines of the text are marked by a bar.
pub(super) fn below(out: &mut String, label: &str, text: &str) -> fmt::Result {
    let (first, rest) = first_line(text);
    writeln!(out, "{INDENT}{label}{}", escape_control(first))?;
    continued(out, rest)
}

pub(super) fn first_line(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end_matches('\n');
    text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)))
}

/// Writes the lines of a text after its first line.
pub(super) fn continued(out: &mut String, rest: Option<&str>) -> fmt::Result {
    rest.into_iter().flat_map(|rest| rest.split('\n')).try_for_each(|line| barred(out, "", line))
}

/// Writes a line that a command printed, with a mark that no line of ccm has.
pub(super) fn output(out: &mut String, prefix: &str, line: &str) -> fmt::Result {
    barred(out, &format!("{prefix} "), line)
}

fn barred(out: &mut String, prefix: &str, line: &str) -> fmt::Result {
    let blank = if line.is_empty() { "" } else { " " };
    writeln!(out, "{INDENT}{prefix}|{blank}{}", escape_but_tabs(line))
}

/// Writes a unified diff like a detail, but without bars: each line begins with a mark of the diff.
pub(super) fn diff(out: &mut String, diff: &str) -> fmt::Result {
    let style = |line: &str| match line.as_bytes().first() {
        Some(b'+') => AnsiColor::Green.on_default(),
        Some(b'-') => AnsiColor::Red.on_default(),
        _ => Style::new(),
    };
    diff.split_terminator('\n').try_for_each(|line| {
        let style = style(line);
        writeln!(out, "{INDENT}{style}{}{style:#}", escape_but_tabs(line))
    })
}

/// Writes a message of the manifest, with escapes for control characters.
pub(super) fn message(out: &mut String, message: &str) -> fmt::Result {
    message.lines().try_for_each(|line| writeln!(out, "{}", escape_but_tabs(line)))
}

/// Tabs align the output of commands and are harmless.
fn escape_but_tabs(line: &str) -> String {
    line.split('\t').map(escape_control).collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::few;

    #[test]
    fn many_names_are_counted() {
        let names: Vec<String> = "a b c d e f g".split(' ').map(str::to_owned).collect();
        for (count, expected) in [
            (0, ""),
            (1, "a"),
            (5, "a, b, c, d, e"),
            (6, "a, b, c, d, e and 1 more"),
            (7, "a, b, c, d, e and 2 more"),
        ] {
            assert_eq!(few(&names[..count]), expected);
        }
    }
}
