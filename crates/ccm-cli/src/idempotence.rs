//! `ccm apply --verify-idempotent`: a second run of the manifest, which is to change nothing again.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use ccm_engine::ResourceType;
use ccm_model::{RunSummary, StillOwed};
use ccm_report::{ChangedAgain, Idempotence, owed_line};

use crate::apply::{Setting, selection, shown};
use crate::exit::Code;
use crate::listeners::Listeners;
use crate::sources::MachineSources;
use crate::{manifest, messages};

/// Applies the manifest once more as a new run would: it is read again, with what it is made of, and so is the machine.
/// Only standard input can't be read twice, so `text` is what it held.
pub(crate) async fn verify(
    setting: &Setting<'_>,
    text: Arc<str>,
    listeners: &RefCell<Listeners<'_>>,
    first: RunSummary,
    code: Code,
) -> (RunSummary, Code) {
    if !matches!(code, Code::Success | Code::Changes) {
        messages::note("the run did not succeed, so there was no second one to verify that it is idempotent");
        return (first, code);
    }
    let arguments = setting.arguments;
    let not_read = |first| {
        messages::error("the manifest can't be applied a second time", &[], &[]);
        (first, code.and_failed())
    };
    let Ok(sources) = MachineSources::of_manifest(&arguments.manifest, &arguments.values) else {
        return not_read(first);
    };
    let Ok(mut request) = manifest::request(&arguments.manifest, &arguments.values.data, &sources) else {
        return not_read(first);
    };
    if arguments.manifest.path == Path::new("-") {
        request.text = text;
    }
    // What deserves a warning was said before.
    let Ok((catalog, loaded)) = manifest::read_request(request, &sources, false, setting.types) else {
        return not_read(first);
    };
    let Ok(only) = selection(arguments, &catalog) else { return not_read(first) };

    let code = listeners.borrow_mut().begin_verification(setting.state, arguments.keep_runs, &first, code);
    let ledger = setting.ledger(&catalog, listeners.borrow().identity());
    let Ok(ledger) = ledger else { return not_read(first) };
    let mut idempotence = Idempotence::default();
    let mut on_event = |event| {
        idempotence.accept(&event);
        listeners.borrow_mut().accept(&event);
    };
    let run = setting.apply(&catalog, &loaded, only.as_deref(), ledger.as_ref(), &mut on_event);
    let second = shown(run, listeners).await;
    let code = match Code::of(&second, false) {
        Code::Success => code,
        signal @ Code::Signal(_) => signal,
        _ => code.and_failed(),
    };
    let again = idempotence.changed_again();
    let (due, kept): (Vec<_>, Vec<_>) =
        second.refreshes.owed.iter().partition(|owed| owed.cause.is_for_next_run());
    if !kept.is_empty() {
        let count = kept.len();
        let refreshes =
            if count == 1 { "1 refresh stays".to_owned() } else { format!("{count} refreshes stay") };
        messages::note(&format!(
            "{refreshes} owed that another such run would not do either; `ccm status --pending` lists what is owed"
        ));
    }
    if !again.is_empty() || !due.is_empty() {
        say(setting.types, again, &due);
        return (second, code.and_failed());
    }
    // A run that failed or was ended has proved nothing.
    if matches!(code, Code::Success | Code::Changes) {
        listeners.borrow_mut().verified();
    }
    (second, code)
}

/// Says what was changed again, what a later run would still have to refresh, and what can be done about it.
fn say(types: &[&'static dyn ResourceType], again: &[ChangedAgain], owed: &[&StillOwed]) {
    let message = match again.len() {
        0 => "not idempotent: a later run has refreshes to do that are owed".to_owned(),
        1 => "not idempotent: a second run changed 1 resource again".to_owned(),
        count => format!("not idempotent: a second run changed {count} resources again"),
    };
    let owed = owed.iter().map(|owed| owed_line(&owed.subscriber, &owed.refresh));
    let causes: Vec<String> = again.iter().map(why).chain(owed).collect();
    // What was triggered is right to do its work again; its source is where to look.
    let is_advised = |found: &&&dyn ResourceType| {
        let is_its = |changed: &ChangedAgain| *changed.id.type_name == *found.name();
        again.iter().any(|changed| changed.triggered_by.is_empty() && is_its(changed))
    };
    let advised = types.iter().filter(is_advised);
    let hints: Vec<String> =
        advised.filter_map(|found| found.idempotence_advice().map(str::to_owned)).collect();
    messages::error(&message, &causes, &hints);
}

fn why(changed: &ChangedAgain) -> String {
    let triggers: Vec<String> = changed.triggered_by.iter().map(ToString::to_string).collect();
    let because = match (&*triggers, &changed.reason) {
        ([], Some(reason)) => Some(reason.to_string()),
        ([], None) => None,
        (triggers, _) => Some(format!("triggered by {}", triggers.join(", "))),
    };
    let all: Vec<String> = because.into_iter().chain(changed.warnings.iter().cloned()).collect();
    if all.is_empty() { changed.id.to_string() } else { format!("{}: {}", changed.id, all.join("; ")) }
}
