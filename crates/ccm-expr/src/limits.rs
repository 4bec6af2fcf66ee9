//! Limits of one expression, which keep time, memory and stack bounded.

use std::ops::Range;

use crate::Value;
use crate::error::{Cause, Error, ExprResult};

pub(crate) const MAX_TEXT: usize = 1 << 24;

pub(crate) const MAX_DEPTH: u16 = 200;

/// Maximum nesting of a value that an expression walks through: data as JSON, lists in lists.
pub(crate) const MAX_VALUE_DEPTH: usize = 128;

/// Maximum number of steps per evaluation: nodes evaluated and elements visited.
const MAX_STEPS: u64 = 1_000_000;

/// Maximum number of list and map elements built per evaluation.
const MAX_ELEMENTS: u64 = 1_000_000;

/// Maximum number of bytes of text built per evaluation.
const MAX_BYTES: u64 = 16 << 20;

/// Bytes of text that are read in one step.
const BYTES_PER_STEP: usize = 256;

#[derive(Debug)]
pub(crate) struct Budget {
    steps: u64,
    elements: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exhausted {
    Steps,
    Elements,
    Bytes,
    Depth,
}

impl Exhausted {
    pub(crate) fn message(self) -> String {
        match self {
            Self::Steps => format!("this expression takes more than {MAX_STEPS} steps"),
            Self::Elements => format!("this expression makes lists of more than {MAX_ELEMENTS} elements"),
            Self::Bytes => format!("this expression makes more than {MAX_BYTES} bytes of text"),
            Self::Depth => format!("this value is nested more than {MAX_VALUE_DEPTH} levels deep"),
        }
    }

    pub(crate) fn at(self, range: Range<usize>) -> Box<Error> {
        Error::run(range, self.message()).with_cause(Cause::Limit)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: MAX_STEPS, elements: MAX_ELEMENTS, bytes: MAX_BYTES }
    }
}

impl Budget {
    pub(crate) fn steps(&mut self, count: usize) -> Result<(), Exhausted> {
        spend(&mut self.steps, count, Exhausted::Steps)
    }

    pub(crate) fn elements(&mut self, count: usize) -> Result<(), Exhausted> {
        spend(&mut self.elements, count, Exhausted::Elements)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<(), Exhausted> {
        spend(&mut self.bytes, count, Exhausted::Bytes)
    }

    /// Charges for walking through a value; shared parts count each time.
    pub(crate) fn walk(&mut self, value: &Value) -> Result<(), Exhausted> {
        match value {
            Value::List(_) | Value::Map(_) | Value::Groups(_) => {
                let weight = weigh(value)?;
                self.steps(weight.elements)?;
                self.read(weight.bytes)
            }
            scalar => self.read_value(scalar),
        }
    }

    /// Charges for reading a text to its end; any other value is free.
    pub(crate) fn read_value(&mut self, value: &Value) -> Result<(), Exhausted> {
        self.read(bytes(value))
    }

    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.steps(bytes / BYTES_PER_STEP)
    }

    /// Charges for comparing a value with others, all of which may be equal to their end.
    pub(crate) fn compare(&mut self, value: &Value, others: usize) -> Result<(), Exhausted> {
        let weight = weigh(value)?;
        let each = 1 + weight.elements / 8 + weight.bytes / BYTES_PER_STEP;
        self.steps(each.saturating_mul(others))
    }

    /// Charges one step to the node at `range`.
    pub(crate) fn step(&mut self, range: impl FnOnce() -> Range<usize>) -> ExprResult<()> {
        self.steps(1).map_err(|exhausted| exhausted.at(range()))
    }
}

fn spend(left: &mut u64, count: usize, exhausted: Exhausted) -> Result<(), Exhausted> {
    let rest = left.checked_sub(count as u64);
    *left = rest.unwrap_or_default();
    rest.map(|_| ()).ok_or(exhausted)
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

/// Size of a value; shared parts count each time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    pub(crate) elements: usize,
    pub(crate) bytes: usize,
}

/// Measures a value, but no further than the limits of an evaluation.
pub(crate) fn weigh(value: &Value) -> Result<Weight, Exhausted> {
    let mut weight = Weight::default();
    add(value, &mut weight, MAX_VALUE_DEPTH + usize::from(MAX_DEPTH))?;
    Ok(weight)
}

fn add(value: &Value, weight: &mut Weight, left: usize) -> Result<(), Exhausted> {
    weight.elements += 1;
    if weight.elements as u64 > 2 * MAX_ELEMENTS {
        return Err(Exhausted::Elements);
    }
    weight.bytes += bytes(value);
    if weight.bytes as u64 > 2 * MAX_BYTES {
        return Err(Exhausted::Bytes);
    }
    let Some(left) = left.checked_sub(1) else { return Err(Exhausted::Depth) };
    match value {
        Value::List(list) => list.iter().try_for_each(|element| add(element, weight, left)),
        Value::Map(map) => map.iter().try_for_each(|(key, element)| {
            weight.bytes += key.len();
            add(element, weight, left)
        }),
        Value::Groups(groups) => groups.iter().try_for_each(|(_, element)| add(element, weight, left)),
        _ => Ok(()),
    }
}
