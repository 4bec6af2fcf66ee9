//! When systemd is made to read its unit files again.

use ccm_model::Outcome;

use crate::machine::Machine;
use crate::run::failure;
use crate::service;

#[test]
fn changed_unit_files_are_read_before_a_start() {
    let machine = Machine::new();
    machine.has("inactive dead", &["NeedDaemonReload=yes"]);
    machine.has("inactive dead", &[]);
    machine.has("active running", &[]);
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["daemon-reload", "start -- web.service"]);
}

#[test]
fn nothing_is_read_again_where_nothing_has_changed() {
    let machine = Machine::new();
    machine.has("inactive dead", &["DropInPaths=/etc/systemd/system/web.service.d/a.conf"]);
    machine
        .files
        .entries
        .borrow_mut()
        .insert("/etc/systemd/system/web.service.d".into(), ccm_testkit::FakeFile::directory());
    machine.has("active running", &[]);
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["start -- web.service"]);
}

#[test]
fn a_new_directory_of_additions_is_read() {
    let mut machine = Machine::new();
    machine.files.directories.insert("/etc/systemd/system/web.service.d".into());
    machine.has("inactive dead", &[]);
    machine.has("inactive dead", &["DropInPaths=/etc/systemd/system/web.service.d/a.conf"]);
    machine.has("active running", &[]);
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["daemon-reload", "start -- web.service"]);
}

#[test]
fn a_new_unit_file_that_systemd_does_not_know_is_read() {
    let mut machine = Machine::new();
    machine.files.files.insert("/etc/systemd/system/web.service".into());
    machine.has("inactive dead", &["LoadState=not-found", "UnitFileState="]);
    let noop = machine.noop(service("web", &[("enable", "true")]));
    assert_eq!(noop.outcome, Outcome::WouldChange { message: "Would have enabled and started".to_owned() });
    assert_eq!(machine.done(), [""; 0]);
    machine.has("inactive dead", &["UnitFileState=static"]);
    machine.has("active running", &["UnitFileState=static"]);
    assert_eq!(machine.apply(service("web", &[("enable", "true")])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["daemon-reload", "start -- web.service"]);
}

#[test]
fn what_shows_only_then_can_fail_it() {
    let machine = Machine::new();
    machine.has("inactive dead", &["NeedDaemonReload=yes"]);
    let error =
        "LoadError=org.freedesktop.systemd1.BadUnitSetting \"Unit web.service has a bad unit file setting.\"";
    machine.has("inactive dead", &["LoadState=bad-setting", error]);
    let transaction = machine.apply(service("web", &[]));
    assert_eq!(
        failure(&transaction).chain,
        ["`web.service` can't be started", "Unit web.service has a bad unit file setting"]
    );
    assert!(!failure(&transaction).changed);
    assert_eq!(machine.done(), ["daemon-reload"]);
}
