//! Rules of the service decision.

use std::fmt;

use ccm_engine::{Rule, Trigger};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ServiceRule {
    /// No change.
    Keep(KeepReason),
    /// Differences to the desired state, or a trigger.
    Differs { differences: Vec<Difference>, trigger: Option<Trigger> },
    /// The present state does not allow the change.
    Conflict,
    /// No change was left after systemd reloaded its unit files.
    AsDesiredAfterReload,
    /// No change was left after another service was changed.
    AsDesiredMeanwhile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepReason {
    AsDesired,
    /// A oneshot is running.
    Working,
    /// A refresh does not affect a service whose desired state is stopped.
    StaysStopped,
    /// The unit does not exist any more.
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Masked,
    NotMasked,
    Enabled,
    NotEnabled,
    /// Enabled, but without a link that its unit file asks for.
    LinksMissing,
    Running,
    NotRunning,
    Failed,
    /// Exited; systemd waits before it restarts the unit.
    WaitsForRestart,
    /// Running, and triggered by a refresh.
    Triggered,
}

impl Rule for ServiceRule {
    fn name(&self) -> &'static str {
        match self {
            Self::Keep(KeepReason::AsDesired) => "as_wanted",
            Self::Keep(KeepReason::Working) => "working",
            Self::Keep(KeepReason::StaysStopped) => "stopped_anyway",
            Self::Keep(KeepReason::Missing) => "missing_anyway",
            Self::Differs { trigger: Some(_), .. } => "triggered",
            Self::Differs { .. } => "differs",
            Self::Conflict => "conflict",
            Self::AsDesiredAfterReload => "as_wanted_after_reload",
            Self::AsDesiredMeanwhile => "as_wanted_meanwhile",
        }
    }
}

impl fmt::Display for ServiceRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep(KeepReason::AsDesired) => formatter.write_str("it is in the desired state"),
            Self::Keep(KeepReason::Working) => formatter.write_str("the oneshot is running"),
            Self::Keep(KeepReason::StaysStopped) => formatter.write_str("a stopped service is not refreshed"),
            Self::Keep(KeepReason::Missing) => {
                formatter.write_str("it does not exist, so that it does not run")
            }
            Self::Differs { differences, trigger } => write_all(formatter, differences, trigger.as_ref()),
            Self::Conflict => formatter.write_str("it cannot be brought to the desired state"),
            Self::AsDesiredAfterReload => {
                formatter.write_str("it is in the desired state since systemd reloaded its unit files")
            }
            Self::AsDesiredMeanwhile => {
                formatter.write_str("it is in the desired state since another service was changed")
            }
        }
    }
}

fn write_all(
    formatter: &mut fmt::Formatter<'_>,
    differences: &[Difference],
    trigger: Option<&Trigger>,
) -> fmt::Result {
    for (at, difference) in differences.iter().enumerate() {
        formatter.write_str(if at > 0 { "; " } else { "" })?;
        match (difference, trigger) {
            (Difference::Triggered, Some(trigger)) => write!(formatter, "{trigger}")?,
            (difference, _) => formatter.write_str(difference.text())?,
        }
    }
    Ok(())
}

impl Difference {
    fn text(self) -> &'static str {
        match self {
            Self::Masked => "it is masked",
            Self::NotMasked => "it is not masked",
            Self::Enabled => "it is enabled",
            Self::NotEnabled => "it is not enabled",
            Self::LinksMissing => "it is not enabled as `[Install]` of its unit file says",
            Self::Running => "it is running",
            Self::NotRunning => "it is not running",
            Self::Failed => "it has failed",
            Self::WaitsForRestart => "it exited and waits for a restart",
            Self::Triggered => "it was triggered",
        }
    }
}
