//! Calls that are ready to be judged and run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use ccm_host::{Account, Command, canonical_path, search_path};
use ccm_model::sha256;
use ccm_policy::{Caller, GuardMessage, Policy, PolicyRequest, Workspace};
use ccm_runtime::policy::JudgedRequest;
use ccm_runtime::{Commands, Session};
use ccm_shell::ShellDialect;
use serde_json::{Value, json};

use crate::call::{CodeLanguage, CommandCall, CommandText};
use crate::caller::ToolCaller;
use crate::runtimes::{self, LanguageRuntime, RuntimeMissing};
use crate::sandbox::{self, CallSandbox};
use crate::served_user::ServedUser;

/// Reason why a call can't be prepared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    /// No program runs the language of the code.
    #[error(transparent)]
    Runtime(#[from] RuntimeMissing),
    /// The service can't look at the machine as its caller.
    #[error("the service can't look at files as its caller")]
    View(#[from] io::Error),
}

impl PrepareError {
    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Runtime(missing) => missing.hint(),
            Self::View(_) => "let an operator look at the messages of the service",
        }
    }
}

/// Call that is ready to be judged and run.
pub(crate) struct PreparedCall {
    pub(crate) call: CommandCall,
    pub(crate) judged: JudgedRequest,
    /// Working directory, absolute.
    pub(crate) directory: PathBuf,
    /// Workspace, absolute.
    pub(crate) workspace: PathBuf,
    pub(crate) timeout: Duration,
    pub(crate) start: CallStart,
    pub(crate) sandbox: CallSandbox,
    /// The command as it is recorded: code and scripts are its last argument, behind the name of their file.
    pub(crate) described: Command,
    /// Error of a working directory outside the workspace.
    pub(crate) refused_directory: Option<GuardMessage>,
    /// Account that the command runs as; `None` is that of ccm.
    pub(crate) account: Option<Account>,
}

/// Start of a call.
pub(crate) enum CallStart {
    /// A program with arguments.
    Program(String, Vec<String>),
    /// A program with arguments and a file, which is written to a private directory.
    File {
        /// The program.
        program: String,
        /// Arguments in front of the file.
        arguments: Vec<String>,
        /// Name of the file.
        name: &'static str,
        /// Its content.
        content: String,
    },
}

impl CallStart {
    /// Returns the words of the command as they are recorded: behind the name of a file stands its content.
    fn recorded(&self) -> Vec<String> {
        match self {
            Self::Program(program, arguments) => std::iter::once(program).chain(arguments).cloned().collect(),
            Self::File { program, arguments, name, content } => std::iter::once(program)
                .chain(arguments)
                .cloned()
                .chain([(*name).to_owned(), content.clone()])
                .collect(),
        }
    }
}

/// Circumstances of a call.
pub(crate) struct CallPlace<'p> {
    pub(crate) session: &'p Session,
    pub(crate) commands: &'p dyn Commands,
    pub(crate) policy: &'p Policy,
    pub(crate) caller: &'p ToolCaller,
    /// Directory of calls where neither the call nor the policy names one.
    pub(crate) directory: &'p Path,
    /// User whom a service serves.
    pub(crate) served: Option<&'p ServedUser>,
}

impl PreparedCall {
    /// Resolves a call, and judges its command. Nothing of the call is run.
    pub(crate) async fn prepare(call: CommandCall, place: &CallPlace<'_>) -> Result<Self, PrepareError> {
        let CallPlace { session, commands, policy, caller, .. } = place;
        let configured = policy.workspace();
        let default = configured.path.as_ref().map_or_else(|| place.directory.to_owned(), PathBuf::from);
        let written = call.directory.as_deref().map(Path::new);
        let directory = normal(&written.map_or_else(|| default.clone(), |path| default.join(path)));
        // The caller must not choose what may be written.
        let workspace = default;
        let refused_directory = written
            .filter(|_| configured.restrict)
            .and_then(|written| refused(written, &directory, &workspace));
        let account = place.served.map(|served| served.account.clone());
        let base = match &account {
            Some(account) => commands.environment_of(account),
            None => commands.base_environment(),
        };
        let path = search_path(&base).unwrap_or_default();
        let runtime = match &call.text {
            CommandText::Code(language, _) => Some(runtimes::find(*language, path, *commands).await?),
            _ => None,
        };
        let (start, words) = start(&call.text, runtime.as_ref());
        let shown = |path: &Path| path.display().to_string();
        let environment = base.into_iter().map(|(name, value)| match &*name {
            "HOME" => (name, shown(&workspace)),
            _ => (name, value),
        });
        let text = match &call.text {
            CommandText::Shell(text) => Some((text, ShellDialect::Sh)),
            CommandText::Bash(text) => Some((text, ShellDialect::Bash)),
            _ => None,
        };
        let request = match text {
            Some((text, dialect)) => PolicyRequest::text(text.clone(), dialect, shown(&directory)),
            None => PolicyRequest::words(words, shown(&directory)),
        };
        let request = PolicyRequest {
            environment: environment.collect(),
            added_variables: call.environment.clone(),
            closed_variables: true,
            workspace: Some(Workspace { path: shown(&workspace), is_restricted: configured.restrict }),
            ..request
        };
        let judge = || session.governance().judge(policy, &request, Caller::Tool, Some(&caller.user));
        let judged = ServedUser::view(place.served, judge)?;
        let sandbox = sandbox::choose(policy, &judged.analysis, &judged.decision, &workspace);
        let limits = policy.limits();
        let most = call.tool.max_timeout().unwrap_or(limits.max_timeout).min(limits.max_timeout);
        let timeout = call.timeout.unwrap_or(limits.timeout).min(most);
        let mut words = start.recorded().into_iter();
        let program = words.next().unwrap_or_default();
        let described = Command {
            args: words.map(Into::into).collect(),
            cwd: directory.clone(),
            timeout: Some(timeout),
            ..Command::new(program)
        };
        Ok(Self {
            call,
            judged,
            directory,
            workspace,
            timeout,
            start,
            sandbox,
            described,
            refused_directory,
            account,
        })
    }

