//! Listeners on the events of a run.
//!
//! A listener takes each [`ccm_model::Event`] as it happens and never stops the run: what goes wrong while it
//! writes is kept, and said when it is finished. Nothing here decides what an outcome means for the exit code.

mod batch;
mod error;
mod idempotence;
mod json;
mod progress;
mod store;
mod text;

pub use error::ReportError;
pub use idempotence::{ChangedAgain, Idempotence};
pub use json::{Encoder, Ids, JsonDocument, JsonLine, JsonLines, RunIdentity};
pub use progress::Progress;
pub use store::{
    Execution, ExecutionError, FindError, History, Recorded, RunStore, StoreError, StoredRun, StoredSummary,
};
pub use text::{TextReport, Verbosity, owed_line};
