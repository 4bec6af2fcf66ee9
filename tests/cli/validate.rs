//! `ccm validate`: for this machine, for another one, and for several.

use ccm_testkit::Scratch;
use insta::assert_snapshot;

use crate::ccm;

const MANIFEST: &str = "\
data:
  port: 80
ccm:
  resources:
    - exec:
        - serve {{ Facts.role }}: {timeout: '{{ Facts.wait ?? \"30s\" }}', returns: ['{{ Data.port }}']}
";

fn scratch(manifest: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("m.yaml", manifest);
    scratch.write("web.yaml", "role: web\n");
    scratch.write("db.json", "{\"role\": \"db\"}\n");
    scratch.write("none.yaml", "rule: x\nwait: soon\n");
    scratch.write("broken.yaml", "role: [web\n");
    scratch
}

#[test]
fn a_manifest_is_checked_for_the_machine_whose_facts_are_given() {
    let scratch = scratch(MANIFEST);
    let run = |args: &[&str]| ccm(&scratch, &["validate", "m.yaml"]).args(args).run();
    assert_snapshot!("validate_another", run(&["--facts", "web.yaml"]).shown());
    assert_snapshot!("validate_none", run(&["--facts", "none.yaml"]).shown());
    // Facts of this machine are not those of another.
    scratch.write("m.yaml", MANIFEST.replace("Facts.role", "Facts.host.info.os"));
    assert_eq!(run(&[]).code, 0);
    assert_eq!(run(&["--facts", "web.yaml"]).code, 1);
}

#[test]
fn several_machines_are_checked_at_once() {
    let all = ["validate", "m.yaml", "--matrix", "web.yaml", "db.json", "none.yaml", "broken.yaml"];
    let good = scratch(MANIFEST);
    assert_snapshot!("matrix_good", ccm(&good, &all[..5]).run().shown());
    assert_snapshot!("matrix_some", ccm(&good, &all).run().shown());
    let bad = scratch(&MANIFEST.replace("Data.port", "Data.prot"));
    assert_snapshot!("matrix_all", ccm(&bad, &all[..6]).run().shown());
    // A file of facts that the manifest does not need has to be there as well.
    let plain = scratch("ccm: {resources: [{exec: {name: 'true'}}]}\n");
    assert_snapshot!(
        "matrix_missing",
        ccm(&plain, &["validate", "m.yaml", "--matrix", "missing.yaml"]).run().shown()
    );
}

#[test]
fn facts_that_nothing_asks_for_have_to_be_right_as_well() {
    let scratch = scratch("ccm: {resources: [{exec: {name: 'true'}}]}\n");
    scratch.write("list.yaml", "- a\n");
    scratch.write("twice.json", "{\"role\": \"db\", \"role\": \"web\"}\n");
    scratch.write("data.yaml", "data: {a: 1}\n");
    for command in
        [&["apply", "m.yaml"][..], &["validate", "m.yaml"], &["hiera", "parse", "data.yaml"], &["eval", "1"]]
    {
        for (file, told) in [
            ("nope.yaml", "nope.yaml can't be read"),
            ("list.yaml", "expected a map of facts"),
            ("twice.json", "the key `role` is given twice"),
        ] {
            let called = ccm(&scratch, command).args(&["--facts", file]).run();
            assert_eq!(called.code, 1, "{}", called.shown());
            assert!(called.stdout.is_empty() && called.stderr.contains(told), "{}", called.shown());
        }
    }
    for command in [&["apply", "m.yaml"][..], &["validate", "m.yaml"], &["eval", "1"]] {
        let called = ccm(&scratch, command).args(&["--fact", "bad"]).run();
        assert_eq!(called.code, 64, "{}", called.shown());
        assert!(called.stderr.contains("the `=` is missing"), "{}", called.shown());
    }
}
