//! Names that are not those of packages, but provided by installed ones.

use ccm_model::{Resource, Transaction};

use crate::build::resource;
use crate::package::machine::{Machine, policy, told};
use crate::package::package;
use crate::run::failure;

const EXIM: &str = "exim4-daemon-light installed 4.96 mail-transport-agent,exim4-localscanapi-4.2(=1)";

fn absent(name: &str) -> Resource {
    package(name, &[("ensure", "absent")])
}

/// Runs in noop and for real, with the same results.
fn in_both(machine: &Machine, resources: &dyn Fn() -> Vec<Resource>) -> [Vec<Transaction>; 2] {
    [machine.noop(resources()), machine.apply(resources())]
}

fn assert_nothing_ran(machine: &Machine) {
    let changes =
        ["apt-get install", "apt-get remove", "dnf remove", "dnf install", "pacman -R ", "pacman -S "];
    let ran = machine.ran();
    assert!(ran.iter().all(|line| !changes.iter().any(|change| line.starts_with(change))), "{ran:?}");
}

#[test]
fn virtual_package_of_apt_is_not_removed_in_silence() {
    let machine = Machine::debian(&[EXIM, "zsh installed 5.9"]);
    machine.index(&policy(&["mail-transport-agent"]));
    machine.provides(&["mail-transport-agent exim4-daemon-light postfix"]);
    for done in in_both(&machine, &|| {
        vec![absent("mail-transport-agent"), absent("nosuch"), absent("exim4-localscanapi-4.2")]
    }) {
        let sentence = |name: &str| {
            format!(
                "failed: `{name}` is a virtual package, which is provided by the installed `exim4-daemon-light`"
            )
        };
        // The last name is not even in the index.
        assert_eq!(
            told(&done),
            [sentence("mail-transport-agent"), "unchanged".to_owned(), sentence("exim4-localscanapi-4.2")]
        );
        let hint = "write `exim4-daemon-light: {ensure: absent}` to remove that package";
        assert_eq!(failure(&done[0]).hints, [hint]);
    }
    assert_nothing_ran(&machine);
}

#[test]
fn package_that_another_one_provides_is_absent_with_a_warning() {
    // As with the packages of Docker and those of Debian.
    let installed = &["containerd.io installed 1.7 containerd,runc", "runc:i386 config-files 1"][..];
    let machine = Machine::debian(installed);
    machine.index(&policy(&["containerd 1.6", "runc 1.1", "containerd.io 1.7"]));
    for done in in_both(&machine, &|| vec![absent("containerd"), absent("runc")]) {
        assert_eq!(told(&done), ["unchanged", "unchanged"]);
        let warning = "`containerd` is not installed, but provided by the installed `containerd.io`: \
            name that package to remove it";
        assert_eq!(done[0].warnings, [warning]);
        assert_eq!(done[1].warnings.len(), 1);
    }
    // The manifest wants what provides the name, or removes it.
    let machine = Machine::debian(installed);
    machine.index(&policy(&["containerd 1.6", "containerd.io 1.7"]));
    for done in in_both(&machine, &|| vec![absent("containerd"), package("containerd.io", &[])]) {
        assert_eq!(told(&done), ["unchanged", "unchanged"]);
        assert_eq!(done[0].warnings, Vec::<String>::new());
    }
    let machine = Machine::debian(&[EXIM]);
    machine.index(&policy(&["mail-transport-agent"]));
    machine.becomes(&[]);
    let done = machine.noop(vec![absent("mail-transport-agent"), absent("exim4-daemon-light")]);
    assert_eq!(told(&done)[0], "unchanged");
    let done = machine.apply(vec![absent("mail-transport-agent"), absent("exim4-daemon-light")]);
    assert_eq!(told(&done), ["unchanged", "changed"]);
    // A virtual name of what the manifest wants.
    let machine = Machine::debian(&[EXIM]);
    machine.index(&policy(&["mail-transport-agent"]));
    let done = machine.apply(vec![absent("mail-transport-agent"), package("exim4-daemon-light", &[])]);
    let hint = "remove one of the resources: the manifest wants what provides it";
    assert_eq!(failure(&done[0]).hints, [hint]);
}

#[test]
fn virtual_package_of_apt_is_not_installed() {
    let machine = Machine::debian(&[EXIM]);
    machine.index(&policy(&["mail-transport-agent"]));
    machine.provides(&["mail-transport-agent exim4-daemon-light postfix"]);
    let ensures = ["present", "latest", "4.96"];
    for ensure in ensures {
        let done = machine.apply(vec![package("mail-transport-agent", &[("ensure", ensure)])]);
        let sentence = "`mail-transport-agent` is a virtual package, which is provided by the installed `exim4-daemon-light`";
        assert_eq!(failure(&done[0]).chain, [sentence], "{ensure}");
        assert_eq!(failure(&done[0]).hints, ["name the package: exim4-daemon-light"]);
    }
    assert_nothing_ran(&machine);
}

/// Output of rpm for two names, one of which is provided.
const OF_RPM: &str = "no package provides nosuch\n= postfix postfix postfix(x86-64) server(smtp) MTA\n= sendmail sendmail MTA config(sendmail)\n";

