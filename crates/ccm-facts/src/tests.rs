//! All facts: names, cost, and invalid sources.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{Interface, InterfaceFlag, Kernel, Space};
use ccm_testkit::{FakeClock, FakeMachine};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

const MEMORY: &str = "MemTotal: 8000 kB\nMemFree: 2000 kB\nMemAvailable: 5000 kB\nBuffers: 100 kB\n\
    Cached: 3000 kB\n\
    SReclaimable: 500 kB\nSwapTotal: 1000 kB\nSwapFree: 750 kB\nHugePages_Total: 3\nHugepagesize: 2048 kB\n";

fn machine() -> FakeMachine {
    let mut machine = FakeMachine::default()
        .with("/etc/debian_version", "12.5\n")
        .with("/etc/os-release", "ID=debian\n")
        .with("/etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda4\n")
        .with("/proc/sys/kernel/random/boot_id", "E575F46A-0803-4694-ab27-21d65c24bbeb\n")
        .with("/proc/cpuinfo", "processor : 0\nvendor_id : X\ncpu MHz : 1000.5\nflags : fpu vme\n")
        .with("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3200000\n")
        .with("/sys/devices/system/cpu/cpu0/topology/core_id", "4\n")
        .with("/proc/meminfo", MEMORY)
        .with("/proc/vmstat", "pswpin 2\npgpgin 3\npgfault 7\n")
        .with("/proc/swaps", "Filename Type Size Used Priority\n/swap\\040file file 1000 250 -2\n")
        .with("/proc/net/route", "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n")
        .with("/sys/class/net/eth0/mtu", "1500\n")
        .with("/proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n")
        .with("/proc/filesystems", "nodev\tproc\n\text4\n");
    machine.kernel =
        Kernel { hostname: "web1".into(), release: "6.1.0".into(), architecture: "x86_64".into() };
    machine.since_boot = Duration::from_millis(100_900);
    machine.processes = 42;
    let addresses = vec![(IpAddr::from([192, 0, 2, 1]), 24)];
    let flags = vec![InterfaceFlag::Up];
    machine.interfaces = vec![Interface { name: "eth0".into(), index: 2, hardware: None, flags, addresses }];
    machine.space.insert("/".into(), Space { total: 10, free: 5, available: 4, inodes: 3, inodes_free: 2 });
    machine
}

fn clock() -> FakeClock {
    let clock = FakeClock::default();
    clock.advance(Duration::from_secs(1_700_000_000));
    clock
}

/// Collects every scalar by its path in the reference.
fn leaves(value: &Value, path: &str, found: &mut BTreeMap<String, Vec<Value>>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                leaves(inner, &path, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| leaves(inner, &format!("{path}[]"), found)),
        value => found.entry(path.to_owned()).or_default().push(value.clone()),
    }
}

fn is_of(kind: FactKind, value: &Value) -> bool {
    match kind {
        FactKind::Text => value.is_string(),
        FactKind::Integer => value.is_u64() || value.is_i64(),
        FactKind::Number => value.is_number(),
        FactKind::Boolean => value.is_boolean(),
    }
}

#[test]
fn the_reference_lists_exactly_the_gathered_facts() {
    let (facts, warnings) = gather(&machine(), &clock(), Subtrees::all());
    assert!(warnings.is_empty(), "{warnings:?}");
    let mut gathered = BTreeMap::new();
    leaves(&facts, "", &mut gathered);
    let listed: BTreeSet<&str> = reference().iter().map(|fact| fact.path).collect();
    assert_eq!(listed.len(), reference().len(), "a path is listed twice");
    assert_eq!(gathered.keys().map(String::as_str).collect::<BTreeSet<_>>(), listed);
    for fact in reference() {
        for value in &gathered[fact.path] {
            assert!(value.is_null() || is_of(fact.kind, value), "{} is {value}", fact.path);
        }
        let example: Value = serde_json::from_str(fact.example).expect("an example is JSON");
        assert!(is_of(fact.kind, &example), "{} has the example {example}", fact.path);
        assert!(!fact.description.is_empty() && !fact.description.ends_with('.'), "{}", fact.path);
    }
}

#[test]
fn each_fact_of_the_reference_belongs_to_one_subtree() {
    for fact in reference() {
        let path: Vec<&str> = fact.path.split('.').map(|part| part.trim_end_matches("[]")).collect();
        let needed = Subtree::needed_for(&path);
        let count = Subtree::ALL.into_iter().filter(|subtree| needed.contains(*subtree)).count();
        assert_eq!(count, 1, "{}", fact.path);
    }
}

