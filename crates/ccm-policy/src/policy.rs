//! Policies: the files of a policy, merged and checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use ccm_model::{
    Diagnostic, DiagnosticKind, Location, Severity, SourceId, SourceMap, Span, closest, escape_control,
};
use ccm_properties::Located;

use crate::document::{
    self, ApplySettings, ApprovalSettings, AuditSettings, FileAuthority, GuardMode, PolicyDocument,
    PolicyPattern, SandboxSettings, ToolLimits, ToolSettings, Whitelist, WorkspaceSettings,
};
use crate::examples;
use crate::guard_class::GuardClass;
use crate::pattern_set::{PatternCase, PatternSet};
use crate::rule::{ApproverSet, PolicyRule};
use crate::rule_index::RuleIndex;
use crate::verdict::{Caller, PolicyVerdict};

/// Maximum number of rules.
const MAX_RULES: usize = 2_000;
/// Maximum number of examples of all rules.
const MAX_EXAMPLES: usize = 10_000;

/// File of a policy.
#[derive(Clone, Debug)]
pub struct PolicyText {
    /// Name in messages: the path.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
}

/// A policy, or the standard guard alone.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Texts of the files, for locations.
    pub(crate) texts: Arc<SourceMap>,
    pub(crate) workspace: WorkspaceSettings,
    pub(crate) apply: ApplySettings,
    pub(crate) tool: ToolSettings,
    pub(crate) guard: BTreeMap<GuardClass, Located<PolicyVerdict>>,
    pub(crate) rules: Vec<PolicyRule>,
    pub(crate) rule_index: RuleIndex,
    pub(crate) deny_patterns: PatternSet,
    pub(crate) allow_patterns: PatternSet,
    /// A command has to be in each of them.
    pub(crate) whitelists: Vec<Whitelist>,
    pub(crate) approval: ApprovalSettings,
    pub(crate) sandbox: SandboxSettings,
    pub(crate) limits: ToolLimits,
    pub(crate) audit: AuditSettings,
    pub(crate) trusted: Vec<String>,
}

/// Result of reading the files of a policy.
#[derive(Clone, Debug)]
pub struct PolicyReading {
    /// The policy, if there is no error.
    pub policy: Option<Policy>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Texts that the diagnostics refer to.
    pub texts: Arc<SourceMap>,
}

/// Files of a policy.
#[derive(Clone, Debug, Default)]
pub struct PolicyFiles {
    /// The main file. Without one, the standard guard is the policy.
    pub main: Option<PolicyText>,
    /// Files that add to the main file. They can only make the policy stricter, unless the main file lists their names
    /// below `trusted`.
    pub fragments: Vec<PolicyText>,
    /// File of the user of the run, which can only make the policy stricter.
    pub own: Option<PolicyText>,
}

/// Reads a policy file and the files that add to it.
pub fn read_policy(main: &PolicyText, fragments: &[PolicyText]) -> PolicyReading {
    read_policy_files(&PolicyFiles { main: Some(main.clone()), fragments: fragments.to_vec(), own: None })
}

