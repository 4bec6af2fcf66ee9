//! Plans of changes: written in noop, approved by people, and applied as they are or not at all.
//!
//! A plan is made by runs in noop: [`Session::plan_maker`], [`ActiveRun::record_plan`], then [`Session::finish_plan`].
//! [`Session::plan_now`] does all of it. A run follows a plan that [`RunOptions::plan`] holds: it changes nothing that the plan
//! does not change. Before that, [`Session::check_plan`] computes the changes again, compares, and marks the plan as used.

mod approval;
mod comparison;
mod document;
mod following;
mod key;
mod recording;
mod store;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ccm_engine::DecisionWitness;
use ccm_governance::policy::RunPolicy;
use ccm_governance::signed::ReadState;
use ccm_host::random;
use ccm_model::{CheckCounts, Counts, Event, RefreshSummary, ResourceId, RunSummary, display_timestamp};

use crate::begin::{BeginError, BeginFailure};
use crate::exit::ExitCode;
use crate::manifest::LoadedManifest;
use crate::run::{ActiveRun, RunMode, RunOptions};
use crate::session::{Session, absolute_path};
use crate::sink::Emitted;

pub use approval::{PlanSignature, PlanSignatureError, signature_path};
pub use ccm_governance::approval::PLAN_NAMESPACE;
pub use comparison::{PlanDifference, Presence, ResourceDifference, compare, shown_source};
pub use document::{
    PLAN_FORMAT, PlanDocument, PlanTextError, PlannedMachine, PlannedManifest, PlannedOptions,
    PlannedOutcome, PlannedResource,
};
pub use store::{PlanError, ReadPlan};

pub(crate) use following::PlanGuard;
pub(crate) use recording::PlanRecorder;

use comparison::differences_of_content;
use key::PlanKey;

/// Time for which a plan can be applied.
pub const PLAN_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Role of a plan in a run.
#[derive(Clone, Default)]
pub(crate) enum RunPlan {
    /// Nothing.
    #[default]
    None,
    /// A plan is made of what the run finds.
    Record(Rc<PlanRecorder>),
    /// The run makes the changes of a plan.
    Follow(Rc<PlanGuard>),
}

impl RunPlan {
    /// Returns the witness of the decisions of the run.
    pub(crate) fn witness(&self) -> Option<&dyn DecisionWitness> {
        match self {
            Self::None => None,
            Self::Record(recorder) => Some(&**recorder),
            Self::Follow(guard) => Some(&**guard),
        }
    }

    /// Takes an event of the run, which has its diff.
    pub(crate) fn accept(&self, event: &Event) {
        match self {
            Self::None => {}
            Self::Record(recorder) => recorder.accept(event),
            Self::Follow(guard) => guard.accept(event),
        }
    }
}

/// Maker of a plan from runs in noop.
pub struct PlanMaker {
    key: PlanKey,
    /// Name of each manifest, with what its run records.
    recorders: RefCell<Vec<(String, Rc<PlanRecorder>)>>,
}

/// Reason for which a plan is not applied. Nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanCheckError {
    /// The plan does not hold here and now.
    #[error("the plan does not hold any more")]
    Refused(Vec<PlanDifference>),
    /// The changes of now can't be computed.
    #[error("the changes can't be computed again")]
    Begin(Vec<BeginFailure>),
    /// The plan, its key or the record of its use can't be used.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}

impl ActiveRun<'_> {
    /// Lets a plan be made of what this run finds. It has to be one in noop that was not applied yet.
    pub fn record_plan(&mut self, maker: &PlanMaker) {
        let recorder = PlanRecorder::new(&maker.key, self.manifest);
        let name = self.manifest.input.full_name().to_owned();
        maker.recorders.borrow_mut().push((name, Rc::clone(&recorder)));
        self.plan = RunPlan::Record(recorder);
    }

    /// Ends a run that was not applied, so that the audit log has its end as well.
    pub async fn abandon(&mut self) {
        let summary = RunSummary {
            noop: false,
            monitor_only: false,
            duration: Duration::ZERO,
            counts: Counts::default(),
            checks: CheckCounts::default(),
            stopped: None,
            message: None,
            refreshes: RefreshSummary::default(),
        };
        let _unrecorded = self.end(&summary, ExitCode::NothingRun).await;
    }
}

impl Session {
    /// Returns a maker of a plan. The key of the machine's plans is made if there is none.
    pub fn plan_maker(&self) -> Result<PlanMaker, PlanError> {
        Ok(PlanMaker { key: self.plan_key()?, recorders: RefCell::default() })
    }

