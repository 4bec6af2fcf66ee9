//! Errors in the health checks of a resource, and in their rules.

use ccm_check::read_rules;
use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Properties, Resource,
    ResourceId,
};
use ccm_properties::{CheckInput, HEALTH_CHECKS, HealthCheck, OnFailure};

/// Returns the health checks of a manifest in the form of a resource.
pub(crate) fn of_manifest(name: Option<&str>, node: Node) -> Resource {
    let span = node.span;
    let key = NodeKey { text: HEALTH_CHECKS.into(), span };
    let own = NodeMap::new(vec![NodeEntry { key, value: node }]);
    Resource {
        id: ResourceId::new("checks", name.unwrap_or("manifest")),
        span,
        properties: Properties::new(own, None),
        ..Resource::default()
    }
}

/// Adds the health checks of a child manifest to those of the resource that applies it.
pub(crate) fn add_to_node(node: &mut Resource, checks: Node) {
    let entry = node.properties.entry(HEALTH_CHECKS).cloned();
    let span = checks.span;
    let mut entry = entry.unwrap_or_else(|| NodeEntry {
        key: NodeKey { text: HEALTH_CHECKS.into(), span },
        value: Node { value: NodeValue::List(Vec::new()), span },
    });
    match (&mut entry.value.value, checks.value) {
        (NodeValue::List(all), NodeValue::List(checks)) => all.extend(checks),
        // One of them is no list, which is an error.
        (value, checks) => *value = checks,
    }
    node.properties.replace(entry);
}

/// Finds every error and warning in the health checks of a resource; `refreshes` tells of its type.
pub(crate) fn check(checked: &CheckInput<'_>, refreshes: bool) -> Vec<Diagnostic> {
    let Some(node) = checked.resource.properties.get(HEALTH_CHECKS) else { return Vec::new() };
    let mut found = HealthCheck::check_all(node, checked.source_text, checked.secrets);
    let maps = || node.as_list().unwrap_or_default().iter().filter_map(Node::as_map);
    if !(refreshes && checked.subscribes) {
        found.extend(maps().filter_map(|map| without_refresh(map, refreshes)));
    }
    for rules in maps().filter_map(|map| map.get("goss_rules")).filter(|rules| !rules.is_null()) {
        match read_rules(rules) {
            Ok((_, warnings)) => found.extend(warnings),
            Err(errors) => found.extend(errors),
        }
    }
    found
}

/// Returns the warning about a check that asks for another refresh of a resource that has none.
fn without_refresh(check: &NodeMap, refreshes: bool) -> Option<Diagnostic> {
    let node = check.get("on_failure")?;
    let retry = OnFailure::RetryRefresh.name();
    if node.as_text() != Some(retry) {
        return None;
    }
    let (message, hint) = if refreshes {
        let message =
            format!("`{retry}` has no effect: this resource subscribes to nothing, so it is never refreshed");
        (message, "name in its `subscribe` what it is refreshed by, or leave `on_failure` out")
    } else {
        let message = format!("`{retry}` has no effect: resources of this type are never refreshed");
        (message, "put the check on the resource that is refreshed, or leave `on_failure` out")
    };
    Some(Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message).with_hint(hint))
}