/// Reads the files of a policy.
pub fn read_policy_files(files: &PolicyFiles) -> PolicyReading {
    let mut texts = SourceMap::default();
    let mut found = Vec::new();
    let mut merged = PolicyMerge::default();
    let mut trusted = Vec::new();
    if let Some(main) = &files.main {
        let source = texts.add(main.name.clone(), Arc::clone(&main.text));
        let first = document::parse(source, &main.text, FileAuthority::Full, &mut found);
        trusted.clone_from(&first.trusted);
        merged.add(first, FileAuthority::Full, &mut found);
    }
    let fragments = &files.fragments;
    let file_name = |text: &PolicyText| text.name.rsplit('/').next().unwrap_or_default().to_owned();
    for fragment in fragments {
        let source = texts.add(fragment.name.clone(), Arc::clone(&fragment.text));
        let is_trusted = trusted.iter().any(|name| name.value == file_name(fragment));
        let authority = if is_trusted { FileAuthority::Full } else { FileAuthority::OnlyStricter };
        let document = document::parse(source, &fragment.text, authority, &mut found);
        for name in &document.trusted {
            let message = "only policy.yaml can have `trusted`";
            found.push(Diagnostic::error(DiagnosticKind::Misplaced, name.span, message));
        }
        merged.add(document, authority, &mut found);
    }
    for name in &trusted {
        if !fragments.is_empty() && !fragments.iter().any(|fragment| file_name(fragment) == name.value) {
            let message = format!("there is no file `{}` in policy.d", escape_control(&name.value));
            found.push(Diagnostic::warning(DiagnosticKind::UnknownReference, name.span, message));
        }
    }
    let mut own = None;
    if let Some(file) = &files.own {
        let source = texts.add(file.name.clone(), Arc::clone(&file.text));
        own = Some(source);
        let document = document::parse(source, &file.text, FileAuthority::OfUser, &mut found);
        merged.add(document, FileAuthority::OfUser, &mut found);
    }
    let texts = Arc::new(texts);
    let PolicyMerge { policy, deny_patterns, allow_patterns, .. } = merged;
    let policy = Policy {
        texts: Arc::clone(&texts),
        rule_index: RuleIndex::of(&policy.rules),
        trusted: trusted.into_iter().map(|name| name.value).collect(),
        deny_patterns: PatternSet::compile(deny_patterns, PatternCase::Either, &mut found),
        allow_patterns: PatternSet::compile(allow_patterns, PatternCase::Exact, &mut found),
        ..policy
    };
    policy.check_references(&mut found);
    // Whatever depends on the number of rules is bounded by it.
    if policy.check_numbers(&mut found) {
        policy.check_contradictions(own, &mut found);
        examples::check(&policy, &mut found);
    }
    let has_errors = found.iter().any(|one| one.severity == Severity::Error);
    found.sort_by_key(|one| one.span().map(|span| (span.source, span.start)));
    PolicyReading { policy: (!has_errors).then_some(policy), diagnostics: found, texts }
}

/// Policy with the locations of the sections that were given.
#[derive(Default)]
struct PolicyMerge {
    policy: Policy,
    given: BTreeMap<&'static str, Span>,
    deny_patterns: Vec<PolicyPattern>,
    allow_patterns: Vec<PolicyPattern>,
}

impl PolicyMerge {
    fn add(&mut self, document: PolicyDocument, authority: FileAuthority, found: &mut Vec<Diagnostic>) {
        let PolicyDocument { workspace, callers, approval, sandbox, limits, audit, .. } = document;
        let Self { policy, given, deny_patterns, allow_patterns } = self;
        let mut section = Section { given, found };
        section.set("workspace", workspace, &mut policy.workspace);
        section.set("callers: apply", callers.apply, &mut policy.apply);
        section.set("callers: tool", callers.tool, &mut policy.tool);
        section.set("approval", approval, &mut policy.approval);
        section.set("sandbox", sandbox, &mut policy.sandbox);
        section.set("limits", limits, &mut policy.limits);
        section.set("audit", audit, &mut policy.audit);
        // A file without full authority can't allow, which is reported already.
        let is_allowed =
            |verdict: &PolicyVerdict| authority == FileAuthority::Full || *verdict != PolicyVerdict::Allow;
        for (class, verdict) in document.guard.into_iter().filter(|(_, verdict)| is_allowed(&verdict.value)) {
            let before = policy.guard.get(&class).map(|before| before.value);
            // Without full authority, a verdict counts only where it is stricter.
            let strictest = before.unwrap_or_else(|| {
                Caller::ALL
                    .map(|caller| class.default_verdict(caller))
                    .into_iter()
                    .max()
                    .unwrap_or(PolicyVerdict::Deny)
            });
            if authority == FileAuthority::Full || verdict.value >= strictest {
                policy.guard.insert(class, verdict);
            } else {
                let message = format!("`{class}` is not made stricter by `{}`", verdict.value.name());
                let error = Diagnostic::error(DiagnosticKind::InvalidValue, verdict.span, message);
                found.push(match before {
                    Some(_) => {
                        let hint = format!("another file sets `{}`: remove this line", strictest.name());
                        error.with_hint(hint)
                    }
                    None => error.with_hint(format!(
                        "the standard guard has `{}` for one of the callers: remove this line, or write `{0}`",
                        strictest.name()
                    )),
                });
            }
        }
        policy.rules.extend(document.rules.rules);
        deny_patterns.extend(document.patterns.deny);
        allow_patterns.extend(document.patterns.allow);
        policy.whitelists.extend(document.whitelist);
    }
}

