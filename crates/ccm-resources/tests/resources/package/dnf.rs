//! Packages of the Red Hat family, and the choice between the tools.

use ccm_host::Exit;
use ccm_testkit::FakeFile;

use crate::package::machine::{Machine, told};
use crate::package::package;
use crate::run::{failure, printed};

#[test]
fn packages_are_installed_upgraded_downgraded_and_removed() {
    let has = "bash 0 5.1.8 6.el9 x86_64\nvim 2 9.0 1.el9 x86_64\nzsh 0 5.9 1.el9 x86_64\n";
    let machine = Machine::rocky(has);
    machine.index("nano 0 5.6 5.el9 x86_64\nbash 0 5.1.8 6.el9 x86_64\nbash 0 5.1.8 9.el9 x86_64\nglibc 0 2.34 60.el9 i686\n\
         vim 2 8.2 20.el9 x86_64\nvim 2 9.0 1.el9 x86_64\n",
    );
    machine.becomes_as("bash 0 5.1.8 9.el9 x86_64\nglibc 0 2.34 60.el9 i686\nnano 0 5.6 5.el9 x86_64\nvim 2 9.0 1.el9 x86_64\nzsh 0 5.9 1.el9 x86_64\n");
    machine.becomes_as("bash 0 5.1.8 9.el9 x86_64\nglibc 0 2.34 60.el9 i686\nnano 0 5.6 5.el9 x86_64\nvim 2 8.2 20.el9 x86_64\nzsh 0 5.9 1.el9 x86_64\n");
    machine.becomes_as("bash 0 5.1.8 9.el9 x86_64\nglibc 0 2.34 60.el9 i686\nnano 0 5.6 5.el9 x86_64\nvim 2 8.2 20.el9 x86_64\n");
    let resources = || {
        vec![
            package("nano", &[]),
            package("bash", &[("ensure", "latest")]),
            package("glibc.i686", &[("ensure", "2.34-60.el9")]),
            package("vim", &[("ensure", "8.2")]),
            package("zsh", &[("ensure", "absent")]),
        ]
    };
    let done = machine.apply(resources());
    assert_eq!(told(&done), ["changed", "changed", "changed", "changed", "changed"]);
    let ran = machine.runner.fake.lines();
    let changes: Vec<&str> = ran.iter().filter_map(|line| line.strip_prefix("/usr/bin/dnf ")).collect();
    let changes: Vec<&str> = changes.into_iter().filter(|line| !line.starts_with("repoquery")).collect();
    let install = "install --setopt=install_weak_deps=False -y --setopt=exit_on_lock=True";
    let downgrade = "downgrade --setopt=install_weak_deps=False -y --setopt=exit_on_lock=True";
    let targets = "nano bash-0:5.1.8-9.el9 glibc-0:2.34-60.el9.i686";
    assert_eq!(
        changes,
        [
            &format!("{install} -q --downloadonly {targets}"),
            &format!("{install} {targets}"),
            &format!("{downgrade} -q --downloadonly vim-2:8.2-20.el9"),
            &format!("{downgrade} vim-2:8.2-20.el9"),
            "remove --setopt=clean_requirements_on_remove=False -y --setopt=exit_on_lock=True zsh",
        ]
    );
    assert_eq!(done[3].final_ensure.as_deref(), Some("8.2-20.el9"));
    let state = done[3].state.clone().expect("a state");
    assert_eq!(state["metadata"]["extended"]["epoch"], "2");
}

/// Output of dnf 4 for an unreadable repository with `skip_if_unavailable`.
const IGNORES: &str = "Errors during downloading metadata for repository 'off':\n  \
    - Curl error (6): Couldn't resolve host name for https://mirror.example/repodata/repomd.xml\n\
    Error: Failed to download metadata for repo 'off': Cannot download repomd.xml\nIgnoring repositories: off\n";
const LEFT_OUT: &str = "skipped the unreadable repository `off`: Couldn't resolve host name";

