//! Output of commands in the record of a run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ccm_testkit::{Scratch, needs_own_mounts};
use serde_json::Value;

use crate::{apply_execs, ccm};

const EXECS: &str = "        - silent: {command: 'true'}
        - printing: {command: printf hello}
        - json: {command: 'printf [1]', environment: {TOKEN: t0psecret}, stdin: st4in}
        - failing: {command: 'false', args: [s3cret]}
        - watched: {command: 'true', expect: {exit_code: 0}}
        - missing: {command: nosuchprogram}
";

fn kept(scratch: &Scratch) -> Vec<PathBuf> {
    let runs = fs::read_dir(scratch.state().join("runs")).expect("the runs");
    let run = runs.flatten().next().expect("a run").path();
    let mut found: Vec<PathBuf> = match fs::read_dir(run.join("exec")) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => Vec::new(),
    };
    found.sort();
    found
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn output_is_recorded_for_the_owner_only() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, EXECS, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let kept = kept(&scratch);
    let names: Vec<_> = kept.iter().map(|path| path.file_name().expect("a name").to_owned()).collect();
    assert_eq!(names, ["2-printing", "3-json", "4-failing", "5-watched", "6-missing"]);
    let mut all = String::new();
    for directory in &kept {
        assert_eq!(mode(directory), 0o700);
        for file in fs::read_dir(directory).expect("a directory").flatten() {
            assert_eq!(mode(&file.path()), 0o600);
            all += &fs::read_to_string(file.path()).expect("text");
        }
    }
    assert_eq!(fs::read_to_string(kept[0].join("stdout.txt")).expect("text"), "hello");
    assert!(kept[1].join("stdout.json").exists() && !kept[0].join("stdout.json").exists());
    for secret in ["t0psecret", "st4in", "s3cret"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    let metadata = fs::read_to_string(kept[2].join("metadata.json")).expect("metadata");
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    assert_eq!((&metadata["command"], &metadata["args"]), (&"false".into(), &1.into()));
    assert_eq!((&metadata["exit_code"], &metadata["timed_out"]), (&1.into(), &false.into()));
}

#[test]
fn history_prints_recorded_output() {
    let scratch = Scratch::new();
    apply_execs(&scratch, EXECS, &[]);
    for wanted in ["printing", "exec#printing", "2", "2-printing"] {
        let called = ccm(&scratch, &["history", "01", wanted]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        assert!(called.stdout.contains("  command    printf hello\n  exit code  0\n"), "{}", called.shown());
        assert!(called.stdout.ends_with("stdout | hello\n"), "{}", called.shown());
    }
    let called = ccm(&scratch, &["history", "01", "json", "--output", "json"]).run();
    let shown: Value = serde_json::from_str(&called.stdout).expect("JSON");
    assert_eq!(shown["stdout_json"], Value::from(vec![1]));
    // An exec that printed nothing has only its event.
    let called = ccm(&scratch, &["history", "01", "silent"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let called = ccm(&scratch, &["history", "01", "unknown"]).run();
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("use one of: 2-printing, 3-json"), "{}", called.shown());
}

#[test]
fn tries_are_reported_and_the_last_one_is_recorded() {
    let scratch = Scratch::new();
    let execs = "        - flaky: {command: 'echo x >> [dir]/tries; cat [dir]/tries; test $(wc -l < [dir]/tries) = 3', \
                 provider: shell, tries: 5, try_sleep: 1ms}\n";
    let called = apply_execs(&scratch, execs, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.contains("succeeded on the 3rd of 5 tries"), "{}", called.shown());
    let kept = kept(&scratch);
    assert_eq!(fs::read_to_string(kept[0].join("stdout.txt")).expect("text"), "x\nx\nx\n");
}

#[test]
fn a_run_goes_on_if_output_can_not_be_recorded() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("disk/.keep", "");
    let disk = scratch.at("disk");
    scratch.write(
        "manifest.yaml",
        "ccm: {resources: [{exec: [{long: {command: 'head -c 200000 /dev/zero'}}, {after: {command: 'true'}}]}]}",
    );
    let state = format!("{disk}/state");
    let script = format!("mount -t tmpfs -o size=64k,mode=0755 tmpfs {disk}");
    let called =
        ccm(&scratch, &["apply", "manifest.yaml", "--state-dir", &state]).after_mounting(&script).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.reported().contains("exec#after changed"), "{}", called.shown());
    assert!(called.stderr.contains("No space left on device"), "{}", called.shown());
}

#[test]
fn a_missing_null_device_is_named() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: [{a: {command: 'true'}}]}]}");
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).after_mounting("mount -t tmpfs tmpfs /dev").run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(
        called.stdout.contains("caused by: \"/dev/null\" can't be opened: No such file"),
        "{}",
        called.shown()
    );
    assert!(!called.stdout.contains("interpreter"), "{}", called.shown());
}

