//! Values that a namespace keeps.
//!
//! A namespace that holds itself would exhaust the stack wherever a value is printed, compared or dropped. It is refused
//! where it would be made.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::error::TemplateFault;
use super::error_conversion::RaisedFault;
use super::meter::{MAX_NODES, count_elements, count_walked};
use super::values::is_of_ccm;

/// Maximum nesting of a value in a namespace, which is that of a value that is printed.
const MAX_DEPTH: usize = 100;

/// Types of minijinja whose elements are the values themselves, and no view of an object that changes.
const PLAIN: [&str; 4] = [
    "alloc::vec::Vec<",
    "indexmap::map::IndexMap<",
    "alloc::collections::btree::map::BTreeMap<",
    "minijinja::value::tuple::Tuple",
];

/// Returns a value as a namespace keeps it: without a namespace, a loop or a view of one in it.
pub(super) fn kept(value: &Value) -> Result<Value, Error> {
    let mut walked = 0;
    let rebuilt = rebuilt(value, MAX_DEPTH, &mut walked)?;
    count_walked(walked)?;
    Ok(rebuilt.unwrap_or_else(|| value.clone()))
}

fn refused(message: &str, hint: &'static str) -> Error {
    RaisedFault::new(TemplateFault::Operation(message.to_owned())).with_hint(hint).into()
}

/// Returns a copy of a value that is, or holds, a view of another one; `None` for a value that can stay.
fn rebuilt(value: &Value, depth: usize, walked: &mut u64) -> Result<Option<Value>, Error> {
    let is_map = match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => false,
        ValueKind::Map => true,
        _ => return Ok(None),
    };
    if is_of_ccm(value) {
        return Ok(None);
    }
    let type_name = value.as_object().map_or("", |object| object.type_name());
    if ["::Namespace", "::Loop", "::Module"].iter().any(|end| type_name.ends_with(end)) {
        return Err(refused(
            "a namespace keeps no namespace and no `loop`",
            "assign the values that are needed, such as `loop.index`",
        ));
    }
    let depth = depth.checked_sub(1).ok_or_else(|| {
        refused("a namespace keeps no value that is nested more than 100 times", "build a flat list")
    })?;
    let mut is_same = PLAIN.iter().any(|plain| type_name.starts_with(plain));
    let mut elements = Vec::new();
    for element in value.try_iter()? {
        *walked += 1;
        if *walked > MAX_NODES {
            count_walked(*walked)?;
        }
        let old = if is_map { value.get_item(&element)? } else { element.clone() };
        let new = rebuilt(&old, depth, walked)?;
        is_same &= new.is_none();
        elements.push((element, new.unwrap_or(old)));
    }
    if is_same {
        return Ok(None);
    }
    count_elements(elements.len() as u64)?;
    Ok(Some(if is_map {
        Value::from_pairs(elements)
    } else {
        elements.into_iter().map(|(_, element)| element).collect()
    }))
}
