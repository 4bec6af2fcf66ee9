//! A runner around another one.

use std::io;
use std::path::{Path, PathBuf};

use ccm_model::Stream;

use super::{Cancellation, Command, Enforced, Finished, Runner, StartError};
use crate::{Account, AccountError, Identity, Local, PrivateDirectory};

/// A runner around another one, which does something more where a command is run, and hands everything else on.
pub trait RunnerAround {
    /// The other one.
    fn inner(&self) -> &dyn Runner;

    /// Runs a command as [`Runner::run`] does.
    fn run_around<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>>;
}

impl<T: RunnerAround> Runner for T {
    fn find(&self, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        self.inner().find(name, path, cwd)
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        self.inner().base_environment()
    }

    fn find_as(
        &self,
        identity: &Identity,
        name: &str,
        path: &str,
        cwd: &Path,
    ) -> Result<PathBuf, StartError> {
        self.inner().find_as(identity, name, path, cwd)
    }

    fn account(&self, user: &str) -> Result<Account, AccountError> {
        self.inner().account(user)
    }

    fn group(&self, name: &str) -> Result<u32, AccountError> {
        self.inner().group(name)
    }

    fn environment_of(&self, account: &Account) -> Vec<(String, String)> {
        self.inner().environment_of(account)
    }

    fn inherited_environment(&self) -> Vec<(String, String)> {
        self.inner().inherited_environment()
    }

    fn own_identity(&self) -> io::Result<Identity> {
        self.inner().own_identity()
    }

    fn may_become(&self, identity: &Identity) -> Result<(), StartError> {
        self.inner().may_become(identity)
    }

    fn private_directory(&self, owner: Option<&Identity>) -> io::Result<PrivateDirectory> {
        self.inner().private_directory(owner)
    }

    fn private_place(&self) -> io::Result<PathBuf> {
        self.inner().private_place()
    }

    fn rehearse(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.inner().rehearse(command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        self.run_around(command, cancellation, on_line)
    }
}
