//! Paths that can't be changed: noop fails as the run does, and knows what is mounted before.

use std::path::Path;

use ccm_model::Resource;
use ccm_testkit::skipped;

use crate::build::resource;
use crate::kernel::machine::{on_own_machine, shell, succeeds};
use crate::local_run::{applied, in_noop, run_here};

/// Prepares what the resources of [`changes`] find.
const SETUP: &str = "\
    rm -rf /etc/cron.d /etc/apt/sources.list.d && mkdir -p /srv/d/tree/in /srv/d/empty /srv/source/sub \
    && mkdir -p /etc/cron.d /etc/sysctl.d /etc/modprobe.d /etc/modules-load.d /etc/apt/sources.list.d /etc/default \
    && touch /srv/source/a /srv/source/sub/b && printf 'old\\n' > /srv/d/f && printf '[a]\\nb = 1\\n' > /srv/d/ini \
    && touch /srv/d/gone /srv/d/tree/f /srv/d/tree/in/g && ln -s f /srv/d/link \
    && ln -sfn /usr/share/zoneinfo/Etc/UTC /etc/localtime";

/// Returns resources that change something below a directory.
fn changes() -> Vec<(&'static str, Resource)> {
    let file = |name: &str, properties: &[(&str, &str)]| resource("file", name, properties);
    let part = |type_name: &str, properties: &[(&str, &str)]| resource(type_name, "part", properties);
    let repository = [
        ("provider", "apt"),
        ("uris", "http://x"),
        ("suites", "s"),
        ("components", "c"),
        ("trusted", "true"),
    ];
    let below_srv = vec![
        file("/srv/d/new", &[("content", "x")]),
        file("/srv/d/f", &[("content", "x")]),
        file("/srv/d/f", &[("mode", "0600")]),
        file("/srv/d/f", &[("owner", "daemon")]),
        file("/srv/d/link", &[("content", "x")]),
        file("/srv/d/gone", &[("ensure", "absent")]),
        file("/srv/d/tree", &[("ensure", "absent"), ("force", "true")]),
        file("/srv/d/made", &[("ensure", "directory")]),
        file("/srv/d/made/deep", &[("ensure", "directory")]),
        file("/srv/d/tree", &[("ensure", "directory"), ("mode", "0700")]),
        file("/srv/d/tree", &[("ensure", "directory"), ("recurse", "true"), ("owner", "daemon")]),
        file("/srv/d/tree", &[("ensure", "directory"), ("purge", "true"), ("force", "true")]),
        file("/srv/d/tree", &[("ensure", "directory"), ("source", "/srv/source")]),
        file("/srv/d/link", &[("ensure", "link"), ("target", "gone")]),
        file("/srv/d/other", &[("ensure", "link"), ("target", "gone")]),
        file("/srv/d/empty", &[("ensure", "link"), ("target", "gone"), ("force", "true")]),
        part("line", &[("path", "/srv/d/f"), ("line", "new")]),
        part("line", &[("path", "/srv/d/g"), ("line", "new"), ("create", "true")]),
        part("block", &[("path", "/srv/d/f"), ("content", "new")]),
        part("setting", &[("path", "/srv/d/ini"), ("section", "a"), ("key", "b"), ("value", "2")]),
        resource("archive", "/srv/d/gone", &[("ensure", "absent")]),
        resource("archive", "/srv/d/new.tar", &[("url", "http://127.0.0.1:9/new.tar")]),
        resource("scaffold", "/srv/d/tree", &[("source", "/srv/source")]),
        resource("scaffold", "/srv/d/scaffold", &[("source", "/srv/source")]),
        resource("git", "/srv/d/clone", &[("url", "/srv/r")]),
        resource("git", "/srv/d/empty", &[("url", "/srv/r")]),
        resource("user", "eve", &[("manage_home", "true"), ("home", "/srv/d/eve")]),
        resource("mount", "/srv/d/mnt", &[("device", "tmpfs"), ("fstype", "tmpfs")]),
        resource("mount", "/srv/d/deep/mnt", &[("device", "tmpfs"), ("fstype", "tmpfs")]),
    ];
    let mut below_etc = vec![
        file("/etc/systemd/system/a.service", &[("content", "[Service]\n")]),
        resource("host", "b.example.com", &[("ip", "192.0.2.1")]),
        resource("host", "db", &[("ensure", "absent")]),
        resource("hostname", "new", &[]),
        resource("mount", "/srv/m", &[("ensure", "present"), ("device", "tmpfs"), ("fstype", "tmpfs")]),
        resource("sysctl", "net.ipv4.ip_forward", &[("value", "1")]),
        resource("kernel_module", "dummy_a", &[("boot", "true")]),
        resource("kernel_module", "dummy_a", &[("ensure", "absent"), ("blacklist", "true")]),
        resource("cron", "job", &[("command", "/bin/true"), ("hour", "1")]),
        resource("package_repository", "x", &repository),
        resource("locale", "C", &[]),
        resource("user", "eve", &[]),
        resource("user", "daemon", &[("shell", "/bin/sh")]),
        resource("user", "daemon", &[("locked", "true")]),
        resource("user", "daemon", &[("groups", "[adm]")]),
        resource("user", "daemon", &[("ensure", "absent")]),
        resource("group", "eves", &[]),
        resource("group", "adm", &[("members", "[daemon]")]),
        resource("group", "adm", &[("ensure", "absent")]),
    ];
    if Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
        below_etc.push(resource("timezone", "Europe/Berlin", &[]));
    }
    let all = below_srv.into_iter().map(|resource| ("/srv/d", resource));
    all.chain(below_etc.into_iter().map(|resource| ("/etc", resource))).collect()
}

