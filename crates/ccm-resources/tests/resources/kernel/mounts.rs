//! Mounts.

use std::fs::File;
use std::path::Path;

use ccm_model::Resource;
use ccm_testkit::{needs_root, skipped};

use crate::build::resource;
use crate::kernel::machine::{assert_changes, assert_unchanged, content, on_own_machine, shell, succeeds};
use crate::local_run::{applied, in_noop};

const FSTAB: &str = "# static\nUUID=nowhere / ext4 defaults 0 1\n";

fn tmpfs(name: &str, properties: &[(&str, &str)]) -> Resource {
    let all: Vec<(&str, &str)> =
        [("device", "tmpfs"), ("fstype", "tmpfs")].into_iter().chain(properties.iter().copied()).collect();
    resource("mount", name, &all)
}

/// Returns the options of what is mounted on a directory, without those of the file system.
fn options(mount_point: &str) -> Vec<String> {
    let table = content("/proc/self/mountinfo");
    let line = table.lines().rev().find(|line| line.split(' ').nth(4) == Some(mount_point));
    let options = line.and_then(|line| line.split(' ').nth(5)).unwrap_or_default();
    options.split(',').filter(|option| !option.is_empty()).map(str::to_owned).collect()
}

#[test]
fn file_system_is_mounted_and_unmounted() {
    on_own_machine("mount umount", || {
        shell("mkdir '/srv/a b'");
        assert_changes(&tmpfs("/srv/a b", &[("options", "size=64m,noexec")]), "created");
        assert_eq!(
            content("/etc/fstab"),
            format!("{FSTAB}tmpfs\t/srv/a\\040b\ttmpfs\tsize=64m,noexec\t0 0\n")
        );
        assert!(options("/srv/a\\040b").contains(&"noexec".to_owned()));
        // Without options they are not managed.
        assert_unchanged(&tmpfs("/srv/a b", &[]));
        assert_changes(&tmpfs("/srv/a b", &[("ensure", "unmounted")]), "changed mounted");
        assert!(options("/srv/a\\040b").is_empty());
        assert_changes(&tmpfs("/srv/a b", &[]), "changed mounted");
        shell("umount '/srv/a b'");
        assert_unchanged(&tmpfs("/srv/a b", &[("ensure", "present")]));
        assert_changes(&tmpfs("/srv/a b", &[]), "changed mounted");
        // What is mounted twice is unmounted twice.
        shell("mount -t tmpfs tmpfs '/srv/a b'");
        assert_changes(&resource("mount", "/srv/a b", &[("ensure", "absent")]), "removed");
        assert!(options("/srv/a\\040b").is_empty());
        assert_eq!(content("/etc/fstab"), FSTAB);
        assert_changes(&tmpfs("/srv/a b", &[("ensure", "present"), ("pass", "2")]), "created");
        assert!(options("/srv/a\\040b").is_empty());
    });
}

#[test]
fn options_get_a_remount() {
    on_own_machine("mount umount", || {
        shell("mkdir /srv/a");
        assert_changes(&tmpfs("/srv/a", &[("options", "nosuid,size=1m")]), "created");
        shell("touch /srv/a/kept");
        let hardened = tmpfs("/srv/a", &[("options", "nosuid,noexec,size=2m")]);
        assert_changes(&hardened, "changed options and mounted options");
        assert!(options("/srv/a").contains(&"noexec".to_owned()));
        shell("mount -o remount,exec,suid,ro /srv/a");
        assert_changes(&hardened, "changed mounted options");
        let found = options("/srv/a");
        assert!(
            ["rw", "nosuid", "noexec"].iter().all(|option| found.contains(&(*option).to_owned())),
            "{found:?}"
        );
        shell("test -e /srv/a/kept");
        assert_changes(&tmpfs("/srv/a", &[("options", "defaults")]), "changed options and mounted options");
        assert!(!options("/srv/a").contains(&"noexec".to_owned()));
        // Options that can't be compared.
        assert_changes(&tmpfs("/srv/a", &[("options", "nofail")]), "changed options");
    });
}

