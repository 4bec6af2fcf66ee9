//! Rules of a policy file.

use ccm_model::{Diagnostic, DiagnosticKind, Node, Severity, Span};
use ccm_properties::{Located, PropertyKind, PropertyValue, expected, section};

use super::conditions::{Ask, LiftedClasses, WrittenCondition};
use super::{given, written};
use crate::condition::RuleConditionError;
use crate::guard_class::GuardClass;
use crate::rule::{ApprovalConditions, Denial, PolicyRule, RuleAction, RuleExamples, RuleMatch};

section! {
    /// Rule as a policy file has it.
    #[derive(Debug, Default)]
    struct WrittenRule = "a rule" {
        /// Name of the rule, for messages.
        name: Option<Located<String>>,
        /// Commands and changes that the rule is about. All of its keys have to match.
        condition: RuleMatch { name: "match" },
        /// Expression that has to be true. An error in it counts as true for `ask` and `deny`, and as false for `allow`.
        when: Option<WrittenCondition>,
        /// Guard classes that the rule lifts for a command.
        allow: LiftedClasses as Vec<GuardClass>,
        /// Ask for an approval, with its conditions; `true` for those of the policy.
        ask: Ask as Option<ApprovalConditions>,
        /// `true` denies; `final` denies, and no pattern lifts it.
        deny: Option<Denial>,
        /// Advice that a refused caller gets.
        say: Option<String>,
        /// Sandbox profile for governed tools.
        sandbox: Option<Located<String>>,
        /// Commands with which the rule is tested whenever the policy is loaded.
        examples: RuleExamples,
    }
}

/// Rules of a file. A rule with an error does not keep the others from being read.
#[derive(Debug, Default)]
pub(crate) struct RuleList {
    pub rules: Vec<PolicyRule>,
    /// Conditions that can't be parsed, each with its error. The text of the file locates the error.
    pub invalid_conditions: Vec<(Node, RuleConditionError)>,
}

impl PropertyValue for RuleList {
    const KIND: PropertyKind = PropertyKind::List(&WrittenRule::KIND);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(nodes) = node.as_list() else {
            errors.push(expected("a list of rules", node));
            return None;
        };
        let mut list = Self::default();
        for node in nodes {
            if node.is_null() {
                errors.push(Diagnostic::error(DiagnosticKind::Missing, node.span, "this rule is empty"));
                continue;
            }
            let before = errors.len();
            let Some(written) = WrittenRule::decode(node, errors) else { continue };
            list.add(&RuleNode(node), written, before, errors);
        }
        Some(list)
    }
}

impl RuleList {
    fn add(
        &mut self,
        rule: &RuleNode<'_>,
        written: WrittenRule,
        before: usize,
        errors: &mut Vec<Diagnostic>,
    ) {
        let found = || errors.iter().skip(before).filter(|error| error.severity == Severity::Error);
        let has_errors = found().next().is_some();
        let condition_at = given(rule.0, "match").map(|entry| entry.value.span.range());
        let is_in_condition =
            |span: Span| condition_at.as_ref().is_some_and(|at| at.contains(&span.range().start));
        let match_is_known = !found().filter_map(Diagnostic::span).any(is_in_condition);
        rule.check_match(has_errors, errors);
        let has_verdict = rule.check_verdict(errors);
        let WrittenRule { name, condition, when, allow, ask, deny, say, sandbox, examples } = written;
        let when = when.and_then(|when| match when.parsed {
            Ok(condition) => Some(condition),
            Err(error) => {
                self.invalid_conditions.push((when.node, error));
                None
            }
        });
        // What a match or a verdict with an error would have meant is not known: the rule is not compared with others.
        let is_known = |key, is_decoded| is_decoded || given(rule.0, key).is_none();
        let verdict_is_known = is_known("allow", !allow.is_empty())
            && is_known("ask", ask.is_some())
            && is_known("deny", deny.is_some());
        if !has_verdict || !verdict_is_known || !match_is_known {
            return;
        }
        let is_granted = ask.as_ref().is_some_and(|conditions| conditions.grant.is_some());
        self.rules.push(PolicyRule {
            span: name.as_ref().map_or(rule.first(), |name| name.span),
            name: name.map(|name| name.value),
            condition,
            when,
            written: if is_granted {
                rule.0.as_map().map(written::lines).unwrap_or_default()
            } else {
                Vec::new()
            },
            action: RuleAction { allow, ask, deny },
            say,
            sandbox,
            examples,
        });
    }
}

