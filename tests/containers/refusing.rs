//! Manifests and Engines that are refused, with the place in the manifest.

use ccm_testkit::{FakeCommand, FakeEngine, Scratch, needs_root};

use crate::{REMOVED, apply, ccm, manifest};

#[test]
fn errors_of_the_manifest_have_a_place_and_a_hint() {
    for (settings, exec, place, message, hint) in [
        (
            "",
            "a: {executor: box, provider: docker, umask: '027'}",
            "6:",
            "`umask` can't be set in the container",
            "`provider: shell`",
        ),
        (", imgae: x", "a: {executor: box}", "3:", "`imgae`", "did you mean `image`"),
        (
            ", volumes: ['data:/x']",
            "a: {executor: box}",
            "3:",
            "`data` is not an absolute path of the host",
            ":ro",
        ),
        (", network_mode: hots", "a: {executor: box}", "3:", "found `hots`", "did you mean `host`"),
        (
            ", command_whitelist: [make]",
            "a: {executor: box, command: mak}",
            "6:",
            "`mak` is not in the whitelist of the executor `box`",
            "`make`",
        ),
        (
            ", memory_limit: 1",
            "a: {executor: box}",
            "3:",
            "`memory_limit` must be 0 or at least 6291456 bytes, found 1",
            "no limit",
        ),
        (
            "",
            "a: {command: id, sandbox: {mode: docker}}",
            "6:",
            "`docker` is reserved, and no mode of a sandbox",
            "`executor`",
        ),
        (
            "",
            "a: {provider: docker}",
            "6:",
            "`provider: docker` needs an `executor` of the kind `docker`",
            "`executors`",
        ),
    ] {
        let scratch = Scratch::new();
        let mut text = manifest("unix:///nosuch", "", &[exec]);
        text = text.replace("network_mode: none", &format!("auto_remove: true{settings}"));
        let called = apply(&scratch, &text, &[]);
        assert_eq!(called.code, 1, "{settings} {exec}: {}", called.shown());
        let place = format!("manifest.yaml:{place}");
        for part in [&*place, message, hint] {
            assert!(called.stderr.contains(part), "{part}: {}", called.shown());
        }
    }
}

#[test]
fn an_executor_without_an_image_is_refused() {
    let scratch = Scratch::new();
    let text = "ccm:\n  executors:\n    box: {kind: docker}\n  resources:\n    - exec:\n        - a: {executor: box}\n";
    let called = apply(&scratch, text, &[]);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("the executor has no `image`"), "{}", called.shown());
    assert!(called.stderr.contains("manifest.yaml:3:"), "{}", called.shown());
}

#[test]
fn an_unencrypted_connection_is_a_warning() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", manifest("tcp://127.0.0.1:9", REMOVED, &["a: {executor: box}"]));
    let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let text = format!("{}{}", called.stdout, called.stderr);
    assert!(text.contains("the connection to the Engine is not encrypted"), "{}", called.shown());
    assert!(text.contains("manifest.yaml:3:"), "{}", called.shown());
}

#[test]
fn an_engine_that_can_not_be_used_is_named_with_its_place() {
    let scratch = Scratch::new();
    let text = manifest("unix:///nosuch/engine.sock", REMOVED, &["plain: {command: id, executor: box}"]);
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    for part in [
        "exec     plain",
        "the Engine at unix:///nosuch/engine.sock can't be reached",
        "No such file or directory",
        "nothing was changed",
        "hint: start the Engine (`systemctl start docker`), or name its socket with `host` of the executor `box`",
        "at manifest.yaml:6:",
    ] {
        assert!(called.stdout.contains(part), "{part}: {}", called.shown());
    }
}

#[test]
fn a_socket_without_permission_is_told_as_such() {
    use std::os::unix::fs::PermissionsExt as _;
    if !needs_root() {
        return;
    }
    let engine = FakeEngine::start(FakeCommand::default());
    let set_mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    set_mode(&engine.socket(), 0o600);
    let scratch = Scratch::new();
    let host = format!("unix://{}", engine.socket().display());
    scratch.write("manifest.yaml", manifest(&host, REMOVED, &["plain: {command: id, executor: box}"]));
    // Nobody may be able to enter the directory of the build.
    let binary = scratch.path().join("ccm");
    std::fs::copy(env!("CARGO_BIN_EXE_ccm"), &binary).expect("a copy");
    for (name, mode) in [("manifest.yaml", 0o644), ("ccm", 0o755), ("", 0o777)] {
        set_mode(&scratch.path().join(name), mode);
    }
    let as_nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" \"$@\"";
    let call = ccm_testkit::Ccm::new(&binary.display().to_string(), &scratch);
    let called = call.args(&["apply", "manifest.yaml"]).after(as_nobody).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    for part in [
        "can't be reached",
        "Permission denied",
        "hint: run ccm as root, or as a user who may write the socket",
    ] {
        assert!(called.stdout.contains(part), "{part}: {}", called.shown());
    }
}
