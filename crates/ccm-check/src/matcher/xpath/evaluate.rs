//! Evaluation of paths, within a number of steps.

use super::functions::XPathContext;
use super::{Axis, NodeTest, Relation, Step, XPathTree, XPathValue};
use crate::matcher::MatchError;
use crate::matcher::xml::{XmlDocument, XmlNodeKind};

/// Maximum number of nodes that are visited, each weighed with its text.
const MAX_STEPS: usize = 10_000_000;

pub(super) fn evaluate(tree: &XPathTree, document: &XmlDocument<'_>) -> Result<XPathValue, MatchError> {
    let mut evaluation = Evaluation { document, steps: MAX_STEPS };
    evaluation.value(tree, XPathContext { node: 0, position: 1, last: 1 })
}

struct Evaluation<'d, 't> {
    document: &'d XmlDocument<'t>,
    steps: usize,
}

impl Evaluation<'_, '_> {
    fn spend(&mut self, steps: usize) -> Result<(), MatchError> {
        let left = self.steps.checked_sub(steps.saturating_add(1));
        self.steps = left.ok_or_else(|| MatchError("the XPath takes too long on this text".to_owned()))?;
        Ok(())
    }

    fn value(&mut self, tree: &XPathTree, context: XPathContext) -> Result<XPathValue, MatchError> {
        match tree {
            XPathTree::Number(number) => Ok(XPathValue::Number(*number)),
            XPathTree::Text(text) => Ok(XPathValue::Text(text.clone())),
            XPathTree::Path { from_root, steps } => {
                let mut nodes = vec![if *from_root { 0 } else { context.node }];
                for step in steps {
                    nodes = self.step(step, &nodes)?;
                }
                Ok(XPathValue::Nodes(nodes))
            }
            XPathTree::Union(parts) => {
                let mut nodes = Vec::new();
                for part in parts {
                    match self.value(part, context)? {
                        XPathValue::Nodes(more) => nodes.extend(more),
                        _ => return Err(MatchError("`|` joins paths alone".to_owned())),
                    }
                }
                nodes.sort_unstable();
                nodes.dedup();
                Ok(XPathValue::Nodes(nodes))
            }
            XPathTree::Compare(relation, one, two) => {
                let (one, two) = (self.value(one, context)?, self.value(two, context)?);
                self.compare(*relation, &one, &two).map(XPathValue::Bool)
            }
            XPathTree::All(parts) => self.until(parts, context, false),
            XPathTree::Any(parts) => self.until(parts, context, true),
            XPathTree::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let value = self.value(argument, context)?;
                    self.spend_text(&value)?;
                    values.push(value);
                }
                if values.is_empty() {
                    self.spend(self.document.below(context.node).len())?;
                }
                Ok(function.call(&values, self.document, context))
            }
        }
    }

    fn until(
        &mut self,
        parts: &[XPathTree],
        context: XPathContext,
        end: bool,
    ) -> Result<XPathValue, MatchError> {
        for part in parts {
            if self.value(part, context)?.boolean() == end {
                return Ok(XPathValue::Bool(end));
            }
        }
        Ok(XPathValue::Bool(!end))
    }

    fn step(&mut self, step: &Step, nodes: &[usize]) -> Result<Vec<usize>, MatchError> {
        let mut found = Vec::new();
        for node in nodes {
            // Predicates count the nodes below each parent, also after `//`.
            let groups: Vec<usize> = match step.axis {
                Axis::Descendant | Axis::DescendantAttribute => {
                    std::iter::once(*node).chain(self.elements_below(*node)?).collect()
                }
                _ => vec![*node],
            };
            for group in groups {
                let mut kept: Vec<usize> = Vec::new();
                match step.axis {
                    Axis::Itself => kept.push(group),
                    Axis::Parent => kept.extend(self.document.parent(group)),
                    Axis::DescendantOrItself => {
                        kept.push(group);
                        kept.extend(self.document.below(group));
                    }
                    _ => {
                        let is_attribute = matches!(step.axis, Axis::Attribute | Axis::DescendantAttribute);
                        for child in self.document.children(group) {
                            self.steps = self.steps.saturating_sub(1);
                            let kind = self.document.kind(child);
                            if matches!(kind, XmlNodeKind::Attribute(..)) == is_attribute {
                                kept.push(child);
                            }
                        }
                    }
                }
                self.spend(kept.len())?;
                kept.retain(|node| self.passes(&step.test, *node));
                for predicate in &step.predicates {
                    kept = self.filter(predicate, &kept)?;
                }
                found.extend(kept);
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn elements_below(&mut self, node: usize) -> Result<Vec<usize>, MatchError> {
        let below = self.document.below(node);
        self.spend(below.len())?;
        let is_element = |node: &usize| matches!(self.document.kind(*node), XmlNodeKind::Element(_));
        Ok(below.filter(is_element).collect())
    }

    fn passes(&self, test: &NodeTest, node: usize) -> bool {
        let kind = self.document.kind(node);
        match test {
            NodeTest::AnyNode => true,
            NodeTest::Text => matches!(kind, XmlNodeKind::Text(_)),
            NodeTest::AnyName => matches!(kind, XmlNodeKind::Element(_) | XmlNodeKind::Attribute(..)),
            NodeTest::Name(name) => self.document.name(node) == name,
        }
    }

    /// Keeps the nodes for which a predicate is true, or whose position is its number.
    fn filter(&mut self, predicate: &XPathTree, nodes: &[usize]) -> Result<Vec<usize>, MatchError> {
        let last = nodes.len();
        let mut kept = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            self.spend(0)?;
            let position = index + 1;
            let is_kept = match self.value(predicate, XPathContext { node: *node, position, last })? {
                XPathValue::Number(number) => {
                    (f64::from(u32::try_from(position).unwrap_or(u32::MAX)) - number).abs() < f64::EPSILON
                }
                other => other.boolean(),
            };
            if is_kept {
                kept.push(*node);
            }
        }
        Ok(kept)
    }

    /// Compares values; one node that fits is enough.
    fn compare(
        &mut self,
        relation: Relation,
        one: &XPathValue,
        two: &XPathValue,
    ) -> Result<bool, MatchError> {
        let singles = |value: &XPathValue| match value {
            XPathValue::Nodes(nodes) => nodes.iter().map(|node| XPathValue::Nodes(vec![*node])).collect(),
            other => vec![other.clone()],
        };
        let is_bool = matches!(one, XPathValue::Bool(_)) || matches!(two, XPathValue::Bool(_));
        if is_bool {
            return Ok(relation.holds(&one.boolean(), &two.boolean()));
        }
        self.spend_text(one)?;
        let rights = singles(two);
        for left in singles(one) {
            for right in &rights {
                self.spend_text(right)?;
                let is_number =
                    matches!(left, XPathValue::Number(_)) || matches!(right, XPathValue::Number(_));
                let holds = if is_number || !matches!(relation, Relation::Equal | Relation::Different) {
                    relation.holds(&left.number(self.document), &right.number(self.document))
                } else {
                    relation.holds(&left.text(self.document), &right.text(self.document))
                };
                if holds {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Charges for the text of nodes: that of an element is put together of all nodes below it.
    fn spend_text(&mut self, value: &XPathValue) -> Result<(), MatchError> {
        match value {
            XPathValue::Nodes(nodes) => {
                let below: usize = nodes.iter().map(|node| self.document.below(*node).len()).sum();
                self.spend(below + nodes.len())
            }
            _ => self.spend(0),
        }
    }
}

impl Relation {
    fn holds<T: PartialOrd>(self, one: &T, two: &T) -> bool {
        match self {
            Self::Equal => one == two,
            Self::Different => one != two,
            Self::Less => one < two,
            Self::AtMost => one <= two,
            Self::Greater => one > two,
            Self::AtLeast => one >= two,
        }
    }
}
