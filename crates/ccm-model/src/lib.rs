//! The words that the crates of ccm share: plain data, and pure functions over it.
//!
//! Nothing here reads a file, starts a process, looks at the clock or waits.
//!
//! # From a text to a catalog
//!
//! A manifest is a tree of [`Node`]s, each with the [`Span`] where it was written and, for a scalar, with its
//! style. The texts themselves are in a [`SourceMap`], which turns a span into a [`Location`] such as
//! `site.yaml:4:11`. An error in a text is a [`Diagnostic`]: a message, labels at spans, and hints.
//!
//! What can be run is a [`Catalog`]: [`Resource`]s in the order of the manifest, each with its
//! [`ResourceId`], its [`Properties`] and its [`Dependency`] edges to others, and the [`Group`]s of the manifests
//! that it applies.
//!
//! # From a catalog to a report
//!
//! A run emits [`Event`]s. An event is a fact in the past tense and says nothing about how it is shown. Every
//! resource ends with exactly one [`Outcome`], in the [`Transaction`] of its event: changed, unchanged,
//! skipped with a [`SkipCause`], failed with a [`Failure`], and so on. The [`Reason`] of a decision and the
//! kind of a failure are data, so that nobody has to read a message. A [`RunSummary`] counts the outcomes,
//! names what ended the run ([`StopCause`]), and lists [`Refreshes`] that later runs still have to do.
//!
//! ```
//! use ccm_model::{Counts, Outcome, ResourceId};
//!
//! let id = ResourceId::parse("exec#reload")?;
//! assert_eq!((&*id.type_name, &*id.name), ("exec", "reload"));
//!
//! let mut counts = Counts::default();
//! counts.add(&Outcome::Changed, false);
//! assert_eq!((counts.total, counts.changed), (1, 1));
//! # Ok::<(), ccm_model::ReferenceError>(())
//! ```
//!
//! # In JSON
//!
//! [`EventLine`] is an event as a line of JSON, and [`CatalogDocument`] a catalog as a document. Both carry a
//! protocol version, and [`event_schema`] is the JSON schema of the lines.

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
    OutcomeName, PROTOCOL_VERSION, PendingRefreshLine, START_PROTOCOL, SUMMARY_PROTOCOL, SettledRefreshLine,
    StartLine, StartProtocol, StopLine, SummaryLine, SummaryProtocol, TRANSACTION_PROTOCOL, TransactionLine,
    TransactionProtocol, event_schema,
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
