//! What one expression may use, so that none hangs, eats memory, or overflows the stack.

use std::ops::Range;

use crate::Value;
use crate::error::{Cause, Error, Fallible};

/// How long the text of an expression may be, in bytes.
pub(crate) const TEXT_OF_AN_EXPRESSION: usize = 1 << 24;

/// How deep an expression may be nested.
pub(crate) const DEPTH: u16 = 200;

/// How deep a value may be nested that an expression walks through: data as JSON, lists in lists.
pub(crate) const DEPTH_OF_VALUES: usize = 128;

/// How many steps one evaluation may take: parts evaluated and elements looked at.
const STEPS: u64 = 1_000_000;

/// How many elements of lists and maps one evaluation may make.
const ELEMENTS: u64 = 1_000_000;

/// How many bytes of text one evaluation may make.
const BYTES: u64 = 16 << 20;

/// How much text is read in a step.
const BYTES_PER_STEP: usize = 256;

/// What is left for one evaluation.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: u64,
    elements: u64,
    bytes: u64,
}

/// Which budget is used up.
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
            Self::Steps => format!("this expression takes more than {STEPS} steps"),
            Self::Elements => format!("this expression makes lists of more than {ELEMENTS} elements"),
            Self::Bytes => format!("this expression makes more than {BYTES} bytes of text"),
            Self::Depth => format!("this value is nested more than {DEPTH_OF_VALUES} levels deep"),
        }
    }

    pub(crate) fn at(self, range: Range<usize>) -> Box<Error> {
        Error::run(range, self.message()).because(Cause::Limit)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: STEPS, elements: ELEMENTS, bytes: BYTES }
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

    /// The steps of walking through a value; shared parts count each time.
    pub(crate) fn walk(&mut self, value: &Value) -> Result<(), Exhausted> {
        match value {
            Value::List(_) | Value::Map(_) | Value::Groups(_) => {
                let weight = weigh(value)?;
                self.steps(weight.elements)?;
                self.read(weight.bytes)
            }
            scalar => self.look(scalar),
        }
    }

    /// The steps of reading a value from its beginning to its end, if it is text; elements don't count.
    pub(crate) fn look(&mut self, value: &Value) -> Result<(), Exhausted> {
        self.read(bytes(value))
    }

    /// The steps of reading text.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.steps(bytes / BYTES_PER_STEP)
    }

    /// The steps of comparing a value with others, all of which may be alike to their end.
    pub(crate) fn compare(&mut self, value: &Value, others: usize) -> Result<(), Exhausted> {
        let weight = weigh(value)?;
        let each = 1 + weight.elements / 8 + weight.bytes / BYTES_PER_STEP;
        self.steps(each.saturating_mul(others))
    }

    /// One step of the evaluation of the part at `range`.
    pub(crate) fn step(&mut self, range: impl FnOnce() -> Range<usize>) -> Fallible<()> {
        self.steps(1).map_err(|exhausted| exhausted.at(range()))
    }
}

fn spend(left: &mut u64, count: usize, exhausted: Exhausted) -> Result<(), Exhausted> {
    let rest = left.checked_sub(count as u64);
    *left = rest.unwrap_or_default();
    rest.map(|_| ()).ok_or(exhausted)
}

/// How long a text is; any other value has no length.
fn bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

/// How much a value holds, counting what is shared each time, as whoever walks through it will.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    pub(crate) elements: usize,
    pub(crate) bytes: usize,
}

/// Weighs a value, but no further than one evaluation may go.
pub(crate) fn weigh(value: &Value) -> Result<Weight, Exhausted> {
    let mut weight = Weight::default();
    add(value, &mut weight, DEPTH_OF_VALUES + usize::from(DEPTH))?;
    Ok(weight)
}

fn add(value: &Value, weight: &mut Weight, left: usize) -> Result<(), Exhausted> {
    weight.elements += 1;
    if weight.elements as u64 > 2 * ELEMENTS {
        return Err(Exhausted::Elements);
    }
    weight.bytes += bytes(value);
    if weight.bytes as u64 > 2 * BYTES {
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
