//! Parts of the host that the process of a program needs beside a session.
//!
//! A program that applies manifests begins with two calls, before it opens a file or starts a thread.
//! [`launcher::begin`] runs the program's own copies that become commands; [`prepare_process`] sets the
//! umask, keeps inherited files from commands and makes the end of commands visible.
//!
//! Two things belong to the process, however many sessions it has. It adopts what commands leave without a
//! parent, and so only one command runs at a time. Signals end runs only if the program listens to
//! [`signals`] and raises a [`Canceller`](crate::Canceller).

pub use ccm_host::{
    Clock, NonBlockingWriter, PrepareError, SystemClock, Terminal, after, prepare_process, variable,
};
pub use ccm_host::{launcher, signals};
