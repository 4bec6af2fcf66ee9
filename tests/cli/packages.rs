//! Packages with the real apt and dpkg: a database and a repository of the test's own take the place of the machine's,
//! and the packages hold nothing that would be written elsewhere.

use std::path::Path;
use std::process::Command;

use ccm_testkit::{Called, Ccm, Scratch, needs_own_mounts, skipped, wait_until};

use crate::ccm;

/// Makes a repository, and what apt and dpkg keep: `package NAME VERSION [FIELDS] [POSTINST] [CONFFILE]`.
const PREPARE: &str = r#"
set -e
package() {
    d=build/$1; rm -rf $d; mkdir -p $d/DEBIAN
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: a\n%s' \
        "$1" "$2" "$3" > $d/DEBIAN/control
    if [ -n "$4" ]; then printf '#!/bin/sh\n%s\n' "$4" > $d/DEBIAN/postinst; chmod 755 $d/DEBIAN/postinst; fi
    if [ -n "$5" ]; then
        mkdir -p $d/etc/apt; echo "$5" > $d/etc/apt/$1.conf; echo /etc/apt/$1.conf > $d/DEBIAN/conffiles
    fi
    dpkg-deb --root-owner-group -Znone -b $d repository/$1_$2.deb > /dev/null
}
mkdir -p repository build dpkg/info dpkg/updates dpkg/parts dpkg/triggers apt/apt.conf.d apt/preferences.d \
    apt/sources.list.d apt/trusted.gpg.d lists/lists/partial cache/archives/partial log
package tool 1.0-1; package tool 1.0-2; package tool 2.0-1
package other 3~rc1-1; package enemy 1 'Conflicts: other
Provides: role
Recommends: mentioned
'
package broken 1 '' 'echo it breaks >&2; exit 3'
package settings 1 '' '' 'value = 1'; package settings 2 '' '' 'value = 2'
package slow 1 '' "touch $PWD/begun; until test -e $PWD/go-on; do sleep 0.05; done"
for file in repository/*.deb; do
    dpkg-deb -f $file
    echo "Filename: ./${file#*/}"; echo "Size: $(stat -c %s $file)"
    echo "SHA256: $(sha256sum $file | cut -d' ' -f1)"; echo
done > repository/Packages
printf 'Package: dpkg\nStatus: install ok installed\nArchitecture: %s\nMaintainer: a\nVersion: 1\nDescription: a\n\n' \
    $(dpkg --print-architecture) > dpkg/status
: > dpkg/available; : > dpkg/diversions; : > dpkg/statoverride; : > dpkg/info/dpkg.list
echo "deb [trusted=yes] file:$PWD/repository ./" > apt/sources.list
printf 'APT::Sandbox::User "root";\nAcquire::Languages "none";\n' > apt/apt.conf.d/test
chmod 755 .
"#;

/// A place with a repository and an empty database; none where that can't be.
fn prepared() -> Option<Scratch> {
    let tools = ["/usr/bin/apt-get", "/usr/bin/dpkg-deb", "/usr/bin/dpkg"];
    if !needs_own_mounts() {
        return None;
    }
    if !tools.iter().all(|tool| Path::new(tool).exists()) {
        skipped("apt and dpkg are not installed");
        return None;
    }
    let scratch = Scratch::new();
    let made = Command::new("/bin/sh").args(["-c", PREPARE]).current_dir(scratch.path()).output();
    let made = made.expect("a shell");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(scratch)
}

/// A call of the binary on that machine, with resources given as lines below `- package:`.
fn call(scratch: &Scratch, packages: &str, options: &[&str]) -> Ccm {
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - package:\n{packages}"));
    let mounts = [
        ("dpkg", "/var/lib/dpkg"),
        ("apt", "/etc/apt"),
        ("lists", "/var/lib/apt"),
        ("cache", "/var/cache/apt"),
        ("log", "/var/log"),
    ];
    let mount = |(name, place): (&str, &str)| format!("mount --bind {} {place}\n", scratch.at(name));
    ccm(scratch, &["apply", "manifest.yaml"]).args(options).after_mounting(&mounts.map(mount).concat())
}

