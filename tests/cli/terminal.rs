//! What a running command shows on a terminal, and that nothing of it is seen elsewhere.

use std::process::{Command, Stdio};

use ccm_testkit::{Scratch, wait_until};

/// Runs a manifest on a terminal of its own, made by script(1), and returns what that shows.
fn on_terminal(variables: &str, options: &str) -> String {
    let scratch = Scratch::new();
    let state = scratch.state().display().to_string();
    scratch.write_program(
        "slow",
        &format!("#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.01; done\n", scratch.at("go")),
    );
    scratch.write(
        "manifest.yaml",
        format!("ccm: {{resources: [{{exec: {{name: slow, command: {}}}}}]}}", scratch.at("slow")),
    );
    let binary = std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned());
    let command = format!("env -i {variables} {binary} apply manifest.yaml --state-dir {state} {options}");
    let child = Command::new("script")
        .args(["-qfec", &command, "typescript"])
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("script");
    let began = std::time::Instant::now();
    wait_until("the command shows itself, or had time enough to do so", || {
        scratch.read("typescript").is_some_and(|text| text.contains("running"))
            || began.elapsed().as_secs() >= 2
    });
    scratch.write("go", "");
    child.wait_with_output().expect("its end");
    let text = scratch.read("typescript").expect("what the terminal showed");
    let text = text.lines().filter(|line| !line.starts_with("Script ")).collect::<Vec<_>>().join("\n");
    text + &format!("\nresult: {}", scratch.read("report").unwrap_or_default())
}

#[test]
fn a_command_that_takes_its_time_shows_itself_and_is_erased() {
    let text = on_terminal("TERM=xterm", "");
    let (before, behind) =
        text.split_once("\r\u{1b}[Kexec#slow running 1s").unwrap_or_else(|| panic!("{text:?}"));
    assert_eq!(before, "");
    assert!(behind.contains("\r\u{1b}[K\u{1b}[33mWARN"), "{text:?}");
    let plain = on_terminal("TERM=xterm NO_COLOR=1", "");
    assert!(plain.contains("running 1s") && plain.contains("\r\u{1b}[KWARN "), "{plain:?}");
}

#[test]
fn nothing_of_it_goes_to_a_file_a_pipe_or_a_dumb_terminal() {
    for (variables, options) in
        [("TERM=dumb", ""), ("", ""), ("TERM=xterm", "-q"), ("TERM=xterm", "2> report")]
    {
        let text = on_terminal(variables, options);
        assert!(!text.contains("running"), "{variables} {options}: {text:?}");
    }
    let text = on_terminal("TERM=xterm", "> report");
    let (terminal, report) = text.split_once("result: ").expect("both");
    assert!(terminal.contains("running 1s"), "{text:?}");
    assert!(report.starts_with("WARN  exec#slow changed") && !report.contains('\u{1b}'), "{text:?}");
}
