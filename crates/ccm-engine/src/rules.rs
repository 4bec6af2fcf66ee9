//! Rules of the engine itself.

use std::fmt;

use ccm_model::ResourceId;

use crate::contract::Rule;

/// Rule by which the engine decided on a resource in place of its type.
#[derive(Debug)]
pub(crate) enum EngineRule<'a> {
    /// Noop: the decision depends on a change of an earlier resource, which noop does not make.
    NotKnownBefore {
        /// The earlier resource.
        before: &'a ResourceId,
        /// Error of reading the state, if it explains the rule.
        cause: Option<String>,
    },
    /// Noop: a run may fail, unless an earlier resource happens to provide what is missing.
    MayFail,
    /// A late value has no value.
    NoValue(&'a str),
    /// Something changed in a child manifest.
    ChildChanged,
    /// No resource of a child manifest changed.
    ChildUnchanged,
    /// A bug: the steps of a resource came in the wrong order.
    OutOfOrder,
}

impl Rule for EngineRule<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::NotKnownBefore { .. } => "not_known_before",
            Self::MayFail => "may_fail",
            Self::NoValue(_) => "no_value",
            Self::ChildChanged => "child_changed",
            Self::ChildUnchanged => "child_unchanged",
            Self::OutOfOrder => "internal",
        }
    }
}

impl fmt::Display for EngineRule<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKnownBefore { before, cause: None } => write!(formatter, "not known before {before}"),
            Self::NotKnownBefore { before, cause: Some(cause) } => {
                write!(formatter, "not known before {before}: {cause}")
            }
            Self::MayFail => formatter.write_str("may fail"),
            Self::NoValue(why) => formatter.write_str(why),
            Self::ChildChanged => formatter.write_str("some of its resources changed"),
            Self::ChildUnchanged => formatter.write_str("nothing in it changed"),
            Self::OutOfOrder => Ok(()),
        }
    }
}
