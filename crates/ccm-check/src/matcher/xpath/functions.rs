//! Functions of paths.

use ccm_properties::words;

use super::{XPathValue, text_number};
use crate::matcher::xml::XmlDocument;

words! {
    /// Function of a path.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum XPathFunction = "function" {
        Boolean = "boolean",
        Concat = "concat",
        Contains = "contains",
        Count = "count",
        EndsWith = "ends-with",
        False = "false",
        Last = "last",
        LocalName = "local-name",
        Name = "name",
        NormalizeSpace = "normalize-space",
        Not = "not",
        Number = "number",
        Position = "position",
        StartsWith = "starts-with",
        String = "string",
        StringLength = "string-length",
        Sum = "sum",
        True = "true",
    }
}

/// Node that a function is evaluated for, with its place among its siblings.
#[derive(Clone, Copy)]
pub(super) struct XPathContext {
    pub(super) node: usize,
    pub(super) position: usize,
    pub(super) last: usize,
}

impl XPathFunction {
    /// Returns the least and the largest number of arguments.
    pub(super) fn arguments(self) -> (usize, usize) {
        match self {
            Self::False | Self::Last | Self::Position | Self::True => (0, 0),
            Self::Boolean | Self::Count | Self::Not | Self::Sum => (1, 1),
            Self::Contains | Self::EndsWith | Self::StartsWith => (2, 2),
            Self::Concat => (2, 64),
            Self::LocalName
            | Self::Name
            | Self::NormalizeSpace
            | Self::Number
            | Self::String
            | Self::StringLength => (0, 1),
        }
    }

    /// Calls the function. Without an argument, that is the node at hand.
    pub(super) fn call(
        self,
        arguments: &[XPathValue],
        document: &XmlDocument<'_>,
        context: XPathContext,
    ) -> XPathValue {
        let itself = XPathValue::Nodes(vec![context.node]);
        let first = arguments.first().unwrap_or(&itself);
        let text = || first.text(document);
        let second = || arguments.get(1).map(|second| second.text(document)).unwrap_or_default();
        let nodes: &[usize] = match first {
            XPathValue::Nodes(nodes) => nodes,
            _ => &[],
        };
        let name = nodes.first().map(|node| document.name(*node)).unwrap_or_default();
        match self {
            Self::Boolean => XPathValue::Bool(first.boolean()),
            Self::Concat => {
                XPathValue::Text(arguments.iter().map(|argument| argument.text(document)).collect())
            }
            Self::Contains => XPathValue::Bool(text().contains(&*second())),
            Self::Count => count(nodes.len()),
            Self::EndsWith => XPathValue::Bool(text().ends_with(&*second())),
            Self::False => XPathValue::Bool(false),
            Self::Last => count(context.last),
            Self::LocalName => {
                XPathValue::Text(name.rsplit_once(':').map_or(name, |(_, local)| local).to_owned())
            }
            Self::Name => XPathValue::Text(name.to_owned()),
            Self::NormalizeSpace => XPathValue::Text(text().split_whitespace().collect::<Vec<_>>().join(" ")),
            Self::Not => XPathValue::Bool(!first.boolean()),
            Self::Number => XPathValue::Number(first.number(document)),
            Self::Position => count(context.position),
            Self::StartsWith => XPathValue::Bool(text().starts_with(&*second())),
            Self::String => XPathValue::Text(text().into_owned()),
            Self::StringLength => count(text().chars().count()),
            Self::Sum => {
                XPathValue::Number(nodes.iter().map(|node| text_number(&document.text(*node))).sum())
            }
            Self::True => XPathValue::Bool(true),
        }
    }
}

fn count(count: usize) -> XPathValue {
    XPathValue::Number(f64::from(u32::try_from(count).unwrap_or(u32::MAX)))
}
