//! Functions that apply a predicate to each element of a list.

use std::collections::HashMap;
use std::sync::Arc;

use super::arithmetic::{NoResult, sum};
use super::{Evaluator, Iteration};
use crate::Value;
use crate::error::{Error, ExprResult};
use crate::functions::maps::{is_key, same_key};
use crate::functions::{Predicate, sorting};
use crate::limits;
use crate::tree::{ChildRange, NodeId};
use crate::value::hash;

impl Evaluator<'_, '_> {
    pub(super) fn predicate(
        &mut self,
        predicate: Predicate,
        id: NodeId,
        arguments: ChildRange,
    ) -> ExprResult<Value> {
        let tree = self.tree;
        let arguments = tree.children(arguments);
        let list_id = arguments[0];
        let value = self.value(list_id)?;
        let Some(list) = value.elements() else { return Err(self.expected(list_id, "a list", &value)) };
        self.charge(id, |budget| budget.steps(list.len()))?;
        let body = arguments.get(1).copied();
        match predicate {
            Predicate::SortBy => return self.sort_by(id, &list, arguments),
            Predicate::Reduce => return self.reduce(id, list_id, &list, arguments),
            _ => {}
        }
        self.iterations.push(Iteration { element: Value::Null, index: 0, accumulator: Value::Null });
        let result = self.evaluate_each(predicate, id, &list, body);
        self.iterations.pop();
        result
    }

    fn apply_predicate(&mut self, list: &[Value], at: usize, body: Option<NodeId>) -> ExprResult<Value> {
        let Some(body) = body else { return Ok(list[at].clone()) };
        if let Some(iteration) = self.iterations.last_mut() {
            iteration.element = list[at].clone();
            iteration.index = at;
        }
        self.value(body)
    }

    fn holds(&mut self, id: NodeId, list: &[Value], at: usize, body: Option<NodeId>) -> ExprResult<bool> {
        match self.apply_predicate(list, at, body)? {
            Value::Bool(boolean) => Ok(boolean),
            other => {
                let message = format!("expected a boolean for each element, found {}", other.kind());
                Err(Error::run(self.range(body.unwrap_or(id)), message))
            }
        }
    }

    fn evaluate_each(
        &mut self,
        predicate: Predicate,
        id: NodeId,
        list: &[Value],
        body: Option<NodeId>,
    ) -> ExprResult<Value> {
        #[allow(clippy::cast_possible_wrap, reason = "no list is that long")]
        let place = |at: usize| Value::Int(at as i64);
        match predicate {
            Predicate::All | Predicate::None | Predicate::Any => {
                let (ends, verdict) = match predicate {
                    Predicate::All => (false, false),
                    Predicate::None => (true, false),
                    _ => (true, true),
                };
                for at in 0..list.len() {
                    if self.holds(id, list, at, body)? == ends {
                        return Ok(Value::Bool(verdict));
                    }
                }
                Ok(Value::Bool(!verdict))
            }
            Predicate::One | Predicate::Count => {
                let mut count = 0;
                for at in 0..list.len() {
                    count += usize::from(self.holds(id, list, at, body)?);
                }
                Ok(if predicate == Predicate::One { Value::Bool(count == 1) } else { place(count) })
            }
            Predicate::Filter => {
                let mut kept = Vec::new();
                for at in 0..list.len() {
                    if self.holds(id, list, at, body)? {
                        kept.push(list[at].clone());
                    }
                }
                self.made(id, kept)
            }
            Predicate::Map => {
                self.charge(id, |budget| budget.elements(list.len()))?;
                let mut made = Vec::with_capacity(list.len());
                for at in 0..list.len() {
                    made.push(self.apply_predicate(list, at, body)?);
                }
                Ok(Value::List(Arc::new(made)))
            }
            Predicate::Find | Predicate::FindIndex | Predicate::FindLast | Predicate::FindLastIndex => {
                let is_backward = matches!(predicate, Predicate::FindLast | Predicate::FindLastIndex);
                let is_element = matches!(predicate, Predicate::Find | Predicate::FindLast);
                for step in 0..list.len() {
                    let at = if is_backward { list.len() - 1 - step } else { step };
                    if self.holds(id, list, at, body)? {
                        return Ok(if is_element { list[at].clone() } else { place(at) });
                    }
                }
                Ok(Value::Null)
            }
            Predicate::Sum => {
                let mut total = Value::Int(0);
                for at in 0..list.len() {
                    let value = self.apply_predicate(list, at, body)?;
                    total = sum(&value, &total).map_err(|reason| match reason {
                        NoResult::Meaningless => self.expected(body.unwrap_or(id), "numbers", &value),
                        reason => reason.at(self.range(id), "sum"),
                    })?;
                }
                Ok(total)
            }
            Predicate::GroupBy => self.group_by(id, list, body),
            // The evaluator handles both elsewhere.
            Predicate::SortBy | Predicate::Reduce => Ok(Value::Null),
        }
    }

