//! Facts of the machine that runs the tests, compared with other programs.

use std::collections::BTreeSet;
use std::fs;
use std::net::UdpSocket;
use std::process::Command;

use ccm_facts::{Subtree, Subtrees, Warning, gather};
use ccm_host::{SystemClock, SystemMachine};
use serde_json::Value;

fn facts(subtrees: impl Into<Subtrees>) -> Value {
    let (facts, mut warnings) = gather(&SystemMachine, &SystemClock::new(), subtrees.into());
    // An ordinary user can't reach every mount.
    warnings.retain(|warning| !matches!(warning, Warning::NoSpace { .. }));
    assert!(warnings.is_empty(), "{warnings:?}");
    facts
}

/// Returns the output of a program, if installed.
fn reported(program: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).expect("a text").trim().to_owned())
}

#[test]
fn the_host_matches_uname_and_the_kernel() {
    let facts = facts(Subtree::HostInfo);
    let info = &facts["host"]["info"];
    for (name, argument) in [("hostname", "-n"), ("kernelVersion", "-r"), ("kernelArch", "-m")] {
        let expected = reported("uname", &[argument]).expect("uname");
        assert_eq!(info[name], expected, "{name}");
    }
    let number = |name: &str| info[name].as_u64().expect("a number");
    let stat = fs::read_to_string("/proc/stat").expect("the kernel's statistics");
    let booted = stat.lines().find_map(|line| line.strip_prefix("btime ")).expect("the time of the start");
    let booted: u64 = booted.parse().expect("a number");
    // The clock may be set during the test; containers have an uptime of their own.
    let container = ["docker", "lxc"].map(Value::from).contains(&info["virtualizationSystem"]);
    assert!(container || number("bootTime").abs_diff(booted) <= 5, "{} is not {booted}", number("bootTime"));
    let uptime = fs::read_to_string("/proc/uptime").expect("the time since the start");
    let uptime: f64 = uptime.split(' ').next().expect("a word").parse().expect("a number");
    let gathered = number("uptime");
    #[expect(clippy::cast_precision_loss, reason = "no machine runs for so long")]
    let late = uptime - gathered as f64;
    assert!((0.0..600.0).contains(&late), "{gathered} was {late} seconds before {uptime}");
    assert!(number("procs") >= 1);
    assert!(!info["hostId"].as_str().expect("a text").is_empty());
}

#[test]
fn memory_and_processors_match_the_kernel() {
    let facts = facts(Subtrees::all());
    let kernel = fs::read_to_string("/proc/meminfo").expect("the kernel's memory");
    let kibibytes = |name: &str| -> u64 {
        let line = kernel.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
    };
    assert_eq!(facts["memory"]["virtual"]["total"], kibibytes("MemTotal") * 1024);
    assert_eq!(facts["memory"]["swap"]["info"]["total"], kibibytes("SwapTotal") * 1024);
    let processors = fs::read_to_string("/proc/cpuinfo").expect("the kernel's processors");
    let count = processors.lines().filter(|line| line.starts_with("processor")).count();
    assert_eq!(facts["cpu"]["info"].as_array().expect("a list").len(), count);
}

#[test]
fn the_network_matches_the_kernel() {
    let facts = facts(Subtree::Network);
    let network = &facts["network"];
    let names: BTreeSet<&str> = network["interfaces"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    let kernel = fs::read_to_string("/proc/net/dev").expect("the kernel's interfaces");
    let expected: BTreeSet<&str> =
        kernel.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
    assert_eq!(names, expected);
    let addresses = network["addresses"].as_array().expect("a list");
    for (own, outside, ipv4, fact) in [
        ("0.0.0.0:0", "1.1.1.1:53", true, "default_ipv4"),
        ("[::]:0", "[2606:4700:4700::1111]:53", false, "default_ipv6"),
    ] {
        // Connecting a UDP socket sends nothing; the kernel only looks up the route.
        let chosen = UdpSocket::bind(own).and_then(|socket| {
            socket.connect(outside)?;
            socket.local_addr()
        });
        let candidates = addresses.iter().filter(|address| address["ipv4"] == ipv4).count();
        match chosen {
            // With several candidates, policy routing may choose another.
            Ok(address) if candidates == 1 => assert_eq!(network[fact], address.ip().to_string(), "{fact}"),
            _ => assert!(network[fact].is_null() || network[fact].is_string(), "{fact}"),
        }
    }
}

#[test]
fn file_systems_match_df() {
    let facts = facts(Subtree::PartitionUsage);
    for usage in facts["partition"]["usage"].as_array().expect("a list") {
        let path = usage["path"].as_str().expect("a path");
        if let Some(reported) = reported("df", &["--block-size=1", "--output=size,itotal", path]) {
            let numbers: Vec<&str> = reported.lines().last().expect("a line").split_whitespace().collect();
            assert_eq!(usage["total"].to_string(), numbers[0], "{path}");
            if numbers[1] != "-" {
                assert_eq!(usage["inodesTotal"].to_string(), numbers[1], "{path}");
            }
        }
    }
}
