//! Lines of events for tests.

use serde_json::{Value, json};

/// First line of ccm.
pub(crate) const READY: &str =
    "{\"protocol\":\"io.choria.ccm.v1.push.ready\",\"version\":\"1.2.3\",\"has_bundle\":true}\n";

/// Line of a resource with an outcome, and further fields over it.
pub(crate) fn resource(name: &str, outcome: &str, further: &Value) -> String {
    let mut line = json!({
        "protocol": "io.choria.ccm.v1.transaction.event", "timestamp": "2026-11-30T00:00:00Z", "type": "file",
        "provider": "posix", "name": name, "alias": null, "requested_ensure": "present", "final_ensure": "present",
        "duration": 1000, "properties": {}, "status": null, "action": null, "noop_message": null, "error": [],
        "changed": outcome == "changed", "refreshed": false, "failed": outcome == "failed", "skipped": false,
        "noop": false, "unmet_requirements": [], "outcome": outcome, "reason": null, "triggered_by": [],
        "warnings": [], "notes": [], "diff": null
    });
    if let (Some(fields), Some(further)) = (line.as_object_mut(), further.as_object()) {
        fields.extend(further.clone());
    }
    format!("{line}\n")
}

/// Line of output of a command.
pub(crate) fn output(line: &str) -> String {
    let line = json!({ "protocol": "io.choria.ccm.v1.resource.output", "id": "exec#x", "stream": "stdout", "line": line });
    format!("{line}\n")
}
