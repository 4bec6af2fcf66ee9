//! What a path consists of.

use std::ops::Range;

use super::layout::Pretty;
use super::pattern::Pattern;
use super::query::Test;
use crate::Value;

/// Stages, each working on what the one before found.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) stages: Vec<Stage>,
}

/// What stands between two pipes.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// Parts with dots between them, never none.
    Parts(Vec<Part>),
    /// `@name` or `@name:argument`.
    Modifier(Modifier),
    /// `!value`.
    Literal(Value),
    /// `{a,"name":b}`.
    Fields(Vec<(Box<str>, Chain)>),
    /// `[a,b]`.
    Elements(Vec<Chain>),
}

/// What stands between two dots.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// The name of a key, or the index of an element.
    Name { name: Box<str>, range: Range<usize> },
    /// A name with wildcards.
    Wildcard(Pattern),
    /// `#` at the end: how many elements.
    Count,
    /// `#.` and what to find in every element. It is the last part.
    Each(Chain),
    /// `#(…)` or `#(…)#`. It is the last part.
    Query(Box<Query>),
}

/// A condition on the elements of a list.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// What to test in each element; nothing tests the element itself.
    pub(super) subject: Option<Chain>,
    pub(super) test: Test,
    /// All elements that pass, or the first.
    pub(super) all: bool,
    /// What to find in an element that passes; nothing takes the element itself.
    pub(super) rest: Option<Chain>,
}

/// What changes a value as a whole.
#[derive(Clone, Debug)]
pub(super) enum Modifier {
    Dig(Chain),
    Flatten {
        deep: bool,
    },
    FromText,
    Group,
    Join {
        preserve: bool,
    },
    Keys,
    Pretty(Pretty),
    Reverse,
    ToText,
    Ugly,
    /// `@this`, and `@valid` too: a value is never invalid.
    Unchanged,
    Values,
}

/// The modifiers' names, without their `@`.
pub(super) const MODIFIERS: [&str; 13] = [
    "dig", "flatten", "fromstr", "group", "join", "keys", "pretty", "reverse", "this", "tostr", "ugly",
    "valid", "values",
];
