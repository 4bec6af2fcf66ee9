//! Releases: built, signed, followed by machines.

use ccm_testkit::{Called, Scratch, needs_root, shell};

use crate::ccm;
use crate::confined::kernel_can;

/// A directory with a manifest, and a key that may sign.
pub(crate) fn site() -> Scratch {
    let scratch = Scratch::new();
    manifest(&scratch, "one");
    scratch.write("site/files/motd", "Welcome\n");
    shell(
        "ssh-keygen -q -t ed25519 -N '' -C ops -f key && echo \"ops $(cat key.pub)\" > signers",
        scratch.path(),
    );
    scratch
}

fn manifest(scratch: &Scratch, content: &str) {
    let (copy, text) = (scratch.at("motd"), scratch.at("text"));
    scratch.write(
        "site/site.yaml",
        format!(
            "ccm:\n  resources:\n    - file:\n        - {copy}: {{source: files/motd}}\n        - {text}: {{content: {content}}}\n    \
             - exec:\n        - note:\n            command: touch {}\n            refresh_only: true\n            subscribe: [file#{text}]\n",
            scratch.at("refreshed")
        ),
    );
}

pub(crate) fn publish(scratch: &Scratch, version: &str, options: &[&str]) {
    let mut words =
        vec!["release", "build", "site", "--channel", "base", "--version", version, "-o", "base.release"];
    words.extend(options);
    succeeded(ccm(scratch, &words).run());
    succeeded(ccm(scratch, &["release", "sign", "base.release", "--key", "key"]).run());
}

pub(crate) fn succeeded(called: Called) -> Called {
    assert_eq!(called.code, 0, "{}", called.shown());
    called
}

pub(crate) const FROM: [&str; 4] = ["--from", "base.release", "--signers", "signers"];

fn apply(scratch: &Scratch, options: &[&str]) -> Called {
    let mut words = vec!["apply"];
    words.extend(FROM);
    words.extend(options);
    ccm(scratch, &words).run()
}

#[test]
fn a_release_is_built_signed_shown_and_verified() {
    let scratch = site();
    let built = ccm(
        &scratch,
        &[
            "release",
            "build",
            "site",
            "--channel",
            "base",
            "--version",
            "42",
            "--wave",
            "1%:0s",
            "--wave",
            "100%:5h",
            "--splay",
            "1m",
            "--expires",
            "30d",
            "--note",
            "the first",
            "--min-ccm",
            "0.1.0",
            "-o",
            "base.release",
            "--json",
        ],
    )
    .run();
    let document: serde_json::Value = serde_json::from_str(&built.stdout).expect("one document");
    assert_eq!((&document["channel"], &document["version"]), (&"base".into(), &42.into()));
    let verify = ["release", "verify", "base.release", "--signers", "signers"];
    let unsigned = ccm(&scratch, &verify).run();
    assert_eq!(unsigned.code, 1);
    assert!(unsigned.stderr.contains("signed by 0 of 1 people"), "{}", unsigned.shown());
    let signed = succeeded(ccm(&scratch, &["release", "sign", "base.release", "--key", "key"]).run());
    for line in [
        "waves       1 % at once, 100 % after 5h",
        "splay       1m",
        "note        the first",
        "needs       ccm 0.1.0",
    ] {
        assert!(signed.stdout.contains(line), "{line}: {}", signed.shown());
    }
    let verified = succeeded(ccm(&scratch, &verify).run());
    assert!(
        verified.stdout.contains("version 42 of base, signed by ops, with its bundle"),
        "{}",
        verified.shown()
    );
    let two = ccm(&scratch, &[&verify[..], &["--threshold", "2"]].concat()).run();
    assert!(two.code == 1 && two.stderr.contains("signed by 1 of 2 people"), "{}", two.shown());
    let shown = succeeded(ccm(&scratch, &["release", "show", "base.release"]).run());
    assert!(shown.stdout.contains("signatures  1, not verified here: SHA256:"), "{}", shown.shown());
}

