//! Views that a waiting copy of the launch server makes before the command is known.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command as Tool;

use ccm_host::{Sandbox, SandboxLayer, SystemRunner};
use ccm_testkit::{isolated_with_setup, needs_own_mounts, wait_until};
use nix::unistd::Pid;

use super::server::server_and_copy;
use super::{Place, fail, succeed};
use crate::hostile::block_on;
use crate::hostile::launched::launcher;

/// Runs the rest with shared mounts of its own, as on most machines, and with a copy of `/etc`.
const OWN_ETC: &str = r#"exec unshare -m \
    sh -c 'mount -t tmpfs -o mode=755 none /mnt && cp -a /etc/. /mnt/ 2> /dev/null; mount --bind /mnt /etc &&
    umount /mnt && mount --make-rshared / && exec "$0" "$@"' "$0" "$@""#;
/// File that is opened to every sandbox.
const FILE: &str = "/etc/locale.conf";
const READ: &str = "cat /etc/locale.conf";

/// Runs a body with files and mounts of its own; not at all where that is not possible.
fn with_own_etc(body: impl AsyncFnOnce(&SystemRunner, &Place)) {
    if !needs_own_mounts() {
        return;
    }
    isolated_with_setup(OWN_ETC, || {
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        block_on(async { body(&runner, &Place::new()).await });
    });
}

/// Waits for a copy that has made all it makes ahead: its shared memory is the last part.
fn prepared_copy() -> Pid {
    let [_, copy] = server_and_copy();
    let memory = |process: &str| fs::read_link(format!("/proc/{process}/ns/ipc")).ok();
    wait_until("a copy is prepared", || {
        memory(&copy.to_string()).is_some_and(|of_copy| Some(of_copy) != memory("self"))
    });
    copy
}

/// Returns `true` if a copy has a view of its own.
fn has_view(copy: Pid) -> bool {
    let files = fs::read_dir(format!("/proc/{copy}/fd")).expect("its files");
    files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|path| path == Path::new("/usr")))
}

/// Returns `true` if this kernel and the mounts of this machine allow views that are made ahead.
fn makes_views_ahead() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or_default());
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let is_below_system = |mount: &str| {
        let mount_point = mount.split(' ').nth(4).unwrap_or_default();
        ["/usr/", "/nix/store/", "/sys/devices/system/cpu/"]
            .iter()
            .any(|above| mount_point.starts_with(above))
    };
    (numbers.next(), numbers.next()) >= (Some(6), Some(15)) && !mounts.lines().any(is_below_system)
}

fn mount(arguments: &[&str]) {
    let tool = if arguments.len() == 1 { "umount" } else { "mount" };
    assert!(Tool::new(tool).args(arguments).status().is_ok_and(|status| status.success()), "{arguments:?}");
}

#[test]
fn what_changes_after_a_view_was_made_is_seen() {
    with_own_etc(async |runner, place| {
        let read = || place.shell(READ);
        let _missing = fs::remove_file(FILE);
        fail(runner, &read()).await;
        assert_eq!(has_view(prepared_copy()), makes_views_ahead());
        // A file appears, is replaced, is changed, becomes a link, and disappears.
        fs::write(FILE, "one\n").expect("a file");
        assert_eq!(succeed(runner, &read()).await, "one\n");
        prepared_copy();
        fs::write("/etc/new", "two\n").expect("a file");
        fs::rename("/etc/new", FILE).expect("another file");
        assert_eq!(succeed(runner, &read()).await, "two\n");
        prepared_copy();
        fs::write(FILE, "three\n").expect("a file");
        assert_eq!(succeed(runner, &read()).await, "three\n");
        for (target, content) in [("hostname.one", "four\n"), ("hostname.two", "five\n")] {
            prepared_copy();
            fs::write(Path::new("/etc").join(target), content).expect("a file");
            let _missing = fs::remove_file(FILE);
            symlink(target, FILE).expect("a link");
            assert_eq!(succeed(runner, &read()).await, content);
        }
        prepared_copy();
        fs::remove_file(FILE).expect("a link");
        fail(runner, &read()).await;
        prepared_copy();
        symlink("/usr/share/no-such", FILE).expect("a link");
        assert_eq!(succeed(runner, &place.shell("readlink /etc/locale.conf")).await, "/usr/share/no-such\n");
        prepared_copy();
        fs::remove_file(FILE).expect("a link");
        // One that leads outside to nothing is left out, and keeps no view from being used.
        symlink("/no/such", FILE).expect("a link");
        assert_eq!(succeed(runner, &place.shell("[ -L /etc/locale.conf ] || echo none")).await, "none\n");
        prepared_copy();
        fs::remove_file(FILE).expect("a link");
        symlink("/usr/share/no-such-either", FILE).expect("a link");
        assert_eq!(
            succeed(runner, &place.shell("readlink /etc/locale.conf")).await,
            "/usr/share/no-such-either\n"
        );
    });
}

#[test]
fn what_is_mounted_after_a_view_was_made_is_seen() {
    with_own_etc(async |runner, place| {
        let list = || place.shell("ls -A /usr/share");
        assert!(!succeed(runner, &list()).await.is_empty());
        prepared_copy();
        mount(&["-t", "tmpfs", "none", "/usr/share"]);
        assert_eq!(succeed(runner, &list()).await, "");
        // A view with such a mount would keep it in use.
        assert!(!has_view(prepared_copy()));
        mount(&["/usr/share"]);
        assert!(!succeed(runner, &list()).await.is_empty());
        assert_eq!(has_view(prepared_copy()), makes_views_ahead());
    });
}

