//! Health checks of an exec with an executor, which starts their commands.

use ccm_model::{Diagnostic, DiagnosticKind, Node, Resource, escape_control};
use ccm_properties::{CheckSubject, HEALTH_CHECKS, HealthCheck};

use super::command::Exec;

/// Returns the errors of health checks that the executor does not allow.
pub(super) fn errors(exec: &Exec, resource: &Resource) -> Vec<Diagnostic> {
    let (Some(executor), Some(node)) = (&exec.executor, resource.properties.get(HEALTH_CHECKS)) else {
        return Vec::new();
    };
    // Those that can't be read have their errors already.
    let checks = HealthCheck::read_all(node).unwrap_or_default();
    let error = |check: HealthCheck| match check.subject {
        CheckSubject::Rules(rules) => Some(refused_rules(&executor.name, &rules)),
        CheckSubject::Command(command) => {
            let (message, hint) = executor.refusal(&command.text)?;
            let error = Diagnostic::error(DiagnosticKind::InvalidValue, command.span, message);
            Some(error.with_hint(hint))
        }
    };
    checks.into_iter().filter_map(error).collect()
}

fn refused_rules(executor: &str, rules: &Node) -> Diagnostic {
    let name = escape_control(executor);
    let message =
        format!("`goss_rules` look at this machine, and not where the executor `{name}` starts commands");
    Diagnostic::error(DiagnosticKind::Conflict, rules.span, message).with_hint(
        "write the health check as a `command`, or put the rules on a resource without an executor",
    )
}
