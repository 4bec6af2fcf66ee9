//! Files outside of the sandbox: reading, writing, changing, mounting, and links to them.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use ccm_host::{LocalSystem as _, Sandbox};
use ccm_testkit::is_root;

use super::layers::in_every_way;
use super::{Place, fail, launched, succeed};

#[test]
fn files_outside_are_neither_read_nor_written() {
    launched(async |runner| {
        let place = Place::new();
        for attempt in [
            "cat $OUTSIDE/secret",
            "ls $OUTSIDE",
            "cat ../outside/secret",
            "echo x > $OUTSIDE/new",
            "echo x >> $OUTSIDE/secret",
            "rm $OUTSIDE/secret",
            "mv $OUTSIDE/secret own",
            "ln $OUTSIDE/secret hard && cat hard",
            "chmod 777 $OUTSIDE/secret",
            "touch $OUTSIDE/secret",
            "truncate -s 0 $OUTSIDE/secret",
            "cat /etc/shadow",
            "cat /etc/ssh/*",
            "ls /root/",
            "ls /home/*",
            "ls /run/*",
            "ls /var/lib/*",
            "echo x > /etc/new",
            ": >> /etc/passwd",
            "chmod 644 /etc/passwd",
            "echo x > /usr/new",
            "touch /usr/bin/env",
            "chmod 755 /usr/bin/env",
            "mkdir /new",
            "echo 1 > /proc/sys/vm/stat_interval",
            "echo h > /proc/sysrq-trigger",
            "echo 0 > /proc/1/oom_score_adj",
        ] {
            fail(runner, &place.shell(attempt)).await;
        }
        assert_eq!(place.outside_content("secret").as_deref(), Some("secret\n"));
        assert_eq!(place.outside_content("new"), None);
        let mode = std::fs::metadata(place.at("outside/secret")).expect("the secret").mode();
        assert_eq!(mode & 0o777, 0o644);
    });
}

#[test]
fn only_named_paths_are_opened() {
    launched(async |runner| {
        let place = Place::new();
        let open = place.at("outside/open");
        let read = || Sandbox { read: vec![open.clone()], ..place.sandbox() };
        assert_eq!(
            succeed(runner, &place.shell_in(read(), "cat $OUTSIDE/open/file; ls $OUTSIDE")).await,
            "open\nopen\n"
        );
        for attempt in [
            "echo x > $OUTSIDE/open/file",
            "rm $OUTSIDE/open/file",
            "touch $OUTSIDE/open/new",
            "chmod 777 $OUTSIDE/open",
            "cat $OUTSIDE/open/../secret",
        ] {
            fail(runner, &place.shell_in(read(), attempt)).await;
        }
        assert_eq!(place.outside_content("open/file").as_deref(), Some("open\n"));

        let write = Sandbox { write: vec![open.clone()], ..place.sandbox() };
        succeed(runner, &place.shell_in(write, "echo new > $OUTSIDE/open/file")).await;
        assert_eq!(place.outside_content("open/file").as_deref(), Some("new\n"));
        // A single file, and a read-only file in a writable directory.
        let file = Sandbox { write: vec![open.join("file")], ..place.sandbox() };
        succeed(runner, &place.shell_in(file, "echo file > $OUTSIDE/open/file")).await;
        assert_eq!(place.outside_content("open/file").as_deref(), Some("file\n"));
        let inner = Sandbox { write: vec![place.at("outside")], read: vec![open.clone()], ..place.sandbox() };
        let does = "echo x > $OUTSIDE/new; echo x > $OUTSIDE/open/file";
        fail(runner, &place.shell_in(inner, does)).await;
        assert_eq!(place.outside_content("new").as_deref(), Some("x\n"));
        assert_eq!(place.outside_content("open/file").as_deref(), Some("file\n"));
        // A path of the system can be named too.
        let shadow = Sandbox { read: vec!["/etc/passwd".into(), "/usr/share".into()], ..place.sandbox() };
        succeed(runner, &place.shell_in(shadow, "cat /etc/passwd")).await;
    });
}

