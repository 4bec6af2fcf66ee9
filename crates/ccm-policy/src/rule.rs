//! Rules of a policy.

use std::time::Duration;

use ccm_model::{Glob, Span};
use ccm_properties::{Located, OneOrMany, PositiveDuration, section};

use crate::condition::RuleCondition;
use crate::document::{Count, OptionPatterns, PathGlob, ProgramGlobs, ResourceGlob, RetiredSetting};
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

section! {
    /// Conditions of an approval.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ApprovalConditions = "the conditions of an approval" {
        /// Group of approvers, or a list of approvers.
        approvers: ApproverSet { default: Some("every approver") },
        /// Number of approvals from different approvers.
        count: Count<100> as Option<u32> { default: Some("1") },
        /// Require a touch of a hardware key.
        touch: bool { default: Some("`false`") },
        /// Require a hardware key that asks its user for a PIN or fingerprint.
        user_verified: bool { default: Some("`false`") },
        /// Time in which the request can be approved.
        pending: PositiveDuration as Option<Duration> { default: Some("that of the caller") },
        /// Time in which the approval can be used.
        valid: PositiveDuration as Option<Duration> { default: Some("that of the caller") },
        /// Has no effect: each approval is a signature with a key. Removed in the next release.
        via: Option<RetiredSetting>,
        /// Number of uses of an approval, and the time for them.
        grant: Option<Grant>,
    }
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

section! {
    /// Commands and changes that a rule is about. All parts that are given have to match.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RuleMatch = "what the rule matches" {
        /// Name of the program, or its absolute path. May be a glob, or a list.
        programs: ProgramGlobs as Vec<Glob> {
            name: "program",
            noun: Some("a program, or a list of programs"),
        },
        /// All arguments, each a glob. Options may stand in any order; `**` stands for any further arguments.
        arguments: Option<Vec<ArgumentPattern>> { name: "args", noun: Some("a list of arguments") },
        /// Options with globs of their values, such as `--context: "prod*"`; null for an option without a value.
        options: OptionPatterns as Vec<OptionPattern> { name: "option" },
        /// Effect of the command or change, or a list of effects.
        effects: OneOrMany<EffectKind> as Vec<EffectKind> {
            name: "effect",
            noun: Some("an effect, or a list of effects"),
        },
        /// Glob of a path that an effect writes, deletes or reads.
        path: PathGlob as Option<Glob>,
        /// Glob of a resource such as `service#{nginx,app}`.
        resource: ResourceGlob as Option<Glob>,
    }
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

section! {
    /// Commands with which a rule is tested.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RuleExamples = "examples" {
        /// Commands that the rule has to match.
        yes: Vec<Located<String>> { noun: Some("a list of commands") },
        /// Commands that the rule must not match.
        no: Vec<Located<String>> { noun: Some("a list of commands") },
    }
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