fn apply(scratch: &Scratch, packages: &str) -> Called {
    call(scratch, packages, &["-v"]).run()
}

/// Returns the packages in the database of dpkg, as `name version status`.
fn has(scratch: &Scratch) -> Vec<String> {
    let format = "${Package} ${Version} ${db:Status-Status}\n";
    let admin = format!("--admindir={}", scratch.at("dpkg"));
    let asked =
        Command::new("/usr/bin/dpkg-query").args([&admin, "-W", "-f", format]).output().expect("dpkg-query");
    let lines = String::from_utf8_lossy(&asked.stdout).into_owned();
    lines.lines().filter(|line| !line.starts_with("dpkg ")).map(str::to_owned).collect()
}

fn outcomes(called: &Called) -> Vec<String> {
    let reported = called.reported();
    let lines = reported.lines().filter_map(|line| line.strip_prefix("package#")?.split_once(' '));
    lines.filter_map(|(_, words)| Some(words.split_once(':')?.0.to_owned())).collect()
}

#[test]
fn packages_are_installed_changed_and_removed() {
    let Some(scratch) = prepared() else { return };
    for (packages, expected, then) in [
        (
            "        - defaults: {update_cache: 1h}\n        - tool: {ensure: 1.0-1}\n        - other:\n        - settings: {ensure: 1}\n",
            &["changed", "changed", "changed"][..],
            &["other 3~rc1-1 installed", "settings 1 installed", "tool 1.0-1 installed"][..],
        ),
        (
            "        - tool: {ensure: latest}\n        - other: {ensure: latest}\n        - settings:\n",
            &["changed", "unchanged", "unchanged"],
            &["other 3~rc1-1 installed", "settings 1 installed", "tool 2.0-1 installed"],
        ),
        (
            "        - tool: {ensure: 1.0}\n        - other: {ensure: absent}\n        - settings: {ensure: latest}\n",
            &["changed", "changed", "changed"],
            &["settings 2 installed", "tool 1.0-2 installed"],
        ),
        (
            "        - tool: {ensure: absent}\n        - settings: {ensure: absent}\n",
            &["changed", "changed"],
            &["settings 2 config-files"],
        ),
        ("        - settings: {ensure: absent, purge: true}\n", &["changed"], &[]),
    ] {
        if packages.contains("latest}\n        - other: {ensure: latest}") {
            // A configuration file that somebody changed is kept.
            scratch.write("apt/settings.conf", "value = mine\n");
        }
        let noop = call(&scratch, packages, &["--noop"]).run();
        assert_eq!(noop.code, 0, "{}", noop.shown());
        let called = apply(&scratch, packages);
        assert_eq!(
            (called.code, outcomes(&called)),
            (0, expected.iter().map(|word| (*word).to_owned()).collect()),
            "{}",
            called.shown()
        );
        assert_eq!(has(&scratch), then, "{}", called.shown());
        let again = apply(&scratch, packages);
        assert!(outcomes(&again).iter().all(|outcome| *outcome == "unchanged"), "{}", again.shown());
        if then.contains(&"settings 2 installed") {
            assert_eq!(scratch.read("apt/settings.conf").as_deref(), Some("value = mine\n"));
        }
    }
    assert!(!scratch.has("apt/settings.conf"), "purged");
}

