//! `ccm approvals`: what waits for an approval.

mod grant;
mod screen;

use std::path::Path;

use ccm_runtime::approval::{ApprovalsError, ApproveError, approvers_hint};
use ccm_runtime::process::signals::Signals;
use ccm_runtime::{ExitCode, Session};

use crate::arguments::{ApprovalsArguments, ApprovalsCommand, DocumentFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

pub(crate) use grant::terms;
pub(crate) use screen::request;

/// `ccm approvals`.
pub(crate) fn run(arguments: &ApprovalsArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    match &arguments.command {
        None if arguments.watch => watch(arguments, console, &session),
        None => console.print(&text(arguments, &session)?),
        Some(ApprovalsCommand::Show { code, output }) if output.format == DocumentFormat::Json => {
            console.print(&screen::json(&[session.governance().approval_request(code)?]))
        }
        Some(ApprovalsCommand::Show { code, .. }) => console.print(&shown(code, &session)?),
        Some(ApprovalsCommand::Export { code }) => export(code, console, &session),
        Some(ApprovalsCommand::Reject { code, reason, key }) => {
            reject(code, (reason, key.as_deref()), console, &session)
        }
    }
}

/// Reason why something was not approved.
impl From<&ApproveError> for CommandError {
    fn from(error: &ApproveError) -> Self {
        let hint = match error {
            ApproveError::Unknown(_) => "`ccm approvals` lists what waits; as another user, run it as root",
            ApproveError::Ended { .. } | ApproveError::OtherPolicy(_) => {
                "run ccm again, and approve what then waits"
            }
            ApproveError::NotExported(_) => "export it first: `ccm approvals export CODE > statement`",
            ApproveError::Unshowable { .. } => {
                "sign the manifest: `ccm approve --manifest MANIFEST --until 30d`"
            }
            ApproveError::NoGrant(_) => "add `grant: {uses: N, for: 1h}` to the `ask` of the rule",
            ApproveError::OtherRule { .. } => "approve it without `--rule`",
            ApproveError::OwnerOnly => "repeat the command as root, or name your key with `--key`",
            ApproveError::Audit(_) => "run `ccm audit verify`",
            ApproveError::Sign(error) => return error.into(),
            ApproveError::Approvals(error) => return error.into(),
            _ => return Self::of(error).therefore("nothing was changed"),
        };
        Self::of(error).therefore("nothing was changed").hint(hint)
    }
}

impl From<&ApprovalsError> for CommandError {
    fn from(error: &ApprovalsError) -> Self {
        match error {
            ApprovalsError::Approvers(source) => Self::of(error).hint(approvers_hint(source)),
            ApprovalsError::Policy(error) => (&**error).into(),
            ApprovalsError::Audit(_) => Self::of(error).hint("run `ccm audit verify`"),
            _ => Self::of(error),
        }
    }
}

fn text(arguments: &ApprovalsArguments, session: &Session) -> CommandResult<String> {
    let requests = session.governance().approval_requests()?;
    if arguments.output.format == DocumentFormat::Json {
        return Ok(screen::json(&requests));
    }
    let requests: Vec<_> = requests.into_iter().filter(|request| screen::is_shown(&request.state)).collect();
    Ok(screen::list(&requests))
}

/// Shows the list again whenever it changes, until a signal.
fn watch(arguments: &ApprovalsArguments, console: &Console, session: &Session) -> CommandResult {
    const INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut shown = None;
    runtime.block_on(async {
        loop {
            let now = text(arguments, session)?;
            // The remaining time changes by itself.
            let lines: Vec<String> = now.lines().map(screen::without_time).collect();
            if shown.as_ref() != Some(&lines) {
                console.print(&now)?;
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

/// Returns the screen of what waits.
fn shown(code: &str, session: &Session) -> CommandResult<String> {
    Ok(request(&session.governance().approval_request(code)?)?)
}

fn export(code: &str, console: &Console, session: &Session) -> CommandResult {
    let screen = shown(code, session)?;
    let statement = session.governance().export_request(code)?;
    // Standard output holds the statement alone, so that it can be signed as it is.
    console.write(&screen);
    console.write(&format!(
        "sign it with: ssh-keygen -Y sign -n {} -f KEY FILE\n",
        ccm_runtime::approval::APPROVAL_NAMESPACE
    ));
    console.print(&statement)
}

fn reject(
    code: &str,
    (reason, key): (&str, Option<&Path>),
    console: &Console,
    session: &Session,
) -> CommandResult {
    let key = key.map(|path| session.governance().signing_key(Some(path.to_owned()), None)).transpose()?;
    session.governance().reject_request(code, reason, key.as_ref())?;
    console.print_words(&format!("{} is rejected\n", code.to_uppercase()))
}
