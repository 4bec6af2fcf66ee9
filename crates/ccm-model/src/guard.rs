//! Results of guards, as data.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::one_line;

/// Result of a command that decides whether a resource has something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GuardResult {
    /// Property that holds the guard, such as `unless`.
    pub property: Cow<'static, str>,
    /// The guard as it was written. In an event it is one line of about 4 KiB at most, with a mark where it was
    /// cut.
    pub command: String,
    /// Exit code of the guard. `None` if the guard did not run or did not end by itself.
    pub exit_code: Option<i32>,
    /// Last line of standard error that is not blank.
    pub stderr: Option<String>,
    /// `true` if the guard allows the change, `false` if it prevents the change. `None` if the guard did not
    /// run or did not end by itself.
    pub allows: Option<bool>,
}

impl GuardResult {
    /// Puts the command on one line and cuts it if it is too long. Call this after secrets were redacted: the
    /// beginning of a secret before a cut could not be recognized.
    #[must_use]
    pub fn into_shown(mut self) -> Self {
        self.command = one_line(&self.command);
        self
    }
}
