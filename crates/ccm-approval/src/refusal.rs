//! Reasons for which an approval is refused, each with its own name.

use std::io;
use std::path::PathBuf;

use ccm_host::state::StateError;
use ccm_sshsig::SignatureRefusal;

use crate::intent::IntentError;
use crate::intent_key::IntentKeyError;
use crate::screen::ScreenError;
use crate::statement::StatementError;

/// Error of the store of approvals. Nothing may be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalStoreError {
    /// The directory can't be used.
    #[error(transparent)]
    Directory(#[from] StateError),
    /// A file can't be read or written.
    #[error("{path:?} can't be {verb}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Failed step, such as `read`.
        verb: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The key of ccm can't be used.
    #[error("the key {path:?} can't be used")]
    Key {
        /// Path of the key.
        path: PathBuf,
        /// Error of the key.
        source: IntentKeyError,
    },
    /// Too many intents wait.
    #[error("the store of approvals is full: {limit} requests wait already")]
    Full {
        /// Maximum number.
        limit: usize,
    },
    /// Too many intents of one user of tools wait.
    #[error("the store of approvals is full for {user}: {limit} requests of this user wait already")]
    FullForUser {
        /// Name of the user, without control characters.
        user: String,
        /// Maximum number for one user.
        limit: usize,
    },
    /// The intent can't be made.
    #[error(transparent)]
    Intent(#[from] IntentError),
    /// Nobody could know what he approves.
    #[error(transparent)]
    Unshowable(#[from] ScreenError),
}

impl ApprovalStoreError {
    /// Returns `true` if no intent can be added before others end.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::FullForUser { .. })
    }
}

/// Reason for which an intent is not approved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalRefusal {
    /// The statement can't be read.
    #[error("the statement can't be read: {0}")]
    Statement(#[from] StatementError),
    /// The signature is refused.
    #[error("the signature is refused: {0}")]
    Signature(#[from] SignatureRefusal),
    /// No such intent waits.
    #[error("no intent {name:?} waits for an approval")]
    NotPending {
        /// Code or id.
        name: String,
    },
    /// The intent on the disk was not made by ccm, or was changed.
    #[error("intent {id} was not signed by ccm on this machine")]
    ForgedIntent {
        /// Id of the intent.
        id: String,
    },
    /// The statement is about another intent of this id.
    #[error("the statement is not about intent {id} as it waits here")]
    OtherIntent {
        /// Id of the intent.
        id: String,
    },
    /// The intent is that of another machine.
    #[error("the intent is that of machine {found:?}")]
    OtherMachine {
        /// Id of the other machine.
        found: String,
    },
    /// The machine was rebooted.
    #[error("intent {id} ended when the machine was rebooted")]
    OtherBoot {
        /// Id of the intent.
        id: String,
    },
    /// The policy was changed.
    #[error("intent {id} ended when the policy was changed")]
    PolicyChanged {
        /// Id of the intent.
        id: String,
    },
    /// Nobody approved in time.
    #[error("intent {id} ended at {expires} without an approval")]
    IntentExpired {
        /// Id of the intent.
        id: String,
        /// Time at which it ended.
        expires: String,
    },
    /// The approval was not used in time.
    #[error("the approval of {approver:?} has expired")]
    ApprovalExpired {
        /// Principal of the approver.
        approver: String,
    },
    /// The statement holds no longer.
    #[error("the statement ended at {not_after}")]
    StatementExpired {
        /// Last moment at which it held.
        not_after: String,
    },
    /// The statement was imported before.
    #[error("the statement was used before (nonce {nonce})")]
    Replayed {
        /// Nonce of the statement.
        nonce: String,
    },
    /// The intent was executed.
    #[error("intent {id} was used before")]
    AlreadyUsed {
        /// Id of the intent.
        id: String,
    },
    /// An approver has rejected the intent.
    #[error("intent {id} was rejected by {approver:?}: {reason}")]
    Rejected {
        /// Id of the intent.
        id: String,
        /// Principal of the approver, or the name of the owner of the store.
        approver: String,
        /// Reason, without control characters.
        reason: String,
    },
    /// The caller has withdrawn the intent.
    #[error("intent {id} was withdrawn")]
    Withdrawn {
        /// Id of the intent.
        id: String,
    },
    /// Something of the intent has changed, so that nothing can be approved any more.
    #[error("intent {id} does not count any more: {reason}")]
    Void {
        /// Id of the intent.
        id: String,
        /// Difference.
        reason: String,
    },
    /// The signature is not one of the exported statement.
    #[error("nothing was exported for intent {id}")]
    NotExported {
        /// Id of the intent.
        id: String,
    },
    /// The policy wants other approvers.
    #[error("{approver:?} is not one of the approvers: {}", expected.join(", "))]
    NotAnApprover {
        /// Principal of the key.
        approver: String,
        /// Principals who may approve.
        expected: Vec<String>,
    },
    /// The caller approves itself.
    #[error("{approver:?} is the caller, and somebody else has to approve")]
    FourEyes {
        /// Principal of the key.
        approver: String,
    },
    /// The same person or the same key approves twice.
    #[error("{approver:?} has approved intent {id} already, or with this key somebody else has")]
    SameApprover {
        /// Id of the intent.
        id: String,
        /// Principal of the key.
        approver: String,
    },
    /// More approvals are needed.
    #[error("intent {id} has {found} of {needed} approvals")]
    Waiting {
        /// Id of the intent.
        id: String,
        /// Number of approvals.
        found: u32,
        /// Number of approvals that are needed.
        needed: u32,
    },
    /// The policy or the intent allows no grant.
    #[error("intent {id} can only be approved once: {reason}")]
    NoGrant {
        /// Id of the intent.
        id: String,
        /// Reason.
        reason: &'static str,
    },
    /// The grant exceeds the limits of the policy.
    #[error("a grant of {uses} uses is more than the policy allows: {limit}")]
    GrantTooLarge {
        /// Number of uses of the statement.
        uses: u32,
        /// Maximum number of uses.
        limit: u32,
    },
    /// A program was replaced, or removed.
    #[error("{path:?} is not the program that was approved")]
    ProgramChanged {
        /// Path of the program.
        path: String,
    },
    /// The statement can't be recorded.
    #[error("it can't be recorded")]
    Unrecorded(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store can't be used.
    #[error(transparent)]
    Store(#[from] ApprovalStoreError),
}
