//! Decision on what the policy asks for: an approval is used up, or a request is stored.

use std::cell::OnceCell;
use std::time::{Duration, SystemTime};

use ccm_approval::{APPROVAL_NAMESPACE, Approvers, ApproversError, VerifiedSignature};
use ccm_host::state::StateError;
use ccm_host::{random, sha256, started_by};
use ccm_model::{parse_timestamp, timestamp};

use super::request::{ApprovalRequest, GrantedApproval, REQUEST_TYPE, RequestedNeed};
use super::store::{RequestStore, StoredRequest};
use crate::audit::ApprovalEvent;
use crate::session::Session;

/// Time for which a request of an apply can be approved, and an approval used.
pub(crate) const APPLY_TIME: Duration = Duration::from_secs(24 * 3600);

/// State of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// More approvals are needed. The approvers who have signed already.
    Waiting(Vec<String>),
    /// Everybody has signed. The next run uses the approval.
    Approved {
        /// Approvers.
        by: Vec<String>,
        /// Time at which the approval ends, by RFC 3339.
        until: String,
        /// Number of uses that are left.
        uses: u32,
    },
    /// An approver has refused, with a reason.
    Rejected(String),
    /// The approval was used.
    Used,
    /// The time is over, or the machine was started again.
    Ended(&'static str),
}

/// Answer to a question of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalAnswer {
    /// The approval with this id was used up, or in noop would be.
    Approved { id: String },
    /// Nothing covers the request. It waits under this id, if it was stored.
    Waits { id: Option<String>, notes: Vec<String>, hints: Vec<String> },
}

/// Everything about a request but its name and its times.
pub(crate) type RequestDraft = ApprovalRequest;

impl Session {
    /// Returns a request with the given action that is not stored yet.
    pub(crate) fn new_request(&self, manifest: &str, resource: &str, purpose: &str) -> RequestDraft {
        let by = started_by();
        let user = by.sudo_user.or(by.user).unwrap_or_else(|| by.uid.to_string());
        ApprovalRequest {
            format: REQUEST_TYPE.to_owned(),
            id: String::new(),
            code: String::new(),
            machine: self.doors.machine.kernel().hostname,
            boot: self.boot(),
            since_boot: self.doors.machine.since_boot().as_secs(),
            created: String::new(),
            expires: String::new(),
            valid: APPLY_TIME.as_secs(),
            uses: 1,
            user,
            manifest: manifest.to_owned(),
            resource: resource.to_owned(),
            purpose: purpose.to_owned(),
            class: "execute".to_owned(),
            resource_class: "execution-node".to_owned(),
            action: super::RequestedAction::default(),
            commands: Vec::new(),
            policy: String::new(),
            needs: Vec::new(),
        }
    }

    fn boot(&self) -> String {
        let path = std::path::Path::new("/proc/sys/kernel/random/boot_id");
        let read = self.doors.machine.read(path, 64).unwrap_or_default();
        String::from_utf8_lossy(&read).trim().to_owned()
    }

