//! Verdicts, and those whose commands are judged.

use ccm_properties::words;

words! {
    /// Verdict on a command, ordered by strictness.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum PolicyVerdict {
        /// Nothing is against the command.
        Allow = "allow",
        /// The command needs an approval.
        Ask = "ask",
        /// The command is refused.
        Deny = "deny",
    }
}

words! {
    /// Origin of a command.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Caller {
        /// A governed tool: a command of an agent.
        Tool = "tool",
        /// An apply: a command of a manifest.
        Apply = "apply",
    }
}
