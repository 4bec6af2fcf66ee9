//! Functions for the process of a program, beside its sessions.
//!
//! A program that applies manifests begins with two calls, before it opens a file or starts a thread.
//! [`launcher::begin`] runs the copies of the program that become commands; [`prepare_process`] sets the
//! umask, keeps inherited files from commands and makes exit codes of commands readable.
//!
//! Two things belong to the process, however many sessions it has. It adopts the orphans of commands, so only
//! one command runs at a time. Signals end runs only if the program listens to [`signals`] and raises a
//! [`Canceller`](crate::Canceller).

pub use ccm_host::{
    Clock, Exit, LastLine, NonBlockingWriter, PipedProcess, PrepareError, SystemClock, Terminal, absolute,
    after, ask, ask_secret, can_ask, credential_of_file, current_user, environment, is_utf8_locale, is_yes,
    output_is_journal, output_width, own_arguments, own_process, own_program, prepare_process, random_secret,
    run_thread, variable, write_error_within,
};
pub use ccm_host::{launcher, signals};
