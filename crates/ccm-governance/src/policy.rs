//! The operator's policy: where the policy lies, what a command would do under it, and the gate that enforces it.

mod asking;
mod called_manifest;
mod command_paths;
mod covered_files;
mod document;
mod explained;
mod gate;
mod implied_files;
mod intended;
mod judging;
mod judging_executor;
mod loading;
mod lookup;
mod planned_questions;
mod reasons;
mod run_policy;
mod sandbox_programs;
mod unknown_code;
mod verdict_tests;

pub use ccm_policy::{
    AnalysedCommand, Analysis, ApprovalNeed, ApproverSet, Caller, CauseKind, CommandDecision, Denial,
    GuardClass, GuardMessage, GuardMode, LiftedBy, Policy, PolicyDecision, PolicyRule, PolicyVerdict,
    policy_schema,
};
pub use ccm_shell::ShellDialect;

pub use called_manifest::CalledManifestGate;
pub use covered_files::{CoverageError, CoveredCommand, CoveredFiles, MAX_COVERED};
pub use explained::{ExplainOptions, ExplainedCommand, JudgedText};
pub use gate::{GovernedManifest, PolicyGate};
pub use intended::{
    approval_demands, asking_rules, grant_limits, intended_commands, policy_digest, unknown_parts,
};
pub use judging::JudgedRequest;
pub use judging_executor::JudgingExecutor;
pub use loading::{CheckedPolicy, FoundPolicy, POLICY_NAMESPACE, PolicyError, PolicySource};
pub use lookup::{CachedMachine, UnseenMachine};
pub use planned_questions::{AskedAbout, PlannedQuestions};
pub use reasons::{cause_text, lifter_text, need_text, refusal_text, way_out};
pub use run_policy::RunPolicy;
pub use sandbox_programs::AnalysingExecutor;
pub use verdict_tests::{VerdictTest, VerdictTestError};
