//! The examples of programs.

use ccm_runtime::{CommandText, ExitCode, Stream};
use ccm_testkit::Scratch;

use crate::{config, manifest, session};

#[path = "../../examples/apply.rs"]
#[expect(dead_code, unreachable_pub, reason = "the test has a main function of its own")]
mod apply;
#[path = "../../examples/executor.rs"]
#[expect(dead_code, unreachable_pub, reason = "the test has a main function of its own")]
mod executor;

#[test]
fn it_applies_a_manifest() {
    let scratch = Scratch::new();
    let apply = |manifest| apply::apply(manifest, config(&scratch)).expect("an exit code");
    assert_eq!(apply(manifest(&scratch, "x")), ExitCode::Success);
    assert_eq!(scratch.read("made").as_deref(), Some("x"));
    assert_eq!(session(&scratch).history().expect("a history").runs().len(), 1);
    scratch.write("broken.yaml", "ccm: {resources: [{fil: {name: x}}]}\n");
    assert_eq!(apply(scratch.path().join("broken.yaml")), ExitCode::NothingRun);
}

#[test]
fn it_runs_a_command_with_the_executor_of_a_shipped_manifest() {
    let scratch = Scratch::new();
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/executors.yaml");
    let exec = |name: &str, command: CommandText| {
        let mut lines = Vec::new();
        let mut on_line = |stream: Stream, line: &str| lines.push((stream, line.to_owned()));
        let code = executor::exec(manifest.into(), name, command, config(&scratch), &mut on_line);
        (code.map_err(|error| error.to_string()), lines)
    };
    let printed = |text: &str| vec![(Stream::Stdout, text.to_owned())];
    let program = |words: &[&str]| {
        CommandText::Program(words[0].to_owned(), words[1..].iter().map(|&word| word.to_owned()).collect())
    };
    assert_eq!(exec("shell", program(&["printenv", "GREETING"])), (Ok(0), printed("hello")));
    assert_eq!(exec("shell", CommandText::Shell("echo out; exit 7".to_owned())), (Ok(7), printed("out")));
    assert_eq!(exec("status", CommandText::Words("git --version".to_owned())).0, Ok(0));
    let (refused, lines) = exec("status", CommandText::Words("git push".to_owned()));
    assert!(refused.expect_err("an error").contains("`git push` is not in the whitelist"));
    assert_eq!(lines, []);
    let (missing, _) = exec("shell", program(&["/nowhere/program"]));
    assert!(missing.expect_err("an error").contains("/nowhere/program"));
    let (unknown, _) = exec("shel", program(&["true"]));
    assert!(unknown.expect_err("an error").ends_with("has no executor `shel`"));
}
