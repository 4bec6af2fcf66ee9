//! What is settled before a command or a guard starts: who it runs as, where, with what environment, kept from
//! what, and which program it is.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::{
    Account, AccountError, Command, Enforced, Host, Identity, PrivateDirectory, Process, Sandbox, StartError,
};
use ccm_model::{Failure, FailureKind, Missing};

use super::command::{CommandLine, Exec, Interpreter};
use super::provider::{display_process, start_failure};
use super::sandbox::{StartsFrom, Workdir};

/// A directory that every sandbox opens, and everybody can enter.
const ALWAYS_OPEN: &str = "/usr";

/// All of it. What it has made goes with it, at the latest.
pub(crate) struct Start<'a> {
    exec: &'a Exec,
    host: Host<'a>,
    /// Where it starts.
    pub cwd: PathBuf,
    identity: Option<Identity>,
    environment: Vec<(String, String)>,
    search_path: String,
    confined: Option<Confined>,
    left_running: RefCell<Vec<Process>>,
}

/// What a sandbox needs to be there.
struct Confined {
    sandbox: Sandbox,
    /// The directory of the manifest, without links.
    directory: PathBuf,
    private: Private,
}

/// Directory of a command's own.
enum Private {
    /// It is there, and goes when it is let go.
    Made(PrivateDirectory),
    /// A run would make it. It is not there.
    Planned(PathBuf),
}

impl Private {
    fn planned(place: &Path) -> Self {
        Self::Planned(place.join("ccm-private").join("work"))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Made(made) => made.path(),
            Self::Planned(path) => path,
        }
    }
}

impl<'a> Start<'a> {
    /// Settles it.
    ///
    /// The search path is `path`, else a PATH in `environment`, else that of the executor, else the base's: what
    /// the command sees is what its program is looked for in. With an executor that says nothing of it the
    /// command sees none.
    pub(crate) fn settle(exec: &'a Exec, host: Host<'a>, directory: &Path) -> Result<Self, Failure> {
        Self::build(exec, host, directory, &|identity| {
            host.runner.private_directory(identity).map(Private::Made)
        })
    }

    /// The same for a command that is only [rehearsed](Self::rehearsal): makes nothing.
    pub(crate) fn plan(exec: &'a Exec, host: Host<'a>, directory: &Path) -> Result<Self, Failure> {
        Self::build(exec, host, directory, &|_| {
            host.runner.private_place().map(|place| Private::planned(&place))
        })
    }

    fn build(
        exec: &'a Exec,
        host: Host<'a>,
        directory: &Path,
        private: &dyn Fn(Option<&Identity>) -> io::Result<Private>,
    ) -> Result<Self, Failure> {
        let (account, identity) = who(exec, host)?;
        let private = || private(identity.as_ref());
        let confined = Confined::build(exec, host, directory, &private)?;
        let base = match &account {
            Some(account) => host.runner.environment_of(account),
            None => host.runner.base_environment(),
        };
        let mut environment = environment(exec, host, &base, account.is_some(), confined.as_ref());
        let search_path = environment.iter().chain(&base).find(|(name, _)| name == "PATH");
        let search_path = search_path.map_or_else(String::new, |(_, path)| path.clone());
        let of_executor = exec.executor.as_ref().and_then(|executor| executor.work_dir.clone());
        let cwd = match (&exec.cwd, &confined) {
            (Some(cwd), _) => cwd.clone(),
            (None, Some(confined)) => confined.sandbox.workdir.clone(),
            (None, None) => of_executor.unwrap_or_else(|| PathBuf::from("/")),
        };
        for (_, value) in environment.iter_mut().filter(|(name, value)| name == "PWD" && value.is_empty()) {
            *value = cwd.display().to_string();
        }
        if confined.is_none() && cwd.as_os_str() != "/" && !host.files.is_directory(&cwd).unwrap_or(true) {
            let (kind, cause) = match host.files.exists(&cwd) {
                Ok(true) => (ErrorKind::NotADirectory, "it is not a directory"),
                _ => (ErrorKind::NotFound, "there is no such directory"),
            };
            let source = io::Error::new(kind, cause);
            let error = StartError::WorkingDirectory { path: cwd.clone(), source };
            return Err(start_failure(&error, exec, &cwd));
        }
        Ok(Self {
            exec,
            host,
            cwd,
            identity,
            environment,
            search_path,
            confined,
            left_running: RefCell::default(),
        })
    }

