//! The processes that belong to a command: finding them and ending them.
//!
//! A process group would miss a process that calls `setsid`. This process is a subreaper, so each process
//! that a command starts is below its leader, or has lost its parent and is a child of this process.

use std::collections::{HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::time::Duration;

use nix::sys::wait::{Id, WaitPidFlag, WaitStatus};
use nix::unistd::getsid;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid, kill_process_group, pidfd_open,
    pidfd_send_signal, waitid,
};
use tokio::time::{Instant, sleep, timeout_at};

use super::mark::{Mark, limit_of};
use super::table::{self, ProcessEntry, ProcessKey};
use super::{Cancellation, CancellationLevel, Process};

/// Time for a tree to end after TERM.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum duration of all passes of KILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that one pass waits for the killed processes; a process in the middle of a disk access takes longer.
const PASS_TIMEOUT: Duration = Duration::from_millis(100);
/// Time for remaining processes to end before they are reported, because they may be ending already.
const SETTLE_TIME: Duration = Duration::from_millis(100);
/// Interval at which ended orphans of a command are reaped. A command can make thousands in this time, and
/// unreaped ones use up the process numbers of the machine.
const REAP_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of orphans that are reaped in one go, so that output and the deadline are not kept waiting.
const MAX_REAPED: u32 = 16_384;
/// Number of passes in a row that must find no process of the command, neither alive nor ended.
///
/// A process of the command is below the leader or below an orphan, and the table is read while it changes. If
/// the leader ends meanwhile, the first pass may miss the processes that it leaves. From then on, an orphan
/// that the second pass misses has ended meanwhile, and waits in the table of the third to be reaped.
const EMPTY_PASSES: u32 = 3;
/// Number of passes after which an ended orphan means that processes go on starting others.
const USUAL_PASSES: u32 = 2;

/// State before a command was started, which distinguishes processes of earlier commands from those of the
/// command.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    /// Processes that were below this process.
    processes: HashSet<ProcessKey>,
    /// Sessions of these processes.
    sessions: HashSet<i32>,
    /// Mark of the command.
    mark: Option<Mark>,
}

/// The process of ccm.
#[derive(Clone, Copy, Debug)]
struct SelfProcess {
    pid: i32,
    session: i32,
}

impl SelfProcess {
    fn now() -> Self {
        let pid = getpid();
        // Number 0 is a session outside of the container of ccm, and the table has the same number.
        Self { pid: number(pid), session: getsid(None).map_or(0, nix::unistd::Pid::as_raw) }
    }

    /// Returns `true` for a child that lost its parent and became a child of this process. A child in the
    /// session of this process was started by another part of the program, which will need its exit code;
    /// every command has a session of its own.
    fn has_adopted(self, entry: &ProcessEntry) -> bool {
        entry.parent == self.pid && entry.session != self.session
    }

    /// Returns `true` if a process is in another session than this process.
    fn is_in_other_session(self, pid: i32) -> bool {
        getsid(Some(nix::unistd::Pid::from_raw(pid))).is_ok_and(|session| session.as_raw() != self.session)
    }

    /// Reaps orphans that have ended, without reading the table. An error means that the table is needed: the
    /// kernel shows one ended child at a time, and that one is no orphan.
    fn reap_ended(self, leader: Option<i32>) -> Result<(), Errno> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        for _ in 0..MAX_REAPED {
            match nix::sys::wait::waitid(Id::All, flags) {
                Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::ECHILD) => break,
                Ok(status) => {
                    let orphan = status.pid().map(nix::unistd::Pid::as_raw);
                    let is_orphan = |pid: &i32| leader != Some(*pid) && self.is_in_other_session(*pid);
                    reap(orphan.filter(is_orphan).ok_or(Errno::CHILD)?);
                }
                // A real-time signal ended it, which the library does not know.
                Err(_) => return Err(Errno::INVAL),
            }
        }
        Ok(())
    }
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

/// Finds a child that has ended, with one system call. No child at all is an error.
fn ended_child() -> Result<Option<WaitIdStatus>, Errno> {
    waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)
}

