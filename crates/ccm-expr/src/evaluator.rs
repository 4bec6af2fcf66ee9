//! Evaluation of an expression within limits.

mod access;
mod arithmetic;
mod predicates;

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

pub(crate) use access::fetch;
pub(crate) use arithmetic::NoResult;

use crate::error::{Cause, Error, ExprResult};
use crate::functions::{self, CallError, Implementation};
use crate::limits::{self, Budget, Exhausted};
use crate::scope::Scope;
use crate::tree::{ChildRange, NodeId, NodeKind, Operator, Prefix, SyntaxTree};
use crate::{Map, Value, pattern};

struct Iteration {
    element: Value,
    index: usize,
    accumulator: Value,
}

pub(crate) struct Evaluator<'t, 's> {
    tree: &'t SyntaxTree,
    scope: &'s dyn Scope,
    budget: Budget,
    locals: Vec<Value>,
    iterations: Vec<Iteration>,
}

pub(crate) fn evaluate(tree: &SyntaxTree, scope: &dyn Scope) -> ExprResult<Value> {
    let mut evaluator = Evaluator {
        tree,
        scope,
        budget: Budget::default(),
        locals: vec![Value::Null; tree.slots as usize],
        iterations: Vec::new(),
    };
    let value = evaluator.value(tree.root)?;
    // A small value with shared parts is large when it is written.
    limits::weigh(&value).map_err(|exhausted| exhausted.at(evaluator.range(tree.root)))?;
    Ok(value)
}

impl Evaluator<'_, '_> {
    fn range(&self, id: NodeId) -> Range<usize> {
        self.tree.node(id).span.range()
    }

    fn charge(
        &mut self,
        id: NodeId,
        cost: impl FnOnce(&mut Budget) -> Result<(), Exhausted>,
    ) -> ExprResult<()> {
        let charged = cost(&mut self.budget);
        self.at_node(id, charged)
    }

    fn at_node<T>(&self, id: NodeId, result: Result<T, Exhausted>) -> ExprResult<T> {
        result.map_err(|exhausted| exhausted.at(self.range(id)))
    }

    fn value(&mut self, id: NodeId) -> ExprResult<Value> {
        let tree = self.tree;
        let node = tree.node(id);
        self.budget.step(|| node.span.range())?;
        match &node.kind {
            NodeKind::Constant(value) => Ok(value.clone()),
            NodeKind::Name => self.name(tree.text(node.span), id, false),
            NodeKind::Environment => Ok(self.environment()),
            NodeKind::Local(slot) => Ok(self.locals[*slot as usize].clone()),
            NodeKind::Element => Ok(self.iterations.last().map(|at| at.element.clone()).unwrap_or_default()),
            #[allow(clippy::cast_possible_wrap, reason = "no list is that long")]
            NodeKind::Index => Ok(Value::Int(self.iterations.last().map_or(0, |at| at.index) as i64)),
            NodeKind::Accumulator => {
                Ok(self.iterations.last().map(|at| at.accumulator.clone()).unwrap_or_default())
            }
            NodeKind::Prefix(prefix, operand) => self.prefix(*prefix, *operand),
            NodeKind::Binary(..) => self.chain_of_operators(id),
            NodeKind::Matches(operand, pattern) => {
                let text = self.value(*operand)?;
                self.matches(id, *operand, &text, pattern)
            }
            NodeKind::Member { .. } | NodeKind::Item { .. } | NodeKind::Method { .. } => {
                Ok(self.access(id)?.unwrap_or_default())
            }
            NodeKind::Chain(inner) => Ok(self.access(*inner)?.unwrap_or_default()),
            NodeKind::Slice { base, from, to } => self.slice(id, *base, *from, *to),
            NodeKind::List(children) => self.list(id, *children),
            NodeKind::Map(children) => self.map(id, *children),
            NodeKind::Conditional { condition, then, otherwise } => {
                let branch = if self.boolean(*condition)? { *then } else { *otherwise };
                self.value(branch)
            }
            NodeKind::Let { slot, value, body } => {
                let value = self.value(*value)?;
                self.locals[*slot as usize] = value;
                self.value(*body)
            }
            NodeKind::Sequence(children) => {
                let mut last = Value::Null;
                for child in tree.children(*children) {
                    last = self.value(*child)?;
                }
                Ok(last)
            }
            NodeKind::Builtin { function, arguments } => self.builtin(id, *function, *arguments),
            NodeKind::Call { name, arguments } => {
                let values = self.values(*arguments)?;
                for (argument, child) in values.iter().zip(tree.children(*arguments)) {
                    self.charge(*child, |budget| budget.walk(argument))?;
                }
                let name = tree.text(*name);
                self.scope.call(name, &values).map_err(|error| {
                    let mut raised = Error::run(self.range(id), error.to_string());
                    raised.hints.clone_from(&error.hints);
                    raised.nearest.clone_from(&error.nearest);
                    raised.with_cause(Cause::Function { name: name.to_owned(), error: Box::new(error) })
                })
            }
        }
    }

