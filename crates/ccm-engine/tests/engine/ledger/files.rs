//! Ledger files that can't be written, are damaged, are newer or belong to other users.

use super::*;

#[test]
fn a_ledger_that_can_not_be_written_keeps_its_resource_from_executing() {
    let machine = Machine::new();
    let ledger = machine.open(machine.named("site", "/site.yaml")).expect("a ledger");
    fs::write(machine.state().join("refreshes"), "precious").expect("a file in its place");
    watch(String::new);
    let catalog = catalog(&["a needs", "b subscribe=a", "c needs"]);
    let ran = run_with(&catalog, &Options { ledger: Some(&ledger), ..Options::default() });
    assert!(
        ran.lines[0].starts_with(
            "a failed: the refreshes that its change would trigger can't be recorded < the ledger "
        ) && ran.lines[0]
            .ends_with("refreshes/site-fbae041b.ledger can't be written < Not a directory (os error 20)"),
        "{:?}",
        ran.lines
    );
    assert_eq!(ran.lines[1..], ["b dependency failed because of a", "c changed"]);
    assert_eq!(ran.calls, ["read a", "read c", "execute c"]);
    assert!(ran.summary.refreshes.pending.is_empty());
}

/// Damages a file.
type Harm = fn(&Path);

#[test]
fn a_damaged_ledger_owes_everything_and_is_kept() {
    let damage: [(&str, Harm); 5] = [
        ("line 1 is not a header", |path| fs::write(path, "garbage\n").expect("a file")),
        ("it has no header", |path| fs::write(path, "").expect("a file")),
        ("symbolic link", |path| {
            fs::remove_file(path).expect("it is there");
            std::os::unix::fs::symlink("/etc/hostname", path).expect("a link");
        }),
        ("directory", |path| {
            fs::remove_file(path).expect("it is there");
            fs::create_dir(path).expect("a directory");
        }),
        ("it is longer than 67108864 bytes", |path| {
            let truncate = std::process::Command::new("truncate").args(["-s", "1T"]).arg(path).status();
            assert!(truncate.is_ok_and(|status| status.success()));
        }),
    ];
    for (reason, damage) in damage {
        let machine = Machine::new();
        machine.killed(&["a needs hangs", "b subscribe=a"]);
        let file = machine.file();
        damage(&file);
        let before = fs::symlink_metadata(&file).expect("it is there").len();
        let next = ["a", "b subscribe=a", "c subscribe=a fails=execute"];
        let noop = machine.noop(&next);
        assert_eq!(
            noop.lines[1..],
            ["b would refresh by a (owed: a since run2)", "c would refresh by a (owed: a since run2)",]
        );
        assert_eq!(fs::symlink_metadata(&file).expect("it is there").len(), before, "noop changes nothing");
        let ledger = machine.open(machine.named("site", "/site.yaml")).expect("a ledger");
        let found = ledger.damage().expect("damage");
        assert!(found.reason.contains(reason), "{}", found.reason);
        let kept = file.with_file_name(&found.kept_as);
        let ran = run_with(&catalog(&next), &Options { ledger: Some(&ledger), ..Options::default() });
        assert_eq!(
            ran.lines[1..],
            ["b refreshed by a (owed: a since run3)", "c failed by a (owed: a since run3): execute failed",]
        );
        assert_eq!(seen(), ["b: b<a c<a", "c: c<a"], "the new one stands before anything happens");
        assert_eq!(fs::symlink_metadata(&kept).expect("it is kept").len(), before);
        assert_eq!(machine.pending(), "c<a");
        assert_eq!(
            machine.run(&["a", "b subscribe=a", "c subscribe=a"])[1..],
            ["b unchanged", "c refreshed by a (owed: a since run3)"]
        );
        assert!(kept.symlink_metadata().is_ok() && !file.exists());
    }
}

#[test]
fn a_ledger_of_another_manifest_is_not_believed() {
    let machine = Machine::new();
    machine.killed(&["a needs hangs", "b subscribe=a"]);
    let file = machine.file();
    let text = fs::read_to_string(&file)
        .expect("a ledger")
        .replace("\"manifest\":\"site\"", "\"manifest\":\"other\"");
    fs::write(&file, text).expect("a ledger");
    let ledger = machine.open(machine.named("site", "/site.yaml")).expect("a ledger");
    assert_eq!(ledger.damage().map(|damage| &*damage.reason), Some("it belongs to the manifest `other`"));
}

#[test]
fn a_newer_ledger_is_refused_and_not_touched() {
    let machine = Machine::new();
    machine.killed(&["a needs hangs", "b subscribe=a"]);
    let text =
        fs::read_to_string(machine.file()).expect("a ledger").replace("\"version\":1", "\"version\":2");
    fs::write(machine.file(), text).expect("a ledger");
    let before = machine.everything();
    let error = machine.open(machine.named("site", "/site.yaml")).expect_err("a refusal").to_string();
    assert!(
        error.ends_with("was written by a newer ccm (format version 2; this ccm reads version 1)"),
        "{error}"
    );
    Ledger::inspect(&machine.state(), machine.named("site", "/site.yaml")).expect_err("a refusal");
    assert_eq!(machine.pending(), "written by a newer ccm (format version 2; this ccm reads version 1)");
    assert_eq!(machine.everything(), before);
}

#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = Machine::new();
    machine.killed(&["a needs hangs", "b subscribe=a"]);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o7777;
    assert_eq!((mode(&machine.state().join("refreshes")), mode(&machine.file())), (0o700, 0o600));
}
