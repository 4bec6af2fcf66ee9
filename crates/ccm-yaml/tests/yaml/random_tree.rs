//! Random trees in random layouts.

use std::fmt::Write;

use proptest::prelude::*;

/// Tree with the styles to write it in.
#[derive(Clone, Debug)]
pub(crate) enum RandomTree {
    Plain(String),
    Single(String),
    Double(String),
    Literal(Vec<String>),
    List { brackets: bool, elements: Vec<RandomTree> },
    Map { brackets: bool, entries: Vec<(Key, RandomTree)> },
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    text: String,
    quoted: bool,
}

/// Prints failures and writes no file.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// Random lists and maps with values of every style.
pub(crate) fn random_trees() -> impl Strategy<Value = RandomTree> {
    let plain = prop_oneof![
        "[a-z][a-z0-9_./-]{0,8}",
        "[a-z]{1,3} [a-zäö]{1,3}",
        "-?[1-9][0-9]{0,5}",
        "[1-9]\\.[0-9][1-9]",
        Just("true".to_owned()),
        Just("~".to_owned()),
        Just(String::new()),
    ];
    let line = "[a-zä][a-z :#'\"\\[\\]{}|>-]{0,10}";
    let leaf = prop_oneof![
        plain.prop_map(RandomTree::Plain),
        "\\PC{0,10}".prop_map(RandomTree::Single),
        "(\\PC|[\n\t\r\u{0}\u{7f}\u{85}]){0,10}".prop_map(RandomTree::Double),
        prop::collection::vec(prop_oneof![3 => line, 1 => Just(String::new())], 0..4).prop_map(
            |mut lines| {
                // Blank lines at either end would be chomped, or need an explicit indentation.
                lines.insert(0, "first".to_owned());
                lines.push("last".to_owned());
                RandomTree::Literal(lines)
            }
        ),
    ];
    let key = "[a-zA-Z_][a-z0-9_#-]{0,6}( [a-z0-9]{1,3})?|[1-9]";
    let tree = leaf.prop_recursive(4, 40, 5, move |inner| {
        let entries = prop::collection::btree_map(key, (any::<bool>(), inner.clone()), 0..5);
        prop_oneof![
            (any::<bool>(), prop::collection::vec(inner, 0..5))
                .prop_map(|(brackets, elements)| RandomTree::List { brackets, elements }),
            (any::<bool>(), entries).prop_map(|(brackets, entries)| {
                let entry = |(text, (quoted, value))| (Key { text, quoted }, value);
                RandomTree::Map { brackets, entries: entries.into_iter().map(entry).collect() }
            }),
        ]
    });
    tree.prop_map(|tree| match tree {
        RandomTree::List { .. } | RandomTree::Map { .. } => tree,
        leaf => RandomTree::List { brackets: false, elements: vec![leaf] },
    })
}

/// Layout of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) line_end: &'static str,
    pub(crate) indent: usize,
    pub(crate) list_below_key: bool,
    pub(crate) comments: bool,
    pub(crate) byte_order_mark: bool,
    pub(crate) marks: bool,
}

pub(crate) fn layouts() -> impl Strategy<Value = Layout> {
    let line_end = prop_oneof![Just("\n"), Just("\r\n")];
    (line_end, 1..5_usize, any::<[bool; 4]>()).prop_map(
        |(line_end, indent, [list_below_key, comments, byte_order_mark, marks])| Layout {
            line_end,
            indent,
            list_below_key,
            comments,
            byte_order_mark,
            marks,
        },
    )
}

impl Layout {
    pub(crate) fn write(self, tree: &RandomTree) -> String {
        let mut text = String::new();
        if self.marks {
            text.push_str("%YAML 1.2\n---\n");
        }
        self.block(&mut text, tree, 0);
        if self.marks {
            text.push_str("...\n");
        }
        let text = text.replace('\n', self.line_end);
        if self.byte_order_mark { format!("\u{feff}{text}") } else { text }
    }

