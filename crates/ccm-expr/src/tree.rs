//! Syntax tree of an expression: nodes in one vector, children before their parents.

use std::ops::Range;

use regex::Regex;

use crate::Value;

pub(crate) type NodeId = u32;

/// Children of a node: a range of `SyntaxTree::children`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChildRange {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TextSpan {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl TextSpan {
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Matches,
    Contains,
    StartsWith,
    EndsWith,
    Range,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Coalesce,
}

impl Operator {
    pub(crate) fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual)
    }

    /// Hint for text beside a number, for operators on numbers.
    pub(crate) fn hint_for_text(self) -> Option<&'static str> {
        match self {
            Self::Add => {
                Some("turn the number into text with string(…), or the text into a number with int(…)")
            }
            Self::Subtract
            | Self::Multiply
            | Self::Divide
            | Self::Modulo
            | Self::Power
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual => Some("turn the text into a number with int(…) or float(…)"),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    Not,
    Minus,
    Plus,
}

/// Treatment of missing parts by an access.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    /// Written `?.`: a null base ends the chain with null.
    pub(crate) optional: bool,
    /// Left of `??`: a missing key is no error even in a strict scope.
    pub(crate) lenient: bool,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Constant(Value),
    /// Name of the scope; the span of the node is its text.
    Name,
    /// `$env`.
    Environment,
    /// Variable of `let`.
    Local(u32),
    /// `#`.
    Element,
    /// `#index`.
    Index,
    /// `#acc`.
    Accumulator,
    Prefix(Prefix, NodeId),
    Binary(Operator, NodeId, NodeId),
    /// `matches` with a constant pattern.
    Matches(NodeId, Box<Regex>),
    /// `base.name`.
    Member {
        base: NodeId,
        name: TextSpan,
        access: Access,
    },
    /// `base[key]`.
    Item {
        base: NodeId,
        key: NodeId,
        access: Access,
    },
    /// `base.name(arguments)`.
    Method {
        base: NodeId,
        name: TextSpan,
        access: Access,
        arguments: ChildRange,
    },
    /// End of the part that a `?.` skips.
    Chain(NodeId),
    Slice {
        base: NodeId,
        from: Option<NodeId>,
        to: Option<NodeId>,
    },
    List(ChildRange),
    /// Keys and values in turn.
    Map(ChildRange),
    Conditional {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Let {
        slot: u32,
        value: NodeId,
        body: NodeId,
    },
    Sequence(ChildRange),
    /// Call of a function of the language, by its index.
    Builtin {
        function: u16,
        arguments: ChildRange,
    },
    /// Call of a function of the embedding program.
    Call {
        name: TextSpan,
        arguments: ChildRange,
    },
}

#[derive(Debug)]
pub(crate) struct ExprNode {
    pub(crate) kind: NodeKind,
    pub(crate) span: TextSpan,
}

#[derive(Debug)]
pub(crate) struct SyntaxTree {
    pub(crate) text: Box<str>,
    pub(crate) nodes: Vec<ExprNode>,
    pub(crate) children: Vec<NodeId>,
    pub(crate) root: NodeId,
    /// Number of `let` variables.
    pub(crate) slots: u32,
}

impl SyntaxTree {
    pub(crate) fn node(&self, id: NodeId) -> &ExprNode {
        &self.nodes[id as usize]
    }

    pub(crate) fn children(&self, children: ChildRange) -> &[NodeId] {
        &self.children[children.start as usize..children.end as usize]
    }

    pub(crate) fn text(&self, span: TextSpan) -> &str {
        &self.text[span.range()]
    }

    pub(crate) fn constant_text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).kind {
            NodeKind::Constant(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}
