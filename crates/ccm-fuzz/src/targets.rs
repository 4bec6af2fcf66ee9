//! Targets: readers of untrusted input, with their invariants.

mod approval;
mod assignments;
mod commands;
mod dotenv;
mod expression;
mod facts;
mod glob;
mod granted_path;
mod history;
mod interpolation;
mod launcher;
mod ledger;
mod manifest;
mod path;
mod policy;
mod redaction;
mod rules;
mod shell;
mod shell_words;
mod sources;
mod spans;
mod template;
mod text_file;
mod yaml;

/// Reader under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name, also of the corpus and of the program for `cargo fuzz`.
    pub name: &'static str,
    /// Runs the reader with an input. Panics if an invariant does not hold.
    pub run: fn(&[u8]),
    /// Words with a meaning for the reader.
    pub(crate) words: &'static [&'static str],
}

pub use manifest::manifest_errors;

/// All targets, sorted by name.
pub const TARGETS: &[Target] = &[
    Target { name: "approval", run: approval::run, words: approval::WORDS },
    Target { name: "assignments", run: assignments::run, words: assignments::WORDS },
    Target { name: "commands", run: commands::run, words: commands::WORDS },
    Target { name: "dotenv", run: dotenv::run, words: dotenv::WORDS },
    Target { name: "expression", run: expression::run, words: expression::WORDS },
    Target { name: "facts", run: facts::run, words: facts::WORDS },
    Target { name: "glob", run: glob::run, words: glob::WORDS },
    Target { name: "granted", run: granted_path::run, words: granted_path::WORDS },
    Target { name: "history", run: history::run, words: history::WORDS },
    Target { name: "interpolation", run: interpolation::run, words: interpolation::WORDS },
    Target { name: "launcher", run: launcher::run, words: launcher::WORDS },
    Target { name: "ledger", run: ledger::run, words: ledger::WORDS },
    Target { name: "manifest", run: manifest::run, words: manifest::WORDS },
    Target { name: "path", run: path::run, words: path::WORDS },
    Target { name: "policy", run: policy::run, words: policy::WORDS },
    Target { name: "redaction", run: redaction::run, words: redaction::WORDS },
    Target { name: "rules", run: rules::run, words: rules::WORDS },
    Target { name: "shell", run: shell::run, words: shell::WORDS },
    Target { name: "template", run: template::run, words: template::WORDS },
    Target { name: "text_file", run: text_file::run, words: text_file::WORDS },
    Target { name: "words", run: shell_words::run, words: shell_words::WORDS },
    Target { name: "yaml", run: yaml::run, words: yaml::WORDS },
];

/// Returns the target of a name.
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("there is no target {name}"))
}

/// Returns the input as text. Readers of files refuse invalid UTF-8, so that it is replaced here.
fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}
