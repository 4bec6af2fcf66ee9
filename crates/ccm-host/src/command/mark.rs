//! Marks that tell the processes of a command from those of earlier commands.
//!
//! A process that lost its parent and moved to its own session shows nothing of the command that it comes
//! from. So each command gets its own value of a resource limit that Linux no longer enforces,
//! `RLIMIT_LOCKS`. Processes inherit the limit whatever session, program or user they change to, only root
//! can raise it, and `/proc` shows it until a process is reaped.

use std::fs::read_to_string;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::random;

/// Mark of a command. Each command has a lower mark than the one before, because only root can raise a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    first: u64,
    own: u64,
}

impl Mark {
    /// Sets the mark of the next command on this process, from which the command inherits the mark. Returns
    /// `None` if the limit can't be set, or is too low to be lowered.
    pub(super) fn set_next(previous: Option<Self>) -> Option<Self> {
        let own = match previous {
            Some(previous) => previous.own.checked_sub(1)?,
            None => first_below(getrlimit(Resource::Locks).maximum)?,
        };
        let mark = Self { first: previous.map_or(own, |previous| previous.first), own };
        mark.set().ok()?;
        Some(mark)
    }

    /// Sets this mark on this process.
    pub(crate) fn set(self) -> io::Result<()> {
        Ok(setrlimit(Resource::Locks, Rlimit { current: Some(self.own), maximum: Some(self.own) })?)
    }

    #[cfg(test)]
    pub(super) fn of(own: u64, first: u64) -> Self {
        Self { first, own }
    }

    /// Returns `true` for the limit of a process of this command.
    pub(super) fn is_own(self, limit: u64) -> bool {
        limit == self.own
    }

    /// Returns `true` for the limit of a process of an earlier command.
    pub(super) fn is_earlier(self, limit: u64) -> bool {
        (self.own + 1..=self.first).contains(&limit)
    }
}

/// Returns a random first mark below a limit. If ccm runs ccm, the marks of the two must not meet.
fn first_below(limit: Option<u64>) -> Option<u64> {
    /// A number that no administrator sets.
    const HIGHEST: u64 = 1 << 62;
    const SPREAD: u128 = 1 << 40;
    let distance = u64::try_from(random() % SPREAD).ok()?;
    limit.map_or(HIGHEST, |limit| limit.min(HIGHEST)).checked_sub(1)?.checked_sub(distance)
}

/// Returns the limit of a process that has not been reaped: its mark, or another number if the process has
/// changed its limits. `None` if it has no limit.
pub(super) fn limit_of(pid: i32) -> Option<u64> {
    hard_limit(&read_to_string(format!("/proc/{pid}/limits")).ok()?)
}

fn hard_limit(limits: &str) -> Option<u64> {
    let values = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    values.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_this_and_of_earlier_commands_differ() {
        let mark = Mark { first: 90, own: 70 };
        for (limit, is_own, is_earlier) in
            [(69, false, false), (70, true, false), (71, false, true), (90, false, true), (91, false, false)]
        {
            assert_eq!((mark.is_own(limit), mark.is_earlier(limit)), (is_own, is_earlier), "{limit}");
        }
    }

    #[test]
    fn first_mark_is_below_the_limit() {
        for limit in [None, Some(u64::MAX - 1), Some(1 << 50)] {
            let first = first_below(limit).expect("a mark");
            assert!(first < limit.unwrap_or(u64::MAX) && first < 1 << 62, "{limit:?}: {first}");
        }
        assert_eq!(first_below(Some(0)), None);
    }

    #[test]
    fn limit_is_the_hard_one() {
        let of = |line: &str| {
            hard_limit(&format!("Limit  Soft Limit  Hard Limit  Units\nMax cpu time  1  2\n{line}\n"))
        };
        assert_eq!(of("Max file locks            7                    8                    locks"), Some(8));
        assert_eq!(of("Max file locks            7                    unlimited            locks"), None);
        assert_eq!(of("Max pending signals       7                    8                    signals"), None);
    }
}