/// Returns a checksum over everything in the directories.
fn snapshot() -> String {
    let list = "cd / && find srv/d etc -printf '%p %M %u %g %s %l\\n' | sort | sha256sum; \
                cat /proc/sys/kernel/hostname /proc/sys/net/ipv4/ip_forward";
    let printed = std::process::Command::new("/bin/sh").args(["-c", list]).output().expect("a list");
    String::from_utf8_lossy(&printed.stdout).into_owned()
}

fn on_machine_with_repository(body: impl FnOnce()) {
    on_own_machine("mount umount hostname sysctl git useradd", || {
        shell(SETUP);
        shell(
            "cd /srv && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one",
        );
        body();
    });
}

/// Compares noop and run of all changes below a directory, each of which fails with the same words.
fn compare(directory: &str, ending: &str) {
    let before = snapshot();
    let mut wrong = String::new();
    for (_, resource) in changes().into_iter().filter(|(below, _)| *below == directory) {
        let [noop, run] = [in_noop(vec![resource.clone()]), applied(vec![resource.clone()])];
        if noop != run || !noop[0].ends_with(ending) {
            wrong += &format!("{}: {noop:?}, {run:?}\n", resource.id);
        }
    }
    assert_eq!(wrong, "");
    assert_eq!(snapshot(), before);
}

fn mounted(path: &str, properties: &[(&str, &str)]) -> Resource {
    resource("mount", path, &[&[("device", "tmpfs"), ("fstype", "tmpfs")], properties].concat())
}

fn make_read_only(directory: &str) {
    shell(&format!("mount --bind {directory} {directory} && mount -o remount,bind,ro {directory}"));
}

#[test]
fn noop_fails_like_a_run_on_a_read_only_file_system() {
    on_machine_with_repository(|| {
        for directory in ["/srv/d", "/etc"] {
            make_read_only(directory);
            compare(directory, "is on a file system that is mounted read-only");
            shell(&format!("umount {directory}"));
        }
    });
}

#[test]
fn noop_knows_what_may_make_a_path_writable() {
    on_machine_with_repository(|| {
        shell("mkdir /srv/e /srv/d/below");
        make_read_only("/srv/d");
        let below = || changes().into_iter().filter(|(below, _)| *below == "/srv/d");
        let exec = resource("exec", "mount -o remount,rw,bind /srv/d", &[]);
        for (_, resource) in below() {
            for (first, is_known) in [
                (mounted("/srv/d", &[]), true),
                (mounted("/srv", &[]), true),
                (exec.clone(), true),
                (mounted("/srv/e", &[]), false),
                (mounted("/srv/d/below", &[]), false),
            ] {
                let told = in_noop(vec![first.clone(), resource.clone()]);
                assert!(told[0].starts_with("Would have "), "{}: {told:?}", first.id);
                let is_exec = &*first.id.type_name == "exec";
                let known =
                    if is_exec { "may fail".to_owned() } else { format!("not known before {}", first.id) };
                assert_eq!(told[1] == known, is_known, "{} after {}: {told:?}", resource.id, first.id);
            }
        }
        let (_, last) = below().next().expect("a change");
        assert_eq!(applied(vec![exec, last]), ["changed", "changed"]);
    });
}

