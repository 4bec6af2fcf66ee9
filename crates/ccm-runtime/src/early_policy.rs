//! The policy when a manifest is loaded: what is denied or asked for is known before a run.

mod early;
mod judged;

pub(crate) use early::{EarlyInput, denials as early_denials, questions as early_questions};
pub(crate) use judged::JudgedManifest;
