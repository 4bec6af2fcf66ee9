//! Actions of resources in events: what would be done, what was done, what was tried.

use ccm_model::{Action, Event, Group, Outcome, Verb};
use ccm_redaction::Secrets;

use crate::children::with_child;
use crate::fake::{Options, Ran, catalog, noop, run, run_with};

/// Returns the actions in the order of the walk.
fn actions(ran: &Ran) -> Vec<Option<String>> {
    let finished = ran.events.iter().filter_map(|event| match event {
        Event::ResourceFinished(transaction) => Some(transaction),
        _ => None,
    });
    finished.map(|transaction| transaction.action.as_ref().map(text)).collect()
}

fn text(action: &Action) -> String {
    let places = action.changes.iter().map(|change| {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
        format!(" {} {} to {}", change.aspect, side(&change.from), side(&change.to))
    });
    let detail = action.detail.clone().unwrap_or_default();
    format!("{} {detail}{}", action.verb.infinitive(), places.collect::<String>())
}

#[test]
fn noop_shows_the_planned_action_and_a_run_the_one_that_was_taken() {
    let lines = ["a", "b needs", "c subscribe=b", "d needs idle"];
    let planned = || Some(r"change mv place here to ?".into());
    let taken = || Some(r"change mv place here to there".into());
    assert_eq!(actions(&noop(&lines)), [None, planned(), planned(), planned()]);
    assert_eq!(actions(&run(&lines)), [None, taken(), taken(), None]);
}

#[test]
fn failure_keeps_the_action_that_was_tried() {
    let lines = ["a needs fails=execute", "b needs fails=verify", "c needs fails=decide", "d require=a"];
    let ran = run(&lines);
    let planned = || Some("change mv place here to ?".into());
    assert_eq!(actions(&ran), [planned(), Some("change mv place here to ?".into()), None, None]);
    assert_eq!(ran.lines[..2], ["a failed: execute failed", "b failed: verify failed (changed)"]);
}

#[test]
fn resources_that_are_changed_together_have_actions_of_their_own() {
    let lines = ["a needs provider=all yields=x", "b needs provider=all yields=y"];
    let taken = |what: &str| Some(format!(r"change mv\n{what} place here to there"));
    let ran = run(&lines);
    assert_eq!(ran.calls.iter().filter(|call| call.starts_with("execute many")).count(), 1);
    assert_eq!(actions(&ran), [taken("x"), taken("y")]);
}

#[test]
fn secret_is_redacted_before_a_long_command_is_cut() {
    // The cut falls into the secret, whose beginning alone would not be found.
    let secret = "the-secret-of-the-action";
    let command = format!("{}{secret}{}", "x".repeat(4080), "y".repeat(100));
    for noop in [true, false] {
        let secrets = Secrets::new();
        secrets.add([secret]);
        let catalog = catalog(&[&format!("a needs yields={command}")]);
        let ran = run_with(&catalog, &Options { noop, secrets, ..Options::default() });
        let Some(Some(shown)) = actions(&ran).pop() else { panic!("no action") };
        assert!(!shown.contains("the-s"), "{shown}");
        assert!(shown.contains("... (truncated, ") && shown.len() < 4200, "{shown}");
        if let Some(message) = message(&ran) {
            assert!(!message.contains("the-s") && message.len() < 4200, "{message}");
        }
        assert_eq!(message(&ran).is_some(), noop);
    }
}

/// Returns the message of noop of the first resource.
fn message(ran: &Ran) -> Option<String> {
    ran.events.iter().find_map(|event| match event {
        Event::ResourceFinished(transaction) => match &transaction.outcome {
            Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => Some(message.clone()),
            _ => None,
        },
        _ => None,
    })
}

#[test]
fn message_of_noop_is_that_of_the_action_as_it_is_shown() {
    let noop = Options { noop: true, ..Options::default() };
    let ran = run_with(&catalog(&["a needs yields=x"]), &noop);
    assert_eq!(message(&ran).as_deref(), Some(r"Would have changed: mv\nx, place here to none"));
    let group = run_with(&with_child(&["c.a needs", "c"], Group::default()), &noop);
    let last = group.events.iter().rev().find_map(|event| match event {
        Event::ResourceFinished(transaction) => Some(transaction.outcome.clone()),
        _ => None,
    });
    assert_eq!(last, Some(Outcome::WouldChange { message: "Would have applied".to_owned() }));
}

#[test]
fn group_that_changed_was_applied() {
    let catalog = with_child(&["c.a needs", "c"], Group::default());
    let ran = run_with(&catalog, &Options::default());
    let applied = ran.events.iter().find_map(|event| match event {
        Event::ResourceFinished(transaction) if &*transaction.id.name == "c" => Some(transaction),
        _ => None,
    });
    let applied = applied.expect("the node of the group");
    assert_eq!(applied.outcome, Outcome::Changed);
    assert_eq!(applied.action, Some(Action::new(Verb::Apply)));
}
