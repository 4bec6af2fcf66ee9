//! Writing to the standard streams, a pipe or a device without waiting for the reader.
//!
//! A reader may stop: a paused pager, a stuck connection. A run must not stop with it, because deadlines and
//! signals would be missed. So a thread does the writing, and output beyond a limit is dropped and counted.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::Notify;

use crate::state::AppendFile;

/// Maximum number of bytes that wait to be read. Later output is dropped.
const MAX_BACKLOG: usize = 16 << 20;
/// Size below which pieces are written together.
const PIECE: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StandardStream {
    Output,
    Error,
}

/// Writer whose writes never wait. A thread does the writing, from the first write on.
#[derive(Clone, Debug)]
pub struct NonBlockingWriter {
    shared: Arc<Shared>,
    stream: StandardStream,
}

#[derive(Debug, Default)]
struct Shared {
    /// Work of the thread, until the thread starts.
    work: Mutex<Option<ThreadWork>>,
    state: Mutex<WriterState>,
    filled: Condvar,
    drained: Notify,
}

struct ThreadWork(Box<dyn FnOnce(&Shared) + Send>);

impl fmt::Debug for ThreadWork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ThreadWork")
    }
}

#[derive(Debug, Default)]
struct WriterState {
    pieces: VecDeque<(StandardStream, Vec<u8>)>,
    /// Number of bytes in the pieces and in the one that is being written.
    waiting: usize,
    dropped: u64,
    /// Error that ended writing to standard output.
    error: Option<i32>,
    /// The thread waits for a piece and was not woken yet.
    is_idle: bool,
}

impl NonBlockingWriter {
    /// Returns writers for standard output and error. Writes to both stay in order.
    pub fn open() -> (Self, Self) {
        let shared = Shared::with_work(|shared| {
            let (output, error) = (io::stdout(), io::stderr());
            shared.work(output.as_fd(), error.as_fd());
        });
        let writer = |stream| Self { shared: Arc::clone(&shared), stream };
        (writer(StandardStream::Output), writer(StandardStream::Error))
    }

    /// Returns the writer for a pipe or a device.
    pub fn to_file(file: AppendFile) -> Self {
        let shared = Shared::with_work(move |shared| shared.work(file.as_fd(), file.as_fd()));
        Self { shared, stream: StandardStream::Output }
    }

    /// Waits until all output was written or dropped.
    pub async fn drained(&self) {
        loop {
            let drained = self.shared.drained.notified();
            if self.shared.state().waiting == 0 {
                return;
            }
            drained.await;
        }
    }

    /// Returns the error of the output so far, if one is known.
    pub fn result(&self) -> io::Result<()> {
        let state = self.shared.state();
        let unread = state.dropped + state.waiting as u64;
        match (state.error, unread) {
            (Some(code), _) => Err(io::Error::from_raw_os_error(code)),
            (None, 0) => Ok(()),
            (None, unread) => Err(io::Error::other(format!("the reader did not read {unread} bytes"))),
        }
    }
}

impl Write for NonBlockingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.shared.add(self.stream, bytes, || self.shared.filled.notify_one())?;
        Shared::start(&self.shared)?;
        Ok(length)
    }

    /// Does nothing: the thread has all output already.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriterState {
    /// Takes the next piece. A thread that gets none waits, until it is woken.
    fn next(&mut self) -> Option<(StandardStream, Vec<u8>)> {
        let next = self.pieces.pop_front();
        self.is_idle = next.is_none();
        next
    }
}

impl Shared {
    fn with_work(work: impl FnOnce(&Self) + Send + 'static) -> Arc<Self> {
        Arc::new(Self { work: Mutex::new(Some(ThreadWork(Box::new(work)))), ..Self::default() })
    }

