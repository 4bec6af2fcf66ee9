//! `ccm init`: a first manifest.

use std::process::Command;

use ccm_testkit::{Called, Ccm, Scratch, needs_ordinary_user};

use crate::ccm;
use crate::expect::expect_error;

/// A call with a home directory of the test's own.
fn at_home(scratch: &Scratch, args: &[&str]) -> Ccm {
    std::fs::create_dir_all(scratch.path().join("my home")).expect("a directory");
    ccm(scratch, args).variable("HOME", &scratch.at("my home"))
}

fn init(scratch: &Scratch, args: &[&str]) -> Called {
    at_home(scratch, &["init"]).args(args).run()
}

#[test]
fn the_first_manifest_is_applied_once() {
    let scratch = Scratch::new();
    let written = init(&scratch, &[]);
    assert_eq!((written.code, &*written.stderr), (0, ""), "{}", written.shown());
    let lines: Vec<&str> = written.stdout.lines().collect();
    let first = "wrote site.yaml: 4 resources, which write to [dir]/my home/ccm-example";
    let [show, apply] = ["apply --noop --diff site.yaml", "apply site.yaml"];
    assert_eq!(lines[0], first);
    assert!(lines[2].ends_with(&format!("  ccm {show}")) && lines[3].ends_with(&format!("  ccm {apply}")));
    let call = |line: &str| at_home(&scratch, &line.split(' ').collect::<Vec<_>>()).run();
    let valid = call("validate --strict site.yaml");
    assert_eq!((valid.code, &*valid.stderr), (0, ""), "{}", valid.shown());
    let noop = call(show);
    assert_eq!((noop.code, &*noop.stderr), (0, ""), "{}", noop.shown());
    assert!(noop.stdout.contains("would create 2, run 2"), "{}", noop.shown());
    assert!(!scratch.has("my home/ccm-example"));
    let applied = call(apply);
    assert_eq!((applied.code, &*applied.stderr), (0, ""), "{}", applied.shown());
    assert!(applied.stdout.contains("stdout | greeting = hello\n"), "{}", applied.shown());
    let made = scratch.read("my home/ccm-example/settings.conf");
    assert!(made.is_some_and(|text| text.starts_with("greeting = hello\nhost = ")));
    assert!(scratch.has("my home/ccm-example/notes.txt"));
    let again = call(apply);
    assert!(again.stdout.contains(": 4 unchanged "), "{}", again.shown());
    let changed = call("apply site.yaml --data greeting=hi");
    assert!(changed.stdout.contains(": 2 unchanged; changed 1, ran 1 "), "{}", changed.shown());
}

#[test]
fn the_part_for_root_is_valid_without_its_comment_signs() {
    let scratch = Scratch::new();
    let text = init(&scratch, &["-"]).stdout.replace("[dir]", &scratch.path().to_string_lossy());
    assert!(!scratch.has("site.yaml"), "`-` is standard output");
    let (before, part) = text.split_once("Remove the `# ` before").expect("a part for root");
    let part: String = part
        .lines()
        .map(|line| line.replacen("    # ", "    ", 1) + "\n")
        .enumerate()
        .map(|(number, line)| if number == 0 { format!("Remove{line}") } else { line })
        .collect();
    scratch.write("all.yaml", format!("{before}{part}"));
    let valid = ccm(&scratch, &["validate", "--strict", "all.yaml"]).run();
    assert_eq!(valid.stdout, "all.yaml is valid: 6 resources\n", "{}", valid.shown());
}

#[test]
fn nothing_is_overwritten() {
    let scratch = Scratch::new();
    scratch.write("site.yaml", "mine\n");
    let hint = &["ccm init other.yaml"];
    expect_error(&init(&scratch, &[]), 1, "", &["site.yaml exists already", "nothing was written"], hint);
    assert_eq!(scratch.read("site.yaml").as_deref(), Some("mine\n"));
    std::os::unix::fs::symlink("elsewhere", scratch.at("link.yaml")).expect("a link");
    expect_error(&init(&scratch, &["link.yaml"]), 1, "", &["link.yaml exists already"], hint);
    assert!(!scratch.has("elsewhere"));
    assert_eq!(init(&scratch, &["other.yaml"]).code, 0);
}

#[test]
fn the_commands_that_are_printed_can_be_pasted() {
    let scratch = Scratch::new();
    let written = init(&scratch, &["it's mine.yaml"]);
    let line = written.stdout.lines().find_map(|line| line.strip_prefix("show what it would change:  "));
    let binary = std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned());
    let script = format!(
        "ccm() {{ '{binary}' \"$@\" --state-dir '{}'; }}; {}",
        scratch.at("state"),
        line.unwrap_or_default()
    );
    let output =
        Command::new("/bin/sh").args(["-c", &script]).current_dir(scratch.path()).output().expect("a shell");
    assert!(output.status.success(), "{}: {script}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_manifest_that_can_not_be_written_is_an_error() {
    let scratch = Scratch::new();
    expect_error(
        &init(&scratch, &["no/site.yaml"]),
        1,
        "",
        &["no/site.yaml", "nothing was written"],
        &["directory"],
    );
    for home in ["", "relative", "/home/{{ x }}"] {
        let called = ccm(&scratch, &["init"]).variable("HOME", home).run();
        expect_error(&called, 1, "", &["nothing was written"], &["HOME"]);
    }
    if !needs_ordinary_user() {
        return;
    }
    expect_error(
        &init(&scratch, &["/etc/ccm-test.yaml"]),
        1,
        "",
        &["/etc/ccm-test.yaml"],
        &["directory of yours"],
    );
}
