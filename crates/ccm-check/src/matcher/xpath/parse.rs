//! Parser of paths.

use ccm_properties::ValueError;

use super::functions::XPathFunction;
use super::tokens::{Token, tokens, unexpected};
use super::{Axis, NodeTest, Relation, Step, XPathTree};

/// Maximum length of a path in bytes.
const MAX_LENGTH: usize = 4096;
/// Maximum nesting of a path.
const MAX_DEPTH: usize = 32;

/// Parses a path.
pub(super) fn parse(path: &str) -> Result<XPathTree, ValueError> {
    if path.len() > MAX_LENGTH {
        return Err(ValueError::new(format!("the XPath is longer than {MAX_LENGTH} bytes")));
    }
    let mut parser = Parser { tokens: tokens(path)?, at: 0, depth: 0 };
    let tree = parser.any()?;
    match parser.tokens.get(parser.at) {
        None => Ok(tree),
        Some(_) => Err(parser.error()),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn any(&mut self) -> Result<XPathTree, ValueError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ValueError::new(format!("the XPath is nested deeper than {MAX_DEPTH} levels")));
        }
        let tree = self.joined(Self::all, |parser| parser.takes_word("or"), XPathTree::Any);
        self.depth -= 1;
        tree
    }

    fn all(&mut self) -> Result<XPathTree, ValueError> {
        self.joined(Self::equality, |parser| parser.takes_word("and"), XPathTree::All)
    }

    fn joined(
        &mut self,
        part: fn(&mut Self) -> Result<XPathTree, ValueError>,
        goes_on: impl Fn(&mut Self) -> bool,
        join: fn(Vec<XPathTree>) -> XPathTree,
    ) -> Result<XPathTree, ValueError> {
        let first = part(self)?;
        let mut parts = vec![first];
        while goes_on(self) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
    }

    fn equality(&mut self) -> Result<XPathTree, ValueError> {
        self.compared(&[("=", Relation::Equal), ("!=", Relation::Different)], Self::relation)
    }

    fn relation(&mut self) -> Result<XPathTree, ValueError> {
        const RELATIONS: &[(&str, Relation)] = &[
            ("<", Relation::Less),
            ("<=", Relation::AtMost),
            (">", Relation::Greater),
            (">=", Relation::AtLeast),
        ];
        self.compared(RELATIONS, |parser| {
            parser.joined(Self::operand, |parser| parser.takes("|"), XPathTree::Union)
        })
    }

    fn compared(
        &mut self,
        relations: &[(&'static str, Relation)],
        operand: fn(&mut Self) -> Result<XPathTree, ValueError>,
    ) -> Result<XPathTree, ValueError> {
        let mut tree = operand(self)?;
        let mut count = 0;
        while let Some((_, relation)) = relations.iter().find(|(sign, _)| self.takes(sign)) {
            count += 1;
            if count > MAX_DEPTH {
                return Err(self.error());
            }
            tree = XPathTree::Compare(*relation, tree.into(), operand(self)?.into());
        }
        Ok(tree)
    }

    fn operand(&mut self) -> Result<XPathTree, ValueError> {
        match self.tokens.get(self.at).cloned() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(XPathTree::Number(number))
            }
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(XPathTree::Text(text))
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                let tree = self.any()?;
                self.needs(")")?;
                Ok(tree)
            }
            Some(Token::Name(name)) if self.is_sign(1, "(") && !matches!(&*name, "text" | "node") => {
                self.call(&name)
            }
            Some(_) => self.path(),
            None => Err(ValueError::new("the XPath ends too early")),
        }
    }

    fn call(&mut self, name: &str) -> Result<XPathTree, ValueError> {
        let function = XPathFunction::parse(name)
            .ok_or_else(|| ValueError::unknown("function", name, XPathFunction::NAMES))?;
        self.at += 2;
        let mut arguments = Vec::new();
        if !self.takes(")") {
            arguments.push(self.any()?);
            while self.takes(",") {
                arguments.push(self.any()?);
            }
            self.needs(")")?;
        }
        let (least, most) = function.arguments();
        if arguments.len() < least || arguments.len() > most {
            return Err(ValueError::new(format!("`{name}` does not have {} arguments", arguments.len())));
        }
        let needs_nodes = matches!(function, XPathFunction::Count | XPathFunction::Sum);
        if needs_nodes && !matches!(arguments[0], XPathTree::Path { .. } | XPathTree::Union(_)) {
            return Err(ValueError::new(format!("`{name}` needs a path")));
        }
        Ok(XPathTree::Call(function, arguments))
    }

    fn path(&mut self) -> Result<XPathTree, ValueError> {
        let mut steps = Vec::new();
        let (mut is_deep, from_root) = match (self.takes("//"), self.takes("/")) {
            (true, _) => (true, true),
            (_, from_root) => (false, from_root),
        };
        let is_root_alone = from_root && !is_deep && !self.begins_step();
        if !is_root_alone {
            loop {
                steps.push(self.step(is_deep)?);
                is_deep = self.takes("//");
                if !is_deep && !self.takes("/") {
                    break;
                }
            }
        }
        Ok(XPathTree::Path { from_root, steps })
    }

    fn begins_step(&self) -> bool {
        match self.tokens.get(self.at) {
            Some(Token::Name(_)) => true,
            Some(Token::Sign(sign)) => matches!(*sign, "*" | "@" | "." | ".."),
            _ => false,
        }
    }

    fn step(&mut self, is_deep: bool) -> Result<Step, ValueError> {
        let (axis, test) = if self.takes(".") {
            (if is_deep { Axis::DescendantOrItself } else { Axis::Itself }, NodeTest::AnyNode)
        } else if !is_deep && self.takes("..") {
            (Axis::Parent, NodeTest::AnyNode)
        } else if self.takes("@") {
            (if is_deep { Axis::DescendantAttribute } else { Axis::Attribute }, self.test()?)
        } else {
            (if is_deep { Axis::Descendant } else { Axis::Child }, self.test()?)
        };
        let mut predicates = Vec::new();
        while self.takes("[") {
            predicates.push(self.any()?);
            self.needs("]")?;
        }
        Ok(Step { axis, test, predicates })
    }

    fn test(&mut self) -> Result<NodeTest, ValueError> {
        if self.takes("*") {
            return Ok(NodeTest::AnyName);
        }
        let Some(Token::Name(name)) = self.tokens.get(self.at).cloned() else { return Err(self.error()) };
        if self.is_sign(1, "::") {
            let message = format!("the axis `{name}` is not supported");
            return Err(ValueError::unsupported(message).with_hint("use `/`, `//`, `@`, `.` and `..`"));
        }
        self.at += 1;
        if !self.takes("(") {
            return Ok(NodeTest::Name(name));
        }
        self.needs(")")?;
        match &*name {
            "text" => Ok(NodeTest::Text),
            "node" => Ok(NodeTest::AnyNode),
            _ => Err(unexpected(&format!("{name}()"))),
        }
    }

    fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token::Sign(found)) if *found == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(0, sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.tokens.get(self.at), Some(Token::Name(name)) if name == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn needs(&mut self, sign: &str) -> Result<(), ValueError> {
        if self.takes(sign) { Ok(()) } else { Err(self.error()) }
    }

    fn error(&self) -> ValueError {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) => unexpected(sign),
            Some(Token::Name(text) | Token::Text(text)) => unexpected(text),
            Some(Token::Number(number)) => unexpected(&number.to_string()),
            None => ValueError::new("the XPath ends too early"),
        }
    }
}