    /// Looks the program up.
    pub(crate) fn command(&self, line: &CommandLine) -> Result<Command, Failure> {
        let (program, opened) = match &self.confined {
            // The shell is not what was asked for.
            Some(confined) if self.exec.interpreter == Interpreter::None => self.inside(confined, line)?,
            _ => (self.find(&line.program)?, None),
        };
        let sandbox = self.confined.as_ref().map(|confined| confined.sandbox.clone());
        Ok(Command {
            args: line.args.iter().map(OsString::from).collect(),
            cwd: self.cwd.clone(),
            environment: self.environment.clone(),
            timeout: self.exec.timeout,
            identity: self.identity.clone(),
            umask: self.exec.umask,
            sensitive: self.exec.sensitive,
            sandbox: sandbox.map(|mut sandbox| {
                sandbox.read.extend(opened);
                sandbox
            }),
            ..Command::new(program)
        })
    }

    /// Looks the program up, for a rehearsal. The directory that only a run would make is left out, or replaced by one
    /// that every sandbox opens anyway, so that nothing more is to be seen from inside than in a run.
    pub(crate) fn rehearsal(&self, line: &CommandLine) -> Result<Command, Failure> {
        let mut command = self.command(line)?;
        let planned = self.confined.as_ref().map(|confined| &confined.private);
        if let (Some(Private::Planned(planned)), Some(sandbox)) = (planned, &mut command.sandbox) {
            sandbox.write.retain(|path| path != planned);
            for path in [&mut sandbox.workdir, &mut command.cwd] {
                if path == planned {
                    *path = PathBuf::from(ALWAYS_OPEN);
                }
            }
        }
        Ok(command)
    }

    /// Puts a command that did not start into words.
    pub(crate) fn failure(&self, error: &StartError) -> Failure {
        start_failure(error, self.exec, &self.cwd)
    }

    fn find(&self, name: &str) -> Result<PathBuf, Failure> {
        let runner = self.host.runner;
        let found = match &self.identity {
            Some(identity) => runner.find_as(identity, name, &self.search_path, &self.cwd),
            None => runner.find(name, &self.search_path, &self.cwd),
        };
        found.map_err(|error| self.failure(&error))
    }

    /// Finds a program that a sandbox may start, and what has to be opened for it: a bare name on the search path, a
    /// relative path below the directory of the manifest, an absolute one there or in the working directory.
    fn inside(&self, confined: &Confined, line: &CommandLine) -> Result<(PathBuf, Option<PathBuf>), Failure> {
        let name = &line.program;
        if !name.contains('/') {
            return Ok((self.find(name)?, None));
        }
        let path = self.host.files.canonical(&confined.directory.join(name)).map_err(|source| {
            let error = match source.kind() {
                ErrorKind::NotFound => {
                    StartError::NotFound { name: name.clone(), path: self.search_path.clone() }
                }
                _ => StartError::Spawn { program: name.into(), source },
            };
            start_failure(&error, self.exec, &confined.directory)
        })?;
        let is_in_workdir = path.starts_with(&confined.sandbox.workdir);
        let is_in_manifest = path.starts_with(&confined.directory);
        let is_allowed = is_in_manifest || (is_in_workdir && name.starts_with('/'));
        if !is_allowed {
            let message = format!("\"{name}\" lies outside of what a sandbox may start");
            let place = confined.directory.display();
            return Err(Failure::new(FailureKind::Start, message).with_hint(format!(
                "name a program of the system without its path; others have to lie below \"{place}\" or in `workdir`"
            )));
        }
        let text = path
            .to_str()
            .ok_or_else(|| Failure::new(FailureKind::Start, format!("\"{}\" is no text", path.display())))?;
        Ok((self.find(text)?, Some(path.clone()).filter(|_| !is_in_workdir)))
    }

