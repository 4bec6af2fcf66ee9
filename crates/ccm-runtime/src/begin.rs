//! Beginning of runs: selection, state directory, lock and ledgers.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use ccm_engine::LedgerError;
use ccm_governance::audit::{AuditProblem, RunAudit};
use ccm_governance::policy::{PolicyError, RunPolicy};
use ccm_governance::signed::ManifestSignatureError;
use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError};
use ccm_host::{Commands, Files, RunnerError, remove_private_leftovers};
use ccm_model::StopCause;
use ccm_report::RunStore;

use crate::changeable::warn_of_writers;
use crate::ledger::NameMissing;
use crate::manifest::LoadedManifest;
use crate::plan::{PlanError, RunPlan};
use crate::record::RunRecord;
use crate::run::{ActiveRun, RunMode, RunOptions};
use crate::selection::{NamedResources, UnknownResources};
use crate::session::{Notice, Session};

/// Error of beginning a run. Nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginError {
    /// The canceller was raised while the run waited for another run to end.
    #[error("the wait for another run was cancelled")]
    Cancelled(StopCause),
    /// [`RunOptions::only`] or [`RunOptions::skip`] names a resource that is not in the manifest.
    #[error(transparent)]
    Selection(#[from] UnknownResources),
    /// The policy can't be used.
    #[error(transparent)]
    Policy(#[from] Arc<PolicyError>),
    /// The policy requires a record in the audit log, and there can be none.
    #[error("the policy requires a record in the audit log")]
    Audit(#[source] AuditProblem),
    /// The manifest has to be signed, and is not.
    #[error("{manifest} has to be signed by an approver")]
    NotSigned {
        /// Name of the manifest.
        manifest: String,
        /// Reason why its signature does not count.
        source: Arc<ManifestSignatureError>,
    },
    /// Commands can't be run.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The lock can't be taken.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The manifest needs a name.
    #[error(transparent)]
    Name(#[from] NameMissing),
    /// The ledger can't be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Only approved plans are applied, and this run follows none.
    #[error("{}", plan_required(*by_policy, *has_plan))]
    PlanRequired {
        /// The policy requires it, and not the caller.
        by_policy: bool,
        /// The run follows a plan that no approver has signed.
        has_plan: bool,
    },
    /// The key of the plans can't be used.
    #[error(transparent)]
    Plan(Box<PlanError>),
}

/// Returns the message for a run without an approved plan.
fn plan_required(by_policy: bool, has_plan: bool) -> String {
    let found = if has_plan { "no approver has signed the plan" } else { "this run has no plan" };
    let rule = if by_policy {
        "the policy lets only approved plans be applied"
    } else {
        "only approved plans are applied"
    };
    format!("{rule}, and {found}")
}

/// Error of beginning the run of one of several manifests.
#[derive(Debug)]
pub struct BeginFailure {
    /// Position of the manifest, from 0. An error that concerns all manifests is that of the first.
    pub position: usize,
    /// The error.
    pub error: BeginError,
}

impl LoadedManifest<'_> {
    /// Checks that the manifest is signed, if that is required. A signature that does not count is reported in any
    /// case, because the run then lacks the approvals that somebody meant to give.
    pub(crate) fn check_signed(&self) -> Result<(), BeginError> {
        let session = self.session;
        if !self.input.reads().is_kept() || !session.signature_matters() || self.input.is_of_signed_source() {
            return Ok(());
        }
        let policy_requires = session.governance.run_policy()?.is_some_and(RunPolicy::requires_signed);
        if self.approved.get().is_some() && !policy_requires {
            return Ok(());
        }
        let is_required = session.requires_signed || policy_requires;
        match self.signature() {
            Ok(_) => Ok(()),
            Err(source) if is_required => {
                Err(BeginError::NotSigned { manifest: self.input.name().to_owned(), source })
            }
            Err(error) => {
                if !error.is_absence() {
                    session
                        .notices
                        .report(&Notice::UnusedSignature { manifest: self.input.name(), error: &error });
                }
                Ok(())
            }
        }
    }

    /// Begins a run: opens the state directory, waits for the lock and opens the ledger. A plan, and a run of health checks
    /// alone, take no lock and write nothing.
    pub async fn begin(&self, mode: RunMode, options: RunOptions) -> Result<ActiveRun<'_>, BeginError> {
        let selection = NamedResources::of_each(&[self], &options)?.pop().unwrap_or_default();
        let shared = SharedState::open(self.session, &self.input.record_name(), mode, &options).await?;
        let mut run = shared.begin((self, Vec::new()), selection, options, None)?;
        run.begin_audit().map_err(BeginError::Audit)?;
        if mode != RunMode::Plan {
            warn_of_writers(self.session, &[self]);
        }
        Ok(run)
    }
}

impl Session {
    /// Begins the runs of several manifests under one lock. They are to be applied in this order; a run that is not
    /// applied leaves nothing behind. A manifest without a selected resource has no run.
    pub async fn begin_all<'m>(
        &'m self,
        manifests: &[&'m LoadedManifest<'m>],
        mode: RunMode,
        options: &RunOptions,
    ) -> Result<Vec<ActiveRun<'m>>, Vec<BeginFailure>> {
        let of_all = |error: BeginError| vec![BeginFailure { position: 0, error }];
        let selections =
            NamedResources::of_each(manifests, options).map_err(|unknown| of_all(unknown.into()))?;
        let names: Vec<&str> = manifests.iter().map(|manifest| manifest.input.full_name()).collect();
        let shared = SharedState::open(self, &names.join(", "), mode, options).await.map_err(of_all)?;
        let mut runs: Vec<ActiveRun<'m>> = Vec::with_capacity(manifests.len());
        let mut failures = Vec::new();
        for (position, (manifest, selection)) in manifests.iter().zip(selections).enumerate() {
            if selection.is_empty() {
                continue;
            }
            let earlier = runs.last().map(|run| run.identity().run_id.clone());
            let mut others = manifests.to_vec();
            others.remove(position);
            match shared.begin((manifest, others), selection, options.clone(), earlier) {
                Ok(run) => runs.push(run),
                Err(error) => failures.push(BeginFailure { position, error }),
            }
        }
        if failures.is_empty()
            && let Some(first) = runs.first_mut()
        {
            // The other runs may never begin.
            first.begin_audit().map_err(|problem| of_all(BeginError::Audit(problem)))?;
            if mode != RunMode::Plan {
                warn_of_writers(self, manifests);
            }
        }
        if failures.is_empty() { Ok(runs) } else { Err(failures) }
    }
}

