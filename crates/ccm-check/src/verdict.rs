//! Results of rules and checks.

use ccm_model::CheckStatus;

use crate::kinds::{Attribute, RuleKind};

/// Result of one attribute of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeResult {
    /// The attribute.
    pub attribute: Attribute,
    /// Outcome.
    pub outcome: AttributeOutcome,
}

/// Outcome of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeOutcome {
    /// The value meets the expectation.
    Passed,
    /// The value does not meet the expectation.
    Failed {
        /// Noun phrase of the expectation.
        expected: String,
        /// The value, cut if it is long.
        found: String,
    },
    /// The value can't be read or compared. Counts as failed.
    Error(String),
    /// Not judged.
    Skipped,
    /// This machine can't have such a value.
    Unknown(String),
}

impl AttributeOutcome {
    /// Returns `true` for a failure or an error.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Error(_))
    }

    /// Returns the reason of an outcome that is not good.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Passed | Self::Skipped => None,
            Self::Failed { expected, found } => Some(format!("expected {expected}, found {found}")),
            Self::Error(reason) | Self::Unknown(reason) => Some(reason.clone()),
        }
    }
}

/// Result of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleResult {
    /// Kind of the rule.
    pub kind: RuleKind,
    /// Key of the rule.
    pub id: String,
    /// Result of each attribute, in the order in which they were judged.
    pub results: Vec<AttributeResult>,
    /// Warnings, which do not change the verdict.
    pub warnings: Vec<String>,
}

impl RuleResult {
    /// Returns the status: critical if anything failed, unknown if anything is unknown.
    pub fn status(&self) -> CheckStatus {
        let of = |result: &AttributeResult| match &result.outcome {
            AttributeOutcome::Passed | AttributeOutcome::Skipped => CheckStatus::Ok,
            AttributeOutcome::Failed { .. } | AttributeOutcome::Error(_) => CheckStatus::Critical,
            AttributeOutcome::Unknown(_) => CheckStatus::Unknown,
        };
        self.results.iter().map(of).fold(CheckStatus::Ok, CheckStatus::worst)
    }

    /// Returns `true` if nothing was judged.
    pub fn is_skipped(&self) -> bool {
        !self.results.is_empty()
            && self.results.iter().all(|result| result.outcome == AttributeOutcome::Skipped)
    }
}

/// Maximum number of failures that a summary names.
const MAX_NAMED: usize = 3;
/// Maximum length of the reason of a failure in a summary, in characters.
const MAX_REASON: usize = 100;

/// Results of all rules of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesReport {
    /// Result of each rule.
    pub rules: Vec<RuleResult>,
}

impl RulesReport {
    /// Returns the status of the check.
    pub fn status(&self) -> CheckStatus {
        self.rules.iter().map(RuleResult::status).fold(CheckStatus::Ok, CheckStatus::worst)
    }

    /// Returns the number of results whose outcome has a property.
    pub fn count(&self, has_property: impl Fn(&AttributeOutcome) -> bool) -> usize {
        self.attributes().filter(|(_, result)| has_property(&result.outcome)).count()
    }

    /// Returns the result of each attribute, with that of its rule.
    pub fn attributes(&self) -> impl Iterator<Item = (&RuleResult, &AttributeResult)> {
        self.rules.iter().flat_map(|rule| rule.results.iter().map(move |result| (rule, result)))
    }

    /// Returns the result in a line: `3 of 12 failed: port tcp:80 listening (expected true, found false), …`.
    pub fn summary(&self) -> String {
        let total = self.attributes().count();
        let (word, bad): (&str, Vec<_>) = match self.status() {
            CheckStatus::Critical => {
                ("failed", self.attributes().filter(|(_, result)| result.outcome.is_failure()).collect())
            }
            CheckStatus::Unknown => {
                let is_unknown =
                    |result: &AttributeResult| matches!(result.outcome, AttributeOutcome::Unknown(_));
                ("unknown", self.attributes().filter(|(_, result)| is_unknown(result)).collect())
            }
            CheckStatus::Ok | CheckStatus::Warning => ("", Vec::new()),
        };
        if bad.is_empty() {
            let skipped = self.count(|outcome| *outcome == AttributeOutcome::Skipped);
            return match (total - skipped, skipped) {
                (passed, 0) => format!("{passed} passed"),
                (passed, skipped) => format!("{passed} passed, {skipped} skipped"),
            };
        }
        let mut named: Vec<String> = bad
            .iter()
            .take(MAX_NAMED)
            .map(|(rule, result)| {
                let id = ccm_model::escape_control(&rule.id);
                let reason = result.outcome.reason().map(|reason| format!(" ({})", in_a_line(&reason)));
                format!("{} {id} {}{}", rule.kind.name(), result.attribute.name(), reason.unwrap_or_default())
            })
            .collect();
        if bad.len() > MAX_NAMED {
            named.push(format!("{} more", bad.len() - MAX_NAMED));
        }
        format!("{} of {total} {word}: {}", bad.len(), named.join(", "))
    }
}

/// Returns a text for a line, cut if it is long.
fn in_a_line(text: &str) -> String {
    let text = ccm_model::escape_control(text);
    match text.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
