//! A policy as text: its settings, guard classes and rules.

use ccm_runtime::CheckedPolicy;
use ccm_runtime::model::escape_control;
use ccm_runtime::policy::{Caller, Denial, GuardClass, Policy, PolicyRule};
use serde_json::{Map, Value, json};

/// Returns the policy as text; the standard guard without a policy.
pub(super) fn text(checked: Option<&CheckedPolicy>, all_classes: bool) -> String {
    let standard = Policy::default();
    let policy = checked.map_or(&standard, |checked| &checked.policy);
    let mut text = match checked {
        Some(checked) => format!("policy: {}\n", checked.files.join(", ")),
        None => "policy: none; `ccm apply` is not judged, and tools can only read\n".to_owned(),
    };
    let workspace = policy.workspace();
    if let Some(path) = &workspace.path {
        let restricted = if workspace.restrict { ", and nothing outside" } else { "" };
        text += &format!("workspace: {}{restricted}\n", escape_control(path));
    }
    for caller in Caller::ALL {
        text += &format!("guard for {}: {}\n", caller.name(), policy.guard_mode(caller).name());
    }
    let classes = classes(policy, all_classes);
    if !classes.is_empty() {
        let width = classes.iter().map(|class| class.name().len()).max().unwrap_or_default().max(5);
        text += &format!("\n{:width$}  tool   apply  meaning\n", "class");
        for class in classes {
            let verdict = |caller| policy.class_verdict(class, caller).0.name();
            let (tool, apply) = (verdict(Caller::Tool), verdict(Caller::Apply));
            text += &format!("{:width$}  {tool:5}  {apply:5}  {}\n", class.name(), class.description());
        }
    }
    if !policy.rules().is_empty() {
        text += "\nrules, of which the strictest that matches decides:\n";
    }
    for (position, rule) in policy.rules().iter().enumerate() {
        let place = policy.location(rule.span).map(|at| format!(" ({at})")).unwrap_or_default();
        text += &format!("  {}{place}: {}\n", policy.rule_label(position), action(rule));
    }
    for (verdict, pattern) in patterns(policy) {
        text += &format!("  pattern `{}`: {verdict}\n", escape_control(pattern));
    }
    for whitelist in policy.whitelists() {
        let commands: Vec<String> = whitelist.commands.iter().map(|entry| entry.words.join(" ")).collect();
        text += &format!("  only these commands: {}\n", escape_control(&commands.join(", ")));
    }
    text
}

/// Returns the same as JSON.
pub(super) fn json(checked: Option<&CheckedPolicy>, all_classes: bool) -> Value {
    let standard = Policy::default();
    let policy = checked.map_or(&standard, |checked| &checked.policy);
    let verdict = |class, caller| policy.class_verdict(class, caller).0.name();
    let class = |class: GuardClass| {
        json!({
            "name": class.name(),
            "tool": verdict(class, Caller::Tool),
            "apply": verdict(class, Caller::Apply),
            "meaning": class.description(),
        })
    };
    let rule = |(position, rule): (usize, &PolicyRule)| {
        let location = policy.location(rule.span).map(|at| at.to_string());
        json!({ "rule": policy.rule_label(position), "location": location, "action": action(rule) })
    };
    let guard = |caller: Caller| (caller.name().to_owned(), json!(policy.guard_mode(caller).name()));
    let words = policy.whitelists().iter().map(|list| &list.commands);
    json!({
        "files": checked.map(|checked| &checked.files),
        "workspace": policy.workspace().path,
        "restrict": policy.workspace().restrict,
        "guard": Caller::ALL.into_iter().map(guard).collect::<Map<_, _>>(),
        "classes": classes(policy, all_classes).into_iter().map(class).collect::<Vec<_>>(),
        "rules": policy.rules().iter().enumerate().map(rule).collect::<Vec<_>>(),
        "patterns": patterns(policy).map(|(verdict, text)| json!({ "pattern": text, "verdict": verdict })).collect::<Vec<_>>(),
        "only": words.map(|list| list.iter().map(|entry| &entry.words).collect()).collect::<Vec<Vec<_>>>(),
    })
}

/// Returns the verdicts of patterns, with their texts.
fn patterns(policy: &Policy) -> impl Iterator<Item = (&'static str, &str)> {
    let deny = policy.deny_patterns().iter().map(|pattern| ("deny", pattern.as_str()));
    deny.chain(policy.allow_patterns().iter().map(|pattern| ("allow", pattern.as_str())))
}

/// Returns the guard classes to show: all, or those that the policy sets.
fn classes(policy: &Policy, all: bool) -> Vec<GuardClass> {
    let is_shown = |class: &GuardClass| all || policy.class_verdict(*class, Caller::Tool).1.is_some();
    GuardClass::all().filter(is_shown).collect()
}

fn action(rule: &PolicyRule) -> String {
    let mut parts = Vec::new();
    match rule.action.deny {
        Some(Denial::Final) => parts.push("deny, final".to_owned()),
        Some(Denial::Liftable) => parts.push("deny".to_owned()),
        None => {}
    }
    if !rule.action.allow.is_empty() {
        let classes: Vec<&str> = rule.action.allow.iter().map(|class| class.name()).collect();
        parts.push(format!("lifts {}", classes.join(", ")));
    }
    if rule.action.ask.is_some() {
        parts.push("ask".to_owned());
    }
    if let Some(sandbox) = &rule.sandbox {
        parts.push(format!("sandbox {}", escape_control(&sandbox.value)));
    }
    parts.join("; ")
}
