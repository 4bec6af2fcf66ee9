//! Helper programs of the system, such as `useradd`: the call, and the failure that its end means.

mod end;
#[cfg(test)]
mod hostile;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{
    Cancellation, Command, CommandOrigin, Executor, Finished, Host, Launch, Role, StartError, run_launched,
};
use ccm_model::{Failure, Stream};

pub(crate) use end::{ErrorLines, start_failure};

/// Time limit unless [`Program::time_limit`] sets another. A server of a file system may be slow.
const TIMEOUT: Duration = Duration::from_secs(300);

/// What a helper program needs of a run.
#[derive(Clone, Copy)]
pub struct ProgramScope<'a> {
    /// Doors to the machine. Their executor runs programs that change something.
    pub host: Host<'a>,
    /// Executor of programs that change nothing.
    pub queries: &'a dyn Executor,
    /// Cancellation from outside.
    pub cancellation: &'a Cancellation,
}

impl<'a> From<&Context<'a>> for ProgramScope<'a> {
    fn from(context: &Context<'a>) -> Self {
        Self { host: context.host, queries: context.queries, cancellation: context.cancellation }
    }
}

/// Lock that another process may hold while a program wants it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramLock {
    /// Returns `true` for the standard error of a program that gave up because of the lock.
    pub is_held: fn(&str) -> bool,
    /// Time to wait for the lock in all.
    pub timeout: Duration,
    /// Delay before the next try.
    pub retry_delay: Duration,
}

/// Call of a helper program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    name: String,
    args: Vec<String>,
    title: String,
    packages: Option<&'static str>,
    environment: Vec<(&'static str, String)>,
    stdin: Option<Vec<u8>>,
    is_sensitive: bool,
    timeout: Option<Duration>,
    patience: Option<Duration>,
    launch: Option<Launch>,
    lock: Option<ProgramLock>,
    errors: ErrorLines,
}

