//! `ccm audit`: makes, lists, verifies and copies the audit log.

mod listing;

use std::path::Path;

use ccm_runtime::audit::{
    AuditAccessError, AuditFinding, AuditProblem, LogVerification, NextKeyCheck, OpenError, Trust,
};
use ccm_runtime::process::{Clock as _, SystemClock};
use ccm_runtime::{ExitCode, LocalZone, Session};
use serde_json::json;

use crate::arguments::{
    AuditCheckpointArguments, AuditCommand, AuditExportArguments, AuditInitArguments, AuditLogArguments,
    AuditVerifyArguments, DocumentFormat,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;
use listing::{Listing, LogFilter};

/// Maximum number of entries that are listed, unless an option names another.
const MAX_LISTED: usize = 100;
/// Maximum number of findings that are listed.
const MAX_FINDINGS: usize = 20;
/// Hint for a log that was changed.
const CHANGED_HINT: &str =
    "copy the directory before anything else writes to it, and compare it with seals that were forwarded";

/// Hint for a log whose key can't be compared.
const INCOMPLETE_HINT: &str = "compare the log with seals that were forwarded: `--against FILE`; `--chain` verifies lines and seals alone";

/// `ccm audit`.
pub(crate) fn run(command: &AuditCommand, console: &Console) -> CommandResult {
    let session = session::open(console);
    match command {
        AuditCommand::Init(arguments) => init(arguments, console, &session),
        AuditCommand::Log(arguments) => log(arguments, console, &session),
        AuditCommand::Verify(arguments) => verify(arguments, console, &session),
        AuditCommand::Checkpoint(arguments) => checkpoint(arguments, console, &session),
        AuditCommand::Export(arguments) => export(arguments, console, &session),
    }
}

/// Returns the hint for a log that can't be used by a run.
pub(crate) fn problem_hint(problem: &AuditProblem) -> String {
    match problem {
        AuditProblem::Log(OpenError::Missing { .. }) => "make the log with `ccm audit init`".to_owned(),
        AuditProblem::Log(OpenError::OtherMachine { .. }) => {
            "move the directory away, and make a log of this machine with `ccm audit init`".to_owned()
        }
        _ => "run `ccm audit verify`, and check the space of the file system".to_owned(),
    }
}

impl From<AuditAccessError> for CommandError {
    fn from(error: AuditAccessError) -> Self {
        Self::of(&error).hint(match &error {
            AuditAccessError::Text(error) => return error.into(),
            AuditAccessError::Missing { .. } => {
                "make the log with `ccm audit init`, or name a copy with `--directory`"
            }
            AuditAccessError::NoDirectory { .. } | AuditAccessError::NoCopy { .. } => {
                "name the directory of a log, or of a copy that `ccm audit export` made"
            }
            AuditAccessError::Create(OpenError::Exists { .. }) => {
                "`ccm audit verify` verifies it; to begin another one, move the directory away first"
            }
            AuditAccessError::Key { .. } => "name the file with the line that `ccm audit init` printed",
            AuditAccessError::Checkpoints { .. } => {
                "name a file with lines that `ccm audit checkpoint` printed, or that were forwarded"
            }
            AuditAccessError::NotEmpty { .. } => "name a new directory",
            _ => "as an ordinary user, ccm has a log of that user; for that of the machine, be root",
        })
    }
}

fn init(arguments: &AuditInitArguments, console: &Console, session: &Session) -> CommandResult {
    let made = session.governance().init_audit()?;
    let key = format!("{} ccm-audit@{}", made.key, made.machine);
    if arguments.output.format == DocumentFormat::Json {
        let document = json!({ "path": made.path, "machine": made.machine, "key": key });
        return console.print(&format!("{document:#}\n"));
    }
    let printed = console.print(&format!("{key}\n"));
    console.note(&format!("the audit log is in {}", made.path.display()));
    console.hint("keep this key on another machine: `ccm audit verify --key FILE` compares the log with it");
    printed
}

fn log(arguments: &AuditLogArguments, console: &Console, session: &Session) -> CommandResult {
    let is_json = arguments.output.format == DocumentFormat::Json;
    if is_json && arguments.limit.is_some() {
        return Err(CommandError::usage("`--lines` limits the text, and not the lines of `--output json`"));
    }
    let now = SystemClock::new().now();
    let directory = arguments.place.directory.as_deref();
    let mut run = arguments.run.clone();
    if run.as_deref() == Some("last") {
        run = listing::last_run(session, directory)?;
        if run.is_none() {
            return Err(CommandError::new("the audit log has no line of any run"));
        }
    }
    let filter = LogFilter {
        run,
        since: arguments.since.and_then(|since| now.checked_sub(since)),
        user: arguments.user.clone(),
        resource: arguments.resource.clone(),
    };
    let mut listing = Listing::new(filter, (!is_json).then(|| arguments.limit.unwrap_or(MAX_LISTED)));
    let mut printed = Ok(ExitCode::Success);
    session.governance().read_audit(directory, &mut |line| {
        listing.take(line);
        if let Some(text) = listing.full_chunk().filter(|_| printed.is_ok()) {
            printed = console.print(&text);
        }
    })?;
    for (file, row) in listing.unreadable() {
        console.warning(&format!("{file}:{row} is not a line of an audit log"));
    }
    printed?;
    if let Some(run) = listing.missing_run() {
        let message = format!("no line of the audit log is of a run whose id begins with `{run}`");
        let hint = "`ccm audit log` lists the runs; `last` is the newest";
        return Err(CommandError::new(message).hint(hint));
    }
    let left_out = listing.left_out();
    console.print(&listing.text(&LocalZone::of_this_process()))?;
    if left_out > 0 {
        console.note(&format!("{left_out} earlier entries are left out; -n lists more"));
    }
    Ok(ExitCode::Success)
}

fn verify(arguments: &AuditVerifyArguments, console: &Console, session: &Session) -> CommandResult {
    let first_key =
        arguments.key.as_deref().map(|path| session.governance().read_audit_key(path)).transpose()?;
    let against = arguments.against.as_deref().map(|path| (path != Path::new("-")).then_some(path));
    let checkpoints =
        against.map(|path| session.governance().read_checkpoints(path)).transpose()?.unwrap_or_default();
    let directory = arguments.place.directory.as_deref();
    let next_key = if arguments.chain { NextKeyCheck::Skipped } else { key_check(directory) };
    let trust = Trust { first_key, checkpoints, next_key };
    let found = session.governance().verify_audit(directory, &trust)?;
    if arguments.output.format == DocumentFormat::Json {
        console.print(&format!("{:#}\n", document(&found)))?;
        return Ok(if found.is_intact() { ExitCode::Success } else { ExitCode::NothingRun });
    }
    if !found.is_intact() {
        return Err(changed_error(&found));
    }
    console.print_words(&format!("nobody has changed the audit log: {}\n", extent(&found)))?;
    for note in &found.findings {
        console.note(&placed(note));
    }
    let seals = if trust.first_key.is_none() { "the whole log written anew" } else { "" };
    let end = if trust.checkpoints.is_empty() { "an end that was cut off" } else { "" };
    if !found.has_compared_key {
        let state = if arguments.chain { "was not compared" } else { "is not in the copy" };
        note_uncompared_key(console, state);
    }
    let unseen: Vec<&str> = [seals, end].into_iter().filter(|text| !text.is_empty()).collect();
    if !unseen.is_empty() {
        console.note(&format!("by itself a log can't show {}", unseen.join(" or ")));
        let hint = match (&trust.first_key, trust.checkpoints.is_empty()) {
            (None, true) => "compare the log with copies on other machines: `--key FILE`, `--against FILE`",
            (None, false) => "compare the log with its first key: `--key FILE`",
            (Some(_), _) => "compare the log with a checkpoint or forwarded seals: `--against FILE`",
        };
        console.hint(hint);
    }
    Ok(ExitCode::Success)
}

fn checkpoint(arguments: &AuditCheckpointArguments, console: &Console, session: &Session) -> CommandResult {
    let directory = arguments.place.directory.as_deref();
    let trust = Trust { next_key: key_check(directory), ..Trust::default() };
    let found = session.governance().verify_audit(directory, &trust)?;
    match &found.end {
        Some(end) if found.is_intact() => console.print(&format!("{}\n", end.to_line())),
        _ => Err(changed_error(&found)),
    }
}

fn export(arguments: &AuditExportArguments, console: &Console, session: &Session) -> CommandResult {
    let target = &arguments.target;
    let directory = arguments.place.directory.as_deref();
    let found = session.governance().export_audit(directory, target, key_check(directory))?;
    if !found.is_intact() {
        console.error(&changed_error(&found));
        console.note(&format!("the copy in {} is as the log is", target.display()));
        return Ok(ExitCode::NothingRun);
    }
    console.print_words(&format!("copied to {}: {}\n", target.display(), extent(&found)))?;
    if !found.has_compared_key {
        note_uncompared_key(console, "is not in the copy that was exported");
    }
    Ok(ExitCode::Success)
}

/// Reports what a verification without the key of the next seal can't show.
fn note_uncompared_key(console: &Console, state: &str) {
    console.note(&format!(
        "the key of the next seal {state}: only the chain was verified, and a log that was cut back to an older seal looks \
         the same"
    ));
}

/// Returns the part of the key of the next seal in a verification. An exported copy has no key.
fn key_check(copy: Option<&Path>) -> NextKeyCheck {
    if copy.is_some() { NextKeyCheck::IfPresent } else { NextKeyCheck::Required }
}

/// Returns what is wrong with a log.
fn changed_error(found: &LogVerification) -> CommandError {
    let wrong: Vec<&AuditFinding> = found.findings.iter().filter(|finding| !finding.kind.is_note()).collect();
    let mut lines: Vec<String> = wrong.iter().take(MAX_FINDINGS).map(|finding| placed(finding)).collect();
    let more = wrong.len().saturating_sub(MAX_FINDINGS) as u64 + found.omitted;
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let whole = match found.sealed {
        0 => "no line is covered by a valid seal".to_owned(),
        sealed => format!("lines 1 to {sealed} are covered by valid seals"),
    };
    let is_incomplete = found.omitted == 0 && wrong.iter().all(|finding| finding.kind.is_incomplete());
    let (message, hint) = if is_incomplete {
        ("the audit log can't be verified to its end", INCOMPLETE_HINT)
    } else {
        ("the audit log was changed", CHANGED_HINT)
    };
    CommandError::new(message).therefore(&whole).with_list(lines).hint(hint)
}

fn placed(finding: &AuditFinding) -> String {
    format!("{}:{}: {}", finding.file, finding.row, finding.kind)
}

/// Returns the size of a log in words.
fn extent(found: &LogVerification) -> String {
    let count = |number: u64, noun: &str| match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    };
    let files = count(found.files, "file");
    format!("{} in {files}, {}", count(found.lines, "line"), count(found.seals, "seal"))
}

fn document(found: &LogVerification) -> serde_json::Value {
    let finding = |finding: &AuditFinding| {
        json!({
            "file": finding.file,
            "row": finding.row,
            "message": finding.kind.to_string(),
            "note": finding.kind.is_note(),
        })
    };
    json!({
        "intact": found.is_intact(),
        "next_key_compared": found.has_compared_key,
        "lines": found.lines,
        "seals": found.seals,
        "sealed": found.sealed,
        "files": found.files,
        "first_key": found.first_key.as_ref().map(ToString::to_string),
        "last_time": found.last_time,
        "end": found.end,
        "omitted": found.omitted,
        "findings": found.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}
