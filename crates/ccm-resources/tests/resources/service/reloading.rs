//! Reloading of unit files by systemd.

use ccm_model::Outcome;

use crate::run::failure;
use crate::service::machine::Machine;
use crate::service::service;

#[test]
fn changed_unit_files_are_reloaded_before_a_start() {
    let machine = Machine::new();
    machine.has("inactive dead", &["NeedDaemonReload=yes"]);
    machine.has("inactive dead", &[]);
    machine.has("active running", &[]);
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["daemon-reload", "start -- web.service"]);
}

#[test]
fn unchanged_unit_files_are_not_reloaded() {
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
fn new_drop_in_directory_is_loaded() {
    let mut machine = Machine::new();
    machine.files.directories.insert("/etc/systemd/system/web.service.d".into());
    machine.has("inactive dead", &[]);
    machine.has("inactive dead", &["DropInPaths=/etc/systemd/system/web.service.d/a.conf"]);
    machine.has("active running", &[]);
    assert_eq!(machine.apply(service("web", &[])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["daemon-reload", "start -- web.service"]);
}

#[test]
fn new_unit_file_is_loaded() {
    let mut machine = Machine::new();
    machine.files.files.insert("/etc/systemd/system/web.service".into());
    machine.has("inactive dead", &["LoadState=not-found", "UnitFileState="]);
    let noop = machine.noop(service("web", &[("enable", "true")]));
    assert_eq!(
        noop.outcome,
        Outcome::WouldChange { message: "Would have started: enable false to true".to_owned() }
    );
    assert_eq!(machine.done(), [""; 0]);
    machine.has("inactive dead", &["UnitFileState=static"]);
    machine.has("active running", &["UnitFileState=static"]);
    assert_eq!(machine.apply(service("web", &[("enable", "true")])).outcome, Outcome::Changed);
    assert_eq!(machine.done(), ["daemon-reload", "start -- web.service"]);
}

#[test]
fn failure_found_after_a_reload_is_reported() {
    let machine = Machine::new();
    machine.has("inactive dead", &["NeedDaemonReload=yes"]);
    let error =
        "LoadError=org.freedesktop.systemd1.BadUnitSetting \"Unit web.service has a bad unit file setting.\"";
    machine.has("inactive dead", &["LoadState=bad-setting", error]);
    let transaction = machine.apply(service("web", &[]));
    assert_eq!(
        failure(&transaction).chain,
        ["cannot start `web.service`", "Unit web.service has a bad unit file setting"]
    );
    assert!(!failure(&transaction).changed);
    assert_eq!(machine.done(), ["daemon-reload"]);
}