#[test]
fn the_same_directory_gives_the_same_bundle() {
    let scratch = site();
    let digest = |scratch: &Scratch| {
        publish(scratch, "1", &[]);
        let shown = succeeded(ccm(scratch, &["release", "show", "base.release", "--json"]).run());
        let document: serde_json::Value = serde_json::from_str(&shown.stdout).expect("a document");
        document["bundle"]["sha256"].to_string()
    };
    let first = digest(&scratch);
    shell(
        "touch -d 2001-01-01 site/files/motd && chmod 600 site/files/motd && mkdir -p site/.git",
        scratch.path(),
    );
    assert_eq!(digest(&scratch), first);
    scratch.write("site/.ccmignore", "*.swp\nnotes/\n");
    scratch.write("site/files/.motd.swp", "x");
    scratch.write("site/notes/today", "x");
    assert_eq!(digest(&scratch), first);
    scratch.write("site/files/motd", "Hello\n");
    assert_ne!(digest(&scratch), first);
}

#[test]
fn what_must_not_be_released_is_refused() {
    for (path, content, message) in [
        (
            "site/site.yaml",
            "ccm: {resources: [{file: [{/x: {contnet: y}}]}]}\n",
            "the manifests are not valid; nothing was built",
        ),
        ("site/.env", "PASSWORD=hunter2\n", "\".env\" holds secrets of one machine; nothing was built"),
        (
            "site/files/id",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n",
            "\"files/id\" is a private key; nothing was built",
        ),
    ] {
        let scratch = site();
        scratch.write(path, content);
        let words = ["release", "build", "site", "--channel", "base", "--version", "1", "-o", "base.release"];
        let called = ccm(&scratch, &words).run();
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains(message), "{}", called.shown());
        assert!(scratch.read("base.release").is_none());
    }
}

#[test]
fn a_machine_follows_a_release() {
    let scratch = site();
    publish(&scratch, "1", &[]);
    let noop = succeeded(apply(&scratch, &["--noop"]));
    assert!(noop.stderr.contains("version 1, signed by ops, would be accepted"), "{}", noop.shown());
    assert!(scratch.read("text").is_none());
    let first = succeeded(apply(&scratch, &[]));
    assert!(first.stderr.contains("version 1, signed by ops, is accepted"), "{}", first.shown());
    assert_eq!(scratch.read("motd").as_deref(), Some("Welcome\n"));
    let again = succeeded(apply(&scratch, &[]));
    assert!(again.stderr.is_empty() && again.stdout.contains("unchanged"), "{}", again.shown());
    manifest(&scratch, "two");
    publish(&scratch, "2", &[]);
    succeeded(apply(&scratch, &[]));
    assert_eq!(scratch.read("text").as_deref(), Some("two"));
    let history = succeeded(ccm(&scratch, &["history", "last", "--json"]).run());
    let history: serde_json::Value = serde_json::from_str(&history.stdout).expect("a document");
    assert_eq!(history["run"]["source"]["version"], 2, "{history}");
    // Every run of the source is one manifest.
    let status = succeeded(ccm(&scratch, &["status", "--json"]).run());
    let status: serde_json::Value = serde_json::from_str(&status.stdout).expect("a document");
    let manifests = status["manifests"].as_array().expect("a list");
    assert_eq!((manifests.len(), &manifests[0]["gone"]), (1, &false.into()), "{status}");
    let listed = succeeded(ccm(&scratch, &["source", "list", "--json"]).run());
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("a document");
    assert_eq!(listed[0]["accepted"]["version"], 2);
    assert_eq!(listed[0]["applied"], listed[0]["accepted"]["digest"]);
}

#[test]
fn a_manifest_of_a_release_counts_as_signed_without_other_values() {
    let scratch = site();
    publish(&scratch, "1", &[]);
    succeeded(apply(&scratch, &["--require-signed"]));
    assert_eq!(scratch.read("text").as_deref(), Some("one"));
    for values in [&["--data-any", "--data", "x=1"][..], &["--hiera", "values.yaml"]] {
        scratch.write("values.yaml", "data: {x: 1}\n");
        let called = apply(&scratch, &[&["--require-signed"], values].concat());
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains("are no part of it"), "{}", called.shown());
    }
    let unsigned = ccm(&scratch, &["apply", "--require-signed", "site/site.yaml"]).run();
    assert_eq!(unsigned.code, 1, "{}", unsigned.shown());
}

