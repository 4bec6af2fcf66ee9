//! Noop: reads everything, changes nothing, and reports the changes of a run.

use ccm_model::{Control, Event, Group, GroupIndex, ResourceIndex};

use crate::fake::{Off, Options, Ran, catalog, noop, run, run_with};

#[test]
fn noop_executes_nothing() {
    let ran = noop(&["a needs", "b"]);
    assert_eq!(ran.lines, ["a would change", "b unchanged"]);
    assert_eq!(ran.calls, ["read a", "read b"]);
    assert!(ran.summary.noop);
}

/// Returns the resources whose events say that they were processed in noop.
fn in_noop(ran: &Ran) -> Vec<&str> {
    let finished = ran.events.iter().filter_map(|event| match event {
        Event::ResourceFinished(transaction) => Some(transaction),
        _ => None,
    });
    finished.filter(|transaction| transaction.noop).map(|transaction| &*transaction.id.name).collect()
}

#[test]
fn events_of_processed_resources_say_that_they_were_in_noop() {
    let lines = ["a needs", "b", "c fails=read", "d require=c", "e subscribe=a", "off", "off-late"];
    let mut all = catalog(&lines);
    all.resources[5].control = Control::NotManaged { reason: "off".to_owned() };
    all.resources[6].control = Control::Late;
    let ran = |noop| run_with(&all, &Options { noop, late: Some(&Off), ..Options::default() });
    assert_eq!(in_noop(&ran(true)), ["a", "b", "c", "e"]);
    assert!(in_noop(&ran(false)).is_empty());
    let only = [ResourceIndex(1)];
    let selected = run_with(&all, &Options { noop: true, only: Some(&only), ..Options::default() });
    assert_eq!(in_noop(&selected), ["b"]);

    let mut child = catalog(&["c.a needs", "c.b", "c.c fails=read", "c.d require=c.c", "c", "after needs"]);
    child.groups.push(Group { noop: true, ..Group::default() });
    for member in &mut child.resources[..4] {
        member.group = Some(GroupIndex(0));
    }
    child.resources[4].node_of = Some(GroupIndex(0));
    assert_eq!(in_noop(&run_with(&child, &Options::default())), ["c.a", "c.b", "c.c", "c"]);
}

#[test]
fn noop_shows_the_chain_behind_a_change() {
    let ran = noop(&["a needs", "b subscribe=a", "c subscribe=b", "d require=c"]);
    assert_eq!(ran.lines, ["a would change", "b would refresh by a", "c would refresh by b", "d unchanged",]);
}

#[test]
fn failed_read_with_a_possible_provider_is_no_failure() {
    let lines = ["a needs", "b needs", "c fails=missing require=a", "d subscribe=c"];
    assert_eq!(noop(&lines).lines[2..], ["c would change: not known before fake#a", "d would refresh by c"]);
    // Without a require, any change before may be the provider, so none is named.
    assert_eq!(noop(&["a needs", "b needs", "c fails=missing"]).lines[2], "c would change: may fail");
}

#[test]
fn failed_read_without_a_provider_fails_in_noop_as_well() {
    let lines = ["a", "c fails=missing", "d needs"];
    assert_eq!(noop(&lines).lines[1], "c failed: a directory is missing");
    assert_eq!(noop(&["a needs", "c fails=read"]).lines[1], "c failed: read failed");
    assert_eq!(run(&["a needs", "c fails=missing"]).lines[1], "c failed: a directory is missing");
}

#[test]
fn claim_of_a_path_provides_only_that_path() {
    // The missing path is /d/f.
    for (before, cures) in
        [("/d", false), ("/d/f", true), ("/d/f/x", false), ("/d/g", false), ("/e", false), ("x", false)]
    {
        let line = &noop(&[&format!("{before} needs"), "c fails=missing"]).lines[1];
        assert_eq!(line == &format!("c would change: not known before fake#{before}"), cures, "{line}");
    }
}

#[test]
fn claim_of_another_spelling_provides_the_path() {
    let options = Options { noop: true, links: &[("/l", "/d")], ..Options::default() };
    let ran = run_with(&catalog(&["/l/f needs", "c fails=missing"]), &options);
    assert_eq!(ran.lines[1], "c would change: not known before fake#/l/f");
}

#[test]
fn claim_wins_over_dependency_and_dependency_over_arbitrary_change() {
    for (lines, message, warned) in [
        (
            &["/d/f needs", "a needs", "/e needs", "c fails=missing require=/e"][..],
            "not known before fake#/d/f",
            None,
        ),
        (&["/e needs", "a needs", "c fails=missing require=/e"], "not known before fake#/e", None),
        (
            &["/e needs", "b require=/e", "a needs", "c fails=missing require=b"],
            "not known before fake#/e",
            None,
        ),
        (&["/e needs", "a needs", "/g needs", "c fails=missing"], "may fail", Some("a directory is missing")),
    ] {
        let ran = noop(lines);
        let line = ran.lines.last().expect("a line");
        assert_eq!(line, &format!("c would change: {message}"));
        let finished = ran.events.iter().rev().find_map(|event| match event {
            Event::ResourceFinished(transaction) => Some(transaction),
            _ => None,
        });
        let told = &finished.expect("an end of `c`").warnings;
        let expected = warned.map(|why| format!("a run fails unless an earlier resource provides it: {why}"));
        assert_eq!(told.first(), expected.as_ref());
    }
}

#[test]
fn provider_is_found_without_a_scan_of_all_changes() {
    const COUNT: usize = 20;
    /// Number of calls of a run that do not depend on its resources.
    const CONSTANT: usize = 20;
    // Each kind of resource would change. Each but the first lacks something that an earlier one may provide.
    for (kind, message) in [
        ("c{} fails=missing", "may fail"),
        ("/d/f/{} fails=missing", "may fail"),
        ("/e/{} fails=missing require=a", "not known before fake#a"),
    ] {
        let questions = |count: usize| {
            let failing = (0..count).map(|number| kind.replace("{}", &number.to_string()));
            let lines: Vec<String> = std::iter::once("a needs".to_owned()).chain(failing).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let ran = noop(&lines);
            assert!(ran.lines[count].ends_with(&format!("would change: {message}")), "{}", ran.lines[count]);
            ran.questions
        };
        let (few, many) = (questions(COUNT), questions(4 * COUNT));
        assert!(many <= 4 * few + CONSTANT, "{kind}: {few} questions became {many}");
    }
}

#[test]
fn preflight_error_is_a_warning() {
    let ran = noop(&["a needs"]);
    let warnings = ran.events.iter().find_map(|event| match event {
        Event::ResourceFinished(transaction) => Some(transaction.warnings.clone()),
        _ => None,
    });
    assert_eq!(warnings, Some(vec!["a was foreseen".to_owned()]));
}

#[test]
fn only_changes_have_a_diff() {
    let diffs = |ran: &Ran| -> Vec<Option<String>> {
        let finished = |event: &Event| match event {
            Event::ResourceFinished(transaction) => Some(transaction.diff.clone()),
            _ => None,
        };
        ran.events.iter().filter_map(finished).collect()
    };
    let lines = ["a needs", "b", "c needs fails=execute"];
    let diff = Some("+moved\n".to_owned());
    assert_eq!(diffs(&noop(&lines)), [diff.clone(), None, diff.clone()]);
    assert_eq!(diffs(&run(&lines)), [diff, None, None]);
}
