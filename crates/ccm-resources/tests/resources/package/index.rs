//! Refreshes of the index.

use std::time::Duration;

use ccm_model::{Action, Transaction, Verb};

use crate::package::machine::{Machine, policy, told};
use crate::package::package;
use crate::run::failure;

const UPDATE: &str = "/usr/bin/apt-get update -q";

/// Sets the modification time of `path`.
fn modified(machine: &mut Machine, path: &str, ago: Duration) {
    use ccm_host::Clock as _;
    machine.files.files.insert(path.into());
    machine.files.modified.insert(path.into(), machine.clock.now() - ago);
}

fn updates(machine: &Machine) -> usize {
    machine.runner.fake.lines().iter().filter(|line| *line == UPDATE).count()
}

fn latest(machine: &Machine) -> Vec<Transaction> {
    machine.apply(vec![package("zsh", &[("ensure", "latest"), ("update_cache", "1h")])])
}

#[test]
fn old_index_is_refreshed_before_an_upgrade() {
    for (stamp, minutes, refreshed) in [
        ("/var/lib/apt/lists", 61, 1),
        ("/var/lib/apt/lists", 59, 0),
        ("/var/lib/apt/periodic/update-success-stamp", 1, 0),
        ("/state/refreshed-apt", 1, 0),
        ("/state/refreshed-apt", 60, 1),
        // The clock was set back.
        ("/nothing", 0, 1),
    ] {
        let mut machine = Machine::debian(&["zsh installed 5.9-4"]);
        modified(&mut machine, stamp, Duration::from_secs(60 * minutes));
        machine.index(&policy(&["zsh 5.9-4"]));
        let done = latest(&machine);
        assert_eq!(told(&done), ["unchanged"], "{stamp} {minutes}");
        assert_eq!(updates(&machine), refreshed, "{stamp} {minutes}");
        let reason = "version 5.9-4 is installed, the latest";
        assert_eq!(done[0].reason_text(), Some(reason));
    }
}

#[test]
fn index_without_lists_is_too_old() {
    for stamp in ["/var/lib/apt/lists", "/var/lib/apt/periodic/update-success-stamp", "/state/refreshed-apt"]
    {
        let mut machine = Machine::debian(&["zsh installed 5.9-4"]);
        modified(&mut machine, stamp, Duration::from_secs(60));
        machine.index_is_emptied();
        machine.index(&policy(&["zsh 5.9-4"]));
        machine.index_becomes(&policy(&["zsh 5.9-5 5.9-4", "nano 7"]));
        let nano = || package("nano", &[("update_cache", "1h")]);
        let done = machine.noop(vec![nano()]);
        let told = "package `nano` is not in the index; the index would be refreshed first";
        assert_eq!(done[0].warnings, [told]);
        machine.becomes(&["zsh installed 5.9-5"]);
        let done = latest(&machine);
        assert_eq!(done[0].final_ensure.as_deref(), Some("5.9-5"), "{stamp}");
        assert_eq!(updates(&machine), 1, "{stamp}");
        // Now the index has a list.
        latest(&machine);
        assert_eq!(updates(&machine), 1, "{stamp}");
    }
}

#[test]
fn lists_are_checked_once_if_stamps_are_recent() {
    let asked = |machine: &Machine| {
        machine.runner.fake.lines().iter().filter(|line| line.contains("indextargets")).count()
    };
    for (update_cache, minutes, expected) in [("1h", 1, 1), ("1h", 61, 0), ("", 1, 0)] {
        let mut machine = Machine::debian(&["zsh installed 5.9-4", "vim installed 9"]);
        modified(&mut machine, "/var/lib/apt/lists", Duration::from_secs(60 * minutes));
        let properties = [("ensure", "latest"), ("update_cache", update_cache)];
        let properties = if update_cache.is_empty() { &properties[..1] } else { &properties };
        machine.noop(vec![package("zsh", properties), package("vim", properties)]);
        assert_eq!(asked(&machine), expected, "{update_cache} {minutes}");
    }
}

#[test]
fn noop_does_not_refresh_the_index() {
    let machine = Machine::debian(&["zsh installed 5.9-4"]);
    let done = machine.noop(vec![package("zsh", &[("ensure", "latest"), ("update_cache", "1h")])]);
    let unknown = "not known before the package index is refreshed";
    assert_eq!(told(&done), [format!("Would have changed: {unknown}, 5.9-4")]);
    let action = Action::new(Verb::Change).of(unknown).changing("version", Some("5.9-4".to_owned()), None);
    assert_eq!(done[0].action, Some(action));
    let done = machine.noop(vec![package("nano", &[("update_cache", "1h")])]);
    assert_eq!(told(&done), ["Would have installed"]);
    assert_eq!(done[0].warnings, ["package `nano` is not in the index; the index would be refreshed first"]);
    assert_eq!(updates(&machine), 0);
}

#[test]
fn index_without_a_package_is_refreshed_once() {
    let mut machine = Machine::debian(&[]);
    // The index was emptied a moment ago.
    modified(&mut machine, "/var/lib/apt/lists", Duration::ZERO);
    machine.index_becomes(&policy(&["zsh 5.9-4"]));
    machine.becomes(&["zsh installed 5.9-4"]);
    let done = machine.apply(vec![package("zsh", &[("update_cache", "1d")])]);
    assert_eq!(told(&done), ["changed"]);
    assert_eq!(done[0].notes, ["refreshed the package index"]);
    assert_eq!(updates(&machine), 1);
    assert!(machine.files.entries.borrow().contains_key(std::path::Path::new("/state/refreshed-apt")));

    let mut machine = Machine::debian(&[]);
    modified(&mut machine, "/state/refreshed-apt", Duration::from_secs(60));
    let done = machine.apply(vec![package("zsh", &[("update_cache", "1d")])]);
    assert_eq!(told(&done), ["failed: package `zsh` is not in the index"]);
    assert_eq!(updates(&machine), 0);
}

#[test]
fn failed_refresh_fails_its_packages() {
    let machine = Machine::debian(&["zsh installed 5.9-4"]);
    machine.refuses(UPDATE, "E: The repository 'http://x' is not signed.\n");
    let done = latest(&machine);
    let failed = failure(&done[0]);
    assert_eq!(
        failed.chain,
        [
            "cannot refresh the package index",
            "apt-get update failed with exit code 100",
            "The repository 'http://x' is not signed.",
        ]
    );
    assert!(!failed.changed);
}

#[test]
fn unchanged_packages_need_no_refresh() {
    let machine = Machine::debian(&["zsh installed 5.9-4"]);
    for properties in [&[][..], &[("ensure", "5.9")]] {
        let properties = [properties, &[("update_cache", "0")]].concat();
        assert_eq!(told(&machine.apply(vec![package("zsh", &properties)])), ["unchanged"]);
    }
    assert_eq!(
        told(&machine.apply(vec![package("nano", &[("ensure", "absent"), ("update_cache", "0")])])),
        ["unchanged"]
    );
    assert_eq!(updates(&machine), 0);
}
