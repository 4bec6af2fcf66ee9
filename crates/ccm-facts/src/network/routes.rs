//! Routes in the kernel's main tables.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const UP: u32 = 0x1;
const REJECT: u32 = 0x200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) interface: String,
    pub(super) gateway: Option<IpAddr>,
    destination: IpAddr,
    prefix: u32,
    metric: u32,
}

/// Parses `/proc/net/route`; invalid lines are skipped.
pub(super) fn ipv4(text: &str) -> Vec<Route> {
    // The numbers are in memory order, which is the machine's byte order.
    let address = |word: &str| Some(Ipv4Addr::from(u32::from_str_radix(word, 16).ok()?.to_ne_bytes()));
    let route = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [interface, destination, gateway, flags, _, _, metric, mask, ..] = words[..] else { return None };
        let gateway = address(gateway)?;
        let route = Route {
            interface: interface.to_owned(),
            gateway: (!gateway.is_unspecified()).then_some(IpAddr::V4(gateway)),
            destination: IpAddr::V4(address(destination)?),
            prefix: address(mask)?.to_bits().leading_ones(),
            metric: metric.parse().ok()?,
        };
        is_usable(flags).then_some(route)
    };
    text.lines().skip(1).filter_map(route).collect()
}

pub(super) fn ipv6(text: &str) -> Vec<Route> {
    let address = |word: &str| Some(Ipv6Addr::from_bits(u128::from_str_radix(word, 16).ok()?));
    let route = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [destination, prefix, _, _, gateway, metric, _, _, flags, interface] = words[..] else {
            return None;
        };
        let gateway = address(gateway)?;
        let route = Route {
            interface: interface.to_owned(),
            gateway: (!gateway.is_unspecified()).then_some(IpAddr::V6(gateway)),
            destination: IpAddr::V6(address(destination)?),
            prefix: u32::from_str_radix(prefix, 16).ok()?,
            metric: u32::from_str_radix(metric, 16).ok()?,
        };
        is_usable(flags).then_some(route)
    };
    text.lines().filter_map(route).collect()
}

fn is_usable(flags: &str) -> bool {
    u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & (UP | REJECT) == UP)
}

/// Returns the route to an address: the longest prefix, then the lowest metric, then the first.
pub(super) fn best(routes: &[Route], to: IpAddr) -> Option<&Route> {
    let fitting = routes.iter().filter(|route| common_bits(route.destination, to) >= route.prefix);
    fitting.min_by_key(|route| (u32::MAX - route.prefix, route.metric))
}

/// Number of leading bits that two addresses share; 0 for addresses of different versions.
pub(super) fn common_bits(one: IpAddr, other: IpAddr) -> u32 {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => 0,
    }
}
