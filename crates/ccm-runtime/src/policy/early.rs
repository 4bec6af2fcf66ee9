//! Denials that are known when a manifest is loaded.

use ccm_model::{Catalog, Control, Diagnostic, DiagnosticKind, Node, Resource, SourceMap, Span, split_words};
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, CauseKind, GuardMode, NoValues, Policy, PolicyDecision, PolicyRequest,
    PolicyVerdict, Workspace, analyse,
};
use ccm_shell::ShellDialect;

use super::lookup::MachineLookup;
use super::reasons::{need_text, refusal_text};

/// Search path of commands without one.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const GUARDS: [&str; 2] = ["onlyif", "unless"];

/// Returns an error for each command of the catalog that the policy denies, as far as the command is known before a
/// run. The texts get those of the policy, for the location of the rule.
pub(crate) fn denials(policy: &Policy, catalog: &Catalog, texts: &mut SourceMap) -> Vec<Diagnostic> {
    if policy.guard_mode(Caller::Apply) == GuardMode::Audit {
        return Vec::new();
    }
    let mut found = Vec::new();
    for resource in &catalog.resources {
        if &*resource.id.type_name != "exec" || resource.control != Control::Managed {
            continue;
        }
        for (request, span) in requests(resource) {
            found.extend(denial(policy, resource, request, span, texts));
        }
    }
    found
}

/// Returns the commands of the catalog that need an approval, each with its location and what it needs, as far as the
/// command is known before a run.
pub(crate) fn questions(policy: &Policy, catalog: &Catalog) -> Vec<(Span, String)> {
    if policy.guard_mode(Caller::Apply) == GuardMode::Audit {
        return Vec::new();
    }
    let mut found = Vec::new();
    for resource in &catalog.resources {
        if &*resource.id.type_name != "exec" || resource.control != Control::Managed {
            continue;
        }
        let is_sensitive = is_sensitive(resource);
        for (request, span) in requests(resource) {
            let (analysis, decision) = judge(policy, request);
            if decision.verdict == PolicyVerdict::Ask {
                let (reason, _) = refusal_text(policy, &decision, &analysis.commands, is_sensitive);
                let needs: Vec<String> =
                    decision.needs(policy).iter().map(|need| need_text(policy, need)).collect();
                found.push((span, format!("{reason}: needs {}", needs.join("; "))));
            }
        }
    }
    found
}

fn is_sensitive(resource: &Resource) -> bool {
    resource.properties.get("sensitive").and_then(Node::as_text) == Some("true")
}

/// Judges a command as the apply would call it.
fn judge(policy: &Policy, request: PolicyRequest) -> (Analysis, PolicyDecision) {
    let workspace = policy.workspace();
    let request = PolicyRequest {
        environment: vec![
            ("PATH".to_owned(), SEARCH_PATH.to_owned()),
            ("HOME".to_owned(), "/root".to_owned()),
        ],
        workspace: workspace.path.clone().map(|path| Workspace { path, is_restricted: workspace.restrict }),
        ..request
    };
    let analysis = analyse(&request, &MachineLookup, &AnalysisLimits::default());
    let decision = policy.decide(&analysis, Caller::Apply, &NoValues);
    (analysis, decision)
}

fn denial(
    policy: &Policy,
    resource: &Resource,
    request: PolicyRequest,
    span: Span,
    texts: &mut SourceMap,
) -> Option<Diagnostic> {
    let (analysis, decision) = judge(policy, request);
    let at = decision.strictest();
    let cause = at.and_then(|at| decision.commands[at].cause());
    // A condition may depend on what is known only during a run.
    let depends_on_run = cause.is_some_and(|cause| match cause.kind {
        CauseKind::Rule(rule) => policy.rules()[rule].when.is_some(),
        _ => false,
    });
    if decision.verdict != PolicyVerdict::Deny || depends_on_run {
        return None;
    }
    let is_sensitive = is_sensitive(resource);
    let (reason, hints) = refusal_text(policy, &decision, &analysis.commands, is_sensitive);
    let mut error =
        Diagnostic::error(DiagnosticKind::Denied, span, format!("the policy denies this command: {reason}"));
    if let Some(CauseKind::Rule(rule)) = cause.map(|cause| cause.kind) {
        error.labels.extend(label(policy, policy.rules()[rule].span, texts));
    }
    error.hints = hints;
    Some(error)
}

/// Returns the label at a rule, and adds the text of its file.
fn label(policy: &Policy, span: Span, texts: &mut SourceMap) -> Option<ccm_model::Label> {
    let source = policy.texts().get(span.source)?;
    let id = texts.add(source.name.clone(), source.text.clone());
    Some(ccm_model::Label { span: Span { source: id, ..span }, text: "denied here".to_owned() })
}

/// Returns the commands of an exec that are known before a run, each with its location.
fn requests(resource: &Resource) -> Vec<(PolicyRequest, Span)> {
    let provider = resource.provider.as_ref().map_or("posix", |provider| &*provider.value);
    let directory = resource.properties.get("cwd").and_then(Node::as_text).unwrap_or("/");
    let properties = &resource.properties;
    let request = |text: &str| -> Option<PolicyRequest> {
        // The value of an expression is not known before its resource is reached.
        if text.contains("{{") || text.contains("${{") || directory.contains("{{") {
            return None;
        }
        match provider {
            "shell" => Some(PolicyRequest::text(text, ShellDialect::Sh, directory)),
            "posix" => Some(PolicyRequest::words(split_words(text).ok()?, directory)),
            _ => None,
        }
    };
    let mut found = Vec::new();
    let named = properties.get("command").and_then(|node| Some((node.as_text()?, node.span)));
    let (text, span) = named.unwrap_or((&resource.id.name, resource.span));
    match properties.get("args").and_then(Node::as_list) {
        None => found.extend(request(text).map(|request| (request, span))),
        Some(arguments) if provider == "posix" => {
            let words = arguments.iter().map(Node::as_text);
            let words: Option<Vec<&str>> = std::iter::once(Some(text)).chain(words).collect();
            let known = words.filter(|words| words.iter().all(|word| !word.contains("{{")));
            found.extend(known.map(|words| (PolicyRequest::words(words, directory), span)));
        }
        Some(_) => {}
    }
    for guard in GUARDS {
        let Some(node) = properties.get(guard) else { continue };
        let nodes = node.as_list().unwrap_or(std::slice::from_ref(node));
        for node in nodes {
            let known = node.as_text().and_then(request);
            found.extend(known.map(|request| (request, node.span)));
        }
    }
    found
}
