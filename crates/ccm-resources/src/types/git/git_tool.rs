//! Calls of git that ask nothing and run no code of the repository.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Finished, Launch, Role};
use ccm_model::{Failure, FailureKind, Stream};

use super::desired::DesiredCheckout;
use super::remote::GitUrl;
use crate::support::output_tail::{tail, text};
use crate::support::program::{ErrorLines, Program};

/// Time limit of a call that only reads the checkout.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum time for which a repository may leave a question about its revisions unanswered.
const MAX_ANSWER: Duration = Duration::from_secs(60);

/// Errors of git, each of which is printed with its cause.
const ERRORS: ErrorLines = ErrorLines { of_line: error, max: 4, is_last: false };

/// Variables that prevent questions. A password can come from a credential helper, and a key from the agent or from
/// the configuration of ssh.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("SSH_ASKPASS", "/bin/false"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=30"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// Settings that take precedence over those of the checkout: no hooks, no other programs, no processes in the background,
/// no transports that run commands, and an end of transfers that stand still.
const SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "transfer.credentialsInUrl=die",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "advice.detachedHead=false",
    "init.defaultBranch=main",
];

/// git, as the user of a checkout runs it.
pub(crate) struct GitTool {
    launch: Launch,
    directory: PathBuf,
    /// A local repository may have local submodules.
    allows_local_submodules: bool,
    timeout: Option<Duration>,
}

impl GitTool {
    pub(crate) fn of(desired: &DesiredCheckout, directory: &Path) -> Self {
        let environment = ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self {
            launch: Launch { user: desired.user.clone(), environment, ..Launch::default() },
            directory: directory.to_owned(),
            allows_local_submodules: desired.url.as_ref().is_some_and(GitUrl::is_local),
            timeout: desired.timeout,
        }
    }

    /// Reads the checkout.
    pub(crate) async fn read(&self, args: &[&str], context: &Context<'_>) -> Result<String, Failure> {
        self.run(args, Role::Query, Some(LOCAL_TIMEOUT), context).await
    }

    /// Asks the repository something.
    pub(crate) async fn ask(&self, args: &[&str], context: &Context<'_>) -> Result<String, Failure> {
        let limit = self.timeout.map_or(MAX_ANSWER, |timeout| timeout.min(MAX_ANSWER));
        self.run(args, Role::Query, Some(limit), context).await
    }

    /// Changes the checkout.
    pub(crate) async fn change(&self, args: &[&str], context: &Context<'_>) -> Result<(), Failure> {
        self.run(args, Role::Tool, self.timeout, context).await.map(drop)
    }

    async fn run(
        &self,
        args: &[&str],
        role: Role,
        timeout: Option<Duration>,
        context: &Context<'_>,
    ) -> Result<String, Failure> {
        let local = if self.allows_local_submodules { "always" } else { "user" };
        let (directory, local) =
            (self.directory.display().to_string(), format!("protocol.file.allow={local}"));
        let what = args.first().copied().unwrap_or_default();
        let program = Program::new("git").titled(format!("`git {what}`")).in_package("`git`").quoting(ERRORS);
        let program =
            program.with(["-C", &directory]).with(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        let program = program.with(["-c", &local]).with(args.iter().copied());
        let program = program.time_limit(timeout).launched(self.launch.clone());
        let finished = program.finish(role, context).await?;
        let Some(failure) = program.failure(&finished) else {
            // What a change prints does not matter.
            return if role == Role::Query { program.output(&finished) } else { Ok(String::new()) };
        };
        Err(explained(failure, &finished))
    }
}

/// Adds advice to the failure of git, and what git printed.
fn explained(mut failure: Failure, finished: &Finished) -> Failure {
    if failure.kind == FailureKind::Timeout {
        return failure.with_hint("check the network and the server, or raise `timeout`");
    }
    if failure.kind != FailureKind::Exit {
        return failure;
    }
    failure.output.extend(tail(Stream::Stderr, &finished.stderr));
    match advice(&text(&finished.stderr)) {
        Some((message, hint)) => failure.because_of(message).with_hint(hint),
        None => failure,
    }
}

/// Returns the error in a line of git.
fn error(line: &str) -> Option<&str> {
    let error = line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: "))?;
    (!error.contains("/bin/false")).then_some(error)
}

/// Returns the cause of a known failure, and what can be done.
fn advice(stderr: &str) -> Option<(&'static str, &'static str)> {
    let has = |signs: &[&str]| signs.iter().any(|sign| stderr.contains(sign));
    if has(&["could not read Username", "could not read Password", "Authentication failed"]) {
        return Some((
            "the repository asks for a password, and git has none",
            "store the password with a credential helper of git for the `user`, or use ssh with a key",
        ));
    }
    if has(&["Host key verification failed"]) {
        return Some((
            "ssh does not know the key of the server",
            "add the key of the server to `/etc/ssh/ssh_known_hosts`, after a comparison with the published one",
        ));
    }
    if has(&["Permission denied (publickey"]) {
        return Some((
            "the server accepts no key of the user who runs git",
            "add the public key of that user to the server, or set another `user`",
        ));
    }
    if has(&["detected dubious ownership"]) {
        return Some((
            "git reads no local repository of another user",
            "set `user` to the owner of the repository in `url`",
        ));
    }
    if has(&["does not appear to be a git repository", "Repository not found", "/' not found"]) {
        return Some(("there is no repository at this address", "check `url`"));
    }
    if has(&["unable to access", "Could not resolve host", "unable to connect", "Connection timed out"]) {
        return Some((
            "the repository can't be reached",
            "check `url`, and that the server runs; a proxy or firewall may be in between",
        ));
    }
    if has(&["would be overwritten by checkout"]) {
        return Some((
            "files that git does not know are in the way",
            "move them away; `force: true` overwrites them",
        ));
    }
    if has(&[".lock': File exists"]) {
        return Some((
            "another git works in this checkout, or died in it",
            "wait for it to end, or remove the lock file if no git is running",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_and_explained() {
        let printed = "Cloning into 'a'...\nerror: unable to read askpass response from '/bin/false'\n\
                       fatal: could not read Username for 'https://example.com': terminal prompts disabled\n\
                       fatal: could not read Username for 'https://example.com': terminal prompts disabled\n";
        let errors: Vec<&str> = printed.lines().filter_map(error).collect();
        assert_eq!(
            errors,
            ["could not read Username for 'https://example.com': terminal prompts disabled"; 2]
        );
        assert!(advice(printed).is_some_and(|(message, _)| message.contains("password")));
        for (printed, expected) in [
            ("fatal: '/srv/a.git' does not appear to be a git repository\n", "no repository at this address"),
            ("fatal: repository 'http://example.com/a.git/' not found\n", "no repository at this address"),
            (
                "fatal: unable to access 'http://127.0.0.1:1/a/': Failed to connect to 127.0.0.1 port 1\n",
                "can't be reached",
            ),
            ("ssh: connect to host 192.0.2.1 port 22: Connection timed out\n", "can't be reached"),
        ] {
            let found = advice(printed);
            assert!(found.is_some_and(|(message, _)| message.contains(expected)), "{printed}: {found:?}");
        }
        assert_eq!(advice("fatal: something else\n"), None);
    }
}
