//! Processes of this machine by number and start, for programs that list, inspect and signal them.

use std::collections::HashSet;
use std::io;

use nix::sys::signal::Signal;
use rustix::io::Errno;

use crate::command::{ProcessEntry, process_table, table_entry};

/// Process that was running when the table of processes was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningProcess {
    /// Number of the process.
    pub pid: i32,
    /// Start in clock ticks since the boot. With the number, it names one process of this boot.
    pub started: u64,
    /// Number of the parent.
    pub parent: i32,
    /// Name, as the kernel has it.
    pub name: String,
}

/// Reason why a process got no signal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The process has ended. Its number may belong to another process.
    #[error("process {pid} has ended")]
    Ended {
        /// Number of the process.
        pid: i32,
    },
    /// There is no such signal.
    #[error("there is no signal {name}")]
    UnknownSignal {
        /// Name of the signal.
        name: String,
    },
    /// The kernel refuses the signal.
    #[error("process {pid} can't be signalled")]
    Refused {
        /// Number of the process.
        pid: i32,
        /// Error of the kernel.
        source: io::Error,
    },
}

impl RunningProcess {
    /// Finds a running process by its number.
    pub fn find(pid: i32) -> Option<Self> {
        table_entry(pid).filter(|entry| entry.is_alive).map(Self::of)
    }

    /// Returns the real user of the process, who may send it signals; `None` if it has ended.
    pub fn user(&self) -> Option<u32> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let numbers = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let user = numbers.split_whitespace().next()?.parse().ok()?;
        // Read before, the number may have become that of another process.
        (Self::find(self.pid)?.started == self.started).then_some(user)
    }

    fn of(entry: ProcessEntry) -> Self {
        Self { pid: entry.key.pid, started: entry.key.started, parent: entry.parent, name: entry.name }
    }

    /// Returns the running processes that descend from a process. Empty if the process has ended.
    pub fn descendants(pid: i32, started: u64) -> io::Result<Vec<Self>> {
        let table = process_table()?;
        if !table.iter().any(|entry| entry.key.pid == pid && entry.key.started == started) {
            return Ok(Vec::new());
        }
        let mut known = HashSet::from([pid]);
        let mut found = Vec::new();
        let mut rest: Vec<ProcessEntry> = table.into_iter().filter(|entry| entry.is_alive).collect();
        loop {
            let (below, others): (Vec<_>, Vec<_>) =
                rest.into_iter().partition(|entry| known.contains(&entry.parent) && entry.key.pid != pid);
            if below.is_empty() {
                found.sort_by_key(|process: &Self| process.started);
                return Ok(found);
            }
            known.extend(below.iter().map(|entry| entry.key.pid));
            found.extend(below.into_iter().map(Self::of));
            rest = others;
        }
    }

    /// Sends a signal to exactly this process. A process that has got its number since then gets none.
    pub fn signal(&self, signal: &str) -> Result<(), SignalError> {
        let unknown = || SignalError::UnknownSignal { name: signal.to_owned() };
        let number = parse_signal(signal).ok_or_else(unknown)?;
        let number = rustix::process::Signal::from_named_raw(number as i32).ok_or_else(unknown)?;
        let ended = || SignalError::Ended { pid: self.pid };
        let entry = table_entry(self.pid).filter(|entry| entry.key.started == self.started);
        let entry = entry.ok_or_else(ended)?;
        match entry.signal_exactly(number) {
            Ok(()) => Ok(()),
            Err(Errno::SRCH) => Err(ended()),
            Err(error) => Err(SignalError::Refused { pid: self.pid, source: error.into() }),
        }
    }
}

/// Returns the full name of a signal, such as `SIGTERM` for `TERM`; `None` if there is no such signal.
pub fn full_signal_name(signal: &str) -> Option<&'static str> {
    parse_signal(signal).map(Signal::as_str)
}

fn parse_signal(signal: &str) -> Option<Signal> {
    if let Ok(number) = signal.parse::<i32>() {
        return Signal::try_from(number).ok();
    }
    let name = if signal.starts_with("SIG") { signal.to_owned() } else { format!("SIG{signal}") };
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_its_descendants_and_is_found_by_its_number() {
        let own = RunningProcess::find(crate::own_process().0).expect("this process");
        let parent = RunningProcess::find(own.parent).expect("the parent");
        let below = RunningProcess::descendants(parent.pid, parent.started).expect("a table");
        assert!(below.contains(&own), "{below:?}");
        assert!(!below.contains(&parent));
        let other_start = RunningProcess::descendants(parent.pid, parent.started + 1).expect("a table");
        assert_eq!(other_start, []);
        assert_eq!(RunningProcess::find(i32::MAX), None);
        assert_eq!(own.user(), Some(rustix::process::getuid().as_raw()));
        let recycled = RunningProcess { started: own.started + 1, ..own.clone() };
        assert_eq!(recycled.user(), None);
    }

    #[test]
    fn a_process_that_has_got_the_number_of_another_gets_no_signal() {
        let own = RunningProcess::find(crate::own_process().0).expect("this process");
        let pid = own.pid;
        let recycled = RunningProcess { started: own.started - 1, ..own };
        assert!(matches!(recycled.signal("KILL"), Err(SignalError::Ended { pid: ended }) if ended == pid));
    }

    #[test]
    fn signals_have_names_with_and_without_their_beginning_and_numbers() {
        for (signal, name) in [
            ("TERM", Some("SIGTERM")),
            ("SIGKILL", Some("SIGKILL")),
            ("9", Some("SIGKILL")),
            ("0", None),
            ("-1", None),
            ("NOPE", None),
            ("", None),
        ] {
            assert_eq!(full_signal_name(signal), name, "{signal}");
        }
    }
}
