//! Tests of a policy: the examples of its rules.

use ccm_model::{Diagnostic, DiagnosticKind};
use ccm_properties::Located;
use ccm_shell::ShellDialect;

use crate::analyse::analyse;
use crate::analysis::{Analysis, AnalysisLimits};
use crate::condition::NoValues;
use crate::decision::CauseKind;
use crate::lookup::{LinkReading, Lookup, LookupPathKind, ProgramLocation};
use crate::matching::{MatchPurpose, Matching, Subject};
use crate::policy::Policy;
use crate::request::{PolicyRequest, RequestCommand, Workspace};
use crate::rule::PolicyRule;
use crate::verdict::{Caller, PolicyVerdict};

/// Directory of examples, if the policy names no workspace.
const DIRECTORY: &str = "/srv/workspace";

/// Machine on which every program is installed, so that examples mean the same on every machine.
struct AnyMachine;

impl Lookup for AnyMachine {
    fn find_program(&self, name: &str, _: &str, directory: &str) -> Option<ProgramLocation> {
        let is_relative = name.contains('/') && !name.starts_with('/');
        let path = match name {
            _ if name.starts_with('/') => name.to_owned(),
            _ if is_relative => {
                format!("{}/{}", directory.trim_end_matches('/'), name.trim_start_matches("./"))
            }
            _ => format!("/usr/bin/{name}"),
        };
        let trusted = ["/bin/", "/sbin/", "/usr/"];
        let is_trusted = trusted.iter().any(|directory| path.starts_with(directory));
        Some(ProgramLocation { canonical: path.clone(), path, is_trusted })
    }

    fn path_kind(&self, path: &str) -> LookupPathKind {
        let directories = [
            "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/root", "/run", "/sbin",
            "/srv", "/sys", "/tmp", "/usr", "/var",
        ];
        match path {
            _ if directories.contains(&path) => LookupPathKind::Directory,
            _ if path.starts_with("/dev/") => LookupPathKind::Device,
            _ => LookupPathKind::Missing,
        }
    }

    fn read_link(&self, _: &str) -> LinkReading {
        LinkReading::NoLink
    }
}

/// Checks the examples of all rules: each command has to match its rule, or not. Conditions are left out, because they
/// depend on the caller and the machine.
pub(crate) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    let mut request = request(policy);
    let mut examples: Vec<(&PolicyRule, &Located<String>, bool)> = Vec::new();
    for rule in &policy.rules {
        examples.extend(rule.examples.yes.iter().map(|example| (rule, example, true)));
        examples.extend(rule.examples.no.iter().map(|example| (rule, example, false)));
    }
    // Rules often have examples in common, such as the ordinary use of a program. Each is analysed once.
    examples.sort_by(|(_, one, _), (_, other, _)| one.value.cmp(&other.value));
    for equal in examples.chunk_by(|(_, one, _), (_, other, _)| one.value == other.value) {
        let Some((_, example, _)) = equal.first() else { continue };
        let analysis = analyse_text(&mut request, &example.value);
        for (rule, example, is_expected) in equal {
            found.extend(check_example(&analysis, rule, example, *is_expected));
        }
    }
}

fn check_example(
    analysis: &Analysis,
    rule: &PolicyRule,
    example: &Located<String>,
    is_expected: bool,
) -> Option<Diagnostic> {
    let error = |message: String| {
        let error = Diagnostic::error(DiagnosticKind::ValidationFailed, example.span, message);
        error.with_label(rule.span, "the rule")
    };
    if let Some(unreadable) = &analysis.unreadable {
        let diagnostic = error(format!("this example can't be read: {}", unreadable.message));
        return Some(unreadable.hint.into_iter().fold(diagnostic, Diagnostic::with_hint));
    }
    let restricts = rule.action.deny.is_some() || rule.action.ask.is_some();
    let lifts = !rule.action.allow.is_empty();
    let matches = analysis.commands.iter().any(|command| {
        let subject = Subject::Command(command);
        let restricted = rule.condition.compare(subject, MatchPurpose::Restrict) != Matching::No;
        let lifted = rule.condition.compare(subject, MatchPurpose::Lift) == Matching::Yes;
        if lifts || !restricts { lifted } else { restricted }
    });
    match (matches, is_expected) {
        (false, true) => Some(
            error("this example does not match the rule".to_owned())
                .with_hint("correct `match`, or move the example to `no`"),
        ),
        (true, false) => Some(
            error("this example matches the rule, but must not".to_owned())
                .with_hint("narrow `match`, or move the example to `yes`"),
        ),
        _ => None,
    }
}

/// Returns the request of an example without its text.
fn request(policy: &Policy) -> PolicyRequest {
    let directory = policy.workspace.path.as_deref().unwrap_or(DIRECTORY);
    let mut request = PolicyRequest::text("", ShellDialect::Sh, directory);
    request.environment = vec![
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("HOME".to_owned(), "/root".to_owned()),
    ];
    request.workspace =
        Some(Workspace { path: directory.to_owned(), is_restricted: policy.workspace.restrict });
    request
}

fn analyse_text(request: &mut PolicyRequest, text: &str) -> Analysis {
    request.command = RequestCommand::Text { text: text.to_owned(), dialect: ShellDialect::Sh };
    analyse(request, &AnyMachine, &AnalysisLimits::default())
}

impl Policy {
    /// Returns a warning for each example of a rule that allows whose command is refused because of another rule,
    /// pattern, whitelist or class.
    pub fn conflicts(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut request = request(self);
        let lifting = |rule: &&PolicyRule| !rule.action.allow.is_empty() && rule.action.ask.is_none();
        for rule in self.rules.iter().filter(lifting) {
            for example in &rule.examples.yes {
                let analysis = analyse_text(&mut request, &example.value);
                let decision = self.decide(&analysis, Caller::Tool, &NoValues);
                if decision.verdict == PolicyVerdict::Allow {
                    continue;
                }
                let cause = decision.strictest().and_then(|at| decision.commands[at].cause());
                let Some(cause) = cause else { continue };
                let verb = if cause.verdict == PolicyVerdict::Deny {
                    "denied"
                } else {
                    "not allowed without an approval"
                };
                let (by, span) = match cause.kind {
                    CauseKind::Rule(rule) => (self.rule_label(rule), Some(self.rules[rule].span)),
                    CauseKind::Pattern(at) => ("a pattern".to_owned(), Some(self.deny_patterns[at].span)),
                    CauseKind::Whitelist(at) => ("the whitelist".to_owned(), Some(self.whitelists[at].span)),
                    CauseKind::Class(class, _) => {
                        (format!("guard class `{class}`"), self.guard.get(&class).map(|verdict| verdict.span))
                    }
                };
                let message = format!("for tools, this example is {verb}: {by} is stricter");
                let mut warning = Diagnostic::warning(DiagnosticKind::Conflict, example.span, message);
                if let Some(span) = span {
                    warning = warning.with_label(span, "stricter");
                }
                let hint = match cause.kind {
                    CauseKind::Class(class, _) => format!("add `{class}` to `allow` of the rule"),
                    _ => "narrow the stricter one, or remove the example".to_owned(),
                };
                found.push(warning.with_hint(hint));
            }
        }
        found
    }
}
