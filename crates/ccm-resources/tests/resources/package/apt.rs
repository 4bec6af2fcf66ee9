//! Packages of Debian: reading, queries, changes and reports.

mod interrupted;

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
    Package: ${Package}\\nStatus: ${Status}\\nArchitecture: ${Architecture}\\nVersion: ${Version}\\n\\n";

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
            "a run would fail now: package `gone` is not in the index",
            "a run would fail now: `virtual` is a virtual package",
        ]
    );
    assert_eq!(done[0].reason_text(), Some("version 5.9-4 is installed, 5.9-5 is available"));
    assert_eq!(done[7].reason_text(), Some("it is only partially installed (unpacked)"));
    assert_eq!(machine.ran().len(), 3, "{:?}", machine.ran());
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
            "apt-cache policy -- a b c dpkg old",
            // Any executed command invalidates the state.
            STATUS,
            "apt-get install --no-install-recommends --download-only a b=1 c=3",
            "apt-get install --no-install-recommends a b=1 c=3",
            STATUS,
            STATUS,
        ]
    );
    let environment = &machine.runner.fake.ran()[4].environment;
    for fixed in
        ["DEBIAN_FRONTEND=noninteractive", "APT_LISTBUGS_FRONTEND=none", "APT_LISTCHANGES_FRONTEND=none"]
    {
        assert!(environment.iter().any(|(name, value)| format!("{name}={value}") == fixed), "{fixed}");
    }
    let whole = &machine.runner.fake.lines()[4];
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
    assert!(machine.ran().iter().all(|line| !line.starts_with("apt-get")), "{:?}", machine.ran());
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

#[test]
fn held_lock_is_waited_for() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.becomes(&["a installed 1"]);
    let line = "/usr/bin/apt-get install --no-install-recommends -o DPkg::Options::=--force-confdef -o \
                DPkg::Options::=--force-confold --download-only -y -q -o Dpkg::Use-Pty=0 -o \
                DPkg::Lock::Timeout=0 -- a";
    let held = "E: Could not get lock /var/cache/apt/archives/lock. It is held by process 7 (apt-get)\n";
    machine.refuses(line, held);
    machine.refuses(line, held);
    machine.runner.fake.answer(line, 0);
    let done = machine.apply(vec![package("a", &[])]);
    assert_eq!(told(&done), ["changed"]);
    assert_eq!(
        done[0].warnings,
        [
            "waited for another program: Could not get lock /var/cache/apt/archives/lock. It is held by process 7 \
          (apt-get); the command took 6s in total"
        ]
    );

    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.refuses(line, held);
    let done = machine.apply(vec![package("a", &[("lock_timeout", "4s")])]);
    let failed = failure(&done[0]);
    assert_eq!(failed.chain[0], "another program is still changing packages after 4s");
    assert!(failed.hints.contains(&"raise `lock_timeout` to wait longer".to_owned()));
    assert_eq!(machine.ran().iter().filter(|line| line.contains("--download-only")).count(), 3);
}

#[test]
fn change_refused_by_a_lock_changed_nothing() {
    let held = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt-get)\n\
                E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n";
    // apt started, and its dpkg was refused the lock.
    let inside = "dpkg: error: dpkg database lock was locked by another process with pid 7\n\
                  E: Sub-process /usr/bin/dpkg returned an error code (2)\n";
    let line = "/usr/bin/apt-get remove -y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 -- a";
    for (stderr, after, changed) in [
        (held, "a installed 1", false),
        // The exit code alone proves nothing.
        (held, "a half-configured 1", true),
        (inside, "a installed 1", true),
        ("E: it breaks\n", "a installed 1", true),
    ] {
        let machine = Machine::debian(&["a installed 1"]);
        machine.becomes(&[after]);
        machine.refuses(line, stderr);
        let done = machine.apply(vec![package("a", &[("ensure", "absent"), ("lock_timeout", "0")])]);
        assert_eq!(failure(&done[0]).changed, changed, "{stderr} {after}");
    }
}

#[test]
fn daemon_started_by_a_package_is_noted() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.becomes(&["a installed 1"]);
    let mut finished = printed(Exit::Code(0), "", "");
    finished.left_running.push(ccm_host::Process::new(7, "nginx"));
    let line = "/usr/bin/apt-get install --no-install-recommends -o DPkg::Options::=--force-confdef -o \
                DPkg::Options::=--force-confold -y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 -- a";
    machine.runner.fake.answer_with(line, finished);
    let done = machine.apply(vec![package("a", &[])]);
    assert_eq!(
        (done[0].outcome.clone(), &done[0].notes[..]),
        (Outcome::Changed, &["left running: 7 nginx".to_owned()][..])
    );
}

#[test]
fn longest_timeout_counts_for_a_common_call() {
    let seconds = |limits: &[&str]| {
        let machine = Machine::debian(&[]);
        machine.becomes(&["a installed 1", "b installed 1"]);
        machine.index(&policy(&["a 1", "b 1"]));
        let names = ["a", "b"].into_iter().zip(limits);
        let limited = names.map(|(name, limit)| match *limit {
            "" => package(name, &[("lock_timeout", "1s")]),
            limit => package(name, &[("lock_timeout", "1s"), ("timeout", limit)]),
        });
        assert!(told(&machine.apply(limited.collect())).iter().all(|told| told == "changed"));
        let ran = machine.runner.fake.ran();
        let install = ran.iter().rfind(|command| command.args.first().is_some_and(|verb| verb == "install"));
        install.expect("an installation").timeout.map(|timeout| timeout.as_secs())
    };
    for (limits, expected) in [
        (&["", ""][..], Some(3600)),
        (&["10m", "20m"], Some(1200)),
        (&["10m", ""], Some(3600)),
        (&["10m", "0"], None),
        (&["10m"], Some(600)),
    ] {
        assert_eq!(seconds(limits), expected, "{limits:?}");
    }
}

#[test]
fn a_gate_tells_questions_from_changes_and_stays_in_the_failure() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["zsh - 5.9-4"]));
    let executor = LocalExecutor::new(&machine.runner, &machine.runner.fake, &machine.files);
    let host = Host {
        executor: &executor,
        system: &machine.runner.fake,
        files: &machine.files,
        clock: &machine.clock,
    };
    let gate = RoleGate::denying(Role::Tool);
    let done = gate.run(vec![package("zsh", &[])], false, host).pop().expect("a transaction");
    let asked = gate.questions();
    assert_eq!(asked.first().map(String::as_str), Some("Query: ccm /usr/bin/dpkg-query"), "{asked:?}");
    assert_eq!(asked.last().map(String::as_str), Some("Tool: ccm /usr/bin/apt-get"), "{asked:?}");
    assert_eq!(asked.iter().filter(|asked| asked.starts_with("change: ")).count(), 1);
    assert_eq!((failure(&done).kind, failure(&done).changed), (FailureKind::Denied, false));
    let gate = RoleGate::denying(Role::Query);
    let done = gate.run(vec![package("zsh", &[])], false, host).pop().expect("a transaction");
    assert_eq!(failure(&done).kind, FailureKind::Denied);
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
