//! Virtualization: the host as a virtual machine, as a container, or with guests of its own. The innermost
//! system counts: a container in a virtual machine is a container.

use crate::reader::FactReader;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Virtualization {
    /// Virtualization system; empty if unknown.
    pub(super) system: String,
    /// `guest` or `host`; empty if unknown.
    pub(super) role: &'static str,
}

const GUEST: &str = "guest";
const HOST: &str = "host";

/// Enough for one processor; reading all of them can take long.
const ONE_PROCESSOR: u64 = 4096;

/// Markers in the firmware's strings, with the virtualization system. The first match wins.
const FIRMWARE: [(&str, &str); 17] = [
    ("kvm", "kvm"),
    ("openstack", "kvm"),
    ("kubevirt", "kvm"),
    ("amazon ec2", "kvm"),
    ("google compute engine", "kvm"),
    ("digitalocean", "kvm"),
    ("hetzner", "kvm"),
    ("alibaba cloud ecs", "kvm"),
    ("vmware", "vmware"),
    ("virtualbox", "vbox"),
    ("innotek", "vbox"),
    ("hyper-v", "hyperv"),
    ("microsoft corporation virtual machine", "hyperv"),
    ("parallels", "parallels"),
    ("bhyve", "bhyve"),
    ("apple virtualization", "apple"),
    ("xen", "xen"),
];

/// Kernel modules, with the virtualization system and the role. The first loaded one wins.
const MODULES: [(&str, &str, &str); 7] = [
    ("hv_utils", "hyperv", GUEST),
    ("hv_util", "hyperv", GUEST),
    ("vboxguest", "vbox", GUEST),
    ("vmw_balloon", "vmware", GUEST),
    ("vmw_vmci", "vmware", GUEST),
    ("kvm", "kvm", HOST),
    ("vboxdrv", "vbox", HOST),
];

impl Virtualization {
    fn new(system: impl Into<String>, role: &'static str) -> Self {
        Self { system: system.into(), role }
    }

    /// Returns `true` for a container, which shares the kernel of its host and may have an uptime of its own.
    pub(super) fn is_container(&self) -> bool {
        self.role == GUEST && matches!(self.system.as_str(), "docker" | "lxc")
    }

    pub(super) fn detect(reader: &mut FactReader<'_>, release: &str) -> Self {
        if let Some(system) = container(reader, release) {
            return Self::new(system, GUEST);
        }
        if let Some(found) = shared_kernel(reader).or_else(|| xen(reader)) {
            return found;
        }
        let processor = reader.start("/proc/cpuinfo", ONE_PROCESSOR).unwrap_or_default();
        if let Some(system) = virtual_machine(reader, &processor) {
            return Self::new(system, GUEST);
        }
        if let Some((system, role)) = modules(reader) {
            return Self::new(system, role);
        }
        let role = if has_hypervisor(&processor) { GUEST } else { "" };
        Self::new("", role)
    }
}

fn container(reader: &mut FactReader<'_>, release: &str) -> Option<String> {
    if reader.exists("/.dockerenv") {
        return Some("docker".to_owned());
    }
    if reader.exists("/run/.containerenv") {
        return Some("podman".to_owned());
    }
    // systemd records the container manager; others set it in the environment of process 1.
    let container = reader.line("/run/systemd/container").or_else(|| {
        let environment = reader.optional("/proc/1/environ")?;
        let mut variables = environment.split('\u{fffd}');
        variables.find_map(|variable| variable.strip_prefix("container=")).map(str::to_owned)
    });
    let plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    match container.as_deref().map(str::trim).filter(|word| !word.is_empty() && plain(word)) {
        Some("lxc-libvirt") => return Some("lxc".to_owned()),
        // `oci` means any container, so the other sources may be more specific.
        Some("oci") | None => {}
        Some(system) => return Some(system.to_owned()),
    }
    let groups = reader.optional("/proc/self/cgroup").unwrap_or_default();
    if let Some(system) = container_of_groups(&groups) {
        return Some(system.to_owned());
    }
    let lower = release.to_lowercase();
    (lower.contains("microsoft") || lower.contains("wsl")).then(|| "wsl".to_owned())
}

fn container_of_groups(groups: &str) -> Option<&'static str> {
    // `12:pids:/docker/0123…`, `0::/system.slice/docker-0123….scope`, `1:name=systemd:/lxc.payload.web`
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.flat_map(|path| path.split('/')).find_map(|part| match part {
        "lxc" => Some("lxc"),
        "docker" => Some("docker"),
        _ if part.starts_with("lxc.payload") => Some("lxc"),
        _ if part.starts_with("docker-") => Some("docker"),
        _ if part.starts_with("libpod-") => Some("podman"),
        _ if part.starts_with("machine-rkt") => Some("rkt"),
        _ => None,
    })
}

