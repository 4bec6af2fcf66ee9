//! Tests of the whole filter: against another library, and of what it is for.

use seccompiler::sock_filter as OtherInstruction;

use super::assembler::{
    AND, JUMP, JUMP_IF_ANY_BIT, JUMP_IF_AT_LEAST, JUMP_IF_EQUAL, LOAD, PROCESSOR, RETURN,
};
use super::oracle::{Comparison, Rules, compile, rules};
use super::*;
use crate::AllowedPrograms;

/// Calls that a program can do without: `clone3`, those of `io_uring`, `openat2`.
const WITHOUT: [u32; 5] = [435, 425, 426, 427, 437];

/// Arguments of a call.
type Arguments = [u64; 6];

/// Evaluates a filter as the kernel does.
fn evaluate(program: &[sock_filter], kind: u32, number: u32, arguments: &Arguments) -> FilterVerdict {
    const JUMP_IF_MORE: u16 = 0x25;
    let mut data = vec![number, kind, 0, 0];
    for argument in arguments {
        let halves = [argument & 0xffff_ffff, argument >> 32];
        data.extend(halves.map(|half| u32::try_from(half).expect("32 bits")));
    }
    let (mut at, mut value) = (0, 0);
    loop {
        let step = &program[at];
        at += 1;
        let is_met = match step.code {
            LOAD => {
                value = data[step.k as usize / 4];
                continue;
            }
            AND => {
                value &= step.k;
                continue;
            }
            JUMP => {
                at += step.k as usize;
                continue;
            }
            RETURN => {
                let verdicts = [
                    FilterVerdict::Allow,
                    FilterVerdict::Refuse,
                    FilterVerdict::Unknown,
                    FilterVerdict::Kill,
                ];
                let is_meant = |verdict: &FilterVerdict| verdict.value() == step.k;
                return verdicts.into_iter().find(is_meant).expect("a verdict");
            }
            JUMP_IF_EQUAL => value == step.k,
            JUMP_IF_AT_LEAST => value >= step.k,
            JUMP_IF_MORE => value > step.k,
            JUMP_IF_ANY_BIT => value & step.k != 0,
            other => unreachable!("{other:x}"),
        };
        at += usize::from(if is_met { step.jt } else { step.jf });
    }
}

/// Returns sandboxes with every combination of what the filter depends on, without and with a view.
fn combinations() -> Vec<(Sandbox, bool)> {
    let every = |bit: u32| move |number: u32| number >> bit & 1 == 1;
    let (network, unix_sockets, programs, has_view) = (every(0), every(1), every(2), every(3));
    let combination = |number| {
        let programs = programs(number).then(|| AllowedPrograms { programs: Vec::new(), are_analysed: true });
        let sandbox = Sandbox {
            network: network(number),
            unix_sockets: unix_sockets(number),
            programs,
            ..Sandbox::new("/work")
        };
        (sandbox, has_view(number))
    };
    (0..16).map(combination).collect()
}

/// Returns arguments at which a rule about a call may change its mind: for each argument of a condition, its value and
/// its neighbours.
fn interesting(rules: &Rules, call: u32) -> Vec<Arguments> {
    const HIGH: u64 = 0xdead_beef_0000_0000;
    let mut values: [Vec<u64>; 6] = std::array::from_fn(|_| vec![0, u64::MAX]);
    for (argument, comparison) in rules.get(&i64::from(call)).into_iter().flatten().flatten() {
        let (value, bits) = match *comparison {
            Comparison::Is(value) | Comparison::IsNot(value) => (value, [1, 0x8000_0000]),
            Comparison::Bits(mask, value) => (value, [mask, !mask]),
        };
        let near = [value, value ^ bits[0], value ^ bits[1], value.wrapping_sub(1), value | 0o20_000_000];
        for value in near.map(u64::from) {
            values[usize::from(*argument)].extend([value, value | HIGH]);
        }
    }
    let mut all = vec![[0; 6]];
    for (position, mut values) in values.into_iter().enumerate() {
        values.sort_unstable();
        values.dedup();
        // Of arguments that no rule is about, one combination with others is enough.
        if values.len() == 2 {
            continue;
        }
        let with = |arguments: &Arguments, value: u64| {
            let mut arguments = *arguments;
            arguments[position] = value;
            arguments
        };
        all = all
            .iter()
            .flat_map(|one| values.iter().map(|value| with(one, *value)).collect::<Vec<_>>())
            .collect();
    }
    all.extend([[u64::MAX; 6], [1, 2, 3, 4, 5, 6], [HIGH; 6]]);
    all
}

#[test]
fn filter_says_what_another_library_makes_of_the_rules() {
    for (sandbox, has_view) in combinations() {
        let program = program(&sandbox, has_view);
        let rules = rules(&sandbox, has_view);
        let step = |OtherInstruction { code, jt, jf, k }| sock_filter { code, jt, jf, k };
        let other: Vec<sock_filter> = compile(&rules).into_iter().map(step).collect();
        for number in (0..=600).chain([0x3fff_ffff]) {
            for arguments in interesting(&rules, number) {
                let expected = if WITHOUT.contains(&number) {
                    FilterVerdict::Unknown
                } else {
                    evaluate(&other, PROCESSOR, number, &arguments)
                };
                assert_eq!(
                    evaluate(&program, PROCESSOR, number, &arguments),
                    expected,
                    "{number} {arguments:x?} {sandbox:?} {has_view}"
                );
            }
        }
        assert!(program.len() < 350, "{}", program.len());
    }
}

