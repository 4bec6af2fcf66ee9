//! Runs of some resources of a manifest.

use ccm_model::{Outcome, ResourceId, SkipCause};
use ccm_runtime::{BeginError, RunMode, RunOptions};
use ccm_testkit::Scratch;

use crate::{block_on, manifest_of, outcomes, read, session};

#[test]
fn only_the_selected_resources_and_what_they_require_are_applied() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let manifest = manifest_of(
        &scratch,
        &"    - file: [{DIR/a: {content: a}}, {DIR/b: {content: b, require: ['file#DIR/a']}}, {DIR/c: {content: c}}]\n"
            .replace("DIR", &scratch.path().display().to_string()),
    );
    let input = read(&session, &manifest);
    let manifest = session.load(&input).expect("a manifest without errors");
    let only = |names: &[&str]| RunOptions {
        only: names.iter().map(|name| ResourceId::new("file", scratch.at(name).as_str())).collect(),
        ..RunOptions::default()
    };
    let run = |mode, options| block_on(outcomes(&manifest, mode, options));
    let skipped = Outcome::Skipped { cause: SkipCause::NotSelected };
    let (planned, _) = run(RunMode::Plan, only(&["c"])).expect("a plan");
    assert!(matches!(&*planned, [a, b, Outcome::WouldChange { .. }] if *a == skipped && *b == skipped));
    let (applied, _) = run(RunMode::Apply, only(&["b"])).expect("a run");
    assert_eq!(applied, [Outcome::Changed, Outcome::Changed, skipped]);
    let unknown = run(RunMode::Apply, only(&["b", "d"])).expect_err("an unknown resource");
    let BeginError::Selection(unknown) = unknown else { panic!("{unknown}") };
    assert_eq!(unknown.to_string(), format!("not in the manifest: file#{}", scratch.at("d")));
    assert_eq!(unknown.0[0].nearest.as_deref(), Some(&*format!("file#{}", scratch.at("a"))));
}
