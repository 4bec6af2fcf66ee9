//! Large manifests, and many errors in them. The benchmark measures the time.

use std::fmt::Write as _;

use crate::fake::loaded;

/// Returns a manifest of small resources that depend on one another, ten to a list.
fn small_resources(count: usize) -> String {
    let mut text = "ccm:\n  resources:\n".to_owned();
    for index in 0..count {
        if index % 10 == 0 {
            text += "    - task:\n        - defaults: {provider: shell}\n";
        }
        let before = index.saturating_sub(1);
        let require =
            if index == 0 { String::new() } else { format!("            require: [task#name-{before}]\n") };
        let _ = write!(text, "        - name-{index}:\n            command: /bin/true {index}\n{require}");
    }
    text
}

#[test]
fn forty_thousand_resources_are_loaded() {
    let catalog = loaded(&small_resources(40_000)).catalog.expect("no error");
    assert_eq!(catalog.resources.len(), 40_000);
    assert_eq!(catalog.resources[39_999].require[0].on.get(), 39_998);
}

/// Covers searches that would take minutes if they were repeated for every resource.
#[test]
fn nine_thousand_errors_are_reported() {
    let manifest = |entry: &dyn Fn(usize) -> String| {
        let defaults = "        - defaults: {timeout: soon, require: [task#gone]}\n";
        let entries = (0..9_000).map(|index| format!("        - {}\n", entry(index)));
        format!("ccm:\n  resources:\n    - task:\n{defaults}{}", entries.collect::<Vec<_>>().concat())
    };
    let count = |entry: &dyn Fn(usize) -> String| loaded(&manifest(entry)).diagnostics.len();
    assert_eq!(count(&|index| format!("name-{index}: {{require: [task#name_{index}]}}")), 9_001);
    assert_eq!(count(&|_| "same:".to_owned()), 9_001);
    assert_eq!(count(&|index| format!("name-{index}: {{alias: same}}")), 9_001);
    assert_eq!(count(&|index| format!("[name-{index}]")), 9_002);
    let around = |index: usize| format!("name-{index}: {{require: [task#name-{}]}}", (index + 1) % 9_000);
    assert_eq!(count(&around), 2);
}
