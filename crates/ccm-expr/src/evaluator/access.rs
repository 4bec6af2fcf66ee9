//! Parts of values: keys, places, slices and methods.

use std::borrow::Cow;
use std::sync::Arc;

use super::Evaluator;
use crate::Value;
use crate::error::{Cause, Error, Fallible};
use crate::functions::maps::same_key;
use crate::time;
use crate::tree::{Access, Children, NodeId, NodeKind, Piece};

/// The part of a value under a key, or why there is none. A key that a map lacks yields nothing.
pub(crate) fn fetch(value: &Value, key: &Value) -> Result<Value, Cow<'static, str>> {
    match (value, key) {
        (Value::Map(map), Value::Text(key)) => Ok(map.get(key).cloned().unwrap_or_default()),
        // Nothing as a key is taken for a text without letters.
        (Value::Map(map), Value::Null) => Ok(map.get("").cloned().unwrap_or_default()),
        (Value::Map(_), key) => {
            Err(format!("expected text as the key of a map, found {}", key.kind()).into())
        }
        (Value::Groups(groups), key) => {
            let found = groups.iter().find(|(held, _)| same_key(held, key));
            Ok(found.map(|(_, value)| value.clone()).unwrap_or_default())
        }
        (Value::List(list), key) => {
            let at = place(key, list.len(), "list")?;
            Ok(list[at].clone())
        }
        (Value::Text(text), key) => {
            let at = place(key, text.len(), "text")?;
            Ok(Value::Int(text.as_bytes()[at].into()))
        }
        (Value::Bytes(bytes), key) => {
            let at = place(key, bytes.len(), "list")?;
            Ok(Value::Int(bytes[at].into()))
        }
        (value, _) => Err(format!("{} has no parts", value.kind()).into()),
    }
}

/// Whether a map doesn't have a key.
fn lacks(whole: &Value, key: &Value) -> bool {
    match (whole, key) {
        (Value::Map(map), Value::Text(key)) => !map.contains_key(key),
        (Value::Map(map), Value::Null) => !map.contains_key(""),
        _ => false,
    }
}

/// The place that a key stands for; a negative one counts from the end.
fn place(key: &Value, length: usize, whole: &str) -> Result<usize, Cow<'static, str>> {
    let at = match key {
        Value::Int(at) => *at,
        #[allow(clippy::cast_possible_truncation, reason = "the language cuts off the fraction")]
        Value::Float(at) => *at as i64,
        other => {
            return Err(
                format!("expected an integer as the place in a {whole}, found {}", other.kind()).into()
            );
        }
    };
    let from_start = if at < 0 { i64::try_from(length).unwrap_or(i64::MAX).saturating_add(at) } else { at };
    usize::try_from(from_start).ok().filter(|at| *at < length).ok_or_else(|| match length {
        0 => format!("the {whole} is empty").into(),
        _ => format!("the {whole} ends before place {at}: its last is {}", length - 1).into(),
    })
}

impl Evaluator<'_, '_> {
    /// A part of a value; `None` where a `?.` met nothing and ends the chain.
    pub(super) fn link(&mut self, id: NodeId) -> Fallible<Option<Value>> {
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
                    let piece = tree.node(key_id).piece;
                    return self.member(id, &whole, name, piece, access).map(Some);
                }
                let key = self.value(key_id)?;
                let others = if let Value::Groups(groups) = &whole { groups.len() } else { 1 };
                let charged = self.budget.compare(&key, others);
                self.within(id, charged)?;
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

