//! Fake machine with a package tool.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

use ccm_host::{
    Cancellation, Clock as _, Command, Enforced, Exit, Finished, Host, Local, LocalExecutor, Runner,
    StartError,
};
use ccm_model::{Outcome, Resource, Stream, Transaction};
use ccm_testkit::{FakeClock, FakeFile, FakeFiles, FakeRunner};

use crate::run::{printed, run_simply};

/// Paragraph of dpkg itself, which names the architecture.
const DPKG: &str = "Package: dpkg\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.21.22\n\n";

pub(crate) struct Machine {
    pub runner: Packaged,
    pub files: FakeFiles,
    pub clock: FakeClock,
}

impl Machine {
    fn with(programs: &[&str], os: &str) -> Self {
        let mut files = FakeFiles::default();
        files.files.extend(programs.iter().map(Into::into));
        files.directories.insert("/state".into());
        files.entries.borrow_mut().insert("/etc/os-release".into(), FakeFile::of(os));
        let clock = FakeClock::default();
        clock.advance(Duration::from_secs(30 * 86_400));
        for tool in ["apt", "dnf", "pacman"] {
            let stamp = format!("/state/refreshed-{tool}");
            files.files.insert((&stamp).into());
            files.modified.insert(stamp.into(), clock.now());
        }
        Self { runner: Packaged::default(), files, clock }
    }

    /// Returns a Debian machine with these packages, `name status version` each, besides dpkg.
    pub(crate) fn debian(packages: &[&str]) -> Self {
        let mut machine = Self::with(&["/usr/bin/apt-get", "/usr/bin/dpkg"], "ID=debian\n");
        // An update file makes the provider run dpkg-query, whose output a test can change.
        machine.files.directories.insert("/var/lib/dpkg/updates".into());
        machine.files.files.insert("/var/lib/dpkg/updates/0001".into());
        machine.runner.database.replace(status(packages));
        machine
    }

    /// Makes ccm forget when it refreshed the index.
    pub(crate) fn never_refreshed(mut self) -> Self {
        for stamp in std::mem::take(&mut self.files.modified).into_keys() {
            self.files.files.remove(&stamp);
        }
        self
    }

    /// Returns a Red Hat machine with this output of rpm.
    pub(crate) fn rocky(rpm: &str) -> Self {
        let machine =
            Self::with(&["/usr/bin/dnf", "/usr/bin/rpm"], "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n");
        machine.runner.database.replace(rpm.to_owned());
        machine
    }

    /// Returns an Arch machine with this output of `pacman -Q`.
    pub(crate) fn arch(pacman: &str) -> Self {
        let machine = Self::with(&["/usr/bin/pacman"], "ID=arch\n");
        machine.runner.database.replace(pacman.to_owned());
        machine
    }

    /// Sets the packages of dpkg after the next change.
    pub(crate) fn becomes(&self, packages: &[&str]) {
        self.becomes_as(&status(packages));
    }

    /// Sets the output of the database after the next change.
    pub(crate) fn becomes_as(&self, database: &str) {
        self.runner.next.borrow_mut().push_back(database.to_owned());
    }

    /// Sets the response of the index to all queries.
    pub(crate) fn index(&self, printed: &str) {
        self.runner.index.replace(printed.to_owned());
    }

    /// Sets the providers of virtual packages, `name provider…` each.
    pub(crate) fn provides(&self, packages: &[&str]) {
        self.runner.provided.replace(showpkg(packages));
    }

    /// Sets the output of queries of what provides a name, and of what pacman tells of the found packages.
    pub(crate) fn finds_providers(&self, found: &str, details: &str) {
        self.runner.provided.replace(found.to_owned());
        self.runner.details.replace(details.to_owned());
    }

    /// Sets the output of rpm about what provides a name.
    pub(crate) fn rpm_provides(&self, found: &str) {
        self.runner.of_rpm.replace(found.to_owned());
    }

    /// Empties the index.
    pub(crate) fn index_is_emptied(&self) {
        self.runner.is_emptied.set(true);
    }

    /// Sets standard error of index queries.
    pub(crate) fn index_warns(&self, stderr: &str) {
        self.runner.warning.replace(stderr.to_owned());
    }

    /// Sets the response of the index after a refresh.
    pub(crate) fn index_becomes(&self, printed: &str) {
        self.runner.refreshed.replace(Some(printed.to_owned()));
    }

    /// Makes a command fail with this error.
    pub(crate) fn refuses(&self, line: &str, stderr: &str) {
        self.runner.fake.answer_with(line, printed(Exit::Code(100), "", stderr));
    }

    pub(crate) fn apply(&self, resources: Vec<Resource>) -> Vec<Transaction> {
        self.run(resources, false)
    }

    pub(crate) fn noop(&self, resources: Vec<Resource>) -> Vec<Transaction> {
        self.run(resources, true)
    }

    fn run(&self, resources: Vec<Resource>, noop: bool) -> Vec<Transaction> {
        let runner = Locking { runner: &self.runner, files: &self.files };
        let executor = LocalExecutor::new(&runner, &self.runner.fake, &self.files);
        let (system, files, clock) = (&self.runner.fake, &self.files, &self.clock);
        let host = Host { executor: &executor, system, files, clock };
        run_simply(resources, host, noop)
    }

    /// Takes the executed commands, shortened.
    pub(crate) fn ran(&self) -> Vec<String> {
        let options = " -y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 --";
        let conffiles = " -o DPkg::Options::=--force-confdef -o DPkg::Options::=--force-confold";
        let short = |line: String| {
            line.replace(conffiles, "").replace(options, "").replace("/usr/bin/", "").replace(" -o ", " ")
        };
        self.runner.fake.lines().into_iter().map(short).collect()
    }
}

