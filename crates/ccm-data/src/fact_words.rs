//! Words that other programs have for the values of facts.

/// Facts that are always in lower case. Facter has them with a capital.
pub const LOWER_CASE_FACTS: [&str; 7] = [
    "host.info.platformFamily",
    "host.info.platform",
    "host.info.os",
    "host.info.platformCodename",
    "host.info.initSystem",
    "host.info.virtualizationSystem",
    "host.info.virtualizationRole",
];

/// Words of other programs for the architectures of the kernel, in small letters without signs.
const ARCHITECTURES: &[(&str, &str)] = &[
    ("amd64", "x86_64"),
    ("x64", "x86_64"),
    ("x8664", "x86_64"),
    ("arm64", "aarch64"),
    ("i386", "i686"),
    ("armhf", "armv7l"),
    ("ppc64el", "ppc64le"),
];

/// Words of other programs for families of distributions, in small letters without signs.
const FAMILIES: &[(&str, &str)] = &[
    ("redhat", "rhel"),
    ("redhatenterpriselinux", "rhel"),
    ("centos", "rhel"),
    ("rocky", "rhel"),
    ("rockylinux", "rhel"),
    ("alma", "rhel"),
    ("almalinux", "rhel"),
    ("oracle", "rhel"),
    ("oraclelinux", "rhel"),
    ("amazon", "rhel"),
    ("amazonlinux", "rhel"),
    ("amzn", "rhel"),
    ("scientific", "rhel"),
    ("cloudlinux", "rhel"),
    ("ubuntu", "debian"),
    ("linuxmint", "debian"),
    ("raspbian", "debian"),
    ("opensuse", "suse"),
    ("opensuseleap", "suse"),
    ("sles", "suse"),
    ("archlinux", "arch"),
];

/// Words of other programs for distributions, in small letters without signs.
const PLATFORMS: &[(&str, &str)] = &[
    ("rhel", "redhat"),
    ("redhat", "redhat"),
    ("redhatenterpriselinux", "redhat"),
    ("oraclelinux", "oracle"),
    ("rockylinux", "rocky"),
    ("alma", "almalinux"),
    ("amzn", "amazon"),
    ("amazonlinux", "amazon"),
    ("archlinux", "arch"),
    ("centosstream", "centos"),
    ("mint", "linuxmint"),
    ("raspberrypios", "raspbian"),
];

/// Returns the value of a fact for the word of another program. `fact` is the path below `Facts`.
pub fn meant(fact: &str, word: &str) -> Option<&'static str> {
    let words = match fact {
        "host.info.kernelArch" => ARCHITECTURES,
        "host.info.platformFamily" => FAMILIES,
        "host.info.platform" => PLATFORMS,
        _ => return None,
    };
    of(words, &plain(word)).filter(|meant| *meant != word)
}

/// Returns `true` for a word that another program may have for some fact. Allocates nothing.
pub fn is_elsewhere(word: &str) -> bool {
    let letters = || word.bytes().filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase());
    let is_word = |(known, _): &(&str, &str)| known.bytes().eq(letters());
    [ARCHITECTURES, FAMILIES, PLATFORMS].into_iter().flatten().any(is_word)
}