    fn made(&mut self, id: NodeId, elements: Vec<Value>) -> ExprResult<Value> {
        self.charge(id, |budget| budget.elements(elements.len()))?;
        Ok(Value::List(Arc::new(elements)))
    }

    fn group_by(&mut self, id: NodeId, list: &[Value], body: Option<NodeId>) -> ExprResult<Value> {
        self.charge(id, |budget| budget.elements(list.len()))?;
        let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        for at in 0..list.len() {
            let key = self.apply_predicate(list, at, body)?;
            if !is_key(&key) {
                return Err(self.expected(body.unwrap_or(id), "a key to group by", &key));
            }
            let alike = places.entry(hash(&key)).or_default();
            self.charge(id, |budget| budget.compare(&key, 1 + alike.len()))?;
            if let Some(group) = alike.iter().find(|at| same_key(&groups[**at].0, &key)) {
                groups[*group].1.push(list[at].clone());
            } else {
                alike.push(groups.len());
                groups.push((key, vec![list[at].clone()]));
            }
        }
        Ok(Value::from_entries(groups.into_iter().map(|(key, group)| (key, Value::list(group))).collect()))
    }

    fn sort_by(&mut self, id: NodeId, list: &[Value], arguments: &[NodeId]) -> ExprResult<Value> {
        let descending = match arguments.get(2) {
            None => false,
            Some(order) => match self.value(*order)? {
                Value::Text(written) => sorting::descending(&written)
                    .ok_or_else(|| Error::run(self.range(*order), sorting::OTHER_ORDER))?,
                other => return Err(self.expected(*order, "\"asc\" or \"desc\"", &other)),
            },
        };
        let body = arguments.get(1).copied();
        self.iterations.push(Iteration { element: Value::Null, index: 0, accumulator: Value::Null });
        let ranks: ExprResult<Vec<Value>> =
            (0..list.len()).map(|at| self.apply_predicate(list, at, body)).collect();
        self.iterations.pop();
        let ranks = ranks?;
        self.charge(id, |budget| sorting::charge(&ranks, budget))?;
        let keys = sorting::keys(&ranks).map_err(|(one, two)| {
            let message = format!("expected results that can be sorted, found {one} and {two}");
            Error::run(self.range(body.unwrap_or(id)), message)
        })?;
        let sorted = sorting::sort(list, &keys, descending);
        self.made(id, sorted)
    }

    fn reduce(
        &mut self,
        id: NodeId,
        list_id: NodeId,
        list: &[Value],
        arguments: &[NodeId],
    ) -> ExprResult<Value> {
        let (mut accumulator, first) = match arguments.get(2) {
            Some(initial) => (self.value(*initial)?, 0),
            None => match list.first() {
                Some(first) => (first.clone(), 1),
                None => {
                    return Err(Error::run(self.range(list_id), "an empty list can't be reduced")
                        .with_hint("add an initial value: reduce(list, #acc + #, 0)"));
                }
            },
        };
        let body = arguments.get(1).copied();
        for at in first..list.len() {
            self.iterations.push(Iteration {
                element: Value::Null,
                index: at,
                accumulator: accumulator.clone(),
            });
            let next = self.apply_predicate(list, at, body);
            self.iterations.pop();
            let next = next?;
            // Only here a value can grow deeper with every round.
            if !same(&next, &accumulator) {
                let weight = self.at_node(id, limits::weigh(&next))?;
                self.charge(id, |budget| budget.steps(weight.elements / 8))?;
            }
            accumulator = next;
        }
        Ok(accumulator)
    }
}

/// Returns `true` if both values share their memory, or are too small to nest.
fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::List(one), Value::List(two)) => Arc::ptr_eq(one, two),
        (Value::Map(one), Value::Map(two)) => Arc::ptr_eq(one, two),
        (Value::List(_) | Value::Map(_) | Value::Groups(_), _) => false,
        _ => true,
    }
}
