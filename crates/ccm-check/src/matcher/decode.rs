//! Nodes to matchers, with every error at its location.

mod operands;
mod regex_cache;
mod types;

use ccm_expr::Value;
use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeEntry, NodeValue, Scalar, ScalarKind};
use ccm_properties::{ValueError, expected};

use super::patterns::LinePattern;
use super::{Comparison, Expectation, Matcher, Number, TextTest};
use crate::kinds::ValueType;
pub(super) use regex_cache::RegexCache;

/// Maximum nesting of matchers.
const MAX_DEPTH: usize = 32;
/// Maximum number of expectations in one list.
const MAX_LIST: usize = 256;
/// Maximum number of patterns in one list.
const MAX_PATTERNS: usize = 1000;

/// Names of the matchers.
const MATCHERS: &[&str] = &[
    "and",
    "consist-of",
    "contain-element",
    "contain-elements",
    "contain-substring",
    "equal",
    "ge",
    "gjson",
    "gt",
    "have-key",
    "have-len",
    "have-patterns",
    "have-prefix",
    "have-suffix",
    "le",
    "lt",
    "match-regexp",
    "not",
    "or",
    "semver-constraint",
    "xml",
];

/// Reader of the matchers of one document.
#[derive(Debug, Default)]
pub(crate) struct MatcherReader {
    pub(crate) found: Vec<Diagnostic>,
    regexes: RegexCache,
}

impl MatcherReader {
    /// Reads the expectation of an attribute whose values have a type.
    pub(crate) fn read(&mut self, node: &Node, value_type: ValueType) -> Option<Matcher> {
        if value_type == ValueType::Lines && node.as_list().is_some() {
            return self.patterns(node).map(Matcher);
        }
        if value_type == ValueType::PlainNumber
            && let Some(scalar) = node.as_scalar().filter(|scalar| scalar.kind() == ScalarKind::Text)
            && let Ok(number) = scalar.text.parse()
        {
            let warning = Diagnostic::warning(
                DiagnosticKind::WrongType,
                node.span,
                format!("expected a number, found {}", node.describe()),
            );
            self.found.push(warning.with_hint("write the number without quotes"));
            return Some(Matcher(Expectation::Number(Comparison::Equal, Number::Int(number))));
        }
        self.expectation(node, value_type, 0).map(Matcher)
    }

    fn expectation(&mut self, node: &Node, value_type: ValueType, depth: usize) -> Option<Expectation> {
        if depth > MAX_DEPTH {
            let message = format!("the matcher is nested deeper than {MAX_DEPTH} levels");
            return self.refuse(Diagnostic::error(DiagnosticKind::LimitExceeded, node.span, message));
        }
        match &node.value {
            NodeValue::Scalar(scalar) => self.literal(node, scalar, value_type),
            NodeValue::List(elements) => match value_type {
                ValueType::Texts | ValueType::Any => {
                    let elements = self.list(node, elements, value_type.element(), depth)?;
                    Some(Expectation::ContainsElements { elements, splits_text: false })
                }
                ValueType::Lines => {
                    let error = expected("text or a matcher", node);
                    self.refuse(error.with_hint("write the patterns below `have-patterns`"))
                }
                _ => self.refuse(expected(value_type.noun(), node)),
            },
            NodeValue::Map(map) => match map.entries() {
                [] => {
                    let message = "the map has no matcher";
                    self.refuse(Diagnostic::error(DiagnosticKind::Missing, node.span, message))
                }
                [entry] => self.matcher(entry, value_type, depth),
                [first, second, ..] => {
                    let (one, two) = (&*first.key.text, &*second.key.text);
                    let error = Diagnostic::error(
                        DiagnosticKind::Conflict,
                        second.key.span,
                        format!("`{}` is a second matcher in one map", two.escape_debug()),
                    );
                    let error = error.with_label(first.key.span, "the first one");
                    let hint = match (MATCHERS.contains(&one), MATCHERS.contains(&two)) {
                        (true, true) => format!("write `and: [{{{one}: …}}, {{{two}: …}}]`"),
                        _ => "write one matcher in each map, and join them with `and` or `or`".to_owned(),
                    };
                    self.refuse(error.with_hint(hint))
                }
            },
        }
    }

    /// Reads an expectation that is a plain value.
    fn literal(&mut self, node: &Node, scalar: &Scalar, value_type: ValueType) -> Option<Expectation> {
        use ValueType as T;
        let kind = scalar.kind();
        let is_allowed = match (kind, value_type) {
            (ScalarKind::Null, _) => false,
            (ScalarKind::Bool(_), of) => matches!(of, T::Boolean | T::Any),
            (ScalarKind::Int(_), of) => !matches!(of, T::Boolean | T::Mode),
            (ScalarKind::Float(number), of) => number.is_finite() && !matches!(of, T::Boolean | T::Mode),
            (ScalarKind::Text, T::Boolean) => matches!(&*scalar.text, "true" | "false"),
            (ScalarKind::Text, T::Number | T::PlainNumber) => Number::parse(&scalar.text).is_some(),
            (ScalarKind::Text, _) => true,
        };
        if !is_allowed {
            let error = expected(value_type.noun(), node);
            let is_unquoted = value_type.is_text() && !matches!(kind, ScalarKind::Null);
            return self.refuse(match value_type {
                T::Mode if is_unquoted => error.with_hint(format!("quote it: `\"{}\"`", scalar.text)),
                _ if is_unquoted => error.with_hint("quote it"),
                _ => error,
            });
        }
        Some(match kind {
            ScalarKind::Bool(boolean) => Expectation::Bool(boolean),
            ScalarKind::Int(number) => Expectation::Number(Comparison::Equal, Number::Int(number)),
            ScalarKind::Float(number) => Expectation::Number(Comparison::Equal, Number::Float(number)),
            ScalarKind::Null | ScalarKind::Text => Expectation::Text(TextTest::Is, scalar.text.to_string()),
        })
    }

