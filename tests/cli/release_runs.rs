//! Runs of releases: two at once, with credentials, and without a place for temporary files.

use ccm_testkit::{Scratch, needs_root, shell, wait_until};

use crate::ccm;
use crate::releases::{FROM, publish, site, succeeded};

/// Writes a manifest whose command waits for a file, before a file of the release is copied.
fn manifest_that_waits(scratch: &Scratch) {
    let (begun, go, motd) = (scratch.at("begun"), scratch.at("go"), scratch.at("motd"));
    let wait = format!("#!/bin/sh\necho >{begun}\nwhile [ ! -e {go} ]; do sleep 0.01; done\n");
    scratch.write_program("waits", &wait);
    scratch.write(
        "site/site.yaml",
        format!(
            "ccm:\n  resources:\n    - exec: [{{wait: {{command: {}}}}}]\n    - file: [{{{motd}: {{source: files/motd}}}}]\n",
            scratch.at("waits")
        ),
    );
}

#[test]
fn two_runs_of_a_source_at_once_apply_one_after_the_other() {
    let scratch = site();
    manifest_that_waits(&scratch);
    publish(&scratch, "1", &[]);
    let words = [&["apply"], &FROM[..]].concat();
    let first = ccm(&scratch, &words).start();
    wait_until("the first run has begun", || scratch.has("begun"));
    // Meanwhile there is another version.
    scratch.write("site/files/motd", "Hello\n");
    publish(&scratch, "2", &[]);
    let others: Vec<_> = (0..3).map(|_| ccm(&scratch, &words).start()).collect();
    scratch.write("go", "");
    let first = succeeded(first.finish());
    assert!(first.stderr.contains("version 1, signed by ops, is accepted"), "{}", first.shown());
    for other in others {
        succeeded(other.finish());
    }
    assert_eq!(scratch.read("motd").as_deref(), Some("Hello\n"));
    let listed = succeeded(ccm(&scratch, &["source", "list", "--json"]).run());
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("a document");
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["accepted"]["version"]), (Some(1), &2.into()));
    assert_eq!(listed[0]["applied"], listed[0]["accepted"]["digest"], "{listed}");
    let again = succeeded(ccm(&scratch, &words).run());
    assert!(again.stderr.is_empty(), "{}", again.shown());
}

const SECRET: &str = "s3cret-word-of-the-machine";

#[test]
fn a_manifest_of_a_source_uses_a_credential_of_the_machine() {
    let scratch = site();
    let app = scratch.at("app.conf");
    let content = "\"password={{ credential('db') }}\"";
    let file = format!("{app}: {{content: {content}, mode: \"0600\"}}");
    scratch.write("site/site.yaml", format!("ccm: {{resources: [{{file: [{{{file}}}]}}]}}\n"));
    // Whoever builds a release has no credential of the machines.
    publish(&scratch, "1", &["--no-files"]);
    let words = [&["apply"], &FROM[..]].concat();
    let without = ccm(&scratch, &words).run();
    assert_eq!(without.code, 1, "{}", without.shown());
    assert!(without.stderr.contains("CREDENTIALS_DIRECTORY is not set"), "{}", without.shown());
    scratch.write("credentials/db", format!("{SECRET}\n"));
    for options in [&["--noop", "--diff", "-vv"][..], &["--diff", "-vv"], &[]] {
        let words = [&words, options].concat();
        let called =
            ccm(&scratch, &words).variable("CREDENTIALS_DIRECTORY", &scratch.at("credentials")).run();
        assert_eq!(called.code, 0, "{options:?}: {}", called.shown());
        assert!(!called.shown().contains(SECRET), "{}", called.shown());
    }
    assert_eq!(scratch.read("app.conf"), Some(format!("password={SECRET}")));
    assert_eq!(shell(&format!("grep -rl {SECRET} . || :"), &scratch.state()), "");
}

#[test]
fn a_closed_directory_for_temporary_files_is_named() {
    if !needs_root() {
        return;
    }
    let scratch = site();
    publish(&scratch, "1", &[]);
    shell(
        "mkdir -p closed/tmp state-of-nobody && chmod 700 closed && chmod 711 . && chmod -R a+rX base* signers && \
         chown 65534 state-of-nobody closed/tmp signers",
        scratch.path(),
    );
    let as_nobody =
        "cp \"$0\" binary\nexec setpriv --reuid=65534 --regid=65534 --clear-groups ./binary \"$@\"";
    let state = scratch.at("state-of-nobody");
    let words = [&["apply", "--noop", "--state-dir", &state], &FROM[..]].concat();
    let temporary = scratch.at("closed/tmp");
    for (variable, parts) in [
        (temporary.as_str(), &["closed/tmp", "Permission denied", "hint: set TMPDIR"][..]),
        (&scratch.at("gone"), &["/gone", "No such file", "hint: set TMPDIR"]),
    ] {
        let called = ccm(&scratch, &words).variable("TMPDIR", variable).after(as_nobody).run();
        assert_eq!(called.code, 1, "{}", called.shown());
        for part in parts {
            assert!(called.stderr.contains(part), "{part}: {}", called.shown());
        }
    }
}
