//! Interfaces, addresses and default routes.

mod routes;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ccm_host::{Interface, InterfaceFlag};
use serde_json::{Value, json};

use crate::Warning;
use crate::reader::FactReader;
use routes::Route;

/// Public addresses, used only to look up a route; nothing is sent there. A virtual private network may
/// replace the default route by others.
const OUTSIDE_IPV4: Ipv4Addr = Ipv4Addr::new(1, 1, 1, 1);
const OUTSIDE_IPV6: Ipv6Addr = Ipv6Addr::new(0x2606, 0x4700, 0x4700, 0, 0, 0, 0, 0x1111);

/// Flags of `/proc/net/if_inet6`.
const TEMPORARY: u32 = 0x01;
const FAILED: u32 = 0x08;
const DEPRECATED: u32 = 0x20;
const TENTATIVE: u32 = 0x40;

pub(crate) fn network(reader: &mut FactReader<'_>) -> Value {
    let interfaces = reader.machine.interfaces().unwrap_or_else(|source| {
        reader.warnings.push(Warning::QueryFailed { what: "the network interfaces", source });
        Vec::new()
    });
    // A kernel without one of the protocols lacks its file.
    let routes = routes::ipv4(&reader.optional("/proc/net/route").unwrap_or_default());
    let default_ipv4 = routes::best(&routes, IpAddr::V4(OUTSIDE_IPV4));
    let routes = routes::ipv6(&reader.optional("/proc/net/ipv6_route").unwrap_or_default());
    let default_ipv6 = routes::best(&routes, IpAddr::V6(OUTSIDE_IPV6));
    let flags = address_flags(&reader.optional("/proc/net/if_inet6").unwrap_or_default());

    let addresses: Vec<Value> = all_addresses(&interfaces)
        .filter(|(_, address, _)| is_reachable(*address))
        .map(|(interface, address, _)| {
            let out = if address.is_ipv4() { default_ipv4 } else { default_ipv6 };
            json!({
                "interface": interface.name,
                "address": address,
                "ipv4": address.is_ipv4(),
                "default": out.is_some_and(|route| route.interface == interface.name),
            })
        })
        .collect();
    let shown: Vec<Value> = interfaces.iter().map(|interface| show(reader, interface)).collect();
    json!({
        "default_ipv4": default_ipv4.and_then(|route| source_ipv4(&interfaces, route)),
        "default_ipv6": default_ipv6.and_then(|route| source_ipv6(&interfaces, route, &flags)),
        "addresses": addresses,
        "interfaces": shown,
    })
}

fn show(reader: &mut FactReader<'_>, interface: &Interface) -> Value {
    let about = format!("/sys/class/net/{}", interface.name);
    let mtu = reader.line(&format!("{about}/mtu")).and_then(|number| number.parse::<u64>().ok());
    let hardware = interface.hardware.map(|bytes| bytes.map(|byte| format!("{byte:02x}")).join(":"));
    // Some networks have longer hardware addresses.
    let hardware = hardware.or_else(|| {
        let address = reader.line(&format!("{about}/address"))?;
        address.contains(|digit: char| digit != '0' && digit != ':').then_some(address)
    });
    let addresses: Vec<Value> =
        interface.addresses.iter().map(|(ip, prefix)| json!({ "addr": format!("{ip}/{prefix}") })).collect();
    json!({
        "index": interface.index,
        "mtu": mtu,
        "name": interface.name,
        "hardwareAddr": hardware.unwrap_or_default(),
        "flags": interface.flags.iter().map(|flag| flag_name(*flag)).collect::<Vec<_>>(),
        "addrs": addresses,
    })
}

fn flag_name(flag: InterfaceFlag) -> &'static str {
    match flag {
        InterfaceFlag::Up => "up",
        InterfaceFlag::Broadcast => "broadcast",
        InterfaceFlag::Loopback => "loopback",
        InterfaceFlag::PointToPoint => "pointtopoint",
        InterfaceFlag::Multicast => "multicast",
    }
}

fn all_addresses(interfaces: &[Interface]) -> impl Iterator<Item = (&Interface, IpAddr, u8)> {
    let of = |interface| move |(address, prefix): &(IpAddr, u8)| (interface, *address, *prefix);
    interfaces.iter().flat_map(move |interface| interface.addresses.iter().map(of(interface)))
}

/// Returns `true` if other machines can reach an address: it is neither loopback nor link-local.
fn is_reachable(address: IpAddr) -> bool {
    let local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !(local || address.is_loopback() || address.is_multicast() || address.is_unspecified())
}

/// Returns the source address of packets on a route, chosen as the kernel does: on the interface of the route
/// the first in the gateway's network, or else the first; or else one of another interface.
fn source_ipv4(interfaces: &[Interface], route: &Route) -> Option<IpAddr> {
    let candidates =
        || all_addresses(interfaces).filter(|(_, address, _)| address.is_ipv4() && is_reachable(*address));
    let own = || candidates().filter(|(interface, ..)| interface.name == route.interface);
    let near = own().find(|(_, address, prefix)| {
        route.gateway.is_some_and(|gateway| routes::common_bits(*address, gateway) >= u32::from(*prefix))
    });
    near.or_else(|| own().next()).or_else(|| candidates().next()).map(|(_, address, _)| address)
}

/// Returns the source address for IPv6: prefers, in this order, addresses that are not deprecated, on the
/// interface of the route, global, permanent, and with the longest common prefix with the destination.
fn source_ipv6(interfaces: &[Interface], route: &Route, flags: &HashMap<Ipv6Addr, u32>) -> Option<IpAddr> {
    let candidates = all_addresses(interfaces).filter_map(|(interface, address, _)| match address {
        IpAddr::V6(v6) if is_reachable(address) => {
            Some((interface, v6, flags.get(&v6).copied().unwrap_or(0)))
        }
        _ => None,
    });
    let usable = candidates.filter(|(.., flags)| flags & (TENTATIVE | FAILED) == 0);
    let rank = |(interface, address, flags): &(&Interface, Ipv6Addr, u32)| {
        (
            flags & DEPRECATED == 0,
            interface.name == route.interface,
            !address.is_unique_local(),
            flags & TEMPORARY == 0,
            routes::common_bits(IpAddr::V6(*address), IpAddr::V6(OUTSIDE_IPV6)),
        )
    };
    // As for the kernel, the first of equals wins.
    let best = usable.reduce(|best, next| if rank(&next) > rank(&best) { next } else { best });
    best.map(|(_, address, _)| IpAddr::V6(address))
}

/// Parses the flags of IPv6 addresses: `fe80…0001 02 40 20 80 eth0`.
fn address_flags(text: &str) -> HashMap<Ipv6Addr, u32> {
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u128::from_str_radix(words.next()?, 16).ok()?;
        let flags = u32::from_str_radix(words.nth(3)?, 16).ok()?;
        Some((Ipv6Addr::from_bits(address), flags))
    };
    text.lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests;
