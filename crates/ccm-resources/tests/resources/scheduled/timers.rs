//! Timers of systemd.

use std::fs::{read_dir, read_to_string, remove_file, write};
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::build::{errors_of, resource};
use crate::local_run::{applied, assert_changes, in_noop, outcome, run_here};
use crate::scheduled::machine::{on_a_copy, shell};

const SERVICE: &str = "/etc/systemd/system/backup.service";
const COMMENT: &str = "# Managed by ccm; changes are overwritten.\n";
const TIMER: &str = "/etc/systemd/system/backup.timer";

fn calls() -> String {
    let calls = read_to_string("/run/calls").unwrap_or_default();
    write("/run/calls", "").expect("a file");
    calls.lines().filter(|line| !line.starts_with("show ")).collect::<Vec<_>>().join(", ")
}

#[test]
fn timer_is_made_changed_mended_and_removed() {
    on_a_copy(|| {
        let timer = |properties: &[(&str, &str)]| {
            let properties = [&[("command", "/usr/bin/backup --to '/srv/a b' 50%")], properties].concat();
            resource("timer", "backup", &properties)
        };
        let nightly = timer(&[("on_calendar", "[*-*-* 02:30|Sun 12:00]"), ("jitter", "15m")]);
        assert_changes(&nightly);
        assert_eq!(calls(), "daemon-reload , enable backup.timer, restart backup.timer");
        let service = read_to_string(SERVICE).expect("a file");
        assert!(service.contains("\nExecStart=/usr/bin/backup --to \"/srv/a b\" \"50%%\"\n"), "{service}");
        let text = read_to_string(TIMER).expect("a file");
        assert!(
            text.contains("\nOnCalendar=*-*-* 02:30\nOnCalendar=Sun 12:00\nRandomizedDelaySec=900s\n"),
            "{text}"
        );
        // Only the command changes, and the timer goes on.
        assert_changes(&timer(&[
            ("on_calendar", "[*-*-* 02:30|Sun 12:00]"),
            ("jitter", "15m"),
            ("user", "ada"),
        ]));
        assert_eq!(calls(), "daemon-reload , start backup.timer");
        assert_changes(&timer(&[("every", "30m"), ("persistent", "false")]));
        let every = timer(&[("every", "30m"), ("persistent", "false")]);
        calls();
        for spoil in [
            (|| remove_file("/run/active/backup.timer").expect("a file")) as fn(),
            || remove_file("/run/enabled/backup.timer").expect("a file"),
            || write(TIMER, format!("{COMMENT}[Timer]\nOnCalendar=daily\n")).expect("a file"),
            || remove_file(SERVICE).expect("a file"),
            || write("/run/loaded/backup.timer", "old").expect("a file"),
        ] {
            spoil();
            assert_changes(&every);
        }
        assert_changes(&resource("timer", "backup", &[("ensure", "absent")]));
        assert_eq!(read_dir("/etc/systemd/system").expect("a directory").count(), 0);
        assert!(!Path::new("/run/active/backup.timer").exists());
        assert_eq!(applied(vec![resource("timer", "backup", &[("ensure", "absent")])]), ["unchanged"]);
    });
}

#[test]
fn units_of_others_are_neither_replaced_nor_removed() {
    on_a_copy(|| {
        let present = || vec![resource("timer", "backup", &[("command", "/bin/echo hi"), ("every", "1h")])];
        let absent = || vec![resource("timer", "backup", &[("ensure", "absent")])];
        let packaged = "/run/systemd/system/backup";
        let made = "/etc/systemd/system/backup";
        let replaces = |path: &str| {
            format!("the units of the timer `backup` would replace \"{path}\", which ccm did not write")
        };
        let foreign = |path: &str| format!("\"{path}\" was not written by ccm");
        for (path, content, of_present, of_absent) in [
            (format!("{packaged}.service"), "[Service]\n", replaces(&format!("{packaged}.service")), None),
            (format!("{packaged}.timer"), "[Timer]\n", replaces(&format!("{packaged}.timer")), None),
            (SERVICE.to_owned(), "[Service]\n", foreign(SERVICE), None),
            (SERVICE.to_owned(), "", foreign(SERVICE), None),
            (TIMER.to_owned(), "[Timer]\n", foreign(TIMER), Some(foreign(TIMER))),
            (
                format!("{made}.service"),
                "# mine\n# Managed by ccm; changes are overwritten.\n",
                foreign(SERVICE),
                None,
            ),
        ] {
            write(&path, content).expect("a file");
            for told in [in_noop(present()), applied(present())] {
                assert_eq!(told, [&*of_present], "{path}");
            }
            for told in [in_noop(absent()), applied(absent())] {
                assert_eq!(told, [of_absent.as_deref().unwrap_or("unchanged")], "{path}");
            }
            assert_eq!(read_to_string(&path).expect("a file"), content, "{path}");
            remove_file(&path).expect("a file");
        }
        symlink("/dev/null", TIMER).expect("a link");
        let masked = format!("the link \"{TIMER}\" masks the unit");
        assert_eq!((applied(present()), applied(absent())), (vec![masked.clone()], vec![masked]));
        remove_file(TIMER).expect("a link");
        assert_eq!(calls(), "");
        // What an earlier version wrote over the unit of a package can be taken back.
        assert_eq!(applied(present()), ["changed"]);
        write(format!("{packaged}.timer"), "[Timer]\n").expect("a file");
        let done = run_here(absent(), false);
        assert_eq!(done.iter().map(outcome).collect::<Vec<_>>(), ["changed"]);
        let told = format!(
            "\"{packaged}.timer\" stays, because ccm did not write it; a `service` resource can stop and disable `backup.timer`"
        );
        assert_eq!(done[0].warnings, [told]);
        assert_eq!(read_dir("/etc/systemd/system").expect("a directory").count(), 0);
    });
}

