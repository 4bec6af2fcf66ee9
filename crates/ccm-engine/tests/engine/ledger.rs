//! Refreshes that stay pending from one run to the next.
#![expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]

mod files;
mod health;
mod names;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use ccm_engine::{
    ChangeRequest, CommandRequest, Gate, LateValues, Ledger, LedgerError, LedgerRun, Resolved, RunProgress,
    Verdict, pending,
};

use ccm_host::state::Directory;
use ccm_model::{
    CancelledCause, Catalog, Control, Failure, Group, GroupIndex, PendingCause, RefreshBlocker, Resource,
    ResourceIndex, RunSummary, SkipCause,
};
use ccm_redaction::Secrets;
use ccm_testkit::Scratch;

use crate::fake::{Options, Ran, catalog, run_until, run_with, seen, watch};

/// Machine with several runs, one after the other.
struct Machine {
    scratch: Scratch,
    runs: Cell<u32>,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { scratch: Scratch::new(), runs: Cell::new(0) };
        let state = machine.state();
        watch(move || pending_in(&state));
        machine
    }

    fn state(&self) -> PathBuf {
        self.scratch.path().join("state")
    }

    /// Returns the path of the only ledger.
    fn file(&self) -> PathBuf {
        let mut files = fs::read_dir(self.state().join("refreshes")).expect("ledgers").flatten();
        files.next().expect("a ledger").path()
    }

    fn named(&self, key: &str, manifest: &str) -> LedgerRun {
        self.runs.set(self.runs.get() + 1);
        let run_id = format!("run{}", self.runs.get());
        LedgerRun { key: key.to_owned(), manifest: manifest.to_owned(), run_id }
    }

    fn open(&self, run: LedgerRun) -> Result<Ledger, LedgerError> {
        Ledger::open(&Directory::open_private(&self.state()).expect("a state directory"), run)
    }

    fn run_as(&self, run: LedgerRun, catalog: &Catalog, options: Options<'_>) -> Option<Ran> {
        let ledger = self.open(run).expect("a ledger");
        run_until(catalog, &Options { ledger: Some(&ledger), ..options })
    }

    fn run_catalog(&self, catalog: &Catalog, options: Options<'_>) -> Ran {
        self.run_as(self.named("site", "/site.yaml"), catalog, options).expect("the run comes to its end")
    }

    fn run(&self, lines: &[&str]) -> Vec<String> {
        self.run_catalog(&catalog(lines), Options::default()).lines
    }

    /// Runs a catalog up to an execution that never ends, and kills the run there.
    fn killed(&self, lines: &[&str]) {
        let ran = self.run_as(self.named("site", "/site.yaml"), &catalog(lines), Options::default());
        assert!(ran.is_none(), "it came to its end");
    }

    fn noop(&self, lines: &[&str]) -> Ran {
        let ledger = Ledger::inspect(&self.state(), self.named("site", "/site.yaml")).expect("a ledger");
        run_with(&catalog(lines), &Options { noop: true, ledger: Some(&ledger), ..Options::default() })
    }

    /// Returns the pending refreshes on the disk.
    fn pending(&self) -> String {
        pending_in(&self.state())
    }

    /// Returns names, times and content of all files in the state directory.
    fn everything(&self) -> String {
        let ledgers = fs::read_dir(self.state().join("refreshes")).into_iter().flatten().flatten();
        let one = |path: PathBuf| {
            let metadata = fs::symlink_metadata(&path).expect("it is there");
            let content = fs::read_to_string(&path).ok();
            format!("{} {:?} {content:?}", path.display(), metadata.modified())
        };
        let paths = ledgers.map(|entry| entry.path()).chain([self.state().join("refreshes")]);
        paths.filter(|path| path.exists()).map(one).collect()
    }
}

