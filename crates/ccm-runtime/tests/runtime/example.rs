//! The example of a program.

use ccm_runtime::ExitCode;
use ccm_testkit::Scratch;

use crate::{config, manifest, session};

#[path = "../../examples/apply.rs"]
#[expect(dead_code, unreachable_pub, reason = "the test has a main function of its own")]
mod apply;

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
