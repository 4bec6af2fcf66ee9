//! What one lookup may cost.

use crate::Value;

/// How many steps a lookup may take.
const STEPS: u64 = 10_000_000;
/// How many steps an element of a new list or map costs, because it takes memory.
const ELEMENT: u64 = 8;
/// How deep values that a lookup builds or takes apart may be nested.
const DEEPEST: usize = 256;
/// How long a text that a lookup writes may become.
const LONGEST: usize = 16 << 20;

/// The limit that a lookup ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathLimit {
    /// It visits or builds too much.
    #[error("the path takes more than {STEPS} steps on this value")]
    Steps,
    /// What it visits or builds is nested too deep.
    #[error("the path meets values nested deeper than {DEEPEST} levels")]
    Depth,
    /// It writes too long a text.
    #[error("the path writes a text longer than {LONGEST} bytes")]
    Text,
}

/// What is left for one lookup.
pub(super) struct Budget {
    steps: u64,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { steps: STEPS }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), PathLimit> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(PathLimit::Steps)?;
        Ok(())
    }

    /// Pays for the memory of new elements.
    pub(super) fn build(&mut self, elements: usize) -> Result<(), PathLimit> {
        self.steps = self.steps.checked_sub(elements as u64 * ELEMENT).ok_or(PathLimit::Steps)?;
        Ok(())
    }

    /// Pays for a value that becomes part of a new one.
    ///
    /// Values share what they have in common, so the same small memory, nested in itself again and again, can
    /// stand for more elements than anyone could ever write down: what counts is the size as it will be read.
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

/// Refuses what is nested so deep that walking it could use up the stack.
pub(super) fn check_depth(depth: usize) -> Result<(), PathLimit> {
    if depth > DEEPEST { Err(PathLimit::Depth) } else { Ok(()) }
}

/// Refuses text that has become too long.
pub(super) fn check_length(length: usize) -> Result<(), PathLimit> {
    if length > LONGEST { Err(PathLimit::Text) } else { Ok(()) }
}