/// Detects kernels with guests of their own, which predate containers.
fn shared_kernel(reader: &mut FactReader<'_>) -> Option<Virtualization> {
    if reader.exists("/proc/bc/0") {
        return Some(Virtualization::new("openvz", HOST));
    }
    if reader.exists("/proc/vz") {
        return Some(Virtualization::new("openvz", GUEST));
    }
    let status = reader.optional("/proc/self/status").unwrap_or_default();
    let context = status.lines().find_map(|line| {
        let value = line.strip_prefix("VxID:").or_else(|| line.strip_prefix("s_context:"))?;
        Some(value.trim().to_owned())
    })?;
    Some(Virtualization::new("linux-vserver", if context == "0" { HOST } else { GUEST }))
}

fn xen(reader: &mut FactReader<'_>) -> Option<Virtualization> {
    let present = reader.exists("/proc/xen") || reader.line("/sys/hypervisor/type").as_deref() == Some("xen");
    if !present {
        return None;
    }
    let capabilities = reader.optional("/proc/xen/capabilities").unwrap_or_default();
    Some(Virtualization::new("xen", if capabilities.contains("control_d") { HOST } else { GUEST }))
}

fn virtual_machine(reader: &mut FactReader<'_>, processor: &str) -> Option<&'static str> {
    let hypervisor = has_hypervisor(processor);
    let old = ["QEMU Virtual CPU", "Common KVM processor", "Common 32-bit KVM processor"];
    if old.iter().any(|model| processor.contains(model)) {
        return Some("kvm");
    }
    let mut firmware = String::new();
    for name in ["sys_vendor", "product_name", "bios_vendor", "board_vendor"] {
        firmware += &reader.line(&format!("/sys/class/dmi/id/{name}")).unwrap_or_default().to_lowercase();
        firmware.push(' ');
    }
    // Clouds use the same firmware strings for bare metal, and QEMU runs without KVM.
    let x86 = processor.contains("flags");
    if (hypervisor || !x86)
        && let Some((_, system)) = FIRMWARE.iter().find(|(marker, _)| firmware.contains(marker))
        && !firmware.contains(".metal")
    {
        return Some(system);
    }
    let tree = reader.optional("/sys/firmware/devicetree/base/hypervisor/compatible").unwrap_or_default();
    if tree.contains("linux,kvm") {
        return Some("kvm");
    }
    // The smallest virtual machines have no firmware, but a clock of the hypervisor.
    let clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = if hypervisor { reader.line(clocks).unwrap_or_default() } else { String::new() };
    let sources = [("kvm-clock", "kvm"), ("hyperv_clocksource", "hyperv"), ("xen", "xen")];
    if let Some((_, system)) = sources.iter().find(|(clock, _)| clocks.contains(clock)) {
        return Some(system);
    }
    firmware.contains("qemu").then_some(if hypervisor { "kvm" } else { "qemu" })
}

fn has_hypervisor(processor: &str) -> bool {
    let flags = processor.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn modules(reader: &mut FactReader<'_>) -> Option<(&'static str, &'static str)> {
    let loaded = reader.optional("/proc/modules")?;
    let loaded: Vec<&str> = loaded.lines().filter_map(|line| line.split(' ').next()).collect();
    MODULES.iter().find(|(name, ..)| loaded.contains(name)).map(|(_, system, role)| (*system, *role))
}

#[cfg(test)]
mod tests {
    use ccm_testkit::FakeMachine;

    use super::*;

    const CLOUD: &str = "model name : Xeon\nflags\t\t: fpu vme hypervisor avx\n";
    const METAL: &str = "model name : Xeon\nflags\t\t: fpu vme avx\n";
    const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    const VENDOR: &str = "/sys/class/dmi/id/sys_vendor";
    const PRODUCT: &str = "/sys/class/dmi/id/product_name";
    const CPU: &str = "/proc/cpuinfo";
    const MODULES: &str = "/proc/modules";
    const GROUPS: &str = "/proc/self/cgroup";
    const TREE: &str = "/sys/firmware/devicetree/base/hypervisor/compatible";

    type Files = &'static [(&'static str, &'static str)];

    /// Files, system and role.
    const MACHINES: [(Files, &str, &str); 43] = [
        (&[], "", ""),
        (&[(CPU, METAL), (VENDOR, "Dell Inc."), (PRODUCT, "PowerEdge R640")], "", ""),
        (&[(CPU, METAL), (MODULES, "kvm_intel 1 0 - Live\nkvm 1 1 kvm_intel, Live\n")], "kvm", "host"),
        (&[(CPU, METAL), (MODULES, "irqbypass 1 1 kvm, Live\n")], "", ""),
        (&[(CPU, METAL), (MODULES, "vboxdrv 1 0 - Live\n")], "vbox", "host"),
        (&[(CPU, CLOUD), (MODULES, "vboxguest 1 0 - Live\n")], "vbox", "guest"),
        (&[(CPU, CLOUD), (MODULES, "hv_utils 1 0 - Live\n")], "hyperv", "guest"),
        (&[(CPU, CLOUD), (MODULES, "vmw_balloon 1 0 - Live\n")], "vmware", "guest"),
        (&[(CPU, CLOUD)], "", "guest"),
        (&[(CPU, "model name : QEMU Virtual CPU version 2.5+\n")], "kvm", "guest"),
        (&[(CPU, "model name : Common KVM processor\n")], "kvm", "guest"),
        (&[(CPU, CLOUD), (VENDOR, "QEMU"), (PRODUCT, "Standard PC (Q35 + ICH9, 2009)")], "kvm", "guest"),
        (&[(CPU, METAL), (VENDOR, "QEMU"), (PRODUCT, "Standard PC (Q35 + ICH9, 2009)")], "qemu", "guest"),
        (&[(CPU, CLOUD), (VENDOR, "QEMU"), (MODULES, "kvm 1 0 - Live\n")], "kvm", "guest"),
        (&[(CPU, CLOUD), (VENDOR, "Amazon EC2"), (PRODUCT, "t3.micro")], "kvm", "guest"),
        (&[(CPU, METAL), (VENDOR, "Amazon EC2"), (PRODUCT, "m5.metal")], "", ""),
        (&[(CPU, "Features : fp\n"), (VENDOR, "Amazon EC2"), (PRODUCT, "m6g.metal")], "", ""),
        (&[(CPU, "Features : fp\n"), (VENDOR, "Amazon EC2"), (PRODUCT, "m6g.large")], "kvm", "guest"),
        (&[(CPU, CLOUD), (VENDOR, "Google"), (PRODUCT, "Google Compute Engine")], "kvm", "guest"),
        (&[(CPU, CLOUD), (PRODUCT, "OpenStack Nova")], "kvm", "guest"),
        (&[(CPU, CLOUD), (VENDOR, "VMware, Inc."), (PRODUCT, "VMware7,1")], "vmware", "guest"),
        (&[(CPU, CLOUD), (VENDOR, "innotek GmbH"), (PRODUCT, "VirtualBox")], "vbox", "guest"),
        (&[(CPU, CLOUD), (VENDOR, "Microsoft Corporation"), (PRODUCT, "Virtual Machine")], "hyperv", "guest"),
        (&[(CPU, METAL), (VENDOR, "Microsoft Corporation"), (PRODUCT, "Surface Laptop")], "", ""),
        (&[(CPU, CLOUD), (CLOCKS, "kvm-clock tsc acpi_pm\n")], "kvm", "guest"),
        (&[(CPU, CLOUD), (CLOCKS, "hyperv_clocksource_tsc_page\n")], "hyperv", "guest"),
        (&[(CPU, METAL), (CLOCKS, "kvm-clock\n")], "", ""),
        (&[(CPU, "Features : fp\n"), (TREE, "linux,kvm\0")], "kvm", "guest"),
        (&[("/proc/xen/capabilities", "control_d\n")], "xen", "host"),
        (&[("/proc/xen/capabilities", "\n")], "xen", "guest"),
        (&[("/sys/hypervisor/type", "xen\n")], "xen", "guest"),
        (&[("/proc/vz/veinfo", "")], "openvz", "guest"),
        (&[("/proc/bc/0", ""), ("/proc/vz/veinfo", "")], "openvz", "host"),
        (&[("/proc/self/status", "Name:\tcat\nVxID:\t49\n")], "linux-vserver", "guest"),
        (&[("/proc/self/status", "Name:\tcat\nVxID:\t0\n")], "linux-vserver", "host"),
        (&[("/.dockerenv", ""), (CPU, CLOUD), (VENDOR, "QEMU")], "docker", "guest"),
        (&[("/run/.containerenv", "engine=\"podman\"\n")], "podman", "guest"),
        (&[("/run/systemd/container", "systemd-nspawn\n")], "systemd-nspawn", "guest"),
        (&[("/proc/1/environ", "PATH=/bin\0container=lxc\0TERM=linux\0")], "lxc", "guest"),
        (&[(GROUPS, "4:memory:/docker/0123456789abcdef\n0::/\n")], "docker", "guest"),
        (&[(GROUPS, "0::/system.slice/docker.service\n")], "", ""),
        (&[(GROUPS, "0::/lxc.payload.web/system.slice\n")], "lxc", "guest"),
        (&[(GROUPS, "1:name=systemd:/machine.slice/machine-rkt\\x2d1.scope\n")], "rkt", "guest"),
    ];

    #[test]
    fn virtualization_is_detected() {
        for (files, system, role) in MACHINES {
            let machine =
                files.iter().fold(FakeMachine::default(), |all, (path, text)| all.with(*path, *text));
            let found = Virtualization::detect(&mut FactReader::new(&machine), "6.1.0-18-amd64");
            assert_eq!((found.system.as_str(), found.role), (system, role), "{files:?}");
        }
    }

    #[test]
    fn windows_is_detected_by_the_kernel_release() {
        let machine = FakeMachine::default();
        let found =
            Virtualization::detect(&mut FactReader::new(&machine), "5.15.90.1-microsoft-standard-WSL2");
        assert_eq!(found, Virtualization::new("wsl", GUEST));
    }
}
