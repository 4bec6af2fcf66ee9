//! Results of a Goss file or of the health checks of a manifest, in the form that is the same for all formats but JSON.

use std::time::Duration;

use ccm_runtime::model::{CheckStatus, PerformanceValue};
use ccm_runtime::status::CheckLevel;
use ccm_runtime::{
    AttributeOutcome, CheckedResource, HealthCheckResult, ManifestCheckReport, Rule, RuleResult, RulesReport,
};

/// Results, and what they were taken from.
pub(super) struct Outline {
    /// Name of the file.
    pub(super) name: String,
    /// Status for monitoring systems: a warning counts if nothing is worse.
    pub(super) level: CheckLevel,
    /// The result in a line.
    pub(super) summary: String,
    pub(super) subjects: Vec<OutlinedSubject>,
    /// Number of tests with each word, in the order in which people read them.
    pub(super) counts: Vec<(&'static str, usize)>,
    pub(super) duration: Duration,
}

/// Rule or resource.
pub(super) struct OutlinedSubject {
    /// Kind of the rule, or type of the resource.
    pub(super) class: String,
    pub(super) id: String,
    /// Class and id.
    pub(super) full_name: String,
    pub(super) title: Option<String>,
    pub(super) tests: Vec<OutlinedTest>,
    pub(super) warnings: Vec<String>,
}

/// Attribute of a rule, or health check of a resource.
pub(super) struct OutlinedTest {
    pub(super) name: String,
    pub(super) outcome: TestOutcome,
    /// Word for the outcome.
    pub(super) word: &'static str,
    /// Reason of an outcome that is not good, or output of the check.
    pub(super) text: Option<String>,
    /// Duration, if it is known.
    pub(super) duration: Duration,
    pub(super) values: Vec<PerformanceValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestOutcome {
    Passed,
    Warned,
    Skipped,
    Failed,
    /// There is no result.
    Error,
}

impl Outline {
    /// Returns the outline of a Goss file.
    pub(super) fn of_rules(name: &str, rules: &[Rule], report: &RulesReport, duration: Duration) -> Self {
        // There is one result for each rule, in the same order.
        let titles = rules.iter().map(|rule| rule.title.clone());
        let titles = titles.chain(std::iter::repeat(None));
        let subjects: Vec<_> = report.rules.iter().zip(titles).map(OutlinedSubject::of_rule).collect();
        let count = |has: &dyn Fn(&AttributeOutcome) -> bool| report.count(has);
        let counts = vec![
            ("passed", count(&|outcome| *outcome == AttributeOutcome::Passed)),
            ("failed", count(&AttributeOutcome::is_failure)),
            ("skipped", count(&|outcome| *outcome == AttributeOutcome::Skipped)),
            ("unknown", count(&|outcome| matches!(outcome, AttributeOutcome::Unknown(_)))),
        ];
        let level = level(report.status(), &subjects);
        Self { name: name.to_owned(), level, summary: report.summary(), subjects, counts, duration }
    }

    /// Returns the outline of the health checks of a manifest.
    pub(super) fn of_manifest(name: &str, report: &ManifestCheckReport, duration: Duration) -> Self {
        let subjects: Vec<_> = report.resources.iter().map(OutlinedSubject::of_resource).collect();
        let count = |status: CheckStatus| {
            let tests = subjects.iter().flat_map(|subject| &subject.tests);
            tests.filter(|test| test.word == status.as_str()).count()
        };
        let statuses = [CheckStatus::Ok, CheckStatus::Warning, CheckStatus::Critical, CheckStatus::Unknown];
        let mut counts: Vec<_> = statuses.iter().map(|status| (status.as_str(), count(*status))).collect();
        if report.counts.not_run > 0 {
            counts.push(("in noop", report.counts.not_run));
        }
        // A monitor that checks nothing is not all right.
        let level = if subjects.is_empty() && report.counts.not_run == 0 {
            CheckLevel::Warning
        } else {
            level(report.status(), &subjects)
        };
        Self { name: name.to_owned(), level, summary: report.summary(), subjects, counts, duration }
    }

