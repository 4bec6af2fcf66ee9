//! Rules for calls on files that depend on arguments: modes with set-id bits, leases, and flags.

use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::{Rules, SYS_FCHMODAT2};

const SET_USER: u64 = 0o4000;
const SET_GROUP: u64 = 0o2000;
/// Flags of opening that make the mode count.
const CREATES: [i32; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Matches calls that would make a set-id file, which runs as its owner. Such a program, left behind by a
/// sandbox of root, would make any user root. `openat2` is refused elsewhere, because a filter can't check
/// its mode. For a new directory the kernel drops these bits itself.
pub(super) fn set_id() -> Result<Rules, BackendError> {
    let changed = [
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (SYS_FCHMODAT2, 2),
        (libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
    ];
    let opened = [
        (libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 1),
    ];
    let mut rules = Rules::new();
    for bit in [SET_USER, SET_GROUP] {
        for (call, mode) in changed {
            rules.entry(call).or_default().push(SeccompRule::new(vec![has(mode, bit)?])?);
        }
        for (call, flags) in opened {
            for creates in CREATES.map(|flag| u64::from(flag.unsigned_abs())) {
                let conditions = vec![has(flags, creates)?, has(flags + 1, bit)?];
                rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
            }
        }
    }
    Ok(rules)
}

/// Matches requests for a lease of a file or a delegation of a directory. The owner of a file gets a lease
/// through a descriptor for reading, and then every other process that opens the file waits.
pub(super) fn leases() -> Result<Vec<SeccompRule>, BackendError> {
    const F_SETDELEG: i32 = 1040;
    let requests = [libc::F_SETLEASE, F_SETDELEG];
    let exactly = |request: i32| is(1, SeccompCmpOp::Eq, request.unsigned_abs().into());
    requests.into_iter().map(|request| SeccompRule::new(vec![exactly(request)?])).collect()
}

/// Matches requests to change flags and versions of a file. The owner of a file can make them on a descriptor
/// for reading, and Landlock does not check them: general requests of file systems, immutable files,
/// encrypted directories, and volumes of btrfs.
pub(super) fn flags() -> Result<Vec<SeccompRule>, BackendError> {
    /// Mask of the direction and the letter of a request.
    const KIND: u64 = 0xc000_ff00;
    const WRITE: u64 = 0x4000_0000;
    const ENCRYPT: u64 = 0x800c_6613;
    const VOLUMES: [u64; 7] =
        [0x4008_941a, 0x5000_9401, 0x5000_940e, 0x5000_940f, 0x5000_9417, 0x5000_9418, 0x5000_943f];
    let of_kind = |letter: u8| is(1, SeccompCmpOp::MaskedEq(KIND), WRITE | u64::from(letter) << 8);
    let exactly = |request: u64| is(1, SeccompCmpOp::Eq, request);
    let kinds = [b'f', b'v', b'X'].into_iter().map(of_kind);
    let requests = [ENCRYPT].into_iter().chain(VOLUMES).map(exactly);
    kinds.chain(requests).map(|condition| SeccompRule::new(vec![condition?])).collect()
}

/// Matches calls that make a file in memory which can be executed. Landlock does not know such files.
pub(super) fn executable_memory() -> Result<Vec<SeccompRule>, BackendError> {
    let not_executable = u64::from(libc::MFD_NOEXEC_SEAL);
    Ok(vec![SeccompRule::new(vec![is(1, SeccompCmpOp::MaskedEq(not_executable), 0)?])?])
}

fn has(argument: u8, bit: u64) -> Result<SeccompCondition, BackendError> {
    is(argument, SeccompCmpOp::MaskedEq(bit), bit)
}

fn is(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}
