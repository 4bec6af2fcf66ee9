//! Processes that outlive their command.

use ccm_host::Process;

/// Returns a warning about a process that a command left running. `by` says whose command it is, such as ` by a guard`.
pub(crate) fn left_running(process: &Process, by: &str) -> String {
    let end = if process.holds_output {
        "; its output goes to ccm, which has closed it, so that it ends at its next write: redirect it with `>/dev/null 2>&1`, or make it a service"
    } else {
        ""
    };
    format!("left running{by}: {process}{end}")
}