#[test]
fn links_to_the_outside_are_not_followed() {
    launched(async |runner| {
        let place = Place::new();
        let links = "ln -s $OUTSIDE dir; ln -s $OUTSIDE/secret file; ln -s / root; ln -s /proc/1/root proc; ";
        for attempt in [
            "cat dir/secret",
            "cat file",
            "echo x > file",
            "echo x > dir/new",
            "cat root/$OUTSIDE/secret",
            "cat proc/$OUTSIDE/secret",
            "cat root/etc/shadow",
        ] {
            fail(runner, &place.shell(&format!("rm -f dir file root proc; {links}{attempt}"))).await;
        }
        assert_eq!(place.outside_content("secret").as_deref(), Some("secret\n"));
        assert_eq!(place.outside_content("new"), None);
    });
}

#[test]
fn other_processes_do_not_lead_outside() {
    launched(async |runner| {
        let place = Place::new();
        let us = std::process::id();
        for attempt in [
            format!("cat /proc/{us}/root$OUTSIDE/secret"),
            format!("cat /proc/{us}/cwd/Cargo.toml"),
            format!("cat /proc/{us}/environ"),
            format!("readlink /proc/{us}/fd/0"),
            format!("head -c 1 /proc/{us}/fd/0"),
            format!("echo x > /proc/{us}/fd/1"),
            format!("head -c 1 /proc/{us}/mem"),
            "cat /proc/1/environ".to_owned(),
            "ls /proc/1/root/".to_owned(),
        ] {
            fail(runner, &place.shell(&attempt)).await;
        }
        if is_root() {
            // The view of root shows only its own processes.
            fail(runner, &place.shell(&format!("ls -d /proc/{us}"))).await;
        }
    });
}

#[test]
fn keys_and_the_state_of_the_kernel_are_hidden() {
    launched(async |runner| {
        let place = Place::new();
        for read in [vec![], vec!["/proc".into()]] {
            let sandbox = Sandbox { read, ..place.sandbox() };
            let does = "for name in keys key-users kallsyms; do cat /proc/$name 2> err; done | head -c 9";
            assert_eq!(succeed(runner, &place.shell_in(sandbox, does)).await, "");
        }
        // Root's sandbox may not read either what only root may read.
        let only_root = "find /proc -path '/proc/[0-9]*' -prune -o -type f ! -perm -004 -perm -400 -print | \
                         while read name; do [ -z \"$(head -c 9 $name 2> err | tr -d '\\0')\" ] || echo $name; done";
        // These hold a number that is no secret.
        let harmless =
            ["/proc/sys/kernel/cad_pid", "/proc/sys/vm/mmap_rnd_bits", "/proc/sys/vm/mmap_rnd_compat_bits"];
        let harmless_prefix = "/proc/sys/kernel/usermodehelper/";
        for network in [false, true] {
            let sandbox = Sandbox { network, ..place.sandbox() };
            let read = succeed(runner, &place.shell_in(sandbox, only_root)).await;
            let is_secret = |name: &&str| !harmless.contains(name) && !name.starts_with(harmless_prefix);
            assert_eq!(read.lines().filter(is_secret).collect::<Vec<_>>(), [""; 0], "{network}");
            // A secret that is not set can't be read anyway, so the file itself must be gone.
            let secrets =
                "for name in /proc/sys/net/ipv6/conf/*/stable_secret; do [ ! -f $name ] || echo $name; done";
            assert_eq!(
                succeed(runner, &place.shell_in(Sandbox { network, ..place.sandbox() }, secrets)).await,
                ""
            );
        }
    });
}

#[test]
fn mounts_can_not_be_changed() {
    launched(async |runner| {
        let place = Place::new();
        for attempt in [
            "mount -t tmpfs none /tmp",
            "mount --bind /tmp /mnt",
            "mount -o remount,rw /usr",
            "mount -o remount,rw /",
            "umount /tmp",
            "umount /dev/shm",
            "umount /",
            "unshare -m true",
            "unshare -U true",
            "unshare -r true",
            "unshare -n true",
            "unshare -p true",
            "nsenter -t 1 -m true",
            "chroot . true",
            "pivot_root . .",
        ] {
            let said = fail(runner, &place.shell(attempt)).await;
            assert!(!said.contains("not found"), "{attempt}: {said}");
        }
    });
}

