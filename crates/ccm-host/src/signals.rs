//! Signals that ask ccm to end.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use nix::sys::signal::{SigSet, Signal as Number};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use tokio::io::unix::AsyncFd;

use crate::raw;

/// Signal that asked ccm to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Name, such as `SIGINT`.
    pub name: &'static str,
    /// Number. A program that a signal ended has exit code 128 plus this number.
    pub number: i32,
}

/// Sends this process the signal of Ctrl-C. Call this only where [`Signals::listen`] was called before.
pub fn interrupt_self() -> io::Result<()> {
    Ok(nix::sys::signal::kill(nix::unistd::Pid::this(), Number::SIGINT)?)
}

/// Catches `SIGINT`, `SIGTERM`, `SIGHUP` and `SIGQUIT`.
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Starts to catch the signals. Call this before the first thread starts, which could get one.
    ///
    /// `SIGHUP` and `SIGINT` stay ignored if they were ignored when ccm started: by `nohup`, or by a shell for
    /// a background job. `SIGTERM` and `SIGQUIT` are always caught.
    pub fn listen() -> io::Result<Self> {
        let mut caught = SigSet::empty();
        for number in [Number::SIGINT, Number::SIGTERM, Number::SIGHUP, Number::SIGQUIT] {
            if raw::is_ignored(number)? {
                if matches!(number, Number::SIGINT | Number::SIGHUP) {
                    continue;
                }
                raw::set_default(number)?;
            }
            caught.add(number);
        }
        // A blocked signal waits in the descriptor instead of interrupting a thread.
        caught.thread_block()?;
        Ok(Self(SignalFd::with_flags(&caught, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }

    /// Waits for the next signal, within a runtime.
    pub async fn next(&self) -> io::Result<Signal> {
        let ready: AsyncFd<OwnedFd> = raw::watch(self.0.as_fd().try_clone_to_owned()?)?;
        loop {
            let mut guard = ready.readable().await?;
            if let Some(signal) = self.read()? {
                return Ok(signal);
            }
            guard.clear_ready();
        }
    }

    fn read(&self) -> io::Result<Option<Signal>> {
        let Some(arrived) = self.0.read_signal()? else { return Ok(None) };
        let number = i32::try_from(arrived.ssi_signo).unwrap_or_default();
        Ok(Number::try_from(number).ok().map(|known| Signal { name: known.as_str(), number }))
    }
}
