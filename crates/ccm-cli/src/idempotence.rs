//! `ccm apply --verify-idempotent`: a second run of the manifest, which is to change nothing again.

use std::cell::RefCell;

use ccm_engine::ResourceType;
use ccm_model::{RunSummary, StillOwed};
use ccm_report::{ChangedAgain, Idempotence, owed_line};
use ccm_runtime::{ExitCode, Input, Run, Session};

use crate::apply::{end_record, shown};
use crate::listeners::Listeners;
use crate::{manifest, messages, state};

/// The second run.
pub(crate) struct Verification<'a> {
    pub(crate) session: &'a Session,
    pub(crate) input: &'a Input,
}

impl Verification<'_> {
    /// Applies the manifest once more as a new run would: it is read again, with everything that it is made of, and so is the
    /// machine.
    pub(crate) async fn run(
        &self,
        run: &mut Run<'_>,
        listeners: &RefCell<Listeners>,
        first: RunSummary,
        code: ExitCode,
    ) -> (RunSummary, ExitCode) {
        if !matches!(code, ExitCode::Success | ExitCode::Changes) {
            messages::note(
                "the run did not succeed, so there was no second one to verify that it is idempotent",
            );
            return (first, code);
        }
        let not_read = |first| {
            messages::error("the manifest can't be applied a second time", &[], &[]);
            (first, code.and_failed())
        };
        let input = match self.session.read_again(self.input) {
            Ok(input) => input,
            Err(error) => {
                manifest::not_read(&error);
                return not_read(first);
            }
        };
        // Warnings were shown before.
        let Ok(manifest) = manifest::load(self.session, &input, false) else { return not_read(first) };
        let code = end_record(run, &first, code);
        if let Err(error) = run.begin_verification(&manifest) {
            state::not_begun(&error);
            return not_read(first);
        }
        listeners.borrow_mut().begin_verification();
        let mut idempotence = Idempotence::default();
        let second = shown(run, &manifest, listeners, &mut |event| idempotence.accept(event)).await;
        let code = match ExitCode::of(&second, false) {
            ExitCode::Success => code,
            signal @ ExitCode::Signal(_) => signal,
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
            say(self.session.types(), again, &due);
            return (second, code.and_failed());
        }
        // A run that failed or was ended has proved nothing.
        if matches!(code, ExitCode::Success | ExitCode::Changes) {
            listeners.borrow_mut().verified();
        }
        (second, code)
    }
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