    /// Starts the thread, which writes until the process ends, unless it was started.
    fn start(self: &Arc<Self>) -> io::Result<()> {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ThreadWork(work)) = work else { return Ok(()) };
        let shared = Arc::clone(self);
        let started = thread::Builder::new().name("ccm-output".to_owned()).spawn(move || work(&shared));
        started.map(drop).inspect_err(|error| {
            let mut state = self.state();
            *state = WriterState { error: error.raw_os_error().or(Some(0)), ..WriterState::default() };
            drop(state);
            self.drained.notify_waiters();
        })
    }

    /// Locks the state. After a panic of the thread that held the lock, the state is still consistent.
    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds bytes for the thread, and wakes it if it waits.
    fn add(&self, stream: StandardStream, bytes: &[u8], wake: impl FnOnce()) -> io::Result<usize> {
        let mut state = self.state();
        if let (StandardStream::Output, Some(code)) = (stream, state.error) {
            return Err(io::Error::from_raw_os_error(code));
        }
        if state.waiting > MAX_BACKLOG {
            state.dropped += bytes.len() as u64;
            return Ok(bytes.len());
        }
        state.waiting += bytes.len();
        match state.pieces.back_mut() {
            Some((last, piece)) if *last == stream && piece.len() < PIECE => {
                piece.extend_from_slice(bytes);
            }
            _ => state.pieces.push_back((stream, bytes.to_vec())),
        }
        // An awake thread looks for more before it waits again. Waking it would cost two thread switches.
        let wakes = std::mem::take(&mut state.is_idle);
        drop(state);
        if wakes {
            wake();
        }
        Ok(bytes.len())
    }

    /// Writes pieces until the process ends.
    fn work(&self, output: BorrowedFd<'_>, error: BorrowedFd<'_>) {
        let mut state = self.state();
        loop {
            let Some((stream, piece)) = state.next() else {
                state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let failed = state.error.is_some() && stream == StandardStream::Output;
            drop(state);
            let result = match stream {
                StandardStream::Output if failed => Ok(()),
                StandardStream::Output => write_to(output, &piece),
                // An error of standard error can't be reported.
                StandardStream::Error => write_to(error, &piece).or(Ok(())),
            };
            state = self.state();
            state.waiting -= piece.len();
            if let Err(error) = result {
                state.error.get_or_insert(error.raw_os_error());
            }
            if state.waiting == 0 {
                self.drained.notify_waiters();
            }
        }
    }
}

/// Writes to standard error without waiting longer than this for its reader. The rest of the text is dropped then.
pub fn write_error_within(text: &[u8], limit: Duration) -> io::Result<()> {
    let stream = io::stderr();
    let end = Instant::now() + limit;
    // A pipe that can be written takes this much at once.
    for piece in text.chunks(rustix::pipe::PIPE_BUF) {
        wait_until_writable(stream.as_fd(), Some(end))?;
        write_to(stream.as_fd(), piece)?;
    }
    Ok(())
}

/// Waits until a stream takes more, until a time at most.
fn wait_until_writable(stream: BorrowedFd<'_>, end: Option<Instant>) -> rustix::io::Result<()> {
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
        match poll(&mut [PollFd::new(&stream, PollFlags::OUT)], left.as_ref()) {
            Ok(0) => return Err(Errno::TIMEDOUT),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

fn write_to(stream: BorrowedFd<'_>, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(Errno::INTR) => {}
            // Another process made the stream non-blocking; this thread may wait.
            Err(Errno::AGAIN) => wait_until_writable(stream, None)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_thread_that_waits_is_woken() {
        let shared = Shared::default();
        let mut woken = 0;
        let mut add = |text: &str| {
            shared.add(StandardStream::Output, text.as_bytes(), || woken += 1).expect("it is kept");
            woken
        };
        let next = || shared.state().next().map(|(_, piece)| String::from_utf8(piece).expect("text"));
        assert_eq!(add("before the thread has looked, "), 0);
        assert_eq!(add("twice"), 0);
        assert_eq!(next().as_deref(), Some("before the thread has looked, twice"));
        assert_eq!(add("while it writes"), 0);
        assert_eq!(next().as_deref(), Some("while it writes"));
        assert_eq!(next(), None);
        assert_eq!(add("now it waits, "), 1);
        assert_eq!(add("and is on its way"), 1);
        assert_eq!(next().as_deref(), Some("now it waits, and is on its way"));
        assert_eq!(add("awake again"), 1);
    }
}