#[test]
fn skipped_repository_is_reported() {
    let rocky = || {
        let machine = Machine::rocky("bash 0 5.1.8 6.el9 x86_64\nzsh 0 5.9 1.el9 x86_64\n");
        machine.index("bash 0 5.1.8 6.el9 x86_64\nnano 0 5.6 5.el9 x86_64\n");
        machine.index_warns(IGNORES);
        machine
    };
    let resources = || {
        vec![
            package("bash", &[("ensure", "latest")]),
            package("zsh", &[]),
            package("nano", &[]),
            package("ed", &[]),
            package("nano.x86_64", &[("ensure", "7")]),
        ]
    };
    let machine = rocky();
    machine.becomes_as("bash 0 5.1.8 6.el9 x86_64\nnano 0 5.6 5.el9 x86_64\nzsh 0 5.9 1.el9 x86_64\n");
    let done = machine.apply(resources());
    let no_package = format!("failed: package `ed` is not in the index: {LEFT_OUT}");
    let no_version = format!("failed: version 7 of `nano.x86_64` is not in the index: {LEFT_OUT}");
    assert_eq!(told(&done), ["unchanged", "unchanged", "changed", &no_package, &no_version]);
    let warnings: Vec<&[String]> = done.iter().map(|done| &done.warnings[..]).collect();
    let told_once = &[LEFT_OUT.to_owned()][..];
    assert_eq!(warnings, [told_once, &[], told_once, &[], &[]]);
    assert_eq!(failure(&done[3]).hints, ["check the repositories that could not be read"]);

    let done = rocky().noop(resources());
    assert_eq!(done[0].warnings, [LEFT_OUT]);
    assert_eq!(done[2].warnings, [LEFT_OUT]);
    let foreseen = format!(
        "a run fails unless an earlier resource provides it: package `ed` is not in the index: {LEFT_OUT}"
    );
    assert_eq!(done[3].warnings, [foreseen]);
}

#[test]
fn failed_installation_names_skipped_repositories() {
    let machine = Machine::rocky("");
    machine.index("nano 0 5.6 5.el9 x86_64\n");
    machine.index_warns(IGNORES);
    let problem =
        "Error: \n Problem: conflicting requests\n  - nothing provides lib needed by nano-5.6-5.el9.x86_64\n";
    let options = "-y --setopt=exit_on_lock=True -q --downloadonly nano";
    machine.refuses(&format!("/usr/bin/dnf install --setopt=install_weak_deps=False {options}"), problem);
    let done = machine.apply(vec![package("nano", &[])]);
    assert_eq!(
        failure(&done[0]).chain,
        [
            "dnf --downloadonly failed with exit code 100",
            "conflicting requests",
            "nothing provides lib needed by nano-5.6-5.el9.x86_64",
            LEFT_OUT,
        ]
    );
    assert!(done[0].warnings.is_empty());
}

#[test]
fn after_a_change_all_packages_are_queried_at_once() {
    let machine = Machine::rocky("a 0 1 1 noarch\nb 0 1 1 noarch\nc 0 1 1 noarch\n");
    machine.index("a 0 2 1 noarch\nb 0 1 1 noarch\nc 0 1 1 noarch\n");
    machine.becomes_as("a 0 2 1 noarch\nb 0 1 1 noarch\nc 0 1 1 noarch\n");
    let latest = |name| package(name, &[("ensure", "latest")]);
    assert_eq!(
        told(&machine.apply(vec![latest("a"), latest("b"), latest("c")])),
        ["changed", "unchanged", "unchanged"]
    );
    let ran = machine.runner.fake.lines();
    let asked = ran.iter().filter(|line| line.contains("repoquery")).map(|line| line.ends_with("a b c"));
    assert_eq!(asked.collect::<Vec<_>>(), [true, true]);
}

#[test]
fn dnf_5_is_preferred_and_gets_no_options_of_dnf_4() {
    let mut machine = Machine::rocky("bash 0 5.1.8 6.el9 x86_64\n");
    machine.files.files.insert("/usr/bin/dnf5".into());
    machine.index("nano 0 5.6 5.el9 x86_64\n");
    machine.becomes_as("bash 0 5.1.8 6.el9 x86_64\nnano 0 5.6 5.el9 x86_64\n");
    assert_eq!(told(&machine.apply(vec![package("nano", &[("recommends", "true")])])), ["changed"]);
    let line = "/usr/bin/dnf5 install --setopt=install_weak_deps=True -y nano";
    let ran = machine.runner.fake.lines();
    assert!(ran.iter().any(|ran| ran == line), "{ran:?}");
}

