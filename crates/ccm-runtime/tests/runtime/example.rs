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
    let report = apply::apply(manifest(&scratch, "x"), config(&scratch)).expect("a report");
    assert_eq!(report.summary.counts.changed, 1);
    assert_eq!(report.record.code, ExitCode::Success);
    assert_eq!(scratch.read("made").as_deref(), Some("x"));
    assert_eq!(session(&scratch).history().expect("a history").runs().len(), 1);
    scratch.write("broken.yaml", "ccm: {resources: [{fil: {name: x}}]}\n");
    let error = apply::apply(scratch.path().join("broken.yaml"), config(&scratch)).expect_err("an error");
    assert_eq!(error.to_string(), "1 error");
}
