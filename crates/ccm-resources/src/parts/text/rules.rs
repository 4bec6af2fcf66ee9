//! Rules of the decision about a part of a file.

use std::fmt;

use ccm_engine::Rule;

use super::line_numbers;

/// Rule of a decision; `part` is the name of the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartRule {
    pub part: &'static str,
    pub condition: PartCondition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartCondition {
    AsDesired,
    Absent,
    NoFile,
    Missing,
    /// The part on these lines differs.
    Differs(Vec<usize>),
    /// Present on these lines, but to be absent.
    Present(Vec<usize>),
    /// The file does not allow the change.
    Conflict,
}

impl Rule for PartRule {
    fn name(&self) -> &'static str {
        match self.condition {
            PartCondition::AsDesired => "as_wanted",
            PartCondition::Absent => "absent",
            PartCondition::NoFile => "no_file",
            PartCondition::Missing => "missing",
            PartCondition::Differs(_) => "differs",
            PartCondition::Present(_) => "present",
            PartCondition::Conflict => "conflict",
        }
    }
}

impl fmt::Display for PartRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part;
        match &self.condition {
            PartCondition::AsDesired => write!(formatter, "the {part} is in the file"),
            PartCondition::Absent => write!(formatter, "the {part} is not in the file"),
            PartCondition::NoFile => formatter.write_str("the file does not exist"),
            PartCondition::Missing => write!(formatter, "the {part} is missing"),
            PartCondition::Differs(at) => {
                write!(formatter, "{} differ{}", line_numbers(at), if at.len() == 1 { "s" } else { "" })
            }
            PartCondition::Present(at) => {
                write!(formatter, "the {part} is in the file, on {}", line_numbers(at))
            }
            PartCondition::Conflict => write!(formatter, "the {part} cannot be brought to the desired state"),
        }
    }
}