    /// Returns what would run, as an object. Two calls with the same object are the same action.
    pub(crate) fn action(&self, user: &str) -> Value {
        let argv: Vec<String> = std::iter::once(self.described.program.display().to_string())
            .chain(self.described.args.iter().map(|argument| argument.to_string_lossy().into_owned()))
            .collect();
        let environment: serde_json::Map<String, Value> = self
            .call
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), sha256(format!("{name}\0{value}").as_bytes()).into()))
            .collect();
        json!({
            "tool": self.call.tool.name(),
            "argv": argv,
            "cwd": self.directory.display().to_string(),
            "user": user,
            "env": self.call.environment.iter().cloned().collect::<BTreeMap<_, _>>(),
            "env_sha256": environment,
            "timeout_ms": u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            "sandbox": self.sandbox.json(),
        })
    }

    /// Returns the language of code that the guard can't read.
    pub(crate) fn code(&self) -> Option<CodeLanguage> {
        match self.call.text {
            CommandText::Code(language, _) => Some(language),
            _ => None,
        }
    }

    /// Returns the command and its arguments for the answer.
    pub(crate) fn shown_command(&self) -> (String, Vec<String>) {
        match &self.call.text {
            CommandText::Words(words) => {
                (words.first().cloned().unwrap_or_default(), words.get(1..).unwrap_or_default().to_vec())
            }
            CommandText::Shell(text) => (text.clone(), Vec::new()),
            CommandText::Bash(_) => ("bash".to_owned(), Vec::new()),
            CommandText::Code(..) => {
                let CallStart::File { program, .. } = &self.start else { return (String::new(), Vec::new()) };
                (program.clone(), Vec::new())
            }
        }
    }
}

/// Returns how a command starts, and the words that stand for the start where the command is judged.
fn start(text: &CommandText, runtime: Option<&LanguageRuntime>) -> (CallStart, Vec<String>) {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match (text, runtime) {
        (CommandText::Words(words), _) => {
            let program = words.first().cloned().unwrap_or_default();
            (CallStart::Program(program, words.get(1..).unwrap_or_default().to_vec()), words.clone())
        }
        (CommandText::Shell(text), _) => {
            let arguments = owned(&["-c", text]);
            (CallStart::Program("/bin/sh".to_owned(), arguments), owned(&["/bin/sh", "-c", text]))
        }
        (CommandText::Bash(text), _) => {
            let start = CallStart::File {
                program: "bash".to_owned(),
                arguments: Vec::new(),
                name: "script.sh",
                content: text.clone(),
            };
            (start, owned(&["bash", "-c", text]))
        }
        (CommandText::Code(_, code), Some(runtime)) => {
            let start = CallStart::File {
                program: runtime.program.to_owned(),
                arguments: owned(runtime.arguments),
                name: runtime.file,
                content: code.clone(),
            };
            (start, owned(&[runtime.program, runtime.inline, code]))
        }
        // Code always has a runtime: `prepare` finds one or fails.
        (CommandText::Code(..), None) => (CallStart::Program(String::new(), Vec::new()), Vec::new()),
    }
}

/// Removes `.` and `..` without a look at links.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::Normal(name) => normal.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

/// Returns the message about a working directory outside the workspace.
fn refused(written: &Path, directory: &Path, workspace: &Path) -> Option<GuardMessage> {
    if written.components().any(|part| part == Component::ParentDir) {
        return Some(GuardMessage::PathTraversal);
    }
    let real = |path: &Path| canonical_path(path).unwrap_or_else(|| path.to_owned());
    (!real(directory).starts_with(real(workspace))).then_some(GuardMessage::OutsideWorkingDirectory)
}
