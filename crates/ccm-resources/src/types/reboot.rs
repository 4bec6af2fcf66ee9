//! The reboot resource: a reboot of the machine after the run.

mod decide;
mod properties;
mod systemd_reboot;

use ccm_engine::DynProvider;
use ccm_model::{Diagnostic, DiagnosticKind, Resource};
use ccm_properties::{CheckInput, PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::export::without_state;
use decide::{DesiredReboot, RebootKind};
use properties::{RebootCause, RebootProperties};
use systemd_reboot::SystemdReboot;

/// Message for users who are logged in, unless the manifest has another.
const MESSAGE: &str = "ccm reboots this machine";

#[derive(Debug)]
pub(crate) struct RebootType;

without_state!(
    RebootType,
    "a `reboot` is an action, and leaves no state that could be read",
    "write the resource by hand"
);

impl TypedResource for RebootType {
    type Written = RebootProperties;
    type Desired = DesiredReboot;
    type Provider = dyn DynProvider<RebootKind>;

    const NAME: &'static str = "reboot";
    const SUMMARY: &'static str = "Reboots the machine after the run, if that is needed.";
    const ENSURES: &'static [&'static str] = &["present"];
    const PROVIDERS: Providers<Self::Provider> = &[("systemd", &SystemdReboot)];
    const NO_PROVIDER_ADVICE: Option<&'static str> = Some("limit the reboot to some machines with `control`");

    fn build(_: &Resource, written: RebootProperties) -> Result<DesiredReboot, Vec<PropertyError>> {
        let Some(when) = written.when else {
            let hint = "write `when: pending`, or `when: always` with `subscribe`";
            return Err(vec![PropertyError::missing("when", hint)]);
        };
        let message = written.message.map_or_else(|| MESSAGE.to_owned(), |message| message.0);
        if message.contains(char::is_control) || message.starts_with('-') {
            let message = "the message is not one line, or begins with a dash";
            return Err(vec![PropertyError::new(DiagnosticKind::InvalidValue, "message", message)]);
        }
        Ok(DesiredReboot {
            is_always: when == RebootCause::Always,
            minutes: written.delay.map_or(1, |delay| delay.as_secs().div_ceil(60)),
            message,
        })
    }

    fn errors_in_context(reboot: &DesiredReboot, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let never_reboots = reboot.is_always && !checked.subscribes;
        let error = never_reboots.then(|| {
            let message = "`when: always` never reboots without `subscribe`";
            PropertyError::new(DiagnosticKind::Missing, "when", message)
                .with_hint(
                    "list the resources whose change needs a reboot in `subscribe`, or write `when: pending`",
                )
                .at(checked)
        });
        error.into_iter().collect()
    }
}

impl TypeSpec for RebootType {
    fn refreshes(&self) -> bool {
        true
    }

    fn merges(&self) -> bool {
        false
    }
}
