//! Reboots, which a fake only records.

use std::fs::{create_dir_all, read_to_string, remove_dir_all, remove_file, write};
use std::path::Path;

use ccm_model::{Dependency, Outcome, ResourceIndex, Span};
use ccm_testkit::skipped;

use crate::build::{errors_of, resource};
use crate::local_run::{applied, run_here};
use crate::scheduled::machine::on_a_copy;

#[test]
fn pending_reboot_is_scheduled_once() {
    if Path::new("/.dockerenv").exists() {
        return skipped("ccm reboots no container");
    }
    on_a_copy(|| {
        let reboot = || {
            vec![resource(
                "reboot",
                "kernel",
                &[("when", "pending"), ("delay", "90s"), ("message", "new kernel")],
            )]
        };
        assert_eq!(applied(reboot()), ["unchanged"]);
        write("/run/reboot-required", "").expect("a file");
        write("/run/reboot-required.pkgs", "linux-image\nlinux-image\nlibc6\n").expect("a file");
        let told = run_here(reboot(), true);
        assert!(
            matches!(&told[0].outcome, Outcome::WouldChange { message } if message == "Would have rebooted the machine")
        );
        assert!(!Path::new("/run/reboot-call").exists());
        write("/run/systemd/container", "docker").expect("a file");
        assert_eq!(applied(reboot()), ["unchanged"]);
        remove_file("/run/systemd/container").expect("a file");
        assert_eq!(applied(reboot()), ["changed"]);
        let call = read_to_string("/run/reboot-call").expect("a call");
        let words: Vec<&str> = call.lines().collect();
        let own = std::process::id().to_string();
        assert_eq!(words[words.len() - 3..], [&*own, "2", "new kernel"]);
        assert!(call.contains("tail --pid=\"$1\" -f /dev/null; exec shutdown -r \"+$2\" \"$3\""), "{call}");
        remove_file("/run/reboot-call").expect("a file");
        assert_eq!(applied(reboot()), ["unchanged"]);
        remove_dir_all("/run/systemd/transient").expect("a directory");
        create_dir_all("/run/systemd/shutdown").expect("a directory");
        write("/run/systemd/shutdown/scheduled", "").expect("a file");
        assert_eq!(applied(reboot()), ["unchanged"]);
        assert!(!Path::new("/run/reboot-call").exists());
    });
}

#[test]
fn reboot_waits_for_a_change() {
    on_a_copy(|| {
        write("/run/reboot-required", "").expect("a file");
        assert_eq!(applied(vec![resource("reboot", "a", &[("when", "always")])]), ["unchanged"]);
        assert!(!Path::new("/run/reboot-call").exists());
    });
}

#[test]
fn properties_of_reboots_are_checked_at_load() {
    let errors = |properties: &[(&str, &str)]| errors_of(&resource("reboot", "a", properties)).len();
    assert_eq!(errors(&[("when", "pending")]), 0);
    assert_eq!(errors(&[]), 1);
    assert_eq!(errors(&[("when", "never")]), 1);
    assert_eq!(errors(&[("when", "pending"), ("message", "-h")]), 1);
    let mut reboot = resource("reboot", "a", &[("when", "always")]);
    assert_eq!(errors_of(&reboot), ["missing when when: always, subscribe | subscribe, when: pending"]);
    reboot.subscribe = vec![Dependency { on: ResourceIndex::from_usize(0), span: Span::default() }];
    assert_eq!(errors_of(&reboot), [""; 0]);
}
