//! Assembler of programs that filter system calls.
//!
//! Jumps lead only forward. A program is therefore assembled from its end: wherever an instruction leads to is there
//! already.

use libc::sock_filter;

/// Number of the kernel for this kind of processor: `AUDIT_ARCH_…`.
#[cfg(target_arch = "x86_64")]
pub(super) const PROCESSOR: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const PROCESSOR: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
pub(super) const PROCESSOR: u32 = 0xc000_00f3;

/// First number of the calls of x32, which are ordinary ones under other numbers.
const X32: u32 = 0x4000_0000;

// Instructions.
pub(super) const LOAD: u16 = 0x20;
pub(super) const AND: u16 = 0x54;
pub(super) const JUMP: u16 = 0x05;
pub(super) const JUMP_IF_EQUAL: u16 = 0x15;
pub(super) const JUMP_IF_AT_LEAST: u16 = 0x35;
pub(super) const JUMP_IF_ANY_BIT: u16 = 0x45;
pub(super) const RETURN: u16 = 0x06;

/// Offsets of the number of the call, of the kind of processor, and of the arguments of eight bytes.
const NUMBER: u32 = 0;
const KIND: u32 = 4;
const ARGUMENTS: u32 = 16;

/// Result of a filter for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterVerdict {
    Allow,
    /// The call is not permitted.
    Refuse,
    /// The kernel does not seem to know the call.
    Unknown,
    /// The program is killed.
    Kill,
}

impl FilterVerdict {
    /// Returns the value that stands for the result.
    pub(super) fn value(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Refuse => libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs(),
            Self::Unknown => libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(),
            Self::Kill => libc::SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// Place of an instruction, counted from the end of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InstructionPlace(usize);

/// Part of the program that an instruction leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Verdict(FilterVerdict),
    At(InstructionPlace),
}

impl From<FilterVerdict> for Next {
    fn from(verdict: FilterVerdict) -> Self {
        Self::Verdict(verdict)
    }
}

/// Program that grows towards its beginning.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    /// The last instruction first.
    instructions: Vec<sock_filter>,
}

impl Assembler {
    /// Continues with one of two parts, by whether the loaded value is equal to that one.
    pub(super) fn if_equal(&mut self, value: u32, equal: impl Into<Next>, other: impl Into<Next>) -> Next {
        self.branch(JUMP_IF_EQUAL, value, equal.into(), other.into())
    }

    /// Continues with one of two parts, by whether the loaded value is one of these.
    pub(super) fn if_any(&mut self, values: &[u32], equal: impl Into<Next>, other: impl Into<Next>) -> Next {
        let equal = equal.into();
        values.iter().rev().fold(other.into(), |other, value| self.if_equal(*value, equal, other))
    }

    /// Continues with one of two parts, by whether the loaded value has any of these bits.
    pub(super) fn if_bits(&mut self, bits: u32, any: impl Into<Next>, none: impl Into<Next>) -> Next {
        self.branch(JUMP_IF_ANY_BIT, bits, any.into(), none.into())
    }

    /// Loads the lower half of an argument before that part.
    pub(super) fn load(&mut self, argument: u8, then: Next) -> Next {
        self.before(LOAD, ARGUMENTS + 8 * u32::from(argument), then)
    }

    /// Keeps only these bits of the loaded value for that part.
    pub(super) fn keep_bits(&mut self, bits: u32, then: Next) -> Next {
        self.before(AND, bits, then)
    }

    /// Puts the beginning before the program: the check of the processor, and the search for the number of the call.
    /// Calls that are not listed are allowed. The calls are in the order of their numbers.
    pub(super) fn finish(mut self, calls: impl IntoIterator<Item = (u32, Next)>) -> Vec<sock_filter> {
        // Numbers from which on a part is meant, until the next one.
        let mut ranges: Vec<(u32, Next)> = vec![(0, FilterVerdict::Allow.into())];
        let mut add = |first: u32, next: Next| {
            // A range is empty if the next one begins at its number.
            if ranges.last().is_some_and(|(begun, _)| *begun == first) {
                ranges.pop();
            }
            if ranges.last().is_none_or(|(_, last)| *last != next) {
                ranges.push((first, next));
            }
        };
        for (number, next) in calls {
            add(number, next);
            add(number + 1, FilterVerdict::Allow.into());
        }
        if cfg!(target_arch = "x86_64") {
            add(X32, FilterVerdict::Unknown.into());
        }
        let search = self.search(&ranges);
        let own = self.before(LOAD, NUMBER, search);
        let kind = self.if_equal(PROCESSOR, own, FilterVerdict::Kill);
        self.before(LOAD, KIND, kind);
        self.instructions.reverse();
        self.instructions
    }

    /// Finds the range of the number by halves: the kernel evaluates a new filter for every number.
    fn search(&mut self, ranges: &[(u32, Next)]) -> Next {
        let (lower, upper) = ranges.split_at(ranges.len() / 2);
        let Some((first, next)) = upper.first() else { return FilterVerdict::Allow.into() };
        if lower.is_empty() {
            return *next;
        }
        let upper = self.search(upper);
        let lower = self.search(lower);
        self.branch(JUMP_IF_AT_LEAST, *first, upper, lower)
    }

    fn branch(&mut self, code: u16, k: u32, met: Next, other: Next) -> Next {
        if met == other {
            return met;
        }
        // The instruction that the second place may need moves the first one away.
        let met = self.reach(met, 1);
        let other = self.reach(other, 0);
        let (jt, jf) = (self.distance(met), self.distance(other));
        // `reach` left no place farther away.
        let [jt, jf] = [jt, jf].map(|distance| u8::try_from(distance).unwrap_or(u8::MAX));
        Next::At(self.push(sock_filter { code, jt, jf, k }))
    }

    /// Returns a place from which a part goes on, near enough for a branch after at most `room` more instructions.
    fn reach(&mut self, next: Next, room: usize) -> InstructionPlace {
        let is_near = |place: InstructionPlace, own: &Self| u8::try_from(own.distance(place) + room).is_ok();
        let place = match next {
            Next::Verdict(verdict) => {
                let value = verdict.value();
                let is_it = |instruction: &sock_filter| instruction.code == RETURN && instruction.k == value;
                // The last one that was made is the nearest.
                let made = self.instructions.iter().rposition(is_it).map(InstructionPlace);
                if let Some(place) = made.filter(|place| is_near(*place, self)) {
                    return place;
                }
                return self.place(RETURN, value);
            }
            Next::At(place) => place,
        };
        if is_near(place, self) { place } else { self.jump_to(place) }
    }

    fn jump_to(&mut self, place: InstructionPlace) -> InstructionPlace {
        let distance = u32::try_from(self.distance(place)).unwrap_or(u32::MAX);
        self.place(JUMP, distance)
    }

    /// Returns the number of instructions between the next one and a place.
    fn distance(&self, place: InstructionPlace) -> usize {
        self.instructions.len() - place.0 - 1
    }

    /// Makes an instruction that continues with that part. A verdict needs no value.
    fn before(&mut self, code: u16, k: u32, then: Next) -> Next {
        let Next::At(place) = then else { return then };
        if self.distance(place) > 0 {
            self.jump_to(place);
        }
        Next::At(self.place(code, k))
    }

    fn place(&mut self, code: u16, k: u32) -> InstructionPlace {
        self.push(sock_filter { code, jt: 0, jf: 0, k })
    }

    fn push(&mut self, instruction: sock_filter) -> InstructionPlace {
        self.instructions.push(instruction);
        InstructionPlace(self.instructions.len() - 1)
    }
}
