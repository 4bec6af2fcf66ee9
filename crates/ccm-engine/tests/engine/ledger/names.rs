//! Secrets in the recorded names of resources.

use super::*;

#[test]
fn names_are_written_without_secrets_and_found_again() {
    let machine = Machine::new();
    let secrets = Secrets::new();
    secrets.add(["swordfish"]);
    let options = || Options { secrets: secrets.clone(), ..Options::default() };
    let run = || machine.named("site", "/site.yaml");
    let first = catalog(&["a-swordfish needs hangs", "b subscribe=a-swordfish"]);
    assert!(machine.run_as(run(), &first, options()).is_none());
    assert_eq!(machine.pending(), "b<a-[redacted]");
    let next = catalog(&["a-swordfish", "b subscribe=a-swordfish"]);
    let ran = machine.run_as(run(), &next, options()).expect("an end");
    assert_eq!(ran.lines[1], "b refreshed by a-[redacted] (owed: a-[redacted] since run1)");
    assert_eq!(machine.pending(), "");
}

#[test]
fn resources_with_equal_redacted_names_have_separate_refreshes() {
    let machine = Machine::new();
    let secrets = Secrets::new();
    secrets.add(["swordfish", "marlin"]);
    let options = || Options { secrets: secrets.clone(), ..Options::default() };
    let run = || machine.named("site", "/site.yaml");
    let first = catalog(&["a needs hangs", "b-swordfish subscribe=a", "b-marlin subscribe=a"]);
    assert!(machine.run_as(run(), &first, options()).is_none());
    assert_eq!(machine.pending(), "b-[redacted]<a b-[redacted]<a");
    let text = fs::read_to_string(machine.file()).expect("a ledger");
    assert!(!text.contains("swordfish") && !text.contains("marlin"), "{text}");
    let next = catalog(&["a", "b-swordfish subscribe=a", "b-marlin subscribe=a fails=execute"]);
    let ran = machine.run_as(run(), &next, options()).expect("an end");
    assert_eq!(ran.lines[1], "b-[redacted] refreshed by a (owed: a since run1)");
    assert_eq!(machine.pending(), "b-[redacted]<a", "what one has paid the other still owes");
    // The subscriber that completed its refresh has left the manifest. The other one still has its own.
    let ran = machine.run_as(run(), &catalog(&["a", "b-swordfish subscribe=a"]), options()).expect("an end");
    assert_eq!(ran.lines[1], "b-[redacted] unchanged");
    assert_eq!(ran.summary.refreshes.cancelled[0].cause, CancelledCause::NoSubscriber);
}

#[test]
fn late_secret_is_removed_from_recorded_names() {
    for (end, owed) in
        [("hangs", "c<b-[redacted]"), ("fails=execute", "b-[redacted]<a"), ("", "c<b-[redacted]")]
    {
        let machine = Machine::new();
        let secrets = Secrets::new();
        let learns = secrets.clone();
        // The secret is found while the first resource is executed, after the first intent was written.
        watch(move || {
            learns.add(["swordfish"]);
            String::new()
        });
        let options = Options { secrets: secrets.clone(), ..Options::default() };
        let b = format!("b-swordfish subscribe=a {end}");
        let lines = ["a needs", b.trim_end(), "c subscribe=b-swordfish fails=execute"];
        machine.run_as(machine.named("site", "/site.yaml"), &catalog(&lines), options);
        assert!(machine.pending().contains(owed), "{end}: {}", machine.pending());
        let text = fs::read_to_string(machine.file()).expect("a ledger");
        assert!(!text.contains("swordfish"), "{end}: {text}");
        let options = Options { secrets, ..Options::default() };
        let next = catalog(&["a", "b-swordfish subscribe=a", "c subscribe=b-swordfish"]);
        machine.run_as(machine.named("site", "/site.yaml"), &next, options);
        assert_eq!(machine.pending(), "", "{end}");
    }
}

#[test]
fn refresh_stays_pending_if_a_name_becomes_sensitive_or_plain() {
    let secrets = Secrets::new();
    secrets.add(["swordfish"]);
    for (before, after) in [(Secrets::new(), secrets.clone()), (secrets.clone(), Secrets::new())] {
        let machine = Machine::new();
        let run = || machine.named("site", "/site.yaml");
        let first = catalog(&["a-swordfish needs hangs", "b-swordfish subscribe=a-swordfish"]);
        let options = Options { secrets: before, ..Options::default() };
        assert!(machine.run_as(run(), &first, options).is_none());
        let next = catalog(&["a-swordfish", "b-swordfish subscribe=a-swordfish"]);
        let options = Options { secrets: after, ..Options::default() };
        let ran = machine.run_as(run(), &next, options).expect("an end");
        assert!(ran.lines[1].contains("refreshed by a-"), "{:?}", ran.lines);
        assert!(ran.summary.refreshes.cancelled.is_empty());
        assert_eq!(machine.pending(), "");
    }
}
