//! The executor of this machine.

mod confined;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ccm_model::Stream;

use super::{BaseEnvironment, ClosedPlan, Executor, Launch, LaunchPlan, Purpose};
use crate::Local;
use crate::account::{Account, AccountError, Identity};
use crate::command::{
    Cancellation, Command, CommandOrigin, Enforced, Finished, Process, Runner, StartError, base_environment,
    search_path,
};
use crate::files::Files;
use crate::private::PrivateDirectory;
use confined::Confined;

/// Door to the commands of a machine: the runner, accounts, programs and variables.
pub trait Commands: Runner + LocalSystem {}

impl<T: Runner + LocalSystem> Commands for T {}

/// Accounts, programs and variables of this machine, as commands that run on it need them.
pub trait LocalSystem {
    /// Finds a program by name, as a shell would: a name with a slash is relative to `cwd`; any other name is
    /// searched for in the absolute directories of `path`, separated by `:`.
    fn find(&self, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError>;

    /// Returns the reason why a program that a shell did not find can't be run. `None` if there is no such program, or if
    /// nothing is wrong with it.
    fn why_not_found(&self, name: &str, path: &str, cwd: &Path) -> Option<StartError> {
        let _ = (name, path, cwd);
        None
    }

    /// Finds a helper program of ccm by name, in the search path of the base environment.
    fn find_helper(&self, name: &str) -> Result<PathBuf, StartError> {
        self.find(name, search_path(&self.base_environment()).unwrap_or_default(), Path::new("/"))
    }

    /// Finds a program for a command that runs as another user, who may see less.
    fn find_as(&self, identity: &Identity, name: &str, path: &str, cwd: &Path)
    -> Result<PathBuf, StartError>;

    /// Looks an account up by its name or its number.
    fn account(&self, user: &str) -> Result<Account, AccountError>;

    /// Looks a group up by its name or its number.
    fn group(&self, name: &str) -> Result<u32, AccountError>;

    /// Returns the base environment of commands: `PATH`, variables of the user who runs ccm, language.
    fn base_environment(&self) -> Vec<(String, String)>;

    /// Returns the environment that a command of that account starts from.
    fn environment_of(&self, account: &Account) -> Vec<(String, String)> {
        base_environment::of_account(account)
    }

    /// Returns the environment that ccm itself was started with.
    fn inherited_environment(&self) -> Vec<(String, String)>;

    /// Returns the user and the groups that ccm runs as.
    fn own_identity(&self) -> io::Result<Identity>;

    /// Checks that commands can run as this user.
    fn may_become(&self, identity: &Identity) -> Result<(), StartError>;

    /// Makes the private directory of a command for the user it runs as; `None` is the user who runs ccm.
    fn private_directory(&self, owner: Option<&Identity>) -> io::Result<PrivateDirectory>;

    /// Returns the directory that holds private directories; an error if none can be made in it.
    fn private_parent(&self) -> io::Result<PathBuf>;

    /// Returns `true` if other users get a copy of what lies at this path, so that they don't have to reach it.
    fn is_copied_for_users(&self, path: &Path) -> bool {
        let _ = path;
        false
    }
}

/// Executor of this machine.
#[derive(Clone, Copy)]
pub struct LocalExecutor<'a> {
    runner: &'a dyn Runner,
    system: &'a dyn LocalSystem,
    files: &'a dyn Files,
}

impl<'a> LocalExecutor<'a> {
    /// Creates the executor whose commands the runner starts.
    pub fn new(runner: &'a dyn Runner, system: &'a dyn LocalSystem, files: &'a dyn Files) -> Self {
        Self { runner, system, files }
    }
}

