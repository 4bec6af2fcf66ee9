//! Statements of approvers: bytes that they sign.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::intent::{IntentDocument, IntentError};

/// Namespace of the signature of a statement, as in `ssh-keygen -Y sign -n`.
pub const APPROVAL_NAMESPACE: &str = "ccm-approval@v1";
/// Namespace of the signature of a statement about a manifest.
pub const MANIFEST_NAMESPACE: &str = "ccm-manifest@v1";
/// Namespace of the signature of a plan.
pub const PLAN_NAMESPACE: &str = "ccm-plan@v1";
/// Maximum length of a statement with its signature.
pub const MAX_SIGNED_STATEMENT: usize = 64 << 10;
/// Number of hexadecimal digits of a nonce.
const NONCE_LENGTH: usize = 32;
/// Maximum length of a reason.
const MAX_REASON: usize = 2000;

/// Statement of an approver about one intent, which it holds whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalStatement {
    /// Decision.
    pub decision: ApproverDecision,
    /// Principal who signs; `None` is the only one whom the file of approvers names for the key.
    pub approver: Option<String>,
    /// Reason of a rejection.
    pub reason: Option<String>,
    /// Last moment at which it can be used.
    pub not_after: String,
    /// Number of uses.
    pub uses: u32,
    /// Random number, which makes the statement unique.
    pub nonce: String,
    /// Text of the intent.
    pub intent: String,
}

/// Decision of an approver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApproverDecision {
    /// The action may be executed once.
    Approve,
    /// The action may be executed several times.
    GrantAction,
    /// Actions that only this rule asks for may be executed several times.
    GrantRule(String),
    /// The action must not be executed.
    Reject,
}

/// Error of a statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// The text is not in the form that ccm writes.
    #[error("not a statement in the form that ccm writes")]
    Form,
    /// The text is too long.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// Maximum length.
        limit: usize,
    },
    /// The intent in the statement has an error.
    #[error(transparent)]
    Intent(#[from] IntentError),
    /// A rejection has no reason, or a reason is too long.
    #[error("a rejection needs a reason of at most {limit} characters")]
    Reason {
        /// Maximum number of characters.
        limit: usize,
    },
    /// The statement allows no use, or a single approval several.
    #[error("`uses` is {found}")]
    Uses {
        /// Number of uses.
        found: u32,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatementFields {
    #[serde(rename = "type")]
    format: StatementFormat,
    decision: DecisionName,
    rule: Option<String>,
    approver: Option<String>,
    reason: Option<String>,
    not_after: String,
    uses: u32,
    nonce: String,
    intent: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
enum StatementFormat {
    #[serde(rename = "ccm-approval/1")]
    First,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DecisionName {
    Approve,
    GrantAction,
    GrantRule,
    Reject,
}

impl ApprovalStatement {
    /// Reads the text of a statement, which has to be exactly the text that ccm writes.
    pub fn parse(text: &str) -> Result<Self, StatementError> {
        if text.len() > MAX_SIGNED_STATEMENT {
            return Err(StatementError::TooLong { limit: MAX_SIGNED_STATEMENT });
        }
        let fields: StatementFields = serde_json::from_str(text).map_err(|_| StatementError::Form)?;
        let decision = match (fields.decision, fields.rule) {
            (DecisionName::Approve, None) => ApproverDecision::Approve,
            (DecisionName::GrantAction, None) => ApproverDecision::GrantAction,
            (DecisionName::GrantRule, Some(rule)) => ApproverDecision::GrantRule(rule),
            (DecisionName::Reject, None) => ApproverDecision::Reject,
            _ => return Err(StatementError::Form),
        };
        let statement = Self {
            decision,
            approver: fields.approver,
            reason: fields.reason,
            not_after: fields.not_after,
            uses: fields.uses,
            nonce: fields.nonce,
            intent: fields.intent.get().to_owned(),
        };
        statement.check()?;
        if statement.text()? == text { Ok(statement) } else { Err(StatementError::Form) }
    }

    /// Returns the text: one line of JSON with its line end. Its bytes are what is signed.
    pub fn text(&self) -> Result<String, StatementError> {
        self.check()?;
        let (decision, rule) = match &self.decision {
            ApproverDecision::Approve => (DecisionName::Approve, None),
            ApproverDecision::GrantAction => (DecisionName::GrantAction, None),
            ApproverDecision::GrantRule(rule) => (DecisionName::GrantRule, Some(rule.clone())),
            ApproverDecision::Reject => (DecisionName::Reject, None),
        };
        let fields = StatementFields {
            format: StatementFormat::First,
            decision,
            rule,
            approver: self.approver.clone(),
            reason: self.reason.clone(),
            not_after: self.not_after.clone(),
            uses: self.uses,
            nonce: self.nonce.clone(),
            intent: RawValue::from_string(self.intent.clone()).map_err(|_| StatementError::Form)?,
        };
        let text = serde_json::to_string(&fields).map_err(|_| StatementError::Form)?;
        Ok(text + "\n")
    }

    /// Returns the intent.
    pub fn document(&self) -> Result<IntentDocument, StatementError> {
        Ok(IntentDocument::parse(&self.intent)?)
    }

    fn check(&self) -> Result<(), StatementError> {
        self.document()?;
        let is_nonce = self.nonce.len() == NONCE_LENGTH
            && self.nonce.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        let is_name = |name: &String| {
            !name.is_empty() && !name.contains(|found: char| found.is_control() || "*?!,\"".contains(found))
        };
        if !is_nonce
            || !self.approver.as_ref().is_none_or(is_name)
            || ccm_model::parse_timestamp(&self.not_after).is_none()
        {
            return Err(StatementError::Form);
        }
        let length = self.reason.as_ref().map_or(0, |reason| reason.trim().chars().count());
        let is_rejected = self.decision == ApproverDecision::Reject;
        if length > MAX_REASON || is_rejected && length == 0 {
            return Err(StatementError::Reason { limit: MAX_REASON });
        }
        let is_right = match &self.decision {
            ApproverDecision::Reject => self.uses == 0,
            ApproverDecision::Approve => self.uses == 1,
            ApproverDecision::GrantAction | ApproverDecision::GrantRule(_) => self.uses > 0,
        };
        if is_right { Ok(()) } else { Err(StatementError::Uses { found: self.uses }) }
    }
}

/// Statement with its signature, as it lies in the inbox: the line of the statement, then the armoured signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedStatement {
    /// Text of the statement.
    pub text: String,
    /// Armoured signature.
    pub signature: String,
}

impl SignedStatement {
    /// Splits the content of a file.
    pub fn parse(content: &str) -> Result<(Self, ApprovalStatement), StatementError> {
        if content.len() > MAX_SIGNED_STATEMENT {
            return Err(StatementError::TooLong { limit: MAX_SIGNED_STATEMENT });
        }
        let (line, signature) = content.split_once('\n').ok_or(StatementError::Form)?;
        let text = format!("{line}\n");
        let statement = ApprovalStatement::parse(&text)?;
        Ok((Self { text, signature: signature.to_owned() }, statement))
    }

    /// Returns the content of a file.
    pub fn content(&self) -> String {
        format!("{}{}", self.text, self.signature)
    }
}
