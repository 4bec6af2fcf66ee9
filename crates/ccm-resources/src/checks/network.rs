//! Rules about the network, which wait side by side.

use ccm_check::{RuleResult, Subject};
use ccm_host::Local;

use super::observation::{Deadline, judge_observed, together};
use super::{CheckScope, PlacedResult, PlacedRule, address, dns, http};

/// Judges rules about addresses, names and web servers.
pub(super) async fn judge(
    rules: Vec<PlacedRule<'_>>,
    scope: &CheckScope<'_>,
    deadline: &Deadline,
) -> Vec<PlacedResult> {
    let futures = rules.into_iter().map(|placed| -> Local<'_, PlacedResult> {
        Box::pin(async move { (placed.position, judge_one(placed, scope, deadline).await) })
    });
    together(futures.collect()).await
}

async fn judge_one(placed: PlacedRule<'_>, scope: &CheckScope<'_>, deadline: &Deadline) -> RuleResult {
    let rule = placed.rule;
    match &rule.subject {
        Subject::Addr { protocol, address, local_address } => {
            let target = address::Target { protocol: *protocol, address, from: local_address.as_deref() };
            judge_observed(rule, scope, deadline, async |limit| target.observe(limit, scope).await).await
        }
        Subject::Dns { record, name, server } => {
            let question = dns::Question { record: *record, name, server: server.as_deref() };
            judge_observed(rule, scope, deadline, async |limit| question.observe(limit, scope).await).await
        }
        Subject::Http(request) => {
            let observe = async |limit| http::observe(rule, request, limit, scope).await;
            judge_observed(rule, scope, deadline, observe).await
        }
        _ => super::unread(rule, &super::observation::unreadable("the network does not know it")),
    }
}
