//! Calls of git that ask nothing and run no code of the repository.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_engine::Context;
use ccm_fetch::{git_arguments, git_environment};
use ccm_host::{Launch, Role};
use ccm_model::Failure;

use super::desired::DesiredCheckout;
use super::git_errors::{ERRORS, explained};
use super::remote::GitUrl;
use crate::support::program::Program;

/// Time limit of a call that only reads the checkout.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum time for which a repository may leave a question about its revisions unanswered.
const MAX_ANSWER: Duration = Duration::from_secs(60);

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
        let launch =
            Launch { user: desired.user.clone(), environment: git_environment(), ..Launch::default() };
        Self {
            launch,
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
        let local = format!("protocol.file.allow={local}");
        let what = args.first().copied().unwrap_or_default();
        let program = Program::new("git").titled(format!("`git {what}`")).in_package("`git`").quoting(ERRORS);
        let arguments = git_arguments(&self.directory, &[&local], args);
        let program = program.with(arguments.iter().map(String::as_str));
        let program = program.time_limit(timeout).launched(self.launch.clone());
        let finished = program.finish(role, context).await?;
        let Some(failure) = program.failure(&finished) else {
            // What a change prints does not matter.
            return if role == Role::Query { program.output(&finished) } else { Ok(String::new()) };
        };
        Err(explained(failure, &self.directory, &finished))
    }
}