/// Names of facts of Facter and of Ansible, with those of ccm.
const OTHER_NAMES: &[(&[&str], &str)] = &[
    (&["hostname", "networking.hostname", "ansible_hostname", "ansible_nodename"], "host.info.hostname"),
    (&["fqdn", "networking.fqdn", "ansible_fqdn"], "host.info.fqdn"),
    (&["kernel", "os.kernel", "ansible_system"], "host.info.os"),
    (
        &["osfamily", "os.family", "ansible_os_family", "platformFamily", "os_family"],
        "host.info.platformFamily",
    ),
    (
        &["operatingsystem", "os", "os.name", "ansible_distribution", "platform", "distribution"],
        "host.info.platform",
    ),
    (
        &[
            "operatingsystemrelease",
            "os.release",
            "os.release.full",
            "ansible_distribution_version",
            "distribution_version",
            "osrelease",
        ],
        "host.info.platformVersion",
    ),
    (
        &[
            "operatingsystemmajrelease",
            "os.release.major",
            "ansible_distribution_major_version",
            "distribution_major_version",
            "osmajorrelease",
        ],
        "host.info.platformMajorVersion",
    ),
    (
        &[
            "lsbdistcodename",
            "os.distro.codename",
            "ansible_distribution_release",
            "distribution_release",
            "oscodename",
        ],
        "host.info.platformCodename",
    ),
    (&["kernelrelease", "kernelversion", "ansible_kernel"], "host.info.kernelVersion"),
    (
        &[
            "architecture",
            "hardwaremodel",
            "os.architecture",
            "os.hardware",
            "ansible_architecture",
            "cpuarch",
        ],
        "host.info.kernelArch",
    ),
    (
        &["virtual", "ansible_virtualization_type", "hypervisors", "virtualization_type"],
        "host.info.virtualizationSystem",
    ),
    (&["is_virtual", "ansible_virtualization_role", "virtualization_role"], "host.info.virtualizationRole"),
    (&["service_provider", "ansible_service_mgr", "service_mgr", "init"], "host.info.initSystem"),
    (
        &["ipaddress", "networking.ip", "ansible_default_ipv4.address", "default_ipv4.address", "ipv4"],
        "network.default_ipv4",
    ),
    (
        &["ipaddress6", "networking.ip6", "ansible_default_ipv6.address", "default_ipv6.address", "ipv6"],
        "network.default_ipv6",
    ),
    (&["networking.interfaces", "interfaces", "ansible_interfaces"], "network.interfaces"),
    (
        &[
            "ansible_all_ipv4_addresses",
            "ansible_all_ipv6_addresses",
            "all_ipv4_addresses",
            "all_ipv6_addresses",
        ],
        "network.addresses",
    ),
    (
        &[
            "memory.system.total_bytes",
            "memorysize",
            "memorysize_mb",
            "ansible_memtotal_mb",
            "memtotal_mb",
            "mem_total",
        ],
        "memory.virtual.total",
    ),
    (
        &["memory.swap.total_bytes", "swapsize", "swapsize_mb", "ansible_swaptotal_mb", "swaptotal_mb"],
        "memory.swap.info.total",
    ),
    (&["mountpoints", "ansible_mounts", "mounts"], "partition.partitions"),
    (&["system_uptime.seconds", "uptime_seconds", "ansible_uptime_seconds"], "host.info.uptime"),
];

/// Returns the path below `Facts` of a fact that another program has under this path.
fn of_other_program(path: &str) -> Option<&'static str> {
    OTHER_NAMES.iter().find(|(names, _)| names.contains(&path)).map(|(_, meant)| *meant)
}

/// Returns what to write for a fact that another program has under this path.
pub fn advice_on_other_program(path: &str) -> Option<String> {
    let meant = of_other_program(path)?;
    let unit = if meant.starts_with("memory.") { ", in bytes" } else { "" };
    Some(format!("write `Facts.{meant}`{unit}"))
}

/// Returns the fact below `host.info` that has the name of a distribution, with its value.
pub fn distribution(word: &str) -> Option<(&'static str, &'static str)> {
    let plain = plain(word);
    let family = FAMILIES.iter().find(|(_, family)| *family == plain).map(|(_, family)| *family);
    if let Some(family) = family.or((plain == "redhat").then_some("rhel")) {
        return Some(("platformFamily", family));
    }
    let (known, _) = FAMILIES.iter().find(|(known, _)| *known == plain)?;
    Some(("platform", of(PLATFORMS, &plain).unwrap_or(known)))
}

/// Returns a word in small letters without signs.
fn plain(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn of(words: &[(&str, &'static str)], plain: &str) -> Option<&'static str> {
    words.iter().find(|(word, _)| *word == plain).map(|(_, meant)| *meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_programs_have_the_value_of_the_fact() {
        for (fact, word, expected) in [
            ("host.info.platformFamily", "RedHat", Some("rhel")),
            ("host.info.platformFamily", "rhel", None),
            ("host.info.platform", "RHEL", Some("redhat")),
            ("host.info.platform", "redhat", None),
            ("host.info.kernelArch", "amd64", Some("x86_64")),
            ("host.info.hostname", "amd64", None),
        ] {
            assert_eq!(meant(fact, word), expected, "{fact} {word}");
        }
        assert_eq!(distribution("Debian"), Some(("platformFamily", "debian")));
        assert_eq!(distribution("Ubuntu"), Some(("platform", "ubuntu")));
        assert_eq!(distribution("RedHat"), Some(("platformFamily", "rhel")));
        assert_eq!(distribution("Plan9"), None);
    }

    #[test]
    fn facts_of_other_programs_have_one_counterpart() {
        let mut seen = std::collections::HashSet::new();
        for name in OTHER_NAMES.iter().flat_map(|(names, _)| *names) {
            assert!(seen.insert(*name), "{name}");
        }
        for (path, expected) in [
            ("os.family", Some("write `Facts.host.info.platformFamily`")),
            ("os.release.major", Some("write `Facts.host.info.platformMajorVersion`")),
            ("os", Some("write `Facts.host.info.platform`")),
            ("os.selinux", None),
            ("ansible_memtotal_mb", Some("write `Facts.memory.virtual.total`, in bytes")),
            ("networking.ip", Some("write `Facts.network.default_ipv4`")),
            ("networking.domain", None),
            ("role", None),
        ] {
            assert_eq!(advice_on_other_program(path).as_deref(), expected, "{path}");
        }
    }
}
