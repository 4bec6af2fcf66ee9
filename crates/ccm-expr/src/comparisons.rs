//! Comparisons with constants in an expression, found without evaluating anything.

use std::ops::Range;

use crate::tree::{ExprNode, NodeId, NodeKind, Operator, SyntaxTree};
use crate::{Value, functions};

/// Comparison of a value with a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name and constant keys of the value, such as `Facts`, `host`, `info`. A `lookup` has the name that its path stands
    /// for. Empty for another value, which is a text in one case of letters.
    pub path: Vec<String>,
    /// Bytes of the value, with its `lower(…)` or `upper(…)`.
    pub subject: Range<usize>,
    /// Case that a function gives the value.
    pub case: Option<LetterCase>,
    /// What is compared.
    pub relation: Relation,
    /// The constant. That of a pattern is its text.
    pub value: Value,
    /// Bytes of the constant; those of the whole comparison for a pattern.
    pub range: Range<usize>,
}

/// Case of all letters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// No capitals.
    Lower,
    /// Capitals only.
    Upper,
}

/// Relation of a value to a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The value as a whole: `==`, `in` a list, key of a map.
    Equal,
    /// The order of the value and the constant, as this operator.
    Order(&'static str),
    /// A part of the value: `contains`, `startsWith`, `endsWith`.
    Part,
    /// A regular expression.
    Pattern,
}

/// Value that may be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Name and constant keys, as in [`Comparison`].
    pub path: Vec<String>,
    /// Case that a function gives the value.
    pub case: Option<LetterCase>,
}

/// Returns the value of the whole expression, unless it is computed.
pub(crate) fn subject(tree: &SyntaxTree) -> Option<Subject> {
    Collector::new(tree).subject(tree.root)
}

/// Collects the comparisons.
pub(crate) fn collect(tree: &SyntaxTree) -> Vec<Comparison> {
    let mut collector = Collector::new(tree);
    for (id, node) in (0..).zip(&tree.nodes) {
        match &node.kind {
            NodeKind::Binary(operator, left, right) => collector.operation(*operator, *left, *right),
            NodeKind::Matches(operand, pattern) => {
                collector.add(*operand, Relation::Pattern, &Value::text(pattern.as_str()), id);
            }
            NodeKind::Item { base, key, .. } => collector.keys(*key, *base),
            NodeKind::Builtin { function, arguments } if functions::by_index(*function).doc.name == "get" => {
                if let [map, key] = *tree.children(*arguments) {
                    collector.keys(key, map);
                }
            }
            _ => {}
        }
    }
    collector.found
}

struct Collector<'t> {
    tree: &'t SyntaxTree,
    /// Variables of `let` with their values.
    variables: Vec<(u32, NodeId)>,
    found: Vec<Comparison>,
}

impl<'t> Collector<'t> {
    fn new(tree: &'t SyntaxTree) -> Self {
        let variable = |node: &ExprNode| match node.kind {
            NodeKind::Let { slot, value, .. } => Some((slot, value)),
            _ => None,
        };
        let variables = tree.nodes.iter().filter_map(variable).collect();
        Self { tree, variables, found: Vec::new() }
    }

    fn operation(&mut self, operator: Operator, left: NodeId, right: NodeId) {
        let (relation, mirrored) = match operator {
            Operator::Equal | Operator::NotEqual => (Relation::Equal, Some(Relation::Equal)),
            Operator::Less => (Relation::Order("<"), Some(Relation::Order(">"))),
            Operator::LessOrEqual => (Relation::Order("<="), Some(Relation::Order(">="))),
            Operator::Greater => (Relation::Order(">"), Some(Relation::Order("<"))),
            Operator::GreaterOrEqual => (Relation::Order(">="), Some(Relation::Order("<="))),
            Operator::Contains | Operator::StartsWith | Operator::EndsWith => (Relation::Part, None),
            Operator::In => return self.keys(left, right),
            _ => return,
        };
        if let NodeKind::Constant(value) = &self.tree.node(right).kind {
            self.add(left, relation, value, right);
        } else if let (NodeKind::Constant(value), Some(mirrored)) = (&self.tree.node(left).kind, mirrored) {
            self.add(right, mirrored, value, left);
        }
    }

    /// Adds comparisons with the elements of a list, or the keys of a map.
    fn keys(&mut self, subject: NodeId, whole: NodeId) {
        let (elements, step) = match &self.tree.node(whole).kind {
            NodeKind::List(elements) => (*elements, 1),
            NodeKind::Map(pairs) => (*pairs, 2),
            _ => return,
        };
        let tree = self.tree;
        for id in tree.children(elements).iter().step_by(step) {
            if let NodeKind::Constant(value) = &tree.node(*id).kind {
                self.add(subject, Relation::Equal, value, *id);
            }
        }
    }

    fn add(&mut self, subject: NodeId, relation: Relation, value: &Value, constant: NodeId) {
        let Some(Subject { path, case }) = self.subject(subject) else { return };
        let [subject, range] = [subject, constant].map(|id| self.tree.node(id).span.range());
        self.found.push(Comparison { path, subject, case, relation, value: value.clone(), range });
    }

    fn subject(&self, id: NodeId) -> Option<Subject> {
        match &self.tree.node(id).kind {
            // The value, unless its default replaces it.
            NodeKind::Binary(Operator::Coalesce, value, _) => self.subject(*value),
            NodeKind::Builtin { function, arguments } => {
                let [argument] = *self.tree.children(*arguments) else { return None };
                let case = match functions::by_index(*function).doc.name {
                    "lower" => LetterCase::Lower,
                    "upper" => LetterCase::Upper,
                    "trim" => return self.subject(argument),
                    _ => return None,
                };
                let path = self.subject(argument).map(|subject| subject.path).unwrap_or_default();
                Some(Subject { path, case: Some(case) })
            }
            NodeKind::Local(slot) => {
                let (_, value) = self.variables.iter().find(|(known, _)| known == slot)?;
                self.subject(*value)
            }
            _ => Some(Subject { path: self.path(id)?, case: None }),
        }
    }

    fn path(&self, id: NodeId) -> Option<Vec<String>> {
        let tree = self.tree;
        match &tree.node(id).kind {
            NodeKind::Name => Some(vec![tree.text(tree.node(id).span).to_owned()]),
            NodeKind::Chain(inner) => self.path(*inner),
            NodeKind::Member { base, name, .. } => {
                let mut path = self.path(*base)?;
                path.push(tree.text(*name).to_owned());
                Some(path)
            }
            NodeKind::Item { base, key, .. } => {
                let mut path = self.path(*base)?;
                path.push(tree.constant_text(*key)?.to_owned());
                Some(path)
            }
            NodeKind::Call { name, arguments } if tree.text(*name) == "lookup" => {
                lookup_path(tree.constant_text(*tree.children(*arguments).first()?)?)
            }
            _ => None,
        }
    }
}

/// Returns the name and the keys that a path of `lookup` stands for, unless it has queries or modifiers.
pub fn lookup_path(path: &str) -> Option<Vec<String>> {
    let is_plain = |part: char| part.is_ascii_alphanumeric() || matches!(part, '.' | '_' | '-');
    if !path.starts_with(|first: char| first.is_ascii_alphabetic()) || !path.chars().all(is_plain) {
        return None;
    }
    let mut parts: Vec<String> = path.split('.').map(str::to_owned).collect();
    parts[0][..1].make_ascii_uppercase();
    Some(parts)
}
