//! Selection and order of overrides and data files. [`read()`] reads `hierarchy`, [`Overrides::read`] the overrides.
//! The caller expands the entries of `order`, reads the data files, and evaluates of the selected levels what no
//! higher layer replaces.

mod effect;
mod level_path;
mod levels;
mod read;

use std::collections::HashSet;

use ccm_expr::Value;
use ccm_model::{Node, NodeKey, Span};
use indexmap::IndexMap;

use crate::layers::ValueSource;

pub use effect::entry_for;
pub use level_path::{LevelPathError, level_of, level_path};
pub use levels::{LevelMerge, LevelMerges, layers};
pub use read::read;

/// The `hierarchy` property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// Entries of `order`, not expanded.
    pub order: Vec<OrderEntry>,
    /// Merge strategy.
    pub merge: Merge,
    /// Directory of the data files of levels, as written, with its span.
    pub data_dir: Option<(Box<str>, Span)>,
    /// The manifest has no hierarchy.
    is_implied: bool,
    /// Parts with errors are left out.
    is_incomplete: bool,
}

/// Entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderEntry {
    /// Text, which may hold expressions.
    pub text: Box<str>,
    /// Span.
    pub span: Span,
}

/// Strategy to merge levels into the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// The first level found replaces whole keys; no other applies.
    #[default]
    First,
    /// All levels found are merged deep, in order.
    Deep,
}

/// Expanded entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandedEntry {
    /// Name of an override.
    Name(String),
    /// No name, because all expressions are empty.
    Empty,
}

impl ExpandedEntry {
    /// Builds an entry from its name and the values of its expressions; null and empty text are empty. An
    /// entry without expressions is a name.
    pub fn new<'a>(name: String, yielded: impl IntoIterator<Item = &'a Value>) -> Self {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Text(text) => text.is_empty(),
            _ => false,
        };
        let mut yielded = yielded.into_iter().peekable();
        if name.is_empty() || (yielded.peek().is_some() && yielded.all(is_empty)) {
            Self::Empty
        } else {
            Self::Name(name)
        }
    }
}

/// Override.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Name.
    pub key: NodeKey,
    /// Map, not expanded.
    pub node: Node,
}

/// All overrides by name.
#[derive(Clone, Debug, Default)]
pub struct Overrides(IndexMap<Box<str>, Override>);

impl Overrides {
    /// Returns an override by name.
    pub fn get(&self, name: &str) -> Option<&Override> {
        self.0.get(name)
    }

    /// Returns all overrides in manifest order.
    pub fn iter(&self) -> impl Iterator<Item = &Override> {
        self.0.values()
    }
}

/// Outcome of an entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryOutcome {
    /// All expressions are empty.
    Empty,
    /// Nothing has this name.
    NotFound {
        /// The name.
        name: String,
        /// Data file that does not exist, if data files are read.
        file: Option<String>,
    },
    /// The level is used.
    Applied {
        /// The name.
        name: String,
        /// What has this name: an override, a data file or both.
        sources: Vec<ValueSource>,
        /// The level is used only for keys with a merge of their own, because an earlier entry was found.
        only_merged_keys: bool,
    },
    /// The level is used already.
    Repeated(String),
    /// An earlier entry was found, and only the first counts.
    NotReached(Option<String>),
    /// The data file has errors, which are reported.
    Invalid(String),
}

/// Data file of a level, as far as it was read.
#[derive(Clone, Debug)]
pub enum LevelFile<F> {
    /// No data files are read.
    NotRead,
    /// The file does not exist.
    Missing(String),
    /// The file has errors, which are reported.
    Invalid,
    /// Name and content.
    Found(String, F),
}

/// Level that is used.
#[derive(Clone, Debug)]
pub struct Level<'o, F> {
    /// Override, the lower part.
    pub over: Option<&'o Override>,
    /// Name and content of the data file, the upper part.
    pub file: Option<(String, F)>,
}

/// Levels that are used.
#[derive(Clone, Debug)]
pub struct Selection<'o, F> {
    /// Outcome of each entry of `order`.
    pub outcomes: Vec<EntryOutcome>,
    /// Levels that are used, in order.
    pub levels: Vec<Level<'o, F>>,
}

/// Selects the levels that are used. `expanded` holds the entries of `order`, and `read` reads the data file for the
/// entry with a number and a name.
pub fn select<'o, F>(
    merges: &LevelMerges,
    expanded: &[ExpandedEntry],
    overrides: &'o Overrides,
    read: &mut dyn FnMut(usize, &str) -> LevelFile<F>,
) -> Selection<'o, F> {
    let mut outcomes = Vec::with_capacity(expanded.len());
    let mut levels: Vec<Level<'o, F>> = Vec::new();
    let mut names: HashSet<&str> = HashSet::new();
    for (number, entry) in expanded.iter().enumerate() {
        let is_found = !levels.is_empty();
        let is_over = is_found && !merges.needs_all_levels();
        let name = match entry {
            ExpandedEntry::Name(name) => name,
            ExpandedEntry::Empty => {
                outcomes.push(if is_over { EntryOutcome::NotReached(None) } else { EntryOutcome::Empty });
                continue;
            }
        };
        if is_over {
            outcomes.push(EntryOutcome::NotReached(Some(name.clone())));
            continue;
        }
        // Using a level twice would append its lists twice.
        if names.contains(name.as_str()) {
            outcomes.push(EntryOutcome::Repeated(name.clone()));
            continue;
        }
        let over = overrides.get(name);
        let mut sources: Vec<ValueSource> =
            over.iter().map(|_| ValueSource::Override(name.clone())).collect();
        let (file, missing) = match read(number, name) {
            LevelFile::NotRead => (None, None),
            LevelFile::Missing(file) => (None, Some(file)),
            LevelFile::Found(file, content) => {
                sources.push(ValueSource::File(file.clone()));
                (Some((file, content)), None)
            }
            LevelFile::Invalid => {
                outcomes.push(EntryOutcome::Invalid(name.clone()));
                continue;
            }
        };
        if over.is_none() && file.is_none() {
            outcomes.push(EntryOutcome::NotFound { name: name.clone(), file: missing });
            continue;
        }
        names.insert(name);
        levels.push(Level { over, file });
        let only_merged_keys = is_found && merges.default == Merge::First;
        outcomes.push(EntryOutcome::Applied { name: name.clone(), sources, only_merged_keys });
    }
    Selection { outcomes, levels }
}

#[cfg(test)]
mod tests;
