//! The pure decision about a reboot.

use std::fmt;

use ccm_engine::{Decision, Described, ResourceKind, Rule, Trigger, Verified};
use ccm_model::{Action, Failure, FailureKind, Verb};

pub(crate) struct RebootKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredReboot {
    /// True if a change of another resource suffices.
    pub is_always: bool,
    /// Minutes between the end of the run and the reboot.
    pub minutes: u64,
    pub message: String,
}

/// State of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RebootState {
    pub is_container: bool,
    /// True if a shutdown or a reboot is scheduled.
    pub is_scheduled: bool,
    /// Reason of the system for a reboot; `None` if it does not wait for one.
    pub pending: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RebootRule {
    Container,
    Scheduled,
    NotPending,
    NotTriggered,
    /// With the reason of the system.
    Pending(String),
    Triggered,
}

impl Rule for RebootRule {
    fn name(&self) -> &'static str {
        match self {
            Self::Container => "container",
            Self::Scheduled => "scheduled",
            Self::NotPending => "not_pending",
            Self::NotTriggered => "not_triggered",
            Self::Pending(_) => "pending",
            Self::Triggered => "triggered",
        }
    }
}

impl fmt::Display for RebootRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Container => "a container is not rebooted",
            Self::Scheduled => "a shutdown is already scheduled",
            Self::NotPending => "the system does not wait for a reboot",
            Self::NotTriggered => "no resource it subscribes to changed",
            Self::Pending(reason) => return write!(formatter, "the system waits for a reboot: {reason}"),
            Self::Triggered => "a resource it subscribes to changed",
        })
    }
}

impl ResourceKind for RebootKind {
    type Properties = DesiredReboot;
    type State = RebootState;
    type Effect = ();
    type Rule = RebootRule;

    fn decide(
        reboot: &DesiredReboot,
        state: &RebootState,
        trigger: Option<&Trigger>,
    ) -> Decision<RebootRule> {
        let rule = match &state.pending {
            _ if state.is_container => RebootRule::Container,
            _ if state.is_scheduled => RebootRule::Scheduled,
            _ if reboot.is_always && trigger.is_none() => RebootRule::NotTriggered,
            _ if reboot.is_always => RebootRule::Triggered,
            None => RebootRule::NotPending,
            Some(reason) => RebootRule::Pending(reason.clone()),
        };
        match rule {
            RebootRule::Pending(_) | RebootRule::Triggered => Decision::Change {
                reason: rule,
                action: Action::new(Verb::Restart)
                    .of(format!("the machine, {}m after the run", reboot.minutes)),
                diff: None,
            },
            reason => Decision::Keep { reason },
        }
    }

    fn verify(_: &DesiredReboot, state: &RebootState, (): &()) -> Result<Verified<RebootRule>, Failure> {
        if state.is_scheduled {
            return Ok(Verified::Changed);
        }
        Err(Failure::new(FailureKind::Verification, "the reboot was not scheduled")
            .with_hint("see `systemctl status ccm-reboot`"))
    }

    fn describe(_: &DesiredReboot, state: &RebootState, _: &str) -> Described {
        Described::new("present")
            .with("scheduled", state.is_scheduled)
            .with("pending", state.pending.clone())
            .unnamed()
    }
}

#[cfg(test)]
mod tests;