/// Returns `true` if no process of a command is a child of this process. `false` means that the table is needed.
fn has_no_orphans() -> bool {
    match ended_child() {
        Err(Errno::CHILD) => true,
        // Children in the session of this process are no commands, such as the launch server.
        Ok(None) => {
            let own = SelfProcess::now();
            let children = table::children();
            children.is_some_and(|children| !children.into_iter().any(|child| own.is_in_other_session(child)))
        }
        _ => false,
    }
}

/// Reaps a child that has ended, and no other.
fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // The only possible error is that it was reaped already.
        let _status = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

impl Baseline {
    /// Reads the processes that exist now, and reaps those that earlier commands left and that have ended
    /// since. `mark` is the mark of the command.
    pub(super) fn now(mark: Option<Mark>) -> Self {
        let mut baseline = Self { mark, ..Self::default() };
        if has_no_orphans() {
            return baseline;
        }
        let own = SelfProcess::now();
        let table = table::read().unwrap_or_default();
        for entry in with_descendants(&table, &[&|entry| entry.parent == own.pid]) {
            if !entry.is_alive && own.has_adopted(entry) {
                reap(entry.key.pid);
                continue;
            }
            baseline.processes.insert(entry.key);
            if entry.session != own.session {
                baseline.sessions.insert(entry.session);
            }
        }
        baseline
    }

    /// Returns `true` if an orphan belongs to an earlier command.
    fn has_left(&self, orphan: &ProcessEntry, limit_of: LimitOf<'_>) -> bool {
        // Without processes at the start, a look at the marks is not needed.
        if self.processes.is_empty() {
            return false;
        }
        if self.processes.contains(&orphan.key) {
            return true;
        }
        match self.mark.zip(limit_of(orphan.key.pid)) {
            Some((mark, limit)) if mark.is_own(limit) => false,
            Some((mark, limit)) if mark.is_earlier(limit) => true,
            // The kernel does not show limits, or the process has changed its own.
            _ => self.sessions.contains(&orphan.session),
        }
    }
}

/// Lookup of the limit that holds the mark of a process.
type LimitOf<'a> = &'a dyn Fn(i32) -> Option<u64>;

/// Returns the roots of the first kind and all their descendants, parents first, then those that the further
/// kinds of roots add.
fn with_descendants<'t>(
    table: &'t [ProcessEntry],
    kinds: &[&dyn Fn(&ProcessEntry) -> bool],
) -> Vec<&'t ProcessEntry> {
    let mut children: HashMap<i32, Vec<&ProcessEntry>> = HashMap::new();
    for entry in table {
        children.entry(entry.parent).or_default().push(entry);
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for is_root in kinds {
        let mut queue: VecDeque<&ProcessEntry> = table.iter().filter(|entry| is_root(entry)).collect();
        while let Some(entry) = queue.pop_front() {
            if seen.insert(entry.key) {
                found.push(entry);
                queue.extend(children.get(&entry.key.pid).into_iter().flatten());
            }
        }
    }
    found
}

/// Returns the processes that belong to the command of a leader, parents first. `None` stands for a reaped
/// leader: its number may be reused, and every process it left is a child of this process.
fn members<'t>(
    table: &'t [ProcessEntry],
    own: SelfProcess,
    leader: Option<i32>,
    baseline: &Baseline,
    limit_of: LimitOf<'_>,
) -> Vec<&'t ProcessEntry> {
    let is_leader = |entry: &ProcessEntry| leader == Some(entry.key.pid);
    let is_adopted = |entry: &ProcessEntry| own.has_adopted(entry) && !baseline.has_left(entry, limit_of);
    // A row read before its parent ended names a parent that is no longer in the table.
    let is_in_session = |entry: &ProcessEntry| leader == Some(entry.session);
    with_descendants(table, &[&is_leader, &is_adopted, &is_in_session])
}

/// Processes of a command in the table.
#[derive(Debug, Default)]
struct Found {
    /// Processes that have not ended, parents first.
    alive: Vec<ProcessEntry>,
    /// Last one of the orphans that had ended, and were reaped.
    ended: Option<ProcessEntry>,
}