impl Program {
    /// Creates a call without arguments. A name with a slash is a path.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            args: Vec::new(),
            packages: None,
            environment: Vec::new(),
            stdin: None,
            is_sensitive: false,
            timeout: Some(TIMEOUT),
            patience: None,
            launch: None,
            lock: None,
            errors: ErrorLines::default(),
        }
    }

    /// Adds arguments.
    pub(crate) fn with<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    /// Sets the name in messages, which is that of the program by default.
    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Names the packages with the program, as in `` `passwd` (Debian family) ``.
    pub(crate) fn in_package(self, packages: &'static str) -> Self {
        Self { packages: Some(packages), ..self }
    }

    /// Sets a variable over the base environment.
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Sets the text of standard input.
    pub(crate) fn stdin(self, text: impl Into<Vec<u8>>) -> Self {
        Self { stdin: Some(text.into()), ..self }
    }

    /// Keeps the call out of debug messages.
    pub(crate) fn sensitive(self) -> Self {
        Self { is_sensitive: true, ..self }
    }

    /// Sets the time limit; `None` is no limit.
    pub(crate) fn time_limit(self, limit: impl Into<Option<Duration>>) -> Self {
        Self { timeout: limit.into(), ..self }
    }

    /// Lets the program go on for this time after a stop of the run.
    pub(crate) fn patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Starts the program as a launch says, whose environment counts.
    pub(crate) fn launched(self, launch: Launch) -> Self {
        Self { launch: Some(launch), ..self }
    }

    /// Starts the program again while another process holds a lock.
    pub(crate) fn locking(self, lock: ProgramLock) -> Self {
        Self { lock: Some(lock), ..self }
    }

    /// Sets the lines of standard error that a failure quotes.
    pub(crate) fn quoting(self, errors: ErrorLines) -> Self {
        Self { errors, ..self }
    }

    /// Returns the arguments.
    pub(crate) fn args(&self) -> &[String] {
        &self.args
    }

    /// Returns `true` if the program can be found.
    pub(crate) fn is_installed(&self, host: Host<'_>) -> bool {
        host.system.find_helper(&self.name).is_ok()
    }

    /// Runs the program, which changes something.
    pub(crate) async fn run(&self, scope: impl Into<ProgramScope<'_>>) -> Result<(), Failure> {
        let finished = self.finish(Role::Tool, scope).await?;
        self.failure(&finished).map_or(Ok(()), Err)
    }

    /// Runs the program, which changes nothing, and returns its whole standard output.
    pub(crate) async fn query(&self, scope: impl Into<ProgramScope<'_>>) -> Result<String, Failure> {
        self.output(&self.finish(Role::Query, scope).await?)
    }

    /// Runs the program to its end, whatever that is.
    pub(crate) async fn finish(
        &self,
        role: Role,
        scope: impl Into<ProgramScope<'_>>,
    ) -> Result<Finished, Failure> {
        self.finish_watched(role, scope.into(), &mut |_, _| ControlFlow::Continue(())).await
    }

    /// Runs the program as [`Self::finish`] does, and hands on its lines. `Break` terminates a program with patience.
    pub(crate) async fn finish_watched(
        &self,
        role: Role,
        scope: ProgramScope<'_>,
        on_line: &mut LineWatcher<'_>,
    ) -> Result<Finished, Failure> {
        let clock = scope.host.clock;
        let began = clock.monotonic();
        let mut left_running = Vec::new();
        loop {
            let finished = self.run_once(role, scope, on_line).await;
            let mut finished =
                finished.map_err(|error| start_failure(&error, self.install_hint().as_deref()))?;
            left_running.append(&mut finished.left_running);
            if let Some(lock) = self.lock.filter(|_| self.is_locked(&finished)) {
                let left = lock.timeout.saturating_sub(clock.monotonic().saturating_sub(began));
                let delay = lock.retry_delay.min(left);
                if !left.is_zero() && scope.host.pause(delay, scope.cancellation).await {
                    continue;
                }
            }
            return Ok(Finished { left_running, ..finished });
        }
    }

    async fn run_once(
        &self,
        role: Role,
        scope: ProgramScope<'_>,
        on_line: &mut LineWatcher<'_>,
    ) -> Result<Finished, StartError> {
        let ProgramScope { host, cancellation, queries } = scope;
        let executor = if role == Role::Query { queries } else { host.executor };
        let mut unpatient = |stream, line: &str| {
            let _endures = on_line(stream, line);
        };
        if let Some(launch) = &self.launch {
            let command = |plan: &dyn ccm_host::LaunchPlan| {
                Ok(self.complete(plan.command(&self.name, &self.args)?, role))
            };
            return run_launched(executor, launch, command, cancellation, &mut unpatient).await.0;
        }
        let command = self.command(role, host)?;
        match self.patience {
            Some(patience) => {
                let host = Host { executor, ..host };
                host.run_patiently(&command, cancellation, patience, on_line).await
            }
            None => executor.run_tool(&command, cancellation, &mut unpatient).await,
        }
    }

    fn command(&self, role: Role, host: Host<'_>) -> Result<Command, StartError> {
        let program = match &*self.name {
            path if path.contains('/') => PathBuf::from(path),
            name => host.system.find_helper(name)?,
        };
        let mut environment = host.system.base_environment();
        environment.retain(|(name, _)| self.environment.iter().all(|(own, _)| own != name));
        environment.extend(self.environment.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let args = self.args.iter().map(Into::into).collect();
        Ok(self.complete(Command { args, environment, ..Command::new(program) }, role))
    }

    fn complete(&self, command: Command, role: Role) -> Command {
        Command {
            stdin: self.stdin.clone(),
            timeout: self.timeout,
            sensitive: self.is_sensitive,
            origin: CommandOrigin::Ccm,
            role,
            ..command
        }
    }

    fn install_hint(&self) -> Option<String> {
        self.packages.map(|packages| format!("install the package {packages}"))
    }
}

/// Receiver of the lines of a program.
pub(crate) type LineWatcher<'l> = dyn FnMut(Stream, &str) -> ControlFlow<()> + 'l;
