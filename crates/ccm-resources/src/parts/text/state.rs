//! State of a file with a part.

use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use ccm_engine::Described;

use super::{FilePart, PartChangeKind, PartPlan};

#[derive(Clone, Debug, Default)]
pub(crate) struct PartState {
    /// Content of the file; `None` if there is no file.
    pub content: Option<Rc<Vec<u8>>>,
    /// `true` if the part was compared with the content and is as desired, so that nothing searches the content again.
    pub is_as_desired: bool,
    /// `true` if the directory of the file does not exist.
    pub parent_missing: bool,
    /// Mount point that the change would replace.
    pub mount: Option<PathBuf>,
    /// `true` if backups can be stored.
    pub can_back_up: bool,
    pub diff: bool,
    /// `true` if the old or new content holds a secret.
    pub holds_secret: bool,
    /// Lines of the old and the new content that a diff must redact.
    pub hidden_lines: (HashSet<usize>, HashSet<usize>),
}

impl PartState {
    /// Returns the content; nothing is in a file that does not exist.
    pub(crate) fn content(&self) -> &[u8] {
        self.content.as_ref().map_or(&[], |content| content.as_slice())
    }
}

/// Returns the state for events, without content.
pub(crate) fn describe<P: FilePart>(part: &P, state: &PartState) -> Described {
    let target = part.target();
    let is_present = if state.is_as_desired {
        !target.is_absent
    } else {
        match part.plan(state.content()) {
            Ok(PartPlan::Keep) => !target.is_absent,
            Ok(PartPlan::Change(change)) => change.kind != PartChangeKind::Add,
            Err(_) => true,
        }
    };
    let ensure = if is_present { "present" } else { "absent" };
    Described::new(ensure).with("path", target.path.to_string_lossy())
}
