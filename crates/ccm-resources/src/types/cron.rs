//! The cron resource: a line of `/etc/cron.d` or of the crontab of a user.

mod cron_d;
mod crontab;
mod decide;
mod desired;
mod environment;
mod export;
mod fields;
mod nickname;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, NodeEntry, NodeMap, PathKind, Resource};
use ccm_properties::{
    CheckInput, CommandsView, Need, PropertyError, Providers, TypeSpec, TypedResource, WrittenCommand,
    WrittenLine,
};

use crate::parts::later_commands::{later_command, text_of, usual_home};
use crate::support::needs::needed_program;
use crate::support::object_plan::Object;
use cron_d::{CronDirectory, job_path};
use crontab::Crontab;
use desired::{DesiredJob, name_error};
use properties::CronProperties;

#[derive(Debug)]
pub(crate) struct CronType;

impl TypedResource for CronType {
    type Written = CronProperties;
    type Desired = DesiredJob;
    type Provider = dyn DynProvider<Object<DesiredJob>>;

    const NAME: &'static str = "cron";
    const SUMMARY: &'static str = "Manages a job of cron.";
    const PROVIDERS: Providers<Self::Provider> = &[("cron_d", &CronDirectory), ("crontab", &Crontab)];
    const INTERDEPENDENT: &'static [&'static [&'static str]] =
        &[&["minute", "hour", "day", "month", "weekday", "special"]];

    fn build(resource: &Resource, written: CronProperties) -> Result<DesiredJob, Vec<PropertyError>> {
        DesiredJob::build(resource, written)
    }

    fn warnings(_: &DesiredJob, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let command = checked.resource.properties.get("command");
        let is_escaped = |node: &&Node| node.as_text().is_some_and(|text| text.contains("\\%"));
        let warning = |node: &Node| {
            let message = "the shell gets `\\%` in this command as `%`";
            Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message)
                .with_hint("write `%` without a backslash: ccm escapes it for cron")
        };
        command.filter(is_escaped).map(warning).into_iter().chain(every_minute(checked.resource)).collect()
    }
}

/// Returns the warning about a job with times but without a minute: cron runs it sixty times in each of its hours.
fn every_minute(resource: &Resource) -> Option<Diagnostic> {
    let given = |property| resource.properties.get(property).filter(|node| node.as_text() != Some("*"));
    if resource.properties.get("minute").is_some() {
        return None;
    }
    let at = ["hour", "day", "weekday", "month"].into_iter().find_map(given)?;
    let (when, hint) = if given("hour").is_some() {
        ("of the hour", "write `minute: 0`, or `minute: \"*\"` if every minute is meant")
    } else {
        ("of the day", "write `minute: 0` and `hour: 0`, or `minute: \"*\"` if every minute is meant")
    };
    let message = format!("without `minute`, the job runs every minute {when}");
    Some(Diagnostic::warning(DiagnosticKind::NoEffect, at.span, message).with_hint(hint))
}

impl TypeSpec for CronType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = &*resource.id.name;
        if name_error(name).is_some() {
            return Vec::new();
        }
        if resource.provider.as_ref().is_some_and(|provider| provider.value == "crontab") {
            let user = resource.properties.get("user").map_or(Some("root"), Node::as_text);
            return user.map(|user| crontab::claims(user, name)).unwrap_or_default();
        }
        let kind = if resource.is_absent() { PathKind::Nothing } else { PathKind::Other };
        vec![Claim::path(job_path(name).display().to_string(), kind)]
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let text = |property| resource.properties.get(property).and_then(Node::as_text);
        let user = text("user").map(|user| (ClaimKind::User, user.into()));
        let packages = ["cron", "cronie"].map(|package| (ClaimKind::Package, package.into()));
        user.into_iter().chain(needed_program(text("command"))).chain(packages).collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(self)
    }
}

impl CommandsView for CronType {
    fn later_commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let Some(node) = resource.properties.get("command").filter(|_| !resource.is_absent()) else {
            return Vec::new();
        };
        let Some(text) = node.as_text() else { return Vec::new() };
        // The shell gets `%` without its backslash.
        let text = text.trim().replace("\\%", "%");
        let environment: Vec<(String, String)> =
            environment_of(resource).into_iter().flat_map(NodeMap::entries).filter_map(variable).collect();
        let shell =
            environment.iter().rev().find(|(name, _)| name == "SHELL").map(|(_, value)| value.clone());
        let line = match shell {
            Some(shell) if !matches!(&*shell, "/bin/sh" | "/usr/bin/sh") => {
                WrittenLine::Words(vec![shell, "-c".to_owned(), text])
            }
            _ => WrittenLine::Shell(text),
        };
        let user = text_of(resource, "user");
        let mut command = later_command(node, line, user, &["command", "environment", "user"]);
        command.subject.directory = usual_home(user);
        command.subject.environment = environment;
        vec![command]
    }
}

fn environment_of(resource: &Resource) -> Option<&NodeMap> {
    resource.properties.get("environment").and_then(Node::as_map)
}

fn variable(entry: &NodeEntry) -> Option<(String, String)> {
    Some((entry.key.text.to_string(), entry.value.as_text()?.to_owned()))
}
