//! `XPath` 1.0, as far as checks need it: paths with predicates, comparisons, and the functions of [`XPathFunction`].

mod evaluate;
mod functions;
mod parse;
mod tokens;

use std::borrow::Cow;

use ccm_properties::ValueError;

use super::MatchError;
use super::xml::XmlDocument;
use functions::XPathFunction;

/// Parsed path.
#[derive(Clone, Debug)]
pub(super) struct XPath {
    written: String,
    tree: XPathTree,
}

/// Result of a path, or of a part of it.
#[derive(Clone, Debug)]
pub(super) enum XPathValue {
    /// Nodes in the order of the document.
    Nodes(Vec<usize>),
    Bool(bool),
    Number(f64),
    Text(String),
}

#[derive(Clone, Debug)]
enum XPathTree {
    Number(f64),
    Text(String),
    /// Steps from the node at hand, or from the root.
    Path {
        from_root: bool,
        steps: Vec<Step>,
    },
    Union(Vec<Self>),
    Compare(Relation, Box<Self>, Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Call(XPathFunction, Vec<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Debug)]
struct Step {
    axis: Axis,
    test: NodeTest,
    predicates: Vec<XPathTree>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Child,
    /// Children of the node and of all nodes below it, after `//`.
    Descendant,
    Attribute,
    /// Attributes of the node and of all nodes below it, after `//`.
    DescendantAttribute,
    Parent,
    Itself,
    /// The node and all nodes below it, as `//.`.
    DescendantOrItself,
}

#[derive(Clone, Debug)]
enum NodeTest {
    Name(String),
    AnyName,
    Text,
    AnyNode,
}

impl XPath {
    /// Parses a path.
    pub(super) fn parse(written: &str) -> Result<Self, ValueError> {
        Ok(Self { written: written.to_owned(), tree: parse::parse(written)? })
    }

    /// Returns the path as it was written.
    pub(super) fn written(&self) -> &str {
        &self.written
    }

    /// Evaluates the path in a document.
    pub(super) fn evaluate(&self, document: &XmlDocument<'_>) -> Result<XPathValue, MatchError> {
        evaluate::evaluate(&self.tree, document)
    }
}

impl XPathValue {
    /// Returns the value as text: that of nodes is the text of the first.
    pub(super) fn text<'v>(&'v self, document: &'v XmlDocument<'_>) -> Cow<'v, str> {
        match self {
            Self::Nodes(nodes) => nodes.first().map_or(Cow::Borrowed(""), |node| document.text(*node)),
            Self::Bool(boolean) => Cow::Owned(boolean.to_string()),
            Self::Number(number) if number.is_infinite() => {
                Cow::Borrowed(if *number > 0.0 { "Infinity" } else { "-Infinity" })
            }
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }

    fn number(&self, document: &XmlDocument<'_>) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Bool(boolean) => f64::from(u8::from(*boolean)),
            Self::Nodes(_) | Self::Text(_) => text_number(&self.text(document)),
        }
    }

    fn boolean(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Bool(boolean) => *boolean,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
        }
    }
}

/// Returns the number of a text, or NaN.
fn text_number(text: &str) -> f64 {
    let text = text.trim();
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}
