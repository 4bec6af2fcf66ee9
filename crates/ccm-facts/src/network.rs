//! Interfaces, addresses, and which of them leads out.

mod routes;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ccm_host::{Interface, InterfaceFlag};
use serde_json::{Value, json};

use crate::Warning;
use crate::reader::Reader;
use routes::Route;

/// Addresses that everybody reaches by the way that leads out. Nothing is ever sent to them; they are looked
/// up in the tables, because a virtual private network may lead out by other routes than the default one.
const OUTSIDE_4: Ipv4Addr = Ipv4Addr::new(1, 1, 1, 1);
const OUTSIDE_6: Ipv6Addr = Ipv6Addr::new(0x2606, 0x4700, 0x4700, 0, 0, 0, 0, 0x1111);

/// Flags of `/proc/net/if_inet6`.
const TEMPORARY: u32 = 0x01;
const FAILED: u32 = 0x08;
const DEPRECATED: u32 = 0x20;
const TENTATIVE: u32 = 0x40;

/// `network`.
pub(crate) fn network(reader: &mut Reader<'_>) -> Value {
    let interfaces = reader.machine.interfaces().unwrap_or_else(|source| {
        reader.warnings.push(Warning::Unanswered { what: "the network interfaces", source });
        Vec::new()
    });
    // Kernels without one of the protocols don't have its file.
    let routes = routes::ipv4(&reader.optional("/proc/net/route").unwrap_or_default());
    let out_4 = routes::best(&routes, IpAddr::V4(OUTSIDE_4));
    let routes = routes::ipv6(&reader.optional("/proc/net/ipv6_route").unwrap_or_default());
    let out_6 = routes::best(&routes, IpAddr::V6(OUTSIDE_6));
    let flags = address_flags(&reader.optional("/proc/net/if_inet6").unwrap_or_default());

    let addresses: Vec<Value> = all(&interfaces)
        .filter(|(_, address, _)| is_reachable(*address))
        .map(|(interface, address, _)| {
            let out = if address.is_ipv4() { out_4 } else { out_6 };
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
        "default_ipv4": out_4.and_then(|route| source_4(&interfaces, route)),
        "default_ipv6": out_6.and_then(|route| source_6(&interfaces, route, &flags)),
        "addresses": addresses,
        "interfaces": shown,
    })
}

fn show(reader: &mut Reader<'_>, interface: &Interface) -> Value {
    let about = format!("/sys/class/net/{}", interface.name);
    let mtu = reader.line(&format!("{about}/mtu")).and_then(|number| number.parse::<u64>().ok());
    let hardware = interface.hardware.map(|bytes| bytes.map(|byte| format!("{byte:02x}")).join(":"));
    // The addresses of some networks are longer.
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

fn all(interfaces: &[Interface]) -> impl Iterator<Item = (&Interface, IpAddr, u8)> {
    let of = |interface| move |(address, prefix): &(IpAddr, u8)| (interface, *address, *prefix);
    interfaces.iter().flat_map(move |interface| interface.addresses.iter().map(of(interface)))
}

/// Tells whether others can reach an address: it is neither this machine's alone nor this link's.
fn is_reachable(address: IpAddr) -> bool {
    let local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !(local || address.is_loopback() || address.is_multicast() || address.is_unspecified())
}

/// The address that packets on a route come from, as the kernel chooses: on its interface the first one in
/// the network of the gateway, else the first one, else one of another interface.
fn source_4(interfaces: &[Interface], route: &Route) -> Option<IpAddr> {
    let candidates = || all(interfaces).filter(|(_, address, _)| address.is_ipv4() && is_reachable(*address));
    let own = || candidates().filter(|(interface, ..)| interface.name == route.interface);
    let near = own().find(|(_, address, prefix)| {
        route.gateway.is_some_and(|gateway| routes::common_bits(*address, gateway) >= u32::from(*prefix))
    });
    near.or_else(|| own().next()).or_else(|| candidates().next()).map(|(_, address, _)| address)
}

/// The same for IPv6: an address in use before one that runs out, one for everybody before a private one, one
/// that lasts before a temporary one, then what has most in common with where the packets go.
fn source_6(interfaces: &[Interface], route: &Route, flags: &HashMap<Ipv6Addr, u32>) -> Option<IpAddr> {
    let candidates = all(interfaces).filter_map(|(interface, address, _)| match address {
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
            routes::common_bits(IpAddr::V6(*address), IpAddr::V6(OUTSIDE_6)),
        )
    };
    // Of equals the first one counts, as it does for the kernel.
    let best = usable.reduce(|best, next| if rank(&next) > rank(&best) { next } else { best });
    best.map(|(_, address, _)| IpAddr::V6(address))
}

/// The flags of the IPv6 addresses: `fe80…0001 02 40 20 80 eth0`.
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
