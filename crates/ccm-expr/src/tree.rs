//! An expression as it was understood: nodes in one vector, children before their parents.

use std::ops::Range;

use regex::Regex;

use crate::Value;

/// A node's place in the vector.
pub(crate) type NodeId = u32;

/// The children of a node with many: a range of `Tree::children`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Children {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A piece of the expression's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Piece {
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// An operator between two operands.
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
    /// How to go on where it stands between a text and a number, if it works on numbers.
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

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    Not,
    Minus,
    Plus,
}

/// How an access to a part of a value treats absence.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    /// Written `?.`: where the whole is nothing, the chain ends with nothing.
    pub(crate) optional: bool,
    /// Left of `??`: a missing key is no mistake even in a strict scope.
    pub(crate) lenient: bool,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Constant(Value),
    /// A name of the scope; its text is the node's own piece.
    Name,
    /// `$env`.
    Environment,
    /// What `let` declared.
    Local(u32),
    /// `#`.
    Element,
    /// `#index`.
    Index,
    /// `#acc`.
    Accumulator,
    Prefix(Prefix, NodeId),
    Binary(Operator, NodeId, NodeId),
    /// `matches` with a pattern that is known.
    Matches(NodeId, Box<Regex>),
    /// `base.name`.
    Member {
        base: NodeId,
        name: Piece,
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
        name: Piece,
        access: Access,
        arguments: Children,
    },
    /// The end of what one `?.` skips.
    Chain(NodeId),
    Slice {
        base: NodeId,
        from: Option<NodeId>,
        to: Option<NodeId>,
    },
    List(Children),
    /// Keys and values in turn.
    Map(Children),
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
    Sequence(Children),
    /// A function of the language, by its index in the table.
    Builtin {
        function: u16,
        arguments: Children,
    },
    /// A function of the caller.
    Call {
        name: Piece,
        arguments: Children,
    },
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) piece: Piece,
}

#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) text: Box<str>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) children: Vec<NodeId>,
    pub(crate) root: NodeId,
    /// How many variables of `let` live at once.
    pub(crate) slots: u32,
}

impl Tree {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn children(&self, children: Children) -> &[NodeId] {
        &self.children[children.start as usize..children.end as usize]
    }

    pub(crate) fn text(&self, piece: Piece) -> &str {
        &self.text[piece.range()]
    }

    /// The text of a node that is constant text.
    pub(crate) fn constant_text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).kind {
            NodeKind::Constant(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}
