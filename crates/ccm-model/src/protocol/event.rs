//! Events from lines.

use std::borrow::Cow;

use serde_json::{Map as JsonMap, Value as Json};

use super::{OutcomeName, StartLine, SummaryLine, TransactionLine};
use crate::{
    Failure, FailureKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Outcome, Properties, Reason,
    RefreshSummary, ResourceId, RunSummary, Scalar, ScalarStyle, SessionStarted, SkipCause, Span,
    Transaction,
};

impl From<StartLine<'_>> for SessionStarted {
    fn from(line: StartLine<'_>) -> Self {
        Self {
            at: line.timestamp,
            noop: line.noop,
            monitor_only: line.monitor_only,
            resources: line.resources,
            host: line.host.into_owned(),
            manifest: line.manifest.into_owned(),
            run_id: line.run_id.into_owned(),
            message: line.message.map(Cow::into_owned),
        }
    }
}

impl From<TransactionLine<'_>> for Transaction {
    fn from(line: TransactionLine<'_>) -> Self {
        let reason = line.reason.filter(|_| {
            // Without a rule, the reason of a skipped resource repeats the cause.
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
                let recorded = if culprits.is_empty() {
                    SkipCause::Unknown
                } else {
                    SkipCause::DependencyFailed { culprits }
                };
                Outcome::Skipped { cause: line.skip.map_or(recorded, Cow::into_owned) }
            }
            OutcomeName::Failed => {
                let kind = line.failure.as_ref().map_or(FailureKind::Unknown, |failure| failure.kind);
                let verified = line.failure.as_ref().is_some_and(|failure| failure.verified);
                let named = line.failure.map(|failure| (failure.property, failure.intent));
                let (property, intent) = named.unwrap_or_default();
                Outcome::Failed(Box::new(Failure {
                    kind,
                    location: line.location.map(|location| Box::new(location.into_owned())),
                    chain: line.error.into_owned(),
                    hints: line.hints.into_owned(),
                    changed: line.changed,
                    verified,
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
            noop: line.noop,
            would_fail: line.would_fail,
            action: line.action.map(Cow::into_owned),
            properties: Properties::new(map(line.properties), None),
            // The properties of the line have their final form.
            presentation: Vec::new(),
            reason: reason.map(|text| Reason { rule, text: text.into_owned().into() }),
            guards: line.guards.into_owned(),
            health_checks: line.health_check.into_owned(),
            triggered_by: line.triggered_by.into_owned(),
            pending_refreshes: present(line.pending.into_owned(), line.owed.into_owned()),
            warnings: line.warnings.into_owned(),
            notes: line.notes.into_owned(),
            state: line.status.map(Cow::into_owned),
            diff: line.diff.map(Cow::into_owned),
        }
    }
}

/// Converts presented properties into nodes without a location.
fn map(values: JsonMap<String, Json>) -> NodeMap {
    let span = Span::default();
    let entry = |(key, value): (String, Json)| NodeEntry {
        key: NodeKey { text: key.into(), span },
        value: node(value),
    };
    NodeMap::new(values.into_iter().map(entry).collect())
}

fn node(value: Json) -> Node {
    let value = match value {
        Json::String(text) => NodeValue::Scalar(Scalar { text: text.into(), style: ScalarStyle::Quoted }),
        Json::Array(values) => NodeValue::List(values.into_iter().map(node).collect()),
        Json::Object(values) => NodeValue::Map(map(values)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {
            NodeValue::Scalar(Scalar { text: value.to_string().into(), style: ScalarStyle::Plain })
        }
    };
    Node { value, span: Span::default() }
}

/// Returns the elements of a field that earlier records have under another name.
fn present<T>(elements: Vec<T>, under_earlier_name: Vec<T>) -> Vec<T> {
    if elements.is_empty() { under_earlier_name } else { elements }
}

impl From<SummaryLine<'_>> for RunSummary {
    fn from(line: SummaryLine<'_>) -> Self {
        Self {
            noop: line.noop,
            duration: line.duration,
            counts: line.counts,
            checks: line.checks,
            monitor_only: line.monitor_only,
            stopped: line.stopped.map(|stopped| stopped.cause),
            message: line.message.map(Cow::into_owned),
            refreshes: RefreshSummary {
                pending: present(line.pending, line.owed)
                    .into_iter()
                    .map(|line| line.pending.into_owned())
                    .collect(),
                cancelled: present(line.cancelled, line.settled)
                    .into_iter()
                    .map(|line| line.cancelled.into_owned())
                    .collect(),
                damage: line.ledger_damage.map(Cow::into_owned),
                unwritten: line.ledger_error.into_owned(),
            },
        }
    }
}