/// Map of a rule.
struct RuleNode<'n>(&'n Node);

impl RuleNode<'_> {
    /// Returns a short location for the whole rule: that of its first key.
    fn first(&self) -> Span {
        let first = self.0.as_map().and_then(|map| map.entries().first());
        first.map_or(self.0.span, |entry| entry.key.span)
    }

    /// Reports a rule that matches everything, an empty list, and arguments without a program.
    fn check_match(&self, has_errors: bool, errors: &mut Vec<Diagnostic>) {
        let condition = given(self.0, "match");
        let is_empty = |node: &Node| node.as_map().is_some_and(|map| map.entries().is_empty());
        let matches_all = condition.is_none_or(|condition| is_empty(&condition.value));
        if matches_all && given(self.0, "when").is_none() && !has_errors {
            let message = "this rule matches every command and every change";
            let span = condition.map_or(self.first(), |condition| condition.key.span);
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
            errors.push(warning.with_hint(match condition {
                Some(_) => "name what it is about, such as `match: {program: git}`",
                None => "add `match`, such as `match: {program: git}`",
            }));
        }
        let key = |key| condition.and_then(|condition| given(&condition.value, key));
        for name in ["program", "effect", "option"] {
            let is_none = |node: &Node| node.as_list().is_some_and(<[Node]>::is_empty) || is_empty(node);
            if let Some(entry) = key(name).filter(|entry| is_none(&entry.value)) {
                let message = format!("`{name}` is empty, and would match every {name}");
                let error = Diagnostic::error(DiagnosticKind::Missing, entry.key.span, message);
                errors.push(error.with_hint(format!("name what is meant, or remove `{name}`")));
            }
        }
        if let (Some(arguments), None) = (key("args"), key("program")) {
            let error =
                Diagnostic::error(DiagnosticKind::Missing, arguments.key.span, "`args` needs `program`");
            errors.push(error.with_hint("name the program whose arguments these are"));
        }
    }

    /// Reports verdicts that exclude each other, and a rule without one. Returns `false` after an error.
    fn check_verdict(&self, errors: &mut Vec<Diagnostic>) -> bool {
        let (deny, other) = (given(self.0, "deny"), given(self.0, "allow").or_else(|| given(self.0, "ask")));
        if let (Some(deny), Some(other)) = (deny, other) {
            let message = format!("a rule that denies can't have `{}` as well", other.key.text);
            let error = Diagnostic::error(DiagnosticKind::Conflict, other.key.span, message);
            errors.push(error.with_label(deny.key.span, "denied here").with_hint("write two rules"));
            return false;
        }
        if deny.or(other).or_else(|| given(self.0, "sandbox")).is_none() {
            let error = Diagnostic::error(DiagnosticKind::Missing, self.first(), "this rule has no verdict");
            errors.push(error.with_hint("add `allow: [CLASS]`, `ask: true` or `deny: true`"));
            return false;
        }
        true
    }
}

impl PropertyValue for Denial {
    const KIND: PropertyKind = PropertyKind::Words(&["true", "final"]);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let hint = match node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(ccm_model::ScalarKind::Bool(true)) => return Some(Self::Liftable),
            Some(ccm_model::ScalarKind::Text) if node.as_text() == Some("final") => return Some(Self::Final),
            Some(ccm_model::ScalarKind::Bool(false)) => {
                "remove the rule: what no rule denies is left to the guard"
            }
            _ => "write `deny: true`",
        };
        errors.push(expected("`true` or `final`", node).with_hint(hint));
        None
    }
}
