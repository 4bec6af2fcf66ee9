//! Errors in the health checks of a resource, and in their rules.

use ccm_check::read_rules;
use ccm_model::{Diagnostic, Node};
use ccm_properties::{CheckInput, HEALTH_CHECKS, HealthCheck};

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