/// Processes of one command.
#[derive(Debug)]
pub(super) struct ProcessTree {
    own: SelfProcess,
    /// The process that was started, until it is reaped.
    leader: Option<Pid>,
    baseline: Baseline,
    is_over: bool,
}

impl ProcessTree {
    pub(super) fn new(leader: Pid, baseline: Baseline) -> Self {
        Self { own: SelfProcess::now(), leader: Some(leader), baseline, is_over: false }
    }

    /// Reaps orphans that have ended, for as long as it is polled.
    pub(super) async fn reap_orphans(&self) -> Infallible {
        loop {
            sleep(REAP_INTERVAL).await;
            if self.own.reap_ended(self.leader.map(number)).is_err() {
                // The next time makes up for a failure.
                let _found = self.find();
            }
        }
    }

    /// Returns the processes that still run after the leader ended by itself and was reaped. They may be
    /// daemons, and are not ended. `pipes` are those to the output of the command that are still open.
    pub(super) async fn left_running(&mut self, pipes: &[u64]) -> Vec<Process> {
        self.leader = None;
        self.is_over = true;
        if has_no_orphans() {
            return Vec::new();
        }
        let alive = self.find().unwrap_or_default().alive;
        if alive.is_empty() {
            return Vec::new();
        }
        // A timeout is the usual case: a daemon.
        let _all_ended = timeout_at(Instant::now() + SETTLE_TIME, all_ended(&alive)).await;
        let alive = self.find().unwrap_or_default().alive;
        let with_pipes = |entry: &ProcessEntry| {
            let process = entry.process();
            Process { holds_output: !pipes.is_empty() && holds_pipe(process.pid, pipes), ..process }
        };
        alive.iter().map(with_pipes).collect()
    }

    /// Ends all processes: TERM, a wait, KILL. Returns those that could not be killed.
    pub(super) async fn end(&mut self, cancellation: &Cancellation) -> Vec<Process> {
        tokio::select! {
            biased;
            () = cancellation.reached(CancellationLevel::Kill) => {}
            () = self.terminate() => {}
        }
        let unkillable = self.kill().await;
        self.is_over = true;
        unkillable
    }

