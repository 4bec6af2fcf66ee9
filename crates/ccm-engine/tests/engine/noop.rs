//! Noop: reads everything, changes nothing, and says the same as a run would.

use crate::fake::{Ran, noop, run};

#[test]
fn nothing_is_executed() {
    let ran = noop(&["a needs", "b"]);
    assert_eq!(ran.lines, ["a would change: Would have moved", "b stable"]);
    assert_eq!(ran.calls, ["read a", "read b"]);
    assert!(ran.summary.noop);
}

#[test]
fn the_chain_behind_a_change_is_visible() {
    let ran = noop(&["a needs", "b subscribe=a", "c subscribe=b", "d require=c"]);
    assert_eq!(
        ran.lines,
        [
            "a would change: Would have moved",
            "b would refresh by a: Would have moved",
            "c would refresh by b: Would have moved",
            "d stable",
        ]
    );
}

#[test]
fn a_read_that_an_earlier_change_would_cure_is_not_a_failure() {
    let lines = ["a needs", "b needs", "c fails=missing require=a", "d subscribe=c"];
    assert_eq!(
        noop(&lines).lines[2..],
        ["c would change: not known before fake#a", "d would refresh by c: Would have moved"]
    );
    // Without a require the last change before it is the likeliest cure.
    assert_eq!(
        noop(&["a needs", "b needs", "c fails=missing"]).lines[2],
        "c would change: not known before fake#b"
    );
}

#[test]
fn a_read_that_nothing_would_cure_fails_in_noop_as_well() {
    let lines = ["a", "c fails=missing", "d needs"];
    assert_eq!(noop(&lines).lines[1], "c failed: a directory is missing");
    assert_eq!(noop(&["a needs", "c fails=read"]).lines[1], "c failed: read failed");
    assert_eq!(run(&["a needs", "c fails=missing"]).lines[1], "c failed: a directory is missing");
}

#[test]
fn what_claims_a_path_cures_only_what_misses_that_path() {
    // What is missed is at /d/f.
    for (before, cures) in
        [("/d", false), ("/d/f", true), ("/d/f/x", false), ("/d/g", false), ("/e", false), ("x", true)]
    {
        let line = &noop(&[&format!("{before} needs"), "c fails=missing"]).lines[1];
        assert_eq!(line == &format!("c would change: not known before fake#{before}"), cures, "{line}");
    }
}

#[test]
fn a_claim_comes_before_a_dependency_and_a_dependency_before_what_may_do_anything() {
    for (lines, before, warnings) in [
        (&["/d/f needs", "a needs", "/e needs", "c fails=missing require=/e"][..], "/d/f", 0),
        (&["/e needs", "a needs", "c fails=missing require=/e"], "/e", 0),
        (&["/e needs", "b require=/e", "a needs", "c fails=missing require=b"], "/e", 0),
        (&["/e needs", "a needs", "/g needs", "c fails=missing"], "a", 1),
    ] {
        let ran = noop(lines);
        let line = ran.lines.last().expect("a line");
        assert_eq!(line, &format!("c would change: not known before fake#{before}"));
        let finished = ran.events.iter().rev().find_map(|event| match event {
            ccm_model::Event::ResourceFinished(transaction) => Some(transaction),
            _ => None,
        });
        let told = &finished.expect("an end of `c`").warnings;
        assert_eq!(told.len(), warnings, "{told:?}");
    }
}

#[test]
fn what_would_cure_a_read_is_found_without_asking_about_every_change_before_it() {
    const COUNT: usize = 20;
    /// What a run asks whatever the number of its resources.
    const CONSTANT: usize = 20;
    // Each kind of resource would change, and each but the first misses what an earlier one may bring.
    for kind in ["c{} fails=missing", "/d/f/{} fails=missing", "/e/{} fails=missing require=a"] {
        let questions = |count: usize| {
            let failing = (0..count).map(|number| kind.replace("{}", &number.to_string()));
            let lines: Vec<String> = std::iter::once("a needs".to_owned()).chain(failing).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let ran = noop(&lines);
            assert!(ran.lines[count].contains("would change: not known before"), "{}", ran.lines[count]);
            ran.questions
        };
        let (few, many) = (questions(COUNT), questions(4 * COUNT));
        assert!(many <= 4 * few + CONSTANT, "{kind}: {few} questions became {many}");
    }
}

#[test]
fn what_can_be_foreseen_is_a_warning() {
    let ran = noop(&["a needs"]);
    let warnings = ran.events.iter().find_map(|event| match event {
        ccm_model::Event::ResourceFinished(transaction) => Some(transaction.warnings.clone()),
        _ => None,
    });
    assert_eq!(warnings, Some(vec!["a was foreseen".to_owned()]));
}

#[test]
fn a_diff_belongs_to_what_changed_or_would_change() {
    let diffs = |ran: &Ran| -> Vec<Option<String>> {
        let finished = |event: &ccm_model::Event| match event {
            ccm_model::Event::ResourceFinished(transaction) => Some(transaction.diff.clone()),
            _ => None,
        };
        ran.events.iter().filter_map(finished).collect()
    };
    let lines = ["a needs", "b", "c needs fails=execute"];
    let diff = Some("+moved\n".to_owned());
    assert_eq!(diffs(&noop(&lines)), [diff.clone(), None, diff.clone()]);
    assert_eq!(diffs(&run(&lines)), [diff, None, None]);
}
