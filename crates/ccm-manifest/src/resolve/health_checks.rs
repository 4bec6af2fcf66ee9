//! Errors in the health checks of a resource, and in their rules.

use ccm_check::read_rules;
use ccm_model::{Diagnostic, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Properties, Resource, ResourceId};
use ccm_properties::{CheckInput, HEALTH_CHECKS, HealthCheck};

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

/// Finds every error and warning in the health checks of a resource.
pub(crate) fn check(checked: &CheckInput<'_>) -> Vec<Diagnostic> {
    let Some(node) = checked.resource.properties.get(HEALTH_CHECKS) else { return Vec::new() };
    let mut found = HealthCheck::check_all(node, checked.source_text, checked.secrets);
    let maps = node.as_list().unwrap_or_default().iter().filter_map(Node::as_map);
    for rules in maps.filter_map(|map| map.get("goss_rules")).filter(|rules| !rules.is_null()) {
        match read_rules(rules) {
            Ok((_, warnings)) => found.extend(warnings),
            Err(errors) => found.extend(errors),
        }
    }
    found
}