impl Executor for LocalExecutor<'_> {
    fn resolve<'a>(
        &'a self,
        launch: &'a Launch,
        purpose: Purpose,
    ) -> Local<'a, Result<Box<dyn LaunchPlan + 'a>, StartError>> {
        let plan = LocalPlan::resolve(*self, launch, purpose);
        Box::pin(std::future::ready(plan.map(|plan| Box::new(plan) as Box<dyn LaunchPlan + 'a>)))
    }
}

struct LocalPlan<'a> {
    executor: LocalExecutor<'a>,
    launch: &'a Launch,
    cwd: PathBuf,
    identity: Option<Identity>,
    environment: Vec<(String, String)>,
    search_path: String,
    confined: Option<Confined>,
    left_running: RefCell<Vec<Process>>,
}

impl<'a> LocalPlan<'a> {
    fn resolve(
        executor: LocalExecutor<'a>,
        launch: &'a Launch,
        purpose: Purpose,
    ) -> Result<Self, StartError> {
        let LocalExecutor { system, files, .. } = executor;
        if launch.container.is_some() {
            return Err(StartError::NoContainers);
        }
        let (account, identity) = principal(launch, system)?;
        let confined = Confined::resolve(launch, executor, identity.as_ref(), purpose)?;
        let base = match &account {
            Some(account) => system.environment_of(account),
            None => system.base_environment(),
        };
        let mut environment = environment(launch, system, &base, account.is_some(), confined.as_ref());
        let path = search_path(&environment).or_else(|| search_path(&base)).unwrap_or_default().to_owned();
        let cwd = match (&launch.cwd, &confined) {
            (Some(cwd), _) => cwd.clone(),
            (None, Some(confined)) => confined.sandbox.workdir.clone(),
            (None, None) => PathBuf::from("/"),
        };
        for (_, value) in environment.iter_mut().filter(|(name, value)| name == "PWD" && value.is_empty()) {
            *value = cwd.display().to_string();
        }
        if runs_as_ccm(identity.as_ref()) && launch.cwd.is_some() {
            files
                .check_links(&cwd)
                .map_err(|source| StartError::WorkingDirectory { path: cwd.clone(), source })?;
        }
        if confined.is_none() && cwd.as_os_str() != "/" {
            check_enterable(&cwd, files)
                .map_err(|source| StartError::WorkingDirectory { path: cwd.clone(), source })?;
            if let Some(identity) = &identity
                && !system.is_copied_for_users(&cwd)
                && let Some(closed) = files.closed_directory(identity, &cwd, false)
            {
                let name = |uid: u32| files.user_name(uid).ok().flatten().unwrap_or_else(|| uid.to_string());
                let (owner, user) = (name(closed.owner).into(), name(identity.uid).into());
                let (path, directory) = (cwd.into(), closed.path.into());
                return Err(StartError::ClosedDirectory { path, directory, owner, user });
            }
        }
        Ok(Self {
            executor,
            launch,
            cwd,
            identity,
            search_path: path,
            environment,
            confined,
            left_running: RefCell::default(),
        })
    }

    fn find(&self, name: &str) -> Result<PathBuf, StartError> {
        let LocalExecutor { system, files, .. } = self.executor;
        if name.contains('/') && runs_as_ccm(self.identity.as_ref()) {
            let program = self.cwd.join(name);
            files.check_links(&program).map_err(|source| StartError::Spawn { program, source })?;
        }
        match &self.identity {
            Some(identity) => system.find_as(identity, name, &self.search_path, &self.cwd),
            None => system.find(name, &self.search_path, &self.cwd),
        }
    }

    /// Finds a program that a sandbox may start, and the path to open for it: a bare name on the search path,
    /// another path in the directory of the manifest or, if absolute, in the working directory.
    fn find_inside(&self, confined: &Confined, name: &str) -> Result<(PathBuf, Option<PathBuf>), StartError> {
        if !name.contains('/') {
            return Ok((self.find(name)?, None));
        }
        let directory = &confined.manifest_directory;
        let path =
            self.executor.files.canonical(&directory.join(name)).map_err(|source| match source.kind() {
                ErrorKind::NotFound => {
                    StartError::NotFound { name: name.to_owned(), path: self.search_path.clone() }
                }
                _ => StartError::Spawn { program: name.into(), source },
            })?;
        let is_in_workdir = path.starts_with(&confined.sandbox.workdir);
        let is_allowed = path.starts_with(directory) || (is_in_workdir && name.starts_with('/'));
        if !is_allowed {
            let (name, directory) = (name.to_owned(), directory.clone());
            return Err(StartError::NotAllowedInSandbox { name, directory });
        }
        let text = path.to_str().ok_or_else(|| StartError::NotText { path: path.clone() })?;
        Ok((self.find(text)?, Some(path.clone()).filter(|_| !is_in_workdir)))
    }
}

impl LaunchPlan for LocalPlan<'_> {
    fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn program_base(&self) -> &Path {
        match &self.confined {
            Some(confined) if !self.launch.is_interpreted => &confined.manifest_directory,
            _ => &self.cwd,
        }
    }

    fn command(&self, program: &str, args: &[String]) -> Result<Command, StartError> {
        let called_as = (!program.contains('/')).then(|| program.to_owned());
        let (program, opened) = match &self.confined {
            Some(confined) if !self.launch.is_interpreted => self.find_inside(confined, program)?,
            _ => (self.find(program)?, None),
        };
        let mut command = Command {
            called_as,
            args: args.iter().map(OsString::from).collect(),
            cwd: self.cwd.clone(),
            environment: self.environment.clone(),
            timeout: self.launch.timeout,
            identity: self.identity.clone(),
            umask: self.launch.umask,
            sensitive: self.launch.sensitive,
            origin: if self.launch.is_interpreted { CommandOrigin::Shell } else { CommandOrigin::Argv },
            ..Command::new(program)
        };
        if let Some(confined) = &self.confined {
            confined.apply_to(&mut command, opened);
        }
        Ok(command)
    }

    fn close<'p>(self: Box<Self>) -> Local<'p, ClosedPlan>
    where
        Self: 'p,
    {
        let left_running = self.left_running.borrow();
        let warnings =
            self.confined.and_then(|confined| confined.remove(&left_running)).into_iter().collect();
        Box::pin(std::future::ready(ClosedPlan { warnings, ..ClosedPlan::default() }))
    }
}

