//! Secrets in commands of containers.

use ccm_testkit::{
    Ccm, Dockerd, FakeAnswer, FakeCommand, FakeEngine, IMAGE, Registry, Scratch, busybox_image,
    needs_own_mounts,
};
use serde_json::json;

use crate::{REMOVED, apply, manifest};

const DATA: &str = "data:\n  # @sensitive\n  token: hunter22-hunter22\n";

#[test]
fn a_secret_in_a_container_that_is_kept_is_an_error_before_the_run() {
    for (settings, exec) in [
        ("", "a: {command: env, executor: box, environment: {TOKEN: '{{ Data.token }}'}}"),
        ("", "a: {command: env, executor: box, environment: ['TOKEN=x{{ Data.token }}']}"),
        (", default_env: {TOKEN: '{{ Data.token }}'}", "a: {command: env, executor: box}"),
        ("", "a: {command: env, executor: box, sensitive: true, environment: {TOKEN: other}}"),
    ] {
        let scratch = Scratch::new();
        let text = format!("{DATA}{}", manifest("unix:///nosuch", settings, &[exec]));
        let called = apply(&scratch, &text, &[]);
        assert_eq!(called.code, 1, "{exec}: {}", called.shown());
        assert!(called.stderr.contains("would stay readable in the container"), "{}", called.shown());
        assert!(called.stderr.contains("set `auto_remove: true` in the executor"), "{}", called.shown());
        assert!(called.stderr.contains("manifest.yaml:9:"), "{}", called.shown());
        assert!(!called.stderr.contains("hunter22"), "{}", called.shown());
    }
}

#[test]
fn secrets_are_hidden_in_output_record_and_messages_of_the_engine() {
    let engine = FakeEngine::start(FakeCommand::prints("TOKEN=hunter22-hunter22\n", 3));
    let host = format!("unix://{}", engine.socket().display());
    let exec = "a: {command: env, executor: box, environment: {TOKEN: '{{ Data.token }}'}, logoutput: true}";
    for is_refused in [false, true] {
        if is_refused {
            let message = "invalid environment variable: \"TOKEN=hunter22-hunter22\"";
            engine.answer("POST /containers/create", FakeAnswer::Json(400, json!({ "message": message })));
        }
        let scratch = Scratch::new();
        let text = format!("{DATA}{}", manifest(&host, REMOVED, &[exec]));
        let called = apply(&scratch, &text, &["-vv"]);
        assert_eq!(called.code, 4, "{}", called.shown());
        assert!(called.stdout.contains("TOKEN=[redacted]"), "{}", called.shown());
        assert!(!called.shown().contains("hunter22"), "{}", called.shown());
        let found = std::process::Command::new("grep").args(["-r", "hunter22"]).arg(scratch.state()).output();
        assert_eq!(String::from_utf8_lossy(&found.expect("grep").stdout), "");
    }
    // The command itself gets the secret.
    let body = engine.bodies("POST /containers/create").remove(0);
    assert_eq!(body["Env"], json!(["TOKEN=hunter22-hunter22"]));
}

#[test]
fn a_sensitive_exec_shows_nothing_of_its_container() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    let exec =
        "a: {command: 'sh -c \"echo hush-hush; exit 3\"', executor: box, sensitive: true, logoutput: true}";
    let called = apply(&scratch, &manifest(&daemon.host(), REMOVED, &[exec]), &["-v"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(!called.shown().contains("hush-hush"), "{}", called.shown());
}

#[test]
fn a_login_of_the_docker_command_pulls_a_private_image_and_is_shown_nowhere() {
    const PASSWORD: &str = "north-east-south-west";
    if !needs_own_mounts() {
        return;
    }
    let Some(daemon) = Dockerd::shared() else { return };
    let registry = Registry::start_private(&daemon, busybox_image().expect("an image"), "ada", PASSWORD);
    let image = registry.image("private:1");
    let host = registry.image("").trim_end_matches('/').to_owned();
    let scratch = Scratch::new();
    // `ada` and the password.
    let entry = "YWRhOm5vcnRoLWVhc3Qtc291dGgtd2VzdA==";
    let file = format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"{entry}\"}}}}}}");
    scratch.write("home/.docker/config.json", file);
    // The command prints the password, which the manifest does not have in one piece.
    let exec = "a: {command: 'a=north-east; echo $a-south-west; exit 3', provider: shell, executor: box}";
    let text = manifest(&daemon.host(), ", auto_remove: true, pull: missing", &[exec]).replace(IMAGE, &image);
    scratch.write("manifest.yaml", text);
    let binary = scratch.path().join("ccm");
    std::fs::copy(env!("CARGO_BIN_EXE_ccm"), &binary).expect("a copy");
    let call = Ccm::new(&binary.display().to_string(), &scratch).args(&["apply", "-vv", "manifest.yaml"]);
    let mount = format!("mount --bind '{}' ~root", scratch.at("home"));
    let called = call.after_mounting(&mount).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains(&format!("pulled the image {image}")), "{}", called.shown());
    assert!(called.stdout.contains("| [redacted]"), "{}", called.shown());
    assert!(!called.shown().contains(PASSWORD) && !called.shown().contains(entry), "{}", called.shown());
}