#[test]
fn virtual_package_of_dnf_is_named_with_its_providers() {
    let rocky = || {
        let machine = Machine::rocky("postfix 2 3.5.9 24.el9 x86_64\nsendmail 0 8.16 1.el9 x86_64\n");
        machine.index("zsh 0 5.9 1.el9 x86_64\n");
        machine.rpm_provides(OF_RPM);
        machine
    };
    let machine = rocky();
    for done in in_both(&machine, &|| vec![absent("MTA"), absent("nosuch"), absent("postfix.i686")]) {
        assert_eq!(
            told(&done),
            [
                "failed: `MTA` is a virtual package, which is provided by the installed `postfix` and `sendmail`",
                "unchanged",
                "unchanged",
            ]
        );
        assert_eq!(failure(&done[0]).hints, ["write each package to remove: postfix, sendmail"]);
    }
    assert_nothing_ran(&machine);
    // What is not installed is found in the index.
    let machine = Machine::rocky("zsh 0 5.9 1.el9 x86_64\n");
    machine.rpm_provides("no package provides MTA\n");
    machine.finds_providers("postfix 2 3.5.9 24.el9 x86_64\nesmtp 0 1.2 19.el9 x86_64\n", "");
    let done = machine.apply(vec![package("MTA", &[])]);
    assert_eq!(told(&done), ["failed: `MTA` is a virtual package"]);
    assert_eq!(failure(&done[0]).hints, ["name a package that provides it: esmtp, postfix"]);
    machine.finds_providers("", "");
    let done = machine.apply(vec![package("MTB", &[])]);
    assert_eq!(told(&done), ["failed: package `MTB` is not in the index"]);
}

/// Details of packages that pacman prints; a long list goes on in the next line.
const OF_PACMAN: &str = "Name            : postfix\nVersion         : 3.9-1\nProvides        : smtp-server=3.9  smtp-forwarder\n                  mta\n\
    Depends On      : other\n\nName            : opensmtpd\nProvides        : smtp-server\nRequired By     : mta\n\nName            : talk\nProvides        : None\n\n";

#[test]
fn virtual_package_of_pacman_is_named_with_its_providers() {
    let arch = || {
        let machine = Machine::arch("postfix 3.9-1\nopensmtpd 7.5-1\ntalk 1-1\n");
        let found = "local/opensmtpd 7.5-1\n    x\nlocal/postfix 3.9-1\n    x\nlocal/talk 1-1\n    mta\n";
        machine.finds_providers(found, OF_PACMAN);
        machine
    };
    let machine = arch();
    for done in in_both(&machine, &|| vec![absent("mta"), absent("smtp-server"), absent("nosuch")]) {
        let sentence = |name: &str, by: &str| {
            format!("failed: `{name}` is a virtual package, which is provided by the installed {by}")
        };
        assert_eq!(
            told(&done),
            [
                sentence("mta", "`postfix`"),
                sentence("smtp-server", "`opensmtpd` and `postfix`"),
                "unchanged".to_owned(),
            ]
        );
    }
    assert_nothing_ran(&machine);
    // Not installed: the search in the index finds what provides the name.
    let machine = Machine::arch("zsh 5.9-1\n");
    machine
        .index("extra/opensmtpd 7.5-1\n    x\nextra/postfix 3.9-1\n    x\nextra/talk 1-1\n    smtp-server\n");
    machine.finds_providers("", OF_PACMAN);
    let done = machine.apply(vec![package("smtp-server", &[])]);
    assert_eq!(told(&done), ["failed: `smtp-server` is a virtual package"]);
    assert_eq!(failure(&done[0]).hints, ["name a package that provides it: opensmtpd, postfix"]);
}

#[test]
fn virtual_package_is_not_held() {
    let postfix = "postfix held 3.7 mail-transport-agent,default-mta";
    let hold = |ensure| resource("package_hold", "mail-transport-agent", &[("ensure", ensure)]);
    for noop in [false, true] {
        let machine = Machine::debian(&[postfix]);
        let run = |resource| if noop { machine.noop(vec![resource]) } else { machine.apply(vec![resource]) };
        let done = run(hold("present"));
        let sentence = "`mail-transport-agent` is not installed, but provided by the installed `postfix`";
        assert_eq!(failure(&done[0]).chain, [sentence]);
        assert_eq!(failure(&done[0]).hints, ["name that package to hold it"]);
        let done = run(hold("absent"));
        assert_eq!(told(&done), ["unchanged"]);
        let warning = "`mail-transport-agent` is not installed, but provided by `postfix`, which is held: \
            name that package to release it";
        assert_eq!(done[0].warnings, [warning]);
    }
    let machine = Machine::rocky("postfix 2 3.5.9 24.el9 x86_64\n");
    machine.rpm_provides("= postfix MTA\n");
    let done = machine.apply(vec![resource("package_hold", "MTA", &[])]);
    assert_eq!(failure(&done[0]).chain, ["`MTA` is not installed, but provided by the installed `postfix`"]);
}
