//! Kernel parameters.

use crate::build::resource;
use crate::kernel::machine::{assert_changes, assert_unchanged, content, on_own_machine, shell};
use crate::local_run::{applied, in_noop, run_here};

const FILE: &str = "/etc/sysctl.d/90-ccm.conf";
const FORWARD: &str = "/proc/sys/net/ipv4/ip_forward";

#[test]
fn value_is_set_now_and_at_boot() {
    on_own_machine("sysctl", || {
        let forward = resource("sysctl", "net.ipv4.ip_forward", &[("value", "1")]);
        assert_changes(&forward, "changed value and value at boot");
        assert_eq!((&*content(FORWARD), &*content(FILE)), ("1\n", "net.ipv4.ip_forward = 1\n"));
        shell(&format!("echo 0 > {FORWARD}"));
        assert_changes(&forward, "changed value");
        shell(&format!("printf '# a\\nnet/ipv4/ip_forward=0\\n-kernel.x = 1' > {FILE}"));
        assert_changes(&forward, "changed value at boot");
        assert_eq!(content(FILE), "# a\nnet.ipv4.ip_forward = 1\n-kernel.x = 1");
        // The kernel has tabs between the numbers.
        let range = resource(
            "sysctl",
            "net/ipv4/ip_local_port_range",
            &[("value", "20000   60000"), ("file", "/etc/a.conf")],
        );
        assert_changes(&range, "changed value and value at boot");
        assert_eq!(content("/etc/a.conf"), "net/ipv4/ip_local_port_range = 20000 60000\n");
        let absent = resource("sysctl", "net.ipv4.ip_forward", &[("ensure", "absent")]);
        assert_changes(&absent, "removed");
        assert_eq!((&*content(FORWARD), &*content(FILE)), ("1\n", "# a\n-kernel.x = 1"));
    });
}

#[test]
fn interface_may_have_dots() {
    on_own_machine("sysctl ip", || {
        shell("ip link set lo name a.b");
        let forward = resource("sysctl", "net.ipv4.conf.a/b.forwarding", &[("value", "1")]);
        assert_changes(&forward, "changed value and value at boot");
        assert_eq!(content("/proc/sys/net/ipv4/conf/a.b/forwarding"), "1\n");
        assert_unchanged(&forward);
    });
}

#[test]
fn parameters_that_cannot_be_set_are_told_before_anything_is_changed() {
    on_own_machine("sysctl", || {
        for (name, value, told) in [
            ("net.ipv4.nothing", "1", "the kernel has no parameter `net.ipv4.nothing`"),
            ("net/nothing/a.b", "1", "the kernel has no parameter `net/nothing/a.b`"),
            ("kernel.osrelease", "7", "kernel parameter `kernel.osrelease` is read-only"),
        ] {
            let parameter = || vec![resource("sysctl", name, &[("value", value)])];
            assert_eq!(in_noop(parameter()), [told]);
            assert_eq!(applied(parameter()), [told]);
        }
        let told = applied(vec![resource("sysctl", "net.ipv4.ip_forward", &[("value", "many")])]).remove(0);
        assert!(told.starts_with("sysctl failed with exit code "), "{told}");
        assert!(!told.contains("(changed)") && !std::path::Path::new(FILE).exists(), "{told}");
        shell("mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys");
        let forward = || vec![resource("sysctl", "net.ipv4.ip_forward", &[("value", "1")])];
        let told = "kernel parameter `net.ipv4.ip_forward` is read-only: \"/proc/sys\" is mounted read-only";
        assert_eq!((in_noop(forward()), applied(forward())), (vec![told.to_owned()], vec![told.to_owned()]));
        assert!(!std::path::Path::new(FILE).exists());
        // What has the value is only saved.
        assert_changes(
            &resource("sysctl", "net.ipv4.ip_forward", &[("value", "0")]),
            "changed value at boot",
        );
    });
}

#[test]
fn values_are_compared_as_the_kernel_reads_them() {
    on_own_machine("sysctl", || {
        let timeout = resource("sysctl", "net.ipv4.tcp_fin_timeout", &[("value", "0x3D")]);
        assert_changes(&timeout, "changed value and value at boot");
        assert_eq!(content("/proc/sys/net/ipv4/tcp_fin_timeout"), "61\n");
        let ports = |value| resource("sysctl", "net.ipv4.ip_local_reserved_ports", &[("value", value)]);
        assert_changes(&ports("8080,9000-9002"), "changed value and value at boot");
        assert_changes(&ports(""), "changed value and value at boot");
        assert_eq!(content("/proc/sys/net/ipv4/ip_local_reserved_ports"), "\n");
        let flush = || vec![resource("sysctl", "net.ipv4.route.flush", &[("value", "1")])];
        let told = "kernel parameter `net.ipv4.route.flush` can only be written";
        assert_eq!((in_noop(flush()), applied(flush())), (vec![told.to_owned()], vec![told.to_owned()]));
    });
}

#[test]
fn later_file_with_another_value_is_told() {
    on_own_machine("sysctl", || {
        let forward = resource("sysctl", "net.ipv4.ip_forward", &[("value", "1")]);
        shell(
            "mkdir /etc/sysctl.d; rm -f /etc/sysctl.conf; printf '# x\nnet/ipv4/ip_forward = 0\n' > /etc/sysctl.d/99-local.conf",
        );
        let told = "at boot, line 2 of \"/etc/sysctl.d/99-local.conf\" sets the value to `0`, later than \"/etc/sysctl.d/90-ccm.conf\"";
        for noop in [true, false, false] {
            let transaction = run_here(vec![forward.clone()], noop).remove(0);
            assert_eq!(transaction.warnings, [told]);
        }
        shell(
            "rm /etc/sysctl.d/99-local.conf; ln -s ../sysctl.conf /etc/sysctl.d/99-sysctl.conf; echo net.ipv4.ip_forward=0 > /etc/sysctl.conf",
        );
        let in_link = resource(
            "sysctl",
            "net.ipv4.ip_forward",
            &[("value", "1"), ("file", "/etc/sysctl.d/99-sysctl.conf")],
        );
        let transaction = run_here(vec![in_link], true).remove(0);
        assert!(transaction.warnings.is_empty(), "{transaction:?}");
    });
}