    /// Writes a value at the current position, with a line end; the lines of a block begin at `column`.
    fn block(self, text: &mut String, tree: &RandomTree, column: usize) {
        match tree {
            RandomTree::List { brackets: false, elements } if !elements.is_empty() => {
                for (position, element) in elements.iter().enumerate() {
                    self.begin_line(text, position, column);
                    text.push('-');
                    match element {
                        RandomTree::Plain(plain) if plain.is_empty() => text.push('\n'),
                        _ => {
                            text.push(' ');
                            self.block(text, element, column + 2);
                        }
                    }
                }
            }
            RandomTree::Map { brackets: false, entries } if !entries.is_empty() => {
                for (position, (key, value)) in entries.iter().enumerate() {
                    self.begin_line(text, position, column);
                    text.push_str(&key.written());
                    text.push(':');
                    self.value(text, value, column);
                }
            }
            RandomTree::Literal(lines) => {
                text.push_str("|\n");
                for line in lines {
                    if !line.is_empty() {
                        text.push_str(&" ".repeat(column + 1));
                        text.push_str(line);
                    }
                    text.push('\n');
                }
            }
            other => {
                other.inline(text);
                text.push_str(if self.comments { " # comment\n" } else { "\n" });
            }
        }
    }

    /// Writes the value of a key at `column`.
    fn value(self, text: &mut String, value: &RandomTree, column: usize) {
        match value {
            RandomTree::List { brackets: false, elements } if !elements.is_empty() => {
                let column = if self.list_below_key { column } else { column + self.indent };
                text.push('\n');
                text.push_str(&" ".repeat(column));
                self.block(text, value, column);
            }
            RandomTree::Map { brackets: false, entries } if !entries.is_empty() => {
                text.push('\n');
                text.push_str(&" ".repeat(column + self.indent));
                self.block(text, value, column + self.indent);
            }
            _ => {
                text.push(' ');
                self.block(text, value, column);
            }
        }
    }

    /// Indents an entry, except for the first, which is indented already.
    fn begin_line(self, text: &mut String, position: usize, column: usize) {
        if position > 0 {
            if self.comments {
                let _ = writeln!(text, "\n{}# - comment: |", " ".repeat(column));
            }
            text.push_str(&" ".repeat(column));
        }
    }
}

impl Key {
    fn written(&self) -> String {
        if self.quoted { double(&self.text) } else { self.text.clone() }
    }
}

impl RandomTree {
    /// Writes the tree on one line, as in brackets.
    fn inline(&self, text: &mut String) {
        match self {
            Self::Plain(plain) => text.push_str(plain),
            Self::Single(single) => {
                let _ = write!(text, "'{}'", single.replace('\'', "''"));
            }
            Self::Double(content) => text.push_str(&double(content)),
            Self::Literal(_) => text.push_str(&double(&self.literal())),
            Self::List { elements, .. } => {
                text.push('[');
                for element in elements {
                    if matches!(element, Self::Plain(plain) if plain.is_empty()) {
                        text.push('~');
                    } else {
                        element.inline(text);
                    }
                    text.push_str(", ");
                }
                text.push(']');
            }
            Self::Map { entries, .. } => {
                text.push('{');
                for (key, value) in entries {
                    text.push_str(&key.written());
                    text.push_str(": ");
                    value.inline(text);
                    text.push_str(" , ");
                }
                text.push('}');
            }
        }
    }

    fn literal(&self) -> String {
        let Self::Literal(lines) = self else { return String::new() };
        lines.join("\n") + "\n"
    }

    /// Formats the tree as `show` formats the parsed text.
    pub(crate) fn expected(&self, inline: bool) -> String {
        match self {
            Self::Plain(plain) if plain.is_empty() => "_".to_owned(),
            Self::Plain(plain) => plain.clone(),
            Self::Single(text) | Self::Double(text) => format!("{text:?}"),
            Self::Literal(_) if inline => format!("{:?}", self.literal()),
            Self::Literal(_) => format!("|{:?}", self.literal()),
            Self::List { brackets, elements } => {
                let inline = inline || *brackets;
                let element = |element: &Self| match element.expected(inline) {
                    missing if missing == "_" && inline => "~".to_owned(),
                    expected => expected,
                };
                format!("[{}]", elements.iter().map(element).collect::<Vec<_>>().join(", "))
            }
            Self::Map { brackets, entries } => {
                let entry = |(key, value): &(Key, Self)| {
                    format!("{}: {}", key.text, value.expected(inline || *brackets))
                };
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn double(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
