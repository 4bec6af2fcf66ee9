//! Failures of resources.

use std::error::Error;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Intent, MissingPrerequisite, Refusal, RefusalKind, StreamTail};

/// Failure of one resource.
///
/// Rare fields are boxed, because every step of a resource returns a failure or a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of the failure, for programs.
    pub kind: FailureKind,
    /// Name of the property that the failure concerns.
    pub property: Option<Box<str>>,
    /// Location in the manifest.
    pub location: Option<Box<Location>>,
    /// Source chain: the text of the error, then of each cause, lower case and without a full stop. Texts can
    /// be stored and sent, error types can't. Programs read the other fields.
    pub chain: Vec<String>,
    /// Advice on what to do about it.
    pub hints: Vec<String>,
    /// `true` if the system may have been changed before the failure.
    pub changed: bool,
    /// `true` if the change was made and verified, and only what came after it failed, such as a health check.
    pub verified: bool,
    /// Last lines that a command printed.
    pub output: Vec<StreamTail>,
    /// Prerequisite that an earlier resource could have provided or removed.
    pub missing: Option<Box<MissingPrerequisite>>,
    /// Intent that waits for an approval, if one is required.
    pub intent: Option<Box<Intent>>,
}

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// A property turned out to be invalid when the resource was reached.
    Properties,
    /// A value that is known only when the resource is reached could not be evaluated.
    Value,
    /// No provider can work on this host.
    Provider,
    /// The state could not be read.
    Read,
    /// A guard failed to run.
    Guard,
    /// The existing state does not allow the change.
    Conflict,
    /// The system refused the change.
    Change,
    /// A command could not be started.
    Start,
    /// A command ended with an exit code that is not allowed.
    Exit,
    /// A command was killed by a signal.
    Signal,
    /// A command, or its expected effect, took too long.
    Timeout,
    /// The end of the run stopped a command.
    Stopped,
    /// The output of a command does not match `expect`.
    Expectation,
    /// The output of a command lacks a value that `capture` names.
    Capture,
    /// The state after the change is not the desired one.
    Verification,
    /// A health check is critical or unknown.
    HealthCheck,
    /// A command or a change is not allowed.
    Denied,
    /// A command or a change has to be approved first.
    ApprovalRequired,
    /// The change is not the one of the plan that is applied, or was planned from another state.
    NotPlanned,
    /// Resources of the child manifest failed.
    Child,
    /// The refresh ledger could not be written.
    Ledger,
    /// A bug in ccm.
    Internal,
    /// A kind that another version of ccm did not record or that this version does not support.
    #[serde(other)]
    Unknown,
}

impl FailureKind {
    /// Returns `true` if the gate of the run refused something.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Denied | Self::ApprovalRequired)
    }
}

/// Location in a manifest, in the form of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Location {
    /// Name of the file.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

/// `site.yaml:4:11`.
impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column } = self;
        write!(formatter, "{file}:{line}:{column}")
    }
}

/// Returns the texts of an error and of everything that caused it, the outermost first.
pub fn error_layers(error: &dyn Error) -> Vec<String> {
    std::iter::successors(Some(error), |error| (*error).source()).map(ToString::to_string).collect()
}

impl Failure {
    /// Builds a failure with one layer.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            property: None,
            location: None,
            chain: vec![message.into()],
            hints: Vec::new(),
            changed: false,
            verified: false,
            output: Vec::new(),
            missing: None,
            intent: None,
        }
    }

    /// Builds the failure of a state that allows no decision, or of a change that is not possible in it.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Conflict, message)
    }

    /// Builds a failure from an error and everything that caused it.
    pub fn from_error(kind: FailureKind, error: &dyn Error) -> Self {
        Self { chain: error_layers(error), ..Self::new(kind, "") }
    }

    /// Builds the failure of a resource that the gate of the run refused.
    pub fn refused(refusal: &Refusal) -> Self {
        let (kind, intent) = match &refusal.kind {
            RefusalKind::Denied => (FailureKind::Denied, None),
            RefusalKind::ApprovalRequired { intent } => (FailureKind::ApprovalRequired, intent.clone()),
        };
        let (hints, intent) = (refusal.hints.clone(), intent.map(Box::new));
        Self { hints, intent, ..Self::new(kind, refusal.to_string()) }
    }

    /// Adds a layer above the others, which are its causes.
    #[must_use]
    pub fn because_of(mut self, context: impl Into<String>) -> Self {
        self.chain.insert(0, context.into());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Sets the property that the failure concerns.
    #[must_use]
    pub fn of_property(mut self, property: impl Into<Box<str>>) -> Self {
        self.property = Some(property.into());
        self
    }

    /// Sets the prerequisite that an earlier resource could have provided or removed. In noop the failure
    /// does not count if that resource would be changed.
    #[must_use]
    pub fn with_missing(mut self, missing: MissingPrerequisite) -> Self {
        self.missing = Some(Box::new(missing));
        self
    }

    /// Returns all layers in one line.
    pub fn one_line(&self) -> String {
        self.chain.join(": ")
    }
}
