//! Warnings about a text after `>`, which joins lines that are settings of their own: `a = 1`, `b = 2`.
//!
//! Prose is meant to be joined, and so are commands. Lines that mean the same in one line, as those of nginx and JSON,
//! are no settings here.

use std::collections::HashSet;

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeValue, ScalarStyle, Span};

use crate::read::reader::COMMANDS;

/// Endings of configuration files, and of their kin.
const ENDINGS: [&str; 14] = [
    ".cfg",
    ".cnf",
    ".conf",
    ".env",
    ".ini",
    ".list",
    ".mount",
    ".properties",
    ".repo",
    ".rules",
    ".service",
    ".socket",
    ".timer",
    "_config",
];

/// Warns of the folded texts of a text, other than commands, in which two joined lines look like settings.
pub(crate) fn check(root: &Node, text: &str, diagnostics: &mut Diagnostics) {
    let found = folded_texts(text);
    if !found.is_empty() {
        check_node(root, Place::default(), text, &found, diagnostics);
    }
}

/// Returns the positions of each `>` that may begin a folded text.
fn folded_texts(text: &str) -> HashSet<usize> {
    let begins = |at: &usize| {
        let line = text[at + 1..].lines().next().unwrap_or_default();
        let rest = line.trim_start_matches(|part: char| part.is_ascii_digit() || matches!(part, '+' | '-'));
        let rest = rest.trim_start();
        (rest.is_empty() || rest.starts_with('#')) && text[..*at].ends_with([' ', '\t'])
    };
    memchr::memchr_iter(b'>', text.as_bytes()).filter(begins).collect()
}

/// Keys above a value.
#[derive(Clone, Copy, Default)]
struct Place {
    is_command: bool,
    /// A key above is the path of a configuration file.
    is_configuration: bool,
}

fn check_node(node: &Node, place: Place, text: &str, found: &HashSet<usize>, diagnostics: &mut Diagnostics) {
    match &node.value {
        NodeValue::Scalar(scalar) => {
            let is_folded = scalar.style == ScalarStyle::Block && found.contains(&(node.span.start as usize));
            if is_folded && !place.is_command {
                diagnostics.extend(warning(node.span, place, text));
            }
        }
        NodeValue::List(elements) => {
            for element in elements {
                check_node(element, place, text, found, diagnostics);
            }
        }
        NodeValue::Map(map) => {
            for entry in map.entries() {
                let key = &*entry.key.text;
                let is_configuration = place.is_configuration
                    || key.starts_with('/') && ENDINGS.iter().any(|ending| key.ends_with(ending));
                let place = Place { is_command: COMMANDS.values.contains(&key), is_configuration };
                check_node(&entry.value, place, text, found, diagnostics);
            }
        }
    }
}

fn warning(span: Span, place: Place, text: &str) -> Option<Diagnostic> {
    let written = text.get(span.range())?;
    let first = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..span.start as usize]).count();
    let (number, _) = joined_settings(written, place.is_configuration)?;
    let (one, other) = (first + number, first + number + 1);
    let message = format!("`>` joins the lines {one} and {other}, which look like settings of their own");
    let mark = Span::new(span.source, span.start as usize, span.start as usize + 1);
    Some(
        Diagnostic::warning(DiagnosticKind::Syntax, mark, message)
            .with_hint("write `|` in place of `>`, which keeps the lines"),
    )
}

/// Returns the first two lines of a folded text that are joined and look like settings, with the number of the first.
/// The header has the number 0.
fn joined_settings(written: &str, is_configuration: bool) -> Option<(usize, (&str, &str))> {
    let mut lines = written.lines().enumerate().skip(1).peekable();
    let first = lines.clone().map(|(_, line)| line).find(|line| !line.trim().is_empty())?;
    let indent = first.len() - first.trim_start().len();
    // Lines that are indented more are not joined.
    let content = |line: &'_ str| {
        let rest = line.get(indent..)?;
        (!rest.is_empty() && !rest.starts_with([' ', '\t'])).then_some(())
    };
    while let Some((number, one)) = lines.next() {
        let Some((_, other)) = lines.peek() else { break };
        let are_joined = content(one).is_some() && content(other).is_some();
        let are_settings =
            [one, other].into_iter().all(|line| looks_like_setting(line.trim(), is_configuration));
        if are_joined && are_settings {
            return Some((number, (one, other)));
        }
    }
    None
}

