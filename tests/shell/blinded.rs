//! The kernel behind the parser: a program that the parser missed is not executed.
//!
//! The parser is blinded on purpose: texts that dash and bash read differently are read as bash reads them, and run by
//! dash. Each hides an `rm` that the reading does not name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{AllowedPrograms, Cancellation, Command, Exit, Finished, Runner as _, Sandbox, SystemRunner};
use ccm_shell::{ShellBudget, ShellContext, ShellDialect, ShellProgram, read};
use ccm_testkit::{Scratch, on_this_machine, skipped};

use crate::has;

/// Texts that run `rm` in dash, and do not in bash: a list in the background, a test, and an expression.
const HIDDEN: [&str; 3] = ["echo hi &>/dev/null rm leaf", "[[ a || rm ]]", "((rm *f))"];
/// Files that one of the texts removes.
const FILES: [&str; 2] = ["leaf", "]]"];

#[test]
fn a_program_that_the_parser_missed_is_refused_by_the_kernel() {
    if !has("/bin/dash") {
        return;
    }
    let mut refused = 0;
    for text in HIDDEN {
        let Some(programs) = programs(text) else { continue };
        assert!(!programs.iter().any(|program| program.ends_with("rm")), "the parser is not blind: {text}");
        let scratch = Scratch::new();
        let have = || FILES.iter().filter(|file| scratch.path().join(file).exists()).count();
        write(&scratch);
        // Without the list, dash removes a file.
        let Some(finished) = run(scratch.path(), text, None) else { return };
        assert_eq!(have(), 1, "{text} hides nothing: {finished:?}");

        write(&scratch);
        let Some(finished) = run(scratch.path(), text, Some(programs)) else { return };
        assert_eq!(have(), 2, "{text} removed a file");
        let stderr = String::from_utf8_lossy(&finished.stderr.head).into_owned();
        assert!(stderr.contains("rm: Permission denied"), "{text}: {stderr}");
        refused += 1;
    }
    assert!(refused >= 2, "the texts are not read");
}

fn write(scratch: &Scratch) {
    for file in FILES {
        scratch.write(file, "alive\n");
    }
}

/// Returns the programs that bash would start.
fn programs(text: &str) -> Option<Vec<PathBuf>> {
    let reading =
        read(text, ShellDialect::Bash, &ShellContext::default(), &mut ShellBudget::default()).ok()?;
    let programs = reading.programs().ok()?;
    Some(programs.iter().flat_map(ShellProgram::candidates).map(PathBuf::from).collect())
}

/// Runs a text in dash. Returns `None` on a machine without the sandbox.
fn run(directory: &Path, text: &str, programs: Option<Vec<PathBuf>>) -> Option<Finished> {
    let directory = directory.canonicalize().expect("a path");
    let programs = programs.map(|programs| AllowedPrograms { programs, are_analysed: true });
    let command = Command {
        cwd: directory.clone(),
        args: ["-c", text].map(Into::into).into(),
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        timeout: Some(on_this_machine(Duration::from_secs(60))),
        sandbox: Some(Sandbox { programs, ..Sandbox::new(directory) }),
        ..Command::new("/bin/dash")
    };
    let launcher =
        std::env::var_os("CCM_TEST_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_ccm").into(), PathBuf::from);
    let runner = SystemRunner::new().expect("a runner").with_launcher(launcher);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let never = Cancellation::never();
    match runtime.block_on(runner.run(&command, &never, &mut |_, _| {})) {
        Ok(finished) => {
            assert!(matches!(finished.exit, Exit::Code(_)), "{finished:?}");
            Some(finished)
        }
        Err(error) => {
            skipped(&format!("no sandbox for the texts: {error}"));
            None
        }
    }
}