#[test]
fn noop_fails_like_a_run_on_what_is_immutable() {
    on_machine_with_repository(|| {
        if !succeeds("touch /srv/i && chattr +i /srv/i") {
            return skipped("files can't be made immutable here");
        }
        let file = |name: &str, properties: &[(&str, &str)]| resource("file", name, properties);
        let line = |path: &str| resource("line", "part", &[("path", path), ("line", "new")]);
        for (flag, word) in [("i", "immutable"), ("a", "append-only")] {
            shell("mkdir -p /srv/d/tree && touch /srv/d/tree/f");
            shell(&format!("chattr +{flag} /srv/d/f /srv/d/tree /etc/hosts /etc/passwd /etc/cron.d"));
            let mut cases = vec![
                (file("/srv/d/f", &[("content", "x")]), "/srv/d/f"),
                (file("/srv/d/f", &[("mode", "0600")]), "/srv/d/f"),
                (file("/srv/d/f", &[("ensure", "absent")]), "/srv/d/f"),
                (file("/srv/d/f", &[("ensure", "link"), ("target", "x"), ("force", "true")]), "/srv/d/f"),
                (line("/srv/d/f"), "/srv/d/f"),
                (file("/srv/d/tree/f", &[("content", "x")]), "/srv/d/tree"),
                (file("/srv/d/tree/f", &[("ensure", "absent")]), "/srv/d/tree"),
                (file("/srv/d/tree/new", &[("content", "x")]), "/srv/d/tree"),
                (file("/srv/d/tree", &[("ensure", "directory"), ("mode", "0700")]), "/srv/d/tree"),
                (file("/srv/d/tree", &[("ensure", "absent"), ("force", "true")]), "/srv/d/tree"),
                (resource("host", "b.example.com", &[("ip", "192.0.2.1")]), "/etc/hosts"),
                (resource("user", "eve", &[]), "/etc/passwd"),
                (resource("cron", "job", &[("command", "/bin/true"), ("hour", "1")]), "/etc/cron.d"),
            ];
            let made = file("/srv/d/tree/made", &[("ensure", "directory")]);
            if flag == "i" {
                cases.push((made, "/srv/d/tree"));
            } else {
                assert_eq!(applied(vec![made]), ["changed"]);
            }
            let before = snapshot();
            for (resource, part) in cases {
                let [noop, run] = [in_noop(vec![resource.clone()]), applied(vec![resource.clone()])];
                assert_eq!(noop, run, "{}", resource.id);
                let ending = format!("can't be changed: \"{part}\" is {word}");
                assert!(noop[0].ends_with(&ending), "{}: {noop:?}", resource.id);
                let exec = crate::build::resource("exec", "chattr -R -ia /srv/d /etc", &[]);
                assert_eq!(in_noop(vec![exec, resource.clone()])[1], "may fail");
            }
            assert_eq!(snapshot(), before);
            shell(&format!("chattr -{flag} /srv/d/f /srv/d/tree /etc/hosts /etc/passwd /etc/cron.d"));
        }
    });
}

