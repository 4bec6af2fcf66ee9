//! Calls of the tools that change accounts. The tools lock the files of accounts against one another.

use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Exit, Role};
use ccm_model::Failure;

use super::{blocking_process, process_hint};
use crate::support::output_tail::text;
use crate::support::program::{ErrorLines, Program, ProgramLock};

/// Time limit. A home directory may have to be copied or removed.
const TIMEOUT: Duration = Duration::from_secs(3600);
/// Time that a tool may go on after a stop was requested.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

const LOCK: ProgramLock =
    ProgramLock { is_held: is_locked, timeout: Duration::from_secs(60), retry_delay: Duration::from_secs(1) };

const PACKAGES: &str =
    "`passwd` (Debian family) or `shadow-utils` (Red Hat family); the tools of busybox are not supported";

/// Call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct AccountTool(Program);

impl AccountTool {
    pub(crate) fn new(program: &'static str) -> Self {
        let program = Program::new(program).in_package(PACKAGES).time_limit(TIMEOUT).patience(STOP_TIMEOUT);
        Self(program.locking(LOCK).quoting(ErrorLines { is_last: true, ..ErrorLines::default() }))
    }

    /// Adds arguments.
    pub(crate) fn with<'a>(self, args: impl IntoIterator<Item = &'a str>) -> Self {
        Self(self.0.with(args))
    }

    /// Adds an option with a value, if there is one. They are one argument, so that a value may begin with a dash.
    pub(crate) fn with_value(self, option: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.with([&*format!("{option}={}", value.as_ref())]),
            None => self,
        }
    }

    /// Sets a secret as the text of standard input.
    pub(crate) fn with_secret(self, text: &str) -> Self {
        Self(self.0.stdin(text).sensitive())
    }

    pub(crate) fn has_args(&self) -> bool {
        !self.0.args().is_empty()
    }

    pub(crate) async fn run(&self, context: &Context<'_>) -> Result<(), Failure> {
        let Self(program) = self;
        let finished = program.finish(Role::Tool, context).await?;
        let Some(failure) = program.failure(&finished) else { return Ok(()) };
        let is_root = context.host.system.own_identity().is_ok_and(|own| own.uid == 0);
        if !is_root && is_forbidden(&text(&finished.stderr)) {
            return Err(failure.with_hint("run ccm as root: only root changes users and groups"));
        }
        if program.is_locked(&finished) && finished.exit != Exit::Cancelled {
            return Err(failure.with_hint("wait until no other program changes users or groups"));
        }
        if let Some(process) = blocking_process(&text(&finished.stderr)) {
            return Err(failure.with_hint(process_hint(process)));
        }
        Err(failure)
    }
}

/// Returns `true` if a tool may not change accounts.
fn is_forbidden(stderr: &str) -> bool {
    stderr.contains("Permission denied")
}

/// Returns `true` if a tool gave up because another program changes accounts. A tool that may not change them names the
/// lock as well, and a wait for it is vain.
fn is_locked(stderr: &str) -> bool {
    let names_lock = ["cannot lock /etc/", "existing lock file "].iter().any(|sign| stderr.contains(sign));
    names_lock && !is_forbidden(stderr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_told_from_what_is_forbidden() {
        assert!(is_locked("usermod: cannot lock /etc/passwd; try again later.\n"));
        let of_user = "useradd: Permission denied.\nuseradd: cannot lock /etc/passwd; try again later.\n";
        assert!(is_forbidden(of_user) && !is_locked(of_user));
        assert!(!is_forbidden("usermod: cannot lock /etc/passwd; try again later.\n"));
        assert!(!is_locked("usermod: user 'a' does not exist\n"));
    }

    #[test]
    fn values_may_begin_with_a_dash() {
        let tool = AccountTool::new("usermod").with_value("--comment", Some("-a")).with(["--", "ada"]);
        assert_eq!(tool.0.args(), ["--comment=-a", "--", "ada"]);
        assert!(!AccountTool::new("usermod").with_value("--shell", None::<&str>).has_args());
    }
}
