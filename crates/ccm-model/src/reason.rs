//! Reasons for decisions on resources.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Rule of a resource type, or of the engine, that decided on a resource.
///
/// Common form of the rules of all types, each of which has its own enum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Name of the rule for programs, such as `creates_exists`. It stays the same when the text changes.
    pub rule: Cow<'static, str>,
    /// Text of the rule and its parameters, for people.
    pub text: Cow<'static, str>,
}

impl Reason {
    /// Name of a rule that another version of ccm did not record.
    pub const UNKNOWN_RULE: &str = "unknown";

    /// Builds a reason.
    pub fn new(rule: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self { rule: rule.into(), text: text.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
