//! `ccm status`: the last run of each manifest, and the refreshes that are pending.

mod check;
mod forget;
mod manifests;
mod pending;
mod prometheus;

use std::time::SystemTime;

use ccm_runtime::model::escape_control;
use ccm_runtime::process::{Clock as _, SystemClock};
use ccm_runtime::status::StatusError;
use ccm_runtime::timer::UnitScope;
use ccm_runtime::{Config, ExitCode, Session, error_layers, printed};

use crate::arguments::{ResourceFormat, StatusArguments, StatusCommand, StatusFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::{pause, resource, session, state, timer};

/// Shows the status, only the pending refreshes, or the result of a check.
pub(crate) fn run(arguments: &StatusArguments, console: &Console) -> CommandResult {
    if let Some(StatusCommand::Forget(forget)) = &arguments.command {
        return forget::run(forget, console);
    }
    if let Some(type_name) = &arguments.type_name {
        return of_resources(type_name, arguments, console);
    }
    let session = session::open_with(console, &arguments.state);
    let now = SystemClock::new().now();
    if arguments.check {
        return check::run(arguments, console, &session, now);
    }
    let text = render(arguments, &session, now).map_err(|error| state::state_error(&session, &error))?;
    match arguments.output.format {
        StatusFormat::Text => console.print_words(&text)?,
        StatusFormat::Json | StatusFormat::Prometheus => console.print(&text)?,
    };
    warn_of_templates(arguments, &session, console);
    Ok(ExitCode::Success)
}

/// Shows resources as `ccm resource` does.
fn of_resources(type_name: &str, arguments: &StatusArguments, console: &Console) -> CommandResult {
    if arguments.names.is_empty() {
        // The word may be a part of a value.
        let shown =
            type_name.split_once('=').map_or_else(|| type_name.to_owned(), |(key, _)| format!("{key}=…"));
        let shown = escape_control(&shown);
        let error = CommandError::usage(format!("unexpected argument '{shown}'"));
        let is_type = Session::open(Config::default()).type_names().contains(&type_name);
        return Err(error.hint(if is_type {
            format!("name a resource, or list all of them with `ccm resource {type_name}`")
        } else {
            format!("write `--manifest {shown}`")
        }));
    }
    let format = match arguments.output.format {
        StatusFormat::Text => ResourceFormat::Text,
        StatusFormat::Json => ResourceFormat::Json,
        StatusFormat::Prometheus => {
            let error = CommandError::usage("the state of a resource has no form for Prometheus");
            return Err(error.hint("use `--output json`"));
        }
    };
    resource::show(type_name, arguments.names.clone(), format, console)
}

/// Warns root of enabled timers of the package's template.
fn warn_of_templates(arguments: &StatusArguments, session: &Session, console: &Console) {
    if arguments.output.format != StatusFormat::Text || !session.is_root() {
        return;
    }
    let timers = session.timers(UnitScope::System).map(|timers| timers.enabled_templates());
    for name in timers.unwrap_or_default() {
        timer::warn_of_template(&name, console);
    }
}

fn render(arguments: &StatusArguments, session: &Session, now: SystemTime) -> Result<String, StatusError> {
    let state = session.state_path()?;
    let state_dir = session.named_state_directory().map(|_| &*state);
    let only = arguments.manifest.as_deref();
    if arguments.pending {
        let found = session.pending()?.of_manifest(only);
        return Ok(match arguments.output.format {
            StatusFormat::Text => pending::text(session, &found, state_dir),
            StatusFormat::Json => printed::document(&found.json()),
            StatusFormat::Prometheus => prometheus::text(&session.status()?, None),
        });
    }
    let mut status = session.status()?;
    status.pending = status.pending.of_manifest(only);
    Ok(match arguments.output.format {
        StatusFormat::Text => {
            let pause = match &status.pause {
                Ok(None) => String::new(),
                Ok(Some(pause)) => format!("{}\n", pause::described(pause)),
                Err(error) => format!("{}\n", escape_control(&error_layers(error).join(": "))),
            };
            manifests::text(&status, only, now) + &pause + &pending::text(session, &status.pending, state_dir)
        }
        StatusFormat::Json => printed::document(&status.json(only)),
        StatusFormat::Prometheus => prometheus::text(&status, only),
    })
}
