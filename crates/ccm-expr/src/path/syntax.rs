//! Syntax tree of a path.

use std::ops::Range;

use ccm_model::Wildcards;

use super::layout::Pretty;
use super::query::Test;
use crate::Value;

/// Stages, each applied to the result of the one before.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) stages: Vec<PathStage>,
}

#[derive(Clone, Debug)]
pub(super) enum PathStage {
    /// Parts separated by dots, at least one.
    Parts(Vec<PathPart>),
    /// `@name` or `@name:argument`.
    Modifier(Modifier),
    /// `!value`.
    Literal(Value),
    /// `{a,"name":b}`.
    Fields(Vec<(Box<str>, Chain)>),
    /// `[a,b]`.
    Elements(Vec<Chain>),
}

/// Part: the syntax between two dots.
#[derive(Clone, Debug)]
pub(super) enum PathPart {
    /// Key of a map or index of a list.
    Name { name: Box<str>, range: Range<usize> },
    /// Key with wildcards.
    Wildcard(Wildcards),
    /// `#` at the end: the number of elements.
    Count,
    /// `#.` and the path to find in every element. Always the last part.
    Each(Chain),
    /// `#(…)` or `#(…)#`. Always the last part.
    Query(Box<Query>),
}

#[derive(Clone, Debug)]
pub(super) struct Query {
    /// Path to test in each element; `None` tests the element itself.
    pub(super) subject: Option<Chain>,
    pub(super) test: Test,
    /// `true` for all elements that pass, `false` for the first.
    pub(super) all: bool,
    /// Path to find in each element that passes; `None` takes the element itself.
    pub(super) rest: Option<Chain>,
}

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

/// Names of the modifiers, without the `@`.
pub(super) const MODIFIERS: [&str; 13] = [
    "dig", "flatten", "fromstr", "group", "join", "keys", "pretty", "reverse", "this", "tostr", "ugly",
    "valid", "values",
];
