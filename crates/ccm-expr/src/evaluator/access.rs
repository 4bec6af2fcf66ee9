//! Access to parts of values: keys, indices, slices and methods.

use std::borrow::Cow;
use std::sync::Arc;

use super::Evaluator;
use crate::Value;
use crate::error::{Cause, Error, ExprResult};
use crate::functions::maps::same_key;
use crate::time;
use crate::tree::{Access, ChildRange, NodeId, NodeKind, TextSpan};

/// Returns the part of a value under a key; a key that a map lacks is null. The error is a message.
pub(crate) fn fetch(value: &Value, key: &Value) -> Result<Value, Cow<'static, str>> {
    match (value, key) {
        (Value::Map(map), Value::Text(key)) => Ok(map.get(key).cloned().unwrap_or_default()),
        // A null key means the empty key.
        (Value::Map(map), Value::Null) => Ok(map.get("").cloned().unwrap_or_default()),
        (Value::Map(_), key) => {
            Err(format!("expected text as the key of a map, found {}", key.kind()).into())
        }
        (Value::Groups(groups), key) => {
            let found = groups.iter().find(|(held, _)| same_key(held, key));
            Ok(found.map(|(_, value)| value.clone()).unwrap_or_default())
        }
        (Value::List(list), key) => {
            let at = element_index(key, list.len(), "list")?;
            Ok(list[at].clone())
        }
        (Value::Text(text), key) => {
            let at = element_index(key, text.len(), "text")?;
            Ok(Value::Int(text.as_bytes()[at].into()))
        }
        (Value::Bytes(bytes), key) => {
            let at = element_index(key, bytes.len(), "list")?;
            Ok(Value::Int(bytes[at].into()))
        }
        (value, _) => Err(format!("{} has no parts", value.kind()).into()),
    }
}

fn lacks(whole: &Value, key: &Value) -> bool {
    match (whole, key) {
        (Value::Map(map), Value::Text(key)) => !map.contains_key(key),
        (Value::Map(map), Value::Null) => !map.contains_key(""),
        _ => false,
    }
}

/// Returns the index for a key; a negative key counts from the end.
fn element_index(key: &Value, length: usize, whole: &str) -> Result<usize, Cow<'static, str>> {
    let at = match key {
        Value::Int(at) => *at,
        #[allow(clippy::cast_possible_truncation, reason = "the language cuts off the fraction")]
        Value::Float(at) => *at as i64,
        other => {
            return Err(
                format!("expected an integer as the index of a {whole}, found {}", other.kind()).into()
            );
        }
    };
    let from_start = if at < 0 { i64::try_from(length).unwrap_or(i64::MAX).saturating_add(at) } else { at };
    usize::try_from(from_start).ok().filter(|at| *at < length).ok_or_else(|| match length {
        0 => format!("the {whole} is empty").into(),
        _ => format!("index {at} is out of range: the last index of the {whole} is {}", length - 1).into(),
    })
}

impl Evaluator<'_, '_> {
    /// Returns a part of a value; `None` if a `?.` met null and ends the chain.
    pub(super) fn access(&mut self, id: NodeId) -> ExprResult<Option<Value>> {
        let tree = self.tree;
        match &tree.node(id).kind {
            NodeKind::Member { base, name, access } => {
                let (base, name, access) = (*base, *name, *access);
                if matches!(tree.node(base).kind, NodeKind::Environment) {
                    let lenient = access.optional || access.lenient || !self.scope.strict();
                    return self.name(tree.text(name), id, lenient).map(Some);
                }
                let Some(whole) = self.base(base, access)? else { return Ok(None) };
                self.member(id, &whole, tree.text(name), name, access).map(Some)
            }
            NodeKind::Item { base, key, access } => {
                let (base, key_id, access) = (*base, *key, *access);
                if let (NodeKind::Environment, Some(name)) =
                    (&tree.node(base).kind, tree.constant_text(key_id))
                {
                    let lenient = access.optional || access.lenient || !self.scope.strict();
                    return self.name(name, id, lenient).map(Some);
                }
                let Some(whole) = self.base(base, access)? else { return Ok(None) };
                if let Some(name) = tree.constant_text(key_id) {
                    let span = tree.node(key_id).span;
                    return self.member(id, &whole, name, span, access).map(Some);
                }
                let key = self.value(key_id)?;
                let candidates = if let Value::Groups(groups) = &whole { groups.len() } else { 1 };
                self.charge(id, |budget| budget.compare(&key, candidates))?;
                if self.scope.strict() && !access.optional && !access.lenient && lacks(&whole, &key) {
                    return Err(self.no_such_key(id, base, key_id));
                }
                fetch(&whole, &key).map(Some).map_err(|message| {
                    let at = if whole.is_null() || matches!(whole, Value::Bool(_)) { base } else { key_id };
                    Error::run(self.range(at), message)
                })
            }
            NodeKind::Method { base, name, access, arguments } => {
                let (base, name, access, arguments) = (*base, *name, *access, *arguments);
                let Some(whole) = self.base(base, access)? else { return Ok(None) };
                self.method(&whole, name, arguments).map(Some)
            }
            _ => self.value(id).map(Some),
        }
    }

