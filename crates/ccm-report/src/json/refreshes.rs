//! Pending and cancelled refreshes in the last line of a run.

use std::borrow::Cow;

use ccm_model::{OwedCause, PendingCause, PendingRefreshLine, SettledRefresh, SettledRefreshLine, StillOwed};

use crate::text::{owed_cause, settled_cause};

/// Builds the form of a refresh that is pending at the end of a run.
pub(super) fn pending(still: &StillOwed) -> PendingRefreshLine<'_> {
    let (cause, skip, manifest) = match &still.cause {
        OwedCause::Failed => (PendingCause::Failed, None, None),
        OwedCause::Skipped(skip) => (PendingCause::Skipped, Some(skip), None),
        OwedCause::Noop | OwedCause::NoopManifest => (PendingCause::Noop, None, None),
        OwedCause::NoValue => (PendingCause::NoValue, None, None),
        OwedCause::OtherManifest(manifest) => (PendingCause::OtherManifest, None, Some(manifest)),
    };
    PendingRefreshLine {
        subscriber: Cow::Borrowed(&still.subscriber),
        refresh: Cow::Borrowed(&still.refresh),
        cause,
        message: match &still.cause {
            OwedCause::Noop => "it is in noop".into(),
            cause => owed_cause(cause).into(),
        },
        skip: skip.map(Cow::Borrowed),
        manifest: manifest.map(Cow::from),
        kept_by: still.cause.kept_by(),
    }
}

/// Builds the form of a refresh that was cancelled.
pub(super) fn settled(settled: &SettledRefresh) -> SettledRefreshLine<'_> {
    SettledRefreshLine {
        subscriber: Cow::Borrowed(&settled.subscriber),
        refresh: Cow::Borrowed(&settled.refresh),
        cause: settled.cause,
        message: settled_cause(settled).into(),
    }
}
