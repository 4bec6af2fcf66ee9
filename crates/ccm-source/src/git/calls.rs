//! Calls of git for a source.

use std::path::PathBuf;
use std::time::Duration;

use ccm_fetch::{git_advice, git_arguments, git_environment, git_error, git_following_error};
use ccm_host::{
    Cancellation, Command, CommandOrigin, Executor, Exit, Finished, Launch, Role, StartError, run_launched,
};
use ccm_model::Stream;

/// Time limit of a call that only works with what was fetched.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum number of errors of git in a message.
const MAX_ERRORS: usize = 4;
/// Size of the blocks in which a shell counts the size of files.
const BLOCK: u64 = 512;
/// Signal to a program whose file grows too large.
const FILE_SIZE_SIGNAL: i32 = 25;

/// Starts git within a limit of the size of its files.
const LIMITED: &str = "ulimit -f \"$0\" && exec git \"$@\"";

/// Variables of calls that reach no server: the configuration of the user and of the machine does not count.
const ISOLATED: [(&str, &str); 2] = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")];

/// Settings of every call: the whole history as it is, and no work in the background.
const SETTINGS: [&str; 8] = [
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    "core.commitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
];

/// git in a directory, for one source.
pub(crate) struct GitCalls<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) cancellation: &'a Cancellation,
    /// Variables of calls that reach a server: its proxies.
    pub(crate) environment: &'a [(String, String)],
    /// Settings for the server, such as the one transport that is allowed.
    pub(crate) settings: Vec<String>,
    pub(crate) directory: PathBuf,
    /// Maximum size of a file that git writes.
    pub(crate) max_file: u64,
}

/// Reason for which git has not done what it was called for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// git can't be started.
    #[error("git can't be started")]
    Start(#[source] StartError),
    /// git has failed.
    #[error("`git {call}` failed: {reason}")]
    Failed {
        /// Name of the call.
        call: String,
        /// Reason, as a clause.
        reason: String,
    },
    /// git has taken too long.
    #[error("`git {call}` had no end after {}", ccm_model::display_duration(*.after))]
    TimedOut {
        /// Name of the call.
        call: String,
        /// Time limit.
        after: Duration,
    },
    /// A file would be too large.
    #[error("what `git {call}` writes is larger than {limit} bytes")]
    TooLarge {
        /// Name of the call.
        call: String,
        /// Maximum size.
        limit: u64,
    },
    /// The output is too long to be kept.
    #[error("the output of `git {call}` is too long")]
    Output {
        /// Name of the call.
        call: String,
    },
}

impl GitCalls<'_> {
    /// Asks or fetches from the server.
    pub(crate) async fn remote(
        &self,
        args: &[&str],
        limit: Duration,
    ) -> Result<(Vec<u8>, Duration), GitError> {
        let finished = self.call(args, limit, self.environment.to_vec()).await?;
        match self.failure(args, &finished) {
            Some(error) => Err(error),
            None => Ok((output(args, &finished)?, finished.duration)),
        }
    }

    /// Reads or writes what was fetched.
    pub(crate) async fn local(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let finished = self.call(args, LOCAL_TIMEOUT, isolated()).await?;
        match self.failure(args, &finished) {
            Some(error) => Err(error),
            None => output(args, &finished),
        }
    }

    /// Returns the line that git prints about what was fetched.
    pub(crate) async fn line(&self, args: &[&str]) -> Result<String, GitError> {
        let printed = self.local(args).await?;
        Ok(String::from_utf8_lossy(&printed).trim_end().to_owned())
    }

    /// Asks what was fetched a question whose answer is yes or no.
    pub(crate) async fn is(&self, args: &[&str]) -> Result<bool, GitError> {
        let finished = self.call(args, LOCAL_TIMEOUT, isolated()).await?;
        match finished.exit {
            Exit::Code(0) => Ok(true),
            Exit::Code(1) => Ok(false),
            _ => Err(self.failure(args, &finished).unwrap_or_else(|| failed(args, String::new()))),
        }
    }

    async fn call(
        &self,
        args: &[&str],
        limit: Duration,
        further: Vec<(String, String)>,
    ) -> Result<Finished, GitError> {
        let mut environment = git_environment();
        // Nothing stands in place of what was signed.
        environment.push(("GIT_NO_REPLACE_OBJECTS".to_owned(), "1".to_owned()));
        environment.extend(further);
        let settings: Vec<&str> =
            SETTINGS.into_iter().chain(self.settings.iter().map(String::as_str)).collect();
        let blocks = self.max_file.div_ceil(BLOCK).to_string();
        let mut words = vec!["-c".to_owned(), LIMITED.to_owned(), blocks];
        words.extend(git_arguments(&self.directory, &settings, args));
        let launch = Launch { environment, ..Launch::default() };
        let command = |plan: &dyn ccm_host::LaunchPlan| {
            // Without it, the shell would say that it is missing.
            plan.command("git", &[])?;
            let command = plan.command("sh", &words)?;
            Ok(Command { timeout: Some(limit), origin: CommandOrigin::Ccm, role: Role::Query, ..command })
        };
        let mut on_line = |_: Stream, _: &str| {};
        let (finished, _closed) =
            run_launched(self.executor, &launch, command, self.cancellation, &mut on_line).await;
        finished.map_err(GitError::Start)
    }

    fn failure(&self, args: &[&str], finished: &Finished) -> Option<GitError> {
        let call = || args.first().copied().unwrap_or_default().to_owned();
        let printed = String::from_utf8_lossy(&finished.stderr.head);
        let too_large = || GitError::TooLarge { call: call(), limit: self.max_file };
        match &finished.exit {
            Exit::Code(0) => None,
            Exit::TimedOut { after } => Some(GitError::TimedOut { call: call(), after: *after }),
            Exit::Signal { number, .. } if *number == FILE_SIZE_SIGNAL => Some(too_large()),
            Exit::Code(_) if printed.contains(&format!("died of signal {FILE_SIZE_SIGNAL}")) => {
                Some(too_large())
            }
            exit => Some(failed(args, reason(exit, &printed, &self.directory))),
        }
    }
}

