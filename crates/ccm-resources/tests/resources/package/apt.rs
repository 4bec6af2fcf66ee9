//! Packages of Debian: reading, queries, changes and reports.

mod failing;
mod interrupted;
mod locks;

use ccm_host::{Exit, Host, LocalExecutor, Role};
use ccm_model::{Action, FailureKind, Outcome, Verb};
use ccm_testkit::FakeFile;
use serde_json::json;

use crate::gate::RoleGate;
use crate::package::machine::{Machine, policy, status, told};
use crate::package::package;
use crate::run::{failure, printed};

/// Number of reads of the state before and after a change.
const STATUS: &str = "dpkg-query --show --showformat \
    Package: ${Package}\\nStatus: ${Status}\\nArchitecture: ${Architecture}\\nVersion: ${Version}\\nProvides: ${Provides}\\n\\n";

#[test]
fn unchanged_packages_need_no_query() {
    let machine =
        Machine::debian(&["zsh installed 5.9-4+b2", "nano config-files 7.2-1", "vim installed 2:9.0-1"]);
    let done = machine.apply(vec![
        package("zsh", &[]),
        package("zsh ", &[]),
        package("vim", &[("ensure", "9.0")]),
        package("vim:amd64", &[("ensure", "2:9.0-1")]),
        package("nano", &[("ensure", "absent")]),
        package("emacs", &[("ensure", "absent"), ("purge", "true")]),
    ]);
    let reasons: Vec<&str> = done.iter().filter_map(|done| done.reason_text()).collect();
    assert_eq!(
        reasons,
        [
            "version 5.9-4+b2 is installed",
            "version 2:9.0-1 is installed",
            "version 2:9.0-1 is installed",
            "it is not installed, only its configuration files are left",
            "it is not installed",
        ]
    );
    assert_eq!(
        told(&done)[1],
        "failed: the properties are not valid: `zsh ` contains ` `, which is not allowed in a package name"
    );
    assert_eq!(machine.ran(), [STATUS]);
}

#[test]
fn status_file_is_read_while_dpkg_is_idle() {
    let mut machine = Machine::debian(&[]);
    machine.files.files.remove(std::path::Path::new("/var/lib/dpkg/updates/0001"));
    let file = FakeFile::of(&status(&["zsh installed 5.9-4"]));
    machine.files.entries.borrow_mut().insert("/var/lib/dpkg/status".into(), file);
    assert_eq!(told(&machine.apply(vec![package("zsh", &[])])), ["unchanged"]);
    assert_eq!(machine.ran(), Vec::<String>::new());
}

#[test]
fn action_has_the_version_before_and_after() {
    let version = |verb, from: Option<&str>, to: Option<&str>| {
        Some(Action::new(verb).changing("version", from.map(str::to_owned), to.map(str::to_owned)))
    };
    for (before, ensure, after, planned, taken) in [
        // What is not queried before a change is known after it.
        (&[][..], "present", "zsh installed 5.9-5", (None, None), (None, Some("5.9-5"))),
        (&[], "latest", "zsh installed 5.9-4", (None, None), (None, Some("5.9-4"))),
        (
            &["zsh installed 5.8-1"],
            "latest",
            "zsh installed 5.9-4",
            (Some("5.8-1"), Some("5.9-4")),
            (Some("5.8-1"), Some("5.9-4")),
        ),
        (
            &["zsh installed 5.9-4"],
            "5.8-1",
            "zsh installed 5.8-1",
            (Some("5.9-4"), Some("5.8-1")),
            (Some("5.9-4"), Some("5.8-1")),
        ),
        (
            &["zsh installed 5.9-4"],
            "absent",
            "zsh config-files 5.9-4",
            (Some("5.9-4"), None),
            (Some("5.9-4"), None),
        ),
    ] {
        let verb = match (before.first().copied(), ensure) {
            (None, _) => Verb::Install,
            (_, "absent") => Verb::Remove,
            (_, "latest") => Verb::Upgrade,
            _ => Verb::Downgrade,
        };
        let machine = Machine::debian(before);
        machine.index(&policy(&["zsh 5.9-4 5.8-1"]));
        machine.becomes(&[after]);
        let one = || vec![package("zsh", &[("ensure", ensure)])];
        assert_eq!(machine.noop(one())[0].action, version(verb, planned.0, planned.1), "{ensure}");
        let applied = machine.apply(one());
        assert_eq!(applied[0].outcome, Outcome::Changed, "{applied:?}");
        assert_eq!(applied[0].action, version(verb, taken.0, taken.1), "{ensure}");
        assert_eq!(machine.apply(one())[0].action, None, "{ensure}");
    }
    // The index is queried for several packages at once.
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["zsh 5.9-4 5.8-1", "nano 7.2-1"]));
    let done = machine.noop(vec![package("zsh", &[]), package("nano", &[("ensure", "latest")])]);
    assert_eq!(done[0].action, version(Verb::Install, None, Some("5.9-4")));
    assert_eq!(done[1].action, version(Verb::Install, None, Some("7.2-1")));
}

