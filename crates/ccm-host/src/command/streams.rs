//! The pipes to and from a running command.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ccm_model::Stream;
use ccm_redaction::{Redactor, StreamRedactor};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::{Instant, timeout_at};

use super::capture::Capture;
use super::lines::Lines;
use super::{Captured, Unredacted};

/// As much as a pipe holds.
const READ: usize = 64 * 1024;
/// After the end of the command, its pipes are left when they have been quiet for so long.
const QUIET: Duration = Duration::from_millis(100);
/// After the end of the command, its pipes are left at the latest after this.
const DRAINING: Duration = Duration::from_millis(500);

type OnLine<'a> = &'a mut dyn FnMut(Stream, &str);

/// Reads both output streams and feeds standard input, all at once, so that no full pipe can stall either side.
/// What must not be shown is hidden before anything is shown or kept to be shown; what was really printed is kept
/// beside it.
pub(super) struct Streams<'a> {
    stdin: Writing<'a>,
    stdout: Reading,
    stderr: Reading,
    buffer: Vec<u8>,
    on_line: OnLine<'a>,
}

impl<'a> Streams<'a> {
    pub(super) fn new(
        stdin: Option<(OwnedFd, &'a str)>,
        stdout: OwnedFd,
        stderr: OwnedFd,
        redactor: &Arc<Redactor>,
        on_line: OnLine<'a>,
    ) -> io::Result<Self> {
        Ok(Self {
            stdin: Writing::new(stdin)?,
            stdout: Reading::new(Stream::Stdout, stdout, redactor)?,
            stderr: Reading::new(Stream::Stderr, stderr, redactor)?,
            buffer: vec![0; READ],
            on_line,
        })
    }

    /// Reads and writes until something else is done.
    pub(super) async fn during<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        loop {
            tokio::select! {
                biased;
                value = &mut other => return value,
                () = self.step() => {}
            }
        }
    }

    /// Reads what is still in the pipes after the end of the command. Something it left may hold them open
    /// for ever.
    pub(super) async fn drain(&mut self) {
        self.stdin.pipe = None;
        let end = Instant::now() + DRAINING;
        while self.stdout.pipe.is_some() || self.stderr.pipe.is_some() {
            let now = Instant::now();
            if now >= end || timeout_at(end.min(now + QUIET), self.step()).await.is_err() {
                break;
            }
        }
    }

    /// Closes the pipes and hands over what was kept of the output, without what must not be shown, and as it was
    /// printed if there is something to hide.
    pub(super) fn finish(self) -> (Captured, Captured, Option<Box<Unredacted>>) {
        let (stdout, printed_stdout) = self.stdout.finish(self.on_line);
        let (stderr, printed_stderr) = self.stderr.finish(self.on_line);
        let unredacted = printed_stdout.zip(printed_stderr);
        (stdout, stderr, unredacted.map(|(stdout, stderr)| Box::new(Unredacted { stdout, stderr })))
    }

    /// Reads or writes once; waits for ever when all pipes are closed. A command that prints without end does
    /// not keep the timer from its turn, because the runtime limits what a task may do at a stretch.
    async fn step(&mut self) {
        tokio::select! {
            () = self.stdout.ready() => self.stdout.read(&mut self.buffer, self.on_line),
            () = self.stderr.ready() => self.stderr.read(&mut self.buffer, self.on_line),
            () = self.stdin.ready() => self.stdin.write(),
        }
    }
}

/// One output stream.
struct Reading {
    stream: Stream,
    pipe: Option<Receiver>,
    redaction: StreamRedactor,
    capture: Capture,
    /// As it was printed; none if there is nothing to hide.
    printed: Option<Capture>,
    lines: Lines,
}

impl Reading {
    fn new(stream: Stream, pipe: OwnedFd, redactor: &Arc<Redactor>) -> io::Result<Self> {
        Ok(Self {
            stream,
            pipe: Some(Receiver::from_file_unchecked(pipe.into())?),
            redaction: StreamRedactor::new(Arc::clone(redactor)),
            capture: Capture::default(),
            printed: (!redactor.is_empty()).then(Capture::default),
            lines: Lines::default(),
        })
    }

    async fn ready(&self) {
        match &self.pipe {
            // An error shows itself again when it is read.
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    fn read(&mut self, buffer: &mut [u8], on_line: OnLine<'_>) {
        let Some(pipe) = &self.pipe else { return };
        match pipe.try_read(buffer) {
            Ok(length @ 1..) => {
                let Self { stream, redaction, capture, printed, lines, .. } = self;
                if let Some(printed) = printed {
                    printed.push(&buffer[..length]);
                }
                redaction.push(&buffer[..length], &mut |bytes| {
                    capture.push(bytes);
                    lines.push(bytes, &mut |line| on_line(*stream, line));
                });
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => self.pipe = None,
        }
    }

    fn finish(self, on_line: OnLine<'_>) -> (Captured, Option<Captured>) {
        let Self { stream, mut redaction, mut capture, printed, mut lines, .. } = self;
        redaction.finish(&mut |bytes| {
            capture.push(bytes);
            lines.push(bytes, &mut |line| on_line(stream, line));
        });
        lines.finish(&mut |line| on_line(stream, line));
        (capture.finish(), printed.map(Capture::finish))
    }
}

/// Standard input.
struct Writing<'a> {
    pipe: Option<Sender>,
    /// What is still to be written.
    text: &'a [u8],
}

impl<'a> Writing<'a> {
    fn new(stdin: Option<(OwnedFd, &'a str)>) -> io::Result<Self> {
        let Some((pipe, text)) = stdin else { return Ok(Self { pipe: None, text: &[] }) };
        let pipe = (!text.is_empty()).then(|| Sender::from_file_unchecked(pipe.into())).transpose()?;
        Ok(Self { pipe, text: text.as_bytes() })
    }

    async fn ready(&self) {
        match &self.pipe {
            // An error shows itself again when it is written to.
            Some(pipe) => drop(pipe.writable().await),
            None => std::future::pending().await,
        }
    }

    fn write(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        match pipe.try_write(self.text) {
            Ok(length) => self.text = &self.text[length..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            // A command need not read what it is given.
            Err(_) => self.text = &[],
        }
        if self.text.is_empty() {
            self.pipe = None;
        }
    }
}
