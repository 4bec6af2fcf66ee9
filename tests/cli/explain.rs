//! `ccm explain`: the reference of resource types.

use ccm_testkit::Scratch;
use insta::assert_snapshot;

use crate::ccm;

#[test]
fn types_and_properties_are_explained() {
    let scratch = Scratch::new();
    for (name, args) in [
        ("explain_all", &[][..]),
        ("explain_type", &["service"]),
        ("explain_property", &["service.timeout"]),
        ("explain_map", &["exec.expect"]),
        ("explain_key_of_map", &["exec.sandbox.network"]),
        ("explain_common_property", &["file.require"]),
        ("explain_unknown_type", &["servce"]),
        ("explain_unknown_property", &["service.enabled"]),
        ("explain_no_map", &["service.enable.x"]),
    ] {
        assert_snapshot!(name, ccm(&scratch, &["explain"]).args(args).run().shown());
    }
}

#[test]
fn every_property_is_in_the_explanation_of_its_type() {
    let scratch = Scratch::new();
    for found in ccm_runtime::Session::open(ccm_runtime::Config::default()).types() {
        let called = ccm(&scratch, &["explain", found.name()]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        for property in found.properties() {
            let line = format!("\n  {}: {}", property.name, property.kind);
            assert!(called.stdout.contains(line.get(..90).unwrap_or(&line)), "{line}\n{}", called.stdout);
        }
    }
}