#[test]
fn only_devices_without_data_exist() {
    launched(async |runner| {
        let place = Place::new();
        let listed = succeed(runner, &place.shell("cd /dev && echo *")).await;
        // Landlock allows listing only directories that are granted as a whole.
        assert_eq!(listed, "*\n");
        for attempt in [
            "mknod disk b 254 0 && head -c 1 disk",
            "mknod null c 1 3 && head -c 1 null",
            "head -c 1 /dev/vda",
            "head -c 1 /dev/mem",
            "head -c 1 /dev/kmsg",
            "echo x > /dev/ptmx",
            "echo x > /dev/new",
        ] {
            fail(runner, &place.shell(attempt)).await;
        }
        if is_root() {
            // An existing device node does not work either.
            let mut made = std::process::Command::new("mknod");
            made.arg(place.at("work/zero")).args(["c", "1", "5"]);
            if made.status().is_ok_and(|status| status.success()) {
                fail(runner, &place.shell("head -c 1 zero")).await;
            }
        }
    });
}

#[test]
fn no_program_gains_a_privilege() {
    launched(async |runner| {
        let place = Place::new();
        let status =
            "grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t '";
        let printed = succeed(runner, &place.shell(status)).await;
        let is_none = |line: &str| line.ends_with(":0000000000000000");
        for line in printed.lines() {
            match line.split_once(':').expect("a field") {
                ("NoNewPrivs", value) => assert_eq!(value, "1"),
                ("Seccomp", value) => assert_eq!(value, "2"),
                _ => assert!(is_none(line), "{line}"),
            }
        }
        assert_eq!(printed.lines().count(), 7);
        if is_root() {
            let shell = place.at("work/suid");
            std::fs::copy("/bin/dash", &shell).expect("a shell");
            std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o6755)).expect("a mode");
            let nobody = runner.account("nobody").expect("nobody").identity;
            let command =
                ccm_host::Command { identity: Some(nobody.clone()), ..place.shell("./suid -p -c 'id -u'") };
            // Landlock and the mode let the program run, but it keeps its user.
            std::fs::set_permissions(place.at("work"), std::fs::Permissions::from_mode(0o755))
                .expect("a mode");
            assert_eq!(succeed(runner, &command).await, format!("{}\n", nobody.uid));
        }
        for attempt in [
            "su -c true nobody",
            "chown 1 own",
            "setpriv --reuid 1 true",
            "hostname $(uname -n)",
            "chmod 4755 own",
            "chmod g+s own",
            "install -m 6755 own other",
        ] {
            fail(runner, &place.shell(attempt)).await;
        }
    });
}

#[test]
fn files_can_not_be_leased() {
    in_every_way(async |runner, _| {
        let place = Place::new();
        // With a lease of a file, everybody who opens it waits. The last number delegates a directory.
        for (command, kind) in [(1024, "F_RDLCK"), (1024, "F_WRLCK"), (1040, "F_RDLCK")] {
            let lease =
                format!("use Fcntl; open(F, '<', 'own') or die; fcntl(F, {command}, {kind}) or die $!");
            let said = fail(runner, &place.perl(&lease)).await;
            assert!(said.starts_with("Operation not permitted"), "{command} {kind}: {said}");
        }
        succeed(runner, &place.shell("flock own true")).await;
    });
}

#[test]
fn a_readable_path_in_a_writable_one_is_not_replaced() {
    launched(async |runner| {
        let place = Place::new();
        let repository = place.at("work/.git");
        std::fs::create_dir_all(repository.join("hooks")).expect("a directory");
        std::fs::write(repository.join("config"), "own\n").expect("a file");
        let sandbox = || Sandbox {
            write: vec![repository.clone()],
            read: vec![repository.join("hooks"), repository.join("config")],
            ..place.sandbox()
        };
        succeed(runner, &place.shell_in(sandbox(), "echo x > .git/HEAD; mkdir .git/objects; echo x > new"))
            .await;
        for attempt in [
            "echo x > .git/hooks/pre-commit",
            "echo x >> .git/config",
            "mv .git other",
            "mv .git/hooks other",
            "mv new .git/config",
            "rm -r .git/hooks",
            "rm .git/config",
            "ln -sfn new .git/config",
        ] {
            fail(runner, &place.shell_in(sandbox(), attempt)).await;
        }
        assert!(repository.join("hooks").is_dir());
        assert_eq!(std::fs::read_to_string(repository.join("config")).expect("the file"), "own\n");
    });
}
