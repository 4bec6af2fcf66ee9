//! Routing tables and the resulting addresses.

use ccm_testkit::FakeMachine;

use super::*;

const HEADER: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

fn interface(name: &str, addresses: &[&str]) -> Interface {
    let parse = |text: &&str| {
        let (address, prefix) = text.split_once('/').expect("an address with its prefix");
        (address.parse().expect("an address"), prefix.parse().expect("a prefix"))
    };
    let addresses = addresses.iter().map(parse).collect();
    Interface { name: name.to_owned(), index: 2, addresses, ..Interface::default() }
}

fn machine() -> FakeMachine {
    let interfaces = vec![
        interface("lo", &["127.0.0.1/8", "::1/128"]),
        interface(
            "eth0",
            &["10.0.0.5/24", "192.0.2.7/24", "fe80::1/64", "fd00::2/64", "2001:db8::2/64", "2001:db8::3/64"],
        ),
        interface("tun0", &["10.8.0.2/24"]),
    ];
    FakeMachine { interfaces, ..FakeMachine::default() }
}

fn route_4(name: &str, to: [u8; 4], mask: [u8; 4], gateway: [u8; 4], flags: u32, metric: u32) -> String {
    let word = |bytes: [u8; 4]| u32::from_ne_bytes(bytes);
    format!(
        "{name}\t{:08X}\t{:08X}\t{flags:04X}\t0\t0\t{metric}\t{:08X}\t0\t0\t0\n",
        word(to),
        word(gateway),
        word(mask)
    )
}

fn route_6(name: &str, to: &str, prefix: u32, gateway: &str, flags: u32, metric: u32) -> String {
    let word = |text: &str| format!("{:032x}", text.parse::<Ipv6Addr>().expect("an address").to_bits());
    let (to, none, gateway) = (word(to), word("::"), word(gateway));
    format!("{to} {prefix:02x} {none} 00 {gateway} {metric:08x} 00000001 00000000 {flags:08x} {name:>8}\n")
}

fn gathered(machine: &FakeMachine) -> Value {
    let mut reader = FactReader::new(machine);
    let value = network(&mut reader);
    assert!(reader.warnings.is_empty(), "{:?}", reader.warnings);
    value
}

#[test]
fn the_default_route_sets_the_default_address() {
    let default = [0; 4];
    let half = [128, 0, 0, 0];
    let (near, far) = ([192, 0, 2, 1], [198, 51, 100, 1]);
    let tables: [(&str, Vec<String>, Option<&str>); 10] = [
        ("no route", vec![], None),
        ("the default route", vec![route_4("eth0", default, default, [10, 0, 0, 1], 3, 0)], Some("10.0.0.5")),
        (
            "the network of the gateway",
            vec![route_4("eth0", default, default, near, 3, 0)],
            Some("192.0.2.7"),
        ),
        ("a gateway elsewhere", vec![route_4("eth0", default, default, far, 3, 0)], Some("10.0.0.5")),
        ("no gateway", vec![route_4("tun0", default, default, default, 1, 0)], Some("10.8.0.2")),
        (
            "an interface without address",
            vec![route_4("eth9", default, default, default, 1, 0)],
            Some("10.0.0.5"),
        ),
        (
            "the cheaper one",
            vec![
                route_4("eth0", default, default, near, 3, 200),
                route_4("tun0", default, default, far, 3, 100),
            ],
            Some("10.8.0.2"),
        ),
        (
            "halves of the world before the whole",
            vec![route_4("eth0", default, default, near, 3, 0), route_4("tun0", default, half, far, 3, 50)],
            Some("10.8.0.2"),
        ),
        (
            "none that is down or rejects",
            vec![
                route_4("tun0", default, default, far, 2, 0),
                route_4("tun0", default, default, far, 0x201, 0),
            ],
            None,
        ),
        (
            "the networks at hand alone",
            vec![route_4("eth0", [10, 0, 0, 0], [255, 255, 255, 0], default, 1, 0)],
            None,
        ),
    ];
    for (what, lines, expected) in tables {
        let text = HEADER.to_owned() + &lines.concat();
        let value = gathered(&machine().with("/proc/net/route", text));
        assert_eq!(value["default_ipv4"].as_str(), expected, "{what}");
    }
}

