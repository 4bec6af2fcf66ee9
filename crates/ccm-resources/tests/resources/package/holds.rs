//! Holds of packages, and the index after a change of repositories.

use ccm_model::Transaction;
use ccm_testkit::FakeFile;

use crate::build::resource;
use crate::package::machine::{LOCKS, Machine, policy, told};
use crate::run::failure;

#[test]
fn package_is_held_and_released() {
    let machine = Machine::debian(&["zsh installed 5.9"]);
    machine.becomes(&["zsh held 5.9"]);
    let hold = || vec![resource("package_hold", "zsh", &[])];
    assert!(format!("{:?}", machine.noop(hold())[0].outcome).contains("Would have created"));
    assert!(machine.apply(hold())[0].outcome.is_change());
    assert!(machine.ran().contains(&"apt-mark hold -- zsh".to_owned()));
    assert!(!machine.apply(hold())[0].outcome.is_change());
    machine.becomes(&["zsh installed 5.9"]);
    let release = || vec![resource("package_hold", "zsh", &[("ensure", "absent")])];
    assert!(machine.apply(release())[0].outcome.is_change());
    assert!(machine.ran().contains(&"apt-mark unhold -- zsh".to_owned()));
    let missing = machine.apply(vec![resource("package_hold", "nosuch", &[])]);
    assert_eq!(
        failure(&missing[0]).chain[0],
        "package `nosuch` is not installed, so it has no version to keep"
    );
}

#[test]
fn package_of_dnf_is_locked() {
    let machine = Machine::rocky("zsh 0 5.9 1.el9 x86_64\n");
    let hold = |ensure| vec![resource("package_hold", "zsh", &[("ensure", ensure)])];
    for expected in ["changed", "unchanged"] {
        assert_eq!(told(&machine.apply(hold("present"))), [expected]);
    }
    assert!(machine.ran().contains(&"dnf versionlock add zsh".to_owned()));
    for expected in ["changed", "unchanged"] {
        assert_eq!(told(&machine.apply(hold("absent"))), [expected]);
    }
}

#[test]
fn hold_is_released_and_the_version_changed_in_one_run() {
    let hold = || resource("package_hold", "zsh", &[("ensure", "absent")]);
    let package = |ensure| resource("package", "zsh", &[("ensure", ensure)]);
    let announced = |done: &[Transaction]| {
        let told = told(done);
        assert_eq!(told[0], "Would have removed");
        assert!(format!("{:?}", done[1].outcome).contains("not known before package_hold#zsh"), "{told:?}");
    };
    for ensure in ["latest", "6.0", "5.8", "absent"] {
        let after = match ensure {
            "latest" => "6.0",
            other => other,
        };
        let machine = Machine::debian(&["zsh held 5.9"]);
        machine.index(&policy(&["zsh 6.0 5.9 5.8"]));
        announced(&machine.noop(vec![hold(), package(ensure)]));
        machine.becomes(&["zsh installed 5.9"]);
        let changed = format!("zsh installed {after}");
        let changed = [&*changed];
        machine.becomes(if ensure == "absent" { &[] } else { &changed });
        assert_eq!(told(&machine.apply(vec![hold(), package(ensure)])), ["changed", "changed"], "{ensure}");
        assert_eq!(
            told(&machine.apply(vec![hold(), package(ensure)])),
            ["unchanged", "unchanged"],
            "{ensure}"
        );

        // Only the change of the package changes the database of rpm.
        let machine = Machine::rocky("zsh 0 5.9 1.el9 x86_64\n");
        machine.index("zsh 0 6.0 1.el9 x86_64\nzsh 0 5.9 1.el9 x86_64\nzsh 0 5.8 1.el9 x86_64\n");
        machine.files.entries.borrow_mut().insert(LOCKS.into(), FakeFile::of("zsh-0:5.9-1.el9.*\n"));
        announced(&machine.noop(vec![hold(), package(ensure)]));
        machine.becomes_as("zsh 0 5.9 1.el9 x86_64\n");
        let changed = format!("zsh 0 {after} 1.el9 x86_64\n");
        machine.becomes_as(if ensure == "absent" { "" } else { &changed });
        assert_eq!(told(&machine.apply(vec![hold(), package(ensure)])), ["changed", "changed"], "{ensure}");
        assert_eq!(
            told(&machine.apply(vec![hold(), package(ensure)])),
            ["unchanged", "unchanged"],
            "{ensure}"
        );
    }
    // A lock limits the versions of a package that is not installed as well.
    let machine = Machine::rocky("bash 0 5 1.el9 x86_64\n");
    machine.index("zsh 0 6.0 1.el9 x86_64\n");
    machine.files.entries.borrow_mut().insert(LOCKS.into(), FakeFile::of("zsh-0:5.9-1.el9.*\n"));
    machine.becomes_as("bash 0 5 1.el9 x86_64\n");
    machine.becomes_as("bash 0 5 1.el9 x86_64\nzsh 0 6.0 1.el9 x86_64\n");
    assert_eq!(told(&machine.apply(vec![hold(), package("6.0")])), ["changed", "changed"]);
    assert!(!machine.files.entries.borrow().contains_key(std::path::Path::new(LOCKS)));
}