#[test]
fn bind_mounts_have_options_of_their_own() {
    on_own_machine("mount umount", || {
        shell("mkdir /srv/a /srv/b && touch /srv/a/f");
        let bind = |options: &str| {
            resource("mount", "/srv/b", &[("device", "/srv/a"), ("fstype", "none"), ("options", options)])
        };
        assert_changes(&bind("bind"), "created");
        shell("test -e /srv/b/f");
        assert_changes(&bind("bind,ro"), "changed options and mounted options");
        assert!(options("/srv/b").contains(&"ro".to_owned()) && succeeds("touch /srv/a/f"));
        assert_changes(&bind("bind"), "changed options and mounted options");
        assert!(succeeds("touch /srv/b/f"));
    });
}

#[test]
fn other_file_system_is_replaced() {
    on_own_machine("mount umount", || {
        shell("mkdir /srv/a && mount -t ramfs ramfs /srv/a");
        assert_changes(&tmpfs("/srv/a", &[]), "created");
        assert!(content("/proc/self/mounts").contains("tmpfs /srv/a tmpfs"));
        // If the new one can't be mounted, all is as before.
        let before = content("/etc/fstab");
        shell("echo kept > /srv/a/x");
        let unknown = || vec![resource("mount", "/srv/a", &[("device", "tmpfs"), ("fstype", "nofs")])];
        let told = applied(unknown()).remove(0);
        assert!(told.starts_with("mount failed with exit code 32: ") && told.contains("nofs"), "{told}");
        assert!(!told.contains("(changed)"), "{told}");
        assert_eq!(content("/etc/fstab"), before);
        assert!(content("/proc/self/mounts").contains("tmpfs /srv/a tmpfs"));
    });
}

#[test]
fn a_missing_mount_point_is_made() {
    on_own_machine("mount umount", || {
        let new = || tmpfs("/srv/new/deep", &[]);
        let told = in_noop(vec![new()]).remove(0);
        assert!(told.contains("directory made"), "{told}");
        assert!(!Path::new("/srv/new").exists());
        assert_changes(&new(), "created");
        assert!(options("/srv/new/deep").contains(&"rw".to_owned()));
        shell(
            "test $(stat -c %a:%u /srv/new) = 755:0 && umount /srv/new/deep && test $(stat -c %a /srv/new/deep) = 755",
        );
        // What can't be mounted leaves no directory, and no line.
        let before = content("/etc/fstab");
        for properties in [&[("fstype", "nofs")][..], &[("options", "nosuch")]] {
            let told = applied(vec![tmpfs("/srv/other/deep", properties)]).remove(0);
            assert!(told.starts_with("mount failed") && !told.contains("(changed)"), "{told}");
            assert!(!Path::new("/srv/other").exists());
            assert_eq!(content("/etc/fstab"), before);
        }
    });
}

/// Returns `true` if files can be devices here, which only root can make them.
fn needs_loop_devices() -> bool {
    if !needs_root() {
        return false;
    }
    let has_them = Path::new("/dev/loop-control").exists();
    if !has_them {
        skipped("there are no loop devices");
    }
    has_them
}

#[test]
fn an_image_is_mounted_once() {
    if !needs_loop_devices() {
        return;
    }
    on_own_machine("mount umount losetup mkfs.ext4", || {
        shell(
            "truncate -s 8M '/srv/a b.img' /srv/other.img; mkfs.ext4 -q '/srv/a b.img'; mkfs.ext4 -q /srv/other.img; ln -s 'a b.img' /srv/link.img",
        );
        for (device, properties) in [
            ("/srv/a b.img", &[("fstype", "ext4"), ("options", "loop")][..]),
            ("/srv/a b.img", &[("fstype", "ext4"), ("options", "loop,ro")]),
            ("/srv/a b.img", &[("fstype", "ext4")]),
            ("/srv/a b.img", &[("fstype", "auto"), ("options", "loop")]),
            ("/srv/link.img", &[("fstype", "ext4"), ("options", "loop")]),
        ] {
            let image = |device| resource("mount", "/srv/mnt", &[&[("device", device)], properties].concat());
            assert_changes(&image(device), "created");
            assert_eq!(layers("/srv/mnt"), 1);
            // Another image replaces it.
            assert!(applied(vec![image("/srv/other.img")])[0].starts_with("changed"), "{properties:?}");
            assert_eq!(layers("/srv/mnt"), 1);
            assert_unchanged(&image("/srv/other.img"));
            assert_changes(&resource("mount", "/srv/mnt", &[("ensure", "absent")]), "removed");
            assert_eq!(layers("/srv/mnt"), 0);
        }
    });
}

