//! The processes that belong to a command: finding them and ending them.
//!
//! A process group would miss what calls `setsid`. This process is a subreaper, so whatever a command starts
//! is below its leader, or has lost its parent and has become a child of ours.

use std::collections::{HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid, kill_process_group, waitid};
use tokio::time::{Instant, sleep, timeout_at};

use super::table::{self, Entry, Identity};
use super::{Cancellation, Level, Process};

/// How long a tree may take to obey TERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long passes of KILL are made.
const PASSES: Duration = Duration::from_secs(5);
/// How long one pass waits for what it killed; a process in the middle of a disk access takes longer.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long what was left running may take to end before it is reported: it may be ending just now.
const SETTLING: Duration = Duration::from_millis(100);
/// How often orphans of a running command that have ended are reaped: a long build makes many.
const TIDYING: Duration = Duration::from_secs(1);
/// How many passes in a row must find nothing: the table is read while it changes, so that one pass may
/// overlook a process whose parent ended meanwhile.
const EMPTY_PASSES: u32 = 2;

/// What was below this process before a command was started, and so does not belong to it.
#[derive(Debug, Default)]
pub(super) struct Before {
    processes: HashSet<Identity>,
    sessions: HashSet<i32>,
}

/// This process.
#[derive(Clone, Copy, Debug)]
struct Us {
    pid: i32,
    session: i32,
}

impl Us {
    fn now() -> Self {
        let pid = getpid();
        // Number 0 is a session outside of our container, which is what its table says too.
        Self { pid: number(pid), session: nix::unistd::getsid(None).map_or(0, nix::unistd::Pid::as_raw) }
    }

    /// A child that has become ours. One in our session was started by another part of this program, which
    /// will want its exit code; every command has a session of its own.
    fn has_adopted(self, entry: &Entry) -> bool {
        entry.parent == self.pid && entry.session != self.session
    }
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

/// Looks for a child that has ended, with one system call. No child at all is an error.
fn ended_child() -> Result<Option<WaitIdStatus>, Errno> {
    waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)
}

fn is_childless() -> bool {
    matches!(ended_child(), Err(Errno::CHILD))
}

/// Reaps a child that has ended, and no other.
fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // That it was reaped already is all that can go wrong.
        let _status = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

impl Before {
    /// Looks at what is there now, and reaps what earlier commands left and has ended since.
    pub(super) fn now() -> Self {
        let mut before = Self::default();
        if is_childless() {
            return before;
        }
        let us = Us::now();
        let table = table::read().unwrap_or_default();
        for entry in below(&table, &[&|entry| entry.parent == us.pid]) {
            if !entry.living && us.has_adopted(entry) {
                reap(entry.identity.pid);
                continue;
            }
            before.processes.insert(entry.identity);
            if entry.session != us.session {
                before.sessions.insert(entry.session);
            }
        }
        before
    }

    /// Adds what the survivors have started since: it is theirs, also when it loses its parent later.
    ///
    /// What moves to a session of its own and loses its parent between two looks can't be told from what the
    /// command left.
    fn follow(&mut self, table: &[Entry], us: Us) {
        if self.processes.is_empty() {
            return;
        }
        let survives = |entry: &Entry| self.processes.contains(&entry.identity);
        let theirs: Vec<(Identity, i32)> =
            below(table, &[&survives]).into_iter().map(|entry| (entry.identity, entry.session)).collect();
        for (identity, session) in theirs {
            self.processes.insert(identity);
            if session != us.session {
                self.sessions.insert(session);
            }
        }
    }
}

/// Those that are roots of the first kind and all their descendants, parents first; then what the further
/// kinds of roots add.
fn below<'t>(table: &'t [Entry], kinds: &[&dyn Fn(&Entry) -> bool]) -> Vec<&'t Entry> {
    let mut children: HashMap<i32, Vec<&Entry>> = HashMap::new();
    for entry in table {
        children.entry(entry.parent).or_default().push(entry);
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for is_root in kinds {
        let mut queue: VecDeque<&Entry> = table.iter().filter(|entry| is_root(entry)).collect();
        while let Some(entry) = queue.pop_front() {
            if seen.insert(entry.identity) {
                found.push(entry);
                queue.extend(children.get(&entry.identity.pid).into_iter().flatten());
            }
        }
    }
    found
}

