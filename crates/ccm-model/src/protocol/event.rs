//! Events from lines.

use std::borrow::Cow;

use serde_json::{Map as JsonMap, Value as Json};

use super::{OutcomeName, StartLine, SummaryLine, TransactionLine};
use crate::{
    Entry, Failure, FailureKind, Key, Map, Node, Outcome, Properties, Reason, Refreshes, ResourceId,
    RunSummary, Scalar, ScalarStyle, SessionStarted, SkipCause, Span, Transaction, Value,
};

impl From<StartLine<'_>> for SessionStarted {
    fn from(line: StartLine<'_>) -> Self {
        Self {
            at: line.timestamp,
            noop: line.noop,
            resources: line.resources,
            message: line.message.map(Cow::into_owned),
        }
    }
}

impl From<TransactionLine<'_>> for Transaction {
    fn from(line: TransactionLine<'_>) -> Self {
        let reason = line.reason.filter(|_| {
            // The text of a skipped resource without a rule is that of the cause.
            line.rule.is_some() || line.outcome != OutcomeName::Skipped || line.skip.is_none()
        });
        let rule = line.rule.map_or(Reason::UNKNOWN_RULE.into(), |rule| rule.into_owned().into());
        let message = line.noop_message.unwrap_or_default().into_owned();
        let outcome = match line.outcome {
            OutcomeName::Unchanged => Outcome::Unchanged,
            OutcomeName::Changed => Outcome::Changed,
            OutcomeName::Refreshed => Outcome::Refreshed,
            OutcomeName::WouldChange => Outcome::WouldChange { message },
            OutcomeName::WouldRefresh => Outcome::WouldRefresh { message },
            OutcomeName::Skipped => {
                let culprits = line.unmet_requirements.into_owned();
                let recorded =
                    if culprits.is_empty() { SkipCause::Unknown } else { SkipCause::Unmet { culprits } };
                Outcome::Skipped { cause: line.skip.map_or(recorded, Cow::into_owned) }
            }
            OutcomeName::Failed => {
                let kind = line.failure.as_ref().map_or(FailureKind::Unknown, |failure| failure.kind);
                let named = line.failure.map(|failure| (failure.property, failure.intent));
                let (property, intent) = named.unwrap_or_default();
                Outcome::Failed(Box::new(Failure {
                    kind,
                    location: line.location.map(|location| Box::new(location.into_owned())),
                    chain: line.error.into_owned(),
                    hints: line.hints.into_owned(),
                    changed: line.changed,
                    output: Vec::new(),
                    missing: None,
                    property: property.map(|property| property.into_owned().into()),
                    intent: intent.map(|intent| Box::new(intent.into_owned())),
                }))
            }
        };
        Self {
            id: ResourceId::new(&*line.type_name, &*line.name),
            alias: line.alias.map(Cow::into_owned),
            at: line.timestamp,
            duration: line.duration,
            provider: line.provider.map(|name| name.into_owned().into()),
            requested_ensure: line.requested_ensure.into_owned(),
            final_ensure: line.final_ensure.map(Cow::into_owned),
            outcome,
            properties: Properties::new(map(line.properties), None),
            // The line has them as they were presented.
            presentation: Vec::new(),
            reason: reason.map(|text| Reason { rule, text: text.into_owned().into() }),
            triggered_by: line.triggered_by.into_owned(),
            owed: line.owed.into_owned(),
            warnings: line.warnings.into_owned(),
            notes: line.notes.into_owned(),
            state: line.status.map(Cow::into_owned),
            diff: line.diff.map(Cow::into_owned),
        }
    }
}

/// Turns presented properties into nodes, which stand nowhere.
fn map(values: JsonMap<String, Json>) -> Map {
    let span = Span::default();
    let entry =
        |(key, value): (String, Json)| Entry { key: Key { text: key.into(), span }, value: node(value) };
    Map::new(values.into_iter().map(entry).collect())
}

fn node(value: Json) -> Node {
    let value = match value {
        Json::String(text) => Value::Scalar(Scalar { text: text.into(), style: ScalarStyle::Quoted }),
        Json::Array(values) => Value::List(values.into_iter().map(node).collect()),
        Json::Object(values) => Value::Map(map(values)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {
            Value::Scalar(Scalar { text: value.to_string().into(), style: ScalarStyle::Plain })
        }
    };
    Node { value, span: Span::default() }
}

impl From<SummaryLine<'_>> for RunSummary {
    fn from(line: SummaryLine<'_>) -> Self {
        Self {
            noop: line.noop,
            duration: line.duration,
            counts: line.counts,
            stopped: line.stopped.map(|stopped| stopped.cause),
            message: line.message.map(Cow::into_owned),
            refreshes: Refreshes {
                owed: line.owed.into_iter().map(|line| line.pending.into_owned()).collect(),
                settled: line.settled.into_iter().map(|line| line.settled.into_owned()).collect(),
                damage: line.ledger_damage.map(Cow::into_owned),
                unwritten: line.ledger_error.into_owned(),
            },
        }
    }
}
