//! Commands of a manifest in a directory that only the user who runs ccm may enter: a version of a source.
//!
//! A command of another user gets a copy of what it names there, in a private directory. A sandbox needs no copy: the paths
//! that it opens are seen from inside, whatever lies above them.

mod named;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use ccm_model::Stream;
use rustix::process::geteuid;

use super::local::{Commands, LocalSystem};
use crate::Local;
use crate::account::{Account, AccountError, Identity};
use crate::command::{Cancellation, Command, Enforced, Finished, Runner, StartError};
use crate::private::PrivateDirectory;
use named::NamedPaths;

/// Commands of this machine that show other users what they name of a version.
pub struct VersionCommands<'a> {
    commands: &'a dyn Commands,
    named: NamedPaths,
    copies: RefCell<Vec<UserCopies>>,
}

/// Copies for one user. Only root can change them, and only the group of the user can read them.
struct UserCopies {
    uid: u32,
    gid: u32,
    directory: PrivateDirectory,
    /// Paths in the version that were copied, each with all in it.
    copied: BTreeSet<PathBuf>,
}

impl<'a> VersionCommands<'a> {
    /// Wraps the commands of a run whose manifest lies in the directory of a version.
    pub fn new(commands: &'a dyn Commands, version: &Path) -> Self {
        Self { commands, named: NamedPaths::of(version), copies: RefCell::default() }
    }

    fn is_in_version(&self, path: &Path) -> bool {
        path.starts_with(self.named.version())
    }

    /// Returns the command with copies in place of what it names; `None` if it needs none.
    fn with_copies(&self, command: &Command) -> Result<Option<Command>, StartError> {
        let own = geteuid().as_raw();
        let Some(user) = command.identity.as_ref().filter(|user| user.uid != own) else { return Ok(None) };
        let mut named = BTreeSet::new();
        let mut is_named = false;
        for text in texts(command) {
            is_named |= self.named.find(text, &mut named);
        }
        if !is_named || command.sandbox.is_some() {
            return Ok(None);
        }
        let failed = |source| StartError::Step {
            property: "user".to_owned(),
            step: "what the command names of the version can't be copied for the user".to_owned(),
            source,
        };
        let copies = self.copied(user, named).map_err(failed)?;
        Ok(Some(self.replaced(command, &copies)))
    }

    /// Copies paths of the version for a user. Returns the directory that stands in place of the version.
    fn copied(&self, user: &Identity, named: BTreeSet<PathBuf>) -> io::Result<PathBuf> {
        let mut copies = self.copies.borrow_mut();
        let known = copies.iter().position(|copies| (copies.uid, copies.gid) == (user.uid, user.gid));
        let place = known.unwrap_or(copies.len());
        if known.is_none() {
            let directory = self.commands.private_directory(None)?;
            directory.show_to_group(user.gid)?;
            let (uid, gid) = (user.uid, user.gid);
            copies.push(UserCopies { uid, gid, directory, copied: BTreeSet::new() });
        }
        let copies = &mut copies[place];
        for path in named {
            if !path.ancestors().any(|above| copies.copied.contains(above)) {
                self.named.copy(&path, copies.directory.path())?;
                copies.copied.insert(path);
            }
        }
        Ok(copies.directory.path().to_owned())
    }

    fn replaced(&self, command: &Command, copies: &Path) -> Command {
        let replaced = |text: &str| self.named.replaced(text, copies);
        let replaced_path =
            |path: &Path| path.to_str().map_or_else(|| path.to_owned(), |text| replaced(text).into());
        let mut command = command.clone();
        command.program = replaced_path(&command.program);
        command.cwd = replaced_path(&command.cwd);
        for argument in &mut command.args {
            if let Some(text) = argument.to_str() {
                *argument = OsString::from(replaced(text));
            }
        }
        for (_, value) in &mut command.environment {
            *value = replaced(value);
        }
        command
    }
}

/// Returns the texts of a command that can name a path.
fn texts(command: &Command) -> impl Iterator<Item = &str> {
    let paths = [&command.program, &command.cwd].into_iter().filter_map(|path| path.to_str());
    let args = command.args.iter().filter_map(|argument| argument.to_str());
    paths.chain(args).chain(command.environment.iter().map(|(_, value)| &**value))
}

impl Runner for VersionCommands<'_> {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        let copy = self.with_copies(command)?;
        self.commands.preflight(copy.as_ref().unwrap_or(command))
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            let copy = self.with_copies(command)?;
            self.commands.run(copy.as_ref().unwrap_or(command), cancellation, on_line).await
        })
    }
}

impl LocalSystem for VersionCommands<'_> {
    fn find(&self, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        self.commands.find(name, path, cwd)
    }

    fn why_not_found(&self, name: &str, path: &str, cwd: &Path) -> Option<StartError> {
        self.commands.why_not_found(name, path, cwd)
    }

    fn find_helper(&self, name: &str) -> Result<PathBuf, StartError> {
        self.commands.find_helper(name)
    }

    /// Finds a program that lies in the version with the rights of ccm: the user gets a copy of it.
    fn find_as(
        &self,
        identity: &Identity,
        name: &str,
        path: &str,
        cwd: &Path,
    ) -> Result<PathBuf, StartError> {
        let find_in = |directory: &str, place: &Path| {
            if self.is_in_version(place) {
                return self.commands.find(name, directory, cwd);
            }
            self.commands.find_as(identity, name, directory, cwd)
        };
        if name.contains('/') {
            return find_in(path, &cwd.join(name));
        }
        let mut directories = path.split(':');
        if !directories.clone().any(|directory| self.is_in_version(Path::new(directory))) {
            return self.commands.find_as(identity, name, path, cwd);
        }
        let found = directories.find_map(|directory| find_in(directory, Path::new(directory)).ok());
        found.map_or_else(|| self.commands.find_as(identity, name, path, cwd), Ok)
    }

    fn account(&self, user: &str) -> Result<Account, AccountError> {
        self.commands.account(user)
    }

    fn group(&self, name: &str) -> Result<u32, AccountError> {
        self.commands.group(name)
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        self.commands.base_environment()
    }

    fn environment_of(&self, account: &Account) -> Vec<(String, String)> {
        self.commands.environment_of(account)
    }

    fn inherited_environment(&self) -> Vec<(String, String)> {
        self.commands.inherited_environment()
    }

    fn own_identity(&self) -> io::Result<Identity> {
        self.commands.own_identity()
    }

    fn may_become(&self, identity: &Identity) -> Result<(), StartError> {
        self.commands.may_become(identity)
    }

    fn private_directory(&self, owner: Option<&Identity>) -> io::Result<PrivateDirectory> {
        self.commands.private_directory(owner)
    }

    fn private_parent(&self) -> io::Result<PathBuf> {
        self.commands.private_parent()
    }

    fn is_copied_for_users(&self, path: &Path) -> bool {
        self.is_in_version(path)
    }
}
