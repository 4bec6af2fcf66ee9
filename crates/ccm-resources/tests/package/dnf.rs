//! Packages of the Red Hat family, and which of the two tools is taken.

use ccm_host::Exit;
use ccm_testkit::FakeFile;

use crate::machine::{Machine, told};
use crate::package;
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

/// What dnf 4 says of a repository that is not there, and that it was told not to mind.
const IGNORES: &str = "Errors during downloading metadata for repository 'off':\n  \
    - Curl error (6): Couldn't resolve host name for https://mirror.example/repodata/repomd.xml\n\
    Error: Failed to download metadata for repo 'off': Cannot download repomd.xml\nIgnoring repositories: off\n";
const LEFT_OUT: &str =
    "the repository `off` was left out, because it could not be read: Couldn't resolve host name";

#[test]
fn a_repository_that_dnf_ignores_is_told() {
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
    let no_package = format!("failed: there is no package `ed` in the index: {LEFT_OUT}");
    let no_version = format!("failed: there is no version 7 of `nano.x86_64` in the index: {LEFT_OUT}");
    assert_eq!(told(&done), ["stable", "stable", "changed", &no_package, &no_version]);
    let warnings: Vec<&[String]> = done.iter().map(|done| &done.warnings[..]).collect();
    let told_once = &[LEFT_OUT.to_owned()][..];
    assert_eq!(warnings, [told_once, &[], told_once, &[], &[]]);
    assert_eq!(failure(&done[3]).hints, ["it may be in what was left out"]);

    let done = rocky().noop(resources());
    assert_eq!(done[0].warnings, [LEFT_OUT]);
    assert_eq!(done[2].warnings, [LEFT_OUT]);
    let foreseen =
        format!("as things are now it would fail: there is no package `ed` in the index: {LEFT_OUT}");
    assert_eq!(done[3].warnings, [foreseen]);
}

#[test]
fn what_can_not_be_installed_may_need_what_was_left_out() {
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
fn after_a_change_all_that_was_asked_for_is_asked_at_once() {
    let machine = Machine::rocky("a 0 1 1 noarch\nb 0 1 1 noarch\nc 0 1 1 noarch\n");
    machine.index("a 0 2 1 noarch\nb 0 1 1 noarch\nc 0 1 1 noarch\n");
    machine.becomes_as("a 0 2 1 noarch\nb 0 1 1 noarch\nc 0 1 1 noarch\n");
    let latest = |name| package(name, &[("ensure", "latest")]);
    assert_eq!(
        told(&machine.apply(vec![latest("a"), latest("b"), latest("c")])),
        ["changed", "stable", "stable"]
    );
    let ran = machine.runner.fake.lines();
    let asked = ran.iter().filter(|line| line.contains("repoquery")).map(|line| line.ends_with("a b c"));
    assert_eq!(asked.collect::<Vec<_>>(), [true, true]);
}

#[test]
fn dnf_5_is_preferred_and_knows_no_option_of_4() {
    let mut machine = Machine::rocky("bash 0 5.1.8 6.el9 x86_64\n");
    machine.files.files.insert("/usr/bin/dnf5".into());
    machine.index("nano 0 5.6 5.el9 x86_64\n");
    machine.becomes_as("bash 0 5.1.8 6.el9 x86_64\nnano 0 5.6 5.el9 x86_64\n");
    assert_eq!(told(&machine.apply(vec![package("nano", &[("recommends", "true")])])), ["changed"]);
    let ran = machine.runner.fake.lines();
    assert_eq!(
        ran.iter().rev().nth(1).map(String::as_str),
        Some("/usr/bin/dnf5 install --setopt=install_weak_deps=True -y nano")
    );
}

/// What dnf 5 says when it begins to wait.
const WAITS: &str = "Waiting for a lock on the system repository. The following processes are currently accessing it:\n\
    7\tdnf5 upgrade \n";

#[test]
fn dnf_5_is_not_let_wait_for_ever() {
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
        ["had to wait for another program: Waiting for a lock on the system repository; in all it took 3s"]
    );

    let machine = with_dnf5();
    machine.runner.fake.answer_with(line, waits());
    let done = machine.apply(vec![package("nano", &[("lock_timeout", "4s")])]);
    let failed = failure(&done[0]);
    assert_eq!(
        failed.chain,
        [
            "another program still works on the packages after 4s",
            "Waiting for a lock on the system repository"
        ]
    );
    assert_eq!(failed.hints[0], "`lock_timeout` says how long to wait for it");
    assert!(failed.output[0].lines.contains(&"7\tdnf5 upgrade ".to_owned()));
    assert_eq!(machine.runner.fake.lines().iter().filter(|ran| *ran == line).count(), 3);
}

#[test]
fn locked_packages_stay_as_they_are() {
    let machine = Machine::rocky("bash 0 5.1.8 6.el9 x86_64\n");
    let list = FakeFile::of("bash-0:5.1.8-6.el9.*\n");
    machine.files.entries.borrow_mut().insert("/etc/dnf/plugins/versionlock.list".into(), list);
    let done = machine.apply(vec![package("bash", &[]), package("bash.x86_64", &[("ensure", "absent")])]);
    assert_eq!(told(&done)[0], "stable");
    let failed = failure(&done[1]);
    assert_eq!(
        failed.chain,
        ["`bash.x86_64` is held by the plugin versionlock of dnf", "version 5.1.8-6.el9 is installed"]
    );
    assert_eq!(failed.hints, ["`dnf versionlock delete bash` lets it go"]);
}

#[test]
fn two_names_of_one_package_can_not_ask_for_different_things() {
    let undone = |one: &str, other: &str| {
        format!(
            "failed: package#{one} and package#{other} are one package on this machine, and undo each other"
        )
    };
    let (of_machine, foreign) = (undone("bash", "bash.x86_64"), undone("glibc.i686", "glibc"));
    for (resources, expected) in [
        (vec![("bash.x86_64", "present"), ("bash", "absent")], vec!["stable", &of_machine]),
        // Without an architecture none of it is to be there.
        (vec![("glibc", "absent"), ("glibc.i686", "present")], vec!["stable", &foreign]),
        (vec![("bash", "present"), ("bash.i686", "absent")], vec!["stable", "stable"]),
        (vec![("bash", "5.1.8"), ("bash.x86_64", "5.1.8-6.el9")], vec!["stable", "stable"]),
    ] {
        let machine = Machine::rocky("bash 0 5.1.8 6.el9 x86_64\nrpm 0 4.16.1.3 29.el9 x86_64\n");
        let named = resources.iter().map(|(name, ensure)| package(name, &[("ensure", ensure)]));
        assert_eq!(told(&machine.apply(named.collect())), expected, "{resources:?}");
    }
}

#[test]
fn the_tool_whose_machine_it_is_does_the_work() {
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
            "failed: no provider can work on this host: apt: there is no /usr/bin/apt-get: dnf: there is no /usr/bin/dnf",
            "failed: provider `dnf` can't work on this host: there is no /usr/bin/dnf",
        ]
    );
}
