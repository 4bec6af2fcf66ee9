//! Commands of package tools: run with a fixed environment and retried while another program holds a lock.

use std::ops::{ControlFlow, RangeInclusive};
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{CancellationLevel, Exit, Finished, Role};
use ccm_model::{Failure, FailureKind, Stream, display_duration};

use super::package::Package;
use crate::support::left_running::left_running;
use crate::support::output_tail::{tail, text};
use crate::support::program::{ErrorLines, Program, ProgramLock, ProgramScope};

/// Timeout of an index query, which may download the index first.
const QUERY_TIMEOUT: Duration = Duration::from_secs(600);
/// Time that a package change may go on after a stop was requested.
const STOP_TIMEOUT: Duration = Duration::from_secs(300);
/// Delay before the next try while a lock is held.
const LOCK_RETRY_DELAY: Duration = Duration::from_secs(3);

/// Environment of every command besides the base environment; prevents all questions.
const ENVIRONMENT: [(&str, &str); 3] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("APT_LISTBUGS_FRONTEND", "none"),
    ("APT_LISTCHANGES_FRONTEND", "none"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandLimits {
    /// Limit while the command works; `None` for no limit.
    pub work: Option<Duration>,
    /// Limit while the command waits for another program.
    pub lock: Duration,
}

impl CommandLimits {
    /// Returns the longest limits of packages that are changed together.
    pub(crate) fn of<'p>(packages: impl Iterator<Item = &'p Package> + Clone) -> Self {
        let work = packages.clone().map(|package| package.timeout);
        let work = work.reduce(|one, other| Some(one?.max(other?))).flatten();
        Self { work, lock: packages.map(|package| package.lock_timeout).max().unwrap_or_default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCommand {
    pub program: &'static str,
    pub args: Vec<String>,
    /// Name of the command in errors.
    pub title: &'static str,
    /// True if interrupting the command could leave packages half changed.
    pub is_harmful_to_interrupt: bool,
    /// Exit codes of a query that did not find everything.
    pub empty_codes: Option<RangeInclusive<i32>>,
}

impl ToolCommand {
    /// Creates a command that can be interrupted without harm.
    pub(crate) fn new(program: &'static str, title: &'static str, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { program, args, title, is_harmful_to_interrupt: false, empty_codes: None }
    }

    /// Sets the exit codes of a query that did not find everything.
    pub(crate) fn with_empty_codes(self, codes: RangeInclusive<i32>) -> Self {
        Self { empty_codes: Some(codes), ..self }
    }

    fn program(&self) -> Program {
        let program =
            Program::new(self.program).titled(self.title).with(self.args.iter().map(String::as_str));
        // The errors are found in both streams, below.
        let program = program.quoting(ErrorLines { max: 0, ..ErrorLines::default() });
        ENVIRONMENT.iter().fold(program, |program, (name, value)| program.env(name, *value))
    }
}

pub(crate) struct CommandOutput {
    pub stdout: String,
    pub stderr: String,
}

/// Runs a query. A short query runs even after a stop, so that the effect of a change can be verified.
pub(crate) async fn query(
    call: &ToolCommand,
    scope: ProgramScope<'_>,
    is_short: bool,
) -> Result<CommandOutput, Failure> {
    let program = call.program().time_limit(QUERY_TIMEOUT);
    let program = if is_short { program.patience(QUERY_TIMEOUT) } else { program };
    let finished = program.finish(Role::Query, scope).await?;
    evaluate_exit(call, &program, &finished)?;
    if finished.stdout.truncated() {
        let message = format!("the output of {} is too large", call.title);
        return Err(Failure::new(FailureKind::Read, message));
    }
    Ok(CommandOutput { stdout: text(&finished.stdout), stderr: text(&finished.stderr) })
}

/// Runs a command, again while another program holds a lock, each time with the full work timeout. Failures
/// report whether something may have changed.
pub(crate) async fn run_waiting_for_locks(
    call: &ToolCommand,
    limits: CommandLimits,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let scope = ProgramScope::from(&*context);
    let cancellation = scope.cancellation;
    if cancellation.level() > CancellationLevel::Go {
        return Err(stopped_failure(call));
    }
    let clock = scope.host.clock;
    let began = clock.monotonic();
    let stop_timeout = if call.is_harmful_to_interrupt { STOP_TIMEOUT } else { Duration::ZERO };
    let lock = ProgramLock { is_held: is_locked, timeout: limits.lock, retry_delay: LOCK_RETRY_DELAY };
    let program = call.program().time_limit(limits.work).patience(stop_timeout).locking(lock);
    let mut blocking_lock = None;
    let mut has_begun = false;
    let mut on_line = |stream, line: &str| {
        // dpkg may lose a lock in the middle of a change.
        has_begun |= stream == Stream::Stderr && line.starts_with(DPKG_ERROR);
        let Some(lock) = lock_in(line) else { return ControlFlow::Continue(()) };
        if blocking_lock.is_none() {
            if clock.monotonic().saturating_sub(began) < limits.lock {
                context.line(stream, &format!("waiting: {lock}"));
            }
            blocking_lock = Some(lock.to_owned());
        }
        // Nothing has started yet, and dnf would wait without a limit.
        if line.starts_with(WAITS_FOREVER) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let finished = program.finish_watched(Role::Tool, scope, &mut on_line).await;
    let ended = finished.and_then(|finished| {
        for process in &finished.left_running {
            context.note(left_running(process, ""));
        }
        let is_locked = program.is_locked(&finished);
        has_begun |= !is_locked && !text(&finished.stderr).contains(NOT_BEGUN);
        evaluate_exit(call, &program, &finished).map_err(|failure| {
            if !is_locked {
                return failure;
            }
            let message = if limits.lock.is_zero() {
                "another program is changing packages".to_owned()
            } else {
                format!("another program is still changing packages after {}", display_duration(limits.lock))
            };
            let waits = text(&finished.stderr).lines().any(|line| line.starts_with(WAITS_FOREVER));
            let is_over = cancellation.level() > CancellationLevel::Go;
            let mut locked = if waits && !is_over {
                // The exit by our signal explains nothing.
                let mut locked = Failure::new(failure.kind, message);
                locked.chain.extend(blocking_lock.iter().cloned());
                locked.output = failure.output;
                locked
            } else {
                failure.because_of(message)
            };
            locked.hints.push("raise `lock_timeout` to wait longer".to_owned());
            locked
        })
    });
    if let (Ok(()), Some(lock)) = (&ended, blocking_lock) {
        let took = display_duration(clock.monotonic().saturating_sub(began));
        context.warn(format!("waited for another program: {lock}; the command took {took} in total"));
    }
    ended.map_err(|failure| Failure { changed: call.is_harmful_to_interrupt && has_begun, ..failure })
}

/// Error of pacman before it changes anything.
const NOT_BEGUN: &str = "error: failed to prepare transaction";

/// Prefix of the line that dnf 5 prints before it waits without a limit.
const WAITS_FOREVER: &str = "Waiting for a lock on ";

/// Returns the part of a line that describes a lock held by another program.
fn lock_in(line: &str) -> Option<&str> {
    const SIGNS: [&str; 9] = [
        // apt, when it waits for a lock and when it gives up
        "Could not get lock",
        "is another process using it",
        // dpkg
        "is locked by another process",
        "was locked by another process",
        // dnf 4, when it gives up and when it waits
        "already locked by",
        "Waiting for process with pid",
        // dnf 5, when it waits; and its first versions, which did not wait
        WAITS_FOREVER,
        "Failed to obtain rpm transaction lock",
        // pacman
        "unable to lock database",
    ];
    if !SIGNS.iter().any(|sign| line.contains(sign)) {
        return None;
    }
    if line.starts_with(WAITS_FOREVER) {
        return line.split(['.', ';']).next();
    }
    let message = line.strip_prefix("E: ").unwrap_or(line);
    let message = message.strip_prefix("Waiting for cache lock: ").unwrap_or(message);
    // apt appends the seconds, and overwrites the line.
    Some(message.split("...").next().unwrap_or(message).trim_end())
}

/// Returns `true` if a tool gave up because of a lock.
fn is_locked(stderr: &str) -> bool {
    stderr.lines().any(|line| lock_in(line).is_some())
}

fn stopped_failure(call: &ToolCommand) -> Failure {
    Failure::new(FailureKind::Stopped, format!("{} was not started because the run is stopping", call.title))
}

/// Turns an unsuccessful exit into a failure with the errors of the tool and its last output.
fn evaluate_exit(call: &ToolCommand, program: &Program, finished: &Finished) -> Result<(), Failure> {
    let Some(mut failure) = program.failure(finished) else { return Ok(()) };
    if let Exit::Code(code) = finished.exit {
        let errors = errors(&text(&finished.stderr));
        if call.empty_codes.as_ref().is_some_and(|codes| codes.contains(&code)) && errors.is_empty() {
            return Ok(());
        }
        failure.chain.extend(errors);
        let stdout = text(&finished.stdout);
        failure.chain.extend(unmet_dependencies(&stdout).into_iter().chain(conflicts(&stdout)));
    }
    let both = [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)];
    failure.output = both.into_iter().filter_map(|(stream, captured)| tail(stream, captured)).collect();
    Err(failure)
}

const MAX_QUOTED: usize = 3;

/// Returns the errors printed: the first reasons of an unsolvable request, else the last errors.
fn errors(stderr: &str) -> Vec<String> {
    let problem = stderr.lines().skip_while(|line| !line.trim_start().starts_with(PROBLEM));
    let reasons: Vec<String> = problem.filter_map(error).take(MAX_QUOTED).map(str::to_owned).collect();
    if !reasons.is_empty() {
        return reasons;
    }
    let behind = stderr.lines().skip(1).map(Some).chain([None]);
    let message = stderr.lines().zip(behind).filter_map(|(line, next)| match next {
        // dpkg names the package first and the error on the next line.
        Some(next) if line.starts_with(DPKG_ERROR) && line.ends_with(':') && next.starts_with(' ') => {
            Some(format!("{line} {}", next.trim()))
        }
        _ => error(line).map(str::to_owned),
    });
    let mut errors: Vec<String> = message.collect();
    errors.split_off(errors.len().saturating_sub(MAX_QUOTED))
}

/// Returns the first unmet dependencies that apt printed, because its error line does not name them.
fn unmet_dependencies(stdout: &str) -> Vec<String> {
    let message =
        stdout.lines().skip_while(|line| *line != "The following packages have unmet dependencies:");
    let unmet_dependencies = message.skip(1).take_while(|line| line.starts_with(' '));
    unmet_dependencies.take(MAX_QUOTED).map(|line| line.trim().to_owned()).collect()
}

/// Returns the first conflicts that pacman printed, because its error line does not name the packages.
fn conflicts(stdout: &str) -> impl Iterator<Item = String> {
    let marked = stdout.lines().filter_map(|line| line.strip_prefix(":: "));
    // A question, which is answered with no, names the same packages.
    marked
        .filter(|line| line.contains(PACMAN_CONFLICT) && !line.contains('?'))
        .take(MAX_QUOTED)
        .map(|line| line.trim().to_owned())
}

/// Part of the line in which pacman names two packages that exclude each other.
pub(crate) const PACMAN_CONFLICT: &str = " are in conflict";

const DPKG_ERROR: &str = "dpkg: error";

/// Prefix of the reason of an unsolvable request in dnf; indented reasons with dashes follow.
const PROBLEM: &str = "Problem";

/// Returns the error in a line of apt, dpkg or dnf.
fn error(line: &str) -> Option<&str> {
    const SIGNS: [&str; 5] = ["E: ", "Error: ", "error: ", "  - ", ">>> [RPM] "];
    // Kept with their prefix: dpkg names itself first, and dnf 5 does not print `Error` here.
    const WHOLE: [&str; 5] = [
        DPKG_ERROR,
        "No match for argument: ",
        "Failed to download metadata ",
        "Failed to obtain ",
        "Transaction failed: ",
    ];
    let message = match line.trim_start().split_once(": ") {
        Some((head, message)) if head.starts_with(PROBLEM) => message,
        _ if WHOLE.iter().any(|sign| line.starts_with(sign)) => line,
        _ => SIGNS.iter().find_map(|sign| line.strip_prefix(sign))?,
    };
    Some(message.trim_end()).filter(|message| !message.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{errors, lock_in, unmet_dependencies};

    #[test]
    fn errors_are_extracted_from_output() {
        for (stderr, expected) in [
            (
                "Reading…\nW: old\nE: Unable to locate package nosuch\n",
                &["Unable to locate package nosuch"][..],
            ),
            ("Error: Unable to find a match: nosuch\n", &["Unable to find a match: nosuch"]),
            (
                "Error: \n Problem: conflicting requests\n  - nothing provides lib needed by app-1.0-1.noarch\n",
                &["conflicting requests", "nothing provides lib needed by app-1.0-1.noarch"],
            ),
            (
                "Failed to resolve the transaction:\nProblem 1: conflicting requests\n  - nothing provides lib needed by app\n",
                &["conflicting requests", "nothing provides lib needed by app"],
            ),
            ("E: 1\nE: 2\nE: 3\nE: 4\n", &["2", "3", "4"]),
            (
                "it breaks\ndpkg: error processing package broken (--configure):\n old broken package postinst maintainer script subprocess failed with exit status 3\nErrors were encountered while processing:\n broken\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
                &[
                    "dpkg: error processing package broken (--configure): old broken package postinst maintainer script subprocess failed with exit status 3",
                    "Sub-process /usr/bin/dpkg returned an error code (1)",
                ],
            ),
            (
                "Errors during downloading metadata for repository 'off':\n  - Curl error (7): no\nError: Failed to download metadata for repo 'off': no\n\
                 Error: \n Problem: problem with installed package\n  - 1\n  - 2\n  - 3\n",
                &["problem with installed package", "1", "2"],
            ),
            (
                "Repositories loaded.\nFailed to resolve the transaction:\nNo match for argument: nosuch\nYou can try to add to command line:\n  --skip-unavailable to skip unavailable packages\n",
                &["No match for argument: nosuch"],
            ),
            (
                "Failed to download metadata (baseurl: \"file:///srv/gone\") for repository \"off\": Usable URL not found\n",
                &[
                    "Failed to download metadata (baseurl: \"file:///srv/gone\") for repository \"off\": Usable URL not found",
                ],
            ),
            (
                "Running transaction\n>>> Running %pre scriptlet: broken-0:1.0-1.noarch\n>>> [RPM] %prein(broken-0:1.0-1.noarch) scriptlet failed, exit status 3\nTransaction failed: Rpm transaction failed.\nWarning: skipped OpenPGP checks\n",
                &[
                    "%prein(broken-0:1.0-1.noarch) scriptlet failed, exit status 3",
                    "Transaction failed: Rpm transaction failed.",
                ],
            ),
            ("Error: \nerror\n - x\n", &[]),
        ] {
            assert_eq!(errors(stderr), expected, "{stderr}");
        }
    }

    #[test]
    fn locks_of_other_programs_are_recognised() {
        for (line, expected) in [
            (
                "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (apt-get)",
                Some("Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (apt-get)"),
            ),
            (
                "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock. It is held by process 7 (dpkg)... 3s",
                Some("Could not get lock /var/lib/dpkg/lock. It is held by process 7 (dpkg)"),
            ),
            (
                "dpkg: error: dpkg frontend lock is locked by another process",
                Some("dpkg: error: dpkg frontend lock is locked by another process"),
            ),
            (
                "dpkg: error: dpkg frontend lock was locked by another process with pid 7",
                Some("dpkg: error: dpkg frontend lock was locked by another process with pid 7"),
            ),
            ("metadata already locked by 12", Some("metadata already locked by 12")),
            (
                "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
                Some(
                    "Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
                ),
            ),
            (
                "Waiting for process with pid 12 to finish.",
                Some("Waiting for process with pid 12 to finish."),
            ),
            (
                "Waiting for a lock on the system repository. The following processes are currently accessing it:",
                Some("Waiting for a lock on the system repository"),
            ),
            (
                "Waiting for a lock on the system repository; another process is currently accessing it. Use the \"--skip-file-locks\" option to bypass the lock.",
                Some("Waiting for a lock on the system repository"),
            ),
            (
                "Failed to obtain rpm transaction lock. Another transaction is in progress.",
                Some("Failed to obtain rpm transaction lock. Another transaction is in progress."),
            ),
            ("E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)", None),
            (
                "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
                None,
            ),
        ] {
            assert_eq!(lock_in(line), expected, "{line}");
        }
    }

    #[test]
    fn unmet_dependencies_are_extracted() {
        let heading = "The following packages have unmet dependencies:";
        for (printed, expected) in [
            ("Reading package lists...\n".to_owned(), vec![]),
            (
                format!(
                    "Reading state information...\n{heading}\n web : Depends: nowhere (>= 2)\nDone\n rest\n"
                ),
                vec!["web : Depends: nowhere (>= 2)"],
            ),
            (
                format!("{heading}\n a : Depends: x\n     Depends: y\n b : Conflicts: c\n d : Breaks: e\n"),
                vec!["a : Depends: x", "Depends: y", "b : Conflicts: c"],
            ),
        ] {
            assert_eq!(unmet_dependencies(&printed), expected, "{printed}");
        }
    }
}
