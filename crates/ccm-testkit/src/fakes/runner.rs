//! Fake runner and system.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{
    Account, AccountError, Cancellation, CancellationLevel, CapturedOutput, Command, Enforced, Exit,
    Finished, Identity, Local, LocalSystem, PrivateDirectory, Runner, StartError,
};
use ccm_model::Stream;

/// Runner that returns prepared results and records the commands.
#[derive(Debug, Default)]
pub struct FakeRunner {
    answers: RefCell<BTreeMap<String, VecDeque<Finished>>>,
    missing: RefCell<Vec<String>>,
    ran: RefCell<Vec<Command>>,
    unenforceable: RefCell<Vec<String>>,
    accounts: RefCell<Vec<Account>>,
    groups: RefCell<BTreeMap<String, u32>>,
    refuses_identities: Cell<bool>,
    own: Cell<(u32, u32)>,
}

impl FakeRunner {
    /// Adds an exit code for a command line. Each run takes the next one, and the last one stays.
    pub fn answer(&self, line: &str, code: i32) {
        self.answer_with(line, Self::finished(Exit::Code(code)));
    }

    /// Adds a complete result for a command line, as [`FakeRunner::answer`] does.
    pub fn answer_with(&self, line: &str, finished: Finished) {
        self.answers.borrow_mut().entry(line.to_owned()).or_default().push_back(finished);
    }

    /// Lets ccm run as the owner of a path, where files of this machine are used: the one who runs the test.
    pub fn runs_as_owner_of(&self, path: &Path) {
        if let Ok(found) = std::fs::metadata(path) {
            self.own.set((found.uid(), found.gid()));
        }
    }

    /// Makes a program impossible to find.
    pub fn without(&self, name: &str) {
        self.missing.borrow_mut().push(name.to_owned());
    }

    /// Makes the kernel unable to enforce a part of every sandbox.
    pub fn can_not_enforce(&self, what: &str) {
        self.unenforceable.borrow_mut().push(what.to_owned());
    }

    /// Refuses to run a command as another user, as for an ordinary user.
    pub fn refuse_identities(&self) {
        self.refuses_identities.set(true);
    }

    /// Adds an account.
    pub fn add_account(&self, account: Account) {
        self.accounts.borrow_mut().push(account);
    }

    /// Adds a group.
    pub fn add_group(&self, name: &str, gid: u32) {
        self.groups.borrow_mut().insert(name.to_owned(), gid);
    }

    /// Returns a result without output.
    pub fn finished(exit: Exit) -> Finished {
        Finished {
            exit,
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            unredacted: None,
            duration: Duration::ZERO,
            left_running: Vec::new(),
            unkillable: Vec::new(),
            enforced: None,
            reached: Vec::new(),
            container: None,
        }
    }

    /// Returns the commands that were run, in order.
    pub fn ran(&self) -> Vec<Command> {
        self.ran.borrow().clone()
    }

    /// Returns the command lines that were run, in order.
    pub fn lines(&self) -> Vec<String> {
        self.ran.borrow().iter().map(line).collect()
    }
}

fn line(command: &Command) -> String {
    let program = command.program.to_string_lossy().into_owned();
    let args = command.args.iter().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}

impl Runner for FakeRunner {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        let missing = self.unenforceable.borrow().clone();
        match &command.sandbox {
            None => Ok(None),
            Some(sandbox) if missing.is_empty() || sandbox.advisory => {
                Ok(Some(Enforced { missing, ..Enforced::default() }))
            }
            Some(_) => Err(StartError::NotEnforceable { missing }),
        }
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            let enforced = self.preflight(command)?;
            self.ran.borrow_mut().push(command.clone());
            if cancellation.level() > CancellationLevel::Go {
                return Ok(Self::finished(Exit::Cancelled));
            }
            let mut answers = self.answers.borrow_mut();
            let finished = match answers.get_mut(&line(command)) {
                Some(queue) if queue.len() > 1 => queue.pop_front(),
                Some(queue) => queue.front().cloned(),
                None => None,
            };
            let mut finished = finished.unwrap_or_else(|| Self::finished(Exit::Code(0)));
            finished.enforced = finished.enforced.or(enforced);
            for (stream, captured) in [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)]
            {
                String::from_utf8_lossy(&captured.head).lines().for_each(|line| on_line(stream, line));
            }
            Ok(finished)
        })
    }
}

impl LocalSystem for FakeRunner {
    fn find(&self, name: &str, path: &str, _: &Path) -> Result<PathBuf, StartError> {
        if self.missing.borrow().iter().any(|missing| missing == name) {
            return Err(StartError::NotFound { name: name.to_owned(), path: path.to_owned() });
        }
        Ok(PathBuf::from(name))
    }

    fn find_as(&self, _: &Identity, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        self.find(name, path, cwd)
    }

    fn account(&self, user: &str) -> Result<Account, AccountError> {
        let accounts = self.accounts.borrow();
        let is_meant = |account: &&Account| account.name == user || account.identity.uid.to_string() == user;
        let account = accounts.iter().find(is_meant).cloned();
        account.ok_or_else(|| AccountError::NoUser { name: user.to_owned() })
    }

    fn group(&self, name: &str) -> Result<u32, AccountError> {
        let gid = self.groups.borrow().get(name).copied();
        gid.ok_or_else(|| AccountError::NoGroup { name: name.to_owned() })
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned()), ("HOME".to_owned(), "/root".to_owned())]
    }

    fn inherited_environment(&self) -> Vec<(String, String)> {
        [self.base_environment(), vec![("INHERITED".to_owned(), "yes".to_owned())]].concat()
    }

    fn own_identity(&self) -> io::Result<Identity> {
        let (uid, gid) = self.own.get();
        Ok(Identity { uid, gid, groups: vec![gid] })
    }

    fn may_become(&self, _: &Identity) -> Result<(), StartError> {
        if self.refuses_identities.get() {
            return Err(StartError::NotRoot { property: "user", uid: 1000 });
        }
        Ok(())
    }

    /// Returns `/tmp/private/work`, which does not exist.
    fn private_directory(&self, _: Option<&Identity>) -> io::Result<PrivateDirectory> {
        Ok(PrivateDirectory::fake("/tmp/private/work"))
    }

    fn private_parent(&self) -> io::Result<PathBuf> {
        Ok("/tmp".into())
    }
}