#[test]
fn values_are_in_bytes_and_seconds() {
    let (facts, _) = gather(&machine(), &clock(), Subtrees::all());
    for (pointer, expected) in [
        ("/host/info/hostname", "web1".into()),
        ("/host/info/uptime", 100.into()),
        ("/host/info/bootTime", 1_699_999_899.into()),
        ("/host/info/procs", 42.into()),
        ("/host/info/platformVersion", "12.5".into()),
        ("/host/info/hostId", "3d1219c7-c4c5-404a-aa1f-6d2a48adfda4".into()),
        ("/cpu/info/0/mhz", Value::from(3200.0)),
        ("/cpu/info/0/coreId", "4".into()),
        ("/memory/virtual/total", 8_192_000.into()),
        ("/memory/virtual/used", 2_457_600.into()),
        ("/memory/virtual/usedPercent", Value::from(30.0)),
        ("/memory/virtual/hugePagesTotal", 3.into()),
        ("/memory/virtual/hugePageSize", 2_097_152.into()),
        ("/memory/swap/info/used", 256_000.into()),
        ("/memory/swap/info/usedPercent", Value::from(25.0)),
        ("/memory/swap/info/sin", 8192.into()),
        ("/memory/swap/info/pgIn", 3072.into()),
        ("/memory/swap/info/pgFault", 7.into()),
        ("/memory/swap/devices/0/name", "/swap file".into()),
        ("/memory/swap/devices/0/freeBytes", 768_000.into()),
        ("/network/interfaces/0/mtu", 1500.into()),
        ("/partition/usage/0/free", 4.into()),
    ] {
        assert_eq!(facts.pointer(pointer), Some(&expected), "{pointer}");
    }
}

#[test]
fn no_subtree_reads_no_file() {
    let machine = machine();
    let (facts, warnings) = gather(&machine, &clock(), Subtrees::NONE);
    assert_eq!(facts, Value::Object(serde_json::Map::new()));
    assert!(warnings.is_empty() && machine.reads.borrow().is_empty());
}

#[test]
fn the_host_takes_few_reads() {
    let machine = machine();
    let _facts = gather(&machine, &clock(), Subtree::HostInfo.into());
    let reads = machine.reads.borrow();
    assert!(reads.len() <= 36, "{} reads: {reads:?}", reads.len());
    let distinct: BTreeSet<&PathBuf> = reads.iter().collect();
    assert_eq!(distinct.len(), reads.len(), "read twice: {reads:?}");
}

#[test]
fn only_requested_subtrees_are_gathered() {
    let was_read = |path: &str, machine: &FakeMachine| machine.reads.borrow().contains(&PathBuf::from(path));
    for subtree in Subtree::ALL {
        let machine = machine();
        let (facts, _) = gather(&machine, &clock(), subtree.into());
        let mut inner = &facts;
        for name in subtree.path() {
            assert_eq!(inner.as_object().expect("a map").len(), 1, "{subtree:?}");
            inner = &inner[name];
        }
        let memory = matches!(subtree, Subtree::MemoryVirtual | Subtree::MemorySwap);
        assert_eq!(was_read("/proc/meminfo", &machine), memory, "{subtree:?}");
        assert_eq!(was_read("/", &machine), subtree == Subtree::PartitionUsage, "{subtree:?}");
    }
}

#[test]
fn the_host_id_has_fallbacks() {
    let id = |machine: &FakeMachine| {
        gather(machine, &clock(), Subtree::HostInfo.into()).0["host"]["info"]["hostId"].clone()
    };
    let hardware = "/sys/class/dmi/id/product_uuid";
    assert_eq!(id(&machine().with(hardware, "4C4C4544-0042\n")), "4c4c4544-0042");
    let mut denied = machine();
    denied.denied.push(hardware.into());
    assert_eq!(id(&denied), "3d1219c7-c4c5-404a-aa1f-6d2a48adfda4");
    let boot = "e575f46a-0803-4694-ab27-21d65c24bbeb";
    for no_id in ["", "uninitialized\n", "ééééééééééééééééé\n"] {
        assert_eq!(id(&machine().with("/etc/machine-id", no_id)), boot, "{no_id:?}");
    }
}

