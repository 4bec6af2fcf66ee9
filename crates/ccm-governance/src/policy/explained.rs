//! What a command would do, and the verdict of the policy on it.

use std::path::PathBuf;

use ccm_host::{SEARCH_PATH, absolute};
use ccm_policy::{Analysis, Caller, Policy, PolicyDecision, PolicyRequest, RequestCommand, Workspace};
use ccm_shell::ShellDialect;

use super::judging::JudgedRequest;
use crate::governance::Governance;

/// Circumstances of a command to explain.
#[derive(Clone, Debug, Default)]
pub struct ExplainOptions {
    /// Caller; the default is a tool.
    pub caller: Option<Caller>,
    /// Workspace, instead of that of the policy.
    pub workspace: Option<PathBuf>,
    /// Restricts commands to the workspace, whatever the policy says.
    pub restrict: bool,
    /// Working directory; the default is the workspace, or else the current directory for a tool, and `/` for a manifest.
    pub directory: Option<PathBuf>,
    /// Home directory.
    pub home: Option<PathBuf>,
    /// User who calls.
    pub user: Option<String>,
}

/// Command to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgedText {
    /// Program and arguments.
    Words(Vec<String>),
    /// Text for a shell.
    Shell(String, ShellDialect),
}

/// Command with its analysis and the verdict on it.
#[derive(Clone, Debug)]
pub struct ExplainedCommand {
    /// Caller.
    pub caller: Caller,
    /// Working directory.
    pub directory: String,
    /// The text that locations of the analysis refer to.
    pub text: String,
    /// The analysis.
    pub analysis: Analysis,
    /// The decision.
    pub decision: PolicyDecision,
}

impl Governance {
    /// Judges a command under a policy. Nothing is run.
    pub fn explain_command(
        &self,
        policy: &Policy,
        command: JudgedText,
        options: &ExplainOptions,
    ) -> ExplainedCommand {
        let path = |path: &PathBuf| absolute(path).ok().and_then(|path| path.to_str().map(str::to_owned));
        let configured = policy.workspace();
        let workspace = options.workspace.as_ref().and_then(path).or_else(|| configured.path.clone());
        let caller = options.caller.unwrap_or(Caller::Tool);
        // A command of a manifest starts in `/`, wherever ccm itself was started.
        let own = if caller == Caller::Apply { None } else { path(&PathBuf::from(".")) };
        let of_tool = || workspace.clone().or_else(|| own.clone()).filter(|_| caller != Caller::Apply);
        let directory = options.directory.as_ref().and_then(path).or_else(of_tool);
        let directory = directory.unwrap_or_else(|| "/".to_owned());
        let home = options.home.as_ref().and_then(path).unwrap_or_else(|| "/root".to_owned());
        let is_restricted = options.restrict || configured.restrict;
        let command = match command {
            JudgedText::Words(words) => RequestCommand::Words(words),
            JudgedText::Shell(text, dialect) => RequestCommand::Text { text, dialect },
        };
        let workspace = match workspace {
            Some(path) => Some(Workspace { path, is_restricted }),
            None if is_restricted => Some(Workspace { path: directory.clone(), is_restricted }),
            None => own.clone().map(|path| Workspace { path, is_restricted }),
        };
        let request = PolicyRequest {
            environment: vec![("PATH".to_owned(), SEARCH_PATH.to_owned()), ("HOME".to_owned(), home)],
            workspace,
            command,
            ..PolicyRequest::words(Vec::<String>::new(), directory.clone())
        };
        let JudgedRequest { analysis, decision } =
            self.judge(policy, &request, caller, options.user.as_deref());
        ExplainedCommand { caller, directory, text: request.shown_text(), analysis, decision }
    }
}
