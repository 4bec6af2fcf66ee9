//! `ccm timer notify`: the notice of a service that failed, for a command.

use ccm_runtime::ExitCode;

use super::{scope, timer_error, timers};
use crate::arguments::TimerNotifyArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;
use crate::session;

/// Hands the notice of a service to a command, unless the service succeeded.
pub(super) fn run(arguments: &TimerNotifyArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let scope = scope(arguments.user);
    let timers = timers(&session, scope)?;
    let notice = block_on(timers.failure_notice(&arguments.unit))?;
    let Some(notice) = notice.map_err(|error| timer_error(&session, &error, scope))? else {
        return Ok(ExitCode::Success);
    };
    let notified = block_on(timers.notify(notice.text(arguments.format), &arguments.command))?;
    notified.map(|()| ExitCode::Success).map_err(|error| CommandError::of(&error))
}
