//! What a run with containers reports and records.

use ccm_testkit::{Dockerd, IMAGE, Scratch, repository};
use serde_json::Value;

use crate::{REMOVED, apply, ccm, manifest};

#[test]
fn a_command_in_a_container_is_reported_as_a_local_one() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    let text = manifest(
        &daemon.host(),
        REMOVED,
        &[
            "verify: {command: echo, args: ['{\"root\": \"abc\"}'], executor: box, expect: {stdout_json: {root: abc}}, capture: {root: stdout.json.root}}",
            "use: {command: 'echo got ${ Captures.verify.root }', executor: box, logoutput: true}",
            "words: {command: 'echo $HOME ; echo x | tr x y', provider: shell, executor: box, logoutput: true}",
            "named: {command: 'cat', stdin: 'text', provider: docker, executor: box, logoutput: true}",
            "guarded: {command: 'touch /nosuch/x', unless: 'test -e /etc/passwd', executor: box}",
            "fails: {command: 'echo to stderr >&2; exit 7', provider: shell, executor: box}",
        ],
    );
    let called = apply(&scratch, &text, &["-v"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    for part in [
        "exec#use stdout | got abc",
        "exec#words stdout | y",
        "exec#named stdout | text",
        "exit code 7 not in allowed returns [0]",
        "stderr | to stderr",
    ] {
        assert!(called.stdout.contains(part), "{part}: {}", called.shown());
    }
    let reported = called.reported();
    for line in ["exec#verify changed", "exec#guarded unchanged", "exec#fails failed"] {
        assert!(reported.contains(line), "{line}: {reported}");
    }
    let label = format!("ccm.manifest={}", scratch.at("manifest.yaml"));
    assert!(daemon.containers(Some(&label.replace('/', "%2F"))).is_empty(), "nothing is left");
}

#[test]
fn an_execution_in_a_container_is_recorded() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    let text = manifest(
        &daemon.host(),
        REMOVED,
        &["hello: {command: echo hello, executor: box, environment: {A: some-value}}"],
    );
    assert_eq!(apply(&scratch, &text, &[]).code, 0);
    let runs = std::fs::read_dir(scratch.state().join("runs")).expect("runs");
    let run = runs.flatten().map(|entry| entry.path()).next().expect("a run");
    let recorded = run.join("exec").join("1-hello");
    let read = |name: &str| std::fs::read_to_string(recorded.join(name)).expect("a file");
    assert_eq!(read("stdout.txt"), "hello\n");
    let metadata: Value = serde_json::from_str(&read("metadata.json")).expect("JSON");
    assert_eq!(metadata["container"]["image"], IMAGE);
    assert!(
        metadata["container"]["name"].as_str().is_some_and(|name| name.starts_with("ccm-")),
        "{metadata}"
    );
    assert_eq!((&metadata["exit_code"], &metadata["network"]), (&Value::from(0), &Value::from(false)));
    assert!(!read("metadata.json").contains("some-value"));
}

#[test]
fn a_container_that_is_kept_is_named_with_its_resource() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    let text = manifest(&daemon.host(), "", &["hello: {command: echo hello, executor: box}"]);
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let label = format!("ccm.manifest={}", scratch.at("manifest.yaml"));
    let kept = daemon.containers(Some(&label.replace('/', "%2F")));
    let name = kept[0]["Names"][0].as_str().expect("a name").trim_start_matches('/').to_owned();
    assert!(called.stdout.contains(&format!("kept the container {name}")), "{}", called.shown());
    // A later run spares it.
    let again = apply(&scratch, &text, &[]);
    assert_eq!(again.code, 0, "{}", again.shown());
    assert_eq!(daemon.containers(Some(&label.replace('/', "%2F"))).len(), 2);
    assert!(!again.stdout.contains("removed the container"), "{}", again.shown());
}

#[test]
fn the_end_of_memory_is_explained() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    let settings = format!("{REMOVED}, memory_limit: 16777216");
    let text = manifest(&daemon.host(), &settings, &["greedy: {command: tail /dev/zero, executor: box}"]);
    let called = apply(&scratch, &text, &[]);
    for part in [
        "failed: command was killed by SIGKILL",
        "caused by: the container reached the limit `memory_limit`",
        "hint: raise `memory_limit` of the executor `box` if the command needs more",
        "at manifest.yaml:6:",
    ] {
        assert!(called.stdout.contains(part), "{part}: {}", called.shown());
    }
}

#[test]
fn the_example_has_the_documented_result_twice() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    let text = std::fs::read_to_string(repository("examples/containers.yaml")).expect("the example");
    scratch.write("containers.yaml", text.replace("/tmp/ccm-examples", &scratch.at("made")));
    let values = [format!("engine={}", daemon.host()), format!("image={IMAGE}")];
    let options = ["--data", &values[0], "--data", &values[1]];
    for outcomes in [
        ["changed", "changed", "refreshed", "changed", "changed"],
        ["unchanged", "unchanged", "unchanged", "changed", "changed"],
    ] {
        let called = ccm(&scratch, &["apply", "-v", "containers.yaml"]).args(&options).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        let reported = called.reported();
        let own = reported.lines().filter(|line| line.starts_with("exec#") || line.starts_with("file#"));
        let found: Vec<&str> =
            own.filter_map(|line| line.split_once(": ")?.0.rsplit_once(' ').map(|(_, word)| word)).collect();
        assert_eq!(found, outcomes, "{}", called.shown());
    }
    assert_eq!(scratch.read("made/containers/sorted.txt").as_deref(), Some("ada\ngrace\n"));
    let label = format!("ccm.manifest={}", scratch.at("containers.yaml"));
    assert!(daemon.containers(Some(&label.replace('/', "%2F"))).is_empty(), "nothing is left");
}
