//! Output of a host, read as lines of strangers: bounded, and nothing but what the protocol has.

use ccm_model::{Event, EventLine, Outcome, RunSummary, SessionStarted, Stream, StreamTail, Transaction};
use serde::Deserialize;

use crate::wire::{InstallLine, InstalledLine, ReadyLine, RefusedLine};

/// Maximum length of a line in bytes.
const MAX_LINE: usize = 4 << 20;
/// Maximum number of bytes that a host prints.
const MAX_OUTPUT: usize = 64 << 20;
/// Maximum number of bytes before ccm begins, such as the message of a login script.
const MAX_NOISE: usize = 64 << 10;
/// Maximum number of bytes that are kept of all changes and failures.
const MAX_KEPT: usize = 8 << 20;
/// Maximum number of bytes that are kept of the output of one resource.
const MAX_RESOURCE_OUTPUT: usize = 64 << 10;
/// Maximum number of lines that a failure quotes.
const MAX_QUOTED: usize = 20;
/// Maximum number of bytes that are kept of standard error.
const MAX_ERRORS: usize = 16 << 10;
/// Protocol of the document of an error.
const ERROR_PROTOCOL: &str = "io.choria.ccm.v1.error";
/// Beginning of the names of all protocols.
const PROTOCOLS: &str = "io.choria.ccm.";

/// Reason for which what a host prints is not read any further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// It prints more than a run may.
    #[error("it prints more than {} MiB", MAX_OUTPUT >> 20)]
    TooMuch,
    /// A line is longer than lines may be.
    #[error("it prints a line of more than {} MiB", MAX_LINE >> 20)]
    LongLine,
    /// It reports more changes than are kept.
    #[error("it reports more than {} MiB of changes", MAX_KEPT >> 20)]
    TooManyChanges,
    /// A line is none of the protocol.
    #[error("it prints what is no event of ccm: {0}")]
    Rubbish(String),
    /// Its ccm speaks another protocol.
    #[error("its ccm speaks another protocol: {0}")]
    OtherProtocol(String),
}

/// Step that a line of a host asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostStep {
    /// The shell waits for a program, or begins ccm at once.
    Install(InstallLine),
    /// The program is installed, and ccm begins.
    Installed,
    /// ccm waits for the bundle, or begins the run.
    Ready(ReadyLine),
    /// A resource is done.
    Progress,
}

/// Everything that is kept of what a host prints.
#[derive(Debug, Default)]
pub struct Transcript {
    /// Beginning of a line whose end has not come.
    partial: Vec<u8>,
    printed: usize,
    kept: usize,
    /// Version of the ccm of the host, once it has begun.
    pub version: Option<String>,
    /// Beginning of the run.
    pub started: Option<SessionStarted>,
    /// Changed, failed and depending resources, in their order.
    pub transactions: Vec<Transaction>,
    /// Output of the resource that runs.
    output: Vec<(Stream, String)>,
    output_size: usize,
    output_before: u64,
    /// Output of commands that did not fail, if it is wanted.
    pub outputs: Vec<ResourceOutput>,
    keeps_output: bool,
    /// End of the run.
    pub summary: Option<RunSummary>,
    /// Error before a run.
    pub refused: Option<RefusedLine>,
    errors: Vec<u8>,
}

/// Output of a command that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceOutput {
    /// Lines of both streams, in the order in which they came.
    pub lines: Vec<String>,
    /// Number of bytes that were left out before them.
    pub bytes_before: u64,
}

#[derive(Deserialize)]
struct LineHead<'a> {
    #[serde(borrow)]
    protocol: std::borrow::Cow<'a, str>,
}

impl Transcript {
    /// Builds one that also keeps the output of commands that do not fail.
    pub fn with_output(keeps_output: bool) -> Self {
        Self { keeps_output, ..Self::default() }
    }

