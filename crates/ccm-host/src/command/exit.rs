//! End of a command.

use std::time::Duration;

use ccm_model::{Failure, FailureKind, display_duration};

/// End of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command ended by itself, with this code.
    Code(i32),
    /// A signal that ccm did not send ended the command.
    Signal {
        /// Number of the signal.
        number: i32,
        /// Name of the signal, such as `SIGSEGV`.
        name: String,
    },
    /// The command was ended at its deadline.
    TimedOut {
        /// Time limit of the command.
        after: Duration,
    },
    /// The command was ended because the run was cancelled.
    Cancelled,
}

impl Exit {
    /// Returns the exit code of a command that ended by itself, or the failure of any other command. `command` is the
    /// subject of the message.
    pub fn code(&self, command: &str) -> Result<i32, Failure> {
        let (kind, end) = match self {
            Self::Code(code) => return Ok(*code),
            Self::Signal { name, .. } => (FailureKind::Signal, format!("was killed by {name}")),
            Self::TimedOut { after } => {
                (FailureKind::Timeout, format!("timed out after {}", display_duration(*after)))
            }
            Self::Cancelled => (FailureKind::Stopped, "was stopped together with the run".to_owned()),
        };
        Err(Failure::new(kind, format!("{command} {end}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_did_not_end_by_itself_has_a_failure_and_no_code() {
        for (exit, expected) in [
            (Exit::Code(0), Ok(0)),
            (Exit::Code(3), Ok(3)),
            (
                Exit::Signal { number: 9, name: "SIGKILL".to_owned() },
                Err((FailureKind::Signal, "git was killed by SIGKILL")),
            ),
            (
                Exit::TimedOut { after: Duration::from_secs(90) },
                Err((FailureKind::Timeout, "git timed out after 1m30s")),
            ),
            (Exit::Cancelled, Err((FailureKind::Stopped, "git was stopped together with the run"))),
        ] {
            let found = exit.code("git").map_err(|failure| (failure.kind, failure.one_line()));
            assert_eq!(found, expected.map_err(|(kind, message)| (kind, message.to_owned())), "{exit:?}");
        }
    }
}
