//! The words that the rooms of ccm share.
//!
//! What is here is plain data and pure functions over it: where a value was written ([`Span`]), the value
//! itself ([`Node`]), what the loader hands to the engine ([`Catalog`]), what a run says ([`Event`],
//! [`Outcome`], [`RunSummary`]), and the JSON of that ([`EventLine`]). Nothing here reads a file, starts a
//! process, looks at the clock or waits.

mod catalog;
mod claim;
mod diagnostic;
mod diagnostics;
mod duration;
mod escape;
mod event;
mod execution;
mod failure;
mod fields;
mod json;
mod missing;
mod names;
mod node;
mod outcome;
mod presentation;
mod protocol;
mod reason;
mod reference;
mod refresh;
mod refusal;
mod secret;
mod source;
mod suggest;
mod summary;
mod timestamp;
mod words;

pub use catalog::{
    Catalog, CatalogNames, Control, Dependency, Group, GroupIndex, Properties, Resource, ResourceIndex,
    Spanned,
};
pub use claim::{Claim, ClaimKind, PathKind, Sharing};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use diagnostics::Diagnostics;
pub use duration::{DurationError, display_duration, parse_duration};
pub use escape::escape_control;
pub use event::{
    Artifact, Artifacts, Event, OutputLine, ResourceStarted, SessionStarted, Stream, StreamTail, Transaction,
};
pub use execution::{ExecutedCommand, ExecutionMetadata, METADATA_FILE, STDERR_FILE, STDOUT_FILE};
pub use failure::{Failure, FailureKind, Location, error_layers};
pub use fields::Fields;
pub use json::{Nanoseconds, known};
pub use missing::Missing;
pub use names::{SYSTEM_FACTS, is_variable_name, leading_variable_name};
pub use node::{Entry, Key, Kind, Map, Node, Scalar, ScalarStyle, Value};
pub use outcome::{Outcome, SkipCause, StopCause};
pub use presentation::Presentation;
pub use protocol::{
    CATALOG_PROTOCOL, CatalogDocument, CatalogProtocol, EventDocument, EventLine, FailureLine, LineError,
    OutcomeName, PROTOCOL_VERSION, PendingCause, PendingRefreshLine, START_PROTOCOL, SUMMARY_PROTOCOL,
    SettledRefreshLine, StartLine, StartProtocol, StopLine, SummaryLine, SummaryProtocol,
    TRANSACTION_PROTOCOL, TransactionLine, TransactionProtocol, event_schema,
};
pub use reason::Reason;
pub use reference::{ReferenceError, ResourceId};
pub use refresh::{KeptBy, OwedCause, OwedRefresh, Refreshes, SettledCause, SettledRefresh, StillOwed};
pub use refusal::{Intent, Refusal, RefusalKind};
pub use secret::SHORTEST_SECRET;
pub use source::{Position, Source, SourceId, SourceMap, Span};
pub use suggest::{closest, listed};
pub use summary::{Counts, RunSummary};
pub use timestamp::{display_timestamp, parse_timestamp, timestamp};
pub use words::{SplitError, SplitErrorKind, quote_words, shell_operator, split_words};
