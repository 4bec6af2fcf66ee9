//! Equality and order of values.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Value;

/// Equality by `==`: numbers by value, lists by elements, maps regardless of the order of keys.
impl PartialEq for Value {
    #[allow(clippy::cast_precision_loss, reason = "the language compares an integer with a float as floats")]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Int(one), Self::Int(two)) | (Self::Duration(one), Self::Duration(two)) => one == two,
            (Self::Float(one), Self::Float(two)) => one == two,
            (Self::Int(int), Self::Float(float)) | (Self::Float(float), Self::Int(int)) => {
                *int as f64 == *float
            }
            (Self::Text(one), Self::Text(two)) => one == two,
            (Self::Bytes(one), Self::Bytes(two)) => one == two,
            (Self::List(one), Self::List(two)) => one == two,
            (Self::Map(one), Self::Map(two)) => one == two,
            (Self::Groups(one), Self::Groups(two)) => {
                one.len() == two.len()
                    && one
                        .iter()
                        .all(|(key, value)| two.iter().any(|(other, held)| key == other && value == held))
            }
            (Self::DateTime(one), Self::DateTime(two)) => one.timestamp() == two.timestamp(),
            (Self::Calendar(one), Self::Calendar(two)) => one == two,
            _ => false,
        }
    }
}

pub(crate) enum Compared {
    Ordered(Ordering),
    /// One value is NaN.
    Unordered,
    /// The kinds have no common order.
    Meaningless,
}

impl Value {
    #[allow(clippy::cast_precision_loss, reason = "the language compares an integer with a float as floats")]
    pub(crate) fn compare(&self, other: &Self) -> Compared {
        let floats =
            |one: f64, two: f64| one.partial_cmp(&two).map_or(Compared::Unordered, Compared::Ordered);
        match (self, other) {
            (Self::Int(one), Self::Int(two)) | (Self::Duration(one), Self::Duration(two)) => {
                Compared::Ordered(one.cmp(two))
            }
            (Self::Float(one), Self::Float(two)) => floats(*one, *two),
            (Self::Int(one), Self::Float(two)) => floats(*one as f64, *two),
            (Self::Float(one), Self::Int(two)) => floats(*one, *two as f64),
            (Self::Text(one), Self::Text(two)) => Compared::Ordered(one.cmp(two)),
            (Self::DateTime(one), Self::DateTime(two)) => {
                Compared::Ordered(one.timestamp().cmp(&two.timestamp()))
            }
            _ => Compared::Meaningless,
        }
    }
}

/// Returns a hash that equal values share. Covers only the first levels of lists and maps.
pub(crate) fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher, 0);
    hasher.finish()
}

#[allow(clippy::cast_precision_loss, reason = "equal numbers of both kinds have to agree")]
fn feed(value: &Value, hasher: &mut DefaultHasher, depth: usize) {
    const MAX_DEPTH: usize = 4;
    match value {
        Value::Null => 0.hash(hasher),
        Value::Bool(boolean) => boolean.hash(hasher),
        Value::Int(number) => (*number as f64).to_bits().hash(hasher),
        // The two zeros are equal.
        Value::Float(number) => (if *number == 0.0 { 0.0 } else { *number }).to_bits().hash(hasher),
        Value::Text(text) => text.hash(hasher),
        Value::Bytes(bytes) => bytes.hash(hasher),
        Value::List(list) => {
            list.len().hash(hasher);
            if depth < MAX_DEPTH {
                list.iter().for_each(|element| feed(element, hasher, depth + 1));
            }
        }
        Value::Map(map) => map.len().hash(hasher),
        Value::Groups(entries) => entries.len().hash(hasher),
        Value::Duration(span) => span.hash(hasher),
        Value::DateTime(date_time) => date_time.timestamp().hash(hasher),
        Value::Calendar(_) => 1.hash(hasher),
    }
}