#[test]
fn a_device_has_several_names() {
    if !needs_loop_devices() {
        return;
    }
    on_own_machine("mount umount losetup mkfs.ext4", || {
        shell(
            "truncate -s 8M /srv/x.img; mkfs.ext4 -q -L 'my data' /srv/x.img; ln -s $(losetup --find --show /srv/x.img) /dev/by-another-name",
        );
        let device = resource("mount", "/srv/x", &[("device", "/dev/by-another-name"), ("fstype", "ext4")]);
        assert_changes(&device, "created");
        assert_changes(&resource("mount", "/srv/x", &[("ensure", "absent")]), "removed");
        // Without udev, mount finds it by its label.
        if !Path::new("/dev/disk/by-label").exists() {
            let named = resource("mount", "/srv/x", &[("device", "LABEL=my data"), ("fstype", "ext4")]);
            assert_changes(&named, "created");
            assert_changes(&resource("mount", "/srv/x", &[("ensure", "absent")]), "removed");
            let gone = resource("mount", "/srv/x", &[("device", "LABEL=gone"), ("fstype", "ext4")]);
            let told = applied(vec![gone]).remove(0);
            assert!(told.contains("mount failed") && !told.contains("(changed)"), "{told}");
        }
        shell("losetup --detach $(readlink /dev/by-another-name); rm /dev/by-another-name");
    });
}

#[test]
fn obstacles_leave_everything_as_it_is() {
    on_own_machine("mount umount", || {
        shell("mkdir /srv/a; touch /srv/file; ln -s nowhere /srv/link");
        let device = |device| resource("mount", "/srv/a", &[("device", device), ("fstype", "ext4")]);
        for (mount, told) in [
            (tmpfs("/srv/file", &[]), "\"/srv/file\" is a file, not a directory"),
            (
                tmpfs("/srv/file/below", &[]),
                "\"/srv/file\", on the way to \"/srv/file/below\", is not a directory",
            ),
            (
                tmpfs("/srv/link", &[]),
                "\"/srv/link\" is a symbolic link that leads to no directory, not a directory",
            ),
            (device("/dev/nothing"), "there is no device `/dev/nothing`"),
        ] {
            assert_eq!(in_noop(vec![mount.clone()]), [told]);
            assert_eq!(applied(vec![mount]), [told]);
        }
        let told = applied(vec![tmpfs("/srv/a", &[("options", "nosuch")])]).remove(0);
        assert!(told.starts_with("mount failed with exit code 32: "), "{told}");
        assert!(!told.contains("(changed)"), "{told}");
        assert_eq!(content("/etc/fstab"), FSTAB);
        assert_changes(&tmpfs("/srv/a", &[]), "created");
        let before = content("/etc/fstab");
        let open = File::create("/srv/a/open").expect("a file");
        for ensure in ["absent", "unmounted"] {
            let mount = if ensure == "absent" {
                resource("mount", "/srv/a", &[("ensure", "absent")])
            } else {
                tmpfs("/srv/a", &[("ensure", ensure)])
            };
            let told = applied(vec![mount]).remove(0);
            assert!(told.starts_with("the file system on \"/srv/a\" is in use: umount failed"), "{told}");
            assert!(!told.contains("(changed)") && content("/etc/fstab") == before, "{told}");
        }
        drop(open);
        assert_changes(&resource("mount", "/srv/a", &[("ensure", "absent")]), "removed");
    });
}

/// Returns the number of file systems on a directory.
fn layers(directory: &str) -> usize {
    content("/proc/self/mountinfo").lines().filter(|line| line.split(' ').nth(4) == Some(directory)).count()
}

