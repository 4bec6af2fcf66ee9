//! Every fact that is gathered, with what it means.

mod table;

/// A fact that is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Where it is, below `facts`; `[]` stands for every entry of a list.
    pub path: &'static str,
    /// Of which kind it is. Each may be null where its source can't be read.
    pub kind: FactKind,
    /// What it tells.
    pub description: &'static str,
    /// A value that it may have, as JSON.
    pub example: &'static str,
}

/// Of which kind a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// A number that need not be whole.
    Number,
    /// True or false.
    Boolean,
}

impl FactKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// Every fact that is gathered, in the order in which they are shown.
pub fn reference() -> &'static [Fact] {
    table::FACTS
}