    /// Sends TERM to all processes, later ones included, until all have ended or the time is over.
    async fn terminate(&self) {
        let end = Instant::now() + GRACE;
        let mut signalled = HashSet::new();
        loop {
            let Ok(Found { alive, .. }) = self.find() else { return self.signal_group(Signal::TERM) };
            if alive.is_empty() {
                return;
            }
            let new: Vec<&ProcessEntry> = alive.iter().filter(|entry| signalled.insert(entry.key)).collect();
            // A stopped process handles TERM only after CONT. Sent before TERM, CONT could let it continue
            // its work.
            for signal in [Signal::TERM, Signal::CONT] {
                for entry in &new {
                    // The passes of KILL find a process that ignores TERM.
                    let _refused = entry.signal(signal);
                }
            }
            // The next round reaps what has ended, and finds the rest.
            let _all_ended = timeout_at(end.min(Instant::now() + REAP_INTERVAL), all_ended(&alive)).await;
            if Instant::now() >= end {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Makes passes of KILL until only processes are left that can't be killed. If processes start
    /// others until the time is over, the last one that was seen is returned.
    async fn kill(&self) -> Vec<Process> {
        let end = Instant::now() + KILL_TIMEOUT;
        let mut refusing = HashSet::new();
        let mut last_ended = None;
        let (mut passes, mut empty) = (0, 0);
        loop {
            let Ok(Found { alive, ended }) = self.find() else {
                self.signal_group(Signal::KILL);
                sleep(PASS_TIMEOUT).await;
                if Instant::now() < end {
                    continue;
                }
                return Vec::new();
            };
            let (refused, targets): (Vec<ProcessEntry>, Vec<ProcessEntry>) =
                alive.into_iter().partition(|entry| refusing.contains(&entry.key));
            let is_renewed = ended.is_some();
            empty = if targets.is_empty() && !is_renewed { empty + 1 } else { 0 };
            last_ended = ended.or(last_ended);
            if empty == EMPTY_PASSES {
                return refused.iter().map(ProcessEntry::process).collect();
            }
            if Instant::now() >= end {
                let unseen = last_ended.filter(|_| targets.is_empty());
                return refused.iter().chain(&targets).chain(&unseen).map(ProcessEntry::process).collect();
            }
            refusing.extend(kill_pass(&targets));
            passes += 1;
            if passes > USUAL_PASSES && is_renewed {
                self.kill_newest();
            }
            let dying = targets.iter().filter(|entry| !refusing.contains(&entry.key));
            // The next pass finds a process that takes longer.
            let _all_ended = timeout_at(end.min(Instant::now() + PASS_TIMEOUT), all_ended(dying)).await;
            tokio::task::yield_now().await;
        }
    }

    /// Kills a process of the command that is the newest of the machine.
    ///
    /// A process may start another one and end before a pass reaches its row, and the other one may do the same.
    /// Looking at the newest process alone takes less time than such a process lives.
    fn kill_newest(&self) {
        const ATTEMPTS: u32 = 1000;
        let (Some(mark), Ok(loads)) = (self.baseline.mark, File::open(table::LOADS)) else { return };
        for _ in 0..ATTEMPTS {
            let Some(newest) = table::newest(&loads) else { return };
            let Ok(handle) = pidfd_open(newest, PidfdFlags::empty()) else { continue };
            let pid = number(newest);
            if limit_of(pid).is_some_and(|limit| mark.is_own(limit))
                && self.own.is_in_other_session(pid)
                && pidfd_send_signal(handle, Signal::KILL).is_ok()
            {
                return;
            }
        }
    }

    /// Finds the processes of the command. Reaps those that have ended and are children of this process.
    fn find(&self) -> io::Result<Found> {
        let table = table::read()?;
        let leader = self.leader.map(number);
        let mut found = Found::default();
        for entry in members(&table, self.own, leader, &self.baseline, &limit_of) {
            if entry.is_alive {
                found.alive.push(entry.clone());
            } else if self.own.has_adopted(entry) && leader != Some(entry.key.pid) {
                reap(entry.key.pid);
                found.ended = Some(entry.clone());
            }
        }
        Ok(found)
    }

    /// Signals the group of the leader, for when the table can't be read (no descriptor is free).
    fn signal_group(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _refused = kill_process_group(leader, signal);
        }
    }
}

impl Drop for ProcessTree {
    /// Kills the processes of a command whose caller went away. They are reaped before the next command is
    /// started.
    fn drop(&mut self) {
        const ATTEMPTS: u32 = 10;
        for _ in 0..if self.is_over { 0 } else { ATTEMPTS } {
            match self.find() {
                Ok(Found { alive, ended: None }) if alive.is_empty() => break,
                Ok(Found { alive, .. }) => drop(kill_pass(&alive)),
                Err(_) => self.signal_group(Signal::KILL),
            }
        }
    }
}

/// Stops all, so that none starts another one meanwhile, then kills all. Returns those that can't be killed.
fn kill_pass(targets: &[ProcessEntry]) -> Vec<ProcessKey> {
    for entry in targets {
        // A process that refuses STOP refuses KILL too.
        let _refused = entry.signal(Signal::STOP);
    }
    let refuses = |entry: &&ProcessEntry| entry.signal(Signal::KILL) == Err(Errno::PERM);
    targets.iter().filter(refuses).map(|entry| entry.key).collect()
}

/// Waits for one after the other: all must end anyway, and one open handle at a time is enough.
async fn all_ended(entries: impl IntoIterator<Item = &ProcessEntry>) {
    for entry in entries {
        entry.wait_for_end().await;
    }
}

/// Returns `true` if a process has one of these pipes open. The files of a process of another user are not known.
fn holds_pipe(pid: i32, pipes: &[u64]) -> bool {
    /// Maximum number of files to look at.
    const MAX_FILES: usize = 1024;
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let names: Vec<String> = pipes.iter().map(|pipe| format!("pipe:[{pipe}]")).collect();
    let is_held = |file: io::Result<std::fs::DirEntry>| {
        let target = std::fs::read_link(file?.path())?;
        Ok::<bool, io::Error>(names.iter().any(|name| target.as_os_str() == &**name))
    };
    files.take(MAX_FILES).any(|file| is_held(file).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: SelfProcess = SelfProcess { pid: 10, session: 10 };

    /// A table from rows of number, parent and session; a process is started at the tick of its number.
    fn table(rows: &[(i32, i32, i32)]) -> Vec<ProcessEntry> {
        rows.iter()
            .map(|&(pid, parent, session)| ProcessEntry {
                key: key(pid),
                parent,
                session,
                is_alive: true,
                name: "x".to_owned(),
            })
            .collect()
    }

    fn key(pid: i32) -> ProcessKey {
        ProcessKey { pid, started: u64::try_from(pid).expect("a process number") }
    }

    fn pids(entries: &[&ProcessEntry]) -> Vec<i32> {
        entries.iter().map(|entry| entry.key.pid).collect()
    }

    #[test]
    fn a_tree_is_the_descendants_of_the_leader_and_the_children_adopted_since() {
        // init, this process, and an unrelated one are in every table.
        let always = [(1, 0, 1), (10, 1, 10), (5, 1, 5)];
        for (what, rows, leader, expected) in [
            ("alone", &[(20, 10, 20)][..], Some(20), &[20][..]),
            ("children, parents first", &[(22, 21, 20), (20, 10, 20), (21, 20, 20)], Some(20), &[20, 21, 22]),
            ("setsid", &[(20, 10, 20), (21, 20, 21), (22, 21, 21)], Some(20), &[20, 21, 22]),
            ("adopted", &[(20, 10, 20), (30, 10, 30), (31, 30, 30)], Some(20), &[20, 30, 31]),
            ("adopted, its parent not yet read as ended", &[(20, 10, 20), (30, 29, 20)], Some(20), &[20, 30]),
            ("a reaped leader's number is a stranger's", &[(20, 5, 20), (30, 10, 30)], None, &[30]),
            ("another child of the program", &[(11, 10, 10), (12, 11, 10), (20, 10, 20)], Some(20), &[20]),
            ("below another subreaper", &[(20, 10, 20), (21, 20, 21), (22, 21, 22)], Some(20), &[20, 21, 22]),
            ("a survivor", &[(40, 10, 40), (41, 40, 40), (20, 10, 20)], Some(20), &[20]),
            (
                "what a survivor has started since",
                &[(40, 10, 40), (49, 40, 49), (20, 10, 20)],
                Some(20),
                &[20],
            ),
            (
                "what a survivor started and left",
                &[(40, 10, 40), (49, 10, 40), (20, 10, 20)],
                Some(20),
                &[20],
            ),
            ("a survivor's number with another process", &[(20, 10, 20), (42, 10, 99)], Some(20), &[20, 42]),
            ("an earlier mark in a session of its own", &[(20, 10, 20), (51, 10, 51)], Some(20), &[20]),
            ("the mark of this command", &[(20, 10, 20), (52, 10, 52)], Some(20), &[20, 52]),
            ("the mark of this command in the session of a survivor", &[(53, 10, 40)], None, &[53]),
            ("strangers only", &[(6, 5, 5)], None, &[]),
        ] {
            let rows = [&always[..], rows].concat();
            let survivor = ProcessKey { pid: 42, started: 7 };
            let baseline = Baseline {
                processes: HashSet::from([key(40), key(41), survivor]),
                sessions: HashSet::from([40]),
                mark: Some(Mark::of(70, 90)),
            };
            let limit_of = |pid| match pid {
                51 => Some(71),
                52 | 53 => Some(70),
                _ => None,
            };
            let rows = table(&rows);
            let found = members(&rows, OWN, leader, &baseline, &limit_of);
            assert_eq!(pids(&found), expected, "{what}");
        }
    }

    #[test]
    fn a_table_that_changed_while_it_was_read_is_survived() {
        // Two rows that are each other's parents, and one that is its own.
        let rows = table(&[(20, 21, 20), (21, 20, 20), (22, 22, 20)]);
        let baseline = Baseline::default();
        let found = members(&rows, OWN, Some(20), &baseline, &|_| None);
        assert_eq!(pids(&found), [20, 21, 22]);
    }
}
