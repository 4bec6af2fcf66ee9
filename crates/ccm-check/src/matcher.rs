//! Matchers: what is expected of a value, and whether a value meets it.

mod convert;
mod decode;
mod evaluate;
mod patterns;
mod semver;
mod show;
mod xml;
mod xpath;

use ccm_expr::Value;
use ccm_expr::path::Path;
use regex::Regex;

pub(crate) use convert::text as value_text;
pub(crate) use decode::{MatcherReader, node_value};
use patterns::LinePattern;
use semver::Constraint;
pub(crate) use show::short;
use xml::XmlQuery;

/// Expectation of a value.
#[derive(Clone, Debug)]
pub struct Matcher(Expectation);

/// Value that can't be compared with an expectation, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MatchError(pub(crate) String);

#[derive(Clone, Debug)]
enum Expectation {
    /// Boolean, compared as it is.
    Bool(bool),
    /// Number, compared with the value as a number.
    Number(Comparison, Number),
    /// Text, compared with the value as text.
    Text(TextTest, String),
    /// Regular expression as it was written, and compiled.
    Regex(String, Regex),
    /// The same value: no conversion, order counts.
    Equal(Value),
    /// Length of a text in bytes, or number of elements.
    Length(usize),
    /// Patterns of lines, each of which must hold.
    Patterns(Vec<LinePattern>),
    HasKey(Box<Self>),
    ContainsElement(Box<Self>),
    /// A different element for each expectation. Text has lines as elements only if the matcher is named.
    ContainsElements {
        elements: Vec<Self>,
        splits_text: bool,
    },
    /// A different element for each expectation, and none beside them.
    ConsistsOf(Vec<Self>),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Semver(String, Constraint),
    /// Paths into a JSON text.
    Json(Vec<(Path, Self)>),
    Xml(XmlQuery),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Greater,
    AtLeast,
    Less,
    AtMost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextTest {
    Is,
    Prefix,
    Suffix,
    Substring,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Matcher {
    /// Returns `true` if a value meets the expectation.
    pub fn matches(&self, value: &Value) -> Result<bool, MatchError> {
        self.0.matches(value)
    }
}
