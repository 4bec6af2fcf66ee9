//! Governed tools for other programs, behind one broker.
//!
//! A [`ToolBroker`] takes the call of a tool as its name and a JSON object, and returns a [`ToolAnswer`]. Each call goes the
//! same way: its input is checked, its commands are analysed and judged by the operator's policy, a person approves where
//! the policy asks, and the command runs in a sandbox that is no wider than its profile and than what the analysis found.
//!
//! What is offered is listed by [`ToolName`]: each tool belongs to a set, and has schemas for its input and its output. A
//! front such as a command line or a protocol server needs nothing else: it passes names and objects on, shows
//! [`CallProgress`], and ends a call through its cancellation.
//!
//! Output of commands is data that nobody has checked. Every answer with such output carries the label [`UNTRUSTED`].
//!
//! This crate must never run a command of a caller that the policy has not judged, and must never know the protocol of a
//! client.

mod answer;
mod approvals;
mod audited;
mod broker;
mod call;
mod caller;
mod caller_events;
mod catalog;
mod documents;
mod execution;
mod input;
mod output;
mod prepared;
mod process_registry;
mod process_tools;
mod rate;
mod read_gate;
mod read_tools;
mod reader;
mod records;
mod refusal;
mod runtimes;
mod sandbox;
mod schemas;
mod served_user;
mod stored_intents;

pub use answer::{AnswerKind, ToolAnswer, UNTRUSTED};
pub use approvals::{
    ApprovalDoor, ApprovalFailure, IntentHandle, IntentState, StoredCall, ToolApprovalRequest,
};
pub use broker::{BrokerConfig, CallContext, CallProgress, ToolBroker};
pub use call::{AppliedManifest, ApplyCall, CodeLanguage, CommandCall, CommandText, GraphFormat, ToolCall};
pub use caller::{CallerKind, ToolCaller};
pub use catalog::{ToolHints, ToolName};
pub use ccm_policy::ToolSet;
pub use documents::{DocumentationPage, ToolDocument};
pub use input::{MAX_INPUT, ToolInputError, json_kind, normalise};
pub use reader::reader_answer;
pub use records::{CallRecorder, RecordFailure, RecordedCall};
pub use served_user::{ConnectionRefused, ServedUser, ServiceConnection, ServiceConnections};