fn pending_in(state: &Path) -> String {
    let ledgers = pending(state).expect("ledgers");
    let one = |ledger: &ccm_engine::PendingLedger| {
        let refreshes = ledger.refreshes.iter();
        let refreshes = refreshes.map(|one| format!("{}<{}", one.subscriber.name, one.refresh.source.name));
        let unreadable = ledger.unreadable.iter().cloned();
        refreshes.chain(unreadable).collect::<Vec<_>>().join(" ")
    };
    ledgers.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns the refreshes that a summary lists as pending, with their causes.
fn pending_texts(summary: &RunSummary) -> Vec<String> {
    let cause = |cause: &PendingCause| match cause {
        PendingCause::Failed => "failed".to_owned(),
        PendingCause::Noop { blocked_by: None } => "noop".to_owned(),
        PendingCause::Noop { .. } => "noop manifest".to_owned(),
        PendingCause::NoValue => "no value".to_owned(),
        PendingCause::OtherManifest { manifest } => format!("of {manifest}"),
        PendingCause::Skipped { skip, .. } => match skip {
            SkipCause::DependencyFailed { culprits } => format!("unmet because of {}", culprits[0].name),
            SkipCause::NotManaged { reason } => reason.clone(),
            SkipCause::NotSelected => "not selected".to_owned(),
            SkipCause::Excluded => "excluded".to_owned(),
            SkipCause::Stopped { .. } => "stopped".to_owned(),
            other => format!("{other:?}"),
        },
    };
    let owed = summary.refreshes.pending.iter();
    owed.map(|still| {
        let (subscriber, source) = (&still.subscriber.name, &still.refresh.source.name);
        format!("{subscriber}<{source} since {}: {}", still.refresh.run_id, cause(&still.cause))
    })
    .collect()
}

#[test]
fn pending_refresh_is_on_the_disk_before_the_change() {
    let machine = Machine::new();
    let lines = machine.run(&["a needs", "b subscribe=a", "c subscribe=a,b"]);
    assert_eq!(lines, ["a changed", "b refreshed by a", "c refreshed by a,b"]);
    assert_eq!(seen(), ["a: b<a c<a", "b: b<a c<a c<b", "c: c<a c<b"]);
    assert_eq!(machine.pending(), "");
    assert_eq!(fs::read_dir(machine.state().join("refreshes")).expect("a directory").count(), 0);
}

#[test]
fn pending_refreshes_of_a_batch_are_on_the_disk_before_the_change() {
    let machine = Machine::new();
    let of_four = |line: &str| format!("{line} provider=four");
    let lines =
        [of_four("a needs"), of_four("b needs idle"), "c subscribe=a".to_owned(), "d subscribe=b".to_owned()];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(machine.run(&lines), ["a changed", "b unchanged", "c refreshed by a", "d unchanged"]);
    assert_eq!(seen(), ["a,b: c<a d<b", "c: c<a"]);
    assert_eq!(machine.pending(), "");
}

#[test]
fn resource_that_a_failure_kept_from_its_change_demands_no_refresh() {
    let machine = Machine::new();
    let lines =
        ["a needs", "b needs fails=execute", "c needs"].map(|line| format!("{line} provider=stopping"));
    let subscribers = ["d subscribe=a", "e subscribe=b", "f subscribe=c"].map(str::to_owned);
    let lines: Vec<&str> = lines.iter().chain(&subscribers).map(String::as_str).collect();
    let ran = machine.run_catalog(&catalog(&lines), Options { fail_on_error: true, ..Options::default() });
    assert_eq!(ran.lines[..3], ["a changed", "b failed: execute failed", "c skipped: stopped by b"]);
    assert_eq!(seen(), ["a,b,c: d<a e<b f<c"]);
    assert_eq!(machine.pending(), "d<a e<b");
}

#[test]
fn unchanged_run_writes_nothing() {
    let machine = Machine::new();
    machine.run(&["a", "b subscribe=a", "c needs"]);
    assert!(!machine.state().join("refreshes").exists());
    machine.run(&["a needs", "b subscribe=a fails=execute"]);
    // The refresh fails again. The cause is recorded only once.
    let mut catalog = catalog(&["a", "b subscribe=a"]);
    catalog.resources[1].control = Control::NotManaged { reason: "off".to_owned() };
    machine.run_catalog(&catalog, Options::default());
    let before = machine.everything();
    assert_eq!(machine.run_catalog(&catalog, Options::default()).lines, ["a unchanged", "b skipped: off"]);
    assert_eq!(machine.everything(), before);
}

#[test]
fn killed_run_leaves_its_refresh_to_the_next_run() {
    for killed in [
        vec!["a needs hangs", "b subscribe=a"],
        vec!["a needs", "b subscribe=a hangs"],
        vec!["a needs", "hangs needs hangs", "b subscribe=a require=hangs"],
    ] {
        let machine = Machine::new();
        machine.killed(&killed);
        assert_eq!(machine.pending(), "b<a", "{killed:?}");
        let next = ["a", "hangs", "b subscribe=a"];
        assert_eq!(machine.noop(&next).lines[2], "b would refresh by a (owed: a since run1)");
        assert_eq!(machine.run(&next)[2], "b refreshed by a (owed: a since run1)");
        assert_eq!(machine.pending(), "");
        assert_eq!(machine.run(&next), ["a unchanged", "hangs unchanged", "b unchanged"]);
    }
}

#[test]
fn killed_run_leaves_only_the_incomplete_refreshes() {
    let machine = Machine::new();
    machine.killed(&["a needs", "hangs needs hangs", "b subscribe=a", "c subscribe=a"]);
    machine.killed(&["a", "hangs", "b subscribe=a", "c subscribe=a hangs"]);
    assert_eq!(machine.pending(), "c<a");
    assert_eq!(
        machine.run(&["a", "b subscribe=a", "c subscribe=a"])[1..],
        ["b unchanged", "c refreshed by a (owed: a since run1)"]
    );
}

#[test]
fn all_triggers_make_one_refresh_and_are_named() {
    let machine = Machine::new();
    machine.killed(&["a needs", "d", "hangs needs hangs", "b subscribe=a,d"]);
    let ran = machine.run_catalog(&catalog(&["a", "d needs", "b subscribe=a,d"]), Options::default());
    assert_eq!(ran.lines[2], "b refreshed by a,d (owed: a since run1)");
    assert_eq!(ran.calls.iter().filter(|call| *call == "execute b").count(), 1);
    // A refresh that was pending before keeps its time.
    machine.killed(&["a needs", "hangs needs hangs", "b subscribe=a"]);
    machine.killed(&["a needs", "hangs needs hangs", "b subscribe=a"]);
    assert_eq!(machine.run(&["a needs", "b subscribe=a"])[1], "b refreshed by a (owed: a since run3)");
}

#[test]
fn failed_refresh_stays_pending_with_its_cause() {
    let skipped = |lines: &[&str], reason: &str| {
        let mut catalog = catalog(lines);
        catalog.resources[1].control = Control::NotManaged { reason: reason.to_owned() };
        catalog
    };
    let only_a = [ResourceIndex(0)];
    for (catalog, options, expected) in [
        (catalog(&["a needs", "b subscribe=a fails=read"]), Options::default(), "failed"),
        (catalog(&["a needs", "b subscribe=a fails=execute"]), Options::default(), "failed"),
        (catalog(&["a needs", "b subscribe=a panics=execute"]), Options::default(), "failed"),
        (catalog(&["a needs", "b subscribe=a fails=verify"]), Options::default(), "failed"),
        (catalog(&["a needs fails=verify", "b subscribe=a"]), Options::default(), "unmet because of a"),
        (catalog(&["a needs fails=execute", "b subscribe=a"]), Options::default(), "unmet because of a"),
        (catalog(&["a needs panics=execute", "b subscribe=a"]), Options::default(), "unmet because of a"),
        (catalog(&["a needs", "b subscribe=a,x", "x fails=read"]), Options::default(), "unmet because of x"),
        (catalog(&["a needs stops", "b subscribe=a"]), Options::default(), "stopped"),
        (
            catalog(&["a needs", "b subscribe=a"]),
            Options { only: Some(&only_a), ..Options::default() },
            "not selected",
        ),
        (
            catalog(&["a needs", "b subscribe=a"]),
            Options { skip: &[ResourceIndex(1)], ..Options::default() },
            "excluded",
        ),
        (skipped(&["a needs", "b subscribe=a"], "off"), Options::default(), "off"),
        (
            catalog(&["a needs", "b subscribe=a late"]),
            Options { late: Some(&Missing), ..Options::default() },
            "no value",
        ),
    ] {
        let machine = Machine::new();
        let ran = machine.run_catalog(&catalog, options);
        assert_eq!(pending_texts(&ran.summary), [format!("b<a since run1: {expected}")]);
        assert_eq!(machine.pending(), "b<a", "{expected}");
        let next = machine.run(&["a", "b subscribe=a"]);
        assert_eq!(next, ["a unchanged", "b refreshed by a (owed: a since run1)"], "{expected}");
        assert_eq!(machine.pending(), "");
    }
}

/// Late values in which `b` has no value.
struct Missing;

impl LateValues for Missing {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(
        &self,
        _: ResourceIndex,
        resource: &Resource,
        _: &dyn RunProgress,
    ) -> Result<Resolved, Failure> {
        Ok(match &*resource.id.name {
            "b" => Resolved::NoValue { reason: "nothing gave it".to_owned() },
            _ => Resolved::AsWritten,
        })
    }
}

#[test]
fn declined_refresh_is_completed() {
    for second in ["b subscribe=a declines", "b subscribe=a idle"] {
        let machine = Machine::new();
        assert_eq!(machine.run(&["a needs", second])[1], "b unchanged by a");
        assert_eq!(machine.pending(), "");
        machine.killed(&["a needs hangs", second]);
        assert_eq!(machine.run(&["a", second])[1], "b unchanged by a (owed: a since run2)");
        assert_eq!(machine.pending(), "");
    }
}

#[test]
fn execution_without_effect_cancels_only_its_own_refreshes() {
    let machine = Machine::new();
    let ran = machine.run(&["a needs idle", "b subscribe=a"]);
    assert_eq!(ran, ["a unchanged", "b unchanged"]);
    assert_eq!((seen(), machine.pending()), (vec!["a: b<a".to_owned()], String::new()));
    machine.killed(&["a needs hangs", "b subscribe=a"]);
    let ran = machine.run(&["a needs idle", "b subscribe=a"]);
    assert_eq!(ran, ["a unchanged", "b refreshed by a (owed: a since run2)"]);
}

/// Gate that denies every change.
struct Closed;

impl Gate for Closed {
    async fn before_command(&self, _: &CommandRequest<'_>) -> Verdict {
        Verdict::Allow
    }

    async fn before_change(&self, _: &ChangeRequest<'_>) -> Verdict {
        Verdict::Deny { reason: "no".to_owned(), hints: Vec::new() }
    }
}

#[test]
fn denied_change_leaves_no_pending_refresh() {
    let machine = Machine::new();
    let options = Options { gate: Some(&Closed), ..Options::default() };
    let ran = machine.run_catalog(&catalog(&["a needs", "b subscribe=a"]), options);
    assert_eq!(ran.lines, ["a failed: not allowed: no", "b dependency failed because of a"]);
    assert_eq!(pending_texts(&ran.summary), [] as [&str; 0]);
    assert!(!machine.state().join("refreshes").exists());
    // A refresh of an earlier run stays pending.
    machine.killed(&["a needs hangs", "b subscribe=a"]);
    let options = Options { gate: Some(&Closed), ..Options::default() };
    let ran = machine.run_catalog(&catalog(&["a", "b subscribe=a"]), options);
    assert_eq!(pending_texts(&ran.summary), ["b<a since run2: failed"]);
}

#[test]
fn refresh_outside_a_selection_stays_pending() {
    let machine = Machine::new();
    machine.killed(&["a needs", "hangs needs hangs", "b subscribe=a", "c subscribe=a"]);
    let catalog = catalog(&["a", "hangs", "b subscribe=a", "c subscribe=a"]);
    let only = [ResourceIndex(2)];
    let ran = machine.run_catalog(&catalog, Options { only: Some(&only), ..Options::default() });
    assert_eq!(ran.lines[2], "b refreshed by a (owed: a since run1)");
    assert_eq!(pending_texts(&ran.summary), ["c<a since run1: not selected"]);
    assert_eq!(machine.pending(), "c<a");
}

#[test]
fn noop_reports_pending_refreshes_and_changes_nothing() {
    let machine = Machine::new();
    machine.killed(&["a needs", "hangs needs hangs", "b subscribe=a", "c subscribe=b"]);
    let before = machine.everything();
    let ran = machine.noop(&["a", "b subscribe=a", "c subscribe=b"]);
    assert_eq!(
        ran.lines,
        ["a unchanged", "b would refresh by a (owed: a since run1)", "c would refresh by b",]
    );
    assert_eq!(pending_texts(&ran.summary), ["b<a since run1: noop"]);
    let ran = machine.noop(&["a", "b subscribe=a declines"]);
    assert_eq!(pending_texts(&ran.summary), ["b<a since run1: noop"]);
    let ran = machine.noop(&["a"]);
    assert_eq!(ran.summary.refreshes.cancelled.len(), 1, "a run would forget it");
    assert_eq!(machine.everything(), before);
}

#[test]
fn unmanaged_resource_leaves_no_pending_refresh() {
    let machine = Machine::new();
    machine.killed(&["a needs hangs", "b subscribe=a"]);
    let mut catalog = catalog(&["a", "b subscribe=a"]);
    catalog.resources[1].control = Control::NotManaged { reason: "off".to_owned() };
    let ledger = Ledger::inspect(&machine.state(), machine.named("site", "/site.yaml")).expect("a ledger");
    let ran = run_with(&catalog, &Options { noop: true, ledger: Some(&ledger), ..Options::default() });
    assert!(!ran.summary.counts.any_change());
    assert_eq!(pending_texts(&ran.summary), ["b<a since run1: off"]);
}

#[test]
fn subscriber_with_control_off_is_kept_by_control_even_if_its_source_failed() {
    let machine = Machine::new();
    let mut catalog = catalog(&["a needs fails=verify", "b subscribe=a"]);
    catalog.resources[1].control = Control::NotManaged { reason: "off".to_owned() };
    let ran = machine.run_catalog(&catalog, Options::default());
    assert_eq!(pending_texts(&ran.summary), ["b<a since run1: off"]);
    assert!(!ran.summary.refreshes.pending[0].cause.is_for_next_run());
    let blocked_by = pending(&machine.state()).expect("ledgers")[0].refreshes[0].blocked_by;
    assert_eq!(blocked_by, Some(RefreshBlocker::Control));
}

#[test]
fn setting_that_prevents_a_refresh_is_recorded_until_it_is_removed() {
    let machine = Machine::new();
    machine.run(&["a needs", "b subscribe=a fails=execute"]);
    let blocked_by = || pending(&machine.state()).expect("ledgers")[0].refreshes[0].blocked_by;
    assert_eq!(blocked_by(), None);
    let mut off = catalog(&["a", "b subscribe=a"]);
    off.resources[1].control = Control::NotManaged { reason: "off".to_owned() };
    machine.run_catalog(&off, Options::default());
    assert_eq!(blocked_by(), Some(RefreshBlocker::Control));
    // A run with this selection does not evaluate it.
    let only = [ResourceIndex(0)];
    let on = catalog(&["a", "b subscribe=a"]);
    machine.run_catalog(&on, Options { only: Some(&only), ..Options::default() });
    assert_eq!(blocked_by(), Some(RefreshBlocker::Control));
    machine.run(&["a", "b subscribe=a fails=execute"]);
    assert_eq!(blocked_by(), None);
    assert_eq!(machine.run(&["a", "b subscribe=a"])[1], "b refreshed by a (owed: a since run1)");
}

#[test]
fn refresh_of_a_removed_resource_is_cancelled_and_named() {
    for (next, expected) in [
        (vec!["a"], CancelledCause::NoSubscriber),
        (vec!["b"], CancelledCause::NoSource),
        (vec!["a", "b require=a"], CancelledCause::NoSubscription),
    ] {
        let machine = Machine::new();
        machine.killed(&["a needs hangs", "b subscribe=a"]);
        let ran = machine.run_catalog(&catalog(&next), Options::default());
        let [settled] = &ran.summary.refreshes.cancelled[..] else { panic!("{:?}", ran.summary) };
        let named = (&*settled.subscriber.name, &*settled.refresh.source.name, &*settled.refresh.run_id);
        assert_eq!((named, settled.cause), (("b", "a", "run1"), expected));
        assert!(ran.lines.iter().all(|line| line.ends_with("unchanged")), "{:?}", ran.lines);
        assert_eq!(machine.pending(), "");
    }
}

#[test]
fn manifests_with_one_name_keep_each_others_pending_refreshes() {
    let machine = Machine::new();
    // The first manifest still exists, the second does not.
    let there = machine.scratch.write("there.yaml", "").display().to_string();
    let gone = machine.scratch.at("gone.yaml");
    let first = catalog(&["a needs hangs", "b subscribe=a"]);
    for (manifest, expected) in [(&*there, "b<a"), (&*gone, "")] {
        assert!(machine.run_as(machine.named("site", manifest), &first, Options::default()).is_none());
        let run = machine.named("site", "/other.yaml");
        let ran = machine.run_as(run, &catalog(&["x"]), Options { there: &[&there], ..Options::default() });
        let ran = ran.expect("the run comes to its end");
        assert_eq!(machine.pending(), expected);
        let cancelled = ran.summary.refreshes.cancelled.len();
        assert_eq!(
            (pending_texts(&ran.summary).len(), cancelled),
            if expected.is_empty() { (0, 1) } else { (1, 0) }
        );
        machine.run(&["a", "b subscribe=a"]);
    }
}

#[test]
fn another_name_has_another_ledger() {
    let machine = Machine::new();
    machine.killed(&["a needs hangs", "b subscribe=a"]);
    let run = machine.named("renamed", "/site.yaml");
    let ran = machine.run_as(run, &catalog(&["a needs", "b subscribe=a"]), Options::default());
    assert_eq!(ran.expect("an end").lines, ["a changed", "b refreshed by a"]);
    assert_eq!(machine.pending(), "b<a", "it is still there to be seen");
}

#[test]
fn change_in_a_child_is_pending_for_subscribers_of_its_node() {
    let with_child = |lines: &[&str], noop| {
        let mut catalog = catalog(lines);
        catalog.groups.push(Group { noop, ..Group::default() });
        for resource in &mut catalog.resources {
            match &*resource.id.name {
                "c" => resource.node_of = Some(GroupIndex(0)),
                name if name.starts_with("c.") => resource.group = Some(GroupIndex(0)),
                _ => {}
            }
        }
        catalog
    };
    let resources = ["c.a needs idle", "c.b needs", "c.d needs hangs", "c", "after subscribe=c"];
    let machine = Machine::new();
    let run = || machine.named("site", "/site.yaml");
    assert!(machine.run_as(run(), &with_child(&resources, false), Options::default()).is_none());
    assert_eq!(seen(), ["c.a: after<c", "c.b: after<c", "c.d: after<c"]);
    let next = with_child(&["c.a", "c.b", "c.d", "c", "after subscribe=c"], false);
    let lines = machine.run_catalog(&next, Options::default()).lines;
    assert_eq!(lines[4], "after refreshed by c (owed: c since run1)");
    // Noop executes nothing, so that no refresh becomes pending.
    let noop =
        with_child(&["a needs", "c.a needs", "c.b subscribe=a", "c subscribe=a", "after subscribe=c"], true);
    let ran = machine.run_catalog(&noop, Options::default());
    assert_eq!(ran.lines[2..], ["c.b would refresh by a", "c would change", "after unchanged"]);
    assert_eq!((seen(), machine.pending()), (vec!["a: ".to_owned()], String::new()));
}

#[test]
fn change_in_a_failed_child_is_pending_for_subscribers_of_its_node() {
    let with_child = |lines: &[&str]| {
        let mut catalog = catalog(lines);
        catalog.groups.push(Group::default());
        (catalog.resources[0].group, catalog.resources[1].group) = (Some(GroupIndex(0)), Some(GroupIndex(0)));
        catalog.resources[2].node_of = Some(GroupIndex(0));
        catalog
    };
    let machine = Machine::new();
    let first = with_child(&["c.a needs", "c.b fails=read", "c", "after subscribe=c"]);
    let ran = machine.run_catalog(&first, Options::default());
    assert_eq!(ran.lines[2], "c failed: 1 of its 2 resources failed: fake#c.b (changed)");
    assert_eq!(pending_texts(&ran.summary), ["after<c since run1: unmet because of c.b"]);
    let next = with_child(&["c.a", "c.b", "c", "after subscribe=c"]);
    let lines = machine.run_catalog(&next, Options::default()).lines;
    assert_eq!(lines[2..], ["c unchanged", "after refreshed by c (owed: c since run1)"]);
}

#[test]
fn refresh_of_a_resource_that_is_now_in_noop_stays_pending() {
    let machine = Machine::new();
    machine.killed(&["a needs hangs", "b subscribe=a", "d subscribe=a declines"]);
    let mut catalog = catalog(&["a", "b subscribe=a", "d subscribe=a declines"]);
    catalog.groups.push(Group { noop: true, ..Group::default() });
    catalog.resources[1].group = Some(GroupIndex(0));
    catalog.resources[2].group = Some(GroupIndex(0));
    let ran = machine.run_catalog(&catalog, Options::default());
    assert_eq!(
        pending_texts(&ran.summary),
        ["b<a since run1: noop manifest", "d<a since run1: noop manifest"]
    );
    assert_eq!(machine.pending(), "b<a d<a");
}
