//! `ccm approve --plan`: a signature of a plan, by which exactly its changes are approved.

use std::path::Path;

use ccm_runtime::ExitCode;
use ccm_runtime::model::escape_control;
use ccm_runtime::plan::{PLAN_NAMESPACE, PlanDifference};

use super::is_confirmed;
use super::manifest::{approvers, key_name};
use crate::arguments::ApproveArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::plan::{plan_error, refused, text};
use crate::session;

/// Shows a plan, asks, and signs it.
pub(super) fn approve(arguments: &ApproveArguments, path: &Path, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let plan = session.read_plan(path).map_err(|error| plan_error(&session, &error))?;
    let faults = session.plan_faults(&plan).map_err(|error| plan_error(&session, &error))?;
    // The plan of another machine can be signed here. Whoever applies a plan checks all of it.
    let is_in_vain = |fault: &PlanDifference| {
        matches!(fault, PlanDifference::Edited | PlanDifference::Expired { .. } | PlanDifference::Used)
    };
    let in_vain: Vec<PlanDifference> = faults.iter().filter(|fault| is_in_vain(fault)).cloned().collect();
    if !in_vain.is_empty() {
        return Err(refused(&plan, &in_vain));
    }
    console.print(&text(&plan, &faults))?;
    let not_approved =
        |error: &dyn std::error::Error| CommandError::of(error).therefore("nothing was approved");
    let approvers = approvers(console, &session)?;
    let bytes = plan.text.as_bytes();
    let (signature, by) = if let Some(signature) = &arguments.signature {
        let (_, signature) = session.read_text(Some(signature), 64 << 10, "signature")?;
        let verify = |approvers| session.governance().verify(approvers, PLAN_NAMESPACE, bytes, &signature);
        let by = approvers.as_ref().map(verify).transpose().map_err(|error| not_approved(&error))?;
        (signature, by)
    } else {
        let key = session.governance().signing_key(arguments.key.clone(), approvers.as_ref())?;
        if !is_confirmed(console, &format!("Sign with {}? [y/N] ", key_name(&key)), arguments.yes)? {
            return Ok(ExitCode::NothingRun);
        }
        session.governance().sign(&key, PLAN_NAMESPACE, bytes, approvers.as_ref())?
    };
    let written = session.write_plan_signature(&plan, &signature).map_err(|error| not_approved(&error))?;
    let by = by.map_or_else(String::new, |by| format!(" by {}", escape_control(&by.principal)));
    console.print_words(&format!("approved{by} until {}: {}\n", plan.document.expires, written.display()))
}
