//! Calls of package tools: run with a fixed environment, waiting for locks, and judged.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Command, Exit, Finished, Host, Level};
use ccm_model::{Failure, FailureKind, Stream, display_duration};

use super::desired::Package;
use super::tool::QueryScope;
use crate::output_tail::{tail, text};

/// How long a call may take that asks the index, which may fetch it first.
const QUERY_TIMEOUT: Duration = Duration::from_secs(600);
/// How long a change of packages may go on after the run was asked to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(300);
/// The pause before another try where a lock is held.
const LOCK_RETRY_DELAY: Duration = Duration::from_secs(3);

/// What every call finds in its environment beside the base: nothing may ask a question.
const ENVIRONMENT: [(&str, &str); 3] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("APT_LISTBUGS_FRONTEND", "none"),
    ("APT_LISTCHANGES_FRONTEND", "none"),
];

/// How long a call may take that fetches or changes packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandLimits {
    /// While it works; none is for ever.
    pub work: Option<Duration>,
    /// While it waits for another program.
    pub lock: Duration,
}

impl CommandLimits {
    /// The longest of packages that are changed together.
    pub(crate) fn of<'p>(packages: impl Iterator<Item = &'p Package> + Clone) -> Self {
        let work = packages.clone().map(|package| package.timeout);
        let work = work.reduce(|one, other| Some(one?.max(other?))).flatten();
        Self { work, lock: packages.map(|package| package.lock_timeout).max().unwrap_or_default() }
    }
}

/// A call of a package tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCommand {
    pub program: &'static str,
    pub args: Vec<String>,
    /// What it is called in errors.
    pub title: &'static str,
    /// Whether to end it half way does harm.
    pub is_harmful_to_interrupt: bool,
}

impl ToolCommand {
    /// A call that does no harm if it is ended.
    pub(crate) fn new(program: &'static str, title: &'static str, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { program, args, title, is_harmful_to_interrupt: false }
    }