#[test]
fn calls_with_other_numbers_are_no_way_around() {
    const I386: u32 = 0x4000_0003;
    const ARM: u32 = 0x4000_0028;
    for (sandbox, has_view) in combinations() {
        let program = program(&sandbox, has_view);
        for number in (0..=600).chain([0x3fff_ffff, 0x4000_0000, u32::MAX]) {
            for kind in [PROCESSOR ^ 1, PROCESSOR & !0x8000_0000, PROCESSOR & !0x4000_0000, I386, ARM, 0] {
                assert_eq!(
                    evaluate(&program, kind, number, &[0; 6]),
                    FilterVerdict::Kill,
                    "{kind:x} {number}"
                );
            }
            // x32 has the ordinary calls under these numbers; elsewhere no call has such a number.
            let x32 = number | 0x4000_0000;
            let expected =
                if cfg!(target_arch = "x86_64") { FilterVerdict::Unknown } else { FilterVerdict::Allow };
            for arguments in [[0; 6], [u64::MAX; 6]] {
                assert_eq!(evaluate(&program, PROCESSOR, x32, &arguments), expected, "{x32:x}");
            }
        }
    }
}

/// Checks the verdict about a call, for every sandbox, with the arguments and whether that sandbox allows them.
fn check(call: i64, arguments: &[u64], is_allowed: impl Fn(&Sandbox, bool) -> bool) {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    for (sandbox, has_view) in combinations() {
        let program = program(&sandbox, has_view);
        let verdict = evaluate(&program, PROCESSOR, u32::try_from(call).expect("a number"), &all);
        let expected =
            if is_allowed(&sandbox, has_view) { FilterVerdict::Allow } else { FilterVerdict::Refuse };
        assert_eq!(verdict, expected, "{call} {arguments:x?} {sandbox:?} {has_view}");
    }
}

const ALWAYS: fn(&Sandbox, bool) -> bool = |_, _| true;
const NEVER: fn(&Sandbox, bool) -> bool = |_, _| false;
const WITH_VIEW: fn(&Sandbox, bool) -> bool = |_, has_view| has_view;
const WITH_UNIX: fn(&Sandbox, bool) -> bool = |sandbox, _| sandbox.unix_sockets;
const WITH_NETWORK: fn(&Sandbox, bool) -> bool = |sandbox, _| sandbox.network;

/// Flag beside the type of a socket.
const CLOSE_ON_EXEC: u64 = 0x8_0000;

// The rules of the oracle could have the same gap as the filter.

#[test]
fn filter_refuses_and_allows_what_it_is_for() {
    for call in [libc::SYS_read, libc::SYS_write, libc::SYS_execve, libc::SYS_mmap, libc::SYS_connect] {
        check(call, &[3, 1, 2], ALWAYS);
    }
    for call in [libc::SYS_mount, libc::SYS_ptrace, libc::SYS_bpf, libc::SYS_keyctl, SYS_OPEN_TREE_ATTR] {
        check(call, &[], NEVER);
    }
    for call in [libc::SYS_fchownat, libc::SYS_utimensat, libc::SYS_shmget, libc::SYS_fchmod] {
        check(call, &[], WITH_VIEW);
    }
    check(libc::SYS_fchmod, &[3, 0o4755], NEVER);
    check(libc::SYS_openat, &[3, 0, 0o101, 0o2644], NEVER);
    check(libc::SYS_openat, &[3, 0, 0o101, 0o644], ALWAYS);
    check(libc::SYS_clone, &[u64::from(libc::CLONE_NEWUSER.unsigned_abs())], NEVER);
    check(libc::SYS_clone, &[0x0120_0011], ALWAYS);
    check(libc::SYS_unshare, &[0x80], NEVER);
    check(libc::SYS_memfd_create, &[0, 1], |sandbox, _| sandbox.programs.is_none());
    check(libc::SYS_memfd_create, &[0, 9], ALWAYS);
    check(libc::SYS_prlimit64, &[0, 7], ALWAYS);
    check(libc::SYS_prlimit64, &[1, 7], NEVER);
    check(libc::SYS_ioctl, &[3, 0x4008_6602], WITH_VIEW);
    check(libc::SYS_socket, &[1, 1], WITH_UNIX);
    check(libc::SYS_socketpair, &[1, CLOSE_ON_EXEC | 1], ALWAYS);
    check(libc::SYS_socketpair, &[1, CLOSE_ON_EXEC | 2], WITH_UNIX);
    check(libc::SYS_socketpair, &[2, 1], NEVER);
    check(libc::SYS_socket, &[16, 3, 0], WITH_NETWORK);
    check(libc::SYS_socket, &[16, 3, 9], NEVER);
}

#[test]
fn calls_that_load_modules_are_refused() {
    for request in [0x8940, 0x89a1, 0x8983] {
        check(libc::SYS_ioctl, &[3, request], NEVER);
    }
    check(libc::SYS_ioctl, &[3, 0x8912], ALWAYS);
    for family in [libc::AF_INET, libc::AF_INET6].map(|family| u64::from(family.unsigned_abs())) {
        for (kind, protocol) in
            [(CLOSE_ON_EXEC | 1, 0), (CLOSE_ON_EXEC | 1, 6), (CLOSE_ON_EXEC | 1, 262), (2, 17), (2, 1)]
        {
            check(libc::SYS_socket, &[family, kind, protocol], WITH_NETWORK);
        }
        for (kind, protocol) in [(2, 115), (5, 132), (6, 33), (CLOSE_ON_EXEC | 6, 0)] {
            check(libc::SYS_socket, &[family, kind, protocol], NEVER);
        }
    }
}
