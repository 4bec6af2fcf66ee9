//! Verification that a run is idempotent, by a second run.

use ccm_engine::LedgerError;
use ccm_model::{Event, ManifestErrors, RunSummary, UnfinishedRefresh};
use ccm_report::{ChangedAgain, Idempotence};

use crate::begin::BeginError;
use crate::exit::ExitCode;
use crate::input::InputError;
use crate::manifest::LoadedManifest;
use crate::run::{ActiveRun, RecordEnd};
use crate::selection::UnknownResources;
use crate::sink::{Emitted, Sink};

/// Result of a second run.
#[derive(Debug)]
pub struct Verification {
    /// Summary of the second run.
    pub summary: RunSummary,
    /// Exit code of both runs together.
    pub code: ExitCode,
    /// End of the record of the first run.
    pub first: RecordEnd,
    /// Resources that the second run changed again.
    pub changed_again: Vec<ChangedAgain>,
    /// Pending refreshes that the next run does.
    pub due: Vec<UnfinishedRefresh>,
    /// Pending refreshes that the next run does not do.
    pub not_due: Vec<UnfinishedRefresh>,
    /// Advice of the types whose resources were changed again.
    pub advice: Vec<&'static str>,
}

impl Verification {
    /// Returns `true` if the second run had nothing to change and left nothing to do.
    pub fn is_idempotent(&self) -> bool {
        self.changed_again.is_empty() && self.due.is_empty()
    }

    /// Returns `true` if the second run proves that the manifest is idempotent. A run that failed or was
    /// cancelled does not.
    pub fn is_verified(&self) -> bool {
        self.is_idempotent() && is_success(self.code)
    }
}

/// Reason why there is no second run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerificationError {
    /// The first run did not succeed.
    #[error("the first run failed, so there was no second run to verify that the manifest is idempotent")]
    NotSuccessful,
    /// The manifest can't be read again.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The manifest has become invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestErrors),
    /// The manifest is not signed any more, or the policy can't be used.
    #[error(transparent)]
    Begin(#[from] Box<BeginError>),
    /// A selected resource was removed from the manifest.
    #[error(transparent)]
    Selection(#[from] UnknownResources),
    /// The ledger can't be used any more.
    #[error("the ledger can't be used for a second run")]
    Ledger {
        /// The reason.
        source: LedgerError,
        /// End of the record of the first run.
        first: Box<RecordEnd>,
    },
}

impl ActiveRun<'_> {
    /// Reads the manifest and the machine again, as a new run would, and applies the manifest once more. Ends
    /// the record of the first run, whose results are `first` and `code`.
    pub async fn verify_idempotent(
        &mut self,
        first: &RunSummary,
        code: ExitCode,
        sink: &mut dyn Sink,
    ) -> Result<Verification, VerificationError> {
        if !is_success(code) {
            return Err(VerificationError::NotSuccessful);
        }
        let LoadedManifest { session, input, .. } = self.manifest;
        let input = session.read_again(input)?;
        let manifest = session.load(&input)?;
        manifest.check_signed().map_err(Box::new)?;
        self.select_again(&manifest)?;
        let first = self.end(first, code).await;
        if let Err(source) = self.begin_verification(&manifest) {
            return Err(VerificationError::Ledger { source, first: Box::new(first) });
        }
        let mut listener = VerifyingSink { idempotence: Idempotence::default(), sink };
        let summary = self.apply_as(&manifest, &mut listener).await;
        let changed_again = listener.idempotence.changed_again().to_vec();
        let (due, not_due): (Vec<_>, Vec<_>) =
            summary.refreshes.pending.iter().cloned().partition(|pending| pending.cause.is_for_next_run());
        let mut code = match ExitCode::of(&summary, false) {
            ExitCode::Success => first.code,
            signal @ ExitCode::Signal(_) => signal,
            _ => first.code.and_failed(),
        };
        if !changed_again.is_empty() || !due.is_empty() {
            code = code.and_failed();
        }
        // A triggered resource is expected to change again; only its source needs advice.
        let is_own = |changed: &&ChangedAgain| changed.triggered_by.is_empty();
        let advised = session.types.iter().filter(|resource_type| {
            changed_again.iter().filter(is_own).any(|changed| *changed.id.type_name == *resource_type.name())
        });
        let advice =
            advised.filter_map(|resource_type| resource_type.commands()?.idempotence_advice()).collect();
        Ok(Verification { summary, code, first, changed_again, due, not_due, advice })
    }
}

fn is_success(code: ExitCode) -> bool {
    matches!(code, ExitCode::Success | ExitCode::Changes)
}

/// Sink that records changes and passes the events on.
struct VerifyingSink<'s> {
    idempotence: Idempotence,
    sink: &'s mut dyn Sink,
}

impl Sink for VerifyingSink<'_> {
    fn accept(&mut self, emitted: Emitted<'_>) {
        let event: &Event = &emitted.event;
        self.idempotence.accept(event);
        self.sink.accept(emitted);
    }

    fn flush(&mut self) {
        self.sink.flush();
    }
}
