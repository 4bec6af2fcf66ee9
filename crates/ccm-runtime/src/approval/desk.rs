//! What an approver does: look at requests, sign or reject them.

use std::time::Duration;

use ccm_approval::{APPROVAL_NAMESPACE, Approvers, VerifiedSignature};
use ccm_host::{SigningKey, random};
use ccm_model::timestamp;

use super::gatekeeper::{RequestState, RequestStoreError, refusal_of, time_left};
use super::request::{ApprovalRequest, GrantedApproval};
use super::store::{RequestStore, StoredApproval, StoredRequest, is_code};
use super::{SignError, SignatureFailure};
use crate::audit::{ApprovalEvent, AuditProblem};
use crate::session::Session;

/// Request with its state.
#[derive(Clone, Debug)]
pub struct ListedRequest {
    /// The request.
    pub request: ApprovalRequest,
    /// The state.
    pub state: RequestState,
    /// Time in which the request can be approved.
    pub time_left: Duration,
}

/// Reason for which a request was not approved or rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproveError {
    /// No request has the code.
    #[error("nothing waits for an approval as `{}`", .0.escape_debug())]
    Unknown(String),
    /// The request has ended.
    #[error("{code} can't be approved any more: {reason}")]
    Ended {
        /// Code of the request.
        code: String,
        /// The reason.
        reason: String,
    },
    /// The signature is not one of the exported statement.
    #[error("nothing was exported for {0}")]
    NotExported(String),
    /// The signature does not count.
    #[error("the signature does not count")]
    Signature(#[from] SignatureFailure),
    /// The approver may not approve this.
    #[error("{} {reason}", approver.escape_debug())]
    Approver {
        /// Name of the approver.
        approver: String,
        /// The reason, as a predicate.
        reason: &'static str,
    },
    /// More uses were asked for than the rule allows.
    #[error("the rule allows at most {0} uses of an approval")]
    Uses(u32),
    /// A longer time was asked for than the policy allows.
    #[error("an approval counts for at most {0} seconds")]
    Time(u64),
    /// Nothing was signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The policy requires a record in the audit log, and there can be none.
    #[error("it can't be recorded in the audit log, as the policy requires")]
    Audit(#[from] AuditProblem),
    /// The store can't be used.
    #[error(transparent)]
    Store(#[from] RequestStoreError),
}

/// Limits that an approver sets.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApprovalLimits {
    /// Time for which the approval can be used.
    pub valid: Option<Duration>,
    /// Number of uses.
    pub uses: Option<u32>,
}

impl Session {
    /// Returns the requests that wait, were approved or were rejected, the oldest first.
    pub fn approval_requests(&self) -> Result<Vec<ListedRequest>, RequestStoreError> {
        let Some(store) = self.approval_store()? else { return Ok(Vec::new()) };
        let approvers = self.approvers()?;
        let requests = store.requests()?;
        let mut listed = Vec::with_capacity(requests.len());
        for stored in requests {
            let state = self.state_of(&store, &stored, &approvers)?;
            let time_left = time_left(&stored.request.expires, self.doors.clock.now()).unwrap_or_default();
            listed.push(ListedRequest { request: stored.request, state, time_left });
        }
        Ok(listed)
    }

    /// Returns a request by its code.
    pub fn approval_request(&self, code: &str) -> Result<ListedRequest, ApproveError> {
        let (store, stored) = self.find(code)?;
        let state = self.state_of(&store, &stored, &self.approvers().map_err(RequestStoreError::from)?)?;
        let time_left = time_left(&stored.request.expires, self.doors.clock.now()).unwrap_or_default();
        Ok(ListedRequest { request: stored.request, state, time_left })
    }

    /// Returns the statement to sign on another machine, always the same for one request.
    pub fn export_request(&self, code: &str) -> Result<Vec<u8>, ApproveError> {
        let (store, stored) = self.find(code)?;
        self.check_open(&store, &stored)?;
        let code = &stored.request.code;
        if let Some(statement) = store.exported(code) {
            return Ok(statement);
        }
        let statement = self.statement_of(&stored, ApprovalLimits::default())?;
        store.export(code, &statement).map_err(RequestStoreError::from)?;
        Ok(statement)
    }

    /// Rejects a request for good.
    pub fn reject_request(&self, code: &str, reason: &str) -> Result<(), ApproveError> {
        let (store, stored) = self.find(code)?;
        self.check_open(&store, &stored)?;
        self.record_approval(&ApprovalEvent {
            intent: stored.request.id.clone(),
            event: "rejected",
            approver: None,
            reason: Some(reason.to_owned()),
        })?;
        Ok(store.reject(&stored.request.code, reason).map_err(RequestStoreError::from)?)
    }

    /// Approves a request with the key of the person at the terminal.
    pub fn approve_request(
        &self,
        code: &str,
        key: &SigningKey,
        limits: ApprovalLimits,
    ) -> Result<(VerifiedSignature, RequestState), ApproveError> {
        let (store, stored) = self.find(code)?;
        self.check_open(&store, &stored)?;
        let statement = self.statement_of(&stored, limits)?;
        let approvers = self.approvers().map_err(RequestStoreError::from)?;
        let (signature, _) = self.sign(key, APPROVAL_NAMESPACE, &statement, Some(&approvers))?;
        self.add_approval(&store, &stored, &approvers, &StoredApproval { statement, signature })
    }

    /// Approves a request with a signature of its exported statement.
    pub fn import_approval(
        &self,
        code: &str,
        signature: String,
    ) -> Result<(VerifiedSignature, RequestState), ApproveError> {
        let (store, stored) = self.find(code)?;
        self.check_open(&store, &stored)?;
        let exported = store.exported(&stored.request.code);
        let statement = exported.ok_or_else(|| ApproveError::NotExported(stored.request.code.clone()))?;
        let approvers = self.approvers().map_err(RequestStoreError::from)?;
        self.add_approval(&store, &stored, &approvers, &StoredApproval { statement, signature })
    }

    fn add_approval(
        &self,
        store: &RequestStore,
        stored: &StoredRequest,
        approvers: &Approvers,
        approval: &StoredApproval,
    ) -> Result<(VerifiedSignature, RequestState), ApproveError> {
        let by = self.verify(approvers, APPROVAL_NAMESPACE, &approval.statement, &approval.signature)?;
        let refusals = stored.request.needs.iter().filter_map(|need| refusal_of(&stored.request, need, &by));
        // An approver who can fulfil one of the needs helps.
        let refusals: Vec<&'static str> = refusals.collect();
        if let Some(reason) = refusals.first().filter(|_| refusals.len() == stored.request.needs.len()) {
            return Err(ApproveError::Approver { approver: by.principal, reason });
        }
        self.record_approval(&ApprovalEvent {
            intent: stored.request.id.clone(),
            event: "approved",
            approver: Some(by.principal.clone()),
            reason: None,
        })?;
        let code = &stored.request.code;
        store.approve(code, &by.key.fingerprint(), approval).map_err(RequestStoreError::from)?;
        let state = self.state_of(store, stored, approvers)?;
        Ok((by, state))
    }

    fn statement_of(&self, stored: &StoredRequest, limits: ApprovalLimits) -> Result<Vec<u8>, ApproveError> {
        let request = &stored.request;
        let uses = limits.uses.unwrap_or(1);
        if uses > request.uses || uses == 0 {
            return Err(ApproveError::Uses(request.uses));
        }
        let most = Duration::from_secs(request.valid);
        let valid = limits.valid.unwrap_or(most);
        if valid > most {
            return Err(ApproveError::Time(request.valid));
        }
        let now = self.doors.clock.now();
        let end = timestamp(now.checked_add(valid).unwrap_or(now), 2).to_string();
        Ok(GrantedApproval::new(&stored.bytes, &end, uses, random()).bytes())
    }

    fn check_open(&self, store: &RequestStore, stored: &StoredRequest) -> Result<(), ApproveError> {
        let approvers = self.approvers().map_err(RequestStoreError::from)?;
        let ended = |reason: &str| {
            Err(ApproveError::Ended { code: stored.request.code.clone(), reason: reason.to_owned() })
        };
        match self.state_of(store, stored, &approvers)? {
            RequestState::Waiting(_) | RequestState::Approved { .. } => Ok(()),
            RequestState::Rejected(reason) => ended(&format!("it was rejected: {reason}")),
            RequestState::Used => ended("it was used"),
            RequestState::Ended(reason) => ended(reason),
        }
    }

    fn approval_store(&self) -> Result<Option<RequestStore>, RequestStoreError> {
        Ok(RequestStore::open(&self.approvals_path()?)?)
    }

    /// Finds a request by its code or its whole name.
    fn find(&self, name: &str) -> Result<(RequestStore, StoredRequest), ApproveError> {
        let unknown = || ApproveError::Unknown(name.to_owned());
        let (code, _) = name.split_once('-').unwrap_or((name, ""));
        let code = code.to_ascii_uppercase();
        if !is_code(&code) {
            return Err(unknown());
        }
        let store = self.approval_store()?.ok_or_else(unknown)?;
        let stored = store.request(&code).ok_or_else(unknown)?;
        Ok((store, stored))
    }
}
