//! Order that ccm adds.

use ccm_testkit::Scratch;

use crate::ccm;

/// Returns the graph of a manifest, a line for each resource in the order of a run.
fn graph(resources: &str) -> Vec<String> {
    let scratch = Scratch::new();
    scratch.write("m.yaml", format!("ccm:\n  resources:\n{resources}"));
    let called = ccm(&scratch, &["graph", "m.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let words = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    called.stdout.lines().map(words).collect()
}

#[test]
fn services_come_after_their_units_and_packages_unless_the_manifest_says_otherwise() {
    for (resources, expected) in [
        (
            "    - service: [shop: {}]\n    - file: [/etc/systemd/system/shop.service: {content: x}]\n    - package: [shop: {}]\n",
            &[
                "file#/etc/systemd/system/shop.service",
                "package#shop",
                "service#shop needs file#/etc/systemd/system/shop.service, package#shop (autorequire)",
            ][..],
        ),
        (
            "    - service: [shop: {}]\n    - file: [/etc/systemd/system/shop.service.d/a.conf: {content: x}]\n",
            &[
                "file#/etc/systemd/system/shop.service.d/a.conf",
                "service#shop needs file#/etc/systemd/system/shop.service.d/a.conf (autorequire)",
            ],
        ),
        (
            "    - service: [getty@tty9: {}]\n    - file: ['/usr/lib/systemd/system/getty@.service': {content: x}]\n",
            &[
                "file#/usr/lib/systemd/system/getty@.service",
                "service#getty@tty9 needs file#/usr/lib/systemd/system/getty@.service (autorequire)",
            ],
        ),
        // Nothing else is waited for.
        (
            "    - service: [shop: {}]\n    - file: [/etc/systemd/system/shop.timer: {content: x}]\n    - package: [shop-data: {}]\n",
            &["service#shop", "file#/etc/systemd/system/shop.timer", "package#shop-data"],
        ),
        // What is to be absent is not waited for.
        (
            "    - service: [shop: {ensure: stopped}]\n    - file: [/etc/systemd/system/shop.service: {ensure: absent}]\n    - package: [shop: {ensure: absent}]\n",
            &["service#shop", "file#/etc/systemd/system/shop.service", "package#shop"],
        ),
        (
            "    - service: [shop: {autorequire: false}]\n    - package: [shop: {}]\n",
            &["service#shop", "package#shop"],
        ),
        // What the manifest says takes precedence.
        (
            "    - service: [shop: {}]\n    - package: [shop: {require: [service#shop]}]\n",
            &["service#shop", "package#shop requires service#shop"],
        ),
        (
            "    - file: [/srv/a/b: {content: x}, /srv/a: {ensure: directory}, /srv/a/c: {content: x, autorequire: false}]\n",
            &["file#/srv/a", "file#/srv/a/b needs file#/srv/a (autorequire)", "file#/srv/a/c"],
        ),
    ] {
        assert_eq!(graph(resources), expected, "{resources}");
    }
}

#[test]
fn paths_come_after_the_mounts_that_they_are_on() {
    let tmpfs = "{device: tmpfs, fstype: tmpfs}";
    let resources = format!(
        "    - file: [/srv/a/f: {{content: x}}]\n    - mount: [/srv/a/b: {tmpfs}]\n    - mount: [/srv/a: {tmpfs}]\n    \
         - file: [/srv/a: {{ensure: directory}}]\n    - file: [/srv/ab: {{content: x}}]\n"
    );
    assert_eq!(
        graph(&resources),
        [
            "file#/srv/a",
            "mount#/srv/a needs file#/srv/a (autorequire)",
            "file#/srv/a/f needs mount#/srv/a, file#/srv/a (autorequire)",
            "mount#/srv/a/b needs mount#/srv/a, file#/srv/a (autorequire)",
            "file#/srv/ab",
        ]
    );
    // A mount that is to be absent is not waited for, and what the manifest says takes precedence.
    assert_eq!(
        graph("    - file: [/srv/a/f: {content: x}]\n    - mount: [/srv/a: {ensure: absent}]\n"),
        ["file#/srv/a/f", "mount#/srv/a"]
    );
    let contrary = "    - file: [/srv/a/f: {content: x}]\n    - mount: [/srv/a: {device: tmpfs, fstype: tmpfs, require: [file#/srv/a/f]}]\n";
    assert_eq!(graph(contrary), ["file#/srv/a/f", "mount#/srv/a requires file#/srv/a/f"]);
}

#[test]
fn parameters_come_after_their_modules() {
    assert_eq!(
        graph(
            "    - sysctl: [net.bridge.bridge-nf-call-iptables: {value: 1}]\n    - kernel_module: [br-netfilter: {}]\n    \
             - timezone: [Etc/UTC: {}]\n    - package: [tzdata: {}]\n"
        ),
        [
            "kernel_module#br-netfilter",
            "sysctl#net.bridge.bridge-nf-call-iptables needs kernel_module#br-netfilter (autorequire)",
            "package#tzdata",
            "timezone#Etc/UTC needs package#tzdata (autorequire)",
        ]
    );
}
