//! Checks of the arguments of system calls.
//!
//! Each function assembles the part of the program that decides about a call.

use super::assembler::{Assembler, FilterVerdict, Next};

const ALLOW: FilterVerdict = FilterVerdict::Allow;
const REFUSE: FilterVerdict = FilterVerdict::Refuse;

const SET_ID: u32 = 0o6000;
/// Flags of opening that make the mode count.
const CREATES: u32 = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY).cast_unsigned();

/// Requests about bridges, virtual networks and frame relay, for which the kernel itself loads a module, with the
/// rights of root and whoever calls. Every socket takes them, also one of a pair.
const LOAD_MODULES: &[u32] = &[0x8940, 0x8941, 0x8980, 0x8981, 0x8982, 0x8983, 0x89a0, 0x89a1];

/// Requests to change flags and versions of a file: encrypted directories, and volumes of btrfs.
const CHANGE_FLAGS: &[u32] =
    &[0x800c_6613, 0x4008_941a, 0x5000_9401, 0x5000_940e, 0x5000_940f, 0x5000_9417, 0x5000_9418, 0x5000_943f];
/// Mask of the direction and the letter of a request.
const KIND_OF_REQUEST: u32 = 0xc000_ff00;
/// Kinds of requests to change flags: general ones of file systems, immutable files.
const KINDS_CHANGE_FLAGS: &[u32] = &[writing(b'f'), writing(b'v'), writing(b'X')];

const INTERNET: &[u32] = &[libc::AF_INET.unsigned_abs(), libc::AF_INET6.unsigned_abs()];
const NETLINK: u32 = libc::AF_NETLINK.unsigned_abs();
const UNIX: u32 = libc::AF_UNIX.unsigned_abs();
/// Mask of the type of a socket, which has flags beside it.
const TYPE: u32 = 0xf;
/// Type whose usual protocol is in a module.
const DCCP: u32 = libc::SOCK_DCCP.unsigned_abs();
/// Types of datagrams. The kernel treats raw pairs as such.
const DATAGRAMS: &[u32] = &[libc::SOCK_DGRAM.unsigned_abs(), libc::SOCK_RAW.unsigned_abs()];
/// Protocols that are part of every kernel with a network. Zero is the usual one for the type of a socket.
const PROTOCOLS: &[u32] = &[
    0,
    libc::IPPROTO_ICMP.unsigned_abs(),
    libc::IPPROTO_TCP.unsigned_abs(),
    libc::IPPROTO_UDP.unsigned_abs(),
    libc::IPPROTO_ICMPV6.unsigned_abs(),
    libc::IPPROTO_UDPLITE.unsigned_abs(),
    libc::IPPROTO_MPTCP.unsigned_abs(),
];
/// Protocol of netlink for addresses and routes.
const ROUTES: u32 = 0;

const fn writing(letter: u8) -> u32 {
    0x4000_0000 | (letter as u32) << 8
}

/// Refuses modes that would make a set-id file, which runs as its owner. Such a program, left behind by a
/// sandbox of root, would make any user root. `openat2` is unknown, because a filter can't check its mode. For a
/// new directory the kernel drops these bits itself.
pub(super) fn set_id(to: &mut Assembler, mode: u8) -> Next {
    let has_bits = to.if_bits(SET_ID, REFUSE, ALLOW);
    to.load(mode, has_bits)
}

/// Refuses to open a file in a way that would make a set-id file. The mode follows the flags.
pub(super) fn opens_set_id(to: &mut Assembler, flags: u8) -> Next {
    let mode = set_id(to, flags + 1);
    let creates = to.if_bits(CREATES, mode, ALLOW);
    to.load(flags, creates)
}

/// Refuses requests for a lease of a file or a delegation of a directory. The owner of a file gets a lease
/// through a descriptor for reading, and then every other process that opens the file waits.
pub(super) fn leases(to: &mut Assembler) -> Next {
    const F_SETDELEG: u32 = 1040;
    let request = to.if_any(&[libc::F_SETLEASE.unsigned_abs(), F_SETDELEG], REFUSE, ALLOW);
    to.load(1, request)
}

/// Refuses requests that load a module. Without a view, it also refuses requests to change flags and versions of a file.
/// The owner of a file can make them on a descriptor for reading, and Landlock does not check them.
pub(super) fn requests(to: &mut Assembler, has_view: bool) -> Next {
    let others = if has_view {
        ALLOW.into()
    } else {
        let kind = to.if_any(KINDS_CHANGE_FLAGS, REFUSE, ALLOW);
        let kind = to.keep_bits(KIND_OF_REQUEST, kind);
        to.if_any(CHANGE_FLAGS, REFUSE, kind)
    };
    let request = to.if_any(LOAD_MODULES, REFUSE, others);
    to.load(1, request)
}

/// Refuses to make a file in memory which can be executed. Landlock does not know such files.
pub(super) fn executable_memory(to: &mut Assembler) -> Next {
    let flags = to.if_bits(libc::MFD_NOEXEC_SEAL, ALLOW, REFUSE);
    to.load(1, flags)
}

/// Refuses calls about another process; number 0 is the caller itself. Threads of the caller are refused too,
/// because their numbers look like those of processes.
pub(super) fn other_process(to: &mut Assembler) -> Next {
    let process = to.if_equal(0, ALLOW, REFUSE);
    to.load(0, process)
}

/// Refuses calls that change the priority of other processes. The first argument is the kind of the second one.
pub(super) fn other_priority(to: &mut Assembler, process: u32) -> Next {
    let kind = to.if_equal(process, ALLOW, REFUSE);
    let kind = to.load(0, kind);
    let number = to.if_equal(0, kind, REFUSE);
    to.load(1, number)
}

/// Refuses new namespaces of these kinds.
pub(super) fn new_namespaces(to: &mut Assembler, kinds: u32) -> Next {
    let flags = to.if_bits(kinds, REFUSE, ALLOW);
    to.load(0, flags)
}

/// Refuses sockets by their family. With a network, it refuses those whose protocol may be in a module, and netlink
/// sockets except those for addresses and routes, which name lookups need.
pub(super) fn sockets(to: &mut Assembler, network: bool, unix_sockets: bool) -> Next {
    let mut family = Next::from(REFUSE);
    if network {
        let protocol = to.if_any(PROTOCOLS, ALLOW, REFUSE);
        let protocol = to.load(2, protocol);
        let internet = to.if_equal(DCCP, REFUSE, protocol);
        let internet = to.keep_bits(TYPE, internet);
        let internet = to.load(1, internet);
        let routes = to.if_equal(ROUTES, ALLOW, REFUSE);
        let routes = to.load(2, routes);
        family = to.if_equal(NETLINK, routes, family);
        family = to.if_any(INTERNET, internet, family);
    }
    if unix_sockets {
        family = to.if_equal(UNIX, ALLOW, family);
    }
    to.load(0, family)
}

/// Refuses pairs of sockets but those of Unix. Without Unix sockets, it refuses datagrams, which can be connected to
/// other sockets. A pair of another kind is a pipe in two directions for good.
pub(super) fn pairs(to: &mut Assembler, unix_sockets: bool) -> Next {
    let unix = if unix_sockets {
        ALLOW.into()
    } else {
        let kind = to.if_any(DATAGRAMS, REFUSE, ALLOW);
        let kind = to.keep_bits(TYPE, kind);
        to.load(1, kind)
    };
    let family = to.if_equal(UNIX, unix, REFUSE);
    to.load(0, family)
}
