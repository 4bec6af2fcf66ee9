//! Results of health checks, as data.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::one_line;
use crate::json::Nanoseconds;

/// Status of a check, as monitors know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// Everything is as expected.
    #[default]
    Ok,
    /// Something needs attention soon.
    Warning,
    /// Something is wrong.
    Critical,
    /// The check has no result.
    #[serde(other)]
    Unknown,
}

impl CheckStatus {
    /// Every status, the best first.
    pub const BY_SEVERITY: [Self; 4] = [Self::Ok, Self::Warning, Self::Unknown, Self::Critical];

    /// Returns the status of an exit code. Codes that monitors do not know are unknown.
    pub fn from_exit_code(code: i32) -> Self {
        match code {
            0 => Self::Ok,
            1 => Self::Warning,
            2 => Self::Critical,
            _ => Self::Unknown,
        }
    }

    /// Returns the exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Warning => 1,
            Self::Critical => 2,
            Self::Unknown => 3,
        }
    }

    /// Returns the word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Unknown => "unknown",
        }
    }

    /// Returns `true` if a resource with this status has failed.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Critical | Self::Unknown)
    }

    /// Returns the more severe status.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        let worst = Self::BY_SEVERITY.into_iter().rev().find(|status| [self, other].contains(status));
        worst.unwrap_or_default()
    }
}

impl fmt::Display for CheckStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One value that a check measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PerformanceValue {
    /// Label, without quotes.
    pub label: String,
    /// The value. `None` stands for no value.
    pub value: Option<f64>,
    /// Unit, such as `s`, `%` or `B`. May be empty.
    pub unit: String,
    /// Range of values without a warning, as written.
    pub warning: Option<String>,
    /// Range of values that are not critical, as written.
    pub critical: Option<String>,
    /// Smallest value that is possible.
    pub min: Option<f64>,
    /// Largest value that is possible.
    pub max: Option<f64>,
}

/// Result of a health check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "HealthCheckRecord", into = "HealthCheckRecord")]
pub struct HealthCheckResult {
    /// Name of the check.
    pub name: String,
    /// Status after the last try.
    pub status: CheckStatus,
    /// Summary of the last try in a line, which may be empty.
    pub output: String,
    /// Number of tries.
    pub tries: u32,
    /// Duration of all tries and of the pauses between them.
    pub duration: Duration,
    /// Values of the last try.
    pub values: Vec<PerformanceValue>,
}

impl HealthCheckResult {
    /// Returns the status and the summary, without a word of a plugin that repeats the status: `is critical: disk is full`.
    pub fn verdict(&self) -> String {
        let Self { status, output, .. } = self;
        let word = status.as_str();
        let said = output.get(..word.len()).filter(|said| said.eq_ignore_ascii_case(word));
        let rest =
            said.map(|_| &output[word.len()..]).filter(|rest| !rest.starts_with(char::is_alphanumeric));
        let output = rest.map_or(&**output, |rest| rest.trim_start_matches([' ', ':', '-', '|', ',']));
        if output.is_empty() { format!("is {status}") } else { format!("is {status}: {output}") }
    }
}

/// Result as it is recorded.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HealthCheckResult", deny_unknown_fields)]
struct HealthCheckRecord {
    /// Name of the check.
    name: String,
    /// Status after the last try, as a number: 0 ok, 1 warning, 2 critical, 3 unknown.
    status: u8,
    /// Status in a word.
    status_word: CheckStatus,
    /// Summary of the last try in a line, which may be empty.
    output: String,
    /// Number of tries.
    tries: u32,
    /// Duration of all tries and of the pauses between them, in nanoseconds.
    #[serde(with = "Nanoseconds")]
    #[schemars(with = "u64")]
    duration: Duration,
    /// Values of the last try.
    perfdata: Vec<PerformanceValue>,
}

impl From<HealthCheckRecord> for HealthCheckResult {
    fn from(record: HealthCheckRecord) -> Self {
        let HealthCheckRecord { name, status, status_word: _, output, tries, duration, perfdata } = record;
        let status = CheckStatus::from_exit_code(status.into());
        Self { name, status, output, tries, duration, values: perfdata }
    }
}

impl From<HealthCheckResult> for HealthCheckRecord {
    fn from(result: HealthCheckResult) -> Self {
        let HealthCheckResult { name, status, output, tries, duration, values } = result;
        let (code, status_word) = (status.code(), status);
        Self { name, status: code, status_word, output, tries, duration, perfdata: values }
    }
}

impl HealthCheckResult {
    /// Puts name and output on bounded lines. Call this after secrets were redacted: the beginning of a secret before a
    /// cut could not be recognized.
    #[must_use]
    pub fn into_shown(mut self) -> Self {
        self.name = one_line(&self.name);
        self.output = one_line(&self.output);
        self
    }
}

/// Number of health checks with each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct CheckCounts {
    /// Checks that are ok.
    pub ok: usize,
    /// Checks with a warning.
    pub warning: usize,
    /// Critical checks.
    pub critical: usize,
    /// Checks without a result.
    pub unknown: usize,
    /// Checks that noop did not run.
    pub not_run: usize,
}

impl CheckCounts {
    /// Counts a result.
    pub fn add(&mut self, status: CheckStatus) {
        *match status {
            CheckStatus::Ok => &mut self.ok,
            CheckStatus::Warning => &mut self.warning,
            CheckStatus::Critical => &mut self.critical,
            CheckStatus::Unknown => &mut self.unknown,
        } += 1;
    }

    /// Returns `true` if there are no checks.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_the_status_once() {
        for (status, output, expected) in [
            (CheckStatus::Critical, "CRITICAL: disk is full", "is critical: disk is full"),
            (CheckStatus::Critical, "critical - disk is full", "is critical: disk is full"),
            (CheckStatus::Critical, "DISK CRITICAL - full", "is critical: DISK CRITICAL - full"),
            (CheckStatus::Critical, "Criticality is high", "is critical: Criticality is high"),
            (CheckStatus::Ok, "OK", "is ok"),
            (CheckStatus::Ok, "\u{f6}", "is ok: \u{f6}"),
            (CheckStatus::Warning, "", "is warning"),
            (CheckStatus::Warning, "WARNING|a=1", "is warning: a=1"),
        ] {
            let check = HealthCheckResult {
                name: String::new(),
                status,
                output: output.to_owned(),
                tries: 1,
                duration: Duration::ZERO,
                values: Vec::new(),
            };
            assert_eq!(check.verdict(), expected);
        }
    }
}