    /// Notes what a command of it has left running.
    pub(crate) fn note_left_running(&self, left: &[Process]) {
        self.left_running.borrow_mut().extend_from_slice(left);
    }

    /// Removes what it has made.
    pub(crate) fn end(self, context: &mut Context<'_>) {
        let Some(Confined { private: Private::Made(private), .. }) = self.confined else { return };
        let path = private.path().display().to_string();
        if let Err(error) = private.remove() {
            context.warn(not_removed(&path, &self.left_running.borrow(), &error));
        }
    }
}

/// Says that a private directory is still there, and what may be the cause.
fn not_removed(path: &str, left_running: &[Process], error: &io::Error) -> String {
    let left: Vec<String> = left_running.iter().map(display_process).collect();
    let cause = match &left[..] {
        [] => String::new(),
        left => format!(", because what is left running may still write into it ({})", left.join(", ")),
    };
    format!("the private directory \"{path}\" could not be removed{cause}: {error}; the next run removes it")
}

/// Says what was not enforced, which only an advisory sandbox allows.
pub(crate) fn report(enforced: Option<&Enforced>, context: &mut Context<'_>) {
    not_enforced(enforced).for_each(|warning| context.warn(warning));
}

/// The same, in words.
pub(crate) fn not_enforced(enforced: Option<&Enforced>) -> impl Iterator<Item = String> {
    let missing = enforced.into_iter().flat_map(|enforced| &enforced.missing);
    missing.map(|missing| format!("this kernel does not enforce {missing}"))
}

/// The account and the numbers that a command runs as; none of them is those of ccm.
fn who(exec: &Exec, host: Host<'_>) -> Result<(Option<Account>, Option<Identity>), Failure> {
    let not_known = |property: &'static str, name: &str, error: &AccountError| {
        let mut failure = Failure::from_error(FailureKind::Start, error)
            .because_of(format!("`{property}` can't be taken on"))
            .of_property(property);
        let hint = match error {
            AccountError::NoUser { .. } | AccountError::NoGroup { .. } => {
                "look for a misspelling, or make it in an earlier resource"
            }
            AccountError::NoEntry { .. } => {
                "name a user that has an entry, or make one in an earlier resource"
            }
            _ => return failure,
        };
        failure.missing = Some(Missing::Principal(name.to_owned()).into());
        failure.hints.push(hint.to_owned());
        failure
    };
    let account = |user| host.runner.account(user).map_err(|error| not_known("user", user, &error));
    let account = exec.user.as_deref().map(account).transpose()?;
    let group = |group| host.runner.group(group).map_err(|error| not_known("group", group, &error));
    let group = exec.group.as_deref().map(group).transpose()?;
    let own = || {
        host.runner.own_identity().map_err(|error| {
            Failure::from_error(FailureKind::Read, &error).because_of("it can't be told who ccm runs as")
        })
    };
    let identity = match (&account, group) {
        (None, None) => None,
        (Some(account), None) => Some(account.identity.clone()),
        (Some(account), Some(gid)) => Some(Identity { gid, ..account.identity.clone() }),
        (None, Some(gid)) => Some(Identity { gid, ..own()? }),
    };
    if let Some(identity) = &identity {
        let may_become = host.runner.may_become(identity);
        may_become.map_err(|error| start_failure(&error, exec, Path::new("/")))?;
    }
    Ok((account, identity))
}

/// The environment of ccm, but for what tells of the process that had it: where it was, and what it was. Where the
/// command starts is filled in when it is known.
fn inherited(host: Host<'_>) -> Vec<(String, String)> {
    const OF_A_PROCESS: [&str; 3] = ["PWD", "OLDPWD", "_"];
    let mut environment = host.runner.inherited_environment();
    let had_directory = environment.iter().any(|(name, _)| name == "PWD");
    environment.retain(|(name, _)| !OF_A_PROCESS.contains(&name.as_str()));
    environment.extend(had_directory.then(|| ("PWD".to_owned(), String::new())));
    environment
}

