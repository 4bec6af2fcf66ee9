//! The table of processes, as the kernel shows it under `/proc`.

use std::fs::{File, read_dir};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Process;
use crate::raw;

/// Key of one process. The number alone is not enough, because another process may get it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProcessKey {
    pub(crate) pid: i32,
    /// Start, in ticks since the boot.
    pub(crate) started: u64,
}

/// Row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) key: ProcessKey,
    pub(crate) parent: i32,
    pub(super) session: i32,
    /// `false` if it has ended and waits to be reaped.
    pub(crate) is_alive: bool,
    pub(crate) name: String,
}

/// Reads the whole table. The result is no snapshot: processes come and go meanwhile.
pub(crate) fn read() -> io::Result<Vec<ProcessEntry>> {
    let mut table = Vec::with_capacity(256);
    for directory in read_dir("/proc")? {
        let name = directory?.file_name();
        let pid = name.to_str().and_then(|name| name.parse().ok());
        table.extend(pid.and_then(read_one));
    }
    Ok(table)
}

/// Returns the processes that have not ended, each with the name that the kernel keeps: its first 15 bytes.
pub fn running() -> io::Result<Vec<Process>> {
    Ok(read()?.iter().filter(|entry| entry.is_alive).map(ProcessEntry::process).collect())
}

/// Reads the children of this process, without the table; `None` if the kernel does not show them.
///
/// A child stays in the list until this process reaps it, and new ones come last, so that none is missed.
pub(super) fn children() -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for thread in read_dir("/proc/self/task").ok()? {
        let of_thread = std::fs::read_to_string(thread.ok()?.path().join("children")).ok()?;
        for child in of_thread.split_ascii_whitespace() {
            children.push(child.parse().ok()?);
        }
    }
    Some(children)
}

/// File that ends with the number of the newest process.
pub(super) const LOADS: &str = "/proc/loadavg";

/// Reads the number of the newest process from the open file [`LOADS`].
pub(super) fn newest(loads: &File) -> Option<Pid> {
    let mut row = [0; 128];
    let length = loads.read_at(&mut row, 0).ok()?;
    let row = std::str::from_utf8(&row[..length]).ok()?;
    row.split_ascii_whitespace().next_back()?.parse().ok().and_then(Pid::from_raw)
}

/// Reads one row; `None` if there is no such process any more.
pub(crate) fn read_one(pid: i32) -> Option<ProcessEntry> {
    // Longer than any row, so that one call reads the whole row.
    let mut row = [0; 2048];
    let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut row).ok()?;
    parse(&row[..length])
}

/// Returns the start of a process that has not ended.
pub(crate) fn running_since(pid: i32) -> Option<u64> {
    read_one(pid).filter(|entry| entry.is_alive).map(|entry| entry.key.started)
}

fn parse(row: &[u8]) -> Option<ProcessEntry> {
    // The name is in parentheses and may hold any character, parentheses and line ends too.
    let open = row.iter().position(|byte| *byte == b'(')?;
    let close = row.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(row.get(open + 1..close)?).into_owned();
    let pid = std::str::from_utf8(&row[..open]).ok()?.trim().parse().ok()?;
    let fields: Vec<&str> = std::str::from_utf8(&row[close + 1..]).ok()?.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3);
    // A process whose first thread has ended while others go on looks like one that waits to be reaped.
    let ended = matches!(*field(3)?, "Z" | "X" | "x") && field(20)?.parse::<u32>().ok()? <= 1;
    Some(ProcessEntry {
        key: ProcessKey { pid, started: field(22)?.parse().ok()? },
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        is_alive: !ended,
        name,
    })
}

impl ProcessEntry {
    pub(super) fn process(&self) -> Process {
        Process::new(self.key.pid, &*self.name)
    }

    /// Sends a signal. A process that has ended is no error.
    pub(super) fn signal(&self, signal: Signal) -> Result<(), Errno> {
        match self.signal_exactly(signal) {
            Err(Errno::SRCH) => Ok(()),
            other => other,
        }
    }

    /// Sends a signal. A process that has ended is an error.
    pub(crate) fn signal_exactly(&self, signal: Signal) -> Result<(), Errno> {
        self.open().and_then(|handle| pidfd_send_signal(handle, signal))
    }

    /// Waits until the process has ended.
    pub(super) async fn wait_for_end(&self) {
        let Ok(handle) = self.open() else { return };
        if let Ok(handle) = raw::watch(handle) {
            // An error means that the runtime ends, so nobody waits any more.
            let _ended = handle.readable().await;
        }
    }

    /// Opens a handle of exactly this process.
    fn open(&self) -> Result<OwnedFd, Errno> {
        let pid = Pid::from_raw(self.key.pid).ok_or(Errno::SRCH)?;
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        // The number may belong to another process by now, but the handle stays with its process.
        match read_one(self.key.pid) {
            Some(entry) if entry.key == self.key => Ok(handle),
            _ => Err(Errno::SRCH),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(head: &str, state: &str, threads: u32) -> String {
        format!(
            "{head} {state} 17 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 {threads} 0 123456 9 10 18446744073709551615\n"
        )
    }

    #[test]
    fn names_may_hold_anything() {
        for (head, name) in [
            ("42 (sh)", "sh"),
            ("42 (my prog)", "my prog"),
            ("42 (a) b)", "a) b"),
            ("42 (()", "("),
            ("42 ())", ")"),
            ("42 ()", ""),
            ("42 (a\nb) R 1 2)", "a\nb) R 1 2"),
        ] {
            let entry = parse(row(head, "S", 1).as_bytes());
            let expected = ProcessEntry {
                key: ProcessKey { pid: 42, started: 123_456 },
                parent: 17,
                session: 40,
                is_alive: true,
                name: name.to_owned(),
            };
            assert_eq!(entry, Some(expected), "{head}");
        }
        let mut bytes = row("42 (x)", "S", 1).into_bytes();
        bytes[4] = 0xff;
        assert_eq!(parse(&bytes).map(|entry| entry.name), Some("\u{fffd}".to_owned()));
    }

    #[test]
    fn a_process_has_ended_once_no_thread_is_left() {
        for (state, threads, is_alive) in [
            ("S", 1, true),
            ("T", 1, true),
            ("D", 4, true),
            ("Z", 1, false),
            ("Z", 0, false),
            ("Z", 2, true),
            ("X", 1, false),
        ] {
            let entry = parse(row("42 (x)", state, threads).as_bytes());
            assert_eq!(entry.map(|entry| entry.is_alive), Some(is_alive), "{state} {threads}");
        }
    }

    #[test]
    fn a_row_that_is_none_is_survived() {
        for bytes in ["", "42", "42 (x", "42 x)", ")(", "42 (x) S 1 2", "x (x) S 1 2 3 4"] {
            assert_eq!(parse(bytes.as_bytes()), None, "{bytes}");
        }
    }

    #[test]
    fn newest_process_has_a_number() {
        let loads = File::open(LOADS).expect("the file");
        for _ in 0..2 {
            assert!(newest(&loads).is_some(), "{loads:?}");
        }
    }

    #[test]
    fn this_process_is_in_the_table() {
        let us = i32::try_from(std::process::id()).expect("a process number");
        let entry = read_one(us).expect("our own row");
        assert!(entry.is_alive);
        assert!(read().expect("the table").iter().any(|other| other.key == entry.key));
    }
}
