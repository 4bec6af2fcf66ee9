//! Rules about commands, packages and services. The runner starts one command at a time.

use std::cell::Cell;

use ccm_check::Subject;

use super::observation::{Deadline, judge_observed, unreadable};
use super::package::Packages;
use super::service::Services;
use super::{CheckScope, PlacedResult, PlacedRule, command, unread};

/// Judges rules that need programs, in their order.
pub(super) async fn judge(
    rules: Vec<PlacedRule<'_>>,
    scope: &CheckScope<'_>,
    deadline: &Deadline,
) -> Vec<PlacedResult> {
    let services = Services::of(&rules);
    let packages = Packages::default();
    let mut results = Vec::with_capacity(rules.len());
    for PlacedRule { position, rule } in rules {
        let result = match &rule.subject {
            Subject::Command(text) => {
                let observe = async |limit| command::observe(text, limit, scope).await;
                judge_observed(rule, scope, deadline, observe).await
            }
            Subject::Package(name) => {
                let is_again = Cell::new(false);
                let observe = async |limit| {
                    if is_again.replace(true) {
                        packages.invalidate();
                    }
                    packages.observe(name, limit, scope).await
                };
                judge_observed(rule, scope, deadline, observe).await
            }
            Subject::Service(name) => {
                let observe = async |limit| services.observe(name, limit, scope).await;
                judge_observed(rule, scope, deadline, observe).await
            }
            _ => unread(rule, &unreadable("no program knows it")),
        };
        results.push((position, result));
    }
    results
}
