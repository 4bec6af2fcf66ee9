//! `ccm approve`: signatures of an approver.

pub(crate) mod manifest;
mod plan;

use ccm_runtime::approval::{ApprovalLimits, ApprovalState, ApprovalsError, SignError, approval_terms};
use ccm_runtime::model::escape_control;
use ccm_runtime::{ExitCode, SigningError};

use crate::arguments::ApproveArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;
use crate::{approvals, session};

/// Maximum size of a signature in bytes.
const MAX_SIGNATURE: u64 = 64 << 10;

/// `ccm approve`.
pub(crate) fn run(arguments: &ApproveArguments, console: &Console) -> CommandResult {
    if let Some(path) = &arguments.plan {
        return plan::approve(arguments, path, console);
    }
    match (&arguments.manifest, &arguments.code) {
        (Some(path), _) => manifest::approve(arguments, path, console),
        (None, Some(code)) => approve(arguments, code, console),
        (None, None) => Ok(ExitCode::Usage),
    }
}

/// Shows a request, asks, and signs.
fn approve(arguments: &ApproveArguments, code: &str, console: &Console) -> CommandResult {
    let session = session::open(console);
    let listed = session.governance().approval_request(code)?;
    let limits =
        ApprovalLimits { valid: arguments.valid, uses: arguments.uses, rule: arguments.rule.clone() };
    let mut shown = approvals::request(&listed)?;
    if arguments.signature.is_none() && listed.state.is_live() {
        let terms = approval_terms(&listed.intent, &limits)?;
        let rule = session.governance().granted_rule(&listed.intent, &terms)?;
        shown += &approvals::terms(&listed.intent, &terms, rule.as_ref())?;
    }
    console.print(&shown)?;
    let approved = if let Some(path) = &arguments.signature {
        let (_, signature) = session.read_text(Some(path), MAX_SIGNATURE, "signature")?;
        session.governance().import_approval(code, signature)?
    } else {
        if !listed.state.is_live() {
            return Err(CommandError::new("nothing can be approved any more"));
        }
        let approvers = session.governance().approvers().map_err(ApprovalsError::from)?;
        let key = session.governance().signing_key(arguments.key.clone(), Some(&approvers))?;
        let question = format!("Sign with {}? [y/N] ", manifest::key_name(&key));
        if !is_confirmed(console, &question, arguments.yes)? {
            return Ok(ExitCode::NothingRun);
        }
        session.governance().approve_request(code, &key, &limits)?
    };
    let by = escape_control(&approved.by.principal);
    let text = match approved.state {
        Some(ApprovalState::Approved { until, .. }) => {
            format!("approved by {by} until {until}; run ccm again\n")
        }
        Some(_) => format!("signed by {by}; more approvals are needed\n"),
        None => format!("signed by {by}; ccm reads the statement when it runs again\n"),
    };
    console.print(&text)
}

/// Reason why nothing was signed.
impl From<&SignError> for CommandError {
    fn from(error: &SignError) -> Self {
        let hint = match error {
            SignError::Sign(SigningError::NoKey) => {
                "name a key with `--key`, or forward the agent with `ssh -A`"
            }
            SignError::Sign(SigningError::Start { .. }) => "install the client of OpenSSH",
            SignError::Sign(SigningError::Unreadable { .. }) => {
                "name a private key, or a .pub file, with `--key`"
            }
            SignError::Sign(_) => "look at the message of ssh-keygen above",
            _ => "sign with a key of the file of approvers",
        };
        Self::of(error).therefore("nothing was approved").hint(hint)
    }
}

/// Asks the person at the terminal. Without a terminal, `--yes` is the answer.
fn is_confirmed(console: &Console, question: &str, is_yes: bool) -> CommandResult<bool> {
    if is_yes {
        return Ok(true);
    }
    if !ccm_runtime::process::can_ask() {
        let hint = "read the above, and repeat the command with `--yes`";
        let message = "nobody can answer without a terminal; nothing was approved";
        return Err(CommandError::new(message).hint(hint));
    }
    let answer = block_on(ccm_runtime::process::ask(question)).and_then(|answer| answer);
    let answer = answer.map_err(|error| {
        CommandError::new("the answer can't be read; nothing was approved").caused_by(&error)
    })?;
    let is_yes = ccm_runtime::process::is_yes(&answer);
    if !is_yes {
        console.note("nothing was approved");
    }
    Ok(is_yes)
}
