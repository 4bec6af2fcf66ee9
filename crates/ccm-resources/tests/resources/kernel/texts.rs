//! Files of the system in other encodings.

use std::path::Path;

use crate::build::resource;
use crate::encodings::assert_right_or_refused;
use crate::kernel::machine::{on_own_machine, shell};

#[test]
fn parts_of_texts_are_edited_rightly_or_refused() {
    on_own_machine("mount umount sysctl", || {
        shell("mkdir -p /etc/sysctl.d /etc/default /srv/m && touch /srv/f");
        let locale = if Path::new("/etc/debian_version").exists() {
            "/etc/default/locale"
        } else {
            "/etc/locale.conf"
        };
        shell("echo 1 > /proc/sys/net/ipv4/ip_forward");
        let part = |type_name: &str, properties: &[(&str, &str)]| {
            resource(type_name, "part", &[&[("path", "/srv/f")], properties].concat())
        };
        for (path, resource) in [
            ("/etc/hosts", resource("host", "b.example.com", &[("ip", "192.0.2.1")])),
            (
                "/etc/fstab",
                resource("mount", "/srv/m", &[("ensure", "present"), ("device", "t"), ("fstype", "tmpfs")]),
            ),
            ("/etc/sysctl.d/90-ccm.conf", resource("sysctl", "net.ipv4.ip_forward", &[("value", "1")])),
            (locale, resource("locale", "C", &[])),
        ] {
            assert_right_or_refused(path, &format!("\"{path}\""), &resource);
        }
        for resource in [
            part("line", &[("line", "new")]),
            part("line", &[("line", "new"), ("match", "^nothing")]),
            part("block", &[("content", "new")]),
            part("setting", &[("section", "a"), ("key", "b"), ("value", "2")]),
        ] {
            assert_right_or_refused("/srv/f", "\"/srv/f\" can't be changed: the file", &resource);
        }
    });
}