#[test]
fn noop_records_no_output() {
    let scratch = Scratch::new();
    let called =
        apply_execs(&scratch, "        - a: {command: printf x, onlyif: printf guard}\n", &["--noop"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(!scratch.state().exists());
}

#[test]
fn a_sensitive_exec_has_a_recorded_exit_code_but_no_output() {
    let scratch = Scratch::new();
    let execs = "        - quiet one: {alias: mute, sensitive: true, command: 'echo t0psecret; exit 3', provider: shell}\n";
    apply_execs(&scratch, execs, &[]);
    for wanted in ["quiet one", "mute", "exec#mute"] {
        let called = ccm(&scratch, &["history", "01", wanted]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        assert!(called.stdout.contains("  exit code  3\n"), "{}", called.shown());
        assert!(called.stdout.contains("because the resource is `sensitive`"), "{}", called.shown());
        assert!(!called.stdout.contains("t0psecret"), "{}", called.shown());
    }
}

#[test]
fn a_failure_has_the_location_of_its_property_or_resource() {
    let scratch = Scratch::new();
    scratch.write(
        "manifest.yaml",
        "ccm:\n  resources:\n    - exec:\n        - a:\n            user: no-such-user-here\n        - nosuchprogram:\n        - 'false':\n",
    );
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    for place in ["manifest.yaml:5:13", "manifest.yaml:6:11", "manifest.yaml:7:11"] {
        assert!(called.stdout.contains(&format!("      at {place}\n")), "{}", called.shown());
    }
    assert_eq!(called.stdout.matches("      at ").count(), 3, "{}", called.shown());
}

#[test]
fn both_providers_say_why_a_script_does_not_start() {
    let scratch = Scratch::new();
    let write = |name: &str, text: &str, mode: u32| {
        scratch.write(name, text);
        fs::set_permissions(scratch.path().join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    write("bin/windows", "#!/bin/sh\r\necho hi\r\n", 0o755);
    write("bin/orphan", "#!/no/such/interpreter\n", 0o755);
    write("bin/plain", "#!/bin/sh\n", 0o644);
    let bin = scratch.at("bin");
    for (name, expected) in [
        ("windows", "windows\" needs the interpreter \"/bin/sh\\r\", which does not exist"),
        ("orphan", "orphan\" needs the interpreter \"/no/such/interpreter\", which does not exist"),
        ("plain", "plain\" is not executable"),
        ("nosuch", "\"nosuch\" not found in PATH"),
    ] {
        for provider in ["posix", "shell"] {
            let execs = format!("        - {name}: {{provider: {provider}, path: {bin}}}\n");
            let called = apply_execs(&scratch, &execs, &[]);
            assert_eq!(called.code, 4, "{}", called.shown());
            assert!(called.stdout.contains(expected), "{provider} {}", called.shown());
        }
    }
}

#[test]
fn a_process_that_keeps_the_output_of_ccm_is_named() {
    let scratch = Scratch::new();
    let execs =
        "        - server: {command: 'while :; do echo log; sleep 0.1; done & sleep 0.2', provider: shell}\n";
    let called = apply_execs(&scratch, execs, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.contains("its output goes to ccm, which has closed it"), "{}", called.shown());
}

#[test]
fn a_run_within_a_run_does_not_wait_for_it() {
    let scratch = Scratch::new();
    scratch.write("inner.yaml", "ccm: {resources: []}\n");
    let (inner, state) = (scratch.at("inner.yaml"), scratch.state().display().to_string());
    let ccm_path = env!("CARGO_BIN_EXE_ccm");
    let execs =
        format!("        - inner: {{command: {ccm_path} apply {inner} --state-dir {state}, returns: [1]}}\n");
    let called = apply_execs(&scratch, &execs, &["-v"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let execs = format!("        - inner: {{command: {ccm_path} apply {inner} --state-dir {state}}}\n");
    let called = apply_execs(&scratch, &execs, &["-v"]);
    assert!(
        called.stdout.contains("this run was started by a command of the run that holds the lock"),
        "{}",
        called.shown()
    );
}

#[test]
fn a_deleted_directory_is_named() {
    let scratch = Scratch::new();
    scratch.write("gone/.keep", "");
    let script = format!(
        "cd {0}/gone && rm -r {0}/gone && exec {1} apply --state-dir {0}/state manifest.yaml",
        scratch.path().display(),
        env!("CARGO_BIN_EXE_ccm")
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the current directory does not exist any more"), "{said}");
}

#[test]
fn a_program_that_is_just_being_written_is_tried_again() {
    let scratch = Scratch::new();
    fs::copy("/bin/true", scratch.path().join("busy")).expect("a program");
    let busy = scratch.at("busy");
    let _open = fs::OpenOptions::new().write(true).open(&busy).expect("the program");
    let execs = format!("        - busy: {{command: {busy}, tries: 2, try_sleep: 1ms}}\n");
    let called = apply_execs(&scratch, &execs, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains("failed on each of 2 tries"), "{}", called.shown());
    assert!(called.stdout.contains("Text file busy"), "{}", called.shown());
}
