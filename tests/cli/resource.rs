//! `ccm resource`: the present state of files, whichever machine runs the tests.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ccm_testkit::{Called, Scratch};
use serde_json::Value;

use crate::ccm;
use crate::expect::expect_error;

fn resource(scratch: &Scratch, args: &[&str]) -> Called {
    let called = ccm(scratch, &["resource"]).args(args).run();
    // The directory of the test is a part of what is read.
    let stdout = called.stdout.replace("[dir]", scratch.at("").trim_end_matches('/'));
    Called { stdout, ..called }
}

/// Writes a file, and returns its path.
fn write(scratch: &Scratch, name: &str, content: &str) -> String {
    scratch.write(name, content).display().to_string()
}

fn document(called: &Called) -> Value {
    serde_json::from_str(&called.stdout).expect("JSON")
}

#[test]
fn state_of_a_file_is_shown() {
    let scratch = Scratch::new();
    let file = write(&scratch, "app.conf", "a\n");
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("a mode");
    let called = resource(&scratch, &["file", &file]);
    assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
    assert!(called.stdout.starts_with(&format!("file#{file}: present\n  content: 2 bytes\n")));
    assert!(called.stdout.ends_with("\n  mode: 0640\n"), "{}", called.shown());
    let missing = resource(&scratch, &["file", "/nowhere/at/all"]);
    assert_eq!((missing.code, &*missing.stdout), (0, "file#/nowhere/at/all: absent\n"));
    let by_status = ccm(&scratch, &["status", "file", &file]).run();
    let stdout = by_status.stdout.replace("[dir]", scratch.at("").trim_end_matches('/'));
    assert_eq!((by_status.code, stdout), (0, called.stdout));
}

#[test]
fn document_fits_its_schema() {
    let scratch = Scratch::new();
    let schema = ccm(&scratch, &["schema", "--resource"]).run();
    let validator = jsonschema::validator_for(&document(&schema)).expect("a schema");
    let file = write(&scratch, "app.conf", "a\n");
    for args in [
        &["file", &file, "/etc/shadow", "/nowhere"][..],
        &["user"],
        &["group"],
        &["exec", "x"],
        &["host"],
        &["package", "dpkg", "nosuchpackage"],
        &["--all"],
    ] {
        let called = resource(&scratch, &[args, &["--json"]].concat());
        let found = document(&called);
        let errors: Vec<String> = validator.iter_errors(&found).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:?}");
        assert_eq!(found["protocol"], "io.choria.ccm.v1.resource.present");
    }
    let yaml = resource(&scratch, &["file", &file, "--yaml"]);
    let read: serde_yaml::Value = serde_yaml::from_str(&yaml.stdout).expect("YAML");
    assert_eq!(read["resources"][0]["properties"]["content"].as_str(), Some("a\n"));
}

#[test]
fn manifest_changes_nothing_and_brings_the_state_back() {
    let scratch = Scratch::new();
    let contents =
        ["a {{ b }} ${c} \\${d}\n\ttab\n\n", "no end", "", " blanks\n", "yes", "- x: y # z\n", "größe\r\n"];
    let files: Vec<_> = contents
        .iter()
        .enumerate()
        .map(|(index, content)| write(&scratch, &format!("tree/{index}.conf"), content))
        .collect();
    let link = scratch.at("tree/link");
    std::os::unix::fs::symlink("{{ 0 }}.conf", &link).expect("a link");
    let directory = scratch.at("tree");
    let paths: Vec<&str> = [&directory, &link].into_iter().chain(&files).map(|path| &**path).collect();
    let written = resource(&scratch, &[&["--manifest", "file"][..], &paths].concat());
    assert_eq!((written.code, &*written.stderr), (0, ""), "{}", written.shown());
    let manifest = write(&scratch, "site.yaml", &written.stdout);
    let noop = ccm(&scratch, &["apply", "--noop", "--detailed-exitcodes", &manifest]).run();
    assert_eq!(noop.code, 0, "{}", noop.shown());
    std::fs::remove_dir_all(&directory).expect("no tree");
    let applied = ccm(&scratch, &["apply", &manifest]).run();
    assert_eq!(applied.code, 0, "{}", applied.shown());
    for (file, content) in files.iter().zip(contents) {
        assert_eq!(std::fs::read_to_string(file).expect("a file"), content);
    }
    let again = resource(&scratch, &[&["--manifest", "file"][..], &paths].concat());
    assert_eq!(again.stdout, written.stdout);
}

