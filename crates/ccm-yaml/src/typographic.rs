//! Warnings about typographic quotes, spaces and dashes, which word processors and web pages write instead of plain ones.
//! To YAML they are a part of the text.

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeValue, SourceId, Span, escape_control};

/// Spaces that look like a plain one, or like none.
const SPACES: [(char, &str); 6] = [
    ('\u{a0}', "no-break space"),
    ('\u{202f}', "narrow no-break space"),
    ('\u{2007}', "figure space"),
    ('\u{3000}', "ideographic space"),
    ('\u{200b}', "zero-width space"),
    ('\u{feff}', "byte order mark"),
];

/// Characters that nobody sees within a word.
const INVISIBLE: [(char, &str); 3] =
    [('\u{ad}', "soft hyphen"), ('\u{2060}', "word joiner"), ('\u{180e}', "Mongolian vowel separator")];

/// Dashes that look like the one of an option.
const DASHES: [(char, &str); 5] = [
    ('‐', "typographic hyphen"),
    ('‑', "no-break hyphen"),
    ('–', "en dash"),
    ('—', "em dash"),
    ('−', "minus sign"),
];

/// Keys of a file whose texts are commands, in which a typographic dash is meant as a plain one.
#[derive(Clone, Copy, Debug)]
pub struct CommandKeys {
    /// Keys whose values are commands.
    pub values: &'static [&'static str],
    /// Keys below which names are commands.
    pub names: &'static [&'static str],
}

/// Maximum length of a text that is searched as a word, in bytes.
const MAX_WORD: usize = 200;

const PLAIN_SPACE: &str = "write a plain space, or quote the text if it is meant so";

const QUOTES: [char; 8] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛'];

/// Adds a hint to each error on a line with a typographic space. Of an error whose first word has one, it is the only hint:
/// what else it advises comes from the space, which is read as a letter.
pub fn explain(source: SourceId, text: &str, diagnostics: &mut Diagnostics) {
    // Most manifests have none.
    if text.is_ascii() {
        return;
    }
    for error in diagnostics.errors_mut() {
        let lines: Vec<&str> = error
            .labels
            .iter()
            .filter(|label| label.span.source == source)
            .map(|label| {
                let range = label.span.range();
                let start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
                let end = text[range.end..].find('\n').map_or(text.len(), |length| range.end + length);
                &text[start..end]
            })
            .collect();
        if let Some(name) = lines.iter().find_map(|line| space_in(line)) {
            let hint = format!("replace the {name} in this line, which is no space to YAML, by a plain one");
            let place = error.labels.iter().find(|label| label.span.source == source);
            if place.is_some_and(|label| space_in(first_word(&text[label.span.range()])).is_some()) {
                error.hints.clear();
            }
            if !error.hints.contains(&hint) {
                error.hints.push(hint);
            }
        }
    }
}

/// Returns the key or value at the beginning of a text.
fn first_word(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(": ").map_or(line, |(key, _)| key)
}

/// Returns the name of the first typographic space in a text.
fn space_in(text: &str) -> Option<&'static str> {
    text.chars().find_map(space_name)
}

fn space_name(character: char) -> Option<&'static str> {
    SPACES.iter().find(|(space, _)| *space == character).map(|(_, name)| *name)
}

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextUse {
    Key,
    Value,
    /// Command, or the name of an `exec`, which is its command where none is given.
    Command,
}

/// Warns of texts and keys in a manifest with typographic quotes, spaces and dashes where plain ones are meant. Each is
/// reported once, also if aliases repeat the node.
pub fn check(node: &Node, text: &str, commands: CommandKeys) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // Most manifests have none.
    if !text.is_ascii() {
        check_node(node, TextUse::Value, text, commands, &mut found);
    }
    found
}

fn check_node(
    node: &Node,
    text_use: TextUse,
    text: &str,
    commands: CommandKeys,
    found: &mut Vec<Diagnostic>,
) {
    match &node.value {
        NodeValue::Scalar(_) => found.extend(warning(node.span, text_use, text)),
        NodeValue::List(elements) => {
            for element in elements {
                check_node(element, text_use, text, commands, found);
            }
        }
        NodeValue::Map(map) => {
            for entry in map.entries() {
                // The properties of an `exec` are no commands.
                let (key, value) = match text_use {
                    TextUse::Command => (TextUse::Command, TextUse::Value),
                    _ if commands.names.contains(&&*entry.key.text) => (TextUse::Key, TextUse::Command),
                    _ if commands.values.contains(&&*entry.key.text) => (TextUse::Key, TextUse::Command),
                    _ => (TextUse::Key, TextUse::Value),
                };
                found.extend(warning(entry.key.span, key, text));
                check_node(&entry.value, value, text, commands, found);
            }
        }
    }
}

/// Returns the warning about a text that is written between typographic quotes or spaces. A text between straight quotes
/// may hold them.
fn warning(span: Span, text_use: TextUse, text: &str) -> Option<Diagnostic> {
    let written = text.get(span.range())?;
    if written.is_ascii() {
        return None;
    }
    if let Some(space) = written.chars().next().and_then(space_name) {
        let message = format!("the text begins with a {space}, which becomes a part of it");
        return Some(Diagnostic::warning(DiagnosticKind::Syntax, span, message).with_hint(PLAIN_SPACE));
    }
    if let Some(space) = written.chars().next_back().and_then(space_name) {
        let message = format!("the text ends with a {space}, which becomes a part of it");
        return Some(Diagnostic::warning(DiagnosticKind::Syntax, span, message).with_hint(PLAIN_SPACE));
    }
    let Some(inner) = written.strip_prefix(QUOTES).and_then(|inner| inner.strip_suffix(QUOTES)) else {
        return within(written, span, text_use);
    };
    if inner.contains('\n') {
        return None;
    }
    let first = written.chars().next()?;
    let message =
        format!("the text begins with `{first}`, which is no quote to YAML and becomes a part of the text");
    let straight = inner.replace('\\', "\\\\").replace('"', "\\\"");
    Some(
        Diagnostic::warning(DiagnosticKind::Syntax, span, message)
            .with_hint(format!("write straight quotes: `\"{}\"`", escape_control(&straight))),
    )
}