    /// Returns the value of a name of the scope; with `lenient`, an unknown name is null.
    fn name(&self, name: &str, id: NodeId, lenient: bool) -> ExprResult<Value> {
        match self.scope.name(name) {
            Some(value) => Ok(value),
            None if lenient => Ok(Value::Null),
            None => Err(Error::unknown_name(self.range(id), name, &self.scope.names())),
        }
    }

    fn environment(&self) -> Value {
        let names = self.scope.names();
        Value::map(names.into_iter().filter_map(|name| self.scope.name(&name).map(|value| (name, value))))
    }

    fn boolean(&mut self, id: NodeId) -> ExprResult<bool> {
        match self.value(id)? {
            Value::Bool(boolean) => Ok(boolean),
            other => Err(self.expected(id, "a boolean", &other)),
        }
    }

    fn expected(&self, id: NodeId, expected: &str, found: &Value) -> Box<Error> {
        Error::run(self.range(id), format!("expected {expected}, found {}", found.kind()))
    }

    fn prefix(&mut self, prefix: Prefix, operand: NodeId) -> ExprResult<Value> {
        let value = self.value(operand)?;
        match (prefix, value) {
            (Prefix::Not, Value::Bool(boolean)) => Ok(Value::Bool(!boolean)),
            (Prefix::Not, other) => {
                let hint = "write `not (A == B)`: `not` binds more tightly than a comparison";
                Err(self.expected(operand, "a boolean", &other).with_hint(hint))
            }
            (Prefix::Plus, value) => Ok(value),
            (Prefix::Minus, Value::Int(number)) => match number.checked_neg() {
                Some(number) => Ok(Value::Int(number)),
                None => Err(NoResult::IntegerRange.at(self.range(operand), "-")),
            },
            (Prefix::Minus, Value::Float(number)) => Ok(Value::Float(-number)),
            (Prefix::Minus, other) => Err(self.expected(operand, "a number", &other)),
        }
    }

    /// Evaluates consecutive operators from the left, in a loop: recursion would bound their number.
    fn chain_of_operators(&mut self, id: NodeId) -> ExprResult<Value> {
        let mut spine = Vec::new();
        let mut at = id;
        while let NodeKind::Binary(operator, left, right) = self.tree.node(at).kind {
            spine.push((at, operator, left, right));
            at = left;
        }
        let mut value = self.value(at)?;
        while let Some((at, operator, left, right)) = spine.pop() {
            self.budget.step(|| self.tree.node(at).span.range())?;
            value = self.operation(at, operator, left, value, right)?;
        }
        Ok(value)
    }

    fn operation(
        &mut self,
        id: NodeId,
        operator: Operator,
        left_id: NodeId,
        left: Value,
        right_id: NodeId,
    ) -> ExprResult<Value> {
        match operator {
            Operator::And | Operator::Or => match left {
                Value::Bool(decided) if decided == (operator == Operator::Or) => Ok(left),
                Value::Bool(_) => self.value(right_id),
                other => Err(self.expected(left_id, "a boolean", &other)),
            },
            Operator::Coalesce if left.is_null() => self.value(right_id),
            Operator::Coalesce => Ok(left),
            _ => {
                let right = self.value(right_id)?;
                self.strict_operation(id, operator, (left_id, left), (right_id, right))
            }
        }
    }

