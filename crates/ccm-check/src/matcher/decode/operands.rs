//! Operands of matchers that hold no matchers themselves, and of those with paths.

use ccm_expr::path::Path;
use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeValue, ScalarKind, escape_control};
use ccm_properties::{ValueError, expected};

use super::{MatcherReader, node_value};
use crate::kinds::ValueType;
use crate::matcher::semver::Constraint;
use crate::matcher::xml::XmlQuery;
use crate::matcher::{Comparison, Expectation, Number, TextTest};

impl MatcherReader {
    pub(super) fn operand(&mut self, name: &str, node: &Node, value_type: ValueType) -> Option<Expectation> {
        let comparison = match name {
            "equal" => return self.equal(node, value_type),
            "have-len" => return self.length(node),
            "xml" => return self.xml(node),
            "gt" => Comparison::Greater,
            "ge" => Comparison::AtLeast,
            "lt" => Comparison::Less,
            "le" => Comparison::AtMost,
            _ => return self.text_operand(name, node),
        };
        match node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(ScalarKind::Int(number)) => Some(Expectation::Number(comparison, Number::Int(number))),
            Some(ScalarKind::Float(number)) if number.is_finite() => {
                Some(Expectation::Number(comparison, Number::Float(number)))
            }
            _ => {
                let error = expected("a number", node);
                let is_quoted = node.as_text().is_some_and(|text| Number::parse(text).is_some());
                self.refuse(if is_quoted {
                    error.with_hint("write the number without quotes")
                } else {
                    error
                })
            }
        }
    }

    fn text_operand(&mut self, name: &str, node: &Node) -> Option<Expectation> {
        let operand = self.plain_text(node)?;
        let test = match name {
            "have-prefix" => TextTest::Prefix,
            "have-suffix" => TextTest::Suffix,
            "contain-substring" => TextTest::Substring,
            "semver-constraint" => {
                if let Some(constraint) = Constraint::parse(operand) {
                    return Some(Expectation::Semver(operand.to_owned(), constraint));
                }
                let message = format!("`{}` is no constraint on versions", escape_control(operand));
                let error = ValueError::new(message)
                    .with_hint("write comparisons of whole versions, such as `>=1.2.0 <2.0.0`");
                return self.refuse(error.at(node.span));
            }
            _ => {
                return match self.regexes.compile(operand) {
                    Ok(regex) => Some(Expectation::Regex(operand.to_owned(), regex)),
                    Err(error) => self.refuse(error.at(node.span)),
                };
            }
        };
        Some(Expectation::Text(test, operand.to_owned()))
    }

    /// Reads the operand of `equal`, which compares without conversion.
    fn equal(&mut self, node: &Node, value_type: ValueType) -> Option<Expectation> {
        let kind = node.as_scalar().map(ccm_model::Scalar::kind);
        let is_possible = match value_type {
            ValueType::Any => true,
            ValueType::Boolean => matches!(kind, Some(ScalarKind::Bool(_))),
            ValueType::Number | ValueType::PlainNumber => {
                matches!(kind, Some(ScalarKind::Int(_) | ScalarKind::Float(_)))
            }
            ValueType::Text | ValueType::Mode | ValueType::Lines => return self.equal_text(node),
            ValueType::Texts => match &node.value {
                NodeValue::List(elements) => {
                    let texts = elements.iter().filter_map(|element| self.plain_text(element)).count();
                    if texts < elements.len() {
                        return None;
                    }
                    true
                }
                _ => false,
            },
        };
        if is_possible {
            return Some(Expectation::Equal(node_value(node)));
        }
        self.refuse(expected(value_type.noun(), node))
    }

    fn equal_text(&mut self, node: &Node) -> Option<Expectation> {
        self.plain_text(node).map(|_| Expectation::Equal(node_value(node)))
    }

    fn length(&mut self, node: &Node) -> Option<Expectation> {
        let length = match node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(ScalarKind::Int(length)) => usize::try_from(length).ok(),
            _ => None,
        };
        match length {
            Some(length) => Some(Expectation::Length(length)),
            None => self.refuse(expected("a length", node)),
        }
    }

    /// Reads paths, each with a matcher.
    pub(super) fn json(&mut self, node: &Node, depth: usize) -> Option<Expectation> {
        let Some(map) = node.as_map() else {
            return self.refuse(expected("a map of paths with matchers", node));
        };
        let entries = map.entries();
        if entries.is_empty() {
            let message = "`gjson` has no path";
            return self.refuse(Diagnostic::error(DiagnosticKind::Missing, node.span, message));
        }
        let mut paths = Vec::with_capacity(entries.len());
        for entry in entries {
            let matcher = self.expectation(&entry.value, ValueType::Any, depth + 1);
            match (Path::parse(&entry.key.text), matcher) {
                (Ok(path), Some(matcher)) => paths.push((path, matcher)),
                (Err(error), _) => {
                    let message = escape_control(&error.message).into_owned();
                    let error = Diagnostic::error(DiagnosticKind::ExpressionSyntax, entry.key.span, message);
                    self.found.push(error);
                }
                (Ok(_), None) => {}
            }
        }
        (paths.len() == entries.len()).then_some(Expectation::Json(paths))
    }

    fn xml(&mut self, node: &Node) -> Option<Expectation> {
        let Some(map) = node.as_map() else {
            let error = expected("a map with `xpath` and `result`", node);
            return self.refuse(error);
        };
        for entry in map.entries() {
            if !matches!(&*entry.key.text, "xpath" | "result") {
                let error = ValueError::unknown("key", &entry.key.text, &["xpath", "result"]);
                return self.refuse(error.at(entry.key.span));
            }
        }
        let (Some(path), Some(result)) = (map.get("xpath"), map.get("result")) else {
            let missing = if map.get("xpath").is_none() { "xpath" } else { "result" };
            let message = format!("`{missing}` is missing");
            return self.refuse(Diagnostic::error(DiagnosticKind::Missing, node.span, message));
        };
        let written = self.plain_text(path)?;
        let Some(result) = result.as_text() else { return self.refuse(expected("text", result)) };
        match XmlQuery::parse(written, result) {
            Ok(query) => Some(Expectation::Xml(query)),
            Err(error) => self.refuse(error.at(path.span)),
        }
    }
}