/// Lays all that is said of the environment over what it begins with.
fn environment(
    exec: &Exec,
    host: Host<'_>,
    base: &[(String, String)],
    is_somebody_else: bool,
    confined: Option<&Confined>,
) -> Vec<(String, String)> {
    let of_executor = exec.executor.as_ref().map(|executor| executor.environment.clone());
    let starts_from = exec.sandbox.as_ref().map(|sandbox| sandbox.env.unwrap_or_default());
    let of_base = |names: &'static [&'static str]| {
        base.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect::<Vec<_>>()
    };
    let mut environment = match (starts_from, &of_executor) {
        (None, Some(_)) => Vec::new(),
        (None, None) => base.to_vec(),
        (Some(StartsFrom::Minimal), _) => of_base(&["PATH"]),
        (Some(StartsFrom::Inherit), _) => inherited(host),
    };
    let mut set = |name: &str, value: String| match environment.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = value,
        None => environment.push((name.to_owned(), value)),
    };
    if starts_from == Some(StartsFrom::Inherit) && is_somebody_else {
        for (name, value) in of_base(&["USER", "LOGNAME", "SHELL"]) {
            set(&name, value);
        }
    }
    if let Some(confined) = confined {
        set("HOME", confined.sandbox.workdir.display().to_string());
        set("TMPDIR", confined.private.path().display().to_string());
    }
    let of_executor = of_executor.unwrap_or_default();
    let path = exec.path.iter().map(|path| ("PATH".to_owned(), path.clone()));
    for (name, value) in of_executor.into_iter().chain(exec.environment.iter().cloned()).chain(path) {
        set(&name, value);
    }
    environment
}

impl Confined {
    fn build(
        exec: &Exec,
        host: Host<'_>,
        directory: &Path,
        private: &dyn Fn() -> io::Result<Private>,
    ) -> Result<Option<Self>, Failure> {
        let Some(written) = &exec.sandbox else { return Ok(None) };
        let canonical = |property: &str, path: &Path| {
            let path = directory.join(path);
            host.files.canonical(&path).map_err(|source| {
                let error = StartError::SandboxPath { property: property.to_owned(), path, source };
                start_failure(&error, exec, directory)
            })
        };
        let read = written.read.iter().flatten().map(|path| canonical("read", &path.0));
        let read = read.collect::<Result<Vec<_>, _>>()?;
        let write = written.write.iter().flatten().map(|path| canonical("write", &path.0));
        let mut write = write.collect::<Result<Vec<_>, _>>()?;
        let manifest = host.files.canonical(directory).map_err(|error| {
            Failure::from_error(FailureKind::Start, &error).because_of(format!(
                "the directory of the manifest, \"{}\", can't be found",
                directory.display()
            ))
        })?;
        let workdir = match written.workdir.clone().unwrap_or_default() {
            Workdir::Private => None,
            Workdir::Manifest => Some(manifest.clone()),
            Workdir::At(path) => Some(canonical("workdir", &path)?),
        };
        let private = private().map_err(|error| {
            Failure::from_error(FailureKind::Start, &error)
                .because_of("no private directory can be made for the sandbox")
        })?;
        let workdir = match workdir {
            // It has its temporary files there.
            Some(workdir) => {
                write.push(private.path().to_owned());
                workdir
            }
            None => private.path().to_owned(),
        };
        let sandbox = Sandbox {
            workdir,
            read,
            write,
            network: written.network.unwrap_or_default(),
            unix_sockets: written.unix_sockets.unwrap_or_default(),
            advisory: written.advisory.unwrap_or_default(),
        };
        Ok(Some(Self { sandbox, directory: manifest, private }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_hold_a_private_directory_is_named() {
        let daemon = Process { pid: 7, name: "daemon".to_owned() };
        let error = io::Error::other("it does not become empty");
        for (left, cause) in
            [(&[][..], ""), (&[daemon], ", because what is left running may still write into it (7 daemon)")]
        {
            assert_eq!(
                not_removed("/tmp/x", left, &error),
                format!(
                    "the private directory \"/tmp/x\" could not be removed{cause}: it does not become empty; the next \
                     run removes it"
                )
            );
        }
    }
}
