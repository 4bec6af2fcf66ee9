//! A run whose program is replaced or removed meanwhile, as by an upgrade of its package.

use std::process::{Command, Output};

use ccm_testkit::{Scratch, needs_root, shell};

use crate::in_place;

/// Commands behind the one that replaces the program. Each of them is started by ccm in another way.
const LATER: &str = "
        - plain: {command: pwd, logoutput: true}
        - umask: {command: umask, provider: shell, umask: '027', logoutput: true}
        - sandbox: {command: 'echo > made; ls', provider: shell, sandbox: {advisory: true}, logoutput: true}
        - parsed: {command: 'if true; then echo parsed; fi', provider: shell, logoutput: true}
";

/// Applies the execs with a copy of ccm that the first of them changes.
fn apply_with_copy(scratch: &Scratch, change: &str, later: &str) -> Output {
    let binary = std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned());
    // The kernel executes no file that a forked process of another test still has open for writing.
    shell(&format!("cp {binary} {}", scratch.at("ccm")), scratch.path());
    let change = in_place(scratch, change);
    let first = format!("        - change: {{command: \"{change}\", provider: shell, logoutput: true}}");
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - exec:\n{first}{later}"));
    let mut command = Command::new(scratch.path().join("ccm"));
    command.args(["apply", "manifest.yaml", "--state-dir"]).arg(scratch.state());
    command.current_dir(scratch.path()).env_clear().env("HOME", scratch.path()).output().expect("an output")
}

#[test]
fn run_goes_on_with_the_program_that_it_began_with() {
    for change in [
        "printf '#!/bin/sh\\\\nexit 99\\\\n' > [dir]/new && chmod 755 [dir]/new && mv [dir]/new [dir]/ccm",
        "rm [dir]/ccm",
    ] {
        let scratch = Scratch::new();
        let output = apply_with_copy(&scratch, change, LATER);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{change}: {text}");
        for line in [
            "plain stdout | /\n",
            "umask stdout | 0027\n",
            "sandbox stdout | made\n",
            "parsed stdout | parsed\n",
        ] {
            assert!(text.contains(line), "{change}: {line}: {text}");
        }
    }
}

#[test]
fn run_of_another_user_goes_on_as_well() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let later = "\n        - other: {command: id -un, user: nobody, logoutput: true}\n";
    let output = apply_with_copy(&scratch, "rm [dir]/ccm", later);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("other stdout | nobody\n"), "{text}");
}
