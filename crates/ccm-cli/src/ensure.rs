//! `ccm ensure`: one resource without a manifest.

use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

use ccm_runtime::ensure::{DeclaredWords, SharedOutcomes, asks_for_help, asks_for_noop};
use ccm_runtime::process::variable;
use ccm_runtime::{ExitCode, Input, RunOptions, Session};

use crate::arguments::{ApplyArguments, EnsureArguments, EnsureTarget, run_options_of_ensure, type_help};
use crate::console::Console;
use crate::ensure_session::store_error;
use crate::error::{CommandError, CommandResult};
use crate::{apply, session};

/// Variable with the directory of the session.
pub(crate) const SESSION_VARIABLE: &str = "CCM_SESSION_STORE";

/// Call of `ccm ensure`.
pub(crate) struct DeclaredCall {
    words: DeclaredWords,
    session: Option<PathBuf>,
}

/// Ensures a resource, or answers requests.
pub(crate) fn run(arguments: EnsureArguments, console: &Console) -> CommandResult {
    let (mut apply, target, named) = arguments.into_parts();
    let session = named.or_else(session_of_environment);
    let (type_name, words) = match target {
        EnsureTarget::Resource(type_name, words) => (type_name, words),
        EnsureTarget::Pipe(pipe) => return crate::ensure_pipe::run(apply, pipe, session, console),
    };
    let text = |word: OsString| {
        let refused = |word: OsString| {
            CommandError::usage(format!("the argument `{}` is not UTF-8 text", word.display()))
                .therefore("nothing was run")
        };
        word.into_string().map_err(refused)
    };
    let words = words.into_iter().map(text).collect::<CommandResult<Vec<String>>>()?;
    if asks_for_help(&type_name, &words) {
        type_help(&type_name)?;
        return Ok(ExitCode::Success);
    }
    apply.noop |= asks_for_noop(&words);
    let words = DeclaredWords { type_name, words, run_options: run_options_of_ensure };
    apply::run_declared(apply, DeclaredCall { words, session }, console)
}

/// Returns the directory of the session that the environment names.
pub(crate) fn session_of_environment() -> Option<PathBuf> {
    variable(SESSION_VARIABLE).map(PathBuf::from)
}

impl DeclaredCall {
    /// Declares the resource, and makes the call part of its session.
    pub(crate) async fn input(
        &self,
        session: &Session,
        arguments: &ApplyArguments,
    ) -> CommandResult<(Input, Option<Rc<SharedOutcomes>>)> {
        let declared = session.declare_words(&self.words).map_err(|errors| {
            let message = format!("{errors} in the command line");
            CommandError::located(&errors)
                .with_message(message)
                .therefore("nothing was run")
                .with_code(ExitCode::Usage)
        })?;
        let input = session.read_declared(declared, &session::values(&arguments.values))?;
        let Some(path) = &self.session else { return Ok((input, None)) };
        let wait = arguments.run.lock_wait.unwrap_or(RunOptions::default().lock_wait);
        let opened = session.open_outcomes(path, input.full_name(), arguments.noop, wait).await;
        let outcomes = Rc::new(opened.map_err(|error| store_error(&error).therefore("nothing was run"))?);
        Ok((input.in_session(Rc::clone(&outcomes)), Some(outcomes)))
    }
}