#[test]
fn mounts_of_a_view_appear_nowhere_else() {
    with_own_etc(async |runner, place| {
        let mounts = || fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        let before = mounts();
        assert!(before.contains(" shared:"), "{before}");
        for _ in 0..2 {
            let sandbox = Sandbox {
                read: vec!["/usr/share".into()],
                write: vec!["/usr/lib".into()],
                ..place.sandbox()
            };
            succeed(runner, &place.shell_in(sandbox, "true")).await;
            prepared_copy();
            assert_eq!(mounts(), before);
        }
    });
}

#[test]
fn paths_above_those_of_the_system_are_opened_as_they_are() {
    with_own_etc(async |runner, place| {
        fs::write("/etc/own", "own\n").expect("a file");
        let sandbox = || Sandbox { write: vec!["/etc".into()], ..place.sandbox() };
        for _ in 0..2 {
            assert_eq!(
                succeed(runner, &place.shell_in(sandbox(), "cat /etc/own; echo x >> /etc/group || echo no"))
                    .await,
                "own\nno\n",
                "what is open to every sandbox stays closed for writing"
            );
            prepared_copy();
        }
    });
}

/// Runs a body as [`with_own_etc`], without Landlock too: then the mounts alone hold.
#[expect(clippy::needless_pass_by_value, reason = "a body is written where it is run")]
fn with_mounts_alone(body: impl AsyncFn(&SystemRunner, &Place)) {
    if !needs_own_mounts() {
        return;
    }
    isolated_with_setup(OWN_ETC, || {
        for off in [&[][..], &[SandboxLayer::Landlock]] {
            let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
            let runner = off.iter().fold(runner, |runner, layer| runner.without(*layer));
            block_on(async { body(&runner, &Place::new()).await });
        }
    });
}

/// Shell text that uses the files of the system in the directories that views have in common.
const USES_SYSTEM: &str = "head -c 5 /etc/passwd; echo; cat /etc/os-release > /dev/null && echo x > /dev/shm/own && \
                           cat /dev/shm/own && echo y | tee /dev/stderr > /dev/null && ls /sys/devices/system/cpu \
                           > /dev/null && head -c 2 /dev/zero | wc -c && ls -d /etc/own /dev/pts 2>/dev/null | xargs";

#[test]
fn what_is_opened_to_one_sandbox_is_in_no_other() {
    with_mounts_alone(async |runner, place| {
        fs::create_dir_all("/etc/own/deep").expect("a directory");
        fs::write("/etc/own/deep/file", "own\n").expect("a file");
        let opened: [(&[&str], &str); 4] = [
            (&["/etc/own/deep"], "/etc/own"),
            (&["/dev/pts"], "/dev/pts"),
            (&["/etc/own", "/dev/pts"], "/dev/pts /etc/own"),
            (&[], ""),
        ];
        for (read, seen) in opened.into_iter().chain(opened) {
            let read = read.iter().map(Into::into).collect();
            let sandbox = Sandbox { read, ..place.sandbox() };
            let printed = succeed(runner, &place.shell_in(sandbox, USES_SYSTEM)).await;
            assert_eq!(printed, format!("root:\nx\n2\n{seen}\n"));
            prepared_copy();
        }
        let sandbox = Sandbox { read: vec!["/etc/own".into()], ..place.sandbox() };
        assert_eq!(succeed(runner, &place.shell_in(sandbox, "cat /etc/own/deep/file")).await, "own\n");
    });
}

#[test]
fn directories_of_the_system_can_not_be_written() {
    with_mounts_alone(async |runner, place| {
        fs::create_dir_all("/etc/own").expect("a directory");
        let attempts = "for in in / /etc /dev /sys /etc/ssl; do \
                        mkdir $in/made || touch $in/made || ln -s a $in/made || rm $in/passwd || rmdir $in/ssl $in/shm || \
                        echo refused; done";
        for read in [vec![], vec!["/etc/own".into(), "/dev/pts".into()], vec![]] {
            let sandbox = Sandbox { read, ..place.sandbox() };
            assert_eq!(succeed(runner, &place.shell_in(sandbox, attempts)).await, "refused\n".repeat(5));
            prepared_copy();
        }
    });
}

#[test]
fn links_that_a_network_adds_are_in_a_view() {
    with_own_etc(async |runner, place| {
        // All that is added for a network are links into the system.
        for name in ["gai.conf", "host.conf", "hosts", "networks", "protocols", "resolv.conf", "services"] {
            let path = Path::new("/etc").join(name);
            let _missing = fs::remove_file(&path);
            symlink("/usr/share/no-such", &path).expect("a link");
        }
        let read = "readlink /etc/hosts || echo none";
        for (network, expected) in [(false, "none\n"), (true, "/usr/share/no-such\n"), (false, "none\n")] {
            let sandbox = Sandbox { network, ..place.sandbox() };
            assert_eq!(succeed(runner, &place.shell_in(sandbox, read)).await, expected, "{network}");
            prepared_copy();
        }
    });
}
