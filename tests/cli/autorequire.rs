//! Order that ccm adds.

use ccm_testkit::Scratch;

use crate::ccm;

/// Returns the graph of a manifest, a line for each resource in the order of a run.
fn graph(resources: &str) -> Vec<String> {
    let scratch = Scratch::new();
    scratch.write("tree/f", "x");
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
        // A package that is to be absent is not waited for.
        (
            "    - service: [shop: {}]\n    - package: [shop: {ensure: absent}]\n",
            &["service#shop", "package#shop"],
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
    // What the manifest says takes precedence.
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

/// Resources in an order that a run can't take, and their order in the run.
const REMOVALS: &[(&str, &[&str])] = &[
    // Accounts, and what belongs to them.
    ("group: [g: {ensure: absent}]; user: [u: {ensure: absent}]", &["user#u", "group#g needs user#u"]),
    ("group: [u: {ensure: absent}]; user: [u: {gid: users}]", &["user#u", "group#u needs user#u"]),
    (
        "user: [u: {ensure: absent}]; authorized_key: [k: {ensure: absent, user: u, key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFVLjO6mvAUkJSdKdu1bZ2KpNQDFz2j5y5pkRQwYnBlD}]",
        &["authorized_key#k", "user#u needs authorized_key#k"],
    ),
    (
        "user: [u: {ensure: absent}]; cron: [j: {ensure: absent, provider: crontab, user: u}]",
        &["cron#j", "user#u needs cron#j"],
    ),
    (
        "user: [u: {ensure: absent}]; timer: [t: {ensure: absent, user: u}]",
        &["timer#t", "user#u needs timer#t"],
    ),
    (
        "user: [u: {ensure: absent}]; git: [/srv/r: {ensure: absent, user: u}]",
        &["git#/srv/r", "user#u needs git#/srv/r"],
    ),
    // Paths and file systems.
    (
        "file: [/srv/a: {ensure: absent}, /srv/a/f: {ensure: absent}]",
        &["file#/srv/a/f", "file#/srv/a needs file#/srv/a/f"],
    ),
    (
        "file: [/srv/a: {ensure: absent}]; git: [/srv/a/r: {ensure: absent}]; archive: [/srv/a/x.tar: {ensure: absent}]",
        &["git#/srv/a/r", "archive#/srv/a/x.tar", "file#/srv/a needs git#/srv/a/r, archive#/srv/a/x.tar"],
    ),
    (
        "scaffold: [/srv/a: {ensure: absent, source: tree}]; file: [/srv/a/f: {ensure: absent}]",
        &["file#/srv/a/f", "scaffold#/srv/a needs file#/srv/a/f"],
    ),
    (
        "file: [/srv/a: {content: x}, /srv/a/f: {ensure: absent}]",
        &["file#/srv/a/f", "file#/srv/a needs file#/srv/a/f"],
    ),
    (
        "mount: [/srv/a: {ensure: absent}, /srv/a/b: {ensure: absent}]",
        &["mount#/srv/a/b", "mount#/srv/a needs mount#/srv/a/b"],
    ),
    (
        "mount: [/srv/a: {ensure: unmounted, device: t, fstype: tmpfs}, /srv/a/b: {ensure: absent}]",
        &["mount#/srv/a/b", "mount#/srv/a needs mount#/srv/a/b"],
    ),
    (
        "file: [/srv/a: {ensure: absent}]; mount: [/srv/a: {ensure: absent}]",
        &["mount#/srv/a", "file#/srv/a needs mount#/srv/a"],
    ),
    (
        "file: [/srv: {ensure: absent}]; mount: [/srv/a: {ensure: absent}]",
        &["mount#/srv/a", "file#/srv needs mount#/srv/a"],
    ),
    (
        "mount: [/srv/a: {ensure: absent}]; file: [/srv/a/f: {ensure: absent}]",
        &["file#/srv/a/f", "mount#/srv/a needs file#/srv/a/f"],
    ),
    (
        "file: [/srv/a/f: {content: x}]; mount: [/srv/a: {ensure: absent}]",
        &["mount#/srv/a", "file#/srv/a/f needs mount#/srv/a"],
    ),
    (
        "file: [/srv/a: {ensure: directory}]; mount: [/srv/a: {ensure: absent}]",
        &["mount#/srv/a", "file#/srv/a needs mount#/srv/a"],
    ),
    (
        "mount: [/srv/a/b: {device: tmpfs, fstype: tmpfs}, /srv/a: {ensure: absent}]",
        &["mount#/srv/a", "mount#/srv/a/b needs mount#/srv/a"],
    ),
    (
        "file: [/srv/i.img: {ensure: absent}]; mount: [/srv/a: {ensure: unmounted, device: /srv/i.img, fstype: ext4}]",
        &["mount#/srv/a", "file#/srv/i.img needs mount#/srv/a"],
    ),
    (
        "package: [xfsprogs: {ensure: absent}]; kernel_module: [xfs: {ensure: absent}]; mount: [/srv/a: {ensure: unmounted, device: /dev/x, fstype: xfs}]",
        &["mount#/srv/a", "package#xfsprogs needs mount#/srv/a", "kernel_module#xfs needs mount#/srv/a"],
    ),
    (
        "kernel_module: [br_netfilter: {ensure: absent}]; sysctl: [net.bridge.bridge-nf-call-iptables: {ensure: absent}]",
        &[
            "sysctl#net.bridge.bridge-nf-call-iptables",
            "kernel_module#br_netfilter needs sysctl#net.bridge.bridge-nf-call-iptables",
        ],
    ),
    // Packages.
    (
        "package: [p: {ensure: absent}]; package_hold: [p: {ensure: absent}]",
        &["package_hold#p", "package#p needs package_hold#p"],
    ),
    (
        "package: [p: {ensure: latest}]; package_hold: [p: {ensure: absent}]",
        &["package_hold#p", "package#p needs package_hold#p"],
    ),
    (
        "package_hold: [p: {ensure: absent}]; package: [p: {ensure: latest}]",
        &["package_hold#p", "package#p needs package_hold#p"],
    ),
    #[cfg(target_arch = "x86_64")]
    (
        "package: [p: {ensure: latest}]; package_hold: ['p:amd64': {ensure: absent}]",
        &["package_hold#p:amd64", "package#p needs package_hold#p:amd64"],
    ),
    #[cfg(target_arch = "x86_64")]
    (
        "package_hold: [p: {}]; package: [p.x86_64: {}]",
        &["package#p.x86_64", "package_hold#p needs package#p.x86_64"],
    ),
    ("package_hold: [p: {}]; package: [p: {}]", &["package#p", "package_hold#p needs package#p"]),
    (
        "package: [python3-dnf-plugin-versionlock: {ensure: absent}]; package_hold: [p: {ensure: absent}]",
        &["package_hold#p", "package#python3-dnf-plugin-versionlock needs package_hold#p"],
    ),
    (
        "package: [p: {}, q: {ensure: absent}]; file: [/etc/apt/sources.list.d/old.list: {ensure: absent}]",
        &[
            "package#q",
            "file#/etc/apt/sources.list.d/old.list",
            "package#p needs file#/etc/apt/sources.list.d/old.list",
        ],
    ),
    (
        "package: [git: {ensure: absent}]; git: [/srv/r: {ensure: absent}]",
        &["git#/srv/r", "package#git needs git#/srv/r"],
    ),
    (
        "package: [cron: {ensure: absent}]; cron: [j: {ensure: absent}]",
        &["cron#j", "package#cron needs cron#j"],
    ),
    // Services.
    (
        "file: [/etc/systemd/system/shop.service: {ensure: absent}]; package: [shop: {ensure: absent}]; service: [shop: {ensure: stopped}]",
        &[
            "service#shop",
            "file#/etc/systemd/system/shop.service needs service#shop",
            "package#shop needs service#shop",
        ],
    ),
    (
        "timer: [t: {ensure: absent}]; service: [t.timer: {ensure: stopped}]",
        &["service#t.timer", "timer#t needs service#t.timer"],
    ),
    (
        "service: [shop: {}]; file: [/etc/systemd/system/shop.service.d/a.conf: {ensure: absent}]",
        &[
            "file#/etc/systemd/system/shop.service.d/a.conf",
            "service#shop needs file#/etc/systemd/system/shop.service.d/a.conf",
        ],
    ),
    (
        "file: [/usr/local/bin/job: {ensure: absent}]; cron: [j: {ensure: absent, command: /usr/local/bin/job}]",
        &["cron#j", "file#/usr/local/bin/job needs cron#j"],
    ),
    (
        "user: [shop: {ensure: absent}]; service: [shop: {ensure: stopped}]",
        &["service#shop", "user#shop needs service#shop"],
    ),
    (
        "user: [db: {ensure: absent}]; service: [db@main.service: {ensure: stopped}, db: {}]",
        &["service#db@main.service", "user#db needs service#db@main.service", "service#db"],
    ),
    // Accounts whose groups only the machine tells.
    (
        "group: [old: {ensure: absent}]; user: [u: {gid: new}]; group: [new: {}]",
        &["group#new", "user#u needs group#new", "group#old needs user#u"],
    ),
    (
        "group: [old: {ensure: absent}, older: {ensure: absent}]; user: [u: {gid: '100'}, v: {ensure: absent}]",
        &["user#u", "user#v", "group#old needs user#u, user#v", "group#older needs user#u, user#v"],
    ),
    // What the manifest says takes precedence.
    (
        "group: [g: {ensure: absent}, h: {ensure: absent}]; user: [u: {ensure: absent, require: [group#h]}, v: {ensure: absent, require: [group#g]}]",
        &["group#h", "user#u requires group#h", "group#g needs user#u", "user#v requires group#g"],
    ),
    (
        "group: [g: {ensure: absent}]; file: [/srv/f: {content: x, require: [group#g]}]; user: [u: {gid: '100', require: ['file#/srv/f']}]",
        &["group#g", "file#/srv/f requires group#g", "user#u requires file#/srv/f"],
    ),
    (
        "group: [g: {ensure: absent}]; user: [u: {ensure: absent, require: [group#g]}]",
        &["group#g", "user#u requires group#g"],
    ),
    ("group: [g: {ensure: absent, autorequire: false}]; user: [u: {ensure: absent}]", &["group#g", "user#u"]),
    // Nothing else is waited for.
    ("group: [g: {ensure: absent}]; user: [u: {}]", &["group#g", "user#u"]),
    ("user: [u: {ensure: absent}]; cron: [j: {ensure: absent, user: v}]", &["user#u", "cron#j"]),
    ("file: [/srv/a: {ensure: absent}, /srv/ab: {ensure: absent}]", &["file#/srv/a", "file#/srv/ab"]),
];

#[test]
fn removals_come_in_the_reverse_order() {
    let mut wrong = String::new();
    for (resources, expected) in REMOVALS {
        let manifest = format!("    - {}\n", resources.replace("; ", "\n    - "));
        let seen = graph(&manifest).iter().map(|line| line.replace(" (autorequire)", "")).collect::<Vec<_>>();
        if seen != *expected {
            wrong += &format!("{resources}\n  {seen:?}\n");
        }
    }
    assert_eq!(wrong, "");
}