    /// Evaluates the base of an access; `None` if the base is null and `?.` follows.
    fn base(&mut self, base: NodeId, access: Access) -> ExprResult<Option<Value>> {
        let is_part = matches!(
            self.tree.node(base).kind,
            NodeKind::Member { .. } | NodeKind::Item { .. } | NodeKind::Method { .. }
        );
        let value = if is_part {
            self.budget.step(|| self.tree.node(base).span.range())?;
            match self.access(base)? {
                Some(value) => value,
                None => return Ok(None),
            }
        } else {
            self.value(base)?
        };
        if access.optional && value.is_null() {
            return Ok(None);
        }
        Ok(Some(value))
    }

    /// Returns the value of a constant key.
    fn member(
        &self,
        id: NodeId,
        whole: &Value,
        name: &str,
        span: TextSpan,
        access: Access,
    ) -> ExprResult<Value> {
        match whole {
            Value::Map(map) => match map.get(name) {
                Some(value) => Ok(value.clone()),
                None if self.scope.strict() && !access.optional && !access.lenient => {
                    let message = match self.path(id) {
                        path if path.starts_with('…') => format!("this map has no key `{name}`"),
                        path => format!("there is no `{path}`"),
                    };
                    Err(Error::run(span.range(), message)
                        .did_you_mean(name, map.keys().map(|key| &**key))
                        .with_cause(Cause::MissingKey(self.segments(id))))
                }
                None => Ok(Value::Null),
            },
            Value::Groups(_) => Ok(whole.get(name).cloned().unwrap_or_default()),
            Value::Null => {
                let message = match self.path(id) {
                    path if path.starts_with('…') => format!("nil (null) has no key `{name}`"),
                    path => format!("`{path}`: nil (null) has no key `{name}`"),
                };
                Err(Error::run(span.range(), message).with_hint("use `?.`, with a default after `??`"))
            }
            other => {
                let error = Error::run(span.range(), format!("{} has no field `{name}`", other.kind()));
                let methods = time::methods(time::method_of(other));
                Err(match other {
                    Value::List(_) => {
                        error.with_hint("write `[0]` for an element, map(list, .field) for a field of each")
                    }
                    _ if methods.clone().any(|method| method == name) => {
                        error.with_hint(format!("call the method: `{name}()`"))
                    }
                    _ => error,
                })
            }
        }
    }

    /// Builds the error for a computed key that a map lacks. The key is hidden: it may hold a secret.
    fn no_such_key(&self, id: NodeId, base: NodeId, key: NodeId) -> Box<Error> {
        let whole = self.path(base);
        let whole = if whole.starts_with('…') { "this map".to_owned() } else { format!("`{whole}`") };
        Error::run(self.range(key), format!("{whole} has no such key"))
            .with_hint("use `?.[…]`, with a default after `??`")
            .with_cause(Cause::MissingKey(self.segments(id)))
    }

    fn path(&self, id: NodeId) -> String {
        let parts = self.parts(id).into_iter().enumerate();
        let shown = parts.map(|(at, part)| match (at, part) {
            (0, Some(name)) => name.to_owned(),
            (0, None) => "…".to_owned(),
            (_, Some(name)) => format!(".{name}"),
            (_, None) => "[…]".to_owned(),
        });
        shown.collect()
    }

