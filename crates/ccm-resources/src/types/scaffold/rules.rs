//! Rules of the scaffold decision.

use std::fmt;

use ccm_engine::Rule;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScaffoldRule {
    AsDesired,
    Absent,
    /// The directory does not exist.
    Missing,
    /// Number of entries that are not as they should be.
    Differs(usize),
    /// Number of entries that are to be absent.
    Present(usize),
    Conflict,
}

impl Rule for ScaffoldRule {
    fn name(&self) -> &'static str {
        match self {
            Self::AsDesired => "as_desired",
            Self::Absent => "absent",
            Self::Missing => "missing",
            Self::Differs(_) => "differs",
            Self::Present(_) => "present",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for ScaffoldRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsDesired => formatter.write_str("it is in the desired state"),
            Self::Absent => formatter.write_str("nothing of it exists"),
            Self::Missing => formatter.write_str("the directory does not exist"),
            Self::Differs(1) => formatter.write_str("1 entry in it differs"),
            Self::Differs(number) => write!(formatter, "{number} entries in it differ"),
            Self::Present(1) => formatter.write_str("1 of its entries exists"),
            Self::Present(number) => write!(formatter, "{number} of its entries exist"),
            Self::Conflict => formatter.write_str("it cannot be brought to the desired state"),
        }
    }
}