fn isolated() -> Vec<(String, String)> {
    ISOLATED.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

fn failed(args: &[&str], reason: String) -> GitError {
    GitError::Failed { call: args.first().copied().unwrap_or_default().to_owned(), reason }
}

/// Returns what a failure of git means: its cause in words, if it is known, and the errors that it printed.
fn reason(exit: &Exit, printed: &str, directory: &std::path::Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(git_advice(printed, directory).map(|(cause, _)| cause.to_owned()));
    // Several processes print at once, in any order. The same reason has to be the same text, and the cause is on the server.
    let mut lines: Vec<&str> = printed.lines().map(str::trim).collect();
    lines.sort_by_key(|line| (!line.starts_with("remote: "), *line));
    let lines = || lines.iter().copied();
    let mut errors: Vec<&str> = lines().filter_map(git_error).take(MAX_ERRORS).collect();
    if errors.is_empty() {
        errors.extend(lines().find_map(git_following_error));
    }
    errors.dedup();
    parts.extend(errors.into_iter().map(|error| error.trim_end_matches(['.', ':']).to_owned()));
    if parts.is_empty() {
        parts.push(match exit.code("git") {
            Ok(code) => format!("exit code {code}"),
            Err(failure) => failure.chain.join(": "),
        });
    }
    parts.join(": ")
}

fn output(args: &[&str], finished: &Finished) -> Result<Vec<u8>, GitError> {
    let printed = finished.printed_stdout();
    if printed.truncated() {
        return Err(GitError::Output { call: args.first().copied().unwrap_or_default().to_owned() });
    }
    Ok([&*printed.head, &*printed.tail].concat())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_reason_does_not_depend_on_the_order_of_lines() {
        let lines = [
            "remote: fatal: unable to read 00",
            "error: git upload-pack: git-pack-objects died with error.",
            "fatal: git upload-pack: aborting due to possible repository corruption on the remote side.",
            "remote: aborting due to possible repository corruption on the remote side.",
            "fatal: protocol error: bad pack header",
        ];
        let expected = reason(&Exit::Code(128), &lines.join("\n"), Path::new("/"));
        assert!(expected.starts_with("unable to read 00: "), "{expected}");
        for turn in 0..lines.len() {
            let mut turned = lines;
            turned.rotate_left(turn);
            assert_eq!(reason(&Exit::Code(128), &turned.join("\n"), Path::new("/")), expected, "{turn}");
            turned.reverse();
            assert_eq!(reason(&Exit::Code(128), &turned.join("\n"), Path::new("/")), expected, "{turn}");
        }
    }
}