#[test]
fn a_bad_package_fails_alone_and_side_effects_are_reported() {
    let Some(scratch) = prepared() else { return };
    let packages = "        - defaults: {update_cache: 1h}\n        - tool:\n        - gone:\n        - broken:\n        - other: {ensure: \"9\"}\n        - settings:\n";
    let called = apply(&scratch, packages);
    assert_eq!(outcomes(&called), ["changed", "failed", "failed", "failed", "changed"], "{}", called.shown());
    assert_eq!(
        has(&scratch),
        ["broken 1 half-configured", "settings 2 installed", "tool 2.0-1 installed"],
        "{}",
        called.shown()
    );
    for expected in [
        "package `gone` is not in the index",
        "version 9 of `other` is not in the index",
        "hint: use an available version: 3~rc1-1",
        "stderr | it breaks",
        "hint: run `dpkg --configure -a`: partially installed: broken",
    ] {
        assert!(called.stdout.contains(expected), "{expected}: {}", called.shown());
    }
    let called = apply(&scratch, "        - settings: {ensure: absent}\n");
    assert_eq!(outcomes(&called), ["changed"], "{}", called.shown());
    let warning = "run `dpkg --configure -a`: partially installed: broken";
    assert!(called.stdout.contains(&format!("(1): {warning}")), "{}", called.shown());
    let called = apply(&scratch, "        - broken: {ensure: absent}\n        - other:\n");
    assert_eq!(outcomes(&called), ["changed", "changed"], "{}", called.shown());
    let called = apply(&scratch, "        - enemy:\n");
    assert_eq!(outcomes(&called), ["changed"], "{}", called.shown());
    assert!(called.stdout.contains("warning: also removed: other"), "{}", called.shown());
}

#[test]
fn a_name_without_a_version_is_virtual_only_if_something_provides_it() {
    let Some(scratch) = prepared() else { return };
    let called =
        apply(&scratch, "        - defaults: {update_cache: 1h}\n        - role:\n        - mentioned:\n");
    assert_eq!(outcomes(&called), ["failed", "failed"], "{}", called.shown());
    for expected in [
        "`role` is a virtual package",
        "hint: name a package that provides it: enemy\n",
        "package `mentioned` is not in the index",
    ] {
        assert!(called.stdout.contains(expected), "{expected}: {}", called.shown());
    }
}

#[test]
fn an_index_that_was_emptied_is_refreshed() {
    let Some(scratch) = prepared() else { return };
    let latest = "        - tool: {ensure: latest, update_cache: 1h}\n";
    for expected in ["changed", "unchanged"] {
        let called = apply(&scratch, latest);
        assert_eq!(outcomes(&called), [expected], "{}", called.shown());
    }
    let removed =
        Command::new("/bin/sh").args(["-c", "rm -rf lists/lists/*"]).current_dir(scratch.path()).status();
    assert!(removed.expect("a shell").success());
    let noop = call(&scratch, latest, &["--noop"]).run();
    let unknown = "not known before the package index is refreshed";
    assert!(noop.stdout.contains(unknown), "{}", noop.shown());
    let called = apply(&scratch, latest);
    assert!(called.stdout.contains("refreshed the package index"), "{}", called.shown());
    let noop = call(&scratch, latest, &["--noop"]).run();
    assert!(!noop.stdout.contains(unknown), "{}", noop.shown());
}

#[test]
fn held_packages_are_not_changed() {
    let Some(scratch) = prepared() else { return };
    let first = apply(&scratch, "        - tool: {ensure: 1.0-1, update_cache: 1h}\n");
    assert_eq!(outcomes(&first), ["changed"], "{}", first.shown());
    let status = scratch.read("dpkg/status").expect("the database");
    let held = status.replace("Package: tool\nStatus: install", "Package: tool\nStatus: hold");
    assert_ne!(status, held);
    scratch.write("dpkg/status", held);
    let called = apply(&scratch, "        - tool: {ensure: latest}\n");
    assert_eq!(outcomes(&called), ["failed"], "{}", called.shown());
    assert!(called.stdout.contains("`tool` is held by dpkg"), "{}", called.shown());
    assert_eq!(outcomes(&apply(&scratch, "        - tool:\n")), ["unchanged"]);
}

