//! Timers of systemd.

use std::fs::{read_dir, read_to_string, remove_file, write};
use std::path::Path;

use crate::build::{errors_of, resource};
use crate::local_run::{applied, assert_changes};
use crate::scheduled::machine::on_a_copy;

const SERVICE: &str = "/etc/systemd/system/backup.service";
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
            || write(TIMER, "[Timer]\nOnCalendar=daily\n").expect("a file"),
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
        let told = applied(timer("nonsense", "root"));
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
