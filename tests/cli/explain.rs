//! `ccm explain`: the reference of resource types.

use ccm_runtime::{Config, Session};
use ccm_testkit::{Scratch, repository};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::{expect_error, expect_output};

#[test]
fn types_and_properties_are_explained() {
    let scratch = Scratch::new();
    let explain = |args: &[&str]| ccm(&scratch, &["explain"]).args(args).run();
    assert_snapshot!("type", explain(&["service"]).shown());
    assert_snapshot!("property_with_keys", explain(&["exec.expect"]).shown());
    let timeout = explain(&["service.timeout"]);
    assert!(timeout.stdout.starts_with("service.timeout: text or `0`\n"), "{}", timeout.shown());
    expect_output(&timeout, 0, &["`30s`", "\n\ndefault: ", "`90s`"]);
    let key = explain(&["exec.sandbox.network"]);
    expect_output(&key, 0, &["exec.sandbox.network: boolean\n", "\n\ndefault: `false`\n"]);
    let executors = ["executors: map\n", "`exec.native`", "command_whitelist: ", "`exec.docker`", "image: "];
    expect_output(&explain(&["executors"]), 0, &executors);
    let image = explain(&["executors.image"]);
    expect_output(&image, 0, &["executors.image: text\n", "required"]);
    for (name, parts) in [
        ("checks", &["checks: list of maps\n", "Health checks after all resources", "tries: "][..]),
        ("fail_on_error", &["fail_on_error: boolean\n", "default: `false`\n"]),
        ("foreach", &["foreach: list or map\n", "`Item`"]),
        ("hierarchy", &["hierarchy: map\n", "`order`"]),
        ("control", &["control: map\n"]),
        ("file.ensure", &["`present`, `absent`, `directory`, `link`"]),
    ] {
        expect_output(&explain(&[name]), 0, parts);
    }
    expect_output(&explain(&["file.require"]), 0, &["file.require: list of text\n", "`type#alias`"]);
}

#[test]
fn types_are_listed_with_their_summaries() {
    let scratch = Scratch::new();
    let listed = ccm(&scratch, &["explain"]).run();
    let types = Session::open(Config::default()).types().to_vec();
    let width = types.iter().map(|found| found.name().len()).max().unwrap_or_default();
    let lines = types.iter().map(|found| format!("{:width$}  {}\n", found.name(), found.summary()));
    let advice =
        "\n`ccm explain TYPE` shows a type, and `ccm explain TYPE.PROPERTY` one of its properties.\n";
    assert_eq!(listed.stdout, lines.collect::<String>() + advice, "{}", listed.shown());
}

/// The list of types brings everything else that names every type.
#[test]
fn every_type_has_a_page_and_an_example() {
    let texts = |folder: &str, extension: &str| -> Vec<String> {
        let files = std::fs::read_dir(repository(folder)).expect("a folder of the repository");
        let paths = files.map(|file| file.expect("a file").path());
        let paths = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
        paths.map(|path| std::fs::read_to_string(path).expect("text")).collect()
    };
    let pages = [texts("docs/reference", "md"), texts("docs/reference/types", "md")].concat();
    let manifests = [texts("examples", "yaml"), texts("manifests", "yaml")].concat();
    let mut missing = Vec::new();
    for found in Session::open(Config::default()).types() {
        let name = found.name();
        let marker = format!("<!-- properties of {name} -->");
        if !pages.iter().any(|page| page.contains(&marker)) {
            missing.push(format!("docs/reference/types/{name}.md, with `{marker}` and `<!-- end -->`"));
        }
        if !manifests.iter().any(|text| text.contains(&format!("- {name}:"))) {
            missing.push(format!(
                "a `{name}` in a manifest of examples/, which has a row in examples/README.md"
            ));
        }
    }
    assert!(missing.is_empty(), "write {}", missing.join("\nand "));
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
    expect_error(&explain("executors.imag"), 1, "", &["`ccm.executors`", "property `imag`"], &["`image`"]);
    expect_error(&explain("exec.cmd"), 1, "", &["`exec`", "property `cmd`"], &["`command`"]);
    expect_error(&explain("service.enable.x"), 1, "", &["`service.enable`", "property `x`"], &[]);
}

#[test]
fn every_property_is_in_the_explanation_of_its_type() {
    let scratch = Scratch::new();
    for found in Session::open(Config::default()).types() {
        let called = ccm(&scratch, &["explain", found.name()]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        for property in found.properties() {
            let line = format!("\n  {}: {}", property.name, property.kind);
            assert!(called.stdout.contains(line.get(..90).unwrap_or(&line)), "{line}\n{}", called.stdout);
        }
    }
}