#[test]
fn noop_names_the_directory_that_a_user_may_not_enter() {
    on_machine_with_repository(|| {
        shell(
            "mkdir -p /srv/d/closed/in && chmod 700 /srv/d/closed && useradd -M -d / eve && chmod -R a+rX /srv/r",
        );
        let checkout = resource("git", "/srv/d/closed/clone", &[("url", "/srv/r"), ("user", "eve")]);
        let exec = |cwd: &str| resource("exec", "true", &[("user", "eve"), ("cwd", cwd)]);
        let opened = || resource("file", "/srv/d/closed", &[("ensure", "directory"), ("mode", "0755")]);
        let told = "\"/srv/d/closed\" belongs to `root`, and `eve`, who runs git, may not enter it";
        assert_eq!(in_noop(vec![checkout.clone()]), [told]);
        assert_eq!(applied(vec![checkout.clone()]), [told]);
        assert_eq!(in_noop(vec![opened(), checkout.clone()])[1], "not known before file#/srv/d/closed");
        for cwd in ["/srv/d/closed", "/srv/d/closed/in"] {
            let told = format!(
                "working directory \"{cwd}\" can't be entered: \"/srv/d/closed\" belongs to `root`, and `eve` may not enter it"
            );
            assert_eq!(applied(vec![exec(cwd)]), [&*told]);
            let warned = |resources| run_here(resources, true).pop().map(|last| last.warnings);
            assert_eq!(warned(vec![exec(cwd)]), Some(vec![format!("a run would fail now: {told}")]));
            assert_eq!(warned(vec![opened(), exec(cwd)]), Some(Vec::new()));
        }
    });
}

#[test]
fn noop_fails_like_a_run_on_file_systems_of_the_kernel() {
    on_machine_with_repository(|| {
        let file = |name: &str, properties: &[(&str, &str)]| resource("file", name, properties);
        let part = |kind: &str, properties: &[(&str, &str)]| resource(kind, "part", properties);
        let parameter = "/proc/sys/kernel/hostname";
        let cases = [
            (file("/proc/new", &[("content", "x")]), "/proc/new", "proc"),
            (file("/proc/self/new", &[("ensure", "link"), ("target", "x")]), "/proc/self/new", "proc"),
            (file("/proc/new", &[("ensure", "directory")]), "/proc/new", "proc"),
            (file(parameter, &[("content", "x")]), parameter, "proc"),
            (file(parameter, &[("mode", "0600")]), parameter, "proc"),
            (file(parameter, &[("owner", "daemon")]), parameter, "proc"),
            (file("/proc/version", &[("ensure", "absent")]), "/proc/version", "proc"),
            (file("/sys/new", &[("content", "x")]), "/sys/new", "sysfs"),
            (file("/sys/new", &[("ensure", "directory")]), "/sys/new", "sysfs"),
            (
                file("/sys/kernel", &[("source", "/srv/source"), ("ensure", "directory")]),
                "/sys/kernel/a",
                "sysfs",
            ),
            (part("line", &[("path", "/proc/new"), ("line", "x"), ("create", "true")]), "/proc/new", "proc"),
            (part("line", &[("path", parameter), ("line", "x")]), parameter, "proc"),
            (part("block", &[("path", parameter), ("content", "x")]), parameter, "proc"),
            (
                part("setting", &[("path", "/proc/new"), ("key", "a"), ("value", "b"), ("create", "true")]),
                "/proc/new",
                "proc",
            ),
            (
                resource("sysctl", "kernel.hostname", &[("value", "x"), ("file", "/proc/new")]),
                "/proc/new",
                "proc",
            ),
            (
                resource("archive", "/proc/new.tar", &[("url", "http://127.0.0.1:9/new.tar")]),
                "/proc/new.tar",
                "proc",
            ),
            (resource("mount", "/sys/new", &[("device", "tmpfs"), ("fstype", "tmpfs")]), "/sys/new", "sysfs"),
            (resource("scaffold", "/sys/new", &[("source", "/srv/source")]), "/sys/new", "sysfs"),
            (resource("git", "/sys/new", &[("url", "/srv/r")]), "/sys/new", "sysfs"),
        ];
        let mut wrong = String::new();
        for (resource, path, file_system) in cases {
            let [noop, run] = [in_noop(vec![resource.clone()]), applied(vec![resource.clone()])];
            let ending = format!(
                "\"{path}\" can't be changed: the kernel makes all files on this file system ({file_system})"
            );
            if noop != run || !noop[0].ends_with(&ending) {
                wrong += &format!("{}: {noop:?}, {run:?}\n", resource.id);
            }
        }
        assert_eq!(wrong, "");
        // Attributes of other files can be set.
        let notes = in_noop(vec![file("/sys/kernel/notes", &[("mode", "0400")])]);
        assert!(notes[0].starts_with("Would have"), "{notes:?}");
    });
}