/// Line that dnf 5 prints when it starts to wait.
const WAITS: &str = "Waiting for a lock on the system repository. The following processes are currently accessing it:\n\
    7\tdnf5 upgrade \n";

#[test]
fn dnf_5_does_not_wait_forever() {
    let with_dnf5 = || {
        let mut machine = Machine::rocky("");
        machine.files.files.insert("/usr/bin/dnf5".into());
        machine.index("nano 0 5.6 5.el9 x86_64\n");
        machine
    };
    let line = "/usr/bin/dnf5 install --setopt=install_weak_deps=False -y --downloadonly nano";
    let waits = || printed(Exit::Cancelled, "", WAITS);
    let machine = with_dnf5();
    machine.runner.fake.answer_with(line, waits());
    machine.runner.fake.answer(line, 0);
    machine.becomes_as("nano 0 5.6 5.el9 x86_64\n");
    let done = machine.apply(vec![package("nano", &[])]);
    assert_eq!(told(&done), ["changed"]);
    assert_eq!(
        done[0].warnings,
        [
            "waited for another program: Waiting for a lock on the system repository; the command took 3s in total"
        ]
    );

    let machine = with_dnf5();
    machine.runner.fake.answer_with(line, waits());
    let done = machine.apply(vec![package("nano", &[("lock_timeout", "4s")])]);
    let failed = failure(&done[0]);
    assert_eq!(
        failed.chain,
        [
            "another program is still changing packages after 4s",
            "Waiting for a lock on the system repository"
        ]
    );
    assert_eq!(failed.hints[0], "raise `lock_timeout` to wait longer");
    assert!(failed.output[0].lines.contains(&"7\tdnf5 upgrade ".to_owned()));
    assert_eq!(machine.runner.fake.lines().iter().filter(|ran| *ran == line).count(), 3);
}

#[test]
fn locked_packages_are_not_changed() {
    let machine = Machine::rocky("bash 0 5.1.8 6.el9 x86_64\n");
    let list = FakeFile::of("bash-0:5.1.8-6.el9.*\n");
    machine.files.entries.borrow_mut().insert("/etc/dnf/plugins/versionlock.list".into(), list);
    let done = machine.apply(vec![package("bash", &[]), package("bash.x86_64", &[("ensure", "absent")])]);
    assert_eq!(told(&done)[0], "unchanged");
    let failed = failure(&done[1]);
    assert_eq!(
        failed.chain,
        ["`bash.x86_64` is held by the plugin versionlock of dnf", "version 5.1.8-6.el9 is installed"]
    );
    assert_eq!(failed.hints, ["release the lock with `dnf versionlock delete bash`"]);
}

#[test]
fn two_names_of_one_package_may_not_contradict() {
    let undone = |one: &str, other: &str| {
        format!(
            "failed: package#{one} and package#{other} are the same package on this machine and contradict each other"
        )
    };
    let (of_machine, foreign) = (undone("bash", "bash.x86_64"), undone("glibc.i686", "glibc"));
    for (resources, expected) in [
        (vec![("bash.x86_64", "present"), ("bash", "absent")], vec!["unchanged", &of_machine]),
        // A name without architecture stands for all of them.
        (vec![("glibc", "absent"), ("glibc.i686", "present")], vec!["unchanged", &foreign]),
        (vec![("bash", "present"), ("bash.i686", "absent")], vec!["unchanged", "unchanged"]),
        (vec![("bash", "5.1.8"), ("bash.x86_64", "5.1.8-6.el9")], vec!["unchanged", "unchanged"]),
    ] {
        let machine = Machine::rocky("bash 0 5.1.8 6.el9 x86_64\nrpm 0 4.16.1.3 29.el9 x86_64\n");
        let named = resources.iter().map(|(name, ensure)| package(name, &[("ensure", ensure)]));
        assert_eq!(told(&machine.apply(named.collect())), expected, "{resources:?}");
    }
}

