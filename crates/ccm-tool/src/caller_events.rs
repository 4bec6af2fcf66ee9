//! Events of a run of root, as a caller of its service gets them.
//!
//! What a run reads and prints may come from files that the caller may not read, and a signed manifest may be applied by
//! every caller. A caller therefore learns what became of each resource, not what was found.

use serde_json::{Map, Value, json};

/// Fields of a transaction that say what became of a resource, and what the caller has read in the manifest itself.
const FIELDS: [&str; 19] = [
    "protocol",
    "event_id",
    "timestamp",
    "run_id",
    "type",
    "provider",
    "name",
    "alias",
    "requested_ensure",
    "duration",
    "changed",
    "refreshed",
    "failed",
    "skipped",
    "noop",
    "outcome",
    "rule",
    "skip",
    "location",
];

/// Kinds of failures whose texts come from the policy and from the manifest alone.
const TOLD: [&str; 2] = ["denied", "approval_required"];

/// Returns an event without values that were read or printed during the run.
pub(crate) fn of_caller(event: Value) -> Value {
    let Value::Object(event) = event else { return event };
    if event.get("outcome").is_none() {
        return Value::Object(event);
    }
    let kind = event.get("failure").and_then(|failure| failure.get("kind")).and_then(Value::as_str);
    let is_told = kind.is_some_and(|kind| TOLD.contains(&kind));
    let errors = match (kind, is_told) {
        (None, _) => json!([]),
        (_, true) => event.get("error").cloned().unwrap_or_default(),
        _ => json!(["an operator sees why in `ccm history`"]),
    };
    let failure = kind.map(|kind| json!({ "kind": kind }));
    let verb = event.get("action").and_then(|action| action.get("verb")).cloned();
    let kept = FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), event.get(*name)?.clone())));
    let mut kept: Map<String, Value> = kept.collect();
    kept.insert("action".to_owned(), verb.map_or(Value::Null, |verb| json!({ "verb": verb })));
    kept.insert("error".to_owned(), errors);
    kept.insert("failure".to_owned(), failure.unwrap_or_default());
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_machine_are_left_out() {
        let event = |failure: Value| {
            json!({
                "type": "exec", "name": "x", "outcome": "failed", "changed": true, "properties": {"a": "SECRET"},
                "status": {"target": "SECRET"}, "action": {"verb": "run", "detail": "SECRET", "changes": [{"from": "SECRET"}]},
                "error": ["found SECRET"], "hints": ["SECRET"], "diff": "SECRET", "reason": "SECRET",
                "warnings": ["SECRET"], "notes": ["SECRET"], "failure": failure
            })
        };
        for kind in ["expectation", "exit", "verification", "change"] {
            let told = of_caller(event(json!({"kind": kind, "property": "SECRET"})));
            assert!(!told.to_string().contains("SECRET"), "{told}");
            assert_eq!(told["failure"]["kind"], kind);
            assert_eq!(told["action"]["verb"], "run");
        }
        let denied = of_caller(event(json!({"kind": "denied"})));
        assert_eq!(denied["error"][0], "found SECRET");
        let start = json!({"protocol": "io.choria.ccm.v1.session.start", "resources": 1});
        assert_eq!(of_caller(start.clone()), start);
    }
}
