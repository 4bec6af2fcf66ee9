//! Plans as files, their key, and the record of the plans that were used.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ccm_host::state::{Directory, StateError};
use ccm_host::{
    FileAttributes, FileError, FileInfo, FileKind, InspectOptions, NewContent, NewFile, TextError,
    random_secret,
};
use ccm_model::parse_timestamp;

use super::approval::PlanSignature;
use super::comparison::{PlanCircumstances, PlanDifference, faults};
use super::document::{PlanDocument, PlanTextError, PlannedMachine};
use super::key::PlanKey;
use crate::session::{Session, absolute_path};

/// Directory in the state directory.
const PLANS: &str = "plans";
/// Key of the digests.
const KEY: &str = "key";
/// Directory of a file for each plan that was used.
const USED: &str = "used";
/// Maximum size of a plan in bytes.
const MAX_PLAN: u64 = 64 << 20;
/// Maximum size of the record of a use.
const MAX_USE: u64 = 1 << 10;
/// Time after the end of a plan for which its use is remembered, because a clock may be set back.
const REMEMBERED: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Error of a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file of the state directory can't be used.
    #[error("{} can't be used", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// There is no key: no plan was made with this state directory.
    #[error("no plan was made with the state directory {}", .0.display())]
    NoKey(PathBuf),
    /// The plan can't be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// The file is no plan.
    #[error("{} can't be read as a plan", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: PlanTextError,
    },
    /// The plan can't be written.
    #[error(transparent)]
    Write(FileError),
    /// A file that is no plan is in the place of the plan.
    #[error("{} exists and is not a plan", .0.display())]
    InTheWay(PathBuf),
}

/// Plan that was read, with what its signature says.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// Path of the plan.
    pub path: PathBuf,
    /// The plan.
    pub document: PlanDocument,
    /// Text of the plan, which is what approvers sign.
    pub text: Arc<str>,
    /// The signature beside the plan.
    pub signature: PlanSignature,
}

impl Session {
    /// Reads a plan and the signature beside it.
    pub fn read_plan(&self, path: &Path) -> Result<ReadPlan, PlanError> {
        let (_, text) = self.read_text(Some(path), MAX_PLAN, "plan")?;
        let document =
            PlanDocument::parse(&text).map_err(|source| PlanError::Text { path: path.to_owned(), source })?;
        let signature = self.signature_of_plan(path, text.as_bytes());
        Ok(ReadPlan { path: path.to_owned(), document, text: text.into(), signature })
    }

    /// Writes a plan, which only its owner can read. A signature of an earlier plan at the same path is removed.
    pub fn write_plan(&self, plan: &PlanDocument, path: &Path) -> Result<(), PlanError> {
        let path = absolute_path(path);
        let files = &self.doors.files;
        let found = files.inspect(&path, InspectOptions::default()).map_err(PlanError::Write)?;
        let is_other = |found: FileInfo| found.kind != FileKind::File || self.read_plan(&path).is_err();
        if found.target.is_some_and(is_other) {
            return Err(PlanError::InTheWay(path));
        }
        let text = plan.text();
        let attributes = FileAttributes { mode: Some(0o600), ..FileAttributes::default() };
        let new = NewFile { content: NewContent::Bytes(text.as_bytes()), attributes };
        let signature = super::approval::signature_path(&path);
        if files.exists(&signature).unwrap_or(false) {
            files.remove(&signature, false).map_err(PlanError::Write)?;
        }
        files.write(&path, &new).map(drop).map_err(PlanError::Write)
    }

    /// Returns the faults of a plan itself: of another machine, edited, expired, used.
    pub fn plan_faults(&self, plan: &ReadPlan) -> Result<Vec<PlanDifference>, PlanError> {
        let key = self.existing_plan_key()?;
        let machine = self.planned_machine(key.as_ref());
        let is_sealed = key.filter(|key| key.name() == plan.document.machine.key).map(|key| {
            *plan.document.text() == *plan.text && seal(&key, &plan.document) == plan.document.seal
        });
        Ok(faults(
            &plan.document,
            PlanCircumstances {
                machine: &machine,
                version: env!("CARGO_PKG_VERSION"),
                now: self.doors.clock.now(),
                is_sealed,
                is_used: self.is_used(&plan.document)?,
            },
        ))
    }