    fn command(&self, host: Host<'_>, timeout: Option<Duration>) -> Command {
        let mut environment = host.system.base_environment();
        environment.retain(|(name, _)| ENVIRONMENT.iter().all(|(fixed, _)| fixed != name));
        environment.extend(ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Command {
            args: self.args.iter().map(Into::into).collect(),
            environment,
            timeout,
            ..Command::new(PathBuf::from(self.program))
        }
    }
}

/// What a call printed that went well.
pub(crate) struct CommandOutput {
    pub stdout: String,
    pub stderr: String,
}

/// Asks, and returns what was printed. A question about what was done is asked even if the run is to stop.
pub(crate) async fn query(
    call: &ToolCommand,
    scope: QueryScope<'_>,
    is_short: bool,
) -> Result<CommandOutput, Failure> {
    let command = call.command(scope.host, Some(QUERY_TIMEOUT));
    let finished = if is_short {
        let host = Host { executor: scope.queries, ..scope.host };
        let mut ignore = |_, _: &str| ControlFlow::Continue(());
        host.run_patiently(&command, scope.cancellation, QUERY_TIMEOUT, &mut ignore).await
    } else {
        scope.queries.run_tool(&command, scope.cancellation, &mut |_, _| {}).await
    };
    let finished =
        evaluate_exit(call, finished.map_err(|error| Failure::from_error(FailureKind::Start, &error))?)?;
    if finished.stdout.truncated() {
        let message = format!("{} printed more than can be read", call.title);
        return Err(Failure::new(FailureKind::Read, message));
    }
    Ok(CommandOutput { stdout: text(&finished.stdout), stderr: text(&finished.stderr) })
}

/// Carries out a call, waiting for locks: one that finds a lock held ends, and is begun again with all of its time. A
/// failure says whether it may have changed something.
pub(crate) async fn run_waiting_for_locks(
    call: &ToolCommand,
    limits: CommandLimits,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let (host, cancellation) = (context.host, context.cancellation);
    let lock_timeout = limits.lock;
    let began = host.clock.monotonic();
    let time_left = || lock_timeout.saturating_sub(host.clock.monotonic().saturating_sub(began));
    let mut blocking_lock = None;
    let mut has_begun = false;
    let ended = loop {
        if cancellation.level() > Level::Go {
            break Err(stopped(call));
        }
        let command = call.command(host, limits.work);
        let mut waits = false;
        let mut on_line = |stream, line: &str| {
            let Some(lock) = lock_in(line) else { return ControlFlow::Continue(()) };
            if blocking_lock.is_none() {
                if !time_left().is_zero() {
                    context.line(stream, &format!("waiting: {lock}"));
                }
                blocking_lock = Some(lock.to_owned());
            }
            // Nothing was begun, and nobody else would end it.
            waits |= line.starts_with(WAITS_FOREVER);
            if waits { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stop_timeout = if call.is_harmful_to_interrupt { STOP_TIMEOUT } else { Duration::ZERO };
        let finished = match host.run_patiently(&command, cancellation, stop_timeout, &mut on_line).await {
            Ok(finished) => finished,
            Err(error) => break Err(Failure::from_error(FailureKind::Start, &error)),
        };
        for process in &finished.left_running {
            context.note(format!("left running: {} {}", process.pid, process.name));
        }
        let failed = finished.exit != Exit::Code(0);
        let stderr = text(&finished.stderr);
        let is_locked = failed && stderr.lines().any(|line| lock_in(line).is_some());
        // A lock that dpkg does not get may be one in the midst of a change.
        has_begun |= !is_locked || stderr.lines().any(|line| line.starts_with(DPKG_ERROR));
        let time_left = time_left();
        if is_locked
            && !time_left.is_zero()
            && host.pause(LOCK_RETRY_DELAY.min(time_left), cancellation).await
        {
            continue;
        }
        let is_over = cancellation.level() > Level::Go;
        let judged = evaluate_exit(call, finished).map(drop);
        break judged.map_err(|mut failure| {
            if !is_locked {
                return failure;
            }
            if waits && !is_over {
                // That it was ended says nothing.
                failure.chain = blocking_lock.iter().cloned().collect();
            }
            let message = if lock_timeout.is_zero() {
                "another program works on the packages".to_owned()
            } else {
                format!(
                    "another program still works on the packages after {}",
                    display_duration(lock_timeout)
                )
            };
            failure.because_of(message).with_hint("`lock_timeout` says how long to wait for it")
        });
    };
    let waited = host.clock.monotonic().saturating_sub(began);
    if let (Ok(()), Some(lock)) = (&ended, blocking_lock) {
        let took = display_duration(waited);
        context.warn(format!("had to wait for another program: {lock}; in all it took {took}"));
    }
    ended.map_err(|failure| Failure { changed: call.is_harmful_to_interrupt && has_begun, ..failure })
}

/// How a line begins with which dnf 5 starts to wait without an end.
const WAITS_FOREVER: &str = "Waiting for a lock on ";

/// What a line says of a lock that another program holds.
fn lock_in(line: &str) -> Option<&str> {
    const SIGNS: [&str; 8] = [
        // apt, as it looks for the lock, and as it gives up
        "Could not get lock",
        "is another process using it",
        // dpkg
        "is locked by another process",
        "was locked by another process",
        // dnf 4, as it gives up, and as it waits
        "already locked by",
        "Waiting for process with pid",
        // dnf 5, as it waits, and as it did not do yet in its first versions
        WAITS_FOREVER,
        "Failed to obtain rpm transaction lock",
    ];
    if !SIGNS.iter().any(|sign| line.contains(sign)) {
        return None;
    }
    if line.starts_with(WAITS_FOREVER) {
        return line.split(['.', ';']).next();
    }
    let message = line.strip_prefix("E: ").unwrap_or(line);
    let message = message.strip_prefix("Waiting for cache lock: ").unwrap_or(message);
    // apt counts the seconds behind it, in front of a line that it writes over.
    Some(message.split("...").next().unwrap_or(message).trim_end())
}

fn stopped(call: &ToolCommand) -> Failure {
    Failure::new(FailureKind::Stopped, format!("{} was not begun, because the run is to end", call.title))
}

/// Judges how a call ended.
fn evaluate_exit(call: &ToolCommand, finished: Finished) -> Result<Finished, Failure> {
    let title = call.title;
    let mut failure = match &finished.exit {
        Exit::Code(0) => return Ok(finished),
        Exit::Code(code) => {
            let message = format!("{title} failed with exit code {code}");
            let mut failure = Failure::new(FailureKind::Exit, message);
            failure.chain.extend(errors(&text(&finished.stderr)));
            failure.chain.extend(unmet_dependencies(&text(&finished.stdout)));
            failure
        }
        Exit::Signal { name, .. } => {
            Failure::new(FailureKind::Signal, format!("{title} was killed by {name}"))
        }
        Exit::TimedOut { after } => {
            let message = format!("{title} timed out after {}", display_duration(*after));
            Failure::new(FailureKind::Timeout, message)
        }
        Exit::Cancelled => {
            Failure::new(FailureKind::Stopped, format!("{title} was stopped because the run was"))
        }
    };
    for process in &finished.unkillable {
        let process = format!("{} {}", process.pid, process.name);
        failure.chain.push(format!("could not be killed, and still runs: {process}"));
    }
    let both = [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)];
    failure.output = both.into_iter().filter_map(|(stream, captured)| tail(stream, captured)).collect();
    Err(failure)
}

/// How many lines of one kind are message.
const MAX_QUOTED: usize = 3;

/// What the tool itself calls errors: the last few of them, but of why something can't be the first.
fn errors(stderr: &str) -> Vec<String> {
    let problem = stderr.lines().skip_while(|line| !line.trim_start().starts_with(PROBLEM));
    let reasons: Vec<String> = problem.filter_map(error).take(MAX_QUOTED).map(str::to_owned).collect();
    if !reasons.is_empty() {
        return reasons;
    }
    let behind = stderr.lines().skip(1).map(Some).chain([None]);
    let message = stderr.lines().zip(behind).filter_map(|(line, next)| match next {
        // dpkg names a package, and what is wrong with it on the next line.
        Some(next) if line.starts_with(DPKG_ERROR) && line.ends_with(':') && next.starts_with(' ') => {
            Some(format!("{line} {}", next.trim()))
        }
        _ => error(line).map(str::to_owned),
    });
    let mut errors: Vec<String> = message.collect();
    errors.split_off(errors.len().saturating_sub(MAX_QUOTED))
}

/// What apt found not to go together, the first few: its error says only that something does not.
fn unmet_dependencies(stdout: &str) -> Vec<String> {
    let message =
        stdout.lines().skip_while(|line| *line != "The following packages have unmet dependencies:");
    let unmet_dependencies = message.skip(1).take_while(|line| line.starts_with(' '));
    unmet_dependencies.take(MAX_QUOTED).map(|line| line.trim().to_owned()).collect()
}

/// How dpkg begins to say what is wrong.
const DPKG_ERROR: &str = "dpkg: error";

/// How dnf begins to say why something can't be: `Problem: …` or `Problem 1: …`, with reasons behind dashes below.
const PROBLEM: &str = "Problem";

/// What a line says of an error: of apt, of dnf, or of why something can't be.
fn error(line: &str) -> Option<&str> {
    const SIGNS: [&str; 4] = ["E: ", "Error: ", "  - ", ">>> [RPM] "];
    // dpkg names itself first, and dnf 5 does not call an error by that name.
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
    fn errors_are_told_without_what_stands_around_them() {
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
    fn locks_of_others_are_recognised() {
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
    fn what_does_not_go_together_is_found() {
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
