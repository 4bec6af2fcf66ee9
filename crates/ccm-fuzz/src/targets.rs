//! The targets: each a reader of what others wrote, and what holds of it for any bytes.

mod assignments;
mod dotenv;
mod expression;
mod facts;
mod history;
mod interpolation;
mod ledger;
mod manifest;
mod path;
mod redaction;
mod sources;
mod spans;
mod template;
mod words;
mod yaml;

/// A reader under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is that of its corpus and of its program for `cargo fuzz`.
    pub name: &'static str,
    /// Gives it an input. Panics if something does not hold.
    pub run: fn(&[u8]),
    /// What means something to it.
    pub(crate) words: &'static [&'static str],
}

pub use manifest::mistakes_of_manifest;

/// All of them, by name.
pub const TARGETS: &[Target] = &[
    Target { name: "assignments", run: assignments::run, words: assignments::WORDS },
    Target { name: "dotenv", run: dotenv::run, words: dotenv::WORDS },
    Target { name: "expression", run: expression::run, words: expression::WORDS },
    Target { name: "facts", run: facts::run, words: facts::WORDS },
    Target { name: "history", run: history::run, words: history::WORDS },
    Target { name: "interpolation", run: interpolation::run, words: interpolation::WORDS },
    Target { name: "ledger", run: ledger::run, words: ledger::WORDS },
    Target { name: "manifest", run: manifest::run, words: manifest::WORDS },
    Target { name: "path", run: path::run, words: path::WORDS },
    Target { name: "redaction", run: redaction::run, words: redaction::WORDS },
    Target { name: "template", run: template::run, words: template::WORDS },
    Target { name: "words", run: words::run, words: words::WORDS },
    Target { name: "yaml", run: yaml::run, words: yaml::WORDS },
];

/// The target of that name.
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("there is no target {name}"))
}

/// The input as text. Those who read files refuse what is no UTF-8; here it is made some, so that it is tried.
fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}
