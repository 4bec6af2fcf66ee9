//! Conversion of values to those of minijinja and back.

use std::fmt;
use std::sync::Arc;

use ccm_expr::{Map, Value};
use minijinja::Error;
use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};

use super::error::TemplateFault;
use super::error_conversion::RaisedFault;
use super::meter::measure;

/// Maximum nesting of a list or map of a template where it is printed or passed to a function.
const MAX_DEPTH: usize = 100;

/// Converts to a value of minijinja. Lists and maps are shared, not copied.
pub(super) fn to_engine(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(boolean) => minijinja::Value::from(*boolean),
        Value::Int(integer) => minijinja::Value::from(*integer),
        Value::Float(float) => minijinja::Value::from(*float),
        Value::Text(text) => minijinja::Value::from(Arc::clone(text)),
        Value::List(list) => minijinja::Value::from_object(List(Arc::clone(list))),
        Value::Map(map) => minijinja::Value::from_object(Entries(Arc::clone(map))),
        Value::Groups(entries) => {
            minijinja::Value::from_object(Entries(Arc::new(crate::nodes::with_text_keys(entries))))
        }
        Value::Bytes(_) | Value::Duration(_) | Value::DateTime(_) | Value::Calendar(_) => {
            minijinja::Value::from(value.to_string())
        }
    }
}

/// Converts from a value of minijinja; `None` for functions, undefined values and its other types.
pub(super) fn from_engine(value: &minijinja::Value) -> Option<Value> {
    read_within(value, MAX_DEPTH)
}

/// Returns `true` for a list or map of ccm, which holds data alone.
pub(super) fn is_of_ccm(value: &minijinja::Value) -> bool {
    value.downcast_object_ref::<List>().is_some() || value.downcast_object_ref::<Entries>().is_some()
}

fn read_within(value: &minijinja::Value, depth: usize) -> Option<Value> {
    if let Some(List(list)) = value.downcast_object_ref() {
        return Some(Value::List(Arc::clone(list)));
    }
    if let Some(Entries(map)) = value.downcast_object_ref() {
        return Some(Value::Map(Arc::clone(map)));
    }
    let depth = depth.checked_sub(1)?;
    match value.kind() {
        ValueKind::None => Some(Value::Null),
        ValueKind::Bool => Some(Value::Bool(value.is_true())),
        ValueKind::Number => match value.as_i64().filter(|_| value.is_integer()) {
            Some(integer) => Some(Value::Int(integer)),
            None => f64::try_from(value.clone()).ok().map(Value::Float),
        },
        ValueKind::String => value.as_str().map(Value::text),
        ValueKind::Seq | ValueKind::Iterable => {
            let elements = value.try_iter().ok()?.map(|element| read_within(&element, depth));
            elements.collect::<Option<Vec<Value>>>().map(Value::list)
        }
        ValueKind::Map => {
            let entry = |key: minijinja::Value| {
                let value = read_within(&value.get_item(&key).ok()?, depth)?;
                Some((Arc::from(key.to_string()), value))
            };
            value.try_iter().ok()?.map(entry).collect::<Option<Map>>().map(|map| Value::Map(Arc::new(map)))
        }
        _ => None,
    }
}

/// Formats a value as output, as an expression in a manifest would.
pub(super) fn text_of(value: &minijinja::Value) -> Result<String, Error> {
    Ok(match value.kind() {
        ValueKind::None => String::new(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            measure(value)?;
            let Some(value) = from_engine(value) else {
                let message = "this value can't be written as text".to_owned();
                return Err(RaisedFault::new(TemplateFault::Operation(message)).into());
            };
            crate::printed::to_text(&value).into_owned()
        }
        ValueKind::Number if !value.is_integer() => match f64::try_from(value.clone()) {
            Ok(float) => float_text(float).unwrap_or_else(|| value.to_string()),
            Err(_) => value.to_string(),
        },
        _ => value.to_string(),
    })
}

/// Writes a very large or small number with an exponent, as Python does; `None` for others.
fn float_text(number: f64) -> Option<String> {
    if number == 0.0 || !number.is_finite() || (1e-4..1e16).contains(&number.abs()) {
        return None;
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e')?;
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    Some(format!("{digits}e{sign}{exponent:0>2}"))
}

/// Converts JSON to a value of minijinja.
pub(super) fn from_json(json: &serde_json::Value) -> minijinja::Value {
    minijinja::Value::from(minijinja::value::Serde(json))
}

struct List(Arc<Vec<Value>>);

/// minijinja requires `Debug` of its objects; values may be secret.
impl fmt::Debug for List {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        self.0.get(key.as_usize()?).map(to_engine)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&crate::printed::to_text(&Value::List(Arc::clone(&self.0))))
    }
}

struct Entries(Arc<Map>);

impl fmt::Debug for Entries {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }
}

impl Object for Entries {
    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<minijinja::Value> {
        self.0.get(key).map(to_engine)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.keys().map(|key| minijinja::Value::from(Arc::clone(key))).collect())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&crate::printed::to_text(&Value::Map(Arc::clone(&self.0))))
    }
}
