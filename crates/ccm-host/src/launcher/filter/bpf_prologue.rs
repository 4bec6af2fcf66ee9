//! Instructions before the rules of a filter, for calls that need no rule.

use std::iter::once;

use seccompiler::{BpfProgram, sock_filter};

/// Number of the kernel for this kind of processor: `AUDIT_ARCH_…`.
#[cfg(target_arch = "x86_64")]
pub(super) const PROCESSOR: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const PROCESSOR: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
pub(super) const PROCESSOR: u32 = 0xc000_00f3;

const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Offsets of the number of the call and of the kind of processor.
const NUMBER: u32 = 0;
const KIND: u32 = 4;

const fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Kills programs for another kind of processor: their calls have other numbers.
pub(super) fn of_this_processor() -> BpfProgram {
    let is_this = sock_filter { jt: 1, ..step(JUMP_IF_EQUAL, PROCESSOR) };
    vec![step(LOAD, KIND), is_this, step(RETURN, libc::SECCOMP_RET_KILL_PROCESS)]
}

/// Returns the error of an unknown call for these calls, and for the calls of x32, which are ordinary ones
/// under other numbers.
pub(super) fn unknown(calls: &[i64]) -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let x32 = cfg!(target_arch = "x86_64").then_some((JUMP_IF_AT_LEAST, X32));
    let calls = calls.iter().filter_map(|call| Some((JUMP_IF_EQUAL, u32::try_from(*call).ok()?)));
    let tests: Vec<(u16, u32)> = x32.into_iter().chain(calls).collect();
    // Each jumps to the result, over the remaining tests and the jump.
    let jumps = (1..=u8::try_from(tests.len()).unwrap_or(u8::MAX)).rev();
    let tests = tests.iter().zip(jumps).map(|((code, k), jt)| sock_filter { jt, ..step(*code, *k) });
    let result = step(RETURN, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
    once(step(LOAD, NUMBER)).chain(tests).chain([step(JUMP, 1), result]).collect()
}

/// Allows all calls except these, for which the following instructions decide. The number of the call is
/// loaded before.
pub(super) fn allowed_but(numbers: &[u32]) -> BpfProgram {
    // Two instructions for each remaining number, and the result: farther than a conditional jump reaches.
    let jumps = (0..numbers.len()).rev();
    let jumps = jumps.map(|left| step(JUMP, u32::try_from(2 * left + 1).unwrap_or_default()));
    let is = |number: &u32| sock_filter { jf: 1, ..step(JUMP_IF_EQUAL, *number) };
    let tests = numbers.iter().zip(jumps).flat_map(|(number, jump)| [is(number), jump]);
    tests.chain([step(RETURN, libc::SECCOMP_RET_ALLOW)]).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Result of a filter for a call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum FilterResult {
        Allow,
        Error(i32),
        Kill,
        /// The filter ended without a result.
        Nothing,
    }

    /// Evaluates a filter as the kernel does, for a call with these arguments. The others are zero.
    pub(crate) fn evaluate(
        program: &[sock_filter],
        kind: u32,
        number: u32,
        arguments: &[u64],
    ) -> FilterResult {
        let mut data = vec![number, kind, 0, 0];
        for index in 0..6 {
            let argument = arguments.get(index).copied().unwrap_or_default();
            let halves = [argument & 0xffff_ffff, argument >> 32];
            data.extend(halves.map(|half| u32::try_from(half).expect("32 bits")));
        }
        let (mut at, mut value) = (0, 0);
        while let Some(step) = program.get(at) {
            at += 1;
            let is_met = match step.code {
                LOAD => {
                    value = data[step.k as usize / 4];
                    continue;
                }
                0x54 => {
                    value &= step.k;
                    continue;
                }
                JUMP => {
                    at += step.k as usize;
                    continue;
                }
                RETURN => {
                    return match step.k & 0xffff_0000 {
                        libc::SECCOMP_RET_ALLOW => FilterResult::Allow,
                        libc::SECCOMP_RET_ERRNO => FilterResult::Error((step.k & 0xffff).cast_signed()),
                        libc::SECCOMP_RET_KILL_PROCESS | libc::SECCOMP_RET_KILL_THREAD => FilterResult::Kill,
                        other => unreachable!("{other:x}"),
                    };
                }
                JUMP_IF_EQUAL => value == step.k,
                JUMP_IF_AT_LEAST => value >= step.k,
                0x25 => value > step.k,
                other => unreachable!("{other:x}"),
            };
            at += usize::from(if is_met { step.jt } else { step.jf });
        }
        FilterResult::Nothing
    }

    #[test]
    fn all_are_allowed_but_those_that_are_named() {
        let many: Vec<u32> = (0..400).filter(|number| number % 3 == 0).collect();
        for named in [&[][..], &[0], &[5], &[5, 6], &[0, 7, 699], &many] {
            let program = [vec![step(LOAD, NUMBER)], allowed_but(named)].concat();
            for number in 0..700 {
                let expected =
                    if named.contains(&number) { FilterResult::Nothing } else { FilterResult::Allow };
                assert_eq!(evaluate(&program, PROCESSOR, number, &[]), expected, "{number} of {named:?}");
            }
        }
    }
}
