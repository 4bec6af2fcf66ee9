//! Health checks of an `exec` in a container run there.

use ccm_testkit::{Dockerd, Scratch};
use serde_json::Value;

use crate::{REMOVED, apply, ccm, manifest};

/// Returns an exec that has nothing to do, with a check in the container.
fn checked(check: &str) -> String {
    format!("x: {{command: 'true', creates: /, executor: box, health_checks: [{check}]}}")
}

#[test]
fn a_check_has_the_files_and_the_end_of_its_container() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    scratch.write("here", "");
    let here = scratch.at("here");
    for (check, status, output) in [
        ("{name: c, command: 'echo fine'}".to_owned(), "ok", "fine"),
        ("{name: c, provider: shell, command: 'echo slow; exit 1'}".to_owned(), "warning", "slow"),
        (format!("{{name: c, provider: shell, command: 'test -e {here} || exit 2'}}"), "critical", ""),
        ("{name: c, provider: shell, command: 'exit 9'}".to_owned(), "unknown", "exit code 9"),
        ("{name: c, command: no-such-program}".to_owned(), "unknown", "no-such-program"),
        ("{name: c, command: sleep 600, timeout: 1s}".to_owned(), "unknown", "timed out after 1s"),
        (
            "{name: c, provider: shell, command: 'sleep 600 > /dev/null 2>&1 & echo left'}".to_owned(),
            "ok",
            "left",
        ),
    ] {
        scratch.write("manifest.yaml", manifest(&daemon.host(), REMOVED, &[&checked(&check)]));
        let called = ccm(&scratch, &["check", "--manifest", "manifest.yaml", "--json"]).run();
        let document: Value = serde_json::from_str(&called.stdout).expect("a document");
        let found = &document["resources"][0]["health_check"][0];
        assert_eq!(found["status_word"], status, "{check}: {document}");
        let text = found["output"].as_str().unwrap_or_default();
        assert!(text.contains(output), "{check}: {text}");
        let label = format!("ccm.manifest={}", scratch.at("manifest.yaml"));
        assert!(daemon.containers(Some(&label.replace('/', "%2F"))).is_empty(), "{check}: nothing is left");
    }
    let text = manifest(&daemon.host(), REMOVED, &[&checked("{command: 'false', provider: shell}")]);
    let called = apply(&scratch, &text, &["--noop"]);
    assert!(called.stdout.contains("1 health check is not run in noop"), "{}", called.shown());
}
