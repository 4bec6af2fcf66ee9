//! Lookups of users and groups during a run.

use ccm_host::{Cancellation, Command, Enforced, Finished, Host, Local, LocalExecutor, Runner, StartError};
use ccm_model::{Outcome, Resource, Stream, Transaction};
use ccm_testkit::{FakeClock, FakeFile, FakeFiles, FakeRunner};

use crate::build;
use crate::file::file;
use crate::run::{Manner, failure, run};

/// Fake machine with a command `usermod`.
struct Machine<'a> {
    files: &'a FakeFiles,
    runner: FakeRunner,
    usermod: &'a dyn Fn(&FakeFiles),
}

impl<'a> Machine<'a> {
    fn new(files: &'a FakeFiles, usermod: &'a dyn Fn(&FakeFiles)) -> Self {
        let runner = FakeRunner::default();
        runner.answer("usermod", 0);
        Self { files, runner, usermod }
    }

    fn run(&self, resources: Vec<Resource>) -> Vec<Transaction> {
        let clock = FakeClock::default();
        let executor = LocalExecutor::new(self, &self.runner, self.files);
        let host = Host { executor: &executor, system: &self.runner, files: self.files, clock: &clock };
        run(resources, host, &Manner::default())
    }
}

impl Runner for Machine<'_> {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.runner.preflight(command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        (self.usermod)(self.files);
        self.runner.run(command, cancellation, on_line)
    }
}

/// Returns the files `/etc/0` to `/etc/4` of user 100 and group 100, and their names.
fn files(names: &[&str]) -> FakeFiles {
    let mut files = FakeFiles::default();
    files.directories.insert("/etc".into());
    files.names.get_mut().extend(names.iter().map(|name| ((*name).to_owned(), 100)));
    for number in 0..5 {
        let entry = FakeFile { uid: 100, gid: 100, ..FakeFile::of("") };
        files.entries.get_mut().insert(format!("/etc/{number}").into(), entry);
    }
    files
}

fn usermod() -> Resource {
    build::resource("exec", "usermod", &[])
}

fn nothing(_: &FakeFiles) {}

#[test]
fn unchanged_files_need_one_lookup_per_user_and_group() {
    let files = files(&["app"]);
    let owned = |number: usize| file(&format!("/etc/{number}"), &[("owner", "app"), ("group", "app")]);
    let transactions = Machine::new(&files, &nothing).run((0..5).map(owned).collect());
    assert!(transactions.iter().all(|transaction| transaction.outcome == Outcome::Unchanged));
    assert_eq!(*files.lookups.borrow(), ["user app", "group app"]);
}

#[test]
fn displayed_names_are_looked_up_once() {
    let files = files(&[]);
    let unmanaged = |number: usize| file(&format!("/etc/{number}"), &[]);
    let transactions = Machine::new(&files, &nothing).run((0..5).map(unmanaged).collect());
    let state = transactions[4].state.as_ref().expect("a state");
    assert_eq!((&state["owner"], &state["group"]), (&"100".into(), &"100".into()));
    assert_eq!(*files.lookups.borrow(), ["user 100", "group 100"]);
}

#[test]
fn user_added_by_a_command_is_found() {
    let files = files(&[]);
    let add = |files: &FakeFiles| {
        files.names.borrow_mut().insert("new".to_owned(), 100);
    };
    let owned = |number: usize| file(&format!("/etc/{number}"), &[("owner", "new")]);
    let machine = Machine::new(&files, &add);
    let transactions = machine.run(vec![owned(0), owned(1), usermod(), owned(2), owned(3)]);
    for unknown in &transactions[..2] {
        assert_eq!(failure(unknown).chain, ["user `new` does not exist"]);
    }
    for known in &transactions[3..] {
        assert_eq!(known.outcome, Outcome::Unchanged);
    }
    let asked = files.lookups.borrow().iter().filter(|lookup| *lookup == "user new").count();
    assert_eq!(asked, 2, "once before the command and once after: {:?}", files.lookups);
}

#[test]
fn user_renamed_by_a_command_has_the_new_name() {
    let files = files(&["app"]);
    let rename = |files: &FakeFiles| {
        files.names.borrow_mut().clear();
        files.names.borrow_mut().insert("renamed".to_owned(), 100);
    };
    let machine = Machine::new(&files, &rename);
    let transactions = machine.run(vec![file("/etc/0", &[]), usermod(), file("/etc/1", &[])]);
    let owner = |index: usize| transactions[index].state.as_ref().expect("a state")["owner"].clone();
    assert_eq!((owner(0), owner(2)), ("app".into(), "renamed".into()));
}

#[test]
fn changed_file_invalidates_the_accounts() {
    let files = files(&["app"]);
    let owned =
        |number: usize, mode: &str| file(&format!("/etc/{number}"), &[("owner", "app"), ("mode", mode)]);
    let machine = Machine::new(&files, &nothing);
    let transactions = machine.run(vec![owned(0, "0644"), owned(1, "0600"), owned(2, "0644")]);
    assert_eq!(transactions[1].outcome, Outcome::Changed);
    let users: Vec<_> =
        files.lookups.borrow().iter().filter(|lookup| *lookup == "user app").cloned().collect();
    assert_eq!(users.len(), 2, "before the change and after it");
}

#[test]
fn failed_lookup_is_retried() {
    let files = files(&["app"]);
    files.failing_lookups.set(1);
    let file_of_app = |number: usize| file(&format!("/etc/{number}"), &[("owner", "app"), ("group", "app")]);
    let transactions = Machine::new(&files, &nothing).run(vec![file_of_app(0), file_of_app(1)]);
    let failed = failure(&transactions[0]).chain.join(": ");
    assert!(
        failed.starts_with("the lookup of \"app\" in the databases of users and groups failed"),
        "{failed}"
    );
    assert_eq!(transactions[1].outcome, Outcome::Unchanged);

    files.failing_lookups.set(1);
    let transactions = Machine::new(&files, &nothing).run(vec![file("/etc/0", &[]), file("/etc/1", &[])]);
    let owner = |index: usize| transactions[index].state.as_ref().expect("a state")["owner"].clone();
    assert_eq!((owner(0), owner(1)), ("100".into(), "app".into()), "a name is only shown");
}