    /// Records durably that a plan is used. Returns `false` if it was used before.
    pub(super) fn mark_used(&self, plan: &PlanDocument) -> Result<bool, PlanError> {
        let plans = self.plan_directory()?;
        let failed = |name: &str| store_error(&plans, name);
        let used = plans.make(USED).map_err(failed(USED))?;
        self.forget_expired(&used);
        let failed = store_error(&used, &plan.id);
        let mut file = match used.create(&plan.id) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        let written = file.write_all(format!("{}\n", plan.expires).as_bytes());
        written.and_then(|()| file.sync()).and_then(|()| used.sync()).map_err(failed)?;
        Ok(true)
    }

    /// Removes the records of plans that expired long ago. One that can't be removed stays.
    fn forget_expired(&self, used: &Directory) {
        let now = self.doors.clock.now();
        for name in used.names().unwrap_or_default() {
            let expires = used.read_foreign(&name, MAX_USE).ok();
            let expires =
                expires.and_then(|(bytes, _)| parse_timestamp(String::from_utf8(bytes).ok()?.trim()));
            if expires.and_then(|end| end.checked_add(REMEMBERED)).is_some_and(|end| end < now) {
                let _stays = used.remove_unsynced(&name);
            }
        }
    }

    fn is_used(&self, plan: &PlanDocument) -> Result<bool, PlanError> {
        let Some(state) = Directory::open(&self.state_path()?)? else { return Ok(false) };
        let found =
            state.enter(PLANS).and_then(|plans| plans.enter(USED)).and_then(|used| used.size(&plan.id));
        match found {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            // Another user can't see it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
            Err(error) => Err(store_error(&state, PLANS)(error)),
        }
    }

    /// Returns this machine, as plans name it.
    pub(super) fn planned_machine(&self, key: Option<&PlanKey>) -> PlannedMachine {
        PlannedMachine {
            id: self.governance.audited_machine().id,
            name: self.doors.machine.kernel().hostname,
            key: key.map_or_else(|| "none".to_owned(), PlanKey::name),
        }
    }

    fn plan_directory(&self) -> Result<Directory, PlanError> {
        let state = Directory::open_private(&self.state_path()?)?;
        state.make(PLANS).map_err(store_error(&state, PLANS))
    }

    /// Reads the key of the digests, or makes it.
    pub(super) fn plan_key(&self) -> Result<PlanKey, PlanError> {
        if let Some(key) = self.existing_plan_key()? {
            return Ok(key);
        }
        let plans = self.plan_directory()?;
        let failed = store_error(&plans, KEY);
        let secret: [u8; 32] = random_secret().map_err(&failed)?;
        match plans.create(KEY) {
            Ok(mut file) => {
                let written = file.write_all(&secret);
                written.and_then(|()| file.sync()).and_then(|()| plans.sync()).map_err(failed)?;
                Ok(PlanKey::new(secret))
            }
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.existing_plan_key()?.ok_or_else(|| failed(error))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Reads the key of the digests; `None` if there is none, or if it belongs to another user.
    pub(super) fn existing_plan_key(&self) -> Result<Option<PlanKey>, PlanError> {
        let Some(state) = Directory::open(&self.state_path()?)? else { return Ok(None) };
        let plans = match state.enter(PLANS) {
            Ok(plans) => plans,
            Err(error) if is_hidden(&error) => return Ok(None),
            Err(error) => return Err(store_error(&state, PLANS)(error)),
        };
        let failed = store_error(&plans, KEY);
        let mut file = match plans.read(KEY) {
            Ok(file) => file,
            Err(error) if is_hidden(&error) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        plans.only_ours(KEY).map_err(&failed)?;
        let mut secret = [0; 32];
        file.read_exact(&mut secret).map_err(failed)?;
        Ok(Some(PlanKey::new(secret)))
    }
}

/// Returns the seal of a plan.
pub(super) fn seal(key: &PlanKey, plan: &PlanDocument) -> String {
    key.digest("plan", &[&plan.sealed_bytes()])
}

fn is_hidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

fn store_error(directory: &Directory, name: &str) -> impl Fn(io::Error) -> PlanError + use<> {
    let path = directory.path().join(name);
    move |source| PlanError::Store { path: path.clone(), source }
}
