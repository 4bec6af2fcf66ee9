//! Decision and verification of accounts, which the types for users, groups and keys share.

use std::fmt;

use ccm_engine::{Decision, Rule, Verified};
use ccm_model::{Action, Failure, FailureKind, Resource, Verb};

/// Change of an account from its state to the desired one. `D` is a difference of the type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AccountPlan<D> {
    Keep {
        exists: bool,
    },
    /// The differences describe the new account.
    Create(Vec<D>),
    Change(Vec<D>),
    Remove,
    Fail(Failure),
}

/// Difference between an account and its desired state.
pub(crate) trait AccountDifference {
    /// Name of what differs, such as `shell`.
    fn aspect(&self) -> &'static str;

    /// Value before and after; `None` if it is not shown.
    fn values(&self) -> (Option<String>, Option<String>);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccountRule {
    AsDesired,
    Absent,
    /// The account does not exist.
    Missing,
    /// The account exists, and is to be absent.
    Present,
    /// What differs.
    Differs(Vec<&'static str>),
    Conflict,
}

impl Rule for AccountRule {
    fn name(&self) -> &'static str {
        match self {
            Self::AsDesired => "as_desired",
            Self::Absent => "absent",
            Self::Missing => "missing",
            Self::Present => "present",
            Self::Differs(_) => "differs",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for AccountRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::AsDesired => "it is in the desired state",
            Self::Absent | Self::Missing => "it does not exist",
            Self::Present => "it exists",
            Self::Differs(aspects) => return write!(formatter, "it differs in {}", in_words(aspects)),
            Self::Conflict => "it cannot be brought to the desired state",
        })
    }
}

/// Returns names in words: `uid, home and shell`.
fn in_words(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Turns a plan into a decision. `what` is the name of the type in messages.
pub(crate) fn decide<D: AccountDifference>(what: &str, plan: AccountPlan<D>) -> Decision<AccountRule> {
    let change = |reason, message: String, action| Decision::Change {
        reason,
        noop_message: format!("Would have {message}"),
        action,
        diff: None,
    };
    match plan {
        AccountPlan::Keep { exists: true } => Decision::Keep { reason: AccountRule::AsDesired },
        AccountPlan::Keep { exists: false } => Decision::Keep { reason: AccountRule::Absent },
        AccountPlan::Fail(failure) => Decision::Fail { reason: AccountRule::Conflict, failure },
        AccountPlan::Create(differences) => {
            let details = differences.iter().map(|difference| match difference.values().1 {
                Some(value) => format!("{} {value}", difference.aspect()),
                None => difference.aspect().to_owned(),
            });
            let details: Vec<String> = details.collect();
            let action = Action::new(Verb::Create);
            let action = if details.is_empty() { action } else { action.of(details.join(", ")) };
            change(AccountRule::Missing, format!("created the {what}"), action)
        }
        AccountPlan::Change(differences) => {
            let aspects: Vec<&'static str> = differences.iter().map(AccountDifference::aspect).collect();
            let action = differences.iter().fold(Action::new(Verb::Change), |action, difference| {
                let (from, to) = difference.values();
                action.changing(difference.aspect(), from, to)
            });
            let message = format!("changed {}", in_words(&aspects));
            change(AccountRule::Differs(aspects), message, action)
        }
        AccountPlan::Remove => {
            change(AccountRule::Present, format!("removed the {what}"), Action::new(Verb::Remove))
        }
    }
}

/// Verifies an account by its plan after a change. `shown` is the account in messages.
pub(crate) fn verify<D: AccountDifference>(
    shown: &str,
    plan: AccountPlan<D>,
) -> Result<Verified<AccountRule>, Failure> {
    let rule = match plan {
        AccountPlan::Keep { .. } => return Ok(Verified::Changed),
        AccountPlan::Fail(failure) => {
            let failure = failure.because_of(format!("{shown} is not in the desired state after the change"));
            return Err(Failure { kind: FailureKind::Verification, ..failure });
        }
        AccountPlan::Create(_) => AccountRule::Missing,
        AccountPlan::Change(differences) => {
            AccountRule::Differs(differences.iter().map(AccountDifference::aspect).collect())
        }
        AccountPlan::Remove => AccountRule::Present,
    };
    Err(Failure::new(FailureKind::Verification, rule.to_string())
        .because_of(format!("{shown} is not in the desired state after the change")))
}

/// Returns `true` if a resource is to be absent.
pub(crate) fn is_absent(resource: &Resource) -> bool {
    resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "absent")
}
