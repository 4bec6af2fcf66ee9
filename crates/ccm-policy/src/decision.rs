//! Decisions of a policy on commands and changes.

use ccm_expr::Value;

use crate::analysis::{AnalysedCommand, Analysis, FindingOrigin, UnreadableRequest};
use crate::condition::{ConditionScope, ConditionValues, Truth};
use crate::document::GuardMode;
use crate::guard_class::GuardClass;
use crate::lifting;
use crate::matching::{GovernedChange, MatchPurpose, Matching, Subject};
use crate::policy::Policy;
use crate::rule::{ApprovalConditions, Denial, PolicyRule};
use crate::verdict::{Caller, PolicyVerdict};

/// Decision on a request or a change.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyDecision {
    /// Verdict: that of the strictest command.
    pub verdict: PolicyVerdict,
    /// Mode of the guard. With [`GuardMode::Audit`], nothing is refused.
    pub mode: GuardMode,
    /// Reason for which the request can't be read. The verdict is deny then, unless nothing had to judge the text.
    pub unreadable: Option<UnreadableRequest>,
    /// Decisions on the commands, in the order of [`Analysis::commands`]. One for a change.
    pub commands: Vec<CommandDecision>,
}

/// Decision on a simple command, or on the change of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandDecision {
    /// Reasons of the verdict, the decisive one first. Without a reason the command is allowed.
    pub causes: Vec<VerdictCause>,
    /// Guard classes that were lifted.
    pub lifted: Vec<LiftedClass>,
    /// Position of the rule that names a sandbox profile.
    pub sandbox_rule: Option<usize>,
}

/// Reason of a verdict that is stricter than allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictCause {
    /// The verdict.
    pub verdict: PolicyVerdict,
    /// Kind of the reason.
    pub kind: CauseKind,
}

/// Kind of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CauseKind {
    /// A rule, by its position in the policy.
    Rule(usize),
    /// A whitelist, by its position, that does not have the command.
    Whitelist(usize),
    /// A pattern that denies, by its position.
    Pattern(usize),
    /// A guard class, by the position of the finding in [`AnalysedCommand::findings`].
    Class(GuardClass, usize),
}

/// Guard class that was lifted for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiftedClass {
    /// The class.
    pub class: GuardClass,
    /// What lifted the class.
    pub by: LiftedBy,
}

/// What lifts a guard class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiftedBy {
    /// A rule, by its position.
    Rule(usize),
    /// A pattern below `allow`, by its position.
    Pattern(usize),
}

/// Approval that a request needs.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalNeed {
    /// Position of the rule that asks; `None` for the guard.
    pub rule: Option<usize>,
    /// Conditions of the approval.
    pub conditions: ApprovalConditions,
}

/// Message of the guard, as callers of the exec tool know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardMessage {
    /// A command is dangerous, or a rule denies it.
    #[error("Command blocked by safety guard (dangerous pattern detected)")]
    DangerousPattern,
    /// A path lies outside the workspace.
    #[error("Command blocked by safety guard (path outside working dir)")]
    OutsideWorkingDirectory,
    /// A path leaves the workspace by `..`.
    #[error("Command blocked by safety guard (path traversal detected)")]
    PathTraversal,
}

impl PolicyDecision {
    /// Returns `true` if the request may run now.
    pub fn is_allowed(&self) -> bool {
        self.verdict == PolicyVerdict::Allow || self.mode == GuardMode::Audit
    }

    /// Returns the first command with the verdict of the decision.
    pub fn strictest(&self) -> Option<usize> {
        self.commands.iter().position(|command| command.verdict() == self.verdict)
    }

    /// Returns the approvals that the request needs, each once.
    pub fn needs(&self, policy: &Policy) -> Vec<ApprovalNeed> {
        let mut needs: Vec<ApprovalNeed> = Vec::new();
        for cause in self.commands.iter().flat_map(|command| &command.causes) {
            if cause.verdict != PolicyVerdict::Ask {
                continue;
            }
            let rule = match cause.kind {
                CauseKind::Rule(rule) => Some(rule),
                _ => None,
            };
            if needs.iter().any(|need| need.rule == rule) {
                continue;
            }
            let asked = rule.and_then(|rule| policy.rules().get(rule)?.action.ask.clone());
            needs.push(ApprovalNeed { rule, conditions: asked.unwrap_or_default() });
        }
        // What a rule asks for covers what the guard asks of anybody.
        if needs.iter().any(|need| need.rule.is_some()) {
            needs.retain(|need| need.rule.is_some());
        }
        needs
    }