/// Formats packages, `name status version [provides,…]` each, like dpkg's status file.
pub(crate) fn status(packages: &[&str]) -> String {
    let paragraph = |package: &&str| {
        let mut words = package.split(' ');
        let [name, status, version] = [(); 3].map(|()| words.next().expect("three words"));
        let provides: String =
            words.next().map(|names| format!("Provides: {}\n", names.replace(',', ", "))).unwrap_or_default();
        let (want, status) = if status == "held" { ("hold", "installed") } else { ("install", status) };
        format!(
            "Package: {name}\nStatus: {want} ok {status}\nArchitecture: amd64\nVersion: {version}\n{provides}\n"
        )
    };
    DPKG.to_owned() + &packages.iter().map(paragraph).collect::<String>()
}

/// Formats packages, `name candidate other…` each, like `apt-cache policy`.
pub(crate) fn policy(packages: &[&str]) -> String {
    let stanza = |package: &&str| {
        let mut words = package.split(' ');
        let name = words.next().unwrap_or_default();
        let candidate = words.clone().next().unwrap_or("(none)");
        let versions: String = words
            .map(|version| format!("     {version} 500\n        500 http://x\n"))
            .collect::<Vec<_>>()
            .concat();
        format!("{name}:\n  Installed: ?\n  Candidate: {candidate}\n  Version table:\n{versions}")
    };
    packages.iter().map(stanza).collect()
}

/// Formats virtual packages, `name provider…` each, like `apt-cache showpkg`.
fn showpkg(packages: &[&str]) -> String {
    let stanza = |package: &&str| {
        let mut words = package.split(' ');
        let name = words.next().unwrap_or_default();
        let by: Vec<String> = words.map(|provider| format!("{provider} 1-1 (= )\n")).collect();
        let by = by.concat();
        format!(
            "Package: {name}\nVersions: \n\nReverse Depends: \n  other,{name}\nDependencies: \nProvides: \n\
             Reverse Provides: \n{by}"
        )
    };
    packages.iter().map(stanza).collect()
}

/// Returns each outcome in a word, with the noop message or the failure.
pub(crate) fn told(transactions: &[Transaction]) -> Vec<String> {
    let told = |transaction: &Transaction| match &transaction.outcome {
        Outcome::WouldChange { message } => message.clone(),
        Outcome::Failed(failure) => format!("failed: {}", failure.chain.join(": ")),
        other => other.word().to_owned(),
    };
    transactions.iter().map(told).collect()
}

/// List of the plugin versionlock of dnf.
pub(crate) const LOCKS: &str = "/etc/dnf/plugins/versionlock.list";

/// Runner whose `dnf versionlock` changes the list of locks.
struct Locking<'a> {
    runner: &'a Packaged,
    files: &'a FakeFiles,
}

impl Runner for Locking<'_> {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.runner.preflight(command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        let args: Vec<&str> = command.args.iter().filter_map(|arg| arg.to_str()).collect();
        if let ["versionlock", verb, name] = args[..] {
            let mut entries = self.files.entries.borrow_mut();
            match verb {
                "add" => entries.insert(LOCKS.into(), FakeFile::of(&format!("{name}-0:5.9-1.el9.*\n"))),
                _ => entries.remove(std::path::Path::new(LOCKS)),
            };
        }
        self.runner.run(command, cancellation, on_line)
    }
}

/// Runner with a package database that changes with each change.
#[derive(Default)]
pub(crate) struct Packaged {
    pub fake: FakeRunner,
    database: RefCell<String>,
    next: RefCell<VecDeque<String>>,
    index: RefCell<String>,
    warning: RefCell<String>,
    refreshed: RefCell<Option<String>>,
    provided: RefCell<String>,
    details: RefCell<String>,
    of_rpm: RefCell<String>,
    is_emptied: Cell<bool>,
}

impl Runner for Packaged {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.fake.preflight(command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            let finished = self.fake.run(command, cancellation, on_line).await?;
            let has = |arg: &str| command.args.iter().any(|found| found == arg);
            if has("-Qi") || has("-Si") {
                return Ok(printed(Exit::Code(0), &self.details.borrow(), ""));
            }
            if has("-Qs") || (has("repoquery") && has("--whatprovides")) {
                return Ok(printed(Exit::Code(0), &self.provided.borrow(), ""));
            }
            if has("--whatprovides") {
                return Ok(printed(Exit::Code(3), &self.of_rpm.borrow(), ""));
            }
            if has("--showformat") || has("-qa") || has("-Q") {
                return Ok(printed(Exit::Code(0), &self.database.borrow(), ""));
            }
            if has("policy") || has("repoquery") || has("-Ss") {
                return Ok(printed(Exit::Code(0), &self.index.borrow(), &self.warning.borrow()));
            }
            if has("indextargets") {
                let lists = if self.is_emptied.get() { "" } else { "/var/lib/apt/lists/x_Packages\n" };
                return Ok(printed(Exit::Code(0), lists, ""));
            }
            if has("update") {
                self.is_emptied.set(false);
            }
            if has("showpkg") {
                return Ok(printed(Exit::Code(0), &self.provided.borrow(), ""));
            }
            if (has("update") || has("makecache") || has("-Sy"))
                && let Some(index) = self.refreshed.take()
            {
                self.index.replace(index);
            }
            let changes = ["install", "downgrade", "remove", "hold", "unhold", "add", "delete", "-S", "-R"]
                .into_iter()
                .any(has);
            let is_fetched = has("--download-only") || has("--downloadonly");
            if changes && !is_fetched {
                let next = self.next.borrow_mut().pop_front();
                if let Some(next) = next {
                    self.database.replace(next);
                }
            }
            Ok(finished)
        })
    }
}