    /// Returns the plan of what runs have found.
    pub fn finish_plan(
        &self,
        maker: &PlanMaker,
        manifests: &[&LoadedManifest<'_>],
        options: &RunOptions,
    ) -> PlanDocument {
        let key = &maker.key;
        let now = self.doors.clock.now();
        let end = now.checked_add(PLAN_LIFETIME).unwrap_or(now);
        let shown = |id: &ResourceId| self.secrets.redact(&id.to_string()).into_owned();
        let mut plan = PlanDocument {
            format: PLAN_FORMAT.to_owned(),
            id: format!("{:032x}", random()),
            ccm: env!("CARGO_PKG_VERSION").to_owned(),
            machine: self.planned_machine(Some(key)),
            issued: display_timestamp(now, 0),
            expires: display_timestamp(end, 0),
            policy: self.governance.run_policy().ok().flatten().map(RunPolicy::digest),
            options: PlannedOptions {
                only: options.only.iter().map(shown).collect(),
                skip: options.skip.iter().map(shown).collect(),
                fail_on_error: options.fail_on_error,
            },
            manifests: manifests.iter().map(|manifest| self.planned_manifest(maker, manifest)).collect(),
            seal: String::new(),
        };
        plan.seal = store::seal(key, &plan);
        plan
    }

    fn planned_manifest(&self, maker: &PlanMaker, manifest: &LoadedManifest<'_>) -> PlannedManifest {
        let key = &maker.key;
        let input = manifest.input;
        let shown = |text: &str| self.secrets.redact(text).into_owned();
        let data = manifest.loaded.data.value.to_json().to_string();
        let assignments = input.data().assignments.join("\0");
        let facts = input.machine.used_facts().into_iter().map(|(name, value)| {
            let digest = key.digest("fact", &[name.as_bytes(), value.to_json().to_string().as_bytes()]);
            (shown(&name), digest)
        });
        let name = input.full_name();
        let recorders = maker.recorders.borrow();
        let recorder = recorders.iter().find(|(recorded, _)| recorded == name);
        PlannedManifest {
            name: shown(name),
            source: input.source().version(),
            files: self.planned_files(key, manifest),
            hiera: input
                .data()
                .files
                .iter()
                .map(|path| shown(&absolute_path(path).display().to_string()))
                .collect(),
            data: key.digest("data", &[data.as_bytes(), assignments.as_bytes()]),
            facts: facts.collect(),
            resources: recorder.map(|(_, recorder)| recorder.take()).unwrap_or_default(),
        }
    }

    /// Returns the digests of the files that a manifest was read from, and of those that its resources copy or extract.
    fn planned_files(&self, key: &PlanKey, manifest: &LoadedManifest<'_>) -> BTreeMap<String, String> {
        let input = manifest.input;
        let version = input.source().version_directory();
        let mut files = BTreeMap::new();
        let mut add = |path: &Path, content: &str| {
            let name = version.and_then(|version| path.strip_prefix(version).ok()).unwrap_or(path);
            let name = self.secrets.redact(&name.display().to_string()).into_owned();
            let digest = key.digest("file", &[name.as_bytes(), content.as_bytes()]);
            files.insert(name, digest);
        };
        for (path, state) in input.reads().files() {
            match &state {
                ReadState::Content(digest) => add(&path, digest),
                ReadState::Unsteady => add(&path, "unsteady"),
                ReadState::Absent => {}
            }
        }
        if input.path().is_none() {
            add(Path::new(input.name()), input.text());
        }
        // A file that can't be read fails its resource.
        for (path, entry) in manifest.local_sources().unwrap_or_default().entries {
            add(&path, &format!("{:?} {:?} {}", entry.sha256, entry.link, entry.executable));
        }
        files
    }

    /// Computes the plan of these manifests now. Nothing is changed or reported.
    pub async fn plan_now(
        &self,
        manifests: &[&LoadedManifest<'_>],
        options: &RunOptions,
    ) -> Result<PlanDocument, PlanCheckError> {
        let maker = self.plan_maker()?;
        let options = RunOptions { plan: None, json_lines: false, last_line: None, ..options.clone() };
        let runs = self.begin_all(manifests, RunMode::Plan, &options).await;
        for mut run in runs.map_err(PlanCheckError::Begin)? {
            run.record_plan(&maker);
            let summary = run.apply(&mut |_: Emitted<'_>| {}).await;
            let code = ExitCode::of(&summary, false);
            let _unrecorded = run.end(&summary, code).await;
        }
        if options.canceller.cause().is_some() {
            return Err(PlanCheckError::Cancelled);
        }
        Ok(self.finish_plan(&maker, manifests, &options))
    }

    /// Computes again what the runs of a plan would change, compares it with the plan, and marks the plan as used. To be called
    /// while the runs hold the lock, before the first of them is applied.
    pub async fn check_plan(
        &self,
        plan: &ReadPlan,
        manifests: &[&LoadedManifest<'_>],
        options: &RunOptions,
    ) -> Result<(), PlanCheckError> {
        let mut differences = self.plan_faults(plan)?;
        if differences.iter().any(PlanDifference::makes_incomparable) {
            return Err(PlanCheckError::Refused(differences));
        }
        let found = self.plan_now(manifests, options).await?;
        differences.extend(differences_of_content(&plan.document, &found));
        if !differences.is_empty() {
            return Err(PlanCheckError::Refused(differences));
        }
        if !self.mark_used(&plan.document)? {
            return Err(PlanCheckError::Refused(vec![PlanDifference::Used]));
        }
        Ok(())
    }

    /// Returns `true` if the policy lets only approved plans be applied.
    pub fn policy_requires_plan(&self) -> bool {
        self.governance.run_policy().ok().flatten().is_some_and(RunPolicy::requires_plan)
    }

    /// Builds the guard of the run of a manifest that follows a plan.
    pub(crate) fn plan_guard(
        &self,
        plan: &ReadPlan,
        manifest: &LoadedManifest<'_>,
    ) -> Result<RunPlan, BeginError> {
        let missing = || PlanError::NoKey(self.state_path().unwrap_or_default());
        let key = self.existing_plan_key().and_then(|key| key.ok_or_else(missing));
        let key = key.map_err(|error| BeginError::Plan(Box::new(error)))?;
        Ok(RunPlan::Follow(PlanGuard::new(key, plan, manifest)))
    }
}

impl PlanDifference {
    /// Returns `true` if the content of the plan can't be compared with what is found on this machine.
    pub fn makes_incomparable(&self) -> bool {
        matches!(self, Self::Machine { .. } | Self::Key | Self::Edited)
    }
}
