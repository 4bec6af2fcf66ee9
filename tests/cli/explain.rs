//! `ccm explain`: the reference of resource types.

use ccm_testkit::Scratch;
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::{expect_error, expect_output};

#[test]
fn types_and_properties_are_explained() {
    let scratch = Scratch::new();
    let explain = |args: &[&str]| ccm(&scratch, &["explain"]).args(args).run();
    assert_snapshot!("types", explain(&[]).shown());
    assert_snapshot!("type", explain(&["service"]).shown());
    assert_snapshot!("property_with_keys", explain(&["exec.expect"]).shown());
    let timeout = explain(&["service.timeout"]);
    assert!(timeout.stdout.starts_with("service.timeout: text or `0`\n"), "{}", timeout.shown());
    expect_output(&timeout, 0, &["`30s`", "\n\ndefault: ", "`90s`"]);
    let key = explain(&["exec.sandbox.network"]);
    expect_output(&key, 0, &["exec.sandbox.network: boolean\n", "\n\ndefault: `false`\n"]);
    expect_output(&explain(&["file.require"]), 0, &["file.require: list of text\n", "`type#alias`"]);
}

#[test]
fn unknown_types_and_properties_come_with_the_nearest_known_one() {
    let scratch = Scratch::new();
    let explain = |name: &str| ccm(&scratch, &["explain", name]).run();
    expect_error(&explain("servce"), 1, "", &["type `servce`"], &["`service`"]);
    expect_error(&explain("service.enabled"), 1, "", &["`service`", "property `enabled`"], &["`enable`"]);
    let words = |args: &[&str]| ccm(&scratch, &[&["explain"], args].concat()).run();
    assert_eq!(words(&["user", "shell"]).stdout, words(&["user.shell"]).stdout);
    expect_error(&words(&["user", "shel"]), 1, "", &["`user`", "property `shel`"], &["`shell`"]);
    expect_error(&explain("service.enable.x"), 1, "", &["`service.enable`", "property `x`"], &[]);
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
