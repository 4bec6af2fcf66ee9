//! The launch of an exec, and the failure of a command that does not start.

use std::path::Path;

use ccm_host::{AccountError, BaseEnvironment, Command, ContainerSettings, Launch, LaunchPlan, StartError};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, escape_control, is_shell_builtin};
use ccm_redaction::Redactor;

use super::command::{CommandLine, CommandSyntax, Exec};
use super::executor::ExecutorSettings;
use super::programs::LIST_THEM;
use super::sandbox::SandboxProperties;

impl Exec {
    /// Returns the launch of the command and its guards. `directory` is that of the manifest.
    pub(crate) fn launch(&self, directory: &Path) -> Launch {
        let path = self.path.iter().map(|path| ("PATH".to_owned(), path.clone()));
        let mut launch = Launch {
            user: self.user.clone(),
            group: self.group.clone(),
            umask: self.umask,
            cwd: self.cwd.clone(),
            base: BaseEnvironment::Standard,
            environment: self.environment.iter().cloned().chain(path).collect(),
            timeout: self.timeout,
            sandbox: self.sandbox.as_ref().map(SandboxProperties::request),
            sensitive: self.sensitive,
            is_interpreted: self.syntax == CommandSyntax::Shell,
            manifest_directory: directory.to_owned(),
            container: None,
        };
        if let Some(settings) = &self.executor {
            settings.complete(&mut launch, format!("exec#{}", self.name));
        }
        if let Some(sandbox) = &self.sandbox {
            launch.base = sandbox.base_environment();
        }
        launch
    }

    /// Returns the settings of the container of the commands; `None` for this host.
    pub(crate) fn container(&self) -> Option<&ContainerSettings> {
        self.executor.as_ref().and_then(ExecutorSettings::container)
    }

    /// Returns the failure of a command that did not start, with advice. `program_base` is the base
    /// of a relative program path.
    pub(crate) fn start_failure(&self, error: &StartError, program_base: &Path) -> Failure {
        let mut failure = match error {
            // The name may be a secret.
            StartError::NotFound { name, .. } if self.sensitive => {
                let path = if name.contains('/') { "" } else { " in PATH" };
                let message = format!(
                    "a program of exec#{} was not found{path}; its name is not shown, because the exec is `sensitive`",
                    self.name
                );
                Failure::new(FailureKind::Start, message)
            }
            _ => error.failure(),
        };
        match error {
            StartError::NotFound { name, .. } if name.contains('/') && self.container().is_some() => {
                let image = self.container().map_or("", |container| &container.image);
                failure.hints.push(format!("check the path of the program: it has to be in the image `{image}` or in `volumes`"));
            }
            StartError::NotFound { name, .. } if name.contains('/') => {
                failure.missing = Some(MissingPrerequisite::Path(program_base.join(name)).into());
                if name.starts_with('~') {
                    failure.hints.push("`~` is not expanded: write the whole path".to_owned());
                } else if !name.starts_with('/') {
                    let what = if self.sandbox.is_some() { "the directory of the manifest" } else { "`cwd`" };
                    let hint = format!("write an absolute path, or a path relative to {what}, which is \"{}\"", program_base.display());
                    failure.hints.push(hint);
                }
            }
            StartError::NotFound { name, path } if self.container().is_some() => {
                let image = self.container().map_or("", |container| &container.image);
                let found_in = if path.is_empty() { "" } else { " (now " };
                let (path, end) = if path.is_empty() { ("", "") } else { (&**path, ")") };
                failure.hints.push(format!("check the name of the program: it has to be in PATH of the image `{image}`{found_in}{path}{end}"));
                failure.hints.extend(self.misuse_hint(name));
            }
            StartError::NotFound { name, path } => {
                failure.missing = Some(MissingPrerequisite::Program(name.clone()).into());
                failure.hints.push(format!("check the name of the program, or add its directory to PATH (now {path})"));
                failure.hints.extend(self.misuse_hint(name));
            }
            StartError::InterpreterMissing { interpreter, .. } => {
                failure.missing = Some(MissingPrerequisite::Path(interpreter.into()).into());
            }
            StartError::WorkingDirectory { path, .. } => {
                if self.container().is_none() {
                    failure.missing = Some(MissingPrerequisite::Path(path.clone()).into());
                }
                let executor =
                    self.executor.as_ref().filter(|executor| executor.work_dir.as_ref() == Some(path));
                if let Some(executor) = executor.filter(|_| self.cwd.is_none()) {
                    let name = escape_control(&executor.name);
                    failure.hints.push(format!("check `default_work_dir` of the executor `{name}`"));
                }
            }
            StartError::ClosedDirectory { directory, user, .. } => failure = closed(failure, directory, user),
            StartError::UnknownPrograms { .. } => failure.hints.push(LIST_THEM.to_owned()),
            StartError::SandboxPath { property, path, .. } if property == "programs" => {
                failure.missing = Some(missing_program(path).into());
                let hint = "check the spelling, install the program with an earlier resource, or leave it out";
                failure.hints.push(hint.to_owned());
            }
            StartError::SandboxPath { path, source, .. } => {
                failure.missing = Some(MissingPrerequisite::Path(path.clone()).into());
                if source.kind() == std::io::ErrorKind::NotFound {
                    let hint = "create the path with an earlier resource: a sandbox opens only existing paths";
                    failure.hints.push(hint.to_owned());
                }
            }
            StartError::DirectoryOutsideSandbox { .. } => {
                failure.hints.push("add the directory to `read`, or use `workdir`".to_owned());
            }
            StartError::OutsideSandbox { .. } => {
                failure.hints.push("open the directory of the program with `read` of the sandbox".to_owned());
            }
            StartError::NotAllowedInSandbox { directory, .. } => failure.hints.push(format!(
                "use a program of the system by its name; other programs must be below \"{}\" or in `workdir`",
                directory.display()
            )),
            StartError::NotEnforceable { .. } => {
                failure
                    .hints
                    .push("use a kernel with these features or, if you trust the command, set `advisory: true` to run it without these protections".to_owned());
            }
            StartError::Account { source, .. } => {
                if let Some((name, hint)) = unknown_principal(source) {
                    failure.missing = Some(MissingPrerequisite::Principal(name).into());
                    failure.hints.push(hint.to_owned());
                }
            }
            StartError::NoContainers => {
                failure.hints.push("build ccm with the feature `docker`".to_owned());
            }
            StartError::OwnIdentity { .. } => failure.kind = FailureKind::Read,
            _ => {}
        }
        failure.property = failure.property.or_else(|| property(error).map(Into::into));
        if self.sensitive {
            self.redact_texts(&mut failure);
        }
        failure
    }