    /// The value that something is asked of; `None` if it is nothing and `?.` follows.
    fn base(&mut self, base: NodeId, access: Access) -> Fallible<Option<Value>> {
        let part = matches!(
            self.tree.node(base).kind,
            NodeKind::Member { .. } | NodeKind::Item { .. } | NodeKind::Method { .. }
        );
        let value = if part {
            self.budget.step(|| self.tree.node(base).piece.range())?;
            match self.link(base)? {
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

    /// The value of a key that is named outright.
    fn member(&self, id: NodeId, whole: &Value, name: &str, piece: Piece, access: Access) -> Fallible<Value> {
        match whole {
            Value::Map(map) => match map.get(name) {
                Some(value) => Ok(value.clone()),
                None if self.scope.strict() && !access.optional && !access.lenient => {
                    Err(Error::run(piece.range(), format!("there is no `{}`", self.path(id)))
                        .did_you_mean(name, map.keys().map(|key| &**key))
                        .because(Cause::MissingKey(self.segments(id))))
                }
                None => Ok(Value::Null),
            },
            Value::Groups(_) => Ok(whole.get(name).cloned().unwrap_or_default()),
            Value::Null => {
                let path = self.path(id);
                let error =
                    Error::run(piece.range(), format!("`{path}`: there is nothing that could have `{name}`"));
                Err(error.hint("`?.` instead of `.` yields nil there"))
            }
            other => {
                let error = Error::run(piece.range(), format!("{} has no field `{name}`", other.kind()));
                let methods = time::methods(time::method_of(other));
                Err(match other {
                    Value::List(_) => {
                        error.hint("an element is asked for as `[0]`; a field of each with map(list, .field)")
                    }
                    _ if methods.clone().any(|method| method == name) => {
                        error.hint(format!("it is a method: `{name}()`"))
                    }
                    _ => error,
                })
            }
        }
    }

    /// A map lacks a key that was worked out. The key isn't shown: it may be made of a secret.
    fn no_such_key(&self, id: NodeId, base: NodeId, key: NodeId) -> Box<Error> {
        let whole = self.path(base);
        let whole = if whole.starts_with('…') { "this map".to_owned() } else { format!("`{whole}`") };
        Error::run(self.range(key), format!("{whole} has no such key"))
            .hint("`?.[` instead of `[` yields nil there")
            .because(Cause::MissingKey(self.segments(id)))
    }

    /// The names and keys that lead to a part, as they would be written.
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

    /// Returns the names and keys that lead to a part, up to the first that is worked out.
    fn segments(&self, id: NodeId) -> Vec<String> {
        self.parts(id).into_iter().map_while(|part| part.map(str::to_owned)).collect()
    }

    /// Returns the names and keys that lead to a part; `None` stands for one that is worked out.
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
                    parts.push(Some(self.tree.text(node.piece)));
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

    fn method(&mut self, whole: &Value, name: Piece, arguments: Children) -> Fallible<Value> {
        let word = self.tree.text(name);
        let nature = time::method_of(whole);
        let Some(method) = time::method(nature, word) else {
            let error = Error::run(name.range(), format!("{} has no method `{word}`", whole.kind()));
            return Err(error.did_you_mean(word, time::methods(nature)));
        };
        let values = self.values(arguments)?;
        let charged = values.iter().try_for_each(|value| self.budget.look(value));
        charged.map_err(|exhausted| exhausted.at(name.range()))?;
        if values.len() != method.parameters.len() {
            let message =
                format!("`{word}` takes {} arguments, found {}", method.parameters.len(), values.len());
            return Err(Error::run(name.range(), message));
        }
        let value = (method.call)(whole, &values).ok_or_else(|| {
            Error::run(
                name.range(),
                format!("`{word}`: expected other arguments, or a date within the years that there are"),
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
    ) -> Fallible<Value> {
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
        self.within(id, charged)?;
        Ok(match whole {
            // A slice goes by bytes; what is left of a character is no text.
            Value::Text(text) => Value::text(match text.get(from..to) {
                Some(part) => Arc::<str>::from(part),
                None => String::from_utf8_lossy(&text.as_bytes()[from..to]).into(),
            }),
            Value::Bytes(bytes) => Value::Bytes(bytes[from..to].into()),
            Value::List(list) => Value::List(Arc::new(list[from..to].to_vec())),
            other => other,
        })
    }

    /// A bound of a slice, within the whole.
    fn bound(&mut self, id: NodeId, length: usize) -> Fallible<usize> {
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
