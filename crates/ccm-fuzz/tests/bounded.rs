//! Every target survives its corpus, and what a plain loop makes of that.
//!
//! `CCM_FUZZ_SECONDS=600 cargo test --release -p ccm-fuzz` goes on for longer.

use ccm_fuzz::{Effort, TARGETS, endure, target};
use ccm_testkit::repository;

/// A test for each target, with as many inputs as take a moment.
macro_rules! endured {
    ($($name:ident: $inputs:literal,)*) => {
        $(
            #[test]
            fn $name() {
                endure(target(stringify!($name)), Effort::asked_for($inputs));
            }
        )*

        #[test]
        fn every_target_is_tested() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

endured! {
    assignments: 2000,
    dotenv: 2000,
    expression: 2000,
    facts: 1000,
    history: 500,
    interpolation: 2000,
    ledger: 1000,
    manifest: 200,
    order: 2000,
    path: 2000,
    redaction: 40,
    template: 200,
    words: 3000,
    yaml: 500,
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test looks at the repository itself")]
fn every_target_has_a_program_for_cargo_fuzz() {
    let manifest = std::fs::read_to_string(repository("tests/fuzz/Cargo.toml")).expect("a file");
    for target in TARGETS {
        let program = format!("tests/fuzz/fuzz_targets/{}.rs", target.name);
        let text = std::fs::read_to_string(repository(&program)).expect("a file");
        assert!(text.contains(&format!("target(\"{}\")", target.name)), "{text}");
        assert!(manifest.contains(&format!("name = \"{}\"\n", target.name)), "{}", target.name);
    }
}