#[test]
fn state_follows_the_protocol() {
    let machine = Machine::debian(&["zsh held 1:5.9-4"]);
    let done = machine.apply(vec![package("zsh", &[]), package("nano", &[("ensure", "absent")])]);
    assert_eq!(
        done[0].state.clone().expect("a state"),
        json!({
            "protocol": "io.choria.ccm.v1.resource.package.state",
            "resource_type": "package",
            "name": "zsh",
            "ensure": "1:5.9-4",
            "metadata": {
                "name": "zsh",
                "version": "1:5.9-4",
                "arch": "amd64",
                "provider": "apt",
                "extended": { "status": "installed", "epoch": "1", "held": true, "candidate": null },
            },
        })
    );
    let absent = done[1].state.clone().expect("a state");
    assert_eq!((&absent["ensure"], &absent["metadata"]["version"]), (&json!("absent"), &json!("")));
    assert_eq!(done[0].final_ensure.as_deref(), Some("1:5.9-4"));
}

#[test]
fn noop_reports_changes_and_failures() {
    let machine = Machine::debian(&[
        "zsh installed 5.9-4",
        "vim installed 9.0-1",
        "nano installed 7.2-1",
        "half unpacked 1",
    ]);
    machine.index(&policy(&[
        "zsh 5.9-5 5.9-4 5.8-1",
        "vim 9.0-1",
        "emacs 28-1",
        "ed 1.19-1 1.18-1",
        "virtual",
        "half 1",
    ]));
    machine.provides(&["virtual one"]);
    let done = machine.noop(vec![
        package("zsh", &[("ensure", "latest")]),
        package("vim", &[("ensure", "latest")]),
        package("emacs", &[("ensure", "latest")]),
        package("ed", &[("ensure", "1.18")]),
        package("gone", &[]),
        package("virtual", &[]),
        package("nano", &[("ensure", "absent")]),
        package("half", &[]),
    ]);
    assert_eq!(
        told(&done),
        [
            "Would have upgraded: 5.9-4 to 5.9-5",
            "unchanged",
            "Would have installed: 28-1",
            "Would have installed: 1.18-1",
            "Would have installed",
            "Would have installed",
            "Would have removed: 7.2-1",
            "Would have installed: 1",
        ]
    );
    let warnings: Vec<&String> = done.iter().flat_map(|done| &done.warnings).collect();
    assert_eq!(
        warnings,
        [
            "a run fails unless an earlier resource provides it: package `gone` is not in the index",
            "a run fails unless an earlier resource provides it: `virtual` is a virtual package",
        ]
    );
    assert_eq!(done[0].reason_text(), Some("version 5.9-4 is installed, 5.9-5 is available"));
    assert_eq!(done[7].reason_text(), Some("it is only partially installed (unpacked)"));
    assert_eq!(machine.ran().len(), 4, "{:?}", machine.ran());
}