    fn redact_texts(&self, failure: &mut Failure) {
        let redactor = Redactor::new(self.texts_to_redact());
        for text in failure.chain.iter_mut().chain(&mut failure.hints) {
            *text = redactor.redact(text).into_owned();
        }
    }

    /// Returns advice for a name that is probably not a program.
    fn misuse_hint(&self, name: &str) -> Option<String> {
        if self.syntax == CommandSyntax::Words
            && (is_shell_builtin(name) || matches!(name, "command" | "type"))
        {
            return Some(format!("`{name}` is a shell builtin: add `provider: shell`"));
        }
        if name.contains('=') {
            return Some("use `environment` to set variables".to_owned());
        }
        self.command_is_name
            .then(|| "set `command`: without it, the name of the resource is the command".to_owned())
    }
}

impl CommandLine {
    pub(crate) fn command(&self, exec: &Exec, plan: &dyn LaunchPlan) -> Result<Command, Failure> {
        let command = plan.command(&self.program, &self.args);
        let mut command = command.map_err(|error| exec.start_failure(&error, plan.program_base()))?;
        exec.allow_programs(self, &mut command)?;
        Ok(command)
    }
}

/// Adds what an earlier resource could change, and advice, to the failure of a directory that the user may not enter.
fn closed(failure: Failure, directory: &Path, user: &str) -> Failure {
    let missing = MissingPrerequisite::Path(directory.to_owned());
    failure.with_missing(missing).with_hint(format!("use a `cwd` that `{user}` may enter"))
}

/// Returns what an earlier resource could bring: a program by its name, or the file at its path.
fn missing_program(path: &Path) -> MissingPrerequisite {
    if path.is_absolute() {
        return MissingPrerequisite::Path(path.to_owned());
    }
    MissingPrerequisite::Program(path.display().to_string())
}

/// Returns the property that caused an error, for a failure that names none.
fn property(error: &StartError) -> Option<&'static str> {
    match error {
        StartError::WorkingDirectory { .. }
        | StartError::ClosedDirectory { .. }
        | StartError::DirectoryOutsideSandbox { .. } => Some("cwd"),
        StartError::NotFound { .. }
        | StartError::IsDirectory { .. }
        | StartError::NotExecutable { .. }
        | StartError::MountedNoexec { .. }
        | StartError::NoInterpreter { .. }
        | StartError::InterpreterMissing { .. }
        | StartError::LoaderMissing { .. }
        | StartError::OutsideSandbox { .. }
        | StartError::NotAllowedInSandbox { .. }
        | StartError::UnknownPrograms { .. }
        | StartError::Spawn { .. } => Some("command"),
        _ => None,
    }
}

/// Returns the name of a user or group that an earlier resource could make, and advice.
fn unknown_principal(error: &AccountError) -> Option<(String, &'static str)> {
    match error {
        AccountError::NoUser { name } | AccountError::NoGroup { name } => {
            Some((name.clone(), "check the spelling, or create this user or group with an earlier resource"))
        }
        AccountError::NoEntry { number } => {
            Some((number.to_string(), "use a user that has an entry, or create one with an earlier resource"))
        }
        _ => None,
    }
}
