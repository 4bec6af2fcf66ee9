//! Reference of all gathered facts.

mod table;

/// Documentation of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Path below `facts`; `[]` stands for every entry of a list.
    pub path: &'static str,
    /// Kind. Each fact may be null if its source can't be read.
    pub kind: FactKind,
    /// Description.
    pub description: &'static str,
    /// Example as JSON.
    pub example: &'static str,
}

/// Kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// Text.
    Text,
    /// Integer.
    Integer,
    /// Number, possibly with a fraction.
    Number,
    /// Boolean.
    Boolean,
}

impl FactKind {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// Returns every gathered fact in display order.
pub fn reference() -> &'static [Fact] {
    table::FACTS
}
