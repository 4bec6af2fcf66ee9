//! Rules by which a service is decided.

use std::fmt;

use ccm_engine::{Rule, Trigger};

/// Rule that applied to a service.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ServiceRule {
    /// Nothing has to be done.
    Keep(KeepReason),
    /// It differs from the desired state in these ways, or was triggered.
    Differs { differences: Vec<Difference>, trigger: Option<Trigger> },
    /// What is there does not allow the change.
    Conflict,
    /// It became as wanted when systemd read its unit files.
    AsDesiredAfterReload,
}

/// Why nothing has to be done with a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepReason {
    AsDesired,
    /// A oneshot unit is running.
    Working,
    /// A refresh leaves alone what is to be stopped.
    StaysStopped,
}

/// Difference between a service and its desired state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Masked,
    NotMasked,
    Enabled,
    NotEnabled,
    Running,
    NotRunning,
    Failed,
    /// It has ended, and systemd waits before it starts it again.
    WaitsForRestart,
    /// It runs, and was triggered.
    Triggered,
}

impl Rule for ServiceRule {
    fn name(&self) -> &'static str {
        match self {
            Self::Keep(KeepReason::AsDesired) => "as_wanted",
            Self::Keep(KeepReason::Working) => "working",
            Self::Keep(KeepReason::StaysStopped) => "stopped_anyway",
            Self::Differs { trigger: Some(_), .. } => "triggered",
            Self::Differs { .. } => "differs",
            Self::Conflict => "conflict",
            Self::AsDesiredAfterReload => "as_wanted_after_reload",
        }
    }
}

impl fmt::Display for ServiceRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep(KeepReason::AsDesired) => formatter.write_str("it is as wanted"),
            Self::Keep(KeepReason::Working) => formatter.write_str("it is just doing its work"),
            Self::Keep(KeepReason::StaysStopped) => {
                formatter.write_str("what is to be stopped is left alone by a refresh")
            }
            Self::Differs { differences, trigger } => write_all(formatter, differences, trigger.as_ref()),
            Self::Conflict => formatter.write_str("it can't be brought to the state asked for"),
            Self::AsDesiredAfterReload => {
                formatter.write_str("it is as wanted, now that systemd has read its unit files")
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
            Self::Running => "it is running",
            Self::NotRunning => "it is not running",
            Self::Failed => "it has failed",
            Self::WaitsForRestart => "it has ended, and waits to be started again",
            Self::Triggered => "it was triggered",
        }
    }
}
