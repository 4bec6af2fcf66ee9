//! Resources that were managed before the run.

use ccm_engine::EarlierOutcomes;
use ccm_model::{Event, ResourceId};

use crate::fake::{Options, catalog, run_with};

fn ids(names: &[&str]) -> Vec<ResourceId> {
    names.iter().map(|name| ResourceId::new("file", *name)).collect()
}

#[test]
fn a_resource_whose_earlier_dependency_failed_is_skipped() {
    let failed = ids(&["/x", "/y"]);
    let earlier = EarlierOutcomes { failed: &failed, changed: &[] };
    let ran = run_with(&catalog(&["a needs"]), &Options { earlier, ..Options::default() });
    assert_eq!(
        (&ran.lines[..], ran.calls.len()),
        (&["a dependency failed because of /x,/y".to_owned()][..], 0)
    );
    assert_eq!(ran.summary.counts.unmet, 1);
}

#[test]
fn an_earlier_change_triggers_a_refresh_and_is_named() {
    let changed = ids(&["/x"]);
    let earlier = EarlierOutcomes { failed: &[], changed: &changed };
    for (noop, expected) in [(false, "a refreshed"), (true, "a would refresh")] {
        let ran = run_with(&catalog(&["a"]), &Options { noop, earlier, ..Options::default() });
        assert!(ran.lines[0].starts_with(expected), "{:?}", ran.lines);
        let triggered = ran.events.iter().find_map(|event| match event {
            Event::ResourceFinished(transaction) => Some(transaction.triggered_by.clone()),
            _ => None,
        });
        assert_eq!(triggered, Some(changed.clone()));
    }
}
