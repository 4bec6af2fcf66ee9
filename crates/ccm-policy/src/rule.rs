//! Rules of a policy.

use std::time::Duration;

use ccm_model::{Glob, Span};

use crate::condition::RuleCondition;
use crate::document::{ApprovalChannel, ApprovalTimes, Located};
use crate::effect::EffectKind;
use crate::guard_class::GuardClass;

/// Rule of a policy.
#[derive(Clone, Debug)]
pub struct PolicyRule {
    /// Name, if the policy gives one.
    pub name: Option<String>,
    /// Location of the name, or else of the whole rule.
    pub span: Span,
    /// Commands and changes that the rule is about.
    pub condition: RuleMatch,
    /// Expression that has to be true.
    pub when: Option<RuleCondition>,
    /// Effect of the rule on the verdict.
    pub action: RuleAction,
    /// Advice that a refused caller gets.
    pub say: Option<String>,
    /// Sandbox profile for governed tools.
    pub sandbox: Option<Located<String>>,
    /// Commands with which the rule is tested.
    pub examples: RuleExamples,
    /// Rule with a grant as it is written, a line for each key but the examples, with aliases expanded. Empty for
    /// other rules, which nobody approves as a whole.
    pub written: Vec<String>,
}

/// Effect of a rule on the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleAction {
    /// Guard classes that the rule lifts.
    pub allow: Vec<GuardClass>,
    /// Conditions of the approval that the rule asks for.
    pub ask: Option<ApprovalConditions>,
    /// Denial.
    pub deny: Option<Denial>,
}

/// Denial of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// A pattern below `patterns: allow` lifts the denial.
    Liftable,
    /// Nothing lifts the denial.
    Final,
}

/// Conditions of an approval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApprovalConditions {
    /// Approvers.
    pub approvers: ApproverSet,
    /// Number of approvals from different approvers; `None` is 1.
    pub count: Option<u32>,
    /// A touch of a hardware key is required.
    pub touch: bool,
    /// The hardware key has to verify its user by PIN or fingerprint.
    pub user_verified: bool,
    /// Times, where they differ from those of the caller.
    pub times: ApprovalTimes,
    /// Channels, where they differ from those of the policy.
    pub via: Option<Vec<ApprovalChannel>>,
    /// Several uses of one approval.
    pub grant: Option<Grant>,
}

/// Approvers of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ApproverSet {
    /// Every approver.
    #[default]
    All,
    /// The members of a group.
    Group(String),
    /// These approvers.
    Listed(Vec<String>),
}

/// Several uses of one approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Number of uses.
    pub uses: u32,
    /// Time for the uses.
    pub time: Duration,
}

/// Commands and changes that a rule is about. All parts that are given have to match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleMatch {
    /// Names or absolute paths of programs, of which one has to match.
    pub programs: Vec<Glob>,
    /// All arguments.
    pub arguments: Option<Vec<ArgumentPattern>>,
    /// Options with their values.
    pub options: Vec<OptionPattern>,
    /// Kinds of effects, of which one has to match.
    pub effects: Vec<EffectKind>,
    /// Path that an effect writes, deletes or reads.
    pub path: Option<Glob>,
    /// Resource, such as `service#nginx`.
    pub resource: Option<Glob>,
}

/// Pattern of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentPattern {
    /// One word.
    Word(Glob),
    /// Any number of words.
    Rest,
}

/// Pattern of an option.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionPattern {
    /// Name with its dashes.
    pub name: String,
    /// Value; `None` if any value, or none, matches.
    pub value: Option<Glob>,
}

/// Commands with which a rule is tested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleExamples {
    /// Commands that the rule has to match.
    pub yes: Vec<Located<String>>,
    /// Commands that the rule must not match.
    pub no: Vec<Located<String>>,
}

impl RuleMatch {
    /// Returns `true` if a part can only match a command, not a change of a resource.
    pub fn is_about_commands(&self) -> bool {
        !self.programs.is_empty() || self.arguments.is_some() || !self.options.is_empty()
    }

    /// Returns `true` if everything that `other` matches is matched as well, as far as the parts can be compared.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        fn part<T: PartialEq>(own: &T, other: &T, is_empty: bool) -> bool {
            is_empty || own == other
        }
        part(&self.programs, &other.programs, self.programs.is_empty())
            && part(&self.arguments, &other.arguments, self.arguments.is_none())
            && part(&self.options, &other.options, self.options.is_empty())
            && part(&self.effects, &other.effects, self.effects.is_empty())
            && part(&self.path, &other.path, self.path.is_none())
            && part(&self.resource, &other.resource, self.resource.is_none())
    }
}