/// Those that belong to the command of that leader, parents first. Once the leader is reaped, its number may
/// be another's, and everything it left is a child of ours.
fn members<'t>(table: &'t [Entry], us: Us, leader: Option<i32>, before: &Before) -> Vec<&'t Entry> {
    let was_there = |entry: &Entry| {
        before.processes.contains(&entry.identity) || before.sessions.contains(&entry.session)
    };
    let is_leader = |entry: &Entry| leader == Some(entry.identity.pid);
    let is_adopted = |entry: &Entry| us.has_adopted(entry) && !was_there(entry);
    // What was read before its parent ended seems to have none.
    let is_in_session = |entry: &Entry| leader == Some(entry.session);
    below(table, &[&is_leader, &is_adopted, &is_in_session])
}

/// The processes of one command.
#[derive(Debug)]
pub(super) struct Tree {
    us: Us,
    /// The process that was started, until it is reaped.
    leader: Option<Pid>,
    before: Before,
    is_over: bool,
}

impl Tree {
    pub(super) fn new(leader: Pid, before: Before) -> Self {
        Self { us: Us::now(), leader: Some(leader), before, is_over: false }
    }

    /// Reaps the orphans of the command that have ended, and keeps track of what survivors start, for as
    /// long as it is polled.
    pub(super) async fn tidy(&mut self) -> Infallible {
        loop {
            sleep(TIDYING).await;
            if !self.before.processes.is_empty() || matches!(ended_child(), Ok(Some(_))) {
                // What could not be done now is done the next time.
                let _living = self.living();
            }
        }
    }

    /// Tells what is still running after the leader ended by itself and was reaped. It may go on: it may be
    /// a daemon.
    pub(super) async fn left_running(mut self) -> Vec<Process> {
        self.leader = None;
        self.is_over = true;
        if is_childless() {
            return Vec::new();
        }
        let living = self.living().unwrap_or_default();
        if living.is_empty() {
            return Vec::new();
        }
        // Running out of time is the usual case: it is a daemon.
        let _all_ended = timeout_at(Instant::now() + SETTLING, all_ended(&living)).await;
        self.living().unwrap_or_default().iter().map(Entry::process).collect()
    }

    /// Ends everything: asks, waits, kills. Returns what could not be killed.
    pub(super) async fn end(&mut self, cancellation: &Cancellation) -> Vec<Process> {
        tokio::select! {
            biased;
            () = cancellation.reached(Level::Kill) => {}
            () = self.ask() => {}
        }
        let unkillable = self.kill().await;
        self.is_over = true;
        unkillable
    }

