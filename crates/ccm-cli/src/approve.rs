//! `ccm approve`: signatures of an approver.

mod manifest;

use ccm_model::escape_control;
use ccm_runtime::{
    ApprovalLimits, ApprovalState, ApproveError, ExitCode, SignError, SigningError, approval_terms,
};

use crate::arguments::ApproveArguments;
use crate::console::Console;
use crate::{approvals, manifest as manifest_errors, session};

/// Maximum size of a signature in bytes.
const MAX_SIGNATURE: u64 = 64 << 10;

/// `ccm approve`.
pub(crate) fn run(arguments: &ApproveArguments, console: &Console) -> ExitCode {
    let done = match (&arguments.manifest, &arguments.code) {
        (Some(path), _) => manifest::approve(arguments, path, console),
        (None, Some(code)) => approve(arguments, code, console),
        (None, None) => Ok(ExitCode::Usage),
    };
    done.unwrap_or_else(|code| code)
}

/// Shows a request, asks, and signs.
fn approve(arguments: &ApproveArguments, code: &str, console: &Console) -> Result<ExitCode, ExitCode> {
    let session = session::open(console);
    let report = |error: &ApproveError| approvals::report_error(console, error);
    let listed = session.approval_request(code).map_err(|error| report(&error))?;
    let limits =
        ApprovalLimits { valid: arguments.valid, uses: arguments.uses, rule: arguments.rule.clone() };
    let mut shown = approvals::request(&listed).map_err(|error| report(&error))?;
    if arguments.signature.is_none() && listed.state.is_live() {
        let terms = approval_terms(&listed.intent, &limits).map_err(|error| report(&error))?;
        let rule = session.granted_rule(&listed.intent, &terms).map_err(|error| report(&error))?;
        shown += &approvals::terms(&listed.intent, &terms, rule.as_ref()).map_err(|error| report(&error))?;
    }
    let printed = console.print(&shown);
    if printed != ExitCode::Success {
        return Err(printed);
    }
    let approved = if let Some(path) = &arguments.signature {
        let signature = session.read_text(Some(path), MAX_SIGNATURE, "signature").map_err(|error| {
            manifest_errors::report_text_error(console, &error);
            ExitCode::NothingRun
        })?;
        session.import_approval(code, signature.1)
    } else {
        if !listed.state.is_live() {
            console.error("nothing can be approved any more", &[], &[]);
            return Err(ExitCode::NothingRun);
        }
        let approvers =
            session.approvers().map_err(|error| report(&ApproveError::Approvals(error.into())))?;
        let key = session.signing_key(arguments.key.clone(), Some(&approvers));
        let key = key.map_err(|error| report_sign_error(console, &error))?;
        confirm(console, &format!("Sign with {}? [y/N] ", manifest::key_name(&key)), arguments.yes)?;
        session.approve_request(code, &key, &limits)
    }
    .map_err(|error| report(&error))?;
    let by = escape_control(&approved.by.principal);
    let text = match approved.state {
        Some(ApprovalState::Approved { until, .. }) => {
            format!("approved by {by} until {until}; run ccm again\n")
        }
        Some(_) => format!("signed by {by}; more approvals are needed\n"),
        None => format!("signed by {by}; ccm reads the statement when it runs again\n"),
    };
    Ok(console.print(&text))
}

/// Reports why nothing was signed.
pub(crate) fn report_sign_error(console: &Console, error: &SignError) -> ExitCode {
    let hint = match error {
        SignError::Sign(SigningError::NoKey) => "name a key with `--key`, or forward the agent with `ssh -A`",
        SignError::Sign(SigningError::Start { .. }) => "install the client of OpenSSH",
        SignError::Sign(SigningError::Unreadable { .. }) => {
            "name a private key, or a .pub file, with `--key`"
        }
        SignError::Sign(_) => "look at the message of ssh-keygen above",
        _ => "sign with a key of the file of approvers",
    };
    console.error_of(error, "nothing was approved", &[hint.to_owned()]);
    ExitCode::NothingRun
}

/// Asks the person at the terminal. Without a terminal, `--yes` is the answer.
pub(crate) fn confirm(console: &Console, question: &str, is_yes: bool) -> Result<(), ExitCode> {
    if is_yes {
        return Ok(());
    }
    if !ccm_runtime::process::can_ask() {
        let hint = "read the above, and repeat the command with `--yes`";
        console.error("nobody can answer without a terminal; nothing was approved", &[], &[hint.to_owned()]);
        return Err(ExitCode::NothingRun);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answer = runtime.and_then(|runtime| runtime.block_on(ccm_runtime::process::ask(question)));
    match answer {
        Ok(answer) if ccm_runtime::process::is_yes(&answer) => Ok(()),
        Ok(_) => {
            console.note("nothing was approved");
            Err(ExitCode::NothingRun)
        }
        Err(error) => {
            console.error("the answer can't be read; nothing was approved", &[error.to_string()], &[]);
            Err(ExitCode::NothingRun)
        }
    }
}
