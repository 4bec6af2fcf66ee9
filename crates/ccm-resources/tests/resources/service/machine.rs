//! Fake machine with systemd, and runs of one service.

use ccm_host::{Exit, Host, LocalExecutor};
use ccm_model::{Resource, Transaction};
use ccm_testkit::{FakeClock, FakeFiles, FakeRunner};

use crate::run::{printed, run_simply};

/// Leading arguments of every call of systemctl.
pub(crate) const SYSTEMCTL: &str = "systemctl --no-ask-password --no-pager";

const PROPERTIES: &str = "--property=Id,Names,LoadState,LoadError,ActiveState,SubState,UnitFileState,NeedDaemonReload,\
    CanReload,Type,RemainAfterExit,Result,ExecMainCode,ExecMainStatus,DropInPaths,TimeoutStartUSec,TimeoutStopUSec,Triggers,\
    TriggeredBy,FragmentPath,SourcePath,NRestarts,ActiveEnterTimestamp";

pub(crate) struct Machine {
    pub runner: FakeRunner,
    pub files: FakeFiles,
    pub clock: FakeClock,
    /// Leading arguments of every call of systemctl.
    systemctl: &'static str,
}

impl Machine {
    /// Returns a machine with systemd.
    pub(crate) fn new() -> Self {
        let directories = "/etc/systemd/system.control /etc/systemd/system /lib/systemd/system";
        Self::with(SYSTEMCTL, directories)
    }

    /// Returns a machine where systemd also runs for the user.
    pub(crate) fn of_user() -> Self {
        let directories = "/run/user/0/systemd/transient /home/a/.config/systemd/user /etc/systemd/user";
        let mut machine = Self::with("systemctl --user --no-ask-password --no-pager", directories);
        machine.files.directories.insert("/run/user/0".into());
        machine
    }

    fn with(systemctl: &'static str, directories: &str) -> Self {
        let mut files = FakeFiles::default();
        files.directories.extend(["/run/systemd/system", "/state"].map(Into::into));
        let machine = Self { runner: FakeRunner::default(), files, clock: FakeClock::default(), systemctl };
        machine.prints("show --property=UnitPath", &format!("UnitPath={directories}\n"));
        machine
    }

    /// Adds an output for a call of systemctl; the last one stays.
    pub(crate) fn prints(&self, arguments: &str, stdout: &str) {
        self.runner
            .answer_with(&format!("{} {arguments}", self.systemctl), printed(Exit::Code(0), stdout, ""));
    }

    /// Makes a call of systemctl fail.
    pub(crate) fn refuses(&self, arguments: &str, stderr: &str) {
        self.runner
            .answer_with(&format!("{} {arguments}", self.systemctl), printed(Exit::Code(1), "", stderr));
    }

    /// Sets the properties of `web.service`: `active running`, and the differences to a usual unit.
    pub(crate) fn has(&self, words: &str, others: &[&str]) {
        self.prints(&format!("show {PROPERTIES} -- web.service"), &shown("web.service", words, others));
    }

    /// Sets the properties of a unit, one after the other.
    pub(crate) fn has_each(&self, unit: &str, states: &[(&str, &[&str])]) {
        for (words, others) in states {
            self.prints(&format!("show {PROPERTIES} -- {unit}"), &shown(unit, words, others));
        }
    }

    /// Sets the output for a query of several units.
    pub(crate) fn has_all(&self, units: &[(&str, &str, &[&str])]) {
        let names: Vec<&str> = units.iter().map(|(unit, ..)| *unit).collect();
        let blocks: Vec<String> =
            units.iter().map(|(unit, words, others)| shown(unit, words, others)).collect();
        self.prints(&format!("show {PROPERTIES} -- {}", names.join(" ")), &blocks.join("\n"));
    }

    /// Applies one resource.
    pub(crate) fn apply(&self, resource: Resource) -> Transaction {
        self.run(vec![resource], false).pop().expect("a transaction")
    }

    /// Applies one resource in noop.
    pub(crate) fn noop(&self, resource: Resource) -> Transaction {
        self.run(vec![resource], true).pop().expect("a transaction")
    }

    /// Applies resources.
    pub(crate) fn run(&self, resources: Vec<Resource>, noop: bool) -> Vec<Transaction> {
        let executor = LocalExecutor::new(&self.runner, &self.runner, &self.files);
        let host = Host { executor: &executor, system: &self.runner, files: &self.files, clock: &self.clock };
        run_simply(resources, host, noop)
    }

    /// Takes the changing calls, without the queries.
    pub(crate) fn done(&self) -> Vec<String> {
        let questions = ["show ", "list-unit-files ", "is-enabled "];
        let is_question = |line: &str| questions.iter().any(|question| line.starts_with(question));
        let lines = self.runner.lines();
        let lines = lines.iter().filter_map(|line| line.strip_prefix(self.systemctl).map(str::trim));
        lines.filter(|line| !is_question(line)).map(str::to_owned).collect()
    }
}

fn shown(unit: &str, words: &str, others: &[&str]) -> String {
    let (active, sub) = words.split_once(' ').unwrap_or((words, ""));
    let usual = [
        &*format!("Id={unit}"),
        &format!("Names={unit}"),
        "LoadState=loaded",
        &format!("ActiveState={active}"),
        &format!("SubState={sub}"),
        "UnitFileState=disabled",
        "NeedDaemonReload=no",
        "Type=notify",
        "Result=success",
        "TimeoutStartUSec=1min 30s",
        "TimeoutStopUSec=1min 30s",
    ]
    .map(str::to_owned);
    let key = |line: &str| line.split('=').next().unwrap_or_default().to_owned();
    let mut lines: Vec<String> =
        usual.into_iter().filter(|line| !others.iter().any(|other| key(other) == key(line))).collect();
    lines.extend(others.iter().map(|other| (*other).to_owned()));
    lines.join("\n") + "\n"
}
