//! Governance of a machine: its policy, its approvals and its audit log.

use std::cell::OnceCell;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ccm_audit::ForwardFailure;
use ccm_expr::Value;
use ccm_host::{Clock, Files, Machine, TextError, read_text};
use ccm_redaction::Secrets;

use crate::audit::{AuditProblem, AuditSource};
use crate::policy::{CheckedPolicy, FoundPolicy, PolicyError, PolicySource};

/// Doors to what governance needs of the machine, and to the program that it reports to.
pub trait GovernanceDoors {
    /// Returns the door to files outside of runs.
    fn files(&self) -> &dyn Files;

    /// Returns the clock.
    fn clock(&self) -> &dyn Clock;

    /// Returns the door to the facts of the machine.
    fn machine(&self) -> &dyn Machine;

    /// Reads a file of at most `limit` bytes that the caller of the program names, or standard input without a path.
    fn input(&self, path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>>;

    /// Gathers the facts of the machine for conditions of the policy; `None` if they can't be read.
    fn facts(&self) -> Option<Value>;

    /// Looks up the name of a user; `None` if it is unknown, or if no command was run yet.
    fn user_name(&self, uid: u32) -> Option<String>;

    /// Takes a notice.
    fn notice(&self, notice: &GovernanceNotice<'_>);
}

/// Notice that is not an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum GovernanceNotice<'a> {
    /// Something that could not be recorded in the audit log. The run goes on, unless its policy requires a record.
    Audit(&'a AuditProblem),
    /// A seal of the audit log that could not be handed on. It is tried again with the next one.
    SealNotForwarded(&'a ForwardFailure),
    /// Verdict of a policy that only reports: a run goes on in spite of it.
    Policy {
        /// Type and name of the resource.
        resource: &'a str,
        /// Verdict: `ask` or `deny`.
        verdict: &'static str,
        /// Reason, without secrets.
        reason: &'a str,
    },
}

/// Places of the policy, of approvals and of the audit log.
#[derive(Clone, Debug, Default)]
pub struct GovernancePlaces {
    /// Policy of the operator.
    pub policy: PolicySource,
    /// Place of the audit log. A log that exists there is used.
    pub audit: AuditSource,
    /// Directory of requests and approvals; the default is `/var/lib/ccm/approvals` as root, and the user's own
    /// otherwise.
    pub approvals: Option<PathBuf>,
}

/// Policy, approvals and audit log of a machine. Each is read when it is needed first.
pub struct Governance {
    pub(crate) doors: Rc<dyn GovernanceDoors>,
    pub(crate) secrets: Secrets,
    /// Program that starts `ssh-keygen` in a sandbox.
    pub(crate) launcher: Option<PathBuf>,
    pub(crate) places: GovernancePlaces,
    pub(crate) policy: OnceCell<Result<Option<CheckedPolicy>, Arc<PolicyError>>>,
    /// Files of the policy, once they were read.
    pub(crate) found_policy: OnceCell<Result<FoundPolicy, Arc<PolicyError>>>,
}

impl Governance {
    /// Creates the governance of a machine. Nothing is read or written yet. With a launcher, `ssh-keygen` runs in a
    /// sandbox.
    pub fn new(
        doors: Rc<dyn GovernanceDoors>,
        secrets: Secrets,
        launcher: Option<PathBuf>,
        places: GovernancePlaces,
    ) -> Self {
        let (policy, found_policy) = (OnceCell::new(), OnceCell::new());
        Self { doors, secrets, launcher, places, policy, found_policy }
    }

    /// Returns the places of the policy, of approvals and of the audit log.
    pub fn places(&self) -> &GovernancePlaces {
        &self.places
    }

    /// Reads a file of at most `limit` bytes that the caller names, or standard input without a path.
    pub(crate) fn read_text(
        &self,
        path: Option<&Path>,
        limit: u64,
        what: &'static str,
    ) -> Result<(String, String), TextError> {
        read_text(|path, limit| self.doors.input(path, limit), path, limit, what)
    }
}

impl fmt::Debug for Governance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Governance").field("places", &self.places).finish_non_exhaustive()
    }
}