/// Returns the warning about a character within a text.
fn within(written: &str, span: Span, text_use: TextUse) -> Option<Diagnostic> {
    let is_word = written.len() <= MAX_WORD && !written.contains(|part: char| part.is_ascii_whitespace());
    let (at, character, name) = match text_use {
        TextUse::Command => command_character(written).or_else(|| hidden_character(written))?,
        TextUse::Key => hidden_character(written).or_else(|| character_of(written, &DASHES))?,
        TextUse::Value if is_word => hidden_character(written)?,
        TextUse::Value => return None,
    };
    let start = span.start + u32::try_from(at).ok()?;
    let place = Span { start, end: start + u32::try_from(character.len_utf8()).ok()?, ..span };
    let code = u32::from(character);
    let article = if name.starts_with('e') { "an" } else { "a" };
    let message = format!("this is {article} {name} (U+{code:04X}), which is a part of the text");
    let hint = match character {
        '\u{200b}' | '\u{feff}' => "remove it",
        character if character.is_whitespace() => "write a plain space in its place",
        character if QUOTES.contains(&character) => "write a straight quote in its place",
        character if DASHES.iter().any(|(dash, _)| *dash == character) => "write `-` in its place",
        _ => "remove it",
    };
    let meant = format!("write `\\u{code:04x}` between double quotes if it is meant");
    let warning = Diagnostic::warning(DiagnosticKind::Syntax, place, message);
    Some(warning.with_hint(hint).with_hint(meant))
}

/// Returns the first character that looks like a plain space, or like none.
fn hidden_character(written: &str) -> Option<(usize, char, &'static str)> {
    character_of(written, &SPACES).into_iter().chain(character_of(written, &INVISIBLE)).min()
}

fn character_of(written: &str, among: &[(char, &'static str)]) -> Option<(usize, char, &'static str)> {
    written.char_indices().find_map(|(at, character)| {
        among.iter().find(|(known, _)| *known == character).map(|(_, name)| (at, character, *name))
    })
}

/// Returns the first character of a command that a shell takes for a letter, although it looks like a dash or a quote: a
/// dash at the beginning of a word and before a letter, and a quote at the beginning of a word.
fn command_character(written: &str) -> Option<(usize, char, &'static str)> {
    let mut before = ' ';
    let mut characters = written.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let begins_word = before.is_ascii_whitespace() || matches!(before, '"' | '\'');
        let next = characters.peek().map(|(_, next)| *next);
        if begins_word
            && next.is_some_and(|next| next.is_ascii_alphanumeric() || next == character || next == '-')
            && let Some((_, name)) = DASHES.iter().find(|(dash, _)| *dash == character)
        {
            return Some((at, character, name));
        }
        if before.is_ascii_whitespace() && QUOTES.contains(&character) {
            return Some((at, character, "typographic quote"));
        }
        before = character;
    }
    None
}

#[cfg(test)]
mod tests {
    use ccm_model::{Severity, SourceMap};

    use super::*;

    /// Returns the message and the marked text of each warning.
    fn warnings(text: &str) -> Vec<(String, String)> {
        let source = SourceMap::default().add("m.yaml", text);
        let root = crate::parse(source, text, &crate::Limits::default()).expect("YAML").expect("a node");
        let commands = CommandKeys { values: &["command", "unless"], names: &["exec"] };
        let found = check(&root, text, commands).into_iter();
        let found = found.filter(|found| found.severity == Severity::Warning);
        found.map(|found| (found.message.clone(), text[found.span().unwrap().range()].to_owned())).collect()
    }

    #[test]
    fn characters_that_look_like_plain_ones_are_named() {
        for (text, name, marked) in [
            ("a\u{a0}b: 1", "a no-break space (U+00A0)", "\u{a0}"),
            ("a: /tmp/x\u{a0}y", "a no-break space (U+00A0)", "\u{a0}"),
            ("package: [ngi\u{200b}nx]", "a zero-width space (U+200B)", "\u{200b}"),
            ("service: [ng\u{ad}inx]", "a soft hyphen (U+00AD)", "\u{ad}"),
            ("dry–run: true", "an en dash (U+2013)", "–"),
            ("exec: [{'ls –l': {}}]", "an en dash (U+2013)", "–"),
            ("exec: [{x: {command: ls ——all}}]", "an em dash (U+2014)", "—"),
            ("exec: [{x: {unless: 'grep “a b” /f'}}]", "a typographic quote (U+201C)", "“"),
            ("command: |\n  ls\n  ls −a", "a minus sign (U+2212)", "−"),
        ] {
            let found = warnings(text);
            let expected = format!("this is {name}, which is a part of the text");
            assert_eq!(found, [(expected, marked.to_owned())], "{text}");
        }
    }

    #[test]
    fn prose_and_escapes_are_meant() {
        for text in [
            "content: 10\u{a0}000 € – “gut”",
            "content: 'l’été – oui'",
            "message: déployer",
            "a: \"x\\u00a0y\"",
            "exec: [{'deploy – now': {command: 'echo it’s 5–7 × a—b'}}]",
            "exec: [{x: {content: '–n'}}]",
        ] {
            assert_eq!(warnings(text), [], "{text}");
        }
    }
}
