//! Rules for calls for which the kernel itself loads a module, with the rights of root and whoever calls.

use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

/// Requests about bridges, virtual networks and frame relay. Every socket takes them, also one of a pair.
const REQUESTS: [u64; 8] = [0x8940, 0x8941, 0x8980, 0x8981, 0x8982, 0x8983, 0x89a0, 0x89a1];
const FAMILIES: [i32; 2] = [libc::AF_INET, libc::AF_INET6];
/// Protocols that are part of every kernel with a network. Zero is the usual one for the type of a socket.
const PROTOCOLS: [i32; 7] = [
    0,
    libc::IPPROTO_ICMP,
    libc::IPPROTO_TCP,
    libc::IPPROTO_UDP,
    libc::IPPROTO_ICMPV6,
    libc::IPPROTO_UDPLITE,
    libc::IPPROTO_MPTCP,
];

/// Matches requests to a socket that load a module.
pub(super) fn requests() -> Result<Vec<SeccompRule>, BackendError> {
    REQUESTS.into_iter().map(|request| SeccompRule::new(vec![is(1, SeccompCmpOp::Eq, request)?])).collect()
}

/// Matches sockets of IPv4 and IPv6 whose protocol may be in a module.
pub(super) fn protocols() -> Result<Vec<SeccompRule>, BackendError> {
    const KIND: u64 = 0xf;
    let mut rules = Vec::new();
    for family in FAMILIES.map(|family| u64::from(family.unsigned_abs())) {
        let others = PROTOCOLS.map(|known| is(2, SeccompCmpOp::Ne, known.unsigned_abs().into()));
        let of_family = is(0, SeccompCmpOp::Eq, family)?;
        let conditions = others.into_iter().chain([Ok(of_family.clone())]).collect::<Result<_, _>>()?;
        rules.push(SeccompRule::new(conditions)?);
        // The usual protocol of this type is in a module.
        let kind = is(1, SeccompCmpOp::MaskedEq(KIND), libc::SOCK_DCCP.unsigned_abs().into())?;
        rules.push(SeccompRule::new(vec![of_family, kind])?);
    }
    Ok(rules)
}

fn is(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}