impl Runner for LocalPlan<'_> {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.executor.runner.preflight(command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            let finished = self.executor.runner.run(command, cancellation, on_line).await?;
            self.left_running.borrow_mut().extend_from_slice(&finished.left_running);
            Ok(finished)
        })
    }
}

/// Returns `true` if a command runs with the rights of ccm. Whoever chooses its directory or program by a link
/// would choose what ccm does; another user could follow the link himself.
fn runs_as_ccm(identity: Option<&Identity>) -> bool {
    identity.is_none_or(|identity| identity.uid == rustix::process::geteuid().as_raw())
}

/// Checks that a directory can be entered, as far as the user who runs ccm can see.
fn check_enterable(directory: &Path, files: &dyn Files) -> io::Result<()> {
    // `.` in the directory is found only if the directory can be entered.
    let (kind, cause) = match (files.is_directory(&directory.join(".")), files.exists(directory)) {
        (Err(error), _) if error.kind() == ErrorKind::PermissionDenied => return Err(error),
        (Ok(true) | Err(_), _) => return Ok(()),
        (_, Ok(true)) => (ErrorKind::NotADirectory, "it is not a directory"),
        _ => (ErrorKind::NotFound, "there is no such directory"),
    };
    Err(io::Error::new(kind, cause))
}

/// Returns the account and the identity of commands; `None` is the identity of ccm.
fn principal(
    launch: &Launch,
    system: &dyn LocalSystem,
) -> Result<(Option<Account>, Option<Identity>), StartError> {
    let unknown = |property| move |source| StartError::Account { property, source };
    let account = launch.user.as_deref().map(|user| system.account(user)).transpose();
    let account = account.map_err(unknown("user"))?;
    let group = launch.group.as_deref().map(|group| system.group(group)).transpose();
    let group = group.map_err(unknown("group"))?;
    let identity = match (&account, group) {
        (None, None) => None,
        (Some(account), None) => Some(account.identity.clone()),
        (Some(account), Some(gid)) => Some(Identity { gid, ..account.identity.clone() }),
        (None, Some(gid)) => {
            let own = system.own_identity().map_err(|source| StartError::OwnIdentity { source })?;
            Some(Identity { gid, ..own })
        }
    };
    identity.as_ref().map_or(Ok(()), |identity| system.may_become(identity))?;
    Ok((account, identity))
}

/// Returns the environment of ccm without the variables of its process. PWD is set later.
fn inherited(system: &dyn LocalSystem) -> Vec<(String, String)> {
    const OF_A_PROCESS: [&str; 3] = ["PWD", "OLDPWD", "_"];
    let mut environment = system.inherited_environment();
    let had_directory = environment.iter().any(|(name, _)| name == "PWD");
    environment.retain(|(name, _)| !OF_A_PROCESS.contains(&name.as_str()));
    environment.extend(had_directory.then(|| ("PWD".to_owned(), String::new())));
    environment
}

/// Lays the variables of a launch over its base environment.
fn environment(
    launch: &Launch,
    system: &dyn LocalSystem,
    base: &[(String, String)],
    is_other_user: bool,
    confined: Option<&Confined>,
) -> Vec<(String, String)> {
    let of_base = |names: &'static [&'static str]| {
        base.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect::<Vec<_>>()
    };
    let mut environment = match launch.base {
        BaseEnvironment::Standard => base.to_vec(),
        BaseEnvironment::Empty => Vec::new(),
        BaseEnvironment::Minimal => of_base(&["PATH"]),
        BaseEnvironment::Inherited => inherited(system),
    };
    let mut set = |name: &str, value: String| match environment.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = value,
        None => environment.push((name.to_owned(), value)),
    };
    if launch.base == BaseEnvironment::Inherited && is_other_user {
        for (name, value) in of_base(&["USER", "LOGNAME", "SHELL"]) {
            set(&name, value);
        }
    }
    if let Some(confined) = confined {
        set("HOME", confined.sandbox.workdir.display().to_string());
        set("TMPDIR", confined.private.path().display().to_string());
    }
    for (name, value) in &launch.environment {
        set(name, value.clone());
    }
    environment
}