    fn matches(
        &mut self,
        id: NodeId,
        operand: NodeId,
        text: &Value,
        pattern: &regex::Regex,
    ) -> ExprResult<Value> {
        let lossy;
        let text = match text {
            Value::Null => return Ok(Value::Bool(false)),
            Value::Text(text) => &**text,
            Value::Bytes(bytes) => {
                lossy = String::from_utf8_lossy(bytes);
                &lossy
            }
            other => return Err(self.expected(operand, "text", other)),
        };
        // The cost grows with both lengths.
        let work = (text.len() / 64).saturating_mul(pattern.as_str().len() / 8 + 1);
        self.charge(id, |budget| budget.steps(work))?;
        Ok(Value::Bool(pattern.is_match(text)))
    }

    /// Evaluates `matches` with a computed pattern.
    fn matches_dynamic(
        &mut self,
        id: NodeId,
        operand: NodeId,
        text: &Value,
        pattern_id: NodeId,
        written: &str,
    ) -> ExprResult<Value> {
        self.charge(id, |budget| budget.steps(written.len() + 100))?;
        let pattern = pattern::compile(written).map_err(|refused| {
            let error = Error::run(self.range(pattern_id), refused.message);
            if refused.limit { error.with_cause(Cause::Limit) } else { error }
        })?;
        self.matches(id, operand, text, &pattern)
    }

    fn values(&mut self, children: ChildRange) -> ExprResult<Vec<Value>> {
        let tree = self.tree;
        tree.children(children).iter().map(|child| self.value(*child)).collect()
    }

    fn list(&mut self, id: NodeId, children: ChildRange) -> ExprResult<Value> {
        let elements = self.values(children)?;
        self.charge(id, |budget| budget.elements(elements.len()))?;
        Ok(Value::List(Arc::new(elements)))
    }

    fn map(&mut self, id: NodeId, children: ChildRange) -> ExprResult<Value> {
        let tree = self.tree;
        let children = tree.children(children);
        self.charge(id, |budget| budget.elements(children.len() / 2))?;
        let mut map = Map::with_capacity(children.len() / 2);
        for pair in children.chunks_exact(2) {
            let key = match self.value(pair[0])? {
                Value::Text(key) => key,
                other => return Err(self.expected(pair[0], "text as the key of a map", &other)),
            };
            let value = self.value(pair[1])?;
            if map.insert(key, value).is_some() {
                let error = Error::run(self.range(pair[0]), "this map has a key of this name already");
                return Err(error.of_duplicate_key(0..0));
            }
        }
        Ok(Value::Map(Arc::new(map)))
    }

    fn builtin(&mut self, id: NodeId, function: u16, arguments: ChildRange) -> ExprResult<Value> {
        let builtin = functions::by_index(function);
        match builtin.run {
            Implementation::Predicate(predicate) => self.predicate(predicate, id, arguments),
            Implementation::Plain(run) => {
                let values = self.values(arguments)?;
                // Every function reads its texts at least once.
                self.charge(id, |budget| values.iter().try_for_each(|value| budget.read_value(value)))?;
                let scope = self.scope;
                let now = || -> Timestamp { scope.now() };
                let mut call =
                    functions::FunctionCall { arguments: &values, budget: &mut self.budget, now: &now };
                run(&mut call).map_err(|error| self.call_error(id, builtin.doc.name, arguments, error))
            }
        }
    }

    fn call_error(&self, id: NodeId, name: &str, arguments: ChildRange, error: CallError) -> Box<Error> {
        let argument_range = |at: usize| {
            let argument = self.tree.children(arguments).get(at);
            self.range(argument.copied().unwrap_or(id))
        };
        match error {
            CallError::Argument(at, message) => {
                Error::run(argument_range(at), format!("`{name}`: {message}"))
            }
            CallError::Hinted(at, message, hint) => {
                Error::run(argument_range(at), format!("`{name}`: {message}")).with_hint(hint)
            }
            CallError::Limit(exhausted) => exhausted.at(self.range(id)),
        }
    }
}
