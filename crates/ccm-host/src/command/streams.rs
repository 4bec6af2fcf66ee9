//! The pipes to and from a running command.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ccm_model::Stream;
use ccm_redaction::Redactor;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};

use super::last_line::LastLine;
use super::{CapturedOutput, OutputCollector, Unredacted};

/// Maximum size of one read, which is the size of a pipe.
const READ_SIZE: usize = 64 * 1024;
/// Time without output after which the pipes of a command that has ended are closed.
const QUIET_TIME: Duration = Duration::from_millis(100);
/// Maximum time that the pipes of a command that has ended are read.
const DRAIN_TIME: Duration = Duration::from_millis(500);

type OnLine<'a> = &'a mut dyn FnMut(Stream, &str);

/// Reads both output streams and feeds standard input, all at once, so that no full pipe can stall either
/// side. Secrets are hidden before output is shown or kept for showing; the output as it was printed is kept
/// beside it.
pub(super) struct Streams<'a> {
    stdin: InputPipe<'a>,
    stdout: OutputPipe,
    stderr: OutputPipe,
    buffer: Vec<u8>,
    on_line: OnLine<'a>,
}

impl<'a> Streams<'a> {
    pub(super) fn new(
        stdin: Option<(OwnedFd, &'a [u8])>,
        stdout: OwnedFd,
        stderr: OwnedFd,
        redactor: &Arc<Redactor>,
        last_line: Option<&LastLine>,
        on_line: OnLine<'a>,
    ) -> io::Result<Self> {
        last_line.into_iter().for_each(LastLine::clear);
        Ok(Self {
            stdin: InputPipe::new(stdin)?,
            stdout: OutputPipe::new(Stream::Stdout, stdout, redactor, last_line)?,
            stderr: OutputPipe::new(Stream::Stderr, stderr, redactor, last_line)?,
            buffer: vec![0; READ_SIZE],
            on_line,
        })
    }

    /// Reads and writes until another future is done.
    pub(super) async fn transfer_until<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        loop {
            tokio::select! {
                biased;
                value = &mut other => return value,
                () = self.step() => {}
            }
        }
    }

    /// Reads the rest of the output after the end of the command, for a limited time: a process that the
    /// command left running may hold the pipes open for ever.
    pub(super) async fn drain(&mut self) {
        self.stdin.pipe = None;
        let end = Instant::now() + DRAIN_TIME;
        while self.stdout.pipe.is_some() || self.stderr.pipe.is_some() {
            let now = Instant::now();
            if now >= end || timeout_at(end.min(now + QUIET_TIME), self.step()).await.is_err() {
                break;
            }
        }
    }

    /// Returns the numbers of the output pipes that a process still has open.
    pub(super) fn open_pipes(&self) -> Vec<u64> {
        let pipes = [&self.stdout.pipe, &self.stderr.pipe].into_iter().flatten();
        pipes.filter_map(|pipe| Some(rustix::fs::fstat(pipe).ok()?.st_ino)).collect()
    }

    /// Closes the pipes and returns the output without secrets, and as it was printed if there are secrets to
    /// hide.
    pub(super) fn finish(self) -> (CapturedOutput, CapturedOutput, Option<Box<Unredacted>>) {
        let (stdout, printed_stdout) = self.stdout.finish(self.on_line);
        let (stderr, printed_stderr) = self.stderr.finish(self.on_line);
        let unredacted = printed_stdout.zip(printed_stderr);
        (stdout, stderr, unredacted.map(|(stdout, stderr)| Box::new(Unredacted { stdout, stderr })))
    }

    /// Reads or writes once; waits for ever when all pipes are closed. Looks at the clock before: the runtime
    /// itself lets a task read a hundred times in a row, and redaction can make that take minutes.
    async fn step(&mut self) {
        yield_now().await;
        tokio::select! {
            () = self.stdout.ready() => self.stdout.read(&mut self.buffer, self.on_line),
            () = self.stderr.ready() => self.stderr.read(&mut self.buffer, self.on_line),
            () = self.stdin.ready() => self.stdin.write(),
        }
    }
}

/// Output stream of a command.
struct OutputPipe {
    stream: Stream,
    pipe: Option<Receiver>,
    collector: OutputCollector,
}

impl OutputPipe {
    fn new(
        stream: Stream,
        pipe: OwnedFd,
        redactor: &Arc<Redactor>,
        last_line: Option<&LastLine>,
    ) -> io::Result<Self> {
        Ok(Self {
            stream,
            pipe: Some(Receiver::from_file_unchecked(pipe.into())?),
            collector: OutputCollector::new(redactor, last_line),
        })
    }

    async fn ready(&self) {
        match &self.pipe {
            // The next read reports the same error.
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    fn read(&mut self, buffer: &mut [u8], on_line: OnLine<'_>) {
        let Some(pipe) = &self.pipe else { return };
        match pipe.try_read(buffer) {
            Ok(length @ 1..) => {
                self.collector.push(&buffer[..length], &mut |line| on_line(self.stream, line));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => self.pipe = None,
        }
    }

    fn finish(self, on_line: OnLine<'_>) -> (CapturedOutput, Option<CapturedOutput>) {
        self.collector.finish(&mut |line| on_line(self.stream, line))
    }
}

/// Standard input of a command.
struct InputPipe<'a> {
    pipe: Option<Sender>,
    /// Rest of the bytes.
    bytes: &'a [u8],
}

impl<'a> InputPipe<'a> {
    fn new(stdin: Option<(OwnedFd, &'a [u8])>) -> io::Result<Self> {
        let Some((pipe, bytes)) = stdin else { return Ok(Self { pipe: None, bytes: &[] }) };
        let pipe = (!bytes.is_empty()).then(|| Sender::from_file_unchecked(pipe.into())).transpose()?;
        Ok(Self { pipe, bytes })
    }

    async fn ready(&self) {
        match &self.pipe {
            // The next write reports the same error.
            Some(pipe) => drop(pipe.writable().await),
            None => std::future::pending().await,
        }
    }

    fn write(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        match pipe.try_write(self.bytes) {
            Ok(length) => self.bytes = &self.bytes[length..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            // A command need not read its input.
            Err(_) => self.bytes = &[],
        }
        if self.bytes.is_empty() {
            self.pipe = None;
        }
    }
}