/// Returns `true` for `key = value`, `key: value`, a section, a comment, an assignment of a shell, an item of a list, and the
/// first line of a script or key. In a configuration file also for two words, such as `Port 22`.
fn looks_like_setting(line: &str, is_configuration: bool) -> bool {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let is_key = |key: &str| {
        key.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && key.chars().all(|part| part.is_alphanumeric() || matches!(part, '_' | '-' | '.' | '/'))
    };
    // Sentences have a full stop, and their parts a comma.
    let is_sentence = line.ends_with([',', '.']);
    let has_key = |separator: &str| {
        line.split_once(separator).is_some_and(|(key, _)| !is_sentence && is_key(key.trim_end()))
    };
    let is_pair = || {
        let mut words = line.split_whitespace();
        let (key, value, none) = (words.next(), words.next(), words.next());
        key.is_some_and(is_key) && value.is_some() && none.is_none() && !is_sentence
    };
    line.starts_with(['#', ';'])
        || line.starts_with("- ")
        || line.starts_with("-----BEGIN ")
        || line.starts_with('[') && line.ends_with(']')
        || has_key("=")
        || has_key(": ")
        || line.strip_suffix(':').is_some_and(is_key)
        || is_configuration && is_pair()
}

#[cfg(test)]
mod tests {
    use ccm_model::SourceMap;

    use super::*;

    fn warned(text: &str) -> Option<String> {
        let source = SourceMap::default().add("m.yaml", text);
        let root =
            ccm_yaml::parse(source, text, &ccm_yaml::Limits::default()).expect("YAML").expect("a value");
        let mut found = Diagnostics::new();
        check(&root, text, &mut found);
        found.into_vec().first().map(|warning| warning.message.clone())
    }

    #[test]
    fn settings_that_are_joined_are_told() {
        for (lines, expected) in [
            (["a = 1", "b = 2"], true),
            (["a=1", "b=2"], true),
            (["listen.port: 80", "name: web"], true),
            (["server:", "port: 80"], true),
            (["[main]", "debug = 1"], true),
            (["# first", "a = 1"], true),
            (["#!/bin/sh", "PATH=/bin"], true),
            (["export A=1", "export B=2"], true),
            (["- one", "- two"], true),
            // In a configuration file alone.
            (["Port 22", "PermitRootLogin no"], false),
            (["Welcome to this machine,", "which belongs to all of us."], false),
            (["Note: this machine is", "watched = recorded."], false),
            (["Please note that a = 1 here", "and that b = 2 there."], false),
            (["listen 80;", "server_name example.com;"], false),
            (["\"a\": 1,", "\"b\": 2"], false),
        ] {
            let text = format!("content: >\n  {}\n  {}\n", lines[0], lines[1]);
            assert_eq!(warned(&text).is_some(), expected, "{text}");
            let text = format!("content: |\n  {}\n  {}\n", lines[0], lines[1]);
            assert_eq!(warned(&text), None, "{text}");
            let text = format!("command: >-\n  {}\n  {}\n", lines[0], lines[1]);
            assert_eq!(warned(&text), None, "{text}");
        }
    }

    #[test]
    fn pairs_of_words_are_settings_in_a_configuration_file() {
        for (path, lines, expected) in [
            ("/etc/ssh/sshd_config", ["Port 22", "PermitRootLogin no"], true),
            ("/etc/app.conf", ["port 22", "user app"], true),
            ("/etc/app.conf", ["AllowUsers ada bob", "eve mallory"], false),
            ("/etc/motd", ["Hello all", "and welcome"], false),
        ] {
            let text = format!("{path}:\n  content: >\n    {}\n    {}\n", lines[0], lines[1]);
            assert_eq!(warned(&text).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn lines_that_stay_lines_are_fine() {
        for text in [
            "content: >\n  a = 1\n\n  b = 2\n",
            "content: >\n  text\n    a = 1\n    b = 2\n",
            "content: >\n  a = 1\n",
            "content: \"> \\n a = 1\"\n",
            "content: a >\n",
        ] {
            assert_eq!(warned(text), None, "{text}");
        }
    }

    #[test]
    fn the_lines_are_named() {
        let text = "a: 1\ncontent: >2-\n  text here\n  a = 1\n  b = 2\n";
        assert_eq!(
            warned(text).as_deref(),
            Some("`>` joins the lines 4 and 5, which look like settings of their own")
        );
    }
}