#[test]
fn containers_have_their_own_uptime() {
    let container = machine().with("/.dockerenv", "").with("/proc/uptime", "12.34 56.78\n");
    let (facts, _) = gather(&container, &clock(), Subtree::HostInfo.into());
    assert_eq!(facts["host"]["info"]["uptime"], 12);
    assert_eq!(facts["host"]["info"]["bootTime"], 1_699_999_988);
}

#[test]
fn a_machine_without_files_gives_warnings_and_no_error() {
    let (facts, warnings) = gather(&FakeMachine::default(), &clock(), Subtrees::all());
    let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "no facts from \"/proc/cpuinfo\": the file can't be read",
            "no facts from \"/proc/meminfo\": the file can't be read",
            "no facts from \"/proc/self/mountinfo\": the file can't be read",
        ]
    );
    assert_eq!(facts["host"]["info"]["os"], "linux");
    assert_eq!(facts["cpu"]["info"], Value::Array(vec![]));
    assert_eq!(facts["memory"]["virtual"], Value::Null);
}

#[test]
fn invalid_files_are_warnings() {
    let endless = vec![b'x'; 9 * 1024 * 1024];
    let nonsense = FakeMachine::default()
        .with("/proc/cpuinfo", endless.clone())
        .with("/proc/meminfo", "nothing")
        .with("/etc/os-release", endless)
        .with("/proc/self/mountinfo", "\0\0\0");
    let subtrees = [Subtree::HostInfo, Subtree::CpuInfo, Subtree::MemoryVirtual, Subtree::PartitionUsage];
    let (_, warnings) = gather(&nonsense, &clock(), subtrees.into_iter().collect());
    let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "no facts from \"/etc/os-release\": the file can't be read",
            "no facts from \"/proc/cpuinfo\": the file can't be read",
            "no facts from \"/proc/meminfo\": the file has no MemTotal and MemFree",
            "no facts from \"/proc/filesystems\": the file can't be read",
            "no facts from \"/proc/self/mountinfo\": the file has no mount",
        ]
    );
}

#[test]
fn unreadable_files_outside_proc_and_sys_are_warnings() {
    let mut hidden = machine();
    let paths = ["/sys/class/dmi/id/product_uuid", "/proc/1/environ", "/etc/os-release"];
    hidden.denied.extend(paths.map(PathBuf::from));
    let (_, warnings) = gather(&hidden, &clock(), Subtree::HostInfo.into());
    let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["no facts from \"/etc/os-release\": the file can't be read"]);
}

fn kernel_like_text() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        "[ -~]{0,12}",
        "[0-9]{1,25}",
        Just("processor".to_owned()),
        Just("MemTotal".to_owned()),
        Just("ID=".to_owned()),
        Just("release ".to_owned()),
        Just("rv64".to_owned()),
        Just("\\040".to_owned()),
        Just("é\u{0}".to_owned()),
        Just("0x41".to_owned()),
    ];
    let sign = prop::sample::select(vec![" ", "\t", ":", " : ", "\n", "=", " - ", "/", "\"", ","]);
    let text = prop::collection::vec((word, sign), 0..40).prop_map(|parts| {
        parts.into_iter().flat_map(|(word, sign)| [word, sign.to_owned()]).collect::<String>()
    });
    prop_oneof![text.prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random sources cause no panic, and yield only facts of the reference.
    #[test]
    fn any_text_yields_facts_of_the_reference(texts in prop::collection::vec(kernel_like_text(), 64)) {
        let mut machine = machine();
        let (_, _) = gather(&machine, &clock(), Subtrees::all());
        let read: BTreeSet<PathBuf> = machine.reads.take().into_iter().collect();
        let files = read.into_iter().filter(|path| path.parent().is_some_and(Path::is_absolute));
        for (path, text) in files.zip(&texts) {
            machine.files.insert(path, text.clone());
        }
        let (facts, _) = gather(&machine, &clock(), Subtrees::all());
        let mut gathered = BTreeMap::new();
        leaves(&facts, "", &mut gathered);
        for (path, values) in gathered {
            if let Some(fact) = reference().iter().find(|fact| fact.path == path) {
                for value in values {
                    prop_assert!(value.is_null() || is_of(fact.kind, &value), "{} is {}", path, value);
                    prop_assert!(!value.as_str().is_some_and(|text| text.contains('\0')));
                }
            } else {
                // Null for a whole subtree whose source is invalid.
                prop_assert!(values == [Value::Null], "{} is {:?}", path, values);
            }
        }
    }
}