    /// Returns the message of the guard for a denied request.
    pub fn guard_message(&self, analysis: &Analysis) -> Option<GuardMessage> {
        if self.verdict != PolicyVerdict::Deny {
            return None;
        }
        let denials = |command: &CommandDecision| {
            let denied = command.causes.iter().filter(|cause| cause.verdict == PolicyVerdict::Deny);
            denied.map(|cause| cause.kind).collect::<Vec<_>>()
        };
        let is_path = |kind: &CauseKind| matches!(kind, CauseKind::Class(GuardClass::OutsideWorkspace, _));
        let all: Vec<(usize, CauseKind)> = self
            .commands
            .iter()
            .enumerate()
            .flat_map(|(at, command)| denials(command).into_iter().map(move |kind| (at, kind)))
            .collect();
        if self.unreadable.is_some() || all.is_empty() || !all.iter().all(|(_, kind)| is_path(kind)) {
            return Some(GuardMessage::DangerousPattern);
        }
        let climbs = |at: &usize| {
            let words = analysis.commands.get(*at).map(|command| &*command.words).unwrap_or_default();
            words.iter().any(|word| word.shown.split(['/', '=']).any(|part| part == ".."))
        };
        Some(if all.iter().any(|(at, _)| climbs(at)) {
            GuardMessage::PathTraversal
        } else {
            GuardMessage::OutsideWorkingDirectory
        })
    }
}

impl CommandDecision {
    /// Returns the verdict.
    pub fn verdict(&self) -> PolicyVerdict {
        self.causes.iter().map(|cause| cause.verdict).max().unwrap_or(PolicyVerdict::Allow)
    }

    /// Returns the reason of the verdict: the first of the strictest.
    pub fn cause(&self) -> Option<&VerdictCause> {
        self.causes.first()
    }
}

impl Policy {
    /// Decides on an analysed request.
    pub fn decide(
        &self,
        analysis: &Analysis,
        caller: Caller,
        values: &dyn ConditionValues,
    ) -> PolicyDecision {
        let mode = self.guard_mode(caller);
        let commands: Vec<CommandDecision> = analysis
            .commands
            .iter()
            .enumerate()
            .map(|(at, _)| self.decide_command(analysis, at, caller, values))
            .collect();
        let strictest = commands.iter().map(CommandDecision::verdict).max().unwrap_or(PolicyVerdict::Allow);
        let is_unreadable = analysis.unreadable.is_some() && (mode != GuardMode::Off || self.judges_words());
        let verdict = if is_unreadable { PolicyVerdict::Deny } else { strictest };
        PolicyDecision { verdict, mode, unreadable: analysis.unreadable.clone(), commands }
    }

    /// Decides on the change of a resource that ccm makes with its own tools. Only rules about effects, paths and
    /// resources judge it.
    pub fn decide_change(
        &self,
        change: &GovernedChange,
        caller: Caller,
        values: &dyn ConditionValues,
    ) -> PolicyDecision {
        let mut decision = CommandDecision::default();
        self.apply_rules(Subject::Change(change), caller, values, &mut decision, &mut |_| {});
        decision.causes.sort_by_key(|cause| self.order(cause));
        let verdict = decision.verdict();
        let mode = self.guard_mode(caller);
        PolicyDecision { verdict, mode, unreadable: None, commands: vec![decision] }
    }

    /// Returns `true` if something besides the guard classes depends on the words of a command.
    fn judges_words(&self) -> bool {
        let restricts = |rule: &PolicyRule| rule.action.deny.is_some() || rule.action.ask.is_some();
        self.rules.iter().any(restricts)
            || !self.deny_patterns.is_empty()
            || !self.whitelists.is_empty()
            || self.workspace.restrict
    }

    fn decide_command(
        &self,
        analysis: &Analysis,
        at: usize,
        caller: Caller,
        values: &dyn ConditionValues,
    ) -> CommandDecision {
        let command = &analysis.commands[at];
        let mut decision = CommandDecision::default();
        let mut lifting: Vec<LiftedClass> = Vec::new();
        let mut lift = |lifted: LiftedClass| lifting.push(lifted);
        self.apply_rules(Subject::Command(command), caller, values, &mut decision, &mut lift);
        let shown = command.shown();
        let lifting_pattern = self.lifting_pattern(command);
        if lifting_pattern.is_some() {
            let rules = &self.rules;
            decision.causes.retain(|cause| match cause.kind {
                CauseKind::Rule(rule) => rules[rule].action.deny != Some(Denial::Liftable),
                _ => true,
            });
        } else if !shown.is_empty() {
            let patterns = self.deny_patterns.first_match(&shown);
            decision.causes.extend(
                patterns
                    .map(|at| VerdictCause { verdict: PolicyVerdict::Deny, kind: CauseKind::Pattern(at) }),
            );
        }
        for (position, whitelist) in self.whitelists.iter().enumerate() {
            if !lifting::is_listed(whitelist, analysis, at) {
                decision.causes.push(VerdictCause {
                    verdict: PolicyVerdict::Deny,
                    kind: CauseKind::Whitelist(position),
                });
            }
        }
        let is_off = self.guard_mode(caller) == GuardMode::Off;
        for (position, finding) in command.findings.iter().enumerate() {
            let class = finding.class;
            if is_off && class != GuardClass::OutsideWorkspace {
                continue;
            }
            let verdict = match self.guard.get(&class) {
                Some(verdict) => verdict.value,
                None => finding.default_verdict(caller),
            };
            if verdict == PolicyVerdict::Allow {
                continue;
            }
            let is_liftable = !class.is_unreadable() && class != GuardClass::OutsideWorkspace;
            let by_rule = lifting.iter().find(|lifted| lifted.class == class).map(|lifted| lifted.by);
            // A pattern is about the words, and names no class.
            let is_about_words = finding.origin == FindingOrigin::Words && !class.has_to_be_named();
            let by_pattern = lifting_pattern.filter(|_| is_about_words).map(LiftedBy::Pattern);
            let by = by_rule.or(by_pattern).filter(|_| is_liftable);
            match by {
                Some(by) => {
                    let lifted = LiftedClass { class, by };
                    if !decision.lifted.contains(&lifted) {
                        decision.lifted.push(lifted);
                    }
                }
                None => {
                    decision.causes.push(VerdictCause { verdict, kind: CauseKind::Class(class, position) });
                }
            }
        }
        decision.causes.sort_by_key(|cause| self.order(cause));
        decision
    }

