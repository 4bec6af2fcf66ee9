//! Resources: documents that tools read.

use serde_json::{Value, json};

use crate::client::LineClient;
use crate::{ON_ASK, machine};

#[test]
fn resources_are_listed_and_read() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let listed = client.request("resources/list", json!({}));
    let uris = listed["result"]["resources"].as_array().unwrap_or_else(|| unreachable!("{listed}"));
    assert_eq!(uris.len(), 13, "{listed}");
    for resource in uris {
        let read = client.request("resources/read", json!({"uri": resource["uri"]}));
        let contents = &read["result"]["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&resource["uri"], &resource["mimeType"]),
            "{read}"
        );
        assert!(contents["text"].as_str().is_some_and(|text| !text.is_empty()), "{read}");
    }
    let mut read = |uri: &str| -> Value { client.request("resources/read", json!({"uri": uri})) };
    let policy = read("ccm://policy");
    let text = policy["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(text.starts_with("# /etc/ccm/policy.yaml\nccm_policy: 1\n"), "{text}");
    let checkpoint = read("ccm://audit/checkpoint");
    let line = checkpoint["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
    let against = machine.scratch.write("checkpoint", line);
    let verified = machine.run(&["audit", "verify", "--against", &against.display().to_string()]);
    assert_eq!(verified.code, 0, "{}", verified.shown());
    let page = read("ccm://docs/tools");
    let text = page["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(text.starts_with("# Governed tools\n"), "{text}");
    let mode = read("ccm://types/file.mode");
    assert!(
        mode["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.contains("mode")),
        "{mode}"
    );
    for uri in ["ccm://types/nothing", "ccm://runs/last", "ccm://other", "file:///etc/passwd"] {
        let refused = read(uri);
        assert!(refused["error"]["data"]["reason"].is_string(), "{uri}: {refused}");
    }
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().map(Vec::len), Some(4), "{templates}");
}
