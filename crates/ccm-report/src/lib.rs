//! Listeners on the events of a run.
//!
//! A listener receives each [`ccm_model::Event`] as it happens and never stops the run: the first error of
//! its writer is returned when the listener is finished.
//!
//! [`TextReport`] writes for people, [`LogReport`] for logs, and [`JsonLines`] for programs. A [`RunStore`] records a
//! run in the state directory, and [`History`] reads the records.
//!
//! This crate must never know the engine or influence a run, and relies on events that hold no secret.

mod counts;
mod error;
mod idempotence;
mod json;
mod log;
mod manifests;
mod output_buffer;
mod progress;
mod screen;
mod store;
mod table;
mod text;

pub use error::ReportError;
pub use idempotence::{ChangedAgain, Idempotence};
pub use json::{Ids, JsonDocument, JsonLine, JsonLines, LineEncoder, RunIdentity};
pub use log::{LogOptions, LogReport};
pub use manifests::ManifestResult;
pub use progress::ProgressLine;
pub use screen::Screen;
pub use store::{
    CriticalPath, DiffSpace, EarlierRun, Execution, ExecutionError, ExecutionTail, FindError, GraphNode,
    GraphPart, GraphSource, History, MatchingRun, Past, PastRun, Recorded, RecordedCheck, RecordedEdge,
    RecordedEdgeKind, RecordedManifest, RecordedNode, RecordedOutcome, RecordedResource, RecordedResult,
    ResourceChange, ResourceChanges, RunFilter, RunGraph, RunOutcome, RunStore, RunView, SlowResource,
    StoreError, StoredRun, StoredSummary, rounded,
};
pub use table::{Column, table};
pub use text::{TextOptions, TextReport, Verbosity, pending_line};
