//! Limits of one lookup.

use crate::Value;

const MAX_STEPS: u64 = 10_000_000;
/// Steps for an element of a new list or map, because it takes memory.
const STEPS_PER_ELEMENT: u64 = 8;
/// Maximum nesting of values that a lookup builds or takes apart.
const MAX_DEPTH: usize = 256;
/// Maximum length of a text that a lookup writes.
const MAX_TEXT: usize = 16 << 20;

/// Limit that a lookup exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathLimit {
    /// Too many values visited or built.
    #[error("the path takes more than {MAX_STEPS} steps on this value")]
    Steps,
    /// Values nested too deep.
    #[error("the path meets values nested deeper than {MAX_DEPTH} levels")]
    Depth,
    /// Text too long.
    #[error("the path writes a text longer than {MAX_TEXT} bytes")]
    Text,
}

pub(super) struct LookupBudget {
    steps: u64,
}

impl LookupBudget {
    pub(super) fn new() -> Self {
        Self { steps: MAX_STEPS }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), PathLimit> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(PathLimit::Steps)?;
        Ok(())
    }

    /// Charges for the memory of new elements.
    pub(super) fn build(&mut self, elements: usize) -> Result<(), PathLimit> {
        self.steps = self.steps.checked_sub(elements as u64 * STEPS_PER_ELEMENT).ok_or(PathLimit::Steps)?;
        Ok(())
    }

    /// Charges for a value that becomes part of a new one, by its written size: shared parts take little
    /// memory but can be written very often.
    pub(super) fn include(&mut self, value: &Value) -> Result<(), PathLimit> {
        self.build(1)?;
        self.weigh(value, 1)
    }

    fn weigh(&mut self, value: &Value, depth: usize) -> Result<(), PathLimit> {
        check_depth(depth)?;
        match value {
            Value::Text(text) => self.spend(1 + text.len() / 4),
            Value::List(elements) => {
                self.spend(1)?;
                elements.iter().try_for_each(|element| self.weigh(element, depth + 1))
            }
            Value::Map(map) => {
                self.spend(1)?;
                map.iter().try_for_each(|(key, element)| {
                    self.spend(key.len() / 4)?;
                    self.weigh(element, depth + 1)
                })
            }
            _ => self.spend(1),
        }
    }
}

/// Refuses nesting that could overflow the stack.
pub(super) fn check_depth(depth: usize) -> Result<(), PathLimit> {
    if depth > MAX_DEPTH { Err(PathLimit::Depth) } else { Ok(()) }
}

/// Refuses a text that is too long.
pub(super) fn check_length(length: usize) -> Result<(), PathLimit> {
    if length > MAX_TEXT { Err(PathLimit::Text) } else { Ok(()) }
}