    /// Returns the names and keys that lead to a part, up to the first computed one.
    fn segments(&self, id: NodeId) -> Vec<String> {
        self.parts(id).into_iter().map_while(|part| part.map(str::to_owned)).collect()
    }

    /// Returns the names and keys that lead to a part; `None` stands for a computed one.
    fn parts(&self, id: NodeId) -> Vec<Option<&str>> {
        let mut parts = Vec::new();
        let mut at = id;
        loop {
            let node = self.tree.node(at);
            at = match &node.kind {
                NodeKind::Member { base, name, .. } | NodeKind::Method { base, name, .. } => {
                    parts.push(Some(self.tree.text(*name)));
                    *base
                }
                NodeKind::Item { base, key, .. } => {
                    parts.push(self.tree.constant_text(*key));
                    *base
                }
                NodeKind::Chain(inner) => *inner,
                NodeKind::Name | NodeKind::Local(_) | NodeKind::Environment | NodeKind::Element => {
                    parts.push(Some(self.tree.text(node.span)));
                    break;
                }
                _ => {
                    parts.push(None);
                    break;
                }
            };
        }
        parts.reverse();
        parts
    }

    fn method(&mut self, whole: &Value, name: TextSpan, arguments: ChildRange) -> ExprResult<Value> {
        let word = self.tree.text(name);
        let static_type = time::method_of(whole);
        let Some(method) = time::method(static_type, word) else {
            return Err(time::unknown_method(Error::run, name.range(), whole.kind(), word, static_type));
        };
        let values = self.values(arguments)?;
        let charged = values.iter().try_for_each(|value| self.budget.read_value(value));
        charged.map_err(|exhausted| exhausted.at(name.range()))?;
        if values.len() != method.parameters.len() {
            let message =
                format!("`{word}` takes {} arguments, found {}", method.parameters.len(), values.len());
            return Err(Error::run(name.range(), message));
        }
        let value = (method.call)(whole, &values).ok_or_else(|| {
            Error::run(
                name.range(),
                format!("`{word}`: the arguments are not valid, or the date is outside the supported years"),
            )
        })?;
        if let Value::Text(text) = &value {
            let charged = self.budget.bytes(text.len());
            charged.map_err(|exhausted| exhausted.at(name.range()))?;
        }
        Ok(value)
    }

    pub(super) fn slice(
        &mut self,
        id: NodeId,
        base: NodeId,
        from: Option<NodeId>,
        to: Option<NodeId>,
    ) -> ExprResult<Value> {
        let whole = self.value(base)?;
        let length = match &whole {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            other => return Err(self.expected(base, "a list or text", other)),
        };
        let to = match to {
            Some(to) => self.bound(to, length)?,
            None => length,
        };
        let from = match from {
            Some(from) => self.bound(from, length)?,
            None => 0,
        };
        let from = from.min(to);
        let charged = match &whole {
            Value::List(_) => self.budget.elements(to - from),
            _ => self.budget.bytes(to - from),
        };
        self.at_node(id, charged)?;
        Ok(match whole {
            // Slices count bytes; cut characters are replaced.
            Value::Text(text) => Value::text(match text.get(from..to) {
                Some(part) => Arc::<str>::from(part),
                None => String::from_utf8_lossy(&text.as_bytes()[from..to]).into(),
            }),
            Value::Bytes(bytes) => Value::Bytes(bytes[from..to].into()),
            Value::List(list) => Value::List(Arc::new(list[from..to].to_vec())),
            other => other,
        })
    }

    /// Evaluates a bound of a slice, clamped to the length.
    fn bound(&mut self, id: NodeId, length: usize) -> ExprResult<usize> {
        let at = match self.value(id)? {
            Value::Int(at) => at,
            #[allow(clippy::cast_possible_truncation, reason = "the language cuts off the fraction")]
            Value::Float(at) => at as i64,
            other => return Err(self.expected(id, "an integer", &other)),
        };
        let end = i64::try_from(length).unwrap_or(i64::MAX);
        let at = if at < 0 { at.saturating_add(end) } else { at };
        Ok(usize::try_from(at.clamp(0, end)).unwrap_or(length))
    }
}