    /// Reads an expectation that is a matcher with its operand.
    fn matcher(&mut self, entry: &NodeEntry, value_type: ValueType, depth: usize) -> Option<Expectation> {
        let (name, operand) = (&*entry.key.text, &entry.value);
        if !MATCHERS.contains(&name) {
            return self.refuse(ValueError::unknown("matcher", name, MATCHERS).at(entry.key.span));
        }
        if operand.is_null() && !(name == "equal" && value_type == ValueType::Any) {
            let message = format!("`{name}` has no value");
            return self.refuse(Diagnostic::error(DiagnosticKind::Missing, entry.key.span, message));
        }
        if !value_type.accepts(name) {
            let message = format!("`{name}` can't judge {}", value_type.noun());
            let error = Diagnostic::error(DiagnosticKind::InvalidValue, entry.key.span, message);
            return self.refuse(match (name, value_type.is_text()) {
                ("consist-of", true) => error.with_hint("use `contain-elements` to judge lines"),
                _ => error,
            });
        }
        match name {
            "and" => self.nested(operand, value_type, depth).map(Expectation::All),
            "or" => self.nested(operand, value_type, depth).map(Expectation::Any),
            "not" => {
                self.expectation(operand, value_type, depth + 1).map(|inner| Expectation::Not(inner.into()))
            }
            "have-key" => self
                .expectation(operand, ValueType::Any, depth + 1)
                .map(|key| Expectation::HasKey(key.into())),
            "contain-element" => self
                .expectation(operand, value_type.element(), depth + 1)
                .map(|element| Expectation::ContainsElement(element.into())),
            "contain-elements" => {
                let elements = self.nested(operand, value_type.element(), depth)?;
                Some(Expectation::ContainsElements { elements, splits_text: true })
            }
            "consist-of" => self.nested(operand, value_type.element(), depth).map(Expectation::ConsistsOf),
            "gjson" => self.json(operand, depth),
            "have-patterns" => self.patterns(operand),
            _ => self.operand(name, operand, value_type),
        }
    }

    /// Reads the list below a matcher.
    fn nested(&mut self, node: &Node, value_type: ValueType, depth: usize) -> Option<Vec<Expectation>> {
        match node.as_list() {
            Some(elements) => self.list(node, elements, value_type, depth),
            None => self.refuse(expected("a list of matchers", node)),
        }
    }

    fn list(
        &mut self,
        node: &Node,
        elements: &[Node],
        value_type: ValueType,
        depth: usize,
    ) -> Option<Vec<Expectation>> {
        if elements.len() > MAX_LIST {
            return self.refuse(too_long(node, MAX_LIST));
        }
        let read: Vec<_> =
            elements.iter().map(|element| self.expectation(element, value_type, depth + 1)).collect();
        read.into_iter().collect()
    }

    /// Reads a list of patterns of lines.
    fn patterns(&mut self, node: &Node) -> Option<Expectation> {
        let Some(elements) = node.as_list() else {
            return self.refuse(expected("a list of patterns", node));
        };
        if elements.len() > MAX_PATTERNS {
            return self.refuse(too_long(node, MAX_PATTERNS));
        }
        let mut patterns = Vec::with_capacity(elements.len());
        for element in elements {
            let text = self.plain_text(element);
            let parsed = text.map(|text| LinePattern::parse(text, &mut self.regexes));
            match parsed {
                Some(Ok(pattern)) => patterns.push(pattern),
                Some(Err(error)) => self.found.push(error.at(element.span)),
                None => {}
            }
        }
        (patterns.len() == elements.len()).then_some(Expectation::Patterns(patterns))
    }

    /// Returns the text of a scalar that is neither a number nor a boolean.
    fn plain_text<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        match node.as_scalar() {
            Some(scalar) if scalar.kind() == ScalarKind::Text => Some(&scalar.text),
            Some(scalar) if scalar.kind() != ScalarKind::Null => {
                self.refuse(expected("text", node).with_hint(format!("quote it: `\"{}\"`", scalar.text)))
            }
            _ => self.refuse(expected("text", node)),
        }
    }

    fn refuse<T>(&mut self, error: Diagnostic) -> Option<T> {
        self.found.push(error);
        None
    }
}

/// Builds the error of a list with too many elements.
fn too_long(node: &Node, most: usize) -> Diagnostic {
    let message = format!("the list has more than {most} elements");
    Diagnostic::error(DiagnosticKind::LimitExceeded, node.span, message)
}

/// Converts a node to a value.
pub(crate) fn node_value(node: &Node) -> Value {
    match &node.value {
        NodeValue::List(elements) => Value::list(elements.iter().map(node_value)),
        NodeValue::Map(map) => {
            Value::map(map.entries().iter().map(|entry| (&*entry.key.text, node_value(&entry.value))))
        }
        NodeValue::Scalar(scalar) => match scalar.kind() {
            ScalarKind::Null => Value::Null,
            ScalarKind::Bool(boolean) => Value::Bool(boolean),
            ScalarKind::Int(number) => Value::Int(number),
            ScalarKind::Float(number) => Value::Float(number),
            ScalarKind::Text => Value::text(&*scalar.text),
        },
    }
}
