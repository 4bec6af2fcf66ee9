//! The tools, their sets and their hints.

use std::time::Duration;

use ccm_policy::ToolSet;
use ccm_properties::words;

/// Longest time limit of `exec` in milliseconds.
pub(crate) const MAX_EXEC_TIME: i64 = 300_000;
/// Longest time limit of the tools that run code in milliseconds.
pub(crate) const MAX_CODE_TIME: i64 = 120_000;

words! {
    /// Tool.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ToolName {
        /// Runs a program with arguments, or a text for `/bin/sh`.
        Exec = "exec",
        /// Runs a bash script.
        Bash = "bash",
        /// Runs code in a language runtime.
        CodeExecution = "code_execution",
        /// Lists processes that calls of the caller started.
        ProcessList = "process_list",
        /// Shows one of these processes.
        ProcessInspect = "process_inspect",
        /// Sends a signal to one of these processes.
        ProcessKill = "process_kill",
        /// Runs an approved call.
        Resume = "resume",
        /// Withdraws a call that waits for an approval.
        Cancel = "cancel",
        /// Shows whether a call is approved.
        ApprovalStatus = "approval_status",
        /// Applies a manifest that an approver has signed or approves.
        Apply = "apply",
        /// Ensures the state of one resource, which an approver approves.
        Ensure = "ensure",
        /// Checks a manifest.
        Validate = "validate",
        /// Shows what a run of a manifest would change.
        Noop = "noop",
        /// Shows the order of the resources of a manifest.
        Graph = "graph",
        /// Shows facts of the machine.
        Facts = "facts",
        /// Explains resource types.
        Explain = "explain",
        /// Shows recorded runs.
        History = "history",
        /// Shows the state of manifests.
        Status = "status",
        /// Judges a command without running it.
        PolicyExplain = "policy_explain",
    }
}

/// Hints about a tool for its caller. They are no promise of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolHints {
    /// The tool changes nothing.
    pub read_only: bool,
    /// The tool may destroy something.
    pub destructive: bool,
    /// A second call with the same input changes nothing more.
    pub idempotent: bool,
    /// The tool reaches beyond ccm, to programs of the machine.
    pub open_world: bool,
}

impl ToolName {
    /// Returns the set that the tool belongs to.
    pub fn set(self) -> ToolSet {
        match self {
            Self::Exec
            | Self::Bash
            | Self::CodeExecution
            | Self::ProcessList
            | Self::ProcessInspect
            | Self::ProcessKill
            | Self::Resume
            | Self::Cancel => ToolSet::GovernedExecute,
            Self::Apply | Self::Ensure => ToolSet::Apply,
            _ => ToolSet::Read,
        }
    }

    /// Returns `true` if the tool starts programs or signals processes for its caller.
    pub fn is_executing(self) -> bool {
        matches!(
            self,
            Self::Exec
                | Self::Bash
                | Self::CodeExecution
                | Self::ProcessKill
                | Self::Resume
                | Self::Apply
                | Self::Ensure
        )
    }

    /// Returns the hints.
    pub fn hints(self) -> ToolHints {
        let read_only = match self {
            Self::ProcessList | Self::ProcessInspect => true,
            _ => self.set() == ToolSet::Read,
        };
        ToolHints {
            read_only,
            destructive: self.is_executing(),
            idempotent: read_only || matches!(self, Self::Cancel | Self::Apply | Self::Ensure),
            open_world: self.is_executing(),
        }
    }

    /// Returns the longest time limit of the commands of the tool; `None` if it runs none.
    pub fn max_timeout(self) -> Option<Duration> {
        let millis = match self {
            Self::Exec => MAX_EXEC_TIME,
            Self::Bash | Self::CodeExecution => MAX_CODE_TIME,
            _ => return None,
        };
        Some(Duration::from_millis(millis.unsigned_abs()))
    }

    /// Returns what the tool does, for its caller.
    pub fn description(self) -> &'static str {
        match self {
            Self::Exec => {
                "Runs a command in a sandbox without a network. With `args`, `command` is a program; without `args`, \
                 `command` is a text for /bin/sh. The policy of the machine judges the command, and may ask a person."
            }
            Self::Bash => {
                "Runs a bash script in a sandbox without a network. The policy judges each command of the script."
            }
            Self::CodeExecution => {
                "Runs code in python, javascript, typescript or shell, in a sandbox without a network. A person usually \
                 has to approve it. Packages can't be installed."
            }
            Self::ProcessList => "Lists running processes that earlier calls of this caller started.",
            Self::ProcessInspect => "Shows a running process that an earlier call of this caller started.",
            Self::ProcessKill => {
                "Sends a signal to a process that an earlier call of this caller started. This can't be undone, and a \
                 person has to approve it."
            }
            Self::Resume => "Runs a call that waited for an approval, once it is approved.",
            Self::Cancel => "Withdraws a call that waits for an approval.",
            Self::ApprovalStatus => {
                "Shows whether a call that waited for an approval is approved, rejected or ended."
            }
            Self::Apply => {
                "Applies a manifest, by its path or as text, and returns what was changed. An approver has to have signed \
                 it, or else a person approves this call."
            }
            Self::Ensure => {
                "Ensures the state of one resource, such as a file, a package or a service, and returns what was changed. A \
                 person approves this call. `explain` lists the types and their properties."
            }
            Self::Validate => "Checks a manifest, and returns every error with its location. Nothing is run.",
            Self::Noop => {
                "Shows what a run of a manifest would change. Nothing is changed, and no command of the manifest is run: \
                 resources with guards count as unknown."
            }
            Self::Graph => "Shows the order of the resources of a manifest and their dependencies.",
            Self::Facts => "Returns the facts of this machine, or the part of them at a path.",
            Self::Explain => "Explains the resource types of manifests, or one type or property.",
            Self::History => "Lists recorded runs, or shows one of them.",
            Self::Status => "Shows the last run of each manifest, and pending refreshes.",
            Self::PolicyExplain => {
                "Shows what a command would do and the verdict of the policy on it. Nothing is run."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_that_only_reads_has_no_tool_that_executes() {
        for tool in ToolName::ALL.into_iter().filter(|tool| tool.set() == ToolSet::Read) {
            assert!(!tool.is_executing() && tool.hints().read_only, "{tool:?}");
            assert!(!tool.hints().destructive && tool.max_timeout().is_none(), "{tool:?}");
        }
        let executing = ToolName::ALL.into_iter().filter(|tool| tool.is_executing());
        let executing: Vec<&str> = executing.map(ToolName::name).collect();
        assert_eq!(
            executing,
            ["exec", "bash", "code_execution", "process_kill", "resume", "apply", "ensure"]
        );
    }

    #[test]
    fn names_lead_to_their_tools() {
        for tool in ToolName::ALL {
            assert_eq!(ToolName::parse(tool.name()), Some(tool));
            assert!(!tool.description().is_empty());
        }
        assert_eq!(ToolName::parse("rm"), None);
    }
}