#[test]
fn timers_are_read_together() {
    on_a_copy(|| {
        let all = || {
            ["a", "b", "c"]
                .map(|name| resource("timer", name, &[("command", "true"), ("every", "1h")]))
                .to_vec()
        };
        assert_eq!(applied(all()), ["changed", "changed", "changed"]);
        write("/run/calls", "").expect("a file");
        assert_eq!(applied(all()), ["unchanged", "unchanged", "unchanged"]);
        assert_eq!(read_to_string("/run/calls").expect("a file").lines().count(), 1);
    });
}

#[test]
fn what_systemd_refuses_is_an_error() {
    on_a_copy(|| {
        let timer = |time: &str, user: &str| {
            vec![resource("timer", "backup", &[("command", "true"), ("on_calendar", time), ("user", user)])]
        };
        let told = applied(timer("*-*-* nonsense", "root"));
        let expected =
            "systemd does not understand a time of the timer: Failed to parse calendar specification";
        assert_eq!(told, [expected]);
        assert_eq!(applied(timer("daily", "nobody-here")), ["user `nobody-here` does not exist"]);
        assert_eq!(read_dir("/etc/systemd/system").expect("a directory").count(), 0);
        write("/run/refuses", "").expect("a file");
        let told = applied(timer("daily", "root"));
        assert_eq!(told, ["Job for backup.timer failed (changed)"]);
        remove_file("/run/refuses").expect("a file");
        assert_eq!(applied(timer("daily", "root")), ["changed"]);
    });
}

#[test]
fn properties_of_timers_are_checked_at_load() {
    let errors =
        |name: &str, properties: &[(&str, &str)]| errors_of(&resource("timer", name, properties)).len();
    let command = ("command", "true");
    assert_eq!(errors("a", &[command, ("every", "1h")]), 0);
    assert_eq!(errors("a.timer", &[command, ("every", "1h")]), 1);
    assert_eq!(errors("a/b", &[command, ("every", "1h")]), 1);
    assert_eq!(errors("a", &[command]), 1);
    assert_eq!(errors("a", &[("every", "1h")]), 1);
    assert_eq!(errors("a", &[command, ("every", "7m")]), 1);
    assert_eq!(errors("a", &[command, ("every", "1h"), ("on_calendar", "daily")]), 1);
    assert_eq!(errors("a", &[command, ("on_calendar", "[]")]), 1);
    assert_eq!(errors("a", &[("command", "a | b"), ("every", "1h")]), 1);
    assert_eq!(errors("a", &[("ensure", "absent")]), 0);
}

#[test]
fn noop_fails_like_a_run_on_units_and_crontabs_that_are_mounted() {
    on_a_copy(|| {
        let timer = |properties: &[(&str, &str)]| resource("timer", "a", properties);
        let new = || timer(&[("command", "/bin/new"), ("every", "1h")]);
        let job = |properties: &[(&str, &str)]| {
            resource("cron", "a", &[&[("provider", "crontab"), ("user", "ada")], properties].concat())
        };
        let service = "/etc/systemd/system/a.service";
        let spool = "/var/spool/cron/crontabs";
        shell(&format!("mkdir -p {spool} && mount -t tmpfs t {spool} && touch {spool}/ada"));
        assert_changes(&timer(&[("command", "/bin/old"), ("every", "1h")]));
        for (path, resource) in [
            (service, new()),
            (service, timer(&[("ensure", "absent")])),
            ("/etc/systemd/system/a.timer", timer(&[("command", "/bin/old"), ("every", "2h")])),
            ("/var/spool/cron/crontabs/ada", job(&[("command", "a"), ("hour", "1")])),
        ] {
            shell(&format!("cp {path} /run/copy && mount --bind /run/copy {path}"));
            let told = vec![format!("can't replace or remove mount point \"{path}\"")];
            assert_eq!(in_noop(vec![resource.clone()]), told, "{}", resource.id);
            assert_eq!(applied(vec![resource.clone()]), told, "{}", resource.id);
            let unmount = crate::build::resource("mount", path, &[("ensure", "absent")]);
            let told = in_noop(vec![unmount.clone(), resource]);
            assert_eq!(told[1], format!("not known before {}", unmount.id));
            shell(&format!("umount {path}"));
        }
        // A timer whose other unit is mounted needs no change of that one.
        shell(
            "cp /etc/systemd/system/a.timer /run/copy && mount --bind /run/copy /etc/systemd/system/a.timer",
        );
        assert_changes(&new());
        shell("umount /etc/systemd/system/a.timer");
        for (directory, resource) in [
            ("/etc/systemd/system", timer(&[("command", "/bin/old"), ("every", "1h")])),
            (spool, job(&[("command", "a"), ("hour", "1")])),
        ] {
            shell(&format!("mount --bind {directory} {directory} && mount -o remount,bind,ro {directory}"));
            let [noop, run] = [in_noop(vec![resource.clone()]), applied(vec![resource])];
            assert_eq!(noop, run);
            assert!(noop[0].ends_with("is on a file system that is mounted read-only"), "{noop:?}");
            shell(&format!("umount {directory}"));
        }
    });
}
