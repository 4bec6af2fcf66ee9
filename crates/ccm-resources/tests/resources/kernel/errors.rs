//! Errors at load.

use crate::build::{errors_of, resource};

#[test]
fn errors_are_found_at_load() {
    for (type_name, name, properties, count) in [
        ("sysctl", "vm.swappiness", &[("value", "1")][..], 0),
        ("sysctl", "vm.swappiness", &[], 1),
        ("sysctl", "swappiness", &[("value", "1")], 1),
        ("sysctl", "-w", &[], 2),
        ("sysctl", "a.b", &[("value", "true")], 1),
        ("sysctl", "a.b", &[("value", "")], 0),
        ("sysctl", "a.b", &[("value", "0x10")], 0),
        // Warnings.
        ("sysctl", "a.b", &[("value", "1 030")], 1),
        ("sysctl", "a.b", &[("value", "1"), ("file", "/etc/sysctl.d/90-a")], 1),
        ("sysctl", "a.b", &[("value", "1\n2")], 1),
        ("sysctl", "a.b", &[("value", "1"), ("file", "a.conf")], 1),
        ("sysctl", "a.b", &[("value", "1"), ("ensure", "absent")], 1),
        ("host", "db", &[("ip", "192.0.2.1"), ("host_aliases", "[a|b]")], 0),
        ("host", "db", &[], 1),
        ("host", "d b", &[("ip", "192.0.2.1")], 1),
        ("host", "db", &[("ip", "192.0.2")], 1),
        ("host", "db", &[("ip", "192.0.2.1"), ("host_aliases", "[a b]")], 1),
        ("host", "db", &[("ensure", "absent"), ("host_aliases", "[a]")], 1),
        ("hostname", "web-1", &[], 0),
        ("hostname", "web_1", &[], 1),
        ("hostname", &"a".repeat(65), &[], 1),
        ("timezone", "Etc/GMT+1", &[], 0),
        ("timezone", "../etc/passwd", &[], 1),
        ("timezone", "/Europe/Berlin", &[], 1),
        ("timezone", "Europe Berlin", &[], 1),
        ("locale", "de_DE.UTF-8", &[("categories", "{LC_TIME=C}")], 0),
        ("locale", "de DE", &[], 1),
        ("locale", "C", &[("categories", "{LC_ALL=C}")], 1),
        ("locale", "C", &[("categories", "{LC_TIME=a b}")], 1),
        ("mount", "/srv", &[("device", "/a"), ("fstype", "ext4"), ("pass", "2")], 0),
        ("mount", "/srv", &[], 2),
        ("mount", "srv", &[("device", "/a"), ("fstype", "ext4")], 1),
        ("mount", "/srv/", &[("device", "/a"), ("fstype", "ext4")], 1),
        ("mount", "/srv", &[("device", "/a"), ("fstype", "ext4"), ("pass", "10")], 1),
        ("mount", "/srv", &[("device", "/a"), ("fstype", "swap")], 1),
        ("mount", "/srv", &[("device", "/a\nb"), ("fstype", "ext4")], 1),
        ("mount", "/", &[("device", "/a"), ("fstype", "ext4")], 0),
        ("mount", "/", &[("ensure", "absent")], 1),
        ("mount", "/srv", &[("ensure", "absent"), ("options", "ro")], 1),
        ("kernel_module", "br-netfilter", &[("boot", "true"), ("options", "a=1")], 0),
        ("kernel_module", "a.ko", &[], 1),
        ("kernel_module", "a", &[("blacklist", "true")], 1),
        ("kernel_module", "a", &[("ensure", "absent"), ("boot", "true")], 1),
        ("kernel_module", "a", &[("options", "a=1\nb")], 1),
    ] {
        let errors = errors_of(&resource(type_name, name, properties));
        assert_eq!(errors.len(), count, "{type_name} {name} {properties:?}: {errors:?}");
    }
}