struct Section<'m> {
    given: &'m mut BTreeMap<&'static str, Span>,
    found: &'m mut Vec<Diagnostic>,
}

impl Section<'_> {
    /// Sets a section that only one file may have.
    fn set<T>(&mut self, name: &'static str, section: Option<Located<T>>, value: &mut T) {
        let Some(section) = section else { return };
        if let Some(before) = self.given.get(name) {
            let message = format!("`{name}` is already set by another file");
            let error = Diagnostic::error(DiagnosticKind::Conflict, section.span, message);
            self.found.push(error.with_label(*before, "set here").with_hint("keep one of the two"));
            return;
        }
        self.given.insert(name, section.span);
        *value = section.value;
    }
}

impl Policy {
    /// Returns the location of a span.
    pub fn location(&self, span: Span) -> Option<Location> {
        self.texts.location(span)
    }

    /// Returns the texts of the files.
    pub fn texts(&self) -> &SourceMap {
        &self.texts
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &WorkspaceSettings {
        &self.workspace
    }

    /// Returns the mode of the guard for a caller.
    pub fn guard_mode(&self, caller: Caller) -> GuardMode {
        match caller {
            Caller::Apply => self.apply.guard,
            Caller::Tool => self.tool.guard,
        }
    }

    /// Returns the settings of the caller `apply`.
    pub fn apply_settings(&self) -> &ApplySettings {
        &self.apply
    }

    /// Returns the settings of the caller `tool`.
    pub fn tool_settings(&self) -> &ToolSettings {
        &self.tool
    }

    /// Returns the verdict on a guard class, and the location of a setting that changes it.
    pub fn class_verdict(&self, class: GuardClass, caller: Caller) -> (PolicyVerdict, Option<Span>) {
        match self.guard.get(&class) {
            Some(verdict) => (verdict.value, Some(verdict.span)),
            None => (class.default_verdict(caller), None),
        }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// Returns the patterns that deny.
    pub fn deny_patterns(&self) -> &[PolicyPattern] {
        &self.deny_patterns
    }

    /// Returns the patterns that lift guard classes.
    pub fn allow_patterns(&self) -> &[PolicyPattern] {
        &self.allow_patterns
    }

    /// Returns the whitelists. A command has to be in each of them.
    pub fn whitelists(&self) -> &[Whitelist] {
        &self.whitelists
    }

    /// Returns the approvers and the conditions of approvals.
    pub fn approval(&self) -> &ApprovalSettings {
        &self.approval
    }

    /// Returns the sandboxes of governed tools.
    pub fn sandbox(&self) -> &SandboxSettings {
        &self.sandbox
    }

    /// Returns the limits of governed tools.
    pub fn limits(&self) -> &ToolLimits {
        &self.limits
    }

    /// Returns the names of the files in `policy.d` that may allow as much as the policy itself.
    pub fn trusted(&self) -> &[String] {
        &self.trusted
    }

    /// Returns the settings of the audit log.
    pub fn audit(&self) -> &AuditSettings {
        &self.audit
    }

    /// Returns the name of a rule for messages: `rule "restarts"` or `rule 3`.
    pub fn rule_label(&self, position: usize) -> String {
        match self.rules.get(position).and_then(|rule| rule.name.as_deref()) {
            Some(name) => format!("rule \"{}\"", escape_control(name)),
            None => format!("rule {}", position + 1),
        }
    }

    /// Reports groups and profiles that do not exist.
    fn check_references(&self, found: &mut Vec<Diagnostic>) {
        for rule in &self.rules {
            found.extend(rule.sandbox.as_ref().and_then(|profile| self.sandbox.check_profile(profile)));
            let Some(ask) = &rule.action.ask else { continue };
            let members = match &ask.approvers {
                ApproverSet::All => continue,
                ApproverSet::Listed(names) => Some(names.len()),
                ApproverSet::Group(group) => {
                    let members = self.approval.groups.get(group);
                    if members.is_none() {
                        let message = format!("there is no group of approvers `{}`", escape_control(group));
                        let error = Diagnostic::error(DiagnosticKind::UnknownReference, rule.span, message);
                        let names = self.approval.groups.keys().map(String::as_str);
                        found.push(match closest(group, names) {
                            Some(nearest) => error.with_suggestion(Some(nearest)),
                            None => error.with_hint("define the group below `approval: groups:`"),
                        });
                    }
                    members.map(Vec::len)
                }
            };
            let needed = ask.count.unwrap_or(1) as usize;
            if let Some(members) = members.filter(|members| *members < needed) {
                let message =
                    format!("{needed} approvals are needed, but there are only {members} approvers");
                let error = Diagnostic::error(DiagnosticKind::Conflict, rule.span, message);
                found.push(error.with_hint("add approvers, or lower `count`"));
            }
        }
    }

    /// Reports a policy with too many rules or examples, and returns `false` then.
    fn check_numbers(&self, found: &mut Vec<Diagnostic>) -> bool {
        let examples = self.rules.iter().flat_map(|rule| rule.examples.yes.iter().chain(&rule.examples.no));
        let last_rule = self.rules.get(MAX_RULES).map(|rule| (rule.span, MAX_RULES, "rules"));
        let last_example = examples.skip(MAX_EXAMPLES).map(|one| (one.span, MAX_EXAMPLES, "examples")).next();
        let Some((span, count, what)) = last_rule.or(last_example) else { return true };
        let message = format!("the policy has more than {count} {what}");
        let error = Diagnostic::error(DiagnosticKind::LimitExceeded, span, message);
        found.push(error.with_hint("write one rule for several programs: `program: [a, b]`"));
        false
    }

    /// Reports rules that another rule makes ineffective, and names that are used twice. The file of the user of the run
    /// and the other files are compared each with themselves: nobody has to know the names and rules of the other.
    fn check_contradictions(&self, own: Option<SourceId>, found: &mut Vec<Diagnostic>) {
        let is_own = |rule: &PolicyRule| Some(rule.span.source) == own;
        let mut names: BTreeMap<(bool, &str), Span> = BTreeMap::new();
        for rule in &self.rules {
            let Some(name) = rule.name.as_deref() else { continue };
            if let Some(before) = names.insert((is_own(rule), name), rule.span) {
                let message = format!("two rules are named `{}`", escape_control(name));
                let error = Diagnostic::error(DiagnosticKind::Conflict, rule.span, message);
                found.push(error.with_label(before, "the first").with_hint("rename one of them"));
            }
        }
        for rule in self.rules.iter().filter(|rule| rule.action.deny.is_none()) {
            let verb = if rule.action.allow.is_empty() { "asks for" } else { "allows" };
            let denies = |other: &&PolicyRule| {
                let is_wider = other
                    .when
                    .as_ref()
                    .is_none_or(|when| rule.when.as_ref().is_some_and(|own| own.text() == when.text()));
                other.action.deny.is_some()
                    && is_wider
                    && is_own(other) == is_own(rule)
                    && other.condition.covers(&rule.condition)
            };
            if let Some(other) = self.rules.iter().find(denies) {
                let message = format!("this rule {verb} what another rule always denies");
                let error = Diagnostic::error(DiagnosticKind::Conflict, rule.span, message);
                found.push(
                    error
                        .with_label(other.span, "denied here")
                        .with_hint("remove one of the rules, or narrow its `match`"),
                );
            }
        }
    }
}
