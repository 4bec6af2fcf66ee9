//! Where text from outside may stand on a line, and how it is kept there.

use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Style};
use ccm_model::{ResourceId, escape_control};

/// As wide as the level and its blank, so that details stand below the name of their resource.
const INDENT: &str = "      ";

/// The name of a resource, on one line whatever it holds.
pub(super) fn name(id: &ResourceId) -> String {
    escape_control(&id.to_string()).into_owned()
}

/// The names of some resources, on one line.
pub(super) fn names(ids: &[ResourceId]) -> String {
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Writes a detail below the line of its resource; further lines of its text are marked by a bar.
pub(super) fn below(out: &mut String, label: &str, text: &str) -> fmt::Result {
    let (first, rest) = first_line(text);
    writeln!(out, "{INDENT}{label}{}", escape_control(first))?;
    continued(out, rest)
}

/// Splits a text behind its first line.
pub(super) fn first_line(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end_matches('\n');
    text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)))
}

/// Writes the lines behind the first of a text.
pub(super) fn continued(out: &mut String, rest: Option<&str>) -> fmt::Result {
    rest.into_iter().flat_map(|rest| rest.split('\n')).try_for_each(|line| barred(out, "", line))
}

/// Writes a line that a command printed, marked so that it can't be taken for one of ccm's own.
pub(super) fn output(out: &mut String, prefix: &str, line: &str) -> fmt::Result {
    barred(out, &format!("{prefix} "), line)
}

fn barred(out: &mut String, prefix: &str, line: &str) -> fmt::Result {
    let blank = if line.is_empty() { "" } else { " " };
    writeln!(out, "{INDENT}{prefix}|{blank}{}", escape_but_tabs(line))
}

/// Writes a unified diff below the line of its resource. Its lines need no mark: each begins with its own, and
/// stands as far in as every detail.
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

/// Writes a message of the manifest as it is, but for what could steer a terminal.
pub(super) fn message(out: &mut String, message: &str) -> fmt::Result {
    message.lines().try_for_each(|line| writeln!(out, "{}", escape_but_tabs(line)))
}

/// Tabs line up what a command prints, and do no harm.
fn escape_but_tabs(line: &str) -> String {
    line.split('\t').map(escape_control).collect::<Vec<_>>().join("\t")
}
