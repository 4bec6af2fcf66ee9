//! `ccm approvals`: what waits for an approval.

mod grant;
mod screen;

use std::path::Path;

use ccm_runtime::process::signals::Signals;
use ccm_runtime::{ApprovalsError, ApproveError, ExitCode, Session, approvers_hint};

use crate::arguments::{ApprovalsArguments, ApprovalsCommand};
use crate::console::Console;
use crate::session;

pub(crate) use grant::terms;
pub(crate) use screen::request;

/// `ccm approvals`.
pub(crate) fn run(arguments: &ApprovalsArguments, console: &Console) -> ExitCode {
    let session = session::open(console);
    let done = match &arguments.command {
        None if arguments.watch => watch(arguments, console, &session),
        None => list(arguments, console, &session),
        Some(ApprovalsCommand::Show { code }) => show(code, console, &session),
        Some(ApprovalsCommand::Export { code }) => export(code, console, &session),
        Some(ApprovalsCommand::Reject { code, reason, key }) => {
            reject(code, (reason, key.as_deref()), console, &session)
        }
    };
    done.unwrap_or_else(|code| code)
}

/// Reports why something was not approved.
pub(crate) fn report_error(console: &Console, error: &ApproveError) -> ExitCode {
    let hints: &[&str] = match error {
        ApproveError::Unknown(_) => &["`ccm approvals` lists what waits; as another user, run it as root"],
        ApproveError::Ended { .. } | ApproveError::OtherPolicy(_) => {
            &["run ccm again, and approve what then waits"]
        }
        ApproveError::NotExported(_) => &["export it first: `ccm approvals export CODE > statement`"],
        ApproveError::Unshowable { .. } => {
            &["sign the manifest: `ccm approve --manifest MANIFEST --until 30d`"]
        }
        ApproveError::NoGrant(_) => &["add `grant: {uses: N, for: 1h}` to the `ask` of the rule"],
        ApproveError::OtherRule { .. } => &["approve it without `--rule`"],
        ApproveError::OwnerOnly => &["repeat the command as root, or name your key with `--key`"],
        ApproveError::Audit(_) => &["run `ccm audit verify`"],
        ApproveError::Sign(error) => return crate::approve::report_sign_error(console, error),
        ApproveError::Approvals(error) => return report_approvals_error(console, error),
        _ => &[],
    };
    let hints: Vec<String> = hints.iter().map(|hint| (*hint).to_owned()).collect();
    console.error_of(error, "nothing was changed", &hints);
    ExitCode::NothingRun
}

fn report_approvals_error(console: &Console, error: &ApprovalsError) -> ExitCode {
    let hints = match error {
        ApprovalsError::Approvers(error) => vec![approvers_hint(error)],
        ApprovalsError::Policy(error) => return crate::policy::report_policy_error(console, error, ""),
        ApprovalsError::Audit(_) => vec!["run `ccm audit verify`".to_owned()],
        _ => Vec::new(),
    };
    console.error_of(error, "", &hints);
    ExitCode::NothingRun
}

fn text(arguments: &ApprovalsArguments, console: &Console, session: &Session) -> Result<String, ExitCode> {
    let requests = session.approval_requests().map_err(|error| report_approvals_error(console, &error))?;
    if arguments.json {
        return Ok(screen::json(&requests));
    }
    let requests: Vec<_> = requests.into_iter().filter(|request| screen::is_shown(&request.state)).collect();
    Ok(screen::list(&requests))
}

fn list(arguments: &ApprovalsArguments, console: &Console, session: &Session) -> Result<ExitCode, ExitCode> {
    Ok(console.print(&text(arguments, console, session)?))
}

/// Shows the list again whenever it changes, until a signal.
fn watch(arguments: &ApprovalsArguments, console: &Console, session: &Session) -> Result<ExitCode, ExitCode> {
    const INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);
    let failed = |error: std::io::Error| crate::state::report_setup_error(console, &error);
    let signals = Signals::listen().map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let mut shown = None;
    runtime.block_on(async {
        loop {
            let now = text(arguments, console, session)?;
            // The remaining time changes by itself.
            let lines: Vec<String> = now.lines().map(screen::without_time).collect();
            if shown.as_ref() != Some(&lines) {
                let printed = console.print(&now);
                if printed != ExitCode::Success {
                    return Err(printed);
                }
                shown = Some(lines);
            }
            tokio::select! {
                biased;
                _ = signals.next() => return Ok(ExitCode::Success),
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
    })
}

fn show(code: &str, console: &Console, session: &Session) -> Result<ExitCode, ExitCode> {
    Ok(console.print(&shown(code, console, session)?))
}

/// Returns the screen of what waits.
fn shown(code: &str, console: &Console, session: &Session) -> Result<String, ExitCode> {
    let listed = session.approval_request(code).map_err(|error| report_error(console, &error))?;
    request(&listed).map_err(|error| report_error(console, &error))
}

fn export(code: &str, console: &Console, session: &Session) -> Result<ExitCode, ExitCode> {
    let screen = shown(code, console, session)?;
    let statement = session.export_request(code).map_err(|error| report_error(console, &error))?;
    // Standard output holds the statement alone, so that it can be signed as it is.
    console.write(&screen);
    console.write(&format!(
        "sign it with: ssh-keygen -Y sign -n {} -f KEY FILE\n",
        ccm_runtime::APPROVAL_NAMESPACE
    ));
    Ok(console.print(&statement))
}

fn reject(
    code: &str,
    (reason, key): (&str, Option<&Path>),
    console: &Console,
    session: &Session,
) -> Result<ExitCode, ExitCode> {
    let key = key.map(|path| session.signing_key(Some(path.to_owned()), None));
    let key = key.transpose().map_err(|error| crate::approve::report_sign_error(console, &error))?;
    session.reject_request(code, reason, key.as_ref()).map_err(|error| report_error(console, &error))?;
    Ok(console.print(&format!("{} is rejected\n", code.to_uppercase())))
}
