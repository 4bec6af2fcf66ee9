//! Pending refreshes, and the next steps for them.

use ccm_runtime::{NextStep, RunMode};
use ccm_testkit::Scratch;

use crate::{manifest_of, run, session};

#[test]
fn the_next_step_is_to_apply_a_manifest_that_is_still_there() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    // The reload fails, so that its refresh stays pending.
    let manifest = manifest_of(
        &scratch,
        &format!(
            "    - file: [{{{0}: {{content: x}}}}]\n    - exec: [{{reload: {{command: 'false', refresh_only: true, \
             subscribe: ['file#{0}']}}}}]\n",
            scratch.at("source")
        ),
    );
    run(&session, &manifest, RunMode::Apply);
    let path = manifest.display().to_string();
    let steps = || {
        let status = session.status().expect("a status");
        assert!(!status.is_going_on());
        assert_eq!(status.pending.ledgers.len(), 1);
        session.next_steps(&status.pending.ledgers[0])
    };
    assert_eq!(steps(), [NextStep::Apply(path.clone())]);
    std::fs::remove_file(&manifest).expect("the manifest");
    assert_eq!(steps(), [NextStep::Gone { manifest: path.clone(), is_whole_ledger: true }]);
    let ledger = session.pending().expect("the ledgers").ledgers[0].file.clone();
    let damaged = format!("{{\"key\":\"{path}\"}}\nnot a record\n");
    scratch.write(&format!("state/refreshes/{ledger}"), damaged);
    let steps = steps();
    assert!(
        matches!(&*steps, [NextStep::ApplyKey(_) | NextStep::ApplyUnknown]),
        "the manifest of a damaged ledger is not known: {steps:?}"
    );
}