#[test]
fn index_is_refreshed_once_after_a_change_of_repositories() {
    let machine = Machine::debian(&[]);
    machine.files.entries.borrow_mut().insert("/state/outdated-apt".into(), FakeFile::of(""));
    machine.index(&policy(&[]));
    machine.index_becomes(&policy(&["zsh 5.9", "vim 9.0"]));
    machine.becomes(&[]);
    machine.becomes(&["zsh installed 5.9", "vim installed 9.0"]);
    machine.apply(vec![resource("package", "zsh", &[]), resource("package", "vim", &[])]);
    let updates = machine.ran().into_iter().filter(|line| line.starts_with("apt-get update")).count();
    assert_eq!(updates, 1);
    assert!(!machine.files.entries.borrow().contains_key(std::path::Path::new("/state/outdated-apt")));
}

#[test]
fn noop_does_not_fail_on_what_an_earlier_resource_changes() {
    let hold = |ensure| resource("package_hold", "zsh", &[("ensure", ensure)]);
    let package = |ensure| resource("package", "zsh", &[("ensure", ensure)]);
    let installed = &["zsh installed 5.9"][..];
    let kept = &["zsh held 5.9"][..];
    for (first, resources, alone) in [
        (&[][..], [package("present"), hold("present")], "package `zsh` is not installed"),
        (kept, [hold("absent"), package("absent")], "`zsh` is held by dpkg"),
        (kept, [hold("absent"), package("latest")], "`zsh` is held by dpkg"),
        (kept, [hold("absent"), package("6.0")], "`zsh` is held by dpkg"),
    ] {
        let machine = || {
            let machine = Machine::debian(first);
            machine.index(&policy(&["zsh 6.0 5.9"]));
            machine
        };
        let [before, after] = resources;
        let told = format!("{:?}", machine().noop(vec![before.clone(), after.clone()])[1].outcome);
        assert!(told.contains(&format!("not known before {}", before.id)), "{told}");
        // Nothing else prevents the failure.
        let told = machine().noop(vec![after]);
        assert!(failure(&told[0]).chain.join(": ").contains(alone), "{told:?}");
    }
    let machine = Machine::debian(installed);
    let told = format!("{:?}", machine.noop(vec![package("absent"), hold("absent")])[1].outcome);
    assert_eq!(told, "Unchanged");
}

#[test]
fn holds_of_one_package_under_two_names_do_not_contradict_each_other() {
    let hold = |name, ensure| resource("package_hold", name, &[("ensure", ensure)]);
    let machines = || {
        let rocky = Machine::rocky("zsh 0 5.9 1.el9 x86_64\n");
        rocky.files.entries.borrow_mut().insert(LOCKS.into(), FakeFile::of("zsh-0:5.9-1.el9.*\n"));
        [(Machine::debian(&["zsh held 5.9"]), "zsh:amd64"), (rocky, "zsh.x86_64")]
    };
    for (machine, other) in machines() {
        assert_eq!(
            told(&machine.apply(vec![hold("zsh", "present"), hold(other, "present")])),
            ["unchanged"; 2]
        );
        for [first, second] in [["zsh", other], [other, "zsh"]] {
            let ran = machine.apply(vec![hold(first, "present"), hold(second, "absent")]);
            assert_eq!(told(&ran)[0], "unchanged");
            let expected = format!(
                "package_hold#{second} and package_hold#{first} are the hold of one package on this machine and contradict each other"
            );
            assert_eq!(failure(&ran[1]).chain.last(), Some(&expected));
        }
    }
    let machine = Machine::debian(&["zsh held 5.9"]);
    let ran = machine.noop(vec![hold("zsh", "absent"), hold("zsh:i386", "present")]);
    assert!(!failure(&ran[1]).chain.join(": ").contains("contradict"), "{ran:?}");
}