#[test]
fn tool_of_the_distribution_is_used() {
    let all = ["/usr/bin/apt-get", "/usr/bin/dpkg", "/usr/bin/dnf", "/usr/bin/rpm"];
    for (programs, os, expected) in [
        (&all[..], "ID=debian\n", Some("apt")),
        (&all[..], "NAME=x\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", Some("apt")),
        (&all[..], "ID=fedora\n", Some("dnf")),
        (&all[..], "ID='almalinux'\nID_LIKE='rhel centos fedora'\n", Some("dnf")),
        (&all[..], "ID=unheard-of\n", Some("apt")),
        (&all[..2], "ID=fedora\n", Some("apt")),
        (&all[2..], "ID=debian\n", Some("dnf")),
        (&all[..1], "ID=debian\n", None),
        (&all[2..3], "ID=fedora\n", None),
        (&[], "ID=alpine\n", None),
    ] {
        let mut machine = Machine::debian(&[]);
        machine.files.files.clear();
        machine.files.files.extend(programs.iter().map(Into::into));
        machine.files.entries.borrow_mut().insert("/etc/os-release".into(), FakeFile::of(os));
        let done = machine.noop(vec![package("zsh", &[("ensure", "absent")])]);
        assert_eq!(done[0].provider.as_deref(), expected, "{programs:?} {os}");
    }
    let mut machine = Machine::debian(&[]);
    machine.files.files.clear();
    let done = machine.noop(vec![package("zsh", &[]), package("zsh", &[("provider", "dnf")])]);
    assert_eq!(
        told(&done),
        [
            "failed: no provider can work on this host: apt: /usr/bin/apt-get does not exist: dnf: /usr/bin/dnf does not exist: pacman: /usr/bin/pacman does not exist",
            "failed: provider `dnf` can't work on this host: /usr/bin/dnf does not exist",
        ]
    );
}

#[test]
fn packages_of_dnf_that_exclude_each_other_fail_and_are_named() {
    let [a, b] = ["mta-a 0 1 1 noarch\n", "mta-b 0 1 1 noarch\n"];
    let both = |one: &str, other: &str| {
        format!("failed: the change of `{one}` removed `{other}`, which the manifest wants")
    };
    // Each declares the other obsolete: packages before, after each change, and what is told of the two.
    for (before, after, expected) in [
        (b, &[a, b][..], [both("mta-a", "mta-b"), both("mta-b", "mta-a")]),
        (a, &[b], ["unchanged".to_owned(), both("mta-b", "mta-a")]),
    ] {
        let machine = Machine::rocky(before);
        machine.index(&format!("{a}{b}"));
        for packages in after {
            machine.becomes_as(packages);
        }
        let done = machine.apply(vec![package("mta-a", &[]), package("mta-b", &[])]);
        assert_eq!(told(&done), expected, "{before:?}");
        assert!(failure(&done[1]).changed);
        let hint = "remove one of the packages from the manifest: they exclude each other";
        assert_eq!(failure(&done[1]).hints, [hint]);
    }
    // A package that the manifest does not want is reported.
    let machine = Machine::rocky(b);
    machine.index(a);
    machine.becomes_as(a);
    let done = machine.apply(vec![package("mta-a", &[])]);
    assert_eq!(
        (told(&done), &done[0].warnings),
        (vec!["changed".to_owned()], &vec!["also removed: mta-b".to_owned()])
    );
    // dnf refuses packages that conflict.
    let machine = Machine::rocky(b);
    machine.index(a);
    let problem = "Error: \n Problem: problem with installed package mta-b-1-1.noarch\n  \
        - package mta-a-1-1.noarch conflicts with my-mta provided by mta-b-1-1.noarch\n";
    let options = "-y --setopt=exit_on_lock=True -q --downloadonly mta-a";
    machine.refuses(&format!("/usr/bin/dnf install --setopt=install_weak_deps=False {options}"), problem);
    let done = machine.apply(vec![package("mta-a", &[]), package("mta-b", &[])]);
    let reason = "package mta-a-1-1.noarch conflicts with my-mta provided by mta-b-1-1.noarch";
    assert_eq!((told(&done)[1].as_str(), failure(&done[0]).chain[2].as_str()), ("unchanged", reason));
    assert!(!failure(&done[0]).changed);
}