/// Refuses a run without an approved plan, where the policy or the caller requires one.
fn check_plan_required(
    session: &Session,
    policy: Option<RunPolicy<'_>>,
    options: &RunOptions,
) -> Result<(), BeginError> {
    let by_policy = policy.is_some_and(RunPolicy::requires_plan);
    let is_approved = options.plan.as_ref().is_some_and(|plan| plan.signature.approver().is_some());
    if is_approved || !by_policy && !session.requires_plan {
        return Ok(());
    }
    Err(BeginError::PlanRequired { by_policy, has_plan: options.plan.is_some() })
}

/// What the runs of one call share: commands, the state directory and its lock.
pub(crate) struct SharedState<'m> {
    session: &'m Session,
    mode: RunMode,
    commands: &'m dyn Commands,
    state_path: Option<PathBuf>,
    state: Option<Rc<Directory>>,
    lock: Option<Rc<Lock>>,
    audit: Option<Rc<RunAudit>>,
}

impl<'m> SharedState<'m> {
    pub(crate) async fn open(
        session: &'m Session,
        manifests: &str,
        mode: RunMode,
        options: &RunOptions,
    ) -> Result<Self, BeginError> {
        let policy = session.governance.run_policy()?;
        if mode == RunMode::Apply {
            check_plan_required(session, policy, options)?;
        }
        let audit =
            RunAudit::open(&session.governance, policy, mode == RunMode::Plan).map_err(BeginError::Audit)?;
        let doors = &session.doors;
        let commands = doors.commands(&session.secrets, session.launcher.as_deref())?;
        // Other modes only need the path of the state directory.
        let state_path = session.state_path().ok();
        let state = match mode {
            RunMode::Plan | RunMode::Monitor => None,
            RunMode::Apply => Some(Rc::new(Directory::open_private(&session.state_path()?)?)),
        };
        let mut lock = None;
        if let Some(state) = &state {
            remove_private_leftovers();
            let holder = LockHolder { manifest: manifests.to_owned(), since: doors.clock.now() };
            let mut on_wait = |other: &str| session.notices.report(&Notice::Waiting(other));
            lock = Some(Rc::new(tokio::select! {
                // A free lock is taken even if the run is already cancelled, so that such a run leaves a
                // record.
                biased;
                taken = Lock::take(state, &holder, options.lock_wait, &mut on_wait) => taken?,
                cause = options.canceller.stopped() => return Err(BeginError::Cancelled(cause)),
            }));
        }
        Ok(Self { session, mode, commands, state_path, state, lock, audit })
    }