#[test]
fn a_signal_lets_a_started_installation_finish() {
    let Some(scratch) = prepared() else { return };
    let running = call(
        &scratch,
        "        - slow: {update_cache: 1h}\n        - tool: {ensure: absent}\n        - other: {require: [package#slow]}\n",
        &[],
    )
    .start();
    wait_until("the package is being installed", || scratch.has("begun"));
    running.signal("TERM");
    scratch.write("go-on", "");
    let called = running.finish();
    assert_eq!(called.code, 143, "{}", called.shown());
    assert_eq!(outcomes(&called), ["changed"], "{}", called.shown());
    assert!(called.stdout.contains("not reached: package#tool, package#other\n"), "{}", called.shown());
    assert_eq!(
        called.stderr,
        "interrupted by SIGTERM: waiting up to 5m for the package tool of package#slow to finish; a second interrupt \
         kills the tool and may leave packages broken\n"
    );
    assert_eq!(has(&scratch), ["slow 1 installed"]);
}

#[test]
fn a_second_signal_kills_the_installation_with_a_hint() {
    let Some(scratch) = prepared() else { return };
    let running = call(&scratch, "        - slow: {update_cache: 1h}\n", &[]).start();
    wait_until("the package is being installed", || scratch.has("begun"));
    // Two of a kind that come at once are one.
    running.signal("TERM");
    running.signal("INT");
    let called = running.finish();
    assert!([130, 143].contains(&called.code), "{}", called.shown());
    assert_eq!(outcomes(&called), ["failed"], "{}", called.shown());
    let killed = ": killing the package tool of package#slow now; packages may be left half installed\n";
    assert!(called.stderr.ends_with(killed), "{}", called.shown());
    for expected in [
        "apt-get install was stopped together with the run",
        "something may have been changed",
        "hint: run `dpkg --configure -a` to finish the change",
    ] {
        assert!(called.stdout.contains(expected), "{expected}: {}", called.shown());
    }
    scratch.write("go-on", "");
    let called = apply(&scratch, "        - slow:\n");
    assert_eq!(outcomes(&called), ["changed"], "{}", called.shown());
    let finished = "`dpkg --configure -a` finished an interrupted package change";
    assert!(called.stdout.contains(finished), "{}", called.shown());
    assert_eq!(has(&scratch), ["slow 1 installed"]);
}

#[test]
fn a_slow_installation_ends_at_its_timeout() {
    let Some(scratch) = prepared() else { return };
    let called = apply(&scratch, "        - slow: {update_cache: 1h, timeout: 2s}\n");
    assert_eq!(outcomes(&called), ["failed"], "{}", called.shown());
    assert!(called.stdout.contains("timed out after 2s"), "{}", called.shown());
}

#[test]
fn a_removal_fails_without_change_while_another_program_has_the_lock() {
    let Some(scratch) = prepared() else { return };
    let first = apply(&scratch, "        - tool: {update_cache: 1h}\n");
    assert_eq!(outcomes(&first), ["changed"], "{}", first.shown());
    let running = call(&scratch, "        - slow:\n", &[]).start();
    wait_until("the package is being installed", || scratch.has("begun"));
    let refused = call(
        &scratch,
        "        - tool: {ensure: absent, lock_timeout: 0}\n",
        &["--state-dir", &scratch.at("other")],
    )
    .run();
    scratch.write("go-on", "");
    let called = running.finish();
    assert_eq!(outcomes(&called), ["changed"], "{}", called.shown());
    assert_eq!(outcomes(&refused), ["failed"], "{}", refused.shown());
    for expected in ["another program is changing packages", "nothing was changed"] {
        assert!(refused.stdout.contains(expected), "{expected}: {}", refused.shown());
    }
    for unexpected in ["waiting: ", "something may have been changed"] {
        assert!(!refused.shown().contains(unexpected), "{unexpected}: {}", refused.shown());
    }
}