    /// Answers a question of the policy. Without `uses_up`, nothing is stored and no approval is used. What happened to
    /// requests and approvals is added to `events`.
    pub(crate) fn answer(
        &self,
        draft: RequestDraft,
        pending: Duration,
        uses_up: bool,
        events: &mut Vec<ApprovalEvent>,
    ) -> Result<ApprovalAnswer, RequestStoreError> {
        let path = self.approvals_path()?;
        let approvers = match self.approvers() {
            Ok(approvers) => approvers,
            Err(error) => {
                let causes = ccm_model::error_layers(&error).join(": ");
                return Ok(ApprovalAnswer::Waits { id: None, notes: vec![causes], hints: Vec::new() });
            }
        };
        let opened = if uses_up { Some(RequestStore::make(&path)?) } else { RequestStore::open(&path)? };
        let waits = |id, notes| ApprovalAnswer::Waits { id, notes, hints: Vec::new() };
        let Some(store) = opened else { return Ok(waits(None, Vec::new())) };
        let mut notes = Vec::new();
        let mut happened = |id: &str, event, approver, reason| {
            if uses_up {
                events.push(ApprovalEvent { intent: id.to_owned(), event, approver, reason });
            }
        };
        for stored in store.requests()? {
            let (code, id) = (&stored.request.code, &stored.request.id);
            if !stored.request.has_subject_of(&draft) {
                continue;
            }
            let state = self.state_of(&store, &stored, &approvers)?;
            let is_live = matches!(state, RequestState::Waiting(_) | RequestState::Approved { .. });
            if let Some(difference) = stored.request.difference(&draft).filter(|_| is_live) {
                notes.push(format!("the approval {code} does not count: {difference}"));
                happened(id, "void", None, Some(difference));
                if uses_up {
                    store.remove(code)?;
                }
                continue;
            }
            match state {
                RequestState::Approved { by, .. } => {
                    let used = format!("{} {}", stored.request.id, by.join(","));
                    if !uses_up || store.use_up(code, uses_of(&store, &stored)?, &used)? {
                        happened(id, "used", Some(by.join(", ")), None);
                        return Ok(ApprovalAnswer::Approved { id: id.clone() });
                    }
                    notes.push(format!("the approval {code} was used by another run"));
                }
                RequestState::Waiting(_) => {
                    let hints = vec![approve_hint(code)];
                    let id = uses_up.then(|| stored.request.id.clone());
                    return Ok(ApprovalAnswer::Waits { id, notes, hints });
                }
                RequestState::Rejected(reason) => {
                    // It has no id for the commands that approve what waits.
                    let notes = vec![format!("{code} was rejected: {reason}")];
                    let end = &stored.request.expires;
                    let hints = vec![format!("it stays rejected until {end}; a run after that asks again")];
                    return Ok(ApprovalAnswer::Waits { id: None, notes, hints });
                }
                RequestState::Used => {
                    if uses_up {
                        store.remove(code)?;
                    }
                }
                RequestState::Ended(why) => {
                    notes.push(format!("{code} has ended: {why}"));
                    happened(id, "ended", None, Some(why.to_owned()));
                    if uses_up {
                        store.remove(code)?;
                    }
                }
            }
        }
        if !uses_up {
            return Ok(waits(None, notes));
        }
        let code = store.new_code()?;
        let now = self.doors.clock.now();
        let request = ApprovalRequest {
            id: format!("{code}-{:032x}", random()),
            created: timestamp(now, 2).to_string(),
            expires: timestamp(now.checked_add(pending).unwrap_or(now), 2).to_string(),
            code: code.clone(),
            ..draft
        };
        store.add(&request)?;
        let subject = format!("{} of {}", request.purpose, request.resource);
        happened(&request.id, "requested", None, Some(subject));
        Ok(ApprovalAnswer::Waits { id: Some(request.id), notes, hints: vec![approve_hint(&code)] })
    }

    /// Returns the salt of digests of variables; `None` if nothing was stored yet.
    pub(crate) fn approval_salt(&self, uses_up: bool) -> Result<Option<Vec<u8>>, RequestStoreError> {
        let path = self.approvals_path()?;
        let store = if uses_up { Some(RequestStore::make(&path)?) } else { RequestStore::open(&path)? };
        Ok(store.map(|store| store.salt()).transpose()?)
    }

