//! Approvals of commands and manifests, signed with the SSH keys of people.
//!
//! A signature is one of `ssh-keygen -Y sign`. The file of approvers is a file of allowed signers, as `ssh-keygen -Y
//! verify` reads it, so that an auditor needs nothing but OpenSSH.
//!
//! An [`IntentDocument`] holds what shall be done. An [`ApprovalStore`] keeps intents, and counts the
//! [`SignedStatement`]s of the [`Approvers`] about them. An [`ApprovalScreen`] is an intent as a person reads it.
//!
//! This crate must never run what an intent holds, decide whether an approval is needed, or accept a signature that
//! `ssh-keygen` has not verified.

mod approvers;
mod comparison;
mod environment_salt;
mod intent;
mod intent_key;
mod names;
mod reader;
mod refusal;
mod screen;
mod ssh_keygen;
mod statement;
mod store;

pub use approvers::{Approvers, ApproversError, SignatureVerifier, SignerRole};
pub use environment_salt::EnvironmentSalt;
pub use intent::{
    ApprovalDemand, ApprovalMachine, ApprovalTime, GrantLimits, INTENT_NAMESPACE, IntendedAction,
    IntendedCommand, IntendedProgram, IntendedSandbox, IntentCaller, IntentContent, IntentDocument,
    IntentError, MAX_INTENT,
};
pub use intent_key::{IntentKey, IntentKeyError};
pub use reader::PendingReader;
pub use refusal::{ApprovalRefusal, ApprovalStoreError};
pub use screen::{ApprovalScreen, ScreenCommand, ScreenError};
pub use ssh_keygen::{KeygenError, SshKeygen};
pub use statement::{
    APPROVAL_NAMESPACE, ApprovalStatement, ApproverDecision, MANIFEST_NAMESPACE, MAX_SIGNED_STATEMENT,
    PLAN_NAMESPACE, SignedStatement, StatementError,
};
pub use store::{
    ApprovalContext, ApprovalRecord, ApprovalState, ApprovalStore, EndedIntent, GrantUse, ImportedStatement,
    InboxEntry, IntentEnd, ListedIntent, ListedIntents, StatementRecorder, UsedApproval,
};
