//! Effects of commands, guard classes, the policy file and verdicts.
//!
//! [`analyse`] reads a [`PolicyRequest`]: a shell text, or the words of one command. Each simple command of the [`Analysis`]
//! has its decoded words, its [`Effect`]s, and a [`GuardFinding`] for each [`GuardClass`] that the command belongs to.
//!
//! [`read_policy`] reads the policy of an operator. [`Policy::decide`] returns the verdict on an [`Analysis`], with the
//! reasons for each command; the default policy is the standard guard alone.
//!
//! This crate must never run anything or open a file: a [`Lookup`] returns facts about the machine. It must never guess:
//! what can't be read with certainty is a finding.

mod analyse;
mod analysis;
mod condition;
mod decision;
mod document;
mod effect;
mod examples;
mod grammars;
mod guard_class;
mod helper_programs;
mod lifting;
mod links;
mod lookup;
mod matching;
mod pattern_set;
mod policy;
mod refspecs;
mod request;
mod resource_names;
mod rule;
mod rule_index;
mod schema;
mod started_programs;
mod tables;
#[doc(hidden)]
pub mod testing;
mod unknown_types;
mod verdict;

pub use analyse::analyse;
pub use analysis::{
    AnalysedCommand, AnalysedOption, AnalysedWord, Analysis, AnalysisLimits, CodeOrigin, CodePlace,
    FindingOrigin, GuardFinding, ProgramReference, UnreadableRequest, WayOut, WorkingPlace,
};
pub use ccm_properties::Located;
pub use condition::{ConditionValues, NoValues};
pub use decision::{
    ApprovalNeed, CauseKind, CommandDecision, GuardMessage, LiftedBy, LiftedClass, PolicyDecision,
    VerdictCause,
};
pub use document::{
    ApplySettings, ApprovalMode, ApprovalSettings, AuditReceiver, AuditSettings, BUILT_IN_PROFILES,
    FileAuthority, GuardMode, PolicyPattern, PolicyProfile, ProgramSet, RetiredSetting, SandboxSettings,
    ToolLimits, ToolSet, ToolSettings, Whitelist, WhitelistEntry, WorkspaceSettings,
};
pub use effect::{CodeSource, Effect, EffectKind};
pub use guard_class::GuardClass;
pub use links::LinkDestination;
pub use lookup::{LinkReading, Lookup, LookupPathKind, ProgramLocation};
pub use matching::GovernedChange;
pub use policy::{Policy, PolicyFiles, PolicyReading, PolicyText, read_policy, read_policy_files};
pub use request::{PolicyRequest, RequestCommand, RequestInput, Workspace};
pub use rule::{
    ApprovalConditions, ApproverSet, ArgumentPattern, Denial, Grant, OptionPattern, PolicyRule, RuleAction,
    RuleExamples, RuleMatch,
};
pub use schema::policy_schema;
pub use verdict::{Caller, PolicyVerdict};
