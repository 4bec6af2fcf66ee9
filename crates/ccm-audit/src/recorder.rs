//! Recording of commands, changes and runs, as callers see them.
//!
//! A caller records in this order, and stops at the first error if a record is required:
//!
//! ```text
//! begin_run ─▶ ( start ─▶ the command runs ─▶ finish )* ─▶ end_run
//! ```
//!
//! A tool call without a run is `start`, `finish` and `seal`, or `start` and `finish_and_seal`, which syncs once less.

use std::time::{Duration, SystemTime};

use ccm_host::state::Directory;
use ccm_host::{CapturedOutput, Command, Exit, Finished, StartError, current_user, own_process, random};
use ccm_model::{CheckStatus, REDACTED, SourceVersion, display_duration, sha256};
use ccm_redaction::Secrets;

use crate::checkpoint::Checkpoint;
use crate::entry::{Actor, AuditEntry, OutputDigest, RecordedCheck, RecordedVerdict};
use crate::log::{AuditLog, AuditedMachine, OpenError};

/// Maximum length of a text in a line, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// Maximum length of all arguments of a command in its line, in bytes.
const MAX_ARGV: usize = 128 << 10;
/// Maximum length of an id in bytes.
const MAX_ID: usize = 64;

/// Recorder of what one process does.
///
/// Texts are redacted here. What never reaches the log: output, values of the environment, standard input, and the
/// arguments of sensitive commands.
#[derive(Debug)]
pub struct AuditRecorder {
    log: AuditLog,
    secrets: Secrets,
}

/// Beginning of a run.
#[derive(Clone, Debug)]
pub struct RunStart<'a> {
    /// Id of the run.
    pub run: &'a str,
    /// Manifest, as it was given.
    pub manifest: &'a str,
    /// SHA-256 of the text of the manifest.
    pub sha256: String,
    /// SHA-256 over the files of the policy.
    pub policy: Option<String>,
    /// Version of the source that the manifest comes from. Its parts are no texts of a stranger.
    pub source: Option<SourceVersion>,
    /// The run changes nothing.
    pub noop: bool,
    /// User who started the run.
    pub by: Actor,
}

/// Command that is about to start, or that was refused.
#[derive(Clone, Debug)]
pub struct AuditedCommand<'a> {
    /// Id of the intent, if the caller has one. It consists of letters, digits, `-`, `_` and `.`.
    pub intent: Option<&'a str>,
    /// Id of the run or call.
    pub run: &'a str,
    /// Purpose of the command, such as `guard`, or the name of a tool.
    pub purpose: &'a str,
    /// Resource of the command.
    pub resource: Option<&'a str>,
    /// User who asked for the command, if another one started the run.
    pub by: Option<Actor>,
    /// Name of the user that the command runs as; the default is the number.
    pub user: Option<&'a str>,
    /// The command, not redacted.
    pub command: &'a Command,
    /// Verdict of the policy.
    pub verdict: &'a RecordedVerdict,
}

/// Outcome of a resource.
#[derive(Clone, Debug)]
pub struct AuditedOutcome<'a> {
    /// The resource.
    pub resource: &'a str,
    /// Outcome, such as `changed`.
    pub outcome: &'a str,
    /// Error of a resource that failed.
    pub error: Option<&'a str>,
    /// Names of the health checks that ran, with their statuses.
    pub checks: Vec<(&'a str, CheckStatus)>,
}

impl AuditRecorder {
    /// Records into a log.
    pub fn new(log: AuditLog, secrets: Secrets) -> Self {
        Self { log, secrets }
    }

    /// Opens a log, and repairs what a killed program has left.
    pub fn open(
        directory: Directory,
        machine: AuditedMachine,
        secrets: Secrets,
        now: SystemTime,
    ) -> Result<Self, OpenError> {
        AuditLog::open(directory, machine, now).map(|log| Self::new(log, secrets))
    }

    /// Returns the log.
    pub fn log(&self) -> &AuditLog {
        &self.log
    }

    /// Records that a run began.
    pub fn begin_run(&mut self, start: &RunStart<'_>, now: SystemTime) -> Result<(), OpenError> {
        let RunStart { run, manifest, sha256, policy, source, noop, by } = start;
        let entry = AuditEntry::RunBegun {
            run: self.text(run),
            manifest: self.text(manifest),
            sha256: sha256.clone(),
            policy: policy.clone(),
            source: source.clone(),
            noop: *noop,
            by: by.clone(),
        };
        self.log.append(entry, now)
    }

