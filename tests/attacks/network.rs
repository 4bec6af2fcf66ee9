//! Probes of sockets.

use libc::{c_int, c_long};

use crate::calls::{Attempt, attempt, call, room};
use crate::ground::Target;
use crate::probe::{NamedClosure, Probe, Promise};

/// Number of families that Linux has.
const FAMILIES: c_int = 47;
/// Number of kinds of netlink sockets.
const KINDS: c_int = 23;
const TYPES: [c_int; 6] = [
    libc::SOCK_STREAM,
    libc::SOCK_DGRAM,
    libc::SOCK_RAW,
    libc::SOCK_RDM,
    libc::SOCK_SEQPACKET,
    10, // SOCK_PACKET
];
/// Sockets of services, which every user may connect to.
const SERVICES: [&str; 7] = [
    "/dev/log",
    "/run/dbus/system_bus_socket",
    "/run/docker.sock",
    "/run/nscd/socket",
    "/run/systemd/journal/dev-log",
    "/run/systemd/journal/stdout",
    "/run/systemd/private",
];

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes: Vec<Probe> = (0..FAMILIES).map(family).collect();
    probes.extend((0..KINDS).map(netlink));
    probes.extend(pairs());
    probes.extend(connections());
    probes.extend(settings());
    probes.extend(modules());
    probes
}

fn socket(family: c_int, kind: c_int, protocol: c_int) -> Result<c_int, c_int> {
    let made = call(libc::SYS_socket, &[&family, &(kind | libc::SOCK_CLOEXEC), &protocol])?;
    Ok(c_int::try_from(made).expect("a descriptor"))
}

/// Makes a socket of any type of a family.
fn family(family: c_int) -> Probe {
    let promise = match family {
        libc::AF_UNIX => Promise::UnixSockets,
        libc::AF_INET | libc::AF_INET6 | libc::AF_NETLINK => Promise::NetworkSocket,
        _ => Promise::Filtered,
    };
    let any = move |_: &Target| {
        let mut result = Err(libc::EPERM);
        for kind in TYPES {
            result = result.or_else(|_| socket(family, kind, 0).map(drop));
        }
        result
    };
    let probe = Probe::new(format!("socket of family {family}"), promise, any);
    if family == libc::AF_UNIX { probe } else { probe.if_present() }
}

/// Requests and protocols for which the kernel loads a module.
fn modules() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (name, request) in [
        ("bridges", 0x8940),
        ("new bridges", 0x89a0),
        ("virtual networks", 0x8982),
        ("new virtual networks", 0x8983),
    ] {
        let ask = move |_: &Target| {
            let mut pair: [c_int; 2] = [0; 2];
            let made = crate::calls::address(pair.as_mut_ptr());
            attempt(libc::SYS_socketpair, &[&libc::AF_UNIX, &libc::SOCK_STREAM, &0, &made])?;
            attempt(libc::SYS_ioctl, &[&pair[0], &c_long::from(request), &room()])
        };
        probes.push(Probe::new(format!("request about {name}"), Promise::Filtered, ask).if_present());
    }
    for (name, kind, protocol) in [
        ("SCTP", libc::SOCK_STREAM, libc::IPPROTO_SCTP),
        ("DCCP", libc::SOCK_DCCP, libc::IPPROTO_DCCP),
        ("DCCP by its type", libc::SOCK_DCCP, 0),
        ("L2TP", libc::SOCK_DGRAM, 115),
    ] {
        for family in [libc::AF_INET, libc::AF_INET6] {
            let make = move |_: &Target| socket(family, kind, protocol).map(drop);
            let name = format!("{name} of family {family}");
            probes.push(Probe::new(name, Promise::Filtered, make).if_present());
        }
    }
    probes
}

fn netlink(protocol: c_int) -> Probe {
    let promise = if protocol == libc::NETLINK_ROUTE { Promise::NetworkSocket } else { Promise::Filtered };
    let make = move |_: &Target| socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol).map(drop);
    Probe::new(format!("netlink of kind {protocol}"), promise, make).if_present()
}

fn pairs() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (name, kind, promise) in [
        ("streams", libc::SOCK_STREAM, Promise::Open),
        ("packets", libc::SOCK_SEQPACKET, Promise::Open),
        ("datagrams", libc::SOCK_DGRAM, Promise::UnixSockets),
        ("raw datagrams", libc::SOCK_RAW, Promise::UnixSockets),
    ] {
        let pair = move |_: &Target| attempt(libc::SYS_socketpair, &[&libc::AF_UNIX, &kind, &0, &room()]);
        probes.push(Probe::new(format!("pair of {name}"), promise, pair));
    }
    for family in [libc::AF_INET, libc::AF_TIPC, libc::AF_NETLINK] {
        let pair =
            move |_: &Target| attempt(libc::SYS_socketpair, &[&family, &libc::SOCK_STREAM, &0, &room()]);
        let name = format!("pair of family {family}");
        probes.push(Probe::new(name, Promise::Filtered, pair).if_present());
    }
    probes
}

