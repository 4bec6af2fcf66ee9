//! Parsing of shell text by the shell of this machine, which runs nothing of it.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{SeekFrom, seek};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};

use super::spawn::in_memory;
use super::system::RUN_LOCK;
use crate::raw::{self, ChangeDirectory};

/// Path of the text, as the shell sees it and puts it before its messages.
const TEXT: &str = "/proc/self/fd/0";
/// Maximum length of a text. The kernel passes no longer argument to a shell.
const MAX_TEXT: usize = 128 << 10;
/// Maximum number of shells at a time.
const MAX_AT_ONCE: usize = 4;
/// Maximum time for all texts.
const MAX_TIME: Duration = Duration::from_secs(5);
/// Maximum number of bytes that are read of a message.
const MAX_MESSAGE: u64 = 4096;

/// Error in shell text, in the words of the shell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ShellError {
    /// Message of the shell.
    pub message: String,
    /// Line of the text, from 1, if the shell names it.
    pub line: Option<usize>,
}

/// Parses texts with `/bin/sh -n`, which expands and runs nothing, each in a process of its own. Returns the error in
/// each text, `None` for a valid one.
///
/// Nothing is known of a text for which no shell can be started, or that takes longer than some seconds; `None`
/// then as well.
pub fn parse_shell(texts: &[&str]) -> Vec<Option<ShellError>> {
    // Commands of other sessions wait, so that no shell is taken for an orphan of a command. If a command is running
    // already, its end can't be waited for here: a shell that is taken is started again.
    let _lock = RUN_LOCK.try_lock();
    let end = Instant::now() + MAX_TIME;
    let mut errors: Vec<Option<ShellError>> = vec![None; texts.len()];
    let mut waiting = (0..texts.len()).filter(|index| is_parsed(texts[*index])).rev().collect::<Vec<_>>();
    let mut running: Vec<(usize, ShellParser)> = Vec::with_capacity(MAX_AT_ONCE);
    loop {
        while running.len() < MAX_AT_ONCE {
            let Some(index) = waiting.pop() else { break };
            match ShellParser::start(texts[index]) {
                Ok(parser) => running.push((index, parser)),
                // There is no shell, or no memory for it.
                Err(_) => waiting.clear(),
            }
        }
        if running.is_empty() {
            return errors;
        }
        let left = end.saturating_duration_since(Instant::now());
        let ended = ended(&running, left);
        if ended.is_empty() {
            // Dropping the parsers ends them.
            return errors;
        }
        for position in ended.into_iter().rev() {
            let (index, mut parser) = running.swap_remove(position);
            match parser.error() {
                Ok(error) => errors[index] = error,
                // The command of another session has ended, and the shell with it.
                Err(Lost) if Instant::now() < end => waiting.push(index),
                Err(Lost) => {}
            }
        }
    }
}

fn is_parsed(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.contains('\0')
}

/// Waits for the first parsers to end, and returns their positions.
fn ended(running: &[(usize, ShellParser)], within: Duration) -> Vec<usize> {
    let mut handles: Vec<PollFd<'_>> =
        running.iter().map(|(_, parser)| PollFd::new(&parser.handle, PollFlags::IN)).collect();
    let Ok(within) = Timespec::try_from(within) else { return Vec::new() };
    if rustix::io::retry_on_intr(|| poll(&mut handles, Some(&within))).is_err() {
        return Vec::new();
    }
    let ended = handles.iter().enumerate().filter(|(_, handle)| !handle.revents().is_empty());
    ended.map(|(position, _)| position).collect()
}

/// End of a shell that somebody else killed or reaped.
struct Lost;

/// Shell that parses a text.
struct ShellParser {
    pid: Pid,
    handle: OwnedFd,
    /// Its standard error, an unnamed file.
    messages: File,
    is_reaped: bool,
}

impl ShellParser {
    fn start(text: &str) -> io::Result<Self> {
        // Both are files, so that neither side ever waits for the other.
        let text = in_memory(text.as_bytes())?;
        let messages = in_memory(b"")?;
        let arguments = ["sh", "-n", TEXT].map(CString::new).into_iter().collect::<Result<Vec<_>, _>>()?;
        let environment = vec![CString::new("LC_ALL=C")?];
        let change_directory = ChangeDirectory::find();
        let pid = raw::posix_spawn(&raw::Start {
            program: c"/bin/sh",
            arguments: &arguments,
            environment: &environment,
            cwd: change_directory.map(|function| (function, c"/")),
            has_session: change_directory.is_some(),
            descriptors: &[text.as_fd(), messages.as_fd(), messages.as_fd()],
        })?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).inspect_err(|_| {
            let _reaped = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
        })?;
        Ok(Self { pid, handle, messages: messages.into(), is_reaped: false })
    }

    /// Returns the error that the ended shell printed, if any.
    fn error(&mut self) -> Result<Option<ShellError>, Lost> {
        self.is_reaped = true;
        let status = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        match status.ok().flatten().and_then(|status| status.exit_status()) {
            None => Err(Lost),
            Some(0) => Ok(None),
            Some(_) => Ok(self.message()),
        }
    }

    fn message(&self) -> Option<ShellError> {
        seek(&self.messages, SeekFrom::Start(0)).ok()?;
        let mut printed = Vec::new();
        (&self.messages).take(MAX_MESSAGE).read_to_end(&mut printed).ok()?;
        error_in(&String::from_utf8_lossy(&printed))
    }
}

impl Drop for ShellParser {
    fn drop(&mut self) {
        if !self.is_reaped {
            let _killed = pidfd_send_signal(&self.handle, Signal::KILL);
            let _reaped = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED);
        }
    }
}

/// Finds the error of the text among messages such as `/proc/self/fd/0: 2: Syntax error: "fi" unexpected` (dash) or
/// `/proc/self/fd/0: line 2: syntax error near unexpected token 'fi'` (bash). Any other message is not about the text.
fn error_in(printed: &str) -> Option<ShellError> {
    let messages = printed.lines().filter_map(|line| line.strip_prefix(TEXT)?.strip_prefix(": "));
    let mut errors = messages.filter(|message| !message.contains("warning: "));
    let message = errors.next()?;
    let located = message.split_once(": ").and_then(|(place, rest)| {
        let line = place.strip_prefix("line ").unwrap_or(place).parse().ok()?;
        Some((line, rest))
    });
    Some(match located {
        Some((line, message)) => ShellError { message: message.to_owned(), line: Some(line) },
        None => ShellError { message: message.to_owned(), line: None },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_shells_are_read() {
        for (printed, expected) in [
            (
                "/proc/self/fd/0: 2: Syntax error: \"fi\" unexpected\n",
                Some(("Syntax error: \"fi\" unexpected", Some(2))),
            ),
            (
                "/proc/self/fd/0: line 1: warning: here-document\n/proc/self/fd/0: line 3: syntax error near unexpected token \
                 `fi'\n/proc/self/fd/0: line 3: `fi'\n",
                Some(("syntax error near unexpected token `fi'", Some(3))),
            ),
            (
                "/proc/self/fd/0: syntax error: unexpected \"fi\"",
                Some(("syntax error: unexpected \"fi\"", None)),
            ),
            ("sh: 0: cannot open /proc/self/fd/0: Permission denied\n", None),
            ("", None),
        ] {
            let found = error_in(printed);
            let found = found.as_ref().map(|error| (&*error.message, error.line));
            assert_eq!(found, expected, "{printed}");
        }
    }
}
