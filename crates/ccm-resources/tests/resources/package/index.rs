//! Refreshes of the index.

use std::time::Duration;

use ccm_model::{Action, Transaction, Verb};
use ccm_testkit::FakeFile;

use crate::package::machine::{Machine, policy, told};
use crate::package::package;
use crate::run::failure;

const UPDATE: &str = "/usr/bin/apt-get update -q";

/// Returns a Debian machine whose index was never refreshed.
fn old(packages: &[&str]) -> Machine {
    Machine::debian(packages).never_refreshed()
}

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
        let mut machine = old(&["zsh installed 5.9-4"]);
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
fn sources_that_are_newer_than_the_index_refresh_it() {
    const LISTS: (&str, u64) = ("/var/lib/apt/lists", 60);
    // A file that takes the place of another one changes its directory.
    const SOURCE: &str = "/etc/apt/sources.list.d";
    for (source, update_cache, refreshed) in [
        ((SOURCE, 59), "", 1),
        (("/etc/apt/sources.list", 59), "", 1),
        ((SOURCE, 59), "1d", 1),
        ((SOURCE, 61), "", 0),
        ((SOURCE, 59), "never", 0),
    ] {
        let mut machine = old(&[]);
        for (path, ago) in [LISTS, source] {
            modified(&mut machine, path, Duration::from_secs(ago));
        }
        machine.index(&policy(&["zsh 5.9-4"]));
        machine.index_becomes(&policy(&["zsh 5.9-4"]));
        machine.becomes(&["zsh installed 5.9-4"]);
        let zsh =
            || package("zsh", &[("update_cache", update_cache)][..usize::from(!update_cache.is_empty())]);
        machine.apply(vec![zsh()]);
        assert_eq!(updates(&machine), refreshed, "{source:?} {update_cache}");
        // What ccm itself refreshed is newer.
        machine.apply(vec![zsh()]);
        assert_eq!(updates(&machine), refreshed, "{source:?} {update_cache}");
    }
}