    /// Returns the number of tests.
    pub(super) fn total(&self) -> usize {
        self.subjects.iter().map(|subject| subject.tests.len()).sum()
    }

    /// Returns each test with its subject.
    pub(super) fn tests(&self) -> impl Iterator<Item = (&OutlinedSubject, &OutlinedTest)> {
        self.subjects.iter().flat_map(|subject| subject.tests.iter().map(move |test| (subject, test)))
    }

    /// Returns the number of tests with an outcome.
    pub(super) fn count(&self, outcome: TestOutcome) -> usize {
        self.tests().filter(|(_, test)| test.outcome == outcome).count()
    }
}

impl OutlinedSubject {
    fn of_rule((result, title): (&RuleResult, Option<String>)) -> Self {
        let tests = result.results.iter().map(|result| OutlinedTest {
            name: result.attribute.name().to_owned(),
            outcome: match result.outcome {
                AttributeOutcome::Passed => TestOutcome::Passed,
                AttributeOutcome::Failed { .. } => TestOutcome::Failed,
                AttributeOutcome::Error(_) | AttributeOutcome::Unknown(_) => TestOutcome::Error,
                AttributeOutcome::Skipped => TestOutcome::Skipped,
            },
            word: word(&result.outcome),
            text: result.outcome.reason(),
            duration: Duration::ZERO,
            values: Vec::new(),
        });
        let (class, id) = (result.kind.name().to_owned(), result.id.clone());
        let full_name = format!("{class} {id}");
        Self { full_name, class, id, title, tests: tests.collect(), warnings: result.warnings.clone() }
    }

    fn of_resource(resource: &CheckedResource) -> Self {
        let missing = resource.error.as_ref().map(|error| OutlinedTest {
            name: "health_checks".to_owned(),
            outcome: TestOutcome::Error,
            word: CheckStatus::Unknown.as_str(),
            text: Some(error.clone()),
            duration: Duration::ZERO,
            values: Vec::new(),
        });
        Self {
            class: resource.id.type_name.to_string(),
            id: resource.id.name.to_string(),
            full_name: resource.id.to_string(),
            title: None,
            tests: resource.results.iter().map(OutlinedTest::of_check).chain(missing).collect(),
            warnings: resource.warnings.clone(),
        }
    }
}

impl OutlinedTest {
    fn of_check(result: &HealthCheckResult) -> Self {
        Self {
            name: result.name.clone(),
            outcome: match result.status {
                CheckStatus::Ok => TestOutcome::Passed,
                CheckStatus::Warning => TestOutcome::Warned,
                CheckStatus::Critical => TestOutcome::Failed,
                CheckStatus::Unknown => TestOutcome::Error,
            },
            word: result.status.as_str(),
            text: Some(result.output.clone()).filter(|output| !output.is_empty()),
            duration: result.duration,
            values: result.values.clone(),
        }
    }

    /// Returns `true` for an outcome that monitoring systems have to name.
    pub(super) fn is_notable(&self) -> bool {
        !matches!(self.outcome, TestOutcome::Passed | TestOutcome::Skipped)
    }
}

fn level(status: CheckStatus, subjects: &[OutlinedSubject]) -> CheckLevel {
    let has_warning = subjects.iter().any(|subject| !subject.warnings.is_empty());
    match status {
        CheckStatus::Ok if !has_warning => CheckLevel::Ok,
        CheckStatus::Ok | CheckStatus::Warning => CheckLevel::Warning,
        CheckStatus::Critical => CheckLevel::Critical,
        CheckStatus::Unknown => CheckLevel::Unknown,
    }
}

/// Returns the word for the outcome of an attribute.
pub(super) fn word(outcome: &AttributeOutcome) -> &'static str {
    match outcome {
        AttributeOutcome::Passed => "passed",
        AttributeOutcome::Failed { .. } => "failed",
        AttributeOutcome::Error(_) => "error",
        AttributeOutcome::Skipped => "skipped",
        AttributeOutcome::Unknown(_) => "unknown",
    }
}