    /// Records that a run ended, and seals the log.
    pub fn end_run(
        &mut self,
        run: &str,
        exit_code: u8,
        (changed, failed): (u64, u64),
        now: SystemTime,
    ) -> Result<Checkpoint, OpenError> {
        let entry = AuditEntry::RunEnded { run: self.text(run), exit_code, changed, failed };
        self.log.append_and_seal(entry, now)
    }

    /// Records that a command is about to start, and returns the id of the intent. The record is on the disk when this
    /// returns; after an error the command must not be started if a record is required.
    pub fn start(&mut self, command: &AuditedCommand<'_>, now: SystemTime) -> Result<String, OpenError> {
        let intent = command.intent.filter(|intent| is_id(intent)).map_or_else(new_id, str::to_owned);
        let (pid, started) = own_process();
        let uid = command.command.identity.as_ref().map_or_else(current_user, |identity| identity.uid);
        let entry = AuditEntry::Intent {
            intent: intent.clone(),
            run: self.text(command.run),
            purpose: command.purpose.to_owned(),
            resource: command.resource.map(|resource| self.text(resource)),
            by: command.by.clone(),
            argv: self.argv(command.command),
            cwd: self.text(&command.command.cwd.to_string_lossy()),
            user: command.user.map_or_else(|| uid.to_string(), |user| self.text(user)),
            image: command.command.image.as_deref().map(|image| self.text(image)),
            verdict: self.verdict(command.verdict),
            pid,
            started,
        };
        self.log.append(entry, now)?;
        Ok(intent)
    }

    /// Records that a command was refused.
    pub fn refuse(
        &mut self,
        command: &AuditedCommand<'_>,
        reason: &str,
        now: SystemTime,
    ) -> Result<(), OpenError> {
        let entry = AuditEntry::Refused {
            run: self.text(command.run),
            purpose: command.purpose.to_owned(),
            resource: command.resource.map(|resource| self.text(resource)),
            by: command.by.clone(),
            argv: self.argv(command.command),
            verdict: self.verdict(command.verdict),
            reason: self.text(reason),
        };
        self.log.append(entry, now)
    }

    /// Records the end of a command. Nothing but an exit is recorded of a sensitive one.
    pub fn finish(
        &mut self,
        intent: &str,
        result: Result<&Finished, &StartError>,
        is_sensitive: bool,
        now: SystemTime,
    ) -> Result<(), OpenError> {
        let entry = self.finished(intent, result, is_sensitive);
        self.log.append(entry, now)
    }

    /// Records the end of a command, and seals the log.
    pub fn finish_and_seal(
        &mut self,
        intent: &str,
        result: Result<&Finished, &StartError>,
        is_sensitive: bool,
        now: SystemTime,
    ) -> Result<Checkpoint, OpenError> {
        let entry = self.finished(intent, result, is_sensitive);
        self.log.append_and_seal(entry, now)
    }

    /// Records that ccm is about to change a resource itself. The record is on the disk when this returns.
    pub fn change(
        &mut self,
        run: &str,
        resource: &str,
        verdict: &RecordedVerdict,
        now: SystemTime,
    ) -> Result<(), OpenError> {
        let (run, resource) = (self.text(run), self.text(resource));
        self.log.append(AuditEntry::Change { run, resource, verdict: self.verdict(verdict) }, now)
    }

    /// Records that a change of a resource was refused.
    pub fn refuse_change(
        &mut self,
        run: &str,
        resource: &str,
        (verdict, reason): (&RecordedVerdict, &str),
        now: SystemTime,
    ) -> Result<(), OpenError> {
        let entry = AuditEntry::Refused {
            run: self.text(run),
            purpose: "change".to_owned(),
            resource: Some(self.text(resource)),
            by: None,
            argv: Vec::new(),
            verdict: self.verdict(verdict),
            reason: self.text(reason),
        };
        self.log.append(entry, now)
    }

    /// Records the outcome of a resource.
    pub fn resource(
        &mut self,
        run: &str,
        resource: &AuditedOutcome<'_>,
        now: SystemTime,
    ) -> Result<(), OpenError> {
        let AuditedOutcome { resource, outcome, error, checks } = resource;
        let checks = checks
            .iter()
            .map(|(name, status)| RecordedCheck { name: self.text(name), status: status.to_string() });
        let entry = AuditEntry::Resource {
            run: self.text(run),
            resource: self.text(resource),
            outcome: (*outcome).to_owned(),
            error: error.map(|error| self.text(error)),
            checks: checks.collect(),
        };
        self.log.append(entry, now)
    }

