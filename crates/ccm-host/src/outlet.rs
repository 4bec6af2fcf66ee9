//! Writing to the standard streams without waiting for whoever reads them.
//!
//! A reader may stand still: a paused pager, a terminal after Ctrl-S, a stuck connection. A run must not stand
//! still with it, or deadlines and signals would. So a thread does the writing, and what it can't get rid of
//! is dropped beyond a limit and counted.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::Notify;

/// How much may wait to be read. What comes when more than this waits is dropped.
const BACKLOG: usize = 16 << 20;
/// Pieces smaller than this are written together.
const PIECE: usize = 64 << 10;

/// One of the two streams that are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Output,
    Error,
}

/// One of the standard streams, written to by a thread. Its writes never wait.
#[derive(Clone, Debug)]
pub struct Outlet {
    shared: Arc<Shared>,
    target: Target,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<(Target, Vec<u8>)>,
    /// How many bytes are in the pieces and in the one that is being written.
    waiting: usize,
    /// How many bytes were dropped.
    dropped: u64,
    /// The error that ended writing to standard output.
    error: Option<i32>,
    /// The thread waits for a piece, and nobody has woken it yet.
    is_idle: bool,
}

impl Outlet {
    /// Starts the thread. Gives standard output and standard error; what is written to the two keeps its
    /// order.
    pub fn open() -> io::Result<(Self, Self)> {
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        thread::Builder::new().name("ccm-output".to_owned()).spawn(move || for_thread.work())?;
        let outlet = |target| Self { shared: Arc::clone(&shared), target };
        Ok((outlet(Target::Output), outlet(Target::Error)))
    }

    /// Waits until everything was written or dropped.
    pub async fn emptied(&self) {
        loop {
            let emptied = self.shared.emptied.notified();
            if self.shared.state().waiting == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// Tells what became of what was written so far, as far as it is known.
    pub fn result(&self) -> io::Result<()> {
        let state = self.shared.state();
        let unread = state.dropped + state.waiting as u64;
        match (state.error, unread) {
            (Some(code), _) => Err(io::Error::from_raw_os_error(code)),
            (None, 0) => Ok(()),
            (None, unread) => Err(io::Error::other(format!("{unread} bytes of it were not read"))),
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shared.add(self.target, bytes, || self.shared.filled.notify_one())
    }

    /// Nothing waits here that is not on its way already.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl State {
    /// Takes the next piece. A thread that gets none waits, until it is woken.
    fn next(&mut self) -> Option<(Target, Vec<u8>)> {
        let next = self.pieces.pop_front();
        self.is_idle = next.is_none();
        next
    }
}

impl Shared {
    /// The state; a thread that panicked while it held it has left it whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds bytes for the thread, and wakes it if it waits.
    fn add(&self, target: Target, bytes: &[u8], wake: impl FnOnce()) -> io::Result<usize> {
        let mut state = self.state();
        if let (Target::Output, Some(code)) = (target, state.error) {
            return Err(io::Error::from_raw_os_error(code));
        }
        if state.waiting > BACKLOG {
            state.dropped += bytes.len() as u64;
            return Ok(bytes.len());
        }
        state.waiting += bytes.len();
        match state.pieces.back_mut() {
            Some((last, piece)) if *last == target && piece.len() < PIECE => {
                piece.extend_from_slice(bytes);
            }
            _ => state.pieces.push_back((target, bytes.to_vec())),
        }
        // A thread that is awake looks for more before it waits again. To wake it costs two switches between threads.
        let wakes = std::mem::take(&mut state.is_idle);
        drop(state);
        if wakes {
            wake();
        }
        Ok(bytes.len())
    }

    /// What the thread does until the process ends.
    fn work(&self) {
        let (output, error) = (io::stdout(), io::stderr());
        let mut state = self.state();
        loop {
            let Some((target, piece)) = state.next() else {
                state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let failed = state.error.is_some() && target == Target::Output;
            drop(state);
            let result = match target {
                Target::Output if failed => Ok(()),
                Target::Output => write_to(output.as_fd(), &piece),
                // If that fails, nobody is looking.
                Target::Error => write_to(error.as_fd(), &piece).or(Ok(())),
            };
            state = self.state();
            state.waiting -= piece.len();
            if let Err(error) = result {
                state.error.get_or_insert(error.raw_os_error());
            }
            if state.waiting == 0 {
                self.emptied.notify_waiters();
            }
        }
    }
}

fn write_to(stream: BorrowedFd<'_>, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(rustix::io::Errno::INTR) => {}
            // Somebody else made the stream one that does not block; this thread has time.
            Err(rustix::io::Errno::AGAIN) => {
                let mut wait = [rustix::event::PollFd::new(&stream, rustix::event::PollFlags::OUT)];
                rustix::event::poll(&mut wait, None)?;
            }
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
            shared.add(Target::Output, text.as_bytes(), || woken += 1).expect("it is kept");
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