/// Returns the address of a Unix socket and its length. A name begins with a zero byte.
fn unix(at: &str) -> ([u8; 110], c_long) {
    let mut address = [0; 110];
    address[..2].copy_from_slice(&1_u16.to_ne_bytes());
    address[2..2 + at.len()].copy_from_slice(at.as_bytes());
    (address, c_long::try_from(2 + at.len()).expect("a length"))
}

fn connect_unix(kind: c_int, at: &str) -> Attempt {
    let socket = socket(libc::AF_UNIX, kind, 0)?;
    let (address, length) = unix(at);
    attempt(libc::SYS_connect, &[&socket, &address, &length])
}

/// Returns the address of a port of this machine.
fn local(port: u16) -> [u8; 16] {
    let mut address = [0; 16];
    address[..2].copy_from_slice(&2_u16.to_ne_bytes());
    address[2..4].copy_from_slice(&port.to_be_bytes());
    address[4..8].copy_from_slice(&[127, 0, 0, 1]);
    address
}

fn connections() -> Vec<Probe> {
    let mut probes = vec![
        Probe::new("connect to a port", Promise::Network, |target| {
            let socket = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
            attempt(libc::SYS_connect, &[&socket, &local(target.port), &16])
        }),
        Probe::new("send a datagram", Promise::Network, |target| {
            let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
            attempt(libc::SYS_sendto, &[&socket, &[0_u8; 1], &1, &0, &local(target.port), &16])
        }),
        Probe::new("connect to a socket outside by path", Promise::SocketByPath, |target| {
            connect_unix(libc::SOCK_STREAM, &target.outside("socket").display().to_string())
        }),
        Probe::new("connect to a socket outside by name", Promise::SocketByName, |target| {
            connect_unix(libc::SOCK_STREAM, &format!("\0{}", target.name()))
        }),
        Probe::new("listen on its own socket", Promise::UnixSockets, |target| {
            let socket = socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)?;
            let (address, length) = unix(&target.root.join("work/s").display().to_string());
            attempt(libc::SYS_bind, &[&socket, &address, &length])?;
            attempt(libc::SYS_listen, &[&socket, &1])
        }),
        Probe::new("send on a pair to a socket outside", Promise::SocketByPath, |target| {
            let mut pair = [0_i32; 2];
            let room = crate::calls::address(pair.as_mut_ptr());
            attempt(libc::SYS_socketpair, &[&libc::AF_UNIX, &libc::SOCK_DGRAM, &0, &room])?;
            let (address, length) = unix(&target.outside("socket").display().to_string());
            attempt(libc::SYS_sendto, &[&pair[0], &[0_u8; 1], &1, &0, &address, &length])
        })
        .if_present(),
    ];
    for service in SERVICES {
        for (name, kind) in [("stream", libc::SOCK_STREAM), ("datagram", libc::SOCK_DGRAM)] {
            let connect = move |_: &Target| connect_unix(kind, service);
            let name = format!("connect to {service} by {name}");
            probes.push(Probe::new(name, Promise::SocketByPath, connect).if_present());
        }
    }
    probes
}

/// Changes of the network that need a privilege. The values are the present ones.
fn settings() -> Vec<Probe> {
    let internet = |kind| socket(libc::AF_INET, kind, 0);
    let attempts: [NamedClosure; 6] = [
        ("a raw socket", Box::new(|_| socket(libc::AF_INET, libc::SOCK_RAW, 1).map(drop))),
        ("a raw socket of IPv6", Box::new(|_| socket(libc::AF_INET6, libc::SOCK_RAW, 58).map(drop))),
        (
            "a packet socket",
            Box::new(|_| socket(libc::AF_PACKET, libc::SOCK_RAW, c_int::from(3_u16.to_be())).map(drop)),
        ),
        (
            "a mark",
            Box::new(move |_| {
                let socket = internet(libc::SOCK_DGRAM)?;
                attempt(libc::SYS_setsockopt, &[&socket, &libc::SOL_SOCKET, &libc::SO_MARK, &[1_u32; 1], &4])
            }),
        ),
        (
            "a foreign address",
            Box::new(move |_| {
                let socket = internet(libc::SOCK_DGRAM)?;
                attempt(libc::SYS_setsockopt, &[&socket, &0, &libc::IP_TRANSPARENT, &[1_u32; 1], &4])
            }),
        ),
        (
            "the state of an interface",
            Box::new(move |_| {
                let socket = internet(libc::SOCK_DGRAM)?;
                let mut request = [0_u8; 64];
                request[..2].copy_from_slice(b"lo");
                let room = crate::calls::address(request.as_mut_ptr());
                attempt(libc::SYS_ioctl, &[&socket, &0x8913, &room])?;
                attempt(libc::SYS_ioctl, &[&socket, &0x8914, &room])
            }),
        ),
    ];
    let probe = |(name, attempt)| Probe::new(format!("use {name}"), Promise::Closed, attempt).if_present();
    attempts.map(probe).into()
}
