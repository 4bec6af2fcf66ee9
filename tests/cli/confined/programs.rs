//! Programs that a sandbox may execute, from the text of the command to the kernel.

use ccm_testkit::Scratch;

use super::{apply_private, failed, kernel_can};

/// Applies an exec with `programs: analysed`. Returns the exit code and the report.
fn analysed(scratch: &Scratch, properties: &str) -> (i32, String) {
    let exec = format!(
        "        - a: {{{properties}, logoutput: true, sandbox: {{programs: analysed, write: ['[dir]/open']}}}}\n"
    );
    let called = apply_private(scratch, &exec, &[]);
    (called.code, format!("{}{}", called.stdout, called.stderr))
}

#[test]
fn wrappers_start_the_programs_that_they_are_given() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("open/file", "x\n");
    for (properties, printed) in [
        ("command: 'timeout 5 basename /a/b'", "| b"),
        ("command: timeout, args: ['5', env, 'A=1', nice, basename, /a/b]", "| b"),
        ("provider: shell, command: 'echo /a/b | xargs -n1 basename'", "| b"),
        (
            "provider: shell, command: 'timeout 5 nice basename /a/b && env A=1 sh -c \"dirname /a/b\"'",
            "| /a",
        ),
        ("command: 'find [dir]/open -name file -exec basename {} +'", "| file"),
        (
            "provider: shell, command: 'true', onlyif: 'timeout 5 test -d /', unless: 'timeout 5 false'",
            "ran: true",
        ),
    ] {
        let (code, report) = analysed(&scratch, properties);
        assert!(code == 0 && report.contains(printed), "{properties}: {report}");
    }
}

#[test]
fn a_program_that_nobody_named_is_refused_by_the_kernel() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("open/tool", "#!/bin/sh\nexec rm \"$1\"\n");
    scratch.write("open/file", "x\n");
    let tool = scratch.path().join("open/tool");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a program");
    for properties in [
        // A program in a file, behind a wrapper.
        "command: 'timeout 5 [dir]/open/tool [dir]/open/file'",
        // An interpreter, whose code is not followed.
        "command: timeout, args: ['5', perl, '-e', 'exit(system(\"rm [dir]/open/file\") ? 1 : 0)']",
        // What follows a program that is not known may be its arguments.
        "command: '[dir]/open/tool rm [dir]/open/file', cwd: /",
    ] {
        let (code, report) = analysed(&scratch, properties);
        assert!(code != 0, "{properties}: {report}");
        assert!(scratch.path().join("open/file").exists(), "{properties}: {report}");
    }
}

#[test]
fn a_wrapper_whose_program_is_not_known_fails_by_name() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    for (command, reason) in [
        ("'echo ls | timeout 5 xargs $(cat [dir]/x)'", "the program"),
        ("'timeout 5 sh -c \"$(cat [dir]/x)\"'", "not known"),
    ] {
        let exec = format!(
            "        - a: {{provider: shell, command: {command}, sandbox: {{programs: analysed}}}}\n"
        );
        let report = failed(&scratch, &exec);
        assert!(report.contains("can't be determined") && report.contains(reason), "{command}: {report}");
        assert!(report.contains("name the programs in a list"), "{command}: {report}");
    }
}