    /// Returns the state of a request now.
    pub(super) fn state_of(
        &self,
        store: &RequestStore,
        stored: &StoredRequest,
        approvers: &Approvers,
    ) -> Result<RequestState, RequestStoreError> {
        let StoredRequest { request, bytes } = stored;
        let now = self.doors.clock.now();
        let is_past = request.end().is_none_or(|end| now >= end);
        if let Some(reason) = store.rejection(&request.code).filter(|_| !is_past) {
            return Ok(RequestState::Rejected(reason));
        }
        if request.boot != self.boot() {
            return Ok(RequestState::Ended("the machine was started again"));
        }
        let mut signed: Vec<(VerifiedSignature, SystemTime)> = Vec::new();
        for approval in store.approvals(&request.code)? {
            let verified =
                self.verify(approvers, APPROVAL_NAMESPACE, &approval.statement, &approval.signature);
            let statement = GrantedApproval::parse(&approval.statement);
            let Some((by, statement)) = verified.ok().zip(statement) else { continue };
            let Some(end) = statement.end().filter(|end| now < *end && statement.is_about(bytes)) else {
                continue;
            };
            if !signed.iter().any(|(other, _)| other.principal == by.principal) {
                signed.push((by, end));
            }
        }
        let is_met = |need: &RequestedNeed| {
            let count = signed.iter().filter(|(by, _)| refusal_of(request, need, by).is_none()).count();
            count >= need.count as usize
        };
        let by: Vec<String> = signed.iter().map(|(by, _)| by.principal.clone()).collect();
        if !signed.is_empty() && request.needs.iter().all(is_met) {
            let used = store.used(&request.code)?;
            let left = uses_of(store, stored)?.saturating_sub(used);
            if left == 0 {
                return Ok(RequestState::Used);
            }
            let end = signed.iter().map(|(_, end)| *end).min().unwrap_or(now);
            let since =
                self.doors.machine.since_boot().saturating_sub(Duration::from_secs(request.since_boot));
            if since > request.pending_time() + Duration::from_secs(request.valid) {
                return Ok(RequestState::Ended("its time is over"));
            }
            return Ok(RequestState::Approved { by, until: timestamp(end, 2).to_string(), uses: left });
        }
        // A clock that was set back does not prolong the time.
        let since = self.doors.machine.since_boot().as_secs().saturating_sub(request.since_boot);
        let is_over = is_past || since > request.pending_time().as_secs().saturating_add(1);
        if is_over {
            return Ok(RequestState::Ended("its time is over"));
        }
        Ok(RequestState::Waiting(by))
    }
}

/// Returns the number of uses that all approvers have signed.
fn uses_of(store: &RequestStore, stored: &StoredRequest) -> Result<u32, RequestStoreError> {
    let approvals = store.approvals(&stored.request.code)?;
    let uses = approvals.iter().filter_map(|approval| GrantedApproval::parse(&approval.statement));
    let least = uses.map(|statement| statement.uses()).min().unwrap_or(1);
    Ok(least.clamp(1, stored.request.uses))
}

/// Returns the reason for which somebody can't fulfil a need.
pub(super) fn refusal_of(
    request: &ApprovalRequest,
    need: &RequestedNeed,
    by: &VerifiedSignature,
) -> Option<&'static str> {
    if need.approvers.as_ref().is_some_and(|names| !names.contains(&by.principal)) {
        return Some("is not one of the approvers that the rule names");
    }
    if need.touch && !by.key.family().is_security_key() {
        return Some("has not signed with a security key that is touched");
    }
    (need.four_eyes && by.principal == request.user).then_some("ran ccm, and another one has to approve")
}

fn approve_hint(code: &str) -> String {
    format!("approve it with `ccm approve {code}`, and run ccm again")
}

/// Error of the store of approvals. Nothing is run then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestStoreError {
    /// The directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file can't be read or written.
    #[error("the approvals can't be read or written")]
    File(#[from] std::io::Error),
    /// Nobody can approve.
    #[error(transparent)]
    Approvers(#[from] ApproversError),
}

/// Salted digests of the values of variables.
pub(crate) struct SaltedDigests(OnceCell<Option<Vec<u8>>>);

impl SaltedDigests {
    pub(crate) fn new() -> Self {
        Self(OnceCell::new())
    }

    /// Returns the digest of the value of a variable.
    pub(crate) fn of(&self, session: &Session, uses_up: bool, name: &str, value: &str) -> String {
        let salt = self.0.get_or_init(|| session.approval_salt(uses_up).ok().flatten());
        let mut bytes = salt.clone().unwrap_or_default();
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(value.as_bytes());
        sha256(&bytes)
    }
}

/// Returns the time that is left until a time by RFC 3339.
pub(crate) fn time_left(end: &str, now: SystemTime) -> Option<Duration> {
    parse_timestamp(end)?.duration_since(now).ok()
}
