//! Evaluation of the end of a helper program. Pure.

use ccm_host::{CapturedOutput, Exit, Finished, StartError};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, escape_control};

use super::Program;
use crate::support::output_tail::text;

/// Maximum number of characters that are quoted of a line.
const MAX_CHARACTERS: usize = 2000;

/// Errors among the lines that a program prints to standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorLines {
    /// Returns the error in a line; `None` for a line without an error, such as advice. The line has neither blanks
    /// around it nor the name of the program in front.
    pub of_line: fn(&str) -> Option<&str>,
    /// Maximum number of errors that are quoted.
    pub max: usize,
    /// Quotes the last errors and not the first.
    pub is_last: bool,
}

impl Default for ErrorLines {
    fn default() -> Self {
        Self { of_line: |line| Some(line), max: 3, is_last: false }
    }
}

impl ErrorLines {
    /// Returns the errors that a program of this name printed, each once.
    fn find(&self, program: &str, stderr: &CapturedOutput) -> Vec<String> {
        let printed = match stderr {
            // What was printed in between is lost.
            CapturedOutput { tail, .. } if self.is_last && stderr.truncated() => {
                String::from_utf8_lossy(tail).into()
            }
            _ => text(stderr),
        };
        if !self.is_last {
            return self.first(program, printed.lines());
        }
        let mut errors = self.first(program, printed.lines().rev());
        errors.reverse();
        errors
    }

    fn first<'l>(&self, program: &str, lines: impl Iterator<Item = &'l str>) -> Vec<String> {
        let mut errors = Vec::new();
        for line in lines.map(str::trim) {
            if errors.len() >= self.max {
                break;
            }
            let line = line.strip_prefix(program).and_then(|line| line.strip_prefix(':')).unwrap_or(line);
            let error = (self.of_line)(line.trim()).filter(|error| !error.is_empty()).map(quoted);
            errors.extend(error.filter(|error| !errors.contains(error)));
        }
        errors
    }
}

/// Returns an error for a message: without a full stop, control characters and an endless rest.
fn quoted(error: &str) -> String {
    let error = error.trim_end_matches('.');
    match error.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", escape_control(&error[..end])),
        None => escape_control(error).into_owned(),
    }
}

impl Program {
    /// Returns the failure of a program that did not succeed.
    pub(crate) fn failure(&self, finished: &Finished) -> Option<Failure> {
        let title = &self.title;
        let mut failure = match finished.exit.code(title) {
            Ok(0) => return None,
            Ok(code) => {
                let mut failure =
                    Failure::new(FailureKind::Exit, format!("{title} failed with exit code {code}"));
                let name = self.name.rsplit('/').next().unwrap_or_default();
                failure.chain.extend(self.errors.find(name, &finished.stderr));
                failure
            }
            Err(failure) => failure,
        };
        for process in &finished.unkillable {
            failure.chain.push(format!("could not be killed and is still running: {process}"));
        }
        Some(failure)
    }

    /// Returns the whole standard output of a program that succeeded.
    pub(crate) fn output(&self, finished: &Finished) -> Result<String, Failure> {
        match self.failure(finished) {
            Some(failure) => Err(failure),
            None if finished.stdout.truncated() => {
                Err(Failure::new(FailureKind::Read, format!("the output of {} is too large", self.title)))
            }
            None => Ok(text(&finished.stdout)),
        }
    }

    /// Returns `true` if the program gave up because another process holds its lock.
    pub(crate) fn is_locked(&self, finished: &Finished) -> bool {
        let is_held = |lock: super::ProgramLock| (lock.is_held)(&text(&finished.stderr));
        finished.exit != Exit::Code(0) && self.lock.is_some_and(is_held)
    }
}

