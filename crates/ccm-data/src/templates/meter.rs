//! Limits of what a template builds, whether it writes it or not.
//!
//! minijinja counts steps, and one step can double a text. Each render has a thread of its own, so that the sums are
//! those of the thread.

use std::cell::Cell;

use minijinja::functions::Function;
use minijinja::value::{FunctionArgs, FunctionResult, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value};

use super::error::TemplateFault;
use super::error_conversion::RaisedFault;
use super::{MAX_BUILT_ELEMENTS, MAX_BUILT_TEXT, MAX_OUTPUT};

/// Maximum number of lists, maps and scalars that one operation walks through.
pub(super) const MAX_NODES: u64 = 1 << 20;

/// Maximum number of values that all operations of a render walk through.
const MAX_WALKED: u64 = 1 << 24;

thread_local! {
    static TEXT: Cell<u64> = const { Cell::new(0) };
    static ELEMENTS: Cell<u64> = const { Cell::new(0) };
    static WALKED: Cell<u64> = const { Cell::new(0) };
}

fn add(sum: &'static std::thread::LocalKey<Cell<u64>>, count: u64, max: u64) -> bool {
    let total = sum.get().saturating_add(count);
    sum.set(total);
    total <= max
}

fn exceeded(fault: TemplateFault) -> Error {
    RaisedFault::new(fault).into()
}

/// Begins a render on this thread.
pub(super) fn begin() {
    for sum in [&TEXT, &ELEMENTS, &WALKED] {
        sum.set(0);
    }
}

/// Counts a text of so many bytes.
pub(super) fn count_text(length: u64) -> Result<(), Error> {
    if length > MAX_OUTPUT as u64 {
        return Err(exceeded(TemplateFault::TooMuchOutput));
    }
    if add(&TEXT, length, MAX_BUILT_TEXT) { Ok(()) } else { Err(exceeded(TemplateFault::TooMuchText)) }
}

/// Counts elements of a list or a map.
pub(super) fn count_elements(count: u64) -> Result<(), Error> {
    if add(&ELEMENTS, count, MAX_BUILT_ELEMENTS) {
        Ok(())
    } else {
        Err(exceeded(TemplateFault::TooManyElements))
    }
}

/// Counts values that an operation walks through.
pub(super) fn count_walked(count: u64) -> Result<(), Error> {
    if count <= MAX_NODES && add(&WALKED, count, MAX_WALKED) {
        Ok(())
    } else {
        Err(exceeded(TemplateFault::TooManyElements))
    }
}

/// Counts a value that an operation has built.
pub(super) fn count_built(value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::String => count_text(value.as_str().map_or(0, str::len) as u64),
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => {
            count_elements(value.len().unwrap_or_default() as u64)
        }
        _ => Ok(()),
    }
}

/// Extent of a value. A list that stands in another twice counts twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Number of lists, maps and scalars.
    pub(super) values: u64,
    /// Length of all texts.
    pub(super) text: u64,
    /// Maximum number of lists and maps that are one in the other.
    pub(super) depth: u64,
}

/// Counts what is in a value before an operation that walks through all of it.
pub(super) fn measure(value: &Value) -> Result<Extent, Error> {
    let mut extent = Extent { values: 1, text: 0, depth: 0 };
    let mut left = vec![(value.clone(), 0)];
    while let Some((value, depth)) = left.pop() {
        extent.depth = extent.depth.max(depth);
        match value.kind() {
            ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => {
                let is_map = value.kind() == ValueKind::Map;
                for element in value.try_iter()? {
                    extent.values += 1;
                    if is_map {
                        extent.text += element.as_str().map_or(0, str::len) as u64;
                        left.push((value.get_item(&element)?, depth + 1));
                    } else {
                        left.push((element, depth + 1));
                    }
                    if extent.values > MAX_NODES {
                        return Err(exceeded(TemplateFault::TooManyElements));
                    }
                }
            }
            _ => extent.text += value.as_str().map_or(0, str::len) as u64,
        }
    }
    count_walked(extent.values)?;
    Ok(extent)
}

/// Adds a filter whose results count.
pub(super) fn add_counted<F, Rv, Args>(environment: &mut Environment<'static>, name: &'static str, filter: F)
where
    F: Function<Rv, Args>,
    Rv: FunctionResult,
    Args: for<'a> FunctionArgs<'a>,
{
    let uncounted = format!("uncounted {name}");
    environment.add_filter(uncounted.clone(), filter);
    environment.add_filter(name, move |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| {
        let built = state.apply_filter(&uncounted, &given.into_values())?;
        count_built(&built)?;
        Ok::<_, Error>(built)
    });
}