    /// Sends TERM to everything, also to what appears later, until all has ended or the time is over.
    async fn ask(&mut self) {
        let end = Instant::now() + GRACE;
        let mut asked = HashSet::new();
        loop {
            let Ok(living) = self.living() else { return self.signal_group(Signal::TERM) };
            if living.is_empty() {
                return;
            }
            let news: Vec<&Entry> = living.iter().filter(|entry| asked.insert(entry.identity)).collect();
            // A stopped process can't obey before it is woken; woken first, it could go on as if nothing were.
            for signal in [Signal::TERM, Signal::CONT] {
                for entry in &news {
                    // What refuses is found again by the passes of KILL.
                    let _refused = entry.signal(signal);
                }
            }
            if timeout_at(end, all_ended(&living)).await.is_err() || Instant::now() >= end {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Makes passes of KILL until nothing is left but what refuses.
    async fn kill(&mut self) -> Vec<Process> {
        let end = Instant::now() + PASSES;
        let mut refusing = HashSet::new();
        let mut empty = 0;
        loop {
            let Ok(living) = self.living() else {
                self.signal_group(Signal::KILL);
                sleep(PATIENCE).await;
                if Instant::now() < end {
                    continue;
                }
                return Vec::new();
            };
            let (refused, targets): (Vec<Entry>, Vec<Entry>) =
                living.into_iter().partition(|entry| refusing.contains(&entry.identity));
            empty = if targets.is_empty() { empty + 1 } else { 0 };
            if empty == EMPTY_PASSES || Instant::now() >= end {
                return refused.iter().chain(&targets).map(Entry::process).collect();
            }
            refusing.extend(kill_pass(&targets));
            let dying = targets.iter().filter(|entry| !refusing.contains(&entry.identity));
            // What takes longer is met again in the next pass.
            let _all_ended = timeout_at(end.min(Instant::now() + PATIENCE), all_ended(dying)).await;
            tokio::task::yield_now().await;
        }
    }

    /// Those of the command that have not ended, parents first. Reaps those that have and are ours.
    fn living(&mut self) -> io::Result<Vec<Entry>> {
        let table = table::read()?;
        self.before.follow(&table, self.us);
        let leader = self.leader.map(number);
        let mut living = Vec::new();
        for entry in members(&table, self.us, leader, &self.before) {
            if entry.living {
                living.push(entry.clone());
            } else if self.us.has_adopted(entry) && leader != Some(entry.identity.pid) {
                reap(entry.identity.pid);
            }
        }
        Ok(living)
    }

    /// Signals the leader's group: what can be done when the table can't be read (no descriptor is free).
    fn signal_group(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _refused = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Tree {
    /// Kills what runs if whoever waited for it went away. Nobody is left to wait for its end; it is reaped
    /// before the next command is started.
    fn drop(&mut self) {
        const ATTEMPTS: u32 = 10;
        for _ in 0..if self.is_over { 0 } else { ATTEMPTS } {
            match self.living() {
                Ok(living) if living.is_empty() => break,
                Ok(living) => drop(kill_pass(&living)),
                Err(_) => self.signal_group(Signal::KILL),
            }
        }
    }
}

/// Stops all, so that none starts another one meanwhile, then kills all. Returns those that refused.
fn kill_pass(targets: &[Entry]) -> Vec<Identity> {
    for entry in targets {
        // What refuses this refuses the next one too.
        let _refused = entry.signal(Signal::STOP);
    }
    let refuses = |entry: &&Entry| entry.signal(Signal::KILL) == Err(Errno::PERM);
    targets.iter().filter(refuses).map(|entry| entry.identity).collect()
}

/// One after the other, because all must have ended anyway and one handle is enough then.
async fn all_ended(entries: impl IntoIterator<Item = &Entry>) {
    for entry in entries {
        entry.ended().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Us = Us { pid: 10, session: 10 };

    /// A table from rows of number, parent and session; a process is started at the tick of its number.
    fn table(rows: &[(i32, i32, i32)]) -> Vec<Entry> {
        rows.iter()
            .map(|&(pid, parent, session)| Entry {
                identity: identity(pid),
                parent,
                session,
                living: true,
                name: "x".to_owned(),
            })
            .collect()
    }

    fn identity(pid: i32) -> Identity {
        Identity { pid, started: u64::try_from(pid).expect("a process number") }
    }

    fn pids(entries: &[&Entry]) -> Vec<i32> {
        entries.iter().map(|entry| entry.identity.pid).collect()
    }

    #[test]
    fn a_tree_is_what_the_leader_started_and_what_was_adopted_since() {
        // init, us, and a stranger are in every table.
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
            ("strangers only", &[(6, 5, 5)], None, &[]),
        ] {
            let rows = [&always[..], rows].concat();
            let survivor = Identity { pid: 42, started: 7 };
            let before = Before {
                processes: HashSet::from([identity(40), identity(41), survivor]),
                sessions: HashSet::from([40]),
            };
            assert_eq!(pids(&members(&table(&rows), US, leader, &before)), expected, "{what}");
        }
    }

    #[test]
    fn a_table_that_changed_while_it_was_read_is_survived() {
        // Two rows that are each other's parents, and one that is its own.
        let rows = table(&[(20, 21, 20), (21, 20, 20), (22, 22, 20)]);
        assert_eq!(pids(&members(&rows, US, Some(20), &Before::default())), [20, 21, 22]);
    }
}