    /// Reads bytes of standard output, and returns the steps of all lines that they end.
    pub fn read(&mut self, mut bytes: &[u8]) -> Result<Vec<HostStep>, TranscriptError> {
        self.printed = self.printed.saturating_add(bytes.len());
        if self.printed > MAX_OUTPUT {
            return Err(TranscriptError::TooMuch);
        }
        let mut steps = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.partial.is_empty() {
                steps.extend(self.line(line)?);
            } else {
                self.partial.extend_from_slice(line);
                let line = std::mem::take(&mut self.partial);
                steps.extend(self.line(&line)?);
            }
        }
        if self.partial.len() + bytes.len() > MAX_LINE {
            return Err(TranscriptError::LongLine);
        }
        self.partial.extend_from_slice(bytes);
        Ok(steps)
    }

    /// Keeps bytes of standard error.
    pub fn read_error(&mut self, bytes: &[u8]) {
        self.errors.extend_from_slice(&bytes[bytes.len().saturating_sub(MAX_ERRORS)..]);
        let more = self.errors.len().saturating_sub(MAX_ERRORS);
        self.errors.drain(..more);
    }

    /// Returns the end of standard error.
    pub fn error_bytes(&self) -> &[u8] {
        &self.errors
    }

    /// Forgets standard error, such as the question for a password.
    pub fn clear_errors(&mut self) {
        self.errors.clear();
    }

    /// Returns the last line of standard error that holds something.
    pub fn last_error_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.errors);
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<HostStep>, TranscriptError> {
        if line.len() > MAX_LINE {
            return Err(TranscriptError::LongLine);
        }
        let head = serde_json::from_slice::<LineHead<'_>>(line).ok().map(|head| head.protocol);
        let Some(protocol) = head.filter(|protocol| protocol.starts_with(PROTOCOLS)) else {
            if self.version.is_none() && self.printed <= MAX_NOISE {
                return Ok(None);
            }
            return Err(rubbish(line));
        };
        if self.version.is_none() {
            return self.before_run(line, &protocol);
        }
        if protocol == ERROR_PROTOCOL {
            self.refused = Some(parsed(line)?);
            return Ok(None);
        }
        self.event(line)
    }

    /// Reads a line before the run: one of the shell, or the first of ccm.
    fn before_run(&mut self, line: &[u8], protocol: &str) -> Result<Option<HostStep>, TranscriptError> {
        match protocol {
            "io.choria.ccm.v1.push.install" => Ok(Some(HostStep::Install(parsed(line)?))),
            "io.choria.ccm.v1.push.installed" => {
                parsed::<InstalledLine>(line)?;
                Ok(Some(HostStep::Installed))
            }
            "io.choria.ccm.v1.push.ready" => {
                let ready: ReadyLine = parsed(line)?;
                self.version = Some(ready.version.chars().take(64).collect());
                Ok(Some(HostStep::Ready(ready)))
            }
            ERROR_PROTOCOL => {
                self.refused = Some(parsed(line)?);
                Ok(None)
            }
            other => Err(TranscriptError::OtherProtocol(other.chars().take(80).collect())),
        }
    }

    fn event(&mut self, line: &[u8]) -> Result<Option<HostStep>, TranscriptError> {
        let event = match EventLine::read(line) {
            Ok(line) => Event::from(line),
            // Events without a line in records, such as output.
            Err(_) => parsed::<Event>(line)?,
        };
        match event {
            Event::SessionStarted(started) => self.started = Some(started),
            Event::OutputReceived(output) => self.keep_output(output.stream, output.line),
            Event::SessionFinished(summary) => self.summary = Some(*summary),
            Event::ResourceFinished(transaction) => {
                self.finished(*transaction, line.len())?;
                return Ok(Some(HostStep::Progress));
            }
            Event::ResourceStarted(_) | Event::ArtifactsLeft(_) => {}
        }
        Ok(None)
    }

    fn finished(&mut self, mut transaction: Transaction, size: usize) -> Result<(), TranscriptError> {
        let output = std::mem::take(&mut self.output);
        let before = std::mem::take(&mut self.output_before);
        self.output_size = 0;
        let is_shown = match &mut transaction.outcome {
            Outcome::Failed(failure) => {
                failure.output = tails(&output, before);
                true
            }
            Outcome::Unchanged => !transaction.warnings.is_empty(),
            Outcome::Skipped { cause } => matches!(cause, ccm_model::SkipCause::DependencyFailed { .. }),
            outcome => outcome.is_change(),
        };
        if self.keeps_output && transaction.outcome.is_change() && !output.is_empty() {
            let lines = output.into_iter().map(|(_, line)| line).collect();
            self.outputs.push(ResourceOutput { lines, bytes_before: before });
        }
        if is_shown {
            self.kept = self.kept.saturating_add(size);
            if self.kept > MAX_KEPT {
                return Err(TranscriptError::TooManyChanges);
            }
            // They are large, and only a report of everything shows them.
            transaction.state = None;
            self.transactions.push(transaction);
        }
        Ok(())
    }

    fn keep_output(&mut self, stream: Stream, line: String) {
        self.output_size += line.len() + 1;
        self.output.push((stream, line));
        while self.output_size > MAX_RESOURCE_OUTPUT && self.output.len() > 1 {
            let (_, first) = self.output.remove(0);
            self.output_size -= first.len() + 1;
            self.output_before += first.len() as u64 + 1;
        }
    }
}

/// Returns the last lines of each stream, as failures quote them.
fn tails(output: &[(Stream, String)], before: u64) -> Vec<StreamTail> {
    let tail = |stream| {
        let lines: Vec<_> = output.iter().filter(|(of, _)| *of == stream).map(|(_, line)| line).collect();
        let (hidden, shown) = lines.split_at(lines.len().saturating_sub(MAX_QUOTED));
        let hidden: u64 = hidden.iter().map(|line| line.len() as u64 + 1).sum();
        let bytes_before = hidden + if hidden > 0 { before } else { 0 };
        let lines: Vec<String> = shown.iter().map(|line| (*line).clone()).collect();
        (!lines.is_empty()).then_some(StreamTail { stream, lines, bytes_before })
    };
    [Stream::Stdout, Stream::Stderr].into_iter().filter_map(tail).collect()
}

fn parsed<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, TranscriptError> {
    serde_json::from_slice(line).map_err(|_| rubbish(line))
}

fn rubbish(line: &[u8]) -> TranscriptError {
    TranscriptError::Rubbish(String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned())
}

#[cfg(test)]
mod tests;