    /// Records what happened to the approval of an intent, such as `used`. The line is on the disk no later than the next
    /// one.
    pub fn approval(
        &mut self,
        intent: &str,
        event: &str,
        approver: Option<&str>,
        reason: Option<&str>,
        now: SystemTime,
    ) -> Result<(), OpenError> {
        let entry = AuditEntry::Approval {
            intent: self.text(intent),
            event: event.to_owned(),
            approver: approver.map(|approver| self.text(approver)),
            reason: reason.map(|reason| self.text(reason)),
        };
        self.log.append_with_next(entry, now)
    }

    pub(crate) fn append(&mut self, entry: AuditEntry, now: SystemTime) -> Result<(), OpenError> {
        self.log.append(entry, now)
    }

    /// Seals the log.
    pub fn seal(&mut self, now: SystemTime) -> Result<Checkpoint, OpenError> {
        self.log.seal(now)
    }

    fn finished(
        &self,
        intent: &str,
        result: Result<&Finished, &StartError>,
        is_sensitive: bool,
    ) -> AuditEntry {
        let digest = |output: &CapturedOutput| (!is_sensitive).then(|| digest(output));
        let (outcome, duration, stdout, stderr) = match result {
            Ok(finished) => (
                exit_text(&finished.exit),
                finished.duration,
                digest(&finished.stdout),
                digest(&finished.stderr),
            ),
            Err(error @ StartError::StatusLost { .. }) => (error.to_string(), Duration::ZERO, None, None),
            Err(_) if is_sensitive => ("not started".to_owned(), Duration::ZERO, None, None),
            Err(StartError::Container(error)) if error.has_run => {
                (format!("lost: {error}"), Duration::ZERO, None, None)
            }
            Err(error) => (format!("not started: {error}"), Duration::ZERO, None, None),
        };
        AuditEntry::Finished {
            intent: intent.to_owned(),
            outcome: self.text(&outcome),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            stdout,
            stderr,
        }
    }

    /// Returns a text for a line: redacted, and of limited length.
    pub(crate) fn text(&self, text: &str) -> String {
        let text = self.secrets.redact(text);
        if text.len() <= MAX_TEXT {
            return text.into_owned();
        }
        let cut = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        format!("{}… ({} bytes in all)", &text[..cut], text.len())
    }

    fn verdict(&self, verdict: &RecordedVerdict) -> RecordedVerdict {
        RecordedVerdict { rule: verdict.rule.as_deref().map(|rule| self.text(rule)), ..verdict.clone() }
    }

    /// Returns program and arguments. An argument that has no room is replaced by its length and checksum.
    fn argv(&self, command: &Command) -> Vec<String> {
        let mut argv = vec![self.text(&command.program.to_string_lossy())];
        if command.sensitive {
            argv.extend((!command.args.is_empty()).then(|| REDACTED.to_owned()));
            return argv;
        }
        let mut room = MAX_ARGV;
        let mut left_out = 0;
        for argument in &command.args {
            let lossy = argument.to_string_lossy();
            let shown = self.secrets.redact(&lossy);
            if shown.len() <= room {
                room -= shown.len();
                argv.push(shown.into_owned());
            } else if room > 0 && left_out == 0 {
                argv.push(format!("[{} bytes, sha256:{}]", shown.len(), sha256(shown.as_bytes())));
                left_out = 1;
            } else {
                left_out += 1;
            }
        }
        if left_out > 1 {
            argv.push(format!("[{} more arguments]", left_out - 1));
        }
        argv
    }
}

fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain)
}

fn new_id() -> String {
    format!("{:032x}", random())
}

/// Returns the end of a command as text.
pub(crate) fn exit_text(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal { name, .. } => format!("ended by {name}"),
        Exit::TimedOut { after } => format!("timed out after {}", display_duration(*after)),
        Exit::Cancelled => "cancelled".to_owned(),
    }
}

fn digest(output: &CapturedOutput) -> OutputDigest {
    let sha256 = (!output.truncated()).then(|| {
        if output.tail.is_empty() {
            sha256(&output.head)
        } else {
            sha256(&[&*output.head, &*output.tail].concat())
        }
    });
    OutputDigest { bytes: output.total(), sha256 }
}
