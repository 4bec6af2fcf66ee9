//! Rules by which an exec is decided.

use std::fmt;

use ccm_engine::{Rule, Trigger};

/// Rule that applied to an exec: a row of the decision table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExecRule {
    /// A trigger ran it.
    Triggered {
        trigger: Trigger,
        /// The guards were run, and allow it.
        guards_allow: bool,
    },
    CreatesExist,
    /// `refresh_only`, and nothing triggered it.
    NotTriggered,
    GuardFailed,
    /// A guard prevents it.
    Prevented(GuardExit),
    /// The guards allow it, as this one shows best.
    GuardsAllow(GuardExit),
    /// Noop did not run a guard.
    GuardUnknown {
        property: &'static str,
        command: String,
        because: NotRunBecause,
    },
    CreatesMissing,
    /// No property keeps it from running.
    NothingPrevents,
    /// The exit code is one of `unchanged_returns`.
    UnchangedReturn(i32),
}

/// Reason why noop does not run a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRunBecause {
    /// The guard would need an approval.
    Approval,
    /// The guard runs in a container.
    Container,
}

/// Exit of a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GuardExit {
    pub property: &'static str,
    pub command: String,
    pub exit_code: i32,
    /// Last line of standard error.
    pub stderr: Option<String>,
}

impl GuardExit {
    /// Returns `true` for an exit that more likely comes from an error of the guard than from its answer.
    pub(crate) fn is_unusual(&self) -> bool {
        !matches!(self.exit_code, 0 | 1)
    }

    /// Writes the last line of standard error, which explains an exit code other than 0.
    fn write_stderr(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stderr.as_ref().filter(|_| self.exit_code != 0) {
            Some(line) => write!(formatter, ": {line}"),
            None => Ok(()),
        }
    }
}

impl Rule for ExecRule {
    fn name(&self) -> &'static str {
        match self {
            Self::Triggered { .. } => "triggered",
            Self::CreatesExist => "creates_exist",
            Self::NotTriggered => "not_triggered",
            Self::GuardFailed => "guard_failed",
            Self::Prevented(_) => "guard_prevents",
            Self::GuardsAllow(_) => "guards_allow",
            Self::GuardUnknown { .. } => "guard_unknown",
            Self::CreatesMissing => "creates_missing",
            Self::NothingPrevents => "nothing_prevents",
            Self::UnchangedReturn(_) => "unchanged_return",
        }
    }
}

impl fmt::Display for ExecRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Triggered { trigger, guards_allow } => {
                let allow = if *guards_allow { ", and the guards allow it" } else { "" };
                return write!(formatter, "{trigger}{allow}");
            }
            Self::Prevented(exit) => {
                let GuardExit { property, command, exit_code, .. } = exit;
                write!(formatter, "`{property}` `{command}` exited with {exit_code}")?;
                return exit.write_stderr(formatter);
            }
            Self::GuardsAllow(exit) => {
                write!(formatter, "`{}` exited with {}", exit.property, exit.exit_code)?;
                return exit.write_stderr(formatter);
            }
            Self::GuardUnknown { property, command, because } => {
                let because = match because {
                    NotRunBecause::Approval => "needs an approval, and noop did not run it",
                    NotRunBecause::Container => "runs in a container, and noop starts none",
                };
                return write!(formatter, "`{property}` `{command}` {because}");
            }
            Self::UnchangedReturn(code) => {
                return write!(formatter, "exit code {code} means nothing was changed");
            }
            Self::CreatesExist => "everything in `creates` exists",
            Self::NotTriggered => "`refresh_only`, and nothing it subscribes to changed",
            Self::GuardFailed => "a guard failed to run",
            Self::CreatesMissing => "not everything in `creates` exists",
            Self::NothingPrevents => "it has no `creates` and no guards",
        })
    }
}
