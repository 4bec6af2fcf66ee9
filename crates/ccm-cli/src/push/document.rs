//! The result of a push as JSON: everything, a host each.

use ccm_push::{EndCause, Halt};
use ccm_runtime::model::{Event, escape_json};
use ccm_runtime::printed;
use serde_json::{Value, json};

use super::{HostResult, PushResult, PushedHost, ends};

/// Name of the protocol, with its version.
const PROTOCOL: &str = "io.choria.ccm.v1.push";

/// Returns the document.
pub(super) fn text(result: &PushResult) -> String {
    let groups: Vec<Value> = result
        .sets
        .iter()
        .map(|set| {
            let hosts: Vec<_> = set.hosts.iter().map(|at| &result.hosts[*at].name).collect();
            let events: Vec<_> = set
                .changes
                .transactions
                .iter()
                .map(|found| Event::ResourceFinished(Box::new(found.clone())))
                .collect();
            let output: Vec<_> = set.changes.outputs.iter().flat_map(|output| &output.lines).collect();
            json!({ "hosts": hosts, "events": events, "output": output, "ended_early": set.changes.ended_early })
        })
        .collect();
    let hosts: Vec<Value> = result.hosts.iter().map(document).collect();
    let halted = result.halt.map(|halt| match halt {
        Halt::Canary => "canary",
        Halt::Failures => "failures",
        Halt::Interrupted => "interrupted",
    });
    let document = json!({
        "protocol": PROTOCOL, "noop": result.is_noop, "halted": halted, "hosts": hosts, "groups": groups
    });
    escape_json(&printed::document(&document)).into_owned()
}

fn document(host: &PushedHost) -> Value {
    let Some(end) = &host.end else {
        return json!({ "host": host.name, "outcome": "not_begun" });
    };
    let exit_code = if let EndCause::Ran(code) = end.cause { Some(code) } else { None };
    json!({
        "host": host.name,
        "outcome": outcome(end),
        "exit_code": exit_code,
        "ccm": end.version,
        "run_id": end.run_id,
        "counts": end.counts(),
        "group": end.set,
        "approvals": end.codes,
        "failure": failure(end, host),
    })
}

fn outcome(end: &HostResult) -> &'static str {
    match &end.cause {
        EndCause::Ran(0) if end.has_changed() => "changed",
        EndCause::Ran(0) => "unchanged",
        EndCause::Unreachable => "not_reached",
        _ => "failed",
    }
}

fn failure(end: &HostResult, host: &PushedHost) -> Value {
    if !end.has_failed() {
        return Value::Null;
    }
    json!({
        "kind": ends::kind(&end.cause),
        "message": ends::message(&end.cause),
        "last_line": end.last_line,
        "refused": end.refused,
        "hint": ends::hint(&end.cause, host),
    })
}