    /// Returns the first pattern below `allow` that matches.
    fn lifting_pattern(&self, command: &AnalysedCommand) -> Option<usize> {
        self.allow_patterns.first_match(&lifting::text(command)?)
    }

    fn apply_rules(
        &self,
        subject: Subject<'_>,
        caller: Caller,
        values: &dyn ConditionValues,
        decision: &mut CommandDecision,
        lift: &mut dyn FnMut(LiftedClass),
    ) {
        let mut scope = None;
        for position in self.rule_index.candidates(subject) {
            let rule = &self.rules[position];
            let mut matching = |purpose| {
                let matching = rule.condition.compare(subject, purpose);
                let Some(when) = rule.when.as_ref().filter(|_| matching != Matching::No) else {
                    return matching;
                };
                let scope = scope.get_or_insert_with(|| condition_scope(subject, caller, values));
                match when.evaluate(scope) {
                    Truth::True => matching,
                    Truth::False => Matching::No,
                    Truth::Unknown => matching.min(Matching::Possible),
                }
            };
            let restricts = rule.action.deny.is_some() || rule.action.ask.is_some();
            if restricts && matching(MatchPurpose::Restrict) != Matching::No {
                let verdict =
                    if rule.action.deny.is_some() { PolicyVerdict::Deny } else { PolicyVerdict::Ask };
                decision.causes.push(VerdictCause { verdict, kind: CauseKind::Rule(position) });
            }
            let lifts = !rule.action.allow.is_empty() || rule.sandbox.is_some();
            if lifts && matching(MatchPurpose::Lift) == Matching::Yes {
                for class in &rule.action.allow {
                    lift(LiftedClass { class: *class, by: LiftedBy::Rule(position) });
                }
                if rule.sandbox.is_some() && decision.sandbox_rule.is_none() {
                    decision.sandbox_rule = Some(position);
                }
            }
        }
    }

    /// Returns the order of a reason: denials that nothing lifts, other denials, questions.
    fn order(&self, cause: &VerdictCause) -> (bool, std::cmp::Reverse<PolicyVerdict>, CauseKind) {
        let is_final = match cause.kind {
            CauseKind::Rule(rule) => self.rules[rule].action.deny == Some(Denial::Final),
            _ => false,
        };
        (!is_final, std::cmp::Reverse(cause.verdict), cause.kind)
    }
}

fn condition_scope<'v>(
    subject: Subject<'_>,
    caller: Caller,
    values: &'v dyn ConditionValues,
) -> ConditionScope<'v> {
    let user = values.user().map_or(Value::Null, Value::text);
    let caller = Value::map([("kind", Value::text(caller.name())), ("user", user)]);
    let nothing = || Value::map::<&str>([]);
    match subject {
        Subject::Command(command) => {
            let words = |words: &[crate::analysis::AnalysedWord]| {
                Value::list(words.iter().map(|word| Value::text(&*word.shown)))
            };
            let program = command.base_name().map_or(Value::Null, Value::text);
            let effects = command.effects.iter().map(|effect| Value::text(effect.kind.name()));
            let directory = command.directory.as_deref().map_or(Value::Null, Value::text);
            let values_of_command = Value::map([
                ("program", program),
                ("args", words(command.words.get(1..).unwrap_or_default())),
                ("text", Value::text(command.shown())),
                ("directory", directory),
                ("effects", Value::list(effects)),
            ]);
            // An unknown word makes every value of the command uncertain.
            let is_known = command.words.iter().all(|word| word.is_known);
            let command = if is_known { values_of_command } else { nothing() };
            ConditionScope { caller, command, resource: nothing(), values }
        }
        Subject::Change(change) => {
            let resource =
                Value::map([("type", Value::text(&*change.type_name)), ("name", Value::text(&*change.name))]);
            ConditionScope { caller, command: nothing(), resource, values }
        }
    }
}