#[test]
fn permanent_global_addresses_are_preferred() {
    let route =
        route_6("eth0", "::", 0, "fe80::99", 3, 1024) + &route_6("lo", "::", 0, "::", 0x0020_0200, u32::MAX);
    let line = |address: &str, flags: u32| {
        format!(
            "{:032x} 02 40 00 {flags:02x}     eth0\n",
            address.parse::<Ipv6Addr>().expect("an address").to_bits()
        )
    };
    for (flags, expected) in [
        (vec![], Some("2001:db8::2")),
        (vec![("2001:db8::2", TEMPORARY)], Some("2001:db8::3")),
        (vec![("2001:db8::2", DEPRECATED)], Some("2001:db8::3")),
        (vec![("2001:db8::2", TENTATIVE), ("2001:db8::3", FAILED)], Some("fd00::2")),
        (vec![("2001:db8::2", TENTATIVE), ("2001:db8::3", FAILED), ("fd00::2", TENTATIVE)], None),
        (vec![("2001:db8::2", DEPRECATED), ("2001:db8::3", DEPRECATED)], Some("fd00::2")),
    ] {
        let lines: String = flags.iter().map(|(address, flags)| line(address, *flags)).collect();
        let machine = machine().with("/proc/net/ipv6_route", route.clone()).with("/proc/net/if_inet6", lines);
        assert_eq!(gathered(&machine)["default_ipv6"].as_str(), expected, "{flags:?}");
    }
    assert_eq!(gathered(&machine())["default_ipv6"], Value::Null);
}

#[test]
fn loopback_and_link_local_addresses_are_not_listed() {
    let text = HEADER.to_owned() + &route_4("eth0", [0; 4], [0; 4], [10, 0, 0, 1], 3, 0);
    let value = gathered(&machine().with("/proc/net/route", text));
    let listed = |key: &str| -> Vec<Value> {
        value["addresses"].as_array().expect("a list").iter().map(|address| address[key].clone()).collect()
    };
    assert_eq!(
        listed("address"),
        ["10.0.0.5", "192.0.2.7", "fd00::2", "2001:db8::2", "2001:db8::3", "10.8.0.2"]
    );
    assert_eq!(listed("ipv4"), [true, true, false, false, false, true]);
    assert_eq!(listed("default"), [true, true, false, false, false, false]);
    assert_eq!(value["interfaces"][1]["addrs"][0]["addr"], "10.0.0.5/24");
}

#[test]
fn interfaces_have_their_kernel_attributes() {
    let mut machine = machine()
        .with("/sys/class/net/lo/address", "00:00:00:00:00:00\n")
        .with("/sys/class/net/eth0/mtu", "1500\n")
        .with("/sys/class/net/tun0/address", "80:00:02:08:fe:80:00:00:00:00:00:00:ec:0d:9a:03:00:78:64:3c\n");
    machine.interfaces[1].hardware = Some([0x52, 0x54, 0, 0xab, 0xcd, 1]);
    machine.interfaces[1].flags = vec![InterfaceFlag::Up, InterfaceFlag::Broadcast, InterfaceFlag::Multicast];
    let value = gathered(&machine);
    let shown = &value["interfaces"];
    assert_eq!(shown[0]["hardwareAddr"], "");
    assert_eq!(shown[0]["mtu"], Value::Null);
    assert_eq!(shown[1]["hardwareAddr"], "52:54:00:ab:cd:01");
    assert_eq!(shown[1]["mtu"], 1500);
    assert_eq!(shown[1]["flags"], json!(["up", "broadcast", "multicast"]));
    assert_eq!(shown[2]["hardwareAddr"], "80:00:02:08:fe:80:00:00:00:00:00:00:ec:0d:9a:03:00:78:64:3c");
}
