//! The matcher `xml`: a path of `XPath` in an XML text, and its result.

mod document;
mod read;

use std::fmt;

use ccm_expr::Value;
use ccm_properties::ValueError;

use super::MatchError;
use super::convert::found;
use super::xpath::{XPath, XPathValue};
pub(super) use document::{XmlDocument, XmlNodeKind};

/// Path with the expected text of its result.
#[derive(Clone, Debug)]
pub(super) struct XmlQuery {
    path: XPath,
    /// Expected text; an empty one asks for any node.
    result: String,
}

impl XmlQuery {
    /// Reads a query.
    pub(super) fn parse(path: &str, result: &str) -> Result<Self, ValueError> {
        Ok(Self { path: XPath::parse(path)?, result: result.to_owned() })
    }

    /// Returns `true` if the result of the path in a text is the expected one. Nodes are compared as XML.
    pub(super) fn matches(&self, value: &Value) -> Result<bool, MatchError> {
        let Value::Text(text) = value else { return Err(found("text with XML", value)) };
        let document = read::document(text).map_err(|error| MatchError(format!("expected XML: {error}")))?;
        let result = match self.path.evaluate(&document)? {
            XPathValue::Nodes(nodes) if self.result.trim().is_empty() => return Ok(!nodes.is_empty()),
            XPathValue::Nodes(nodes) => {
                let mut written = String::new();
                for node in nodes {
                    document.write(node, &mut written);
                    if written.len() > self.result.len() {
                        return Ok(false);
                    }
                }
                written
            }
            other => other.text(&document).into_owned(),
        };
        Ok(result == self.result)
    }
}

impl fmt::Display for XmlQuery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}", self.path.written(), self.result)
    }
}
