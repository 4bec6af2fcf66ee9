//! The timer resource: a timer of systemd and the service that it starts.

mod decide;
mod desired;
mod export;
mod properties;
mod systemd_timers;
mod units;
mod values;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Node, PathKind, Resource};
use ccm_properties::{CommandsView, Need, PropertyError, Providers, TypeSpec, TypedResource, WrittenCommand};

use crate::parts::later_commands::{later_command, text_of, words_of};
use crate::parts::systemd::failure_actions::FailureAction;
use crate::parts::systemd::units::{SYSTEM_UNITS, timer_units};
use crate::support::needs::needed_program;
use crate::support::object_plan::Object;
use desired::{DesiredTimer, name_error};
use properties::TimerProperties;
use systemd_timers::SystemdTimers;

#[derive(Debug)]
pub(crate) struct TimerType;

impl TypedResource for TimerType {
    type Written = TimerProperties;
    type Desired = DesiredTimer;
    type Provider = dyn DynProvider<Object<DesiredTimer>>;

    const NAME: &'static str = "timer";
    const SUMMARY: &'static str = "Runs a command at certain times: a timer of systemd with its service.";
    const PROVIDERS: Providers<Self::Provider> = &[("systemd", &SystemdTimers)];
    const NO_PROVIDER_ADVICE: Option<&'static str> =
        Some("use the type `cron`, or limit the timer to some machines with `control`");
    const INTERDEPENDENT: &'static [&'static [&'static str]] = &[&["on_calendar", "every"]];

    fn build(resource: &Resource, written: TimerProperties) -> Result<DesiredTimer, Vec<PropertyError>> {
        DesiredTimer::build(resource, written)
    }
}

impl TypeSpec for TimerType {
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "running" | "started" | "enabled" => {
                Some("write `ensure: present`, which enables and starts the timer")
            }
            _ => None,
        }
    }

    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        matches!(written, "cron" | "crontab").then_some("use the type `cron`")
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = &*resource.id.name;
        if name_error(name).is_some() {
            return Vec::new();
        }
        let kind = if resource.is_absent() { PathKind::Nothing } else { PathKind::Other };
        timer_units(name).map(|unit| Claim::path(format!("{SYSTEM_UNITS}/{unit}"), kind)).into()
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let text = |property| resource.properties.get(property).and_then(Node::as_text);
        let user = text("user").map(|user| (ClaimKind::User, user.into()));
        let programs = commands_after_failure(resource).filter_map(|(_, text)| needed_program(Some(text)));
        user.into_iter().chain(needed_program(text("command"))).chain(programs).collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(self)
    }
}

impl CommandsView for TimerType {
    fn later_commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let node = resource.properties.get("command").filter(|_| !resource.is_absent());
        let line = node.and_then(Node::as_text).and_then(words_of);
        let user = text_of(resource, "user");
        let command =
            node.zip(line).map(|(node, line)| later_command(node, line, user, &["command", "user"]));
        // They run as root, whoever runs the command.
        let after_failure = commands_after_failure(resource).filter(|_| !resource.is_absent());
        let after_failure = after_failure
            .filter_map(|(node, text)| Some(later_command(node, words_of(text)?, None, &["on_failure"])));
        command.into_iter().chain(after_failure).collect()
    }
}

/// Returns the commands that get a summary of a failure.
fn commands_after_failure(resource: &Resource) -> impl Iterator<Item = (&Node, &str)> {
    let node = resource.properties.get("on_failure");
    let nodes = node.map(|node| node.as_list().unwrap_or(std::slice::from_ref(node))).unwrap_or_default();
    let texts = nodes.iter().filter_map(|node| Some((node, node.as_text()?)));
    texts.filter(|(_, text)| matches!(FailureAction::parse(text), Ok(FailureAction::Command(_))))
}