    /// Returns `true` if the audit log records the runs.
    pub(crate) fn is_audited(&self) -> bool {
        self.audit.is_some()
    }

    /// Begins the record of a run that several manifests are applied in.
    pub(crate) fn joined_record(&self, name: &str, options: &RunOptions) -> RunRecord {
        let earlier = self.state.as_deref().and_then(RunStore::newest);
        let mut record = RunRecord::new((name, None), earlier, &*self.session.doors.clock).joining();
        record.begin(self.state.as_deref(), options);
        record
    }

    /// Opens the door to files that the parts of a run share.
    pub(crate) fn files(&self, options: &RunOptions) -> Box<dyn Files> {
        self.session.doors.doors.files(options.canceller.cancellation())
    }

    /// Begins the part of a run that applies one of several manifests, which was checked.
    pub(crate) fn join<'a>(
        &'a self,
        manifest: &'a LoadedManifest<'a>,
        options: RunOptions,
        (record, files): (RunRecord, Box<dyn Files>),
    ) -> ActiveRun<'a> {
        ActiveRun {
            manifest,
            others: Vec::new(),
            mode: self.mode,
            options,
            commands: self.commands,
            files,
            state_path: self.state_path.clone(),
            state: self.state.clone(),
            lock: self.lock.clone(),
            audit: None,
            is_audited: false,
            ledger: None,
            record,
            selection: NamedResources::default(),
            plan: RunPlan::None,
        }
    }

    /// Begins a run of a manifest beside others. `earlier` is the id of the run before it, if that is not recorded
    /// yet.
    fn begin(
        &self,
        (manifest, others): (&'m LoadedManifest<'m>, Vec<&'m LoadedManifest<'m>>),
        selection: NamedResources,
        options: RunOptions,
        earlier: Option<String>,
    ) -> Result<ActiveRun<'m>, BeginError> {
        let Self { session, mode, commands, state_path, state, lock, audit } = self;
        let doors = &session.doors;
        let earlier = earlier.or_else(|| RunStore::newest(state.as_deref()?));
        let record = RunRecord::new(
            (&manifest.input.record_name(), manifest.input.source().version()),
            earlier,
            &*doors.clock,
        );
        // Health checks pay no refresh, and need no name for one.
        let has_ledger = *mode != RunMode::Monitor;
        if has_ledger {
            manifest.check_name()?;
        }
        manifest.check_signed()?;
        if let (Some(judged), Some(state)) = (&manifest.judged, state) {
            judged.remember(state);
        }
        let ledger = if has_ledger {
            manifest.ledger(record.identity(), state.as_deref(), state_path.as_deref())?
        } else {
            None
        };
        let files = doors.doors.files(options.canceller.cancellation());
        let plan = match &options.plan {
            Some(plan) if *mode == RunMode::Apply => session.plan_guard(plan, manifest)?,
            _ => RunPlan::None,
        };
        Ok(ActiveRun {
            manifest,
            others,
            mode: *mode,
            options,
            commands: *commands,
            files,
            state_path: state_path.clone(),
            state: state.clone(),
            lock: lock.clone(),
            audit: audit.clone(),
            is_audited: false,
            ledger,
            record,
            selection,
            plan,
        })
    }
}
