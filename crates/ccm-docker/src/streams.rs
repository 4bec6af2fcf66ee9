//! The streams of a command in a container.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ccm_host::{CapturedOutput, EngineAddress, LastLine, OutputCollector, Unredacted, after};
use ccm_model::Stream;
use ccm_redaction::Redactor;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::task::yield_now;

use crate::connection::{RawStream, Transfer, broken};
use crate::engine::AttachedStream;
use crate::error::{EngineError, one_line};
use crate::frames::{FrameDecoder, Part};

/// Maximum size of one read.
const READ_SIZE: usize = 64 * 1024;
/// Maximum number of bytes kept of a message of the Engine in the stream.
const MAX_MESSAGE: usize = 4096;
/// Time without output after which the streams of a command that has ended are closed.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// Maximum time that the streams of a command that has ended are read.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Receiver of the lines of a command.
pub(crate) type LineSink<'a> = &'a mut dyn FnMut(Stream, &str);

/// Reads both output streams and feeds standard input, all at once.
pub(crate) struct ContainerStreams<'a> {
    reader: Option<ReadHalf<RawStream>>,
    writer: Option<WriteHalf<RawStream>>,
    /// Rest of standard input.
    input: &'a [u8],
    frames: FrameDecoder,
    stdout: OutputCollector,
    stderr: OutputCollector,
    message: Vec<u8>,
    error: Option<EngineError>,
    address: EngineAddress,
    buffer: Vec<u8>,
    on_line: LineSink<'a>,
    _transfer: Transfer,
}

/// Output of a command.
#[derive(Default)]
pub(crate) struct ContainerOutput {
    pub stdout: CapturedOutput,
    pub stderr: CapturedOutput,
    pub unredacted: Option<Box<Unredacted>>,
}

impl<'a> ContainerStreams<'a> {
    pub(crate) fn new(
        attached: AttachedStream,
        stdin: Option<&'a [u8]>,
        address: &EngineAddress,
        redactor: &Arc<Redactor>,
        last_line: Option<&LastLine>,
        on_line: LineSink<'a>,
    ) -> Self {
        last_line.into_iter().for_each(LastLine::clear);
        let AttachedStream { stream, transfer } = attached;
        let (reader, writer) = tokio::io::split(stream);
        Self {
            reader: Some(reader),
            writer: stdin.is_some().then_some(writer),
            input: stdin.unwrap_or_default(),
            frames: FrameDecoder::default(),
            stdout: OutputCollector::new(redactor, last_line),
            stderr: OutputCollector::new(redactor, last_line),
            message: Vec::new(),
            error: None,
            address: address.clone(),
            buffer: vec![0; READ_SIZE],
            on_line,
            _transfer: transfer,
        }
    }

    /// Reads and writes until another future is done.
    pub(crate) async fn transfer_until<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        loop {
            tokio::select! {
                biased;
                value = &mut other => return value,
                () = self.step() => {}
            }
        }
    }

    /// Reads and writes until the Engine ends the stream.
    pub(crate) async fn transfer_to_end(&mut self) {
        while self.reader.is_some() {
            self.step().await;
        }
    }

    /// Reads the rest of the output after the end of the command, for a limited time.
    pub(crate) async fn drain(&mut self) {
        self.writer = None;
        let all = async {
            while self.reader.is_some() {
                tokio::select! {
                    biased;
                    () = self.step() => {}
                    _ = after(Some(QUIET_TIME)) => break,
                }
            }
        };
        tokio::select! {
            biased;
            () = all => {}
            _ = after(Some(DRAIN_TIME)) => {}
        }
    }

    /// Returns `true` if the Engine has ended the stream.
    pub(crate) fn has_ended(&self) -> bool {
        self.reader.is_none()
    }

    /// Returns the error that broke the stream.
    pub(crate) fn take_error(&mut self) -> Option<EngineError> {
        self.error.take()
    }

    /// Returns the message that the Engine wrote into the stream.
    pub(crate) fn message(&self) -> Option<String> {
        let message = one_line(&String::from_utf8_lossy(&self.message));
        (!message.is_empty()).then_some(message)
    }

    pub(crate) fn finish(self) -> ContainerOutput {
        let Self { stdout, stderr, on_line, .. } = self;
        let (stdout, printed_stdout) = stdout.finish(&mut |line| on_line(Stream::Stdout, line));
        let (stderr, printed_stderr) = stderr.finish(&mut |line| on_line(Stream::Stderr, line));
        let unredacted = printed_stdout.zip(printed_stderr);
        let unredacted = unredacted.map(|(stdout, stderr)| Box::new(Unredacted { stdout, stderr }));
        ContainerOutput { stdout, stderr, unredacted }
    }

    /// Reads or writes once; waits for ever when there is nothing left to do. Looks at the clock before, because
    /// output may come faster than it can be redacted.
    async fn step(&mut self) {
        yield_now().await;
        let Self { reader, writer, input, buffer, .. } = self;
        let read = async {
            match reader {
                Some(reader) => reader.read(buffer).await,
                None => std::future::pending().await,
            }
        };
        let write = async {
            match writer {
                // The end of the text is the end of the input.
                Some(writer) if input.is_empty() => writer.shutdown().await.map(|()| 0),
                Some(writer) => writer.write(input).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            result = read => self.take(result),
            result = write => match result {
                Ok(length) if !self.input.is_empty() => self.input = &self.input[length..],
                // The input has ended, or the command does not read it.
                _ => self.writer = None,
            },
        }
    }

    fn take(&mut self, result: io::Result<usize>) {
        let length = match result {
            Ok(0) => {
                self.reader = None;
                return;
            }
            Ok(length) => length,
            Err(error) => {
                self.reader = None;
                self.error = Some(broken(&self.address, error));
                return;
            }
        };
        let Self { frames, stdout, stderr, message, on_line, buffer, .. } = self;
        let decoded = frames.push(&buffer[..length], &mut |part| match part {
            Part::Output(stream, bytes) => {
                let collector = if stream == Stream::Stderr { &mut *stderr } else { &mut *stdout };
                collector.push(bytes, &mut |line| on_line(stream, line));
            }
            Part::Message(bytes) => {
                let room = MAX_MESSAGE - message.len();
                message.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        });
        if let Err(error) = decoded {
            self.reader = None;
            self.error =
                Some(EngineError::Answer { address: self.address.clone(), problem: error.to_string() });
        }
    }
}