#[test]
fn mentioned_name_is_not_a_virtual_package() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["ca-certificates", "mta", "many", "zsh 5.9-4"]));
    machine.provides(&["ca-certificates", "mta postfix dma", "many f e d c b a"]);
    let names = ["ca-certificates", "mta", "many"];
    let failed = machine.apply(names.iter().map(|name| package(name, &[])).collect());
    let told: Vec<_> =
        failed.iter().map(|failed| (&failure(failed).chain[..], &failure(failed).hints[..])).collect();
    let chain = |sentence: &str| vec![sentence.to_owned()];
    let virtually = |name: &str| chain(&format!("`{name}` is a virtual package"));
    for (told, expected) in told.into_iter().zip([
        (
            chain("package `ca-certificates` is not in the index"),
            chain("check the name, or refresh an old index with `update_cache: 1d`"),
        ),
        (virtually("mta"), chain("name a package that provides it: dma, postfix")),
        (virtually("many"), chain("name a package that provides it: a, b, c, d, e, and 1 more")),
    ]) {
        assert_eq!(told, (&expected.0[..], &expected.1[..]));
    }
    let asked: Vec<String> = machine.ran().into_iter().filter(|line| line.contains("showpkg")).collect();
    assert_eq!(asked, ["apt-cache showpkg -- ca-certificates many mta"]);

    let machine = Machine::debian(&[]);
    machine.index(&policy(&["zsh 5.9-4"]));
    machine.noop(vec![package("zsh", &[]), package("gone", &[])]);
    assert!(machine.ran().iter().all(|line| !line.contains("showpkg")), "{:?}", machine.ran());
}

#[test]
fn versions_are_installed_upgraded_and_downgraded() {
    let policy = policy(&["zsh 5.9-5 5.9-4 5.8-1"]);
    for (before, desired, after, noop, chosen) in [
        (None, "5.9", "5.9-5", "Would have installed: 5.9", "zsh=5.9-5"),
        (None, "5.8-1", "5.8-1", "Would have installed: 5.8-1", "zsh=5.8-1"),
        (Some("5.8-1"), "5.9-4", "5.9-4", "Would have upgraded: 5.8-1 to 5.9-4", "zsh=5.9-4"),
        (
            Some("5.9-5"),
            "5.8",
            "5.8-1",
            "Would have downgraded: 5.9-5 to 5.8",
            "--allow-downgrades zsh=5.8-1",
        ),
    ] {
        let before: Vec<String> = before.iter().map(|version| format!("zsh installed {version}")).collect();
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        let machine = Machine::debian(&before);
        machine.index(&policy);
        let resource = || vec![package("zsh", &[("ensure", desired)])];
        assert_eq!(told(&machine.noop(resource())), [noop]);
        let machine = Machine::debian(&before);
        machine.index(&policy);
        machine.becomes(&[&format!("zsh installed {after}")]);
        let done = machine.apply(resource());
        assert_eq!(told(&done), ["changed"]);
        assert_eq!(done[0].final_ensure.as_deref(), Some(after));
        let ran: Vec<String> = machine.ran().into_iter().filter(|line| line != STATUS).collect();
        let options = chosen.strip_suffix(chosen.rsplit(' ').next().unwrap_or_default()).unwrap_or_default();
        let target = chosen.rsplit(' ').next().unwrap_or_default();
        let install = format!("apt-get install --no-install-recommends {options}");
        assert_eq!(ran[1], format!("{install}--download-only {target}"));
        assert_eq!(ran[2], format!("{} {target}", install.trim_end()));
    }
}

#[test]
fn neighbours_are_installed_with_one_call() {
    let machine = Machine::debian(&["old installed 1"]);
    machine.index(&policy(&["a 1", "b 2 1", "c 3"]));
    machine.becomes(&["a installed 1", "b installed 1", "c installed 3"]);
    let done = machine.apply(vec![
        package("a", &[]),
        package("b", &[("ensure", "1")]),
        package("c", &[("ensure", "latest")]),
    ]);
    assert_eq!(told(&done), ["changed", "changed", "changed"]);
    assert_eq!(done[0].warnings, ["also removed: old"]);
    assert_eq!(
        machine.ran(),
        [
            STATUS,
            "apt-get indextargets --format $(FILENAME)",
            "apt-cache policy -- a b c dpkg old",
            // Any executed command invalidates the state.
            STATUS,
            "apt-get install --no-install-recommends --download-only a b=1 c=3",
            "apt-get install --no-install-recommends a b=1 c=3",
            STATUS,
            STATUS,
        ]
    );
    let environment = &machine.runner.fake.ran()[5].environment;
    for fixed in
        ["DEBIAN_FRONTEND=noninteractive", "APT_LISTBUGS_FRONTEND=none", "APT_LISTCHANGES_FRONTEND=none"]
    {
        assert!(environment.iter().any(|(name, value)| format!("{name}={value}") == fixed), "{fixed}");
    }
    let whole = &machine.runner.fake.lines()[5];
    assert!(
        whole.contains("-o DPkg::Options::=--force-confdef -o DPkg::Options::=--force-confold -y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 -- a"),
        "{whole}"
    );
}