#[test]
fn index_without_lists_is_too_old() {
    for stamp in ["/var/lib/apt/lists", "/var/lib/apt/periodic/update-success-stamp", "/state/refreshed-apt"]
    {
        let mut machine = old(&["zsh installed 5.9-4"]);
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
    for (update_cache, minutes, expected) in
        [("1h", 1, 1), ("1h", 61, 0), ("", 1, 1), ("never", 1, 1), ("never", 1441, 0)]
    {
        let mut machine = old(&["zsh installed 5.9-4", "vim installed 9"]);
        modified(&mut machine, "/var/lib/apt/lists", Duration::from_secs(60 * minutes));
        let properties = [("ensure", "latest"), ("update_cache", update_cache)];
        let properties = if update_cache.is_empty() { &properties[..1] } else { &properties };
        machine.noop(vec![package("zsh", properties), package("vim", properties)]);
        assert_eq!(asked(&machine), expected, "{update_cache} {minutes}");
    }
}

#[test]
fn noop_does_not_refresh_the_index() {
    let machine = old(&["zsh installed 5.9-4"]);
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
    let mut machine = old(&[]);
    // The index was emptied a moment ago.
    modified(&mut machine, "/var/lib/apt/lists", Duration::ZERO);
    machine.index_becomes(&policy(&["zsh 5.9-4"]));
    machine.becomes(&["zsh installed 5.9-4"]);
    let done = machine.apply(vec![package("zsh", &[("update_cache", "1d")])]);
    assert_eq!(told(&done), ["changed"]);
    assert_eq!(done[0].notes, ["refreshed the package index"]);
    assert_eq!(updates(&machine), 1);
    assert!(machine.files.entries.borrow().contains_key(std::path::Path::new("/state/refreshed-apt")));

    let mut machine = old(&[]);
    modified(&mut machine, "/state/refreshed-apt", Duration::from_secs(60));
    let done = machine.apply(vec![package("zsh", &[("update_cache", "1d")])]);
    assert_eq!(told(&done), ["failed: package `zsh` is not in the index"]);
    assert_eq!(updates(&machine), 0);
}

#[test]
fn failed_refresh_fails_its_packages() {
    let machine = old(&["zsh installed 5.9-4"]);
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
    let machine = old(&["zsh installed 5.9-4"]);
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

#[test]
fn latest_is_taken_from_an_index_of_at_most_a_day() {
    let day = 24 * 60;
    for (ensure, update_cache, minutes, refreshed) in [
        ("latest", None, day + 1, 1),
        ("latest", None, day - 1, 0),
        ("latest", Some("never"), 10 * day, 0),
        ("latest", Some("2d"), day + 1, 0),
        ("latest", Some("0"), 1, 1),
        // Nothing else depends on how new the index is.
        ("present", None, 10 * day, 0),
        ("5.9-5", None, 10 * day, 0),
    ] {
        let mut machine = old(&["zsh installed 5.9-4"]);
        modified(&mut machine, "/var/lib/apt/lists", Duration::from_secs(60 * minutes));
        machine.index(&policy(&["zsh 5.9-5 5.9-4"]));
        machine.becomes(&["zsh installed 5.9-5"]);
        let mut properties = vec![("ensure", ensure)];
        properties.extend(update_cache.map(|age| ("update_cache", age)));
        let done = machine.apply(vec![package("zsh", &properties)]);
        let expected = if ensure == "present" { "unchanged" } else { "changed" };
        assert_eq!(told(&done), [expected], "{properties:?} {minutes}");
        assert_eq!(updates(&machine), refreshed, "{properties:?} {minutes}");
    }
    // A package that is not installed, and the other tools.
    let machine = old(&[]);
    machine.index(&policy(&["nano 7"]));
    machine.becomes(&["nano installed 7"]);
    assert_eq!(told(&machine.apply(vec![package("nano", &[("ensure", "latest")])])), ["changed"]);
    assert_eq!(updates(&machine), 1);
    let rocky = Machine::rocky("zsh 0 5.9 1.el9 x86_64\n").never_refreshed();
    rocky.index("zsh 0 5.9 1.el9 x86_64\n");
    let arch = Machine::arch("zsh 5.9-1\n").never_refreshed();
    arch.index("core/zsh 5.9-1 [installed]\n    x\n");
    for (machine, refresh) in [(rocky, "makecache"), (arch, "-Sy")] {
        let done = machine.apply(vec![package("zsh", &[("ensure", "latest")])]);
        assert_eq!(told(&done), ["unchanged"]);
        let ran = machine.runner.fake.lines();
        assert_eq!(ran.iter().filter(|line| line.contains(refresh)).count(), 1, "{ran:?}");
    }
}

#[test]
fn latest_goes_on_with_an_old_index_that_cannot_be_refreshed() {
    let machine = || {
        let mut machine = old(&["zsh installed 5.9-4", "vim installed 9"]);
        modified(&mut machine, "/var/lib/apt/lists", Duration::from_secs(12 * 86_400));
        machine.index(&policy(&["zsh 5.9-5 5.9-4", "vim 9", "nano 7"]));
        machine.refuses(UPDATE, "E: Failed to fetch http://x\n");
        machine.becomes(&["zsh installed 5.9-5", "vim installed 9", "nano installed 7"]);
        machine
    };
    let latest = |name: &str| package(name, &[("ensure", "latest")]);
    let machine = machine();
    let done = machine.apply(vec![latest("zsh"), latest("vim"), latest("nano")]);
    assert_eq!(told(&done), ["changed", "unchanged", "changed"]);
    let warnings: Vec<&String> = done.iter().flat_map(|done| &done.warnings).collect();
    let warning = "cannot refresh the package index, which is 12 days old: \
        apt-get update failed with exit code 100: Failed to fetch http://x";
    assert_eq!(warnings, [warning]);
    assert_eq!(updates(&machine), 1);
    // Beside a package whose manifest asks for the refresh, which fails.
    let machine = old(&["zsh installed 5.9-4", "vim installed 9"]);
    machine.index(&policy(&["zsh 5.9-5 5.9-4", "vim 9"]));
    machine.refuses(UPDATE, "E: Failed to fetch http://x\n");
    machine.becomes(&["zsh installed 5.9-5", "vim installed 9"]);
    let asked = package("vim", &[("ensure", "latest"), ("update_cache", "1d")]);
    let done = machine.apply(vec![latest("zsh"), asked]);
    assert_eq!(told(&done)[0], "changed");
    assert_eq!(failure(&done[1]).chain[0], "cannot refresh the package index");
    // A changed repository has to be read.
    let machine = old(&["zsh installed 5.9-4"]);
    machine.files.entries.borrow_mut().insert("/state/outdated-apt".into(), FakeFile::of(""));
    machine.refuses(UPDATE, "E: Failed to fetch http://x\n");
    let done = machine.apply(vec![latest("zsh")]);
    assert_eq!(failure(&done[0]).chain[0], "cannot refresh the package index");
}

#[test]
fn age_of_an_index_that_is_left_is_reported_once() {
    for (hours, expected) in [(23, None), (30, Some("is 30 hours old")), (80, Some("is 3 days old"))] {
        for noop in [true, false] {
            let mut machine = old(&["zsh installed 5.9-4", "vim installed 9"]);
            modified(&mut machine, "/var/lib/apt/lists", Duration::from_secs(3600 * hours));
            machine.index(&policy(&["zsh 5.9-4", "vim 9"]));
            let never =
                |name: &str, ensure: &str| package(name, &[("ensure", ensure), ("update_cache", "never")]);
            let resources = vec![never("zsh", "latest"), never("vim", "latest"), never("nano", "absent")];
            let done = if noop { machine.noop(resources) } else { machine.apply(resources) };
            assert_eq!(told(&done), ["unchanged"; 3]);
            let warnings: Vec<&str> =
                done.iter().flat_map(|done| &done.warnings).map(String::as_str).collect();
            let warning =
                expected.map(|age| format!("the package index {age}, and `update_cache: never` leaves it"));
            assert_eq!(warnings, warning.as_deref().as_slice(), "{hours}");
            assert_eq!(updates(&machine), 0);
        }
    }
    let machine = old(&["zsh installed 5.9-4"]);
    machine.index(&policy(&["zsh 5.9-4"]));
    let done = machine.apply(vec![package("zsh", &[("ensure", "latest"), ("update_cache", "never")])]);
    assert_eq!(
        done[0].warnings,
        ["the package index was never refreshed, and `update_cache: never` leaves it"]
    );
}
