//! Verdicts, and those whose commands are judged.

/// Verdict on a command, ordered by strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PolicyVerdict {
    /// Nothing is against the command.
    Allow,
    /// The command needs an approval.
    Ask,
    /// The command is refused.
    Deny,
}

/// Origin of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Caller {
    /// A governed tool: a command of an agent.
    Tool,
    /// An apply: a command of a manifest.
    Apply,
}

impl PolicyVerdict {
    /// Every verdict, from the mildest to the strictest.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// Returns the name in a policy file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Returns the verdict of a name in a policy file.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

impl Caller {
    /// Every caller.
    pub const ALL: [Self; 2] = [Self::Tool, Self::Apply];

    /// Returns the name in a policy file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Apply => "apply",
        }
    }

    /// Returns the caller of a name in a policy file.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|caller| caller.name() == name)
    }
}