#[test]
fn different_kinds_of_change_use_separate_calls() {
    let machine = Machine::debian(&["c installed 1", "d installed 1", "e config-files 1"]);
    machine.index(&policy(&["a 1", "b 1"]));
    for packages in [
        &["a installed 1", "c installed 1", "d installed 1", "e config-files 1"][..],
        &["a installed 1", "b installed 1", "c installed 1", "d installed 1", "e config-files 1"],
        &["a installed 1", "b installed 1", "e config-files 1"],
        &["a installed 1", "b installed 1"],
    ] {
        machine.becomes(packages);
    }
    let done = machine.apply(vec![
        package("a", &[]),
        package("b", &[("recommends", "true")]),
        package("c", &[("ensure", "absent")]),
        package("d", &[("ensure", "absent")]),
        package("e", &[("ensure", "absent"), ("purge", "true")]),
    ]);
    assert_eq!(told(&done), ["changed", "changed", "changed", "changed", "changed"]);
    let ran = machine.ran();
    let changes: Vec<&String> =
        ran.iter().filter(|line| line.starts_with("apt-get") && !line.contains("--download-only")).collect();
    assert_eq!(
        changes,
        [
            "apt-get install --no-install-recommends a",
            "apt-get install --install-recommends b",
            "apt-get remove c d",
            "apt-get remove --purge e",
        ]
    );
}

#[test]
fn held_packages_are_not_changed() {
    let machine = Machine::debian(&["zsh held 5.9-4", "vim held 9.0-1"]);
    machine.index(&policy(&["vim 9.1-1 9.0-1", "zsh 5.9-4 5.8-1"]));
    let mut done = machine.apply(vec![package("zsh", &[]), package("vim", &[("ensure", "latest")])]);
    done.extend(machine.apply(vec![package("zsh:amd64", &[("ensure", "absent")])]));
    assert_eq!(
        told(&done),
        [
            "unchanged",
            "failed: `vim` is held by dpkg: version 9.0-1 is installed, 9.1-1 is available",
            "failed: `zsh:amd64` is held by dpkg: version 5.9-4 is installed",
        ]
    );
    assert_eq!(failure(&done[1]).hints, ["release the hold with `apt-mark unhold vim`"]);
    assert!(machine.ran().iter().all(|line| !line.starts_with("apt-get install")), "{:?}", machine.ran());
}

#[test]
fn two_names_of_one_package_may_not_contradict() {
    let undone = |one: &str, other: &str| {
        format!(
            "failed: package#{one} and package#{other} are the same package on this machine and contradict each other"
        )
    };
    let (amd64, all) = (undone("zsh:amd64", "zsh"), undone("zsh:all", "zsh"));
    for (resources, expected) in [
        (vec![("zsh", "present"), ("zsh:amd64", "absent")], vec!["unchanged", &amd64]),
        (vec![("zsh", "5.9"), ("zsh:all", "5.8-1")], vec!["unchanged", &all]),
        (vec![("zsh", "5.9"), ("zsh:amd64", "5.9-4")], vec!["unchanged", "unchanged"]),
        (vec![("zsh", "present"), ("zsh:i386", "absent")], vec!["unchanged", "unchanged"]),
        (vec![("zsh", "present"), ("zsh:amd64", "present")], vec!["unchanged", "unchanged"]),
        (vec![("nano:i386", "absent"), ("nano", "absent")], vec!["unchanged", "unchanged"]),
    ] {
        for noop in [false, true] {
            let machine = Machine::debian(&["zsh installed 5.9-4"]);
            let named =
                || resources.iter().map(|(name, ensure)| package(name, &[("ensure", ensure)])).collect();
            let done = if noop { machine.noop(named()) } else { machine.apply(named()) };
            assert_eq!(told(&done), expected, "{resources:?}");
            let is_one = resources[1].0 == "zsh:amd64" && expected[1] == "unchanged";
            let warning = is_one.then(|| "this is the same package as package#zsh".to_owned());
            assert_eq!(done[1].warnings, warning.into_iter().collect::<Vec<_>>(), "{resources:?}");
            assert!(done[0].warnings.is_empty());
            assert!(machine.ran().iter().all(|line| !line.starts_with("apt-get")), "{:?}", machine.ran());
        }
    }
}
