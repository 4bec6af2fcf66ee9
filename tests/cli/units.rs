//! systemd accepts the units.

use std::process::Command;

use ccm_testkit::{Scratch, repository, skipped};

const UNITS: [&str; 2] = ["ccm-apply@.service", "ccm-apply@.timer"];

/// Copies the units, with one text replaced, to a directory where the program that they call exists.
fn copy(scratch: &Scratch, text: &str, replacement: &str) {
    scratch.write_program("ccm", "#!/bin/sh\n");
    for unit in UNITS {
        let path = repository(&format!("packaging/systemd/{unit}"));
        let content = std::fs::read_to_string(path).expect("the unit");
        let content = content.replace("/usr/bin/ccm", &scratch.at("ccm"));
        scratch.write(unit, content.replace(text, replacement));
    }
}

/// Returns the result and the output of `systemd-analyze verify`; `None` if it is not installed.
fn verify(scratch: &Scratch) -> Option<(bool, String)> {
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no", "--recursive-errors=no"]).args(UNITS.map(|unit| scratch.at(unit)));
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            skipped(&format!("systemd-analyze does not run: {error}"));
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // It reads other units of this machine as well, which are no business of ours.
    let ours = said.lines().filter(|line| line.contains("ccm-apply@")).flat_map(|line| [line, "\n"]);
    Some((output.status.success(), ours.collect()))
}

#[test]
fn systemd_accepts_the_units() {
    let scratch = Scratch::new();
    copy(&scratch, "", "");
    if let Some(verdict) = verify(&scratch) {
        assert_eq!(verdict, (true, String::new()));
    }
}

#[test]
fn an_error_in_a_unit_is_found() {
    for (text, error) in [
        ("KillMode=process", "KilMode=process"),
        ("OOMPolicy=continue", "OOMPolicy=go-on"),
        ("OnCalendar=*:00,30", "OnCalendar=*:00,77"),
    ] {
        let scratch = Scratch::new();
        copy(&scratch, text, error);
        if let Some((_, said)) = verify(&scratch) {
            assert!(!said.is_empty(), "no output about {error}");
        }
    }
}
