//! Order of the hosts: canaries first, then the others, and none once too many have failed.

use std::collections::VecDeque;

/// Number of hosts that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureLimit {
    /// A number of hosts.
    Hosts(usize),
    /// A share of all hosts, in percent.
    Percent(u8),
}

impl FailureLimit {
    /// Reads `3` or `10%`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok().filter(|percent| *percent <= 100).map(Self::Percent),
            None => text.parse().ok().map(Self::Hosts),
        }
    }

    fn of(self, hosts: usize) -> usize {
        match self {
            Self::Hosts(number) => number,
            Self::Percent(percent) => hosts * usize::from(percent) / 100,
        }
    }
}

/// Reason for which the hosts that are left are not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A canary failed.
    Canary,
    /// More hosts failed than may.
    Failures,
    /// Somebody interrupted the push.
    Interrupted,
}

/// Next step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHost {
    /// The host of this position begins.
    Begin(usize),
    /// A host that runs has to end first.
    Wait,
    /// All hosts have ended, or are not begun.
    Done,
}

/// Schedule of a push.
#[derive(Debug)]
pub struct Schedule {
    waiting: VecDeque<usize>,
    /// Number of canaries that have not ended.
    canaries: usize,
    /// Canaries that have not begun.
    unbegun_canaries: usize,
    running: usize,
    failed: usize,
    at_once: usize,
    limit: Option<usize>,
    halt: Option<Halt>,
}

impl Schedule {
    /// Builds the schedule of a number of hosts.
    pub fn new(hosts: usize, at_once: usize, canaries: usize, limit: Option<FailureLimit>) -> Self {
        let canaries = canaries.min(hosts);
        Self {
            waiting: (0..hosts).collect(),
            canaries,
            unbegun_canaries: canaries,
            running: 0,
            failed: 0,
            at_once: at_once.max(1),
            limit: limit.map(|limit| limit.of(hosts)),
            halt: None,
        }
    }

    /// Returns what to do next. A host that is returned counts as running.
    pub fn next_host(&mut self) -> NextHost {
        let may_begin = self.halt.is_none()
            && self.running < self.at_once
            && (self.unbegun_canaries > 0 || self.canaries == 0);
        match self.waiting.front().copied() {
            Some(host) if may_begin => {
                self.waiting.pop_front();
                self.running += 1;
                self.unbegun_canaries = self.unbegun_canaries.saturating_sub(1);
                NextHost::Begin(host)
            }
            Some(_) if self.halt.is_none() => NextHost::Wait,
            _ if self.running > 0 => NextHost::Wait,
            _ => NextHost::Done,
        }
    }

    /// Notes that a host has ended.
    pub fn ended(&mut self, has_failed: bool) {
        self.running -= 1;
        self.failed += usize::from(has_failed);
        if self.canaries > 0 {
            self.canaries -= 1;
            if has_failed {
                self.halt.get_or_insert(Halt::Canary);
            }
        }
        if self.limit.is_some_and(|limit| self.failed > limit) {
            self.halt.get_or_insert(Halt::Failures);
        }
    }

    /// Begins no further host.
    pub fn interrupt(&mut self) {
        self.halt.get_or_insert(Halt::Interrupted);
    }

    /// Returns the reason for which hosts are not begun, if some are left.
    pub fn halt(&self) -> Option<Halt> {
        self.halt.filter(|_| !self.waiting.is_empty())
    }

    /// Returns the hosts that are not begun.
    pub fn unbegun(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a schedule in which the named hosts fail, each as soon as it can. Returns the hosts in the order in which they
    /// began, the largest number at once, and the reason of the end.
    fn run(mut schedule: Schedule, failing: &[usize]) -> (Vec<usize>, usize, Option<Halt>) {
        let (mut begun, mut running, mut most) = (Vec::new(), VecDeque::new(), 0);
        loop {
            match schedule.next_host() {
                NextHost::Begin(host) => {
                    begun.push(host);
                    running.push_back(host);
                    most = most.max(running.len());
                }
                NextHost::Wait => {
                    let host = running.pop_front().expect("something runs");
                    schedule.ended(failing.contains(&host));
                }
                NextHost::Done => return (begun, most, schedule.halt()),
            }
        }
    }

    #[test]
    fn hosts_begin_in_order_until_too_many_fail() {
        let all: Vec<usize> = (0..10).collect();
        for (at_once, canaries, limit, failing, begun, most, halt) in [
            (3, 0, None, &[][..], 10, 3, None),
            (20, 0, None, &[0, 1, 2], 10, 10, None),
            (1, 0, Some("0"), &[4], 5, 1, Some(Halt::Failures)),
            (1, 0, Some("1"), &[4, 6], 7, 1, Some(Halt::Failures)),
            (1, 0, Some("20%"), &[0, 1, 2], 3, 1, Some(Halt::Failures)),
            (1, 0, Some("100%"), &[0, 1, 2], 10, 1, None),
            (4, 2, None, &[], 10, 4, None),
            (4, 2, None, &[1], 2, 2, Some(Halt::Canary)),
            (4, 2, None, &[5], 10, 4, None),
            (1, 3, None, &[0], 1, 1, Some(Halt::Canary)),
            (4, 99, None, &[9], 10, 4, None),
            (4, 0, Some("0"), &[9], 10, 4, None),
            (0, 0, None, &[], 10, 1, None),
        ] {
            let limit = limit.map(|limit| FailureLimit::parse(limit).expect("a limit"));
            let (order, found, reason) = run(Schedule::new(10, at_once, canaries, limit), failing);
            assert_eq!((&order[..], found, reason), (&all[..begun], most, halt), "{failing:?} {limit:?}");
        }
    }

    #[test]
    fn an_interrupt_lets_running_hosts_end() {
        let mut schedule = Schedule::new(3, 1, 0, None);
        assert_eq!(schedule.next_host(), NextHost::Begin(0));
        schedule.interrupt();
        assert_eq!(schedule.next_host(), NextHost::Wait);
        schedule.ended(false);
        assert_eq!((schedule.next_host(), schedule.halt()), (NextHost::Done, Some(Halt::Interrupted)));
        assert_eq!(schedule.unbegun().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn limits_are_numbers_or_shares() {
        for (text, expected) in [
            ("0", Some(FailureLimit::Hosts(0))),
            ("3", Some(FailureLimit::Hosts(3))),
            ("10%", Some(FailureLimit::Percent(10))),
            ("101%", None),
            ("-1", None),
            ("", None),
            ("%", None),
            ("x", None),
        ] {
            assert_eq!(FailureLimit::parse(text), expected, "{text}");
        }
    }
}
