//! Lines from events. The names of the run and of the event are left empty, for the writer of a run to add.

use std::borrow::Cow;

use super::{
    CancelledRefreshRecord, FailureLine, OutcomeName, PendingRefreshRecord, PresentedProperties, StartLine,
    StartProtocol, StopRecord, SummaryLine, SummaryProtocol, TransactionLine, TransactionProtocol,
};
use crate::{Outcome, RunSummary, SessionStarted, SkipCause, StopCause, Transaction};

impl<'a> From<&'a SessionStarted> for StartLine<'a> {
    fn from(session: &'a SessionStarted) -> Self {
        Self {
            protocol: StartProtocol::V1,
            event_id: Cow::default(),
            timestamp: session.at,
            run_id: session.run_id.as_str().into(),
            manifest: session.manifest.as_str().into(),
            host: session.host.as_str().into(),
            version: Cow::default(),
            noop: session.noop,
            monitor_only: session.monitor_only,
            resources: session.resources,
            message: session.message.as_deref().map(Cow::from),
            started_by: None,
            source: None,
            verifies: None,
        }
    }
}

impl<'a> From<&'a Transaction> for TransactionLine<'a, PresentedProperties<'a>> {
    fn from(transaction: &'a Transaction) -> Self {
        let outcome = &transaction.outcome;
        let (failure, skip) = match outcome {
            Outcome::Failed(failure) => (Some(&**failure), None),
            Outcome::Skipped { cause } => (None, Some(cause)),
            _ => (None, None),
        };
        let noop_message = match outcome {
            Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => Some(message.as_str()),
            _ => None,
        };
        let unmet_requirements = match skip {
            Some(SkipCause::DependencyFailed { culprits: ids } | SkipCause::DependsOnNoop { noop: ids }) => {
                ids
            }
            _ => &[][..],
        };
        let skip_reason = || skip.filter(|cause| **cause != SkipCause::Unknown).map(SkipCause::to_string);
        Self {
            protocol: TransactionProtocol::V1,
            event_id: Cow::default(),
            timestamp: transaction.at,
            run_id: Cow::default(),
            type_name: Cow::from(&*transaction.id.type_name),
            provider: transaction.provider.as_deref().map(Cow::from),
            name: Cow::from(&*transaction.id.name),
            alias: transaction.alias.as_deref().map(Cow::from),
            requested_ensure: transaction.requested_ensure.as_str().into(),
            final_ensure: transaction.final_ensure.as_deref().map(Cow::from),
            duration: transaction.duration,
            properties: PresentedProperties {
                properties: &transaction.properties,
                presentation: &transaction.presentation,
            },
            status: transaction.state.as_ref().map(Cow::Borrowed),
            action: transaction.action.as_ref().map(Cow::Borrowed),
            noop_message: noop_message.map(Cow::from),
            error: failure.map_or(&[][..], |failure| &failure.chain).into(),
            changed: failure.map_or(outcome.is_change(), |failure| failure.changed),
            refreshed: matches!(outcome, Outcome::Refreshed | Outcome::WouldRefresh { .. }),
            failed: failure.is_some(),
            skipped: skip.is_some(),
            noop: transaction.noop,
            would_fail: transaction.would_fail,
            unmet_requirements: unmet_requirements.into(),
            outcome: OutcomeName::from(outcome),
            reason: transaction.reason_text().map(Cow::from).or_else(|| skip_reason().map(Cow::from)),
            triggered_by: transaction.triggered_by.as_slice().into(),
            pending: transaction.pending_refreshes.as_slice().into(),
            owed: transaction.pending_refreshes.as_slice().into(),
            warnings: transaction.warnings.as_slice().into(),
            notes: transaction.notes.as_slice().into(),
            diff: transaction.diff.as_deref().map(Cow::from),
            hints: failure.map_or(&[][..], |failure| &failure.hints).into(),
            location: failure.and_then(|failure| failure.location.as_deref()).map(Cow::Borrowed),
            failure: failure.map(|failure| FailureLine {
                kind: failure.kind,
                property: failure.property.as_deref().map(Cow::from),
                changed: failure.changed,
                verified: failure.verified,
                intent: failure.intent.as_deref().map(Cow::Borrowed),
            }),
            guards: transaction.guards.as_slice().into(),
            health_check: transaction.health_checks.as_slice().into(),
            rule: transaction.reason.as_ref().map(|reason| Cow::from(&*reason.rule)),
            skip: skip.map(Cow::Borrowed),
        }
    }
}

impl<'a> From<&'a RunSummary> for SummaryLine<'a> {
    fn from(summary: &'a RunSummary) -> Self {
        let pending = summary.refreshes.pending.iter().map(|pending| PendingRefreshRecord {
            pending: Cow::Borrowed(pending),
            message: pending.cause.to_string().into(),
        });
        let pending: Vec<_> = pending.collect();
        let cancelled = summary.refreshes.cancelled.iter().map(|cancelled| CancelledRefreshRecord {
            cancelled: Cow::Borrowed(cancelled),
            message: cancelled.explanation().into(),
        });
        let cancelled: Vec<_> = cancelled.collect();
        Self {
            protocol: SummaryProtocol::V1,
            event_id: Cow::default(),
            timestamp: None,
            run_id: Cow::default(),
            manifest: Cow::default(),
            noop: summary.noop,
            duration: summary.duration,
            counts: summary.counts,
            checks: summary.checks,
            monitor_only: summary.monitor_only,
            stopped: summary.stopped.as_ref().map(StopRecord::from),
            message: summary.message.as_deref().map(Cow::from),
            owed: pending.clone(),
            pending,
            settled: cancelled.clone(),
            cancelled,
            ledger_damage: summary.refreshes.damage.as_deref().map(Cow::from),
            ledger_error: summary.refreshes.unwritten.as_slice().into(),
            changed_again: None,
        }
    }
}

impl From<&StopCause> for StopRecord {
    fn from(cause: &StopCause) -> Self {
        Self { cause: cause.clone(), message: cause.to_string() }
    }
}
