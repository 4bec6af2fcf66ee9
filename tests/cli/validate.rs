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
