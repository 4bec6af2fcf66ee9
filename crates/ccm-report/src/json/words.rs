//! What an outcome says, in the fields of an event.

use std::borrow::Cow;
use std::time::Duration;

use ccm_model::{
    Outcome, OwedCause, OwedRefresh, ResourceId, SettledCause, SettledRefresh, SkipCause, StillOwed,
    StopCause, Transaction, display_timestamp,
};
use serde_json::{Value, json};

use super::nanoseconds;
use crate::text::{owed_cause, settled_cause, stopped, undone};

/// The fields that depend on the kind of the outcome.
pub(super) struct Words<'a> {
    pub(super) noop_message: Option<&'a str>,
    pub(super) error: &'a [String],
    pub(super) changed: bool,
    pub(super) unmet: Vec<String>,
    pub(super) reason: Option<Cow<'a, str>>,
}

impl<'a> Words<'a> {
    pub(super) fn of(transaction: &'a Transaction) -> Self {
        let outcome = &transaction.outcome;
        let mut words = Self {
            noop_message: None,
            error: &[],
            changed: outcome.is_change(),
            unmet: Vec::new(),
            reason: transaction.reason_text().map(Cow::from),
        };
        match outcome {
            Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => {
                words.noop_message = Some(message);
            }
            Outcome::Failed(failure) => {
                words.error = &failure.chain;
                words.changed = failure.changed;
            }
            Outcome::Skipped { cause: SkipCause::Unmet { culprits } } => {
                words.unmet = culprits.iter().map(ToString::to_string).collect();
                words.reason.get_or_insert_with(|| format!("{} failed", words.unmet.join(", ")).into());
            }
            Outcome::Skipped { cause: SkipCause::Undone { noop } } => {
                words.unmet = noop.iter().map(ToString::to_string).collect();
                words.reason.get_or_insert_with(|| undone(&words.unmet.join(", "), noop.len()).into());
            }
            Outcome::Skipped { cause: SkipCause::NotManaged { reason } } => {
                words.reason.get_or_insert_with(|| format!("not managed: {reason}").into());
            }
            Outcome::Skipped { cause: SkipCause::NotSelected } => {
                words.reason.get_or_insert_with(|| "not selected".into());
            }
            Outcome::Skipped { cause: SkipCause::ManifestEnded { culprit } } => {
                let reason = || format!("its manifest ended because {culprit} failed").into();
                words.reason.get_or_insert_with(reason);
            }
            Outcome::Skipped { cause: SkipCause::Stopped { by } } => {
                words.reason.get_or_insert_with(|| stopped(by).into());
            }
            Outcome::Unchanged | Outcome::Changed | Outcome::Refreshed => {}
        }
        words
    }
}

/// The name of an outcome in JSON.
pub(crate) fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Unchanged => "unchanged",
        Outcome::Changed => "changed",
        Outcome::Refreshed => "refreshed",
        Outcome::WouldChange { .. } => "would_change",
        Outcome::WouldRefresh { .. } => "would_refresh",
        Outcome::Skipped { .. } => "skipped",
        Outcome::Failed(_) => "failed",
    }
}

/// A refresh that is owed from an earlier run.
pub(super) fn owed(owed: &OwedRefresh) -> Value {
    let since = display_timestamp(owed.since, 2);
    let mut value = json!({ "source": owed.source.to_string(), "run_id": owed.run_id, "since": since });
    if owed.is_assumed {
        value["assumed"] = true.into();
    }
    value
}

/// One that is owed at the end of a run, and why.
pub(super) fn still_owed(still: &StillOwed) -> Value {
    let cause = match &still.cause {
        OwedCause::Failed => "failed",
        OwedCause::Skipped(_) => "skipped",
        OwedCause::Noop | OwedCause::NoopManifest => "noop",
        OwedCause::NoValue => "no_value",
        OwedCause::OtherManifest(_) => "other_manifest",
    };
    let message = match &still.cause {
        OwedCause::Noop => "it is in noop".to_owned(),
        cause => owed_cause(cause),
    };
    of(&still.subscriber, &still.refresh, cause, &message)
}

/// One that is owed no more although it was not done, and why.
pub(super) fn settled(settled: &SettledRefresh) -> Value {
    let cause = match settled.cause {
        SettledCause::NoSubscriber => "no_subscriber",
        SettledCause::NoSource => "no_source",
        SettledCause::NoSubscription => "no_subscription",
    };
    of(&settled.subscriber, &settled.refresh, cause, &settled_cause(settled))
}

fn of(subscriber: &ResourceId, refresh: &OwedRefresh, cause: &str, message: &str) -> Value {
    let mut value = json!({ "subscriber": subscriber.to_string() });
    if let (Some(value), Value::Object(refresh)) = (value.as_object_mut(), owed(refresh)) {
        value.extend(refresh);
        value.insert("cause".to_owned(), cause.into());
        value.insert("message".to_owned(), message.into());
    }
    value
}

/// What ended a run before its end, for programs and, as `message`, for people.
pub(crate) fn stop_cause(cause: &StopCause) -> Value {
    let message = stopped(cause);
    match cause {
        StopCause::Failed { culprit } => {
            json!({ "by": "failed", "culprit": culprit.to_string(), "message": message })
        }
        StopCause::Signal { name, number } => {
            json!({ "by": "signal", "name": name, "number": number, "message": message })
        }
        StopCause::Timeout { after } => {
            json!({ "by": "timeout", "after": nanoseconds(*after), "message": message })
        }
    }
}

/// Reads what [`stop_cause`] has written.
pub(crate) fn read_stop_cause(written: &Value) -> Option<StopCause> {
    let text = |field: &str| written[field].as_str();
    match text("by")? {
        "failed" => Some(StopCause::Failed { culprit: ResourceId::parse(text("culprit")?).ok()? }),
        "signal" => {
            let number = i32::try_from(written["number"].as_i64()?).ok()?;
            Some(StopCause::Signal { name: text("name")?.to_owned(), number })
        }
        "timeout" => Some(StopCause::Timeout { after: Duration::from_nanos(written["after"].as_u64()?) }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stopped_a_run_comes_back() {
        for cause in [
            StopCause::Failed { culprit: ResourceId::new("exec", "a#b") },
            StopCause::Signal { name: "SIGINT".to_owned(), number: 2 },
            StopCause::Timeout { after: Duration::from_millis(1_500) },
        ] {
            assert_eq!(read_stop_cause(&stop_cause(&cause)), Some(cause));
        }
        assert_eq!(read_stop_cause(&json!({ "by": "whim" })), None);
    }
}
