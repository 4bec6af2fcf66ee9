//! Needs that several types have.

use ccm_model::{ClaimKind, split_words};
use ccm_properties::Need;

use super::values::canonical_path::is_canonical;

/// Returns the need for the program of a command, if the command has its path.
pub(crate) fn needed_program(command: Option<&str>) -> Option<Need<'static>> {
    let program = split_words(command?).ok()?.into_iter().next()?;
    is_canonical(&program).then(|| (ClaimKind::Path, program.into()))
}
