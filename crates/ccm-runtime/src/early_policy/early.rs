//! Denials and needed approvals that are known when a manifest is loaded.

use std::collections::HashSet;

use ccm_engine::ResourceType;
use ccm_host::{SEARCH_PATH, current_user};
use ccm_manifest::LateResources;
use ccm_model::{
    Catalog, Control, Diagnostic, DiagnosticKind, Label, Node, Resource, ResourceIndex, SourceMap, Span,
};
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, CauseKind, GuardMode, NoValues, Policy, PolicyDecision, PolicyRequest,
    PolicyVerdict, RequestInput, Workspace, analyse,
};
use ccm_properties::{CommandPlace, CommandSubject, HEALTH_CHECKS, HealthCheck, WrittenCommand, WrittenLine};
use ccm_shell::ShellDialect;

use ccm_governance::policy::{CachedMachine, UnseenMachine, need_text, refusal_text};

/// Manifest to judge before a run.
pub(crate) struct EarlyInput<'a> {
    pub policy: &'a Policy,
    pub types: &'a [&'static dyn ResourceType],
    pub catalog: &'a Catalog,
    pub late: &'a LateResources<'a>,
}

/// Returns an error for each command of the catalog that the policy denies, as far as the command is known before a
/// run. The texts get those of the policy, for the location of the rule.
pub(crate) fn denials(input: &EarlyInput<'_>, texts: &mut SourceMap) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    judge_commands(input, PolicyVerdict::Deny, |judged| found.extend(denial(input.policy, judged, texts)));
    found
}

/// Returns the commands of the catalog that need an approval, each with its location and what it needs, as far as the
/// command is known before a run.
pub(crate) fn questions(input: &EarlyInput<'_>) -> Vec<(Span, String)> {
    let policy = input.policy;
    let mut found = Vec::new();
    judge_commands(input, PolicyVerdict::Ask, |judged| {
        let JudgedCommand { resource, command, analysis, decision } = judged;
        let (reason, _) = refusal_text(policy, decision, &analysis.commands, is_sensitive(resource));
        let needs: Vec<String> = decision.needs(policy).iter().map(|need| need_text(policy, need)).collect();
        found.push((command.span, format!("{reason}: needs {}", needs.join("; "))));
    });
    found
}

/// Command of a resource with what the policy says about it.
struct JudgedCommand<'a> {
    resource: &'a Resource,
    command: &'a WrittenCommand,
    analysis: &'a Analysis,
    decision: &'a PolicyDecision,
}

/// Judges every known command of the catalog, and reports those with a verdict. Equal commands are judged once.
fn judge_commands(
    input: &EarlyInput<'_>,
    verdict: PolicyVerdict,
    mut report: impl FnMut(&JudgedCommand<'_>),
) {
    if input.policy.guard_mode(Caller::Apply) == GuardMode::Audit {
        return;
    }
    let machine = CachedMachine::default();
    let mut others: HashSet<CommandSubject> = HashSet::new();
    let mut judge = |resource: &Resource, command: WrittenCommand| {
        if others.contains(&command.subject) {
            return;
        }
        let Some(analysis) = analysis_of(input, &machine, &command.subject) else { return };
        let decision = input.policy.decide(&analysis, Caller::Apply, &NoValues);
        if decision.verdict == verdict {
            report(&JudgedCommand { resource, command: &command, analysis: &analysis, decision: &decision });
        } else {
            others.insert(command.subject);
        }
    };
    for (index, resource) in input.catalog.resources.iter().enumerate() {
        if resource.control != Control::Managed {
            continue;
        }
        let known = input.types.iter().find(|known| known.name() == &*resource.id.type_name);
        let view = known.and_then(|known| known.commands());
        let of_type =
            view.map(|view| view.commands(resource).into_iter().chain(view.later_commands(resource)));
        let index = ResourceIndex::from_usize(index);
        for command in of_type.into_iter().flatten().chain(commands_of_checks(resource)) {
            if is_known(&command, resource, index, input) {
                judge(resource, command);
            }
        }
    }
    for (resource, command) in checks_of_manifest(input) {
        judge(resource, command);
    }
}

/// Returns the commands of the health checks of the manifest itself.
fn checks_of_manifest<'a>(input: &EarlyInput<'a>) -> Vec<(&'a Resource, WrittenCommand)> {
    let Some(resource) = input.catalog.checks.as_deref() else { return Vec::new() };
    commands_of_checks(resource).into_iter().map(|command| (resource, command)).collect()
}

