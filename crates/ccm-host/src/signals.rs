//! The signals that ask ccm to end.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use nix::sys::signal::Signal as Number;
use tokio::signal::unix::{Signal as Arrivals, SignalKind, signal};

use crate::raw;

/// A signal that asked ccm to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its name, such as `SIGINT`.
    pub name: &'static str,
    /// Its number; a program ended by it exits with 128 more.
    pub number: i32,
}

/// Catches `SIGINT`, `SIGTERM`, `SIGHUP` and `SIGQUIT`.
#[derive(Debug)]
pub struct Signals(Vec<(Signal, Arrivals)>);

impl Signals {
    /// Starts to catch them; must be called within a runtime.
    ///
    /// One that was ignored when ccm started (`nohup`) stays ignored.
    pub fn listen() -> io::Result<Self> {
        let mut caught = Vec::new();
        for number in [Number::SIGINT, Number::SIGTERM, Number::SIGHUP, Number::SIGQUIT] {
            if !raw::is_ignored(number)? {
                let named = Signal { name: number.as_str(), number: number as i32 };
                caught.push((named, signal(SignalKind::from_raw(named.number))?));
            }
        }
        Ok(Self(caught))
    }

    /// Waits for the next one.
    pub async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            let arrived =
                self.0.iter_mut().find_map(|(signal, arrivals)| match arrivals.poll_recv(context) {
                    Poll::Ready(Some(())) => Some(*signal),
                    Poll::Ready(None) | Poll::Pending => None,
                });
            arrived.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}
