//! Links in place of files of the system.

use std::fs::{read_link, write};
use std::os::unix::fs::{lchown, symlink};
use std::path::Path;

use ccm_model::Resource;

use crate::build::resource;
use crate::kernel::machine::{assert_changes, content, on_own_machine, shell};
use crate::local_run::{applied, in_noop};

/// Puts a file elsewhere, with a link in its place.
fn link(path: &str, target: &str) {
    shell(&format!("mkdir -p $(dirname {path}) && rm -f {path}"));
    symlink(target, path).expect("a link");
}

fn is_link(path: &str) -> bool {
    read_link(path).is_ok()
}

#[test]
fn links_of_root_are_followed() {
    on_own_machine("sysctl hostname", || {
        // As in Debian, whose systemd-sysctl reads the file only through the link.
        write("/etc/sysctl.conf", "# caf\u{e9}\n").expect("a file");
        link("/etc/sysctl.d/99-sysctl.conf", "../sysctl.conf");
        let forward = [("value", "1"), ("file", "/etc/sysctl.d/99-sysctl.conf")];
        assert_changes(
            &resource("sysctl", "net.ipv4.ip_forward", &forward),
            "changed value and value at boot",
        );
        assert_eq!(content("/etc/sysctl.conf"), "# caf\u{e9}\nnet.ipv4.ip_forward = 1\n");
        // Persistent storage of an appliance.
        for path in ["/etc/hosts", "/etc/hostname", "/etc/fstab", "/etc/modules-load.d/ccm-dummy_a.conf"] {
            let name = Path::new(path).file_name().and_then(|name| name.to_str()).expect("a name");
            let target = format!("/srv/{name}");
            write(&target, "# kept\n").expect("a file");
            link(path, &target);
        }
        assert_changes(&resource("host", "web", &[("ip", "192.0.2.2")]), "created");
        assert_changes(&resource("hostname", "web", &[]), "changed name and name at boot");
        let mount = [("device", "tmpfs"), ("fstype", "tmpfs"), ("ensure", "present")];
        assert_changes(&resource("mount", "/srv/x", &mount), "created");
        assert_eq!(applied(vec![resource("kernel_module", "dummy_a", &[("boot", "true")])]), ["changed"]);
        for (path, target, ending) in [
            ("/etc/hosts", "/srv/hosts", "\n192.0.2.2\tweb\n"),
            ("/etc/hostname", "/srv/hostname", "web\n"),
            ("/etc/fstab", "/srv/fstab", "\ntmpfs\t/srv/x\ttmpfs\tdefaults\t0 0\n"),
            ("/etc/modules-load.d/ccm-dummy_a.conf", "/srv/ccm-dummy_a.conf", "\ndummy_a\n"),
        ] {
            assert!(is_link(path), "{path}");
            assert!(content(target).ends_with(ending), "{path}: {}", content(target));
        }
        assert!(is_link("/etc/sysctl.d/99-sysctl.conf"));
        assert_eq!(content("/srv/hosts"), "# kept\n192.0.2.2\tweb\n");
    });
}

#[test]
fn target_of_a_link_is_made() {
    on_own_machine("", || {
        let web = || vec![resource("host", "web", &[("ip", "192.0.2.2")])];
        link("/etc/hosts", "/srv/none/hosts");
        let told = "\"/etc/hosts\" is a dangling symbolic link";
        assert_eq!((in_noop(web()), applied(web())), (vec![told.to_owned()], vec![told.to_owned()]));
        shell("mkdir /srv/none");
        assert_eq!(applied(web()), ["changed"]);
        assert!(is_link("/etc/hosts"));
        assert_eq!(content("/srv/none/hosts"), "192.0.2.2\tweb\n");
    });
}

#[test]
fn links_of_others_are_refused() {
    on_own_machine("sysctl hostname", || {
        let resources: [(&str, Resource); 4] = [
            ("/etc/hosts", resource("host", "web", &[("ip", "192.0.2.2")])),
            ("/etc/hostname", resource("hostname", "web", &[])),
            ("/etc/sysctl.d/90-ccm.conf", resource("sysctl", "net.ipv4.ip_forward", &[("value", "0")])),
            (
                "/etc/fstab",
                resource("mount", "/srv/x", &[("device", "a"), ("fstype", "tmpfs"), ("ensure", "present")]),
            ),
        ];
        for (path, resource) in resources {
            write("/srv/target", "").expect("a file");
            link(path, "/srv/target");
            lchown(path, Some(65534), Some(65534)).expect("an owner");
            let told = format!("\"{path}\" is a link owned by uid 65534 and is not followed");
            assert_eq!(in_noop(vec![resource.clone()]), [told.as_str()]);
            assert_eq!(applied(vec![resource]), [told]);
            assert_eq!(content("/srv/target"), "");
        }
    });
}