#[test]
fn mount_point_through_a_link_is_mounted_once() {
    on_own_machine("mount umount", || {
        shell("mkdir /srv/a /srv/a/b && ln -s /srv/a /run/link && ln -s link/b /run/last");
        for (name, directory) in
            [("/run/link/b", "/srv/a/b"), ("/run/last", "/srv/a/b"), ("/run/link", "/srv/a")]
        {
            // Twice: the second run finds it.
            assert_changes(&tmpfs(name, &[("options", "size=1m")]), "created");
            assert_eq!(content("/etc/fstab"), format!("{FSTAB}tmpfs\t{name}\ttmpfs\tsize=1m\t0 0\n"));
            assert_eq!((layers(directory), layers(name)), (1, 0));
            assert_changes(
                &tmpfs(name, &[("options", "size=1m,noexec")]),
                "changed options and mounted options",
            );
            // The same mount under its other name has one line.
            assert_unchanged(&tmpfs(directory, &[("options", "size=1m,noexec")]));
            shell(&format!("mount -t tmpfs tmpfs {directory}"));
            assert_changes(&tmpfs(name, &[("ensure", "unmounted")]), "changed mounted");
            assert_eq!(layers(directory), 0);
            assert_changes(&tmpfs(directory, &[]), "changed mounted");
            assert_changes(&resource("mount", name, &[("ensure", "absent")]), "removed");
            assert_eq!((layers(directory), content("/etc/fstab")), (0, FSTAB.to_owned()));
        }
    });
}

#[test]
fn strangers_lead_no_mount_elsewhere() {
    on_own_machine("mount umount", || {
        shell(
            "mkdir -p /srv/root/inner /srv/theirs/own /srv/ok && ln -s /srv/root /srv/link && chown -h 4242 /srv/link \
             && ln -s /srv/root /srv/theirs/link && chown -R -h 4242 /srv/theirs",
        );
        let bind = |device| {
            resource("mount", "/srv/ok", &[("device", device), ("fstype", "none"), ("options", "bind")])
        };
        let before = content("/proc/self/mounts");
        for (mount, on_the_way, path) in [
            (tmpfs("/srv/link", &[]), "link \"/srv/link\"", "/srv/link"),
            (tmpfs("/srv/link/inner", &[]), "link \"/srv/link\"", "/srv/link/inner"),
            (tmpfs("/srv/theirs/link", &[]), "directory \"/srv/theirs\"", "/srv/theirs/link"),
            (tmpfs("/srv/theirs/own", &[]), "directory \"/srv/theirs\"", "/srv/theirs/own"),
            (
                tmpfs("/srv/theirs/own", &[("ensure", "present")]),
                "directory \"/srv/theirs\"",
                "/srv/theirs/own",
            ),
            (bind("/srv/link/inner"), "link \"/srv/link\"", "/srv/link/inner"),
            (bind("/srv/theirs/own"), "directory \"/srv/theirs\"", "/srv/theirs/own"),
        ] {
            let ending = if on_the_way.starts_with("link") {
                "is not followed"
            } else {
                "who could lead ccm elsewhere"
            };
            let told = applied(vec![mount.clone()]).remove(0);
            assert_eq!(in_noop(vec![mount]), [&*told]);
            assert!(
                told.starts_with(&format!("the {on_the_way}, on the way to \"{path}\", belongs to uid 4242")),
                "{told}"
            );
            assert!(told.ends_with(ending), "{told}");
        }
        assert_eq!((content("/etc/fstab"), content("/proc/self/mounts")), (FSTAB.to_owned(), before));
        // A directory of a stranger whose parents are root's is no danger.
        shell("mkdir /srv/home && chown 4242 /srv/home");
        assert_changes(&tmpfs("/srv/home", &[]), "created");
    });
}

#[test]
fn noop_knows_what_is_unmounted_before() {
    on_own_machine("mount umount", || {
        shell(
            "mkdir -p /srv/a /srv/b/in && mount -t tmpfs t /srv/a && mount -t tmpfs t /srv/b/in && touch /srv/f",
        );
        shell("mount --bind /srv/f /etc/hosts");
        let unmount = |name| resource("mount", name, &[("ensure", "absent")]);
        let absent = |name| resource("file", name, &[("ensure", "absent"), ("force", "true")]);
        let link = |name| resource("file", name, &[("ensure", "link"), ("target", "/x"), ("force", "true")]);
        let host = || resource("host", "b.example.com", &[("ip", "192.0.2.1")]);
        for resources in [
            [unmount("/etc/hosts"), host()],
            [unmount("/srv/a"), absent("/srv/a")],
            [unmount("/srv/b/in"), absent("/srv/b")],
        ] {
            let [first, second] = &resources;
            let told = in_noop(resources.to_vec());
            let expected = ["Would have removed".to_owned(), format!("not known before {}", first.id)];
            assert_eq!(told, expected, "{}", second.id);
            // Without the first, noop and run fail alike.
            let alone = in_noop(vec![second.clone()]);
            assert!(alone[0].contains("can't replace or remove mount point"), "{alone:?}");
            assert_eq!(applied(vec![second.clone()]), alone);
            assert_eq!(applied(resources.to_vec()), ["changed", "changed"], "{}", second.id);
        }
        shell("mkdir -p /srv/d && touch /srv/d/f");
        let told = in_noop(vec![absent("/srv/d/f"), link("/srv/d")]);
        assert_eq!(told[1], "not known before file#/srv/d/f");
        assert_eq!(applied(vec![absent("/srv/d/f"), link("/srv/d")]), ["changed", "changed"]);
    });
}

