//! Listeners on the events of a run.
//!
//! A listener takes each [`ccm_model::Event`] as it happens and never stops the run: what goes wrong while it
//! writes is kept, and said when it is finished. Nothing here decides what an outcome means for the exit code.

mod error;
mod text;

pub use error::ReportError;
pub use text::{TextReport, Verbosity};
