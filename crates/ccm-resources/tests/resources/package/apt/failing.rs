//! Changes of packages that fail, or that undo one another.

use super::*;

#[test]
fn failed_package_does_not_fail_the_others() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1", "bad 1", "b 1"]));
    let options = "-o DPkg::Options::=--force-confdef -o DPkg::Options::=--force-confold";
    let tail = "-y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 --";
    let line = |options: &str, names: &str| {
        format!("/usr/bin/apt-get install --no-install-recommends {options} {tail} {names}")
    };
    machine.refuses(&line(options, "a bad b"), "E: Sub-process /usr/bin/dpkg returned an error code (1)\n");
    machine.refuses(
        &line(options, "bad"),
        "it breaks\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
    );
    machine.becomes(&["a installed 1", "bad half-configured 1", "b installed 1"]);
    let done =
        machine.apply(vec![package("a", &[]), package("bad", &[]), package("gone", &[]), package("b", &[])]);
    let broken = "failed: apt-get install failed with exit code 100: Sub-process /usr/bin/dpkg returned an error code (1)";
    assert_eq!(told(&done), ["changed", broken, "failed: package `gone` is not in the index", "changed"]);
    let failed = failure(&done[1]);
    assert!(failed.changed);
    assert_eq!(
        failed.output[0].lines,
        ["it breaks", "E: Sub-process /usr/bin/dpkg returned an error code (1)"]
    );
    assert_eq!(failed.hints, ["run `dpkg --configure -a`: partially installed: bad"]);
    assert!(!failure(&done[2]).changed);
}

#[test]
fn failed_download_changes_nothing() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    let options = "-o DPkg::Options::=--force-confdef -o DPkg::Options::=--force-confold --download-only";
    let tail = "-y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 --";
    machine.refuses(
        &format!("/usr/bin/apt-get install --no-install-recommends {options} {tail} a"),
        "E: it breaks\n",
    );
    let done = machine.apply(vec![package("a", &[])]);
    let failed = failure(&done[0]);
    assert_eq!(failed.chain, ["apt-get install --download-only failed with exit code 100", "it breaks"]);
    assert!(!failed.changed);
    assert!(
        machine.ran().iter().all(|line| !line.starts_with("apt-get") || line.contains("--download-only"))
    );
}

#[test]
fn reported_success_is_verified() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.becomes(&[]);
    let done = machine.apply(vec![package("a", &[])]);
    assert_eq!(told(&done), ["failed: the package is still not installed"]);
    assert!(failure(&done[0]).changed);
}

#[test]
fn version_forced_by_another_package_is_reported() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["tool 2 1", "needs 1"]));
    machine.becomes(&["tool installed 2", "needs installed 1"]);
    let done = machine.apply(vec![package("tool", &[("ensure", "1")]), package("needs", &[])]);
    assert_eq!(told(&done), ["failed: version 2 is installed, not 1", "changed"]);
    let hint = "check whether another package of the same change needs the installed version";
    assert_eq!(failure(&done[0]).hints, [hint]);
}

#[test]
fn missing_database_is_a_failure() {
    let mut machine = Machine::debian(&[]);
    machine.files.files.remove(std::path::Path::new("/var/lib/dpkg/updates/0001"));
    let done = machine.apply(vec![package("zsh", &[]), package("nano", &[("ensure", "absent")])]);
    let missing = "failed: cannot list installed packages: \"/var/lib/dpkg/status\" does not exist";
    assert_eq!(told(&done), [missing, missing]);
    assert!(machine.ran().is_empty());
}

#[test]
fn packages_that_exclude_each_other_fail_and_are_named() {
    let [a, b] = ["mta-a installed 1", "mta-b installed 1"];
    let both = |one: &str, other: &str| {
        format!("failed: the change of `{one}` removed `{other}`, which the manifest wants")
    };
    // Packages before, after each change, and what is told of the two.
    for (before, after, expected) in [
        (&[b][..], &[a, b][..], [both("mta-a", "mta-b"), both("mta-b", "mta-a")]),
        (&[a], &[b], ["unchanged".to_owned(), both("mta-b", "mta-a")]),
    ] {
        let machine = Machine::debian(before);
        machine.index(&policy(&["mta-a 1", "mta-b 1"]));
        for packages in after {
            machine.becomes(&[packages]);
        }
        let done = machine.apply(vec![package("mta-a", &[]), package("mta-b", &[])]);
        assert_eq!(told(&done), expected, "{before:?}");
        let failed = failure(&done[1]);
        assert!(failed.changed);
        assert_eq!(failed.hints, ["remove one of the packages from the manifest: they exclude each other"]);
    }
    // In one batch: the common call fails, and each alone removes the other.
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["mta-a 1", "mta-b 1"]));
    let options = "-o DPkg::Options::=--force-confdef -o DPkg::Options::=--force-confold --download-only";
    let tail = "-y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 -- mta-a mta-b";
    let line = format!("/usr/bin/apt-get install --no-install-recommends {options} {tail}");
    machine.refuses(&line, "E: broken packages\n");
    machine.becomes(&[a]);
    machine.becomes(&[b]);
    let done = machine.apply(vec![package("mta-a", &[]), package("mta-b", &[])]);
    assert_eq!(told(&done)[1], both("mta-b", "mta-a"), "{:?}", machine.ran());
    assert!(told(&done)[0].starts_with("failed"), "{:?}", told(&done));
    // A removal takes what needs the package along.
    let machine = Machine::debian(&[a, b]);
    machine.becomes(&[]);
    let done = machine.apply(vec![package("mta-b", &[]), package("mta-a", &[("ensure", "absent")])]);
    assert_eq!(told(&done), ["unchanged".to_owned(), both("mta-a", "mta-b")]);
}