#[test]
fn noop_fails_like_a_run_on_files_that_are_mounted() {
    on_own_machine("mount umount hostname sysctl", || {
        shell(
            "mkdir -p /etc/cron.d /etc/modules-load.d /etc/modprobe.d /etc/sysctl.d /etc/apt/sources.list.d && touch /srv/f",
        );
        let cron = [("command", "/bin/true"), ("hour", "1")];
        let repository = [
            ("provider", "apt"),
            ("uris", "http://x"),
            ("suites", "s"),
            ("components", "c"),
            ("trusted", "true"),
        ];
        let mut all = vec![
            ("/etc/hosts", resource("host", "b.example.com", &[("ip", "192.0.2.1")])),
            ("/etc/hosts", resource("host", "db", &[("ensure", "absent")])),
            ("/etc/hostname", resource("hostname", "new", &[])),
            ("/etc/fstab", tmpfs("/srv", &[("ensure", "present")])),
            ("/etc/sysctl.d/90-ccm.conf", resource("sysctl", "net.ipv4.ip_forward", &[("value", "1")])),
            (
                "/etc/modules-load.d/ccm-dummy_a.conf",
                resource("kernel_module", "dummy_a", &[("boot", "true")]),
            ),
            ("/etc/cron.d/job", resource("cron", "job", &cron)),
            ("/etc/apt/sources.list.d/x.sources", resource("package_repository", "x", &repository)),
            ("/etc/locale.conf", resource("locale", "C", &[])),
        ];
        if Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
            shell("ln -sfn /usr/share/zoneinfo/Etc/UTC /etc/localtime");
            all.push(("/etc/timezone", resource("timezone", "Europe/Berlin", &[])));
        }
        let mut wrong = String::new();
        for (path, resource) in all {
            let path = match path {
                "/etc/locale.conf" if Path::new("/etc/debian_version").exists() => "/etc/default/locale",
                path => path,
            };
            shell(&format!("mkdir -p $(dirname {path}); test -e {path} || touch {path}; cp {path} /srv/f"));
            shell(&format!("mount --bind /srv/f {path}"));
            let expected = [format!("can't replace or remove mount point \"{path}\"")];
            let told = [in_noop(vec![resource.clone()]), applied(vec![resource.clone()])];
            if told.iter().any(|told| *told != expected) {
                wrong += &format!("{}: {told:?}\n", resource.id);
            }
            shell(&format!("umount {path}"));
        }
        assert_eq!(wrong, "");
        assert_eq!(content("/proc/sys/net/ipv4/ip_forward"), "0\n");
        assert_eq!(content("/proc/sys/kernel/hostname"), "old\n");
    });
}

#[test]
fn repository_is_cloned_into_a_mount_point() {
    on_own_machine("mount umount git", || {
        shell(
            "cd /srv && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one \
             && mkdir /srv/c && mount -t tmpfs t /srv/c",
        );
        let checkout = resource("git", "/srv/c", &[("url", "/srv/r")]);
        assert_changes(&checkout, "created");
        shell("test -d /srv/c/.git && ! test -e /srv/c/.git/ccm-update && mountpoint -q /srv/c");
        // An interrupted clone is finished.
        shell("rm -r /srv/c/.git && mkdir /srv/c/.git && touch /srv/c/.git/ccm-update");
        assert_eq!(applied(vec![checkout.clone()]), ["changed"]);
        assert_unchanged(&checkout);
    });
}