#[test]
fn long_and_binary_contents_are_files() {
    let scratch = Scratch::new();
    let long = write(&scratch, "long", &"x\n".repeat(20_000));
    let binary = scratch.at("binary");
    std::fs::write(&binary, [0xff, 0, 1]).expect("a file");
    let without = resource(&scratch, &["--manifest", "file", &binary]);
    assert!(without.stdout.contains("# content is left out: it is long, or no text: use `--out DIR`"));
    let out = scratch.at("out");
    let args = ["--manifest", "--out", &out, "file", &long, &binary];
    let called = resource(&scratch, &args);
    assert_eq!(called.stdout, format!("wrote {out}/site.yaml and 2 files\n"), "{}", called.shown());
    let mode = std::fs::metadata(&out).expect("a directory").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    std::fs::remove_file(&binary).expect("no file");
    let applied = ccm(&scratch, &["apply", &format!("{out}/site.yaml")]).run();
    assert_eq!((applied.code, std::fs::read(&binary).expect("a file")), (0, vec![0xff, 0, 1]));
    expect_error(&resource(&scratch, &args), 1, "", &["can't be made"], &["does not exist yet"]);
    let link = scratch.at("link");
    std::os::unix::fs::symlink("elsewhere", &link).expect("a link");
    let called = resource(&scratch, &["--manifest", "--out", &link, "file", &long]);
    assert_eq!((called.code, Path::new(&scratch.at("elsewhere")).exists()), (1, false));
}

#[test]
fn secrets_are_in_no_form() {
    let scratch = Scratch::new();
    let mine = write(&scratch, "mine", "only for me: hunter2\n");
    std::fs::set_permissions(&mine, Permissions::from_mode(0o600)).expect("a mode");
    let files = [
        mine,
        write(&scratch, "password", "password = hunter2\n"),
        write(&scratch, "key", "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n"),
        write(&scratch, "address", "deb https://ada:hunter2@example.com/ stable main\n"),
        write(&scratch, "token", "curl -H 'X-Token: hunter2abcdef'\n"),
    ];
    let paths: Vec<&str> = files.iter().map(|path| &**path).collect();
    let out = scratch.at("out");
    for options in [&[][..], &["--json"], &["--yaml"], &["--manifest"], &["--manifest", "--out", &out]] {
        let called = resource(&scratch, &[options, &["file"], &paths].concat());
        assert_eq!(called.code, 0, "{}", called.shown());
        assert!(
            !called.stdout.contains("hunter2") && !called.stderr.contains("hunter2"),
            "{}",
            called.shown()
        );
    }
    let written = std::fs::read_to_string(format!("{out}/site.yaml")).expect("a manifest");
    assert!(!written.contains("hunter2") && written.contains("credential('"), "{written}");
    assert!(!Path::new(&format!("{out}/files")).exists());
}

#[test]
fn types_without_a_state_say_so() {
    let scratch = Scratch::new();
    for name in ["exec", "line", "block", "setting", "archive", "scaffold", "reboot", "apply"] {
        let called = resource(&scratch, &[name, "x", "--json"]);
        let found = document(&called);
        let reason = &found["resources"][0]["not_exported"];
        assert_eq!((called.code, &reason["kind"]), (4, &"no_state".into()), "{}", called.shown());
        assert!(reason["hint"].is_string());
        assert_eq!(resource(&scratch, &[name]).code, 1, "{name}");
    }
    let scratch = Scratch::new();
    expect_error(&resource(&scratch, &["file"]), 1, "", &["files can be anywhere"], &["name a path"]);
    expect_error(&resource(&scratch, &["fil", "x"]), 1, "", &["unknown resource type `fil`"], &["`file`"]);
}

#[test]
fn managed_resources_are_left_out() {
    let scratch = Scratch::new();
    let all = document(&resource(&scratch, &["--all", "--json"]));
    let listed = all["resources"].as_array().expect("resources");
    let Some(first) = listed.iter().find(|found| found["type"] == "package") else { return };
    let name = first["name"].as_str().expect("a name");
    let text_of = format!("ccm:\n  resources:\n    - package:\n        - {name}: {{}}\n");
    let manifest = write(&scratch, "site.yaml", &text_of);
    let rest = document(&resource(&scratch, &["--all", "--against", &manifest, "--json"]));
    let rest = rest["resources"].as_array().expect("resources");
    assert_eq!(rest.len() + 1, listed.len());
    assert!(!rest.contains(first));
}

#[test]
fn options_of_one_form_exclude_each_other() {
    let scratch = Scratch::new();
    for args in [
        &[][..],
        &["--all", "file"],
        &["file", "/x", "--out", "x"],
        &["file", "/x", "--manifest", "--json"],
        &["file", "--with-related"],
        &["file", "/x", "--against", "x"],
    ] {
        assert_eq!(resource(&scratch, args).code, 64, "{args:?}");
    }
    let called = ccm(&scratch, &["status", "file", "/x", "--output", "prometheus"]).run();
    expect_error(&called, 64, "", &["no form for Prometheus"], &["--output json"]);
}