#[test]
fn a_pending_refresh_outlives_a_version() {
    let scratch = site();
    publish(&scratch, "1", &[]);
    // The refresh fails, because its directory is missing.
    let broken = "s#touch #touch /nonexistent#";
    shell(&format!("sed -i '{broken}' site/site.yaml"), scratch.path());
    publish(&scratch, "2", &[]);
    assert_eq!(apply(&scratch, &[]).code, 4);
    manifest(&scratch, "one");
    publish(&scratch, "3", &[]);
    succeeded(apply(&scratch, &[]));
    assert!(scratch.read("refreshed").is_some());
}

#[test]
fn what_is_offered_later_and_wrong_changes_nothing() {
    let scratch = site();
    publish(&scratch, "5", &[]);
    succeeded(apply(&scratch, &[]));
    manifest(&scratch, "two");
    publish(&scratch, "4", &[]);
    let older = succeeded(apply(&scratch, &[]));
    let reason = "stays at version 5: version 4 is refused: version 5 was accepted before";
    assert!(older.stderr.contains("warning: base-") && older.stderr.contains(reason), "{}", older.shown());
    // The reason is told once as a warning.
    let again = succeeded(apply(&scratch, &[]));
    assert!(again.stderr.starts_with("note: ") && again.stderr.contains(reason), "{}", again.shown());
    assert_eq!(scratch.read("text").as_deref(), Some("one"));
    let check = ccm(&scratch, &["status", "--check"]).run();
    assert!(check.code == 1 && check.stdout.contains(reason), "{}", check.shown());
    let name = "base-";
    let listed = succeeded(ccm(&scratch, &["source", "list"]).run());
    let name = listed.stdout.split_whitespace().find(|word| word.starts_with(name)).expect("a name");
    succeeded(ccm(&scratch, &["source", "forget", name]).run());
    succeeded(apply(&scratch, &[]));
    assert_eq!(scratch.read("text").as_deref(), Some("two"));
}

#[test]
fn mistakes_with_sources_are_told() {
    let scratch = site();
    publish(&scratch, "1", &[]);
    for (words, code, message) in [
        (&["apply", "--from", "base.release"][..], 64, "--signers <FILE>"),
        (&["apply", "--from", "base.release", "--signers", "nobody"], 1, "there is no file of signers"),
        (&["release", "verify", "base.release", "--signers", "nobody"], 1, "there is no file of signers"),
        (
            &["apply", "--from", "http://x/base.release", "--signers", "signers"],
            1,
            "is not fetched without encryption",
        ),
        (
            &["apply", "--from", "nats://x/base", "--signers", "signers"],
            1,
            "sources of nats are not supported",
        ),
        (
            &["apply", "--from", "site.yaml", "--signers", "signers"],
            1,
            "is no release, whose name ends in .release",
        ),
        (
            &["apply", "--from", "base.release", "--signers", "signers", "../x.yaml"],
            1,
            "is no path in a source",
        ),
        (&["apply", "--from", "base.release", "--signers", "signers", "web.yaml"], 1, "No such file"),
        (
            &["apply", "--from", "base.release", "--signers", "signers", "a.yaml", "b.yaml"],
            64,
            "there is one manifest",
        ),
        (&["apply", "--signers", "signers", "site/site.yaml"], 64, "--from <SOURCE>"),
        (&["source", "forget", "base"], 1, "there is no source base"),
        (&["release", "sign", "site/site.yaml"], 1, "is no release"),
        (
            &["release", "build", "site", "--channel", "base", "--version", "x", "-o", "y"],
            64,
            "invalid value 'x'",
        ),
        (
            &[
                "release",
                "build",
                "site",
                "--channel",
                "base",
                "--version",
                "1",
                "--wave",
                "10:1h",
                "-o",
                "y",
            ],
            64,
            "10%:1h",
        ),
    ] {
        let called = ccm(&scratch, words).run();
        assert_eq!(called.code, code, "{words:?}: {}", called.shown());
        assert!(called.stderr.contains(message), "{words:?}: {}", called.shown());
    }
}

