//! Documents of the service: its callers see what they could read, and each counts as a call.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::client::LineClient;
use crate::service::{ON_ASK, Service};

fn read(client: &mut LineClient, uri: &str) -> Value {
    client.request("resources/read", json!({"uri": uri}))
}

#[test]
fn a_policy_in_a_closed_directory_is_not_shown() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let directory = service.machine.scratch.path().join("etc/ccm");
    let mut client = service.connect_for(4401, "read");
    for (mode, is_shown) in [(0o755, true), (0o700, false), (0o711, true), (0o750, false)] {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).expect("a mode");
        let policy = read(&mut client, "ccm://policy");
        assert_eq!(policy.get("result").is_some(), is_shown, "{mode:o}: {policy}");
    }
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_user_whom_the_policy_does_not_name_reads_no_document_of_the_machine() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let mut client = service.connect_for(4402, "read");
    for uri in ["ccm://policy", "ccm://audit/checkpoint"] {
        let refused = read(&mut client, uri);
        let reason = refused["error"]["data"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("the policy does not let user bob call tools"), "{uri}: {refused}");
    }
    assert!(read(&mut client, "ccm://docs/tools").get("result").is_some());
    assert_eq!(client.close().code, 0);
    let log = service.log();
    let refused: Vec<&Value> = log.iter().filter(|line| line["type"] == "refused").collect();
    assert_eq!(refused.len(), 2, "{log:#?}");
    for line in refused {
        assert_eq!((&line["by"]["user"], &line["purpose"]), (&json!("bob"), &json!("resources/read")));
    }
}

#[test]
fn documents_count_as_calls() {
    let Some(service) = Service::new(&format!("{ON_ASK}limits: {{calls: 3/1h}}\n")) else { return };
    let mut client = service.connect_for(4401, "read");
    for uri in ["ccm://policy", "ccm://audit/checkpoint", "ccm://docs/tools"] {
        assert!(read(&mut client, uri).get("result").is_some(), "{uri}");
    }
    let refused = read(&mut client, "ccm://audit/checkpoint");
    let reason = refused["error"]["data"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("the limit of 3 calls in 1h0m0s is reached"), "{refused}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn the_checkpoint_is_the_end_of_the_log() {
    let Some(service) = Service::new(ON_ASK) else { return };
    let mut client = service.connect_for(4401, "governed-execute");
    let mut earlier = Vec::new();
    for _ in 0..2 {
        let done = client.call("exec", json!({"command": "true"}));
        assert_eq!(done["isError"], false, "{done}");
        let checkpoint = read(&mut client, "ccm://audit/checkpoint");
        let line = checkpoint["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();
        assert!(!earlier.contains(&line), "{line}");
        earlier.push(line);
    }
    assert_eq!(client.close().code, 0);
    let printed = service.machine.run(&["audit", "checkpoint"]);
    assert_eq!(Some(&printed.stdout), earlier.last(), "{}", printed.shown());
    let against = service.machine.scratch.write("checkpoint", earlier.concat());
    let verified = service.machine.run(&["audit", "verify", "--against", &against.display().to_string()]);
    assert_eq!(verified.code, 0, "{}", verified.shown());
}