/// Returns the failure of a program that did not start. `hint` is advice for a missing one.
pub(crate) fn start_failure(error: &StartError, hint: Option<&str>) -> Failure {
    let failure = error.failure();
    let StartError::NotFound { name, .. } = error else { return failure };
    let missing = if name.contains('/') {
        MissingPrerequisite::Path(name.into())
    } else {
        MissingPrerequisite::Program(name.clone())
    };
    let failure = failure.with_missing(missing);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ccm_host::Process;
    use ccm_testkit::FakeRunner;

    use super::*;

    fn finished(exit: Exit, stderr: &str) -> Finished {
        let stderr = CapturedOutput { head: stderr.into(), ..CapturedOutput::default() };
        Finished { stderr, ..FakeRunner::finished(exit) }
    }

    #[test]
    fn the_end_of_a_program_is_evaluated() {
        let usual = || Program::new("/sbin/mount").titled("mount");
        let last = || usual().quoting(ErrorLines { is_last: true, ..ErrorLines::default() });
        let marked = || {
            usual().quoting(ErrorLines {
                of_line: |line| line.strip_prefix("error: "),
                max: 1,
                is_last: false,
            })
        };
        let signal = Exit::Signal { number: 11, name: "SIGSEGV".to_owned() };
        let time_out = Exit::TimedOut { after: Duration::from_secs(60) };
        let failed = "mount failed with exit code 1";
        for (program, exit, stderr, expected) in [
            (usual(), Exit::Code(0), "mount: a warning\n", None),
            (usual(), Exit::Code(1), "", Some((FailureKind::Exit, vec![failed]))),
            (usual(), Exit::Code(1), " \n\n\t\n", Some((FailureKind::Exit, vec![failed]))),
            (
                usual(),
                Exit::Code(1),
                "mount: /a: unknown type 'x'.\nmount: 2\r\n  3\n4\n",
                Some((FailureKind::Exit, vec![failed, "/a: unknown type 'x'", "2", "3"])),
            ),
            (last(), Exit::Code(1), "1\n2\n3\n4\n\n", Some((FailureKind::Exit, vec![failed, "2", "3", "4"]))),
            (last(), Exit::Code(1), "1\n2\n1\n", Some((FailureKind::Exit, vec![failed, "2", "1"]))),
            (usual(), Exit::Code(1), "1\nmount: 1\n2\n", Some((FailureKind::Exit, vec![failed, "1", "2"]))),
            (
                marked(),
                Exit::Code(1),
                "hint: 1\nerror: 2\nerror: 3\n",
                Some((FailureKind::Exit, vec![failed, "2"])),
            ),
            (
                usual().quoting(ErrorLines { max: 0, ..ErrorLines::default() }),
                Exit::Code(1),
                "1\n",
                Some((FailureKind::Exit, vec![failed])),
            ),
            (marked(), Exit::Code(1), "mount: error: \n", Some((FailureKind::Exit, vec![failed]))),
            (usual(), signal, "why\n", Some((FailureKind::Signal, vec!["mount was killed by SIGSEGV"]))),
            (usual(), time_out, "", Some((FailureKind::Timeout, vec!["mount timed out after 1m0s"]))),
            (
                usual(),
                Exit::Cancelled,
                "",
                Some((FailureKind::Stopped, vec!["mount was stopped together with the run"])),
            ),
        ] {
            let failure = program.failure(&finished(exit, stderr));
            let found = failure.as_ref().map(|failure| (failure.kind, &failure.chain[..]));
            let expected =
                expected.map(|(kind, chain)| (kind, chain.iter().map(ToString::to_string).collect()));
            assert_eq!(
                found,
                expected.as_ref().map(|(kind, chain): &(_, Vec<_>)| (*kind, &chain[..])),
                "{stderr}"
            );
        }
        let stuck = Process::new(7, "stuck");
        let finished =
            Finished { unkillable: vec![stuck], ..finished(Exit::TimedOut { after: Duration::ZERO }, "") };
        let chain = usual().failure(&finished).unwrap().chain;
        assert_eq!(chain[1], "could not be killed and is still running: 7 stuck");
    }
}