/// Program of a release that another user runs. It finds nothing but what its command names, and can't change it.
const TOOL: &str = r#"#!/bin/sh
[ "$(id -u)" != 0 ] || exit 2
there=$(dirname "$0")
if [ -w "$0" ] || [ -w "$there" ]; then exit 3; fi
if [ -e "$there/../site.yaml" ] || [ -e "$there/../files" ]; then exit 4; fi
case $1 in
    alone) if [ -e "$there/lib" ]; then exit 5; fi ;;
    *) . "$there/lib" || exit 6 ;;
esac
"#;

/// A release with that program, and execs that each run it as another user.
fn site_of_others(execs: &[(&str, &str)]) -> Scratch {
    let scratch = site();
    scratch.write_program("site/bin/tool", TOOL);
    scratch.write("site/bin/lib", "name=lib\n");
    let execs: Vec<String> =
        execs.iter().map(|(name, rest)| format!("        - {name}: {{{rest}, user: nobody}}\n")).collect();
    scratch.write("site/site.yaml", format!("ccm:\n  resources:\n    - exec:\n{}", execs.concat()));
    // Others may pass, but find nothing in the state directory.
    shell("chmod 0711 . && mkdir tmp && chmod 1777 tmp", scratch.path());
    publish(&scratch, "1", &[]);
    scratch
}

#[test]
fn another_user_gets_a_copy_of_what_a_command_names() {
    if !needs_root() {
        return;
    }
    let scratch = site_of_others(&[
        ("alone", "command: '{{ Manifest.dir }}/bin/tool alone'"),
        ("interpreted", r#"command: 'sh "{{ Manifest.dir }}"/bin/tool alone', provider: shell"#),
        ("guarded", "command: 'true', onlyif: '{{ Manifest.dir }}/bin/tool alone'"),
        ("unguarded", "command: 'false', unless: '{{ Manifest.dir }}/bin/tool alone'"),
        // Copies stay until the run ends.
        ("named", "command: 'sh -c \"test -r $LIB\"', environment: {LIB: '{{ Manifest.dir }}/bin/lib'}"),
        ("beside", "command: ./tool, cwd: '{{ Manifest.dir }}/bin'"),
        ("searched", "command: tool searched, path: '{{ Manifest.dir }}/bin:/usr/bin:/bin'"),
    ]);
    for options in [&["--noop"][..], &[], &[]] {
        let words = [&["apply", "-v"], &FROM[..], options].concat();
        let called = ccm(&scratch, &words).variable("TMPDIR", &scratch.at("tmp")).run();
        assert_eq!(called.code, 0, "{options:?}: {}", called.shown());
        assert!(!called.stdout.contains("could not be started"), "{}", called.shown());
        let left = std::fs::read_dir(scratch.at("tmp")).expect("the directory").count();
        assert_eq!(left, 0, "{options:?}: copies are left");
    }
    let sources = scratch.state().join("sources");
    let opened = shell("find . -maxdepth 2 -perm /077", &sources);
    assert_eq!(opened, "", "others may enter the cache");
}

#[test]
fn a_name_that_a_release_lacks_shows_nothing_of_it() {
    if !needs_root() {
        return;
    }
    let scratch = site_of_others(&[
        ("missing", "command: '{{ Manifest.dir }}/bin/tools'"),
        ("outside", "command: 'cat {{ Manifest.dir }}/../../accepted.json'"),
        ("cache", "command: 'ls {{ Manifest.dir }}/..'"),
    ]);
    let words = [&["apply", "-v"], &FROM[..]].concat();
    let called = ccm(&scratch, &words).variable("TMPDIR", &scratch.at("tmp")).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    for name in ["missing", "outside", "cache"] {
        assert!(called.stdout.contains(&format!("x exec     {name} ")), "{name}: {}", called.shown());
    }
}

#[test]
fn a_sandbox_shows_another_user_what_it_opens() {
    if !needs_root() || !kernel_can(&Scratch::new()) {
        return;
    }
    let scratch = site_of_others(&[
        ("program", "command: bin/tool alone, sandbox: {}"),
        ("directory", "command: bin/tool beside, sandbox: {read: [bin]}"),
        ("whole", "command: 'test -r site.yaml', sandbox: {workdir: manifest}"),
    ]);
    for options in [&["--noop"][..], &[]] {
        let called = apply(&scratch, &[&["-v"], options].concat());
        assert_eq!(called.code, 0, "{options:?}: {}", called.shown());
    }
}
