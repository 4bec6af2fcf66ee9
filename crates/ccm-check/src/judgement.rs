//! Judgement of a rule, attribute by attribute.

use ccm_expr::Value;

use crate::facts::{Fact, FactError, Facts};
use crate::kinds::Attribute;
use crate::matcher::short;
use crate::rule::{Assertion, Rule, Subject};
use crate::verdict::{AttributeOutcome, AttributeResult, RuleResult, RulesReport};

/// Rule that is being judged. [`next_question`](Self::next_question) returns the attribute whose value is needed,
/// [`answer`](Self::answer) takes the value.
#[derive(Debug)]
pub struct Judgement<'r> {
    rule: &'r Rule,
    result: RuleResult,
    /// `true` if the other attributes are skipped.
    is_decided: bool,
}

impl<'r> Judgement<'r> {
    /// Begins with the first attribute of a rule.
    pub fn new(rule: &'r Rule) -> Self {
        let result = RuleResult {
            kind: rule.kind(),
            id: rule.id.clone(),
            results: Vec::with_capacity(rule.assertions.len()),
            warnings: Vec::new(),
        };
        Self { rule, result, is_decided: rule.skip }
    }

    /// Returns the next attribute whose value the machine has to give; `None` if the rule is judged.
    pub fn next_question(&mut self) -> Option<Attribute> {
        loop {
            let attribute = self.assertion()?.attribute;
            if self.is_decided {
                self.push(AttributeOutcome::Skipped);
            } else if let Some(fact) = self.known(attribute) {
                self.answer(Ok(fact));
            } else {
                return Some(attribute);
            }
        }
    }

    /// Judges the value of the attribute that was asked for.
    pub fn answer(&mut self, answer: Result<Fact, FactError>) {
        let Some(assertion) = self.assertion() else { return };
        let is_first = self.result.results.is_empty();
        let mut is_absent = false;
        let outcome = match answer {
            Err(FactError::Unreadable(reason)) => AttributeOutcome::Error(reason),
            Err(FactError::Unsupported(reason)) => AttributeOutcome::Unknown(reason),
            Ok(fact) => {
                is_absent = fact.value == Value::Bool(false);
                self.result.warnings.extend(fact.warning);
                judge_value(assertion, &fact.value)
            }
        };
        if is_first && self.rule.kind().is_gated() {
            self.is_decided = is_absent || outcome != AttributeOutcome::Passed;
        }
        self.push(outcome);
    }

    /// Returns the result, once there is no question left.
    pub fn finish(self) -> RuleResult {
        self.result
    }

    fn assertion(&self) -> Option<&'r Assertion> {
        self.rule.assertions.get(self.result.results.len())
    }

    fn push(&mut self, outcome: AttributeOutcome) {
        if let Some(assertion) = self.assertion() {
            self.result.results.push(AttributeResult { attribute: assertion.attribute, outcome });
        }
    }

    /// Returns a value that does not depend on the machine.
    fn known(&self, attribute: Attribute) -> Option<Fact> {
        match &self.rule.subject {
            Subject::Matching(content) => Some(Fact::new(content.clone())),
            Subject::Service(name) if name.contains('/') => {
                let warning = format!("{} is no name of a unit", self.rule);
                let is_known = matches!(attribute, Attribute::Enabled | Attribute::Running);
                is_known.then(|| Fact { warning: Some(warning), ..false.into() })
            }
            _ => None,
        }
    }
}

fn judge_value(assertion: &Assertion, value: &Value) -> AttributeOutcome {
    let matcher = &assertion.matcher;
    match matcher.matches(value) {
        Ok(true) => AttributeOutcome::Passed,
        Err(error) => AttributeOutcome::Error(error.to_string()),
        Ok(false) => {
            let unmet = match value {
                Value::Text(text) => matcher.unmet_patterns(text),
                _ => None,
            };
            let expected = unmet.map_or_else(|| matcher.to_string(), |unmet| format!("lines with {unmet}"));
            let expected = short(&Value::text(expected));
            AttributeOutcome::Failed { expected, found: short(value) }
        }
    }
}

/// Judges a rule with the values of a machine.
pub fn judge(rule: &Rule, facts: &mut impl Facts) -> RuleResult {
    let mut judgement = Judgement::new(rule);
    while let Some(attribute) = judgement.next_question() {
        judgement.answer(facts.fact(rule, attribute));
    }
    judgement.finish()
}

/// Judges all rules with the values of a machine.
pub fn judge_all(rules: &[Rule], facts: &mut impl Facts) -> RulesReport {
    RulesReport { rules: rules.iter().map(|rule| judge(rule, facts)).collect() }
}
