//! Health checks without a machine: rules of Goss and output of Nagios commands to verdicts.
//!
//! # Data flow
//!
//! ```text
//! Node of a manifest ─▶ read_rules ────┐
//! RuleFile, RuleFiles ─▶ read_rule_file ┴▶ Vec<Rule> and warnings, or every error with line and column
//!                                              │ Rule { subject: Subject, assertions: [Assertion { attribute, matcher }], … }
//!                                              ▼
//! Facts (the machine) ◀─ attribute ──────── judge, or a Judgement that the caller drives
//!                     ── Fact | FactError ─▶   │ Matcher::matches(value)
//!                                              ▼
//!                       RuleResult { results: [AttributeResult { attribute, outcome }], warnings }
//!                                              │
//!                                              ▼
//!                       RulesReport ─▶ CheckStatus and "3 of 12 failed: port tcp:80 listening (…)"
//!
//! exit code and output of a command ─▶ CheckStatus::from_exit_code, NagiosOutput::parse
//! ```
//!
//! - A [`Rule`] observes a [`Subject`]. The tables of [`RuleKind`] have its [`Attribute`]s in the order in which they
//!   are judged. The first decides whether the others are judged, but for commands and services.
//! - A [`Matcher`] was checked against the type of its attribute when it was read, so that an expectation that no value
//!   can meet is an error of the document.
//! - Values come from [`Facts`], one attribute at a time; nothing is asked for that no rule names. A value that can't be
//!   read fails its attribute ([`FactError::Unreadable`]); a machine without systemd makes it unknown
//!   ([`FactError::Unsupported`]).
//! - The caller bounds time: [`Rule::timeout`], [`Rule::retries`] and [`Rule::retry_delay`] are data for it.
//!
//! This crate must never look at the machine or the clock, or start anything.

mod document;
mod facts;
mod judgement;
mod kinds;
mod matcher;
mod nagios;
mod rule;
mod verdict;

pub use ccm_model::{CheckStatus, PerformanceValue};
pub use document::{GossRules, MAX_RULES, RuleFile, RuleFiles, RulesRead, read_rule_file, read_rules};
pub use facts::{Fact, FactError, Facts};
pub use judgement::{Judgement, judge, judge_all};
pub use kinds::{Attribute, RuleKind};
pub use matcher::{MatchError, Matcher};
pub use nagios::NagiosOutput;
pub use rule::{Assertion, HttpRequest, IpVersion, Protocol, RecordType, Rule, Subject, Transport};
pub use verdict::{AttributeOutcome, AttributeResult, RuleResult, RulesReport};
