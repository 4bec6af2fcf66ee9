//! Types that the crates of ccm share: plain data, and pure functions on it.
//!
//! This crate must never read a file, start a process, read the clock or wait, or know what a resource type
//! does.
//!
//! # From a text to a catalog
//!
//! A manifest is a tree of [`Node`]s, each with its [`Span`] and, for a scalar, with its style. A
//! [`SourceMap`] holds the texts and turns a span into a [`Location`] such as `site.yaml:4:11`. An error in a
//! text is a [`Diagnostic`]: a message, labels at spans, and hints.
//!
//! A manifest without errors becomes a [`Catalog`]: [`Resource`]s in the order of the manifest, each with its
//! [`ResourceId`], its [`Properties`] and its [`Dependency`] edges to others, and a [`Group`] for each child
//! manifest.
//!
//! # From a catalog to a report
//!
//! A run emits [`Event`]s. An event is a fact in the past tense, without hints for its display. Every
//! resource ends with exactly one [`Outcome`], in the [`Transaction`] of its event: changed, unchanged,
//! skipped with a [`SkipCause`], failed with a [`Failure`], and so on. The [`Reason`] of a decision and the
//! kind of a failure are data, so that programs need not parse a message. A [`RunSummary`] counts the
//! outcomes, names what ended the run ([`StopCause`]), and holds a [`RefreshSummary`]: the refreshes that are
//! left for later runs, and those that were cancelled.
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
//! protocol version, and [`event_schema`] is the JSON schema of the lines. An [`Event`] can be serialised
//! too: as its line without the names of the run. It is read from that form and from a line.
//!
//! ```
//! use ccm_model::{Event, OutputLine, ResourceId, Stream};
//!
//! let id = ResourceId::new("exec", "build");
//! let event = Event::OutputReceived(OutputLine { id, stream: Stream::Stdout, line: "done".to_owned() });
//! let text = serde_json::to_string(&event)?;
//! assert_eq!(serde_json::from_str::<Event>(&text)?, event);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod action;
mod base64;
mod catalog;
mod claim;
mod diagnostic;
mod diagnostic_kind;
mod diagnostics;
mod digest;
mod duration;
mod escape;
mod event;
mod execution;
mod failure;
mod fields;
mod file_version;
mod findings;
mod glob;
mod guard;
mod health;
mod json;
mod names;
mod node;
mod normalize;
mod outcome;
mod path_spellings;
mod prerequisite;
mod presentation;
mod protocol;
mod reason;
mod reference;
mod refresh;
mod refusal;
mod secret;
mod shell_syntax;
mod shell_words;
mod size;
mod source;
mod source_version;
mod started_by;
mod suggest;
mod summary;
mod timestamp;

pub use self::base64::{decode_base64, encode_base64};
pub use self::shell_words::{SplitError, SplitErrorKind, quote_words, split_words};
pub use action::{Action, Change, ChangedLines, EntryAction, Verb};
pub use catalog::{
    Catalog, CatalogNames, Control, Dependency, Group, GroupIndex, Properties, Resource, ResourceIndex,
    Spanned,
};
pub use claim::{Claim, ClaimKind, PathKind, Sharing};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use diagnostic_kind::DiagnosticKind;
pub use diagnostics::{DiagnosticContext, Diagnostics};
pub use digest::{hexadecimal, sha256, sha256_bytes};
pub use duration::{DurationError, display_duration, parse_duration};
pub use escape::{escape_control, escape_json, steers_terminal};
pub use event::{
    Artifact, Artifacts, Event, OutputLine, ResourceStarted, SessionStarted, Stream, StreamTail, Transaction,
};
pub use execution::{
    ExecutedCommand, ExecutionMetadata, METADATA_FILE, RecordedContainer, STDERR_FILE, STDOUT_FILE,
};
pub use failure::{Failure, FailureKind, Location, error_layers};
pub use fields::Fields;
pub use file_version::FileVersion;
pub use findings::{Findings, ManifestErrors};
pub use glob::{CharacterClass, Glob, GlobError, GlobKind, Wildcard, Wildcards};
pub use guard::GuardResult;
pub use health::{CheckCounts, CheckStatus, HealthCheckResult, PerformanceValue};
pub use json::{Nanoseconds, known};
pub use names::{SYSTEM_FACTS, is_variable_name, leading_variable_name};
pub use node::{Node, NodeEntry, NodeKey, NodeMap, NodeValue, Scalar, ScalarKind, ScalarStyle};
pub use normalize::normalize;
pub use outcome::{Outcome, SkipCause, StopCause};
pub use path_spellings::PathSpellings;
pub use prerequisite::MissingPrerequisite;
pub use presentation::Presentation;
pub use protocol::{
    CATALOG_PROTOCOL, CancelledRefreshRecord, CatalogDocument, CatalogProtocol, EventDocument, EventLine,
    FailureLine, LineError, OutcomeName, PROTOCOL_VERSION, PendingRefreshRecord, PresentedProperties,
    RunsDocument, START_PROTOCOL, SUMMARY_PROTOCOL, StartLine, StartProtocol, StopRecord, SummaryLine,
    SummaryProtocol, TRANSACTION_PROTOCOL, TransactionLine, TransactionProtocol, event_schema,
};
pub use reason::Reason;
pub use reference::{ReferenceError, ResourceId};
pub use refresh::{
    CancelledCause, CancelledRefresh, PendingCause, PendingRefresh, RefreshBlocker, RefreshSummary,
    UnfinishedRefresh,
};
pub use refusal::{Intent, Refusal, RefusalKind};
pub use secret::{MIN_SECRET_LENGTH, REDACTED};
pub use shell_syntax::{ShellSyntax, ShellSyntaxKind, is_shell_builtin, shell_syntax};
pub use size::{SIZE_PATTERN, parse_size};
pub use source::{InvalidByte, Position, Source, SourceId, SourceMap, Span};
pub use source_version::{BundleId, SourceVersion, VersionId};
pub use started_by::StartedBy;
pub use suggest::{closest, joined, listed};
pub use summary::{Counts, RunSummary};
pub use timestamp::{display_timestamp, parse_timestamp, timestamp};