/// Returns the commands of health checks, unless another place than this machine may start them.
fn commands_of_checks(resource: &Resource) -> Vec<WrittenCommand> {
    match resource.properties.get(HEALTH_CHECKS) {
        Some(node) if resource.properties.get("executor").is_none() => HealthCheck::commands(node),
        _ => Vec::new(),
    }
}

/// Returns `true` if nothing that the command depends on waits for the run.
fn is_known(
    command: &WrittenCommand,
    resource: &Resource,
    index: ResourceIndex,
    input: &EarlyInput<'_>,
) -> bool {
    if !input.late.is_late(index) {
        return true;
    }
    let nodes = command.properties.iter().filter_map(|property| resource.properties.get(property));
    !nodes.map(|node| node.span).chain([command.span]).any(|span| input.late.is_late_value(index, span))
}

fn is_sensitive(resource: &Resource) -> bool {
    resource.properties.get("sensitive").and_then(Node::as_text) == Some("true")
}

fn denial(policy: &Policy, judged: &JudgedCommand<'_>, texts: &mut SourceMap) -> Option<Diagnostic> {
    let JudgedCommand { resource, command, analysis, decision } = judged;
    let cause = decision.strictest().and_then(|at| decision.commands[at].cause());
    // A condition may depend on what is known only during a run.
    if let Some(CauseKind::Rule(rule)) = cause.map(|cause| cause.kind)
        && policy.rules()[rule].when.is_some()
    {
        return None;
    }
    let (reason, hints) = refusal_text(policy, decision, &analysis.commands, is_sensitive(resource));
    let message = format!("the policy denies this command: {reason}");
    let mut error = Diagnostic::error(DiagnosticKind::Denied, command.span, message);
    let span = match cause.map(|cause| cause.kind) {
        Some(CauseKind::Rule(rule)) => Some(policy.rules()[rule].span),
        Some(CauseKind::Pattern(pattern)) => Some(policy.deny_patterns()[pattern].span),
        Some(CauseKind::Whitelist(whitelist)) => Some(policy.whitelists()[whitelist].span),
        Some(CauseKind::Class(class, _)) => policy.class_verdict(class, Caller::Apply).1,
        None => None,
    };
    error.labels.extend(span.and_then(|span| label(policy, span, texts)));
    error.hints = hints;
    Some(error)
}

/// Returns the label at a part of the policy, and adds the text of its file.
fn label(policy: &Policy, span: Span, texts: &mut SourceMap) -> Option<Label> {
    let source = policy.texts().get(span.source)?;
    let id = texts.add(source.name.clone(), source.text.clone());
    Some(Label { span: Span { source: id, ..span }, text: "denied here".to_owned() })
}

/// Analyses a command; `None` if that needs what only the run knows.
fn analysis_of(
    input: &EarlyInput<'_>,
    machine: &CachedMachine,
    command: &CommandSubject,
) -> Option<Analysis> {
    let request = match &command.line {
        WrittenLine::Words(words) => PolicyRequest::words(words.iter().cloned(), &*command.directory),
        WrittenLine::Shell(text) => PolicyRequest::text(&**text, ShellDialect::Sh, &*command.directory),
    };
    let has_home_of_root = command.place == CommandPlace::Host && current_user() == 0;
    let names_home = |text: &str| text.contains('~') || text.contains("HOME");
    if !has_home_of_root && names_home(&request.shown_text()) {
        return None;
    }
    let base = [("PATH", SEARCH_PATH), ("HOME", "/root")];
    let base = base.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let workspace = input.policy.workspace();
    let is_new = |(name, _): &&(String, String)| !matches!(&**name, "PATH" | "HOME");
    let request = PolicyRequest {
        environment: base.into_iter().chain(command.environment.iter().cloned()).collect(),
        added_variables: command.environment.iter().filter(is_new).cloned().collect(),
        input: command.input.clone().map_or(RequestInput::Empty, RequestInput::Text),
        workspace: workspace.path.clone().map(|path| Workspace { path, is_restricted: workspace.restrict }),
        ..request
    };
    let limits = AnalysisLimits::default();
    Some(if command.place == CommandPlace::Container {
        analyse(&request, &UnseenMachine, &limits)
    } else {
        analyse(&request, machine, &limits)
    })
}
