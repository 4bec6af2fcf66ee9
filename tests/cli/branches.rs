//! Branches of git that machines follow.

use ccm_testkit::{Called, Scratch, shell};
use serde_json::Value;

use crate::ccm;

/// A repository with a manifest, and a key that may sign.
fn site() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n[gpg]\n\tformat = ssh\n");
    shell(
        "ssh-keygen -q -t ed25519 -N '' -C ops -f key && echo \"ops namespaces=\\\"git\\\" $(cat key.pub)\" > signers
        git init -q -b main site",
        scratch.path(),
    );
    publish(&scratch, "one", true);
    scratch
}

/// Commits a manifest that writes a text.
fn publish(scratch: &Scratch, text: &str, is_signed: bool) {
    let path = scratch.at("text");
    scratch.write(
        "site/site.yaml",
        format!("ccm:\n  resources:\n    - file:\n        - {path}: {{source: files/text}}\n"),
    );
    scratch.write("site/files/text", text);
    commit(scratch, text, is_signed);
}

fn commit(scratch: &Scratch, message: &str, is_signed: bool) {
    let sign = if is_signed { "-S" } else { "" };
    let script = format!(
        "export GIT_CONFIG_GLOBAL=$PWD/gitconfig; key=$PWD/key; cd site && git add -A && \
         git -c user.signingkey=$key commit -q {sign} -m '{message}' && echo done"
    );
    assert_eq!(shell(&script, scratch.path()), "done\n");
}

fn succeeded(called: Called) -> Called {
    assert_eq!(called.code, 0, "{}", called.shown());
    called
}

fn address(scratch: &Scratch) -> String {
    format!("git+file://{}#main", scratch.at("site"))
}

fn apply(scratch: &Scratch, signers: &str, options: &[&str]) -> Called {
    let address = address(scratch);
    let words = [&["apply", "--from", &*address, "--signers", signers], options].concat();
    ccm(scratch, &words).run()
}

fn document(scratch: &Scratch, words: &[&str]) -> Value {
    let called = succeeded(ccm(scratch, words).run());
    serde_json::from_str(&called.stdout).expect("a document")
}

#[test]
fn a_machine_follows_a_branch() {
    let scratch = site();
    let head = |name: &str| shell(&format!("git -C site rev-parse {name}"), scratch.path()).trim().to_owned();
    let noop = succeeded(apply(&scratch, "signers", &["--noop"]));
    assert!(noop.stderr.contains("signed by ops, would be accepted"), "{}", noop.shown());
    assert!(scratch.read("text").is_none());
    let first = succeeded(apply(&scratch, "signers", &[]));
    let (commit, root) = (head("main"), head("main"));
    let accepted = format!("commit {}, signed by ops, is accepted", &commit[..12]);
    assert!(first.stderr.contains(&accepted), "{}", first.shown());
    assert!(first.stderr.contains(&format!("its history begins with {root}")), "{}", first.shown());
    assert_eq!(scratch.read("text").as_deref(), Some("one"));
    let again = succeeded(apply(&scratch, "signers", &["--root", &root]));
    assert!(again.stderr.is_empty() && again.stdout.contains("unchanged"), "{}", again.shown());
    publish(&scratch, "two", true);
    let second = succeeded(apply(&scratch, "signers", &[]));
    assert!(!second.stderr.contains("its history begins"), "{}", second.shown());
    assert_eq!(scratch.read("text").as_deref(), Some("two"));
    let history = document(&scratch, &["history", "last", "--json"]);
    assert_eq!(history["run"]["source"]["version"], head("main"), "{history}");
    let shown = succeeded(ccm(&scratch, &["history", "last"]).run());
    assert!(shown.stdout.contains(&format!(", commit {}, ", &head("main")[..12])), "{}", shown.shown());
    // Every run of the source is one manifest.
    let status = document(&scratch, &["status", "--json"]);
    assert_eq!(status["manifests"].as_array().map(Vec::len), Some(1), "{status}");
    let listed = document(&scratch, &["source", "list", "--json"]);
    assert_eq!(listed[0]["accepted"]["commit"]["root"], root, "{listed}");
    assert_eq!(listed[0]["applied"], listed[0]["accepted"]["digest"]);
    let table = succeeded(ccm(&scratch, &["source", "list"]).run());
    assert!(table.stdout.contains(&head("main")[..12]) && table.stdout.contains("main"), "{}", table.shown());
}

#[test]
fn a_broken_commit_heals_by_its_fix() {
    let scratch = site();
    succeeded(apply(&scratch, "signers", &[]));
    scratch.write("site/site.yaml", "ccm: {resources: [{file: [{/x: {contnet: y}}]}]}\n");
    commit(&scratch, "broken", true);
    let kept = succeeded(apply(&scratch, "signers", &[]));
    assert!(kept.stderr.contains("warning: site-"), "{}", kept.shown());
    assert!(kept.stderr.contains("is refused: its manifest has 1 error: site.yaml:1:"), "{}", kept.shown());
    assert!(kept.stdout.contains("unchanged"), "{}", kept.shown());
    // The reason is told once as a warning.
    let again = succeeded(apply(&scratch, "signers", &[]));
    assert!(again.stderr.starts_with("note: site-"), "{}", again.shown());
    assert_eq!(ccm(&scratch, &["status", "--check"]).run().code, 1);
    publish(&scratch, "fixed", true);
    succeeded(apply(&scratch, "signers", &[]));
    assert_eq!(scratch.read("text").as_deref(), Some("fixed"));
    succeeded(ccm(&scratch, &["status", "--check"]).run());
}

#[test]
fn only_signed_commits_count_as_signed() {
    let scratch = site();
    succeeded(apply(&scratch, "signers", &["--require-signed"]));
    publish(&scratch, "unsigned", false);
    let kept = succeeded(apply(&scratch, "signers", &["--require-signed"]));
    assert!(kept.stderr.contains("it is not signed"), "{}", kept.shown());
    assert_eq!(scratch.read("text").as_deref(), Some("one"));
    let given_up = succeeded(apply(&scratch, "none", &[]));
    assert!(given_up.stderr.contains("are not verified any more"), "{}", given_up.shown());
    assert_eq!(scratch.read("text").as_deref(), Some("one"));
    let listed = document(&scratch, &["source", "list", "--json"]);
    let name = listed[0]["name"].as_str().expect("a name");
    succeeded(ccm(&scratch, &["source", "forget", name]).run());
    let unsigned = succeeded(apply(&scratch, "none", &[]));
    assert!(unsigned.stderr.contains("which nobody has to sign, is accepted"), "{}", unsigned.shown());
    assert_eq!(scratch.read("text").as_deref(), Some("unsigned"));
    let required = apply(&scratch, "none", &["--require-signed"]);
    assert_eq!(required.code, 1, "{}", required.shown());
    assert!(
        required.stderr.contains("nobody has to sign the versions of its source"),
        "{}",
        required.shown()
    );
}

#[test]
fn mistakes_with_branches_are_told() {
    let scratch = site();
    let address = address(&scratch);
    for (from, options, message) in [
        ("git+https://h/x.git", &["--signers", "none"][..], "names no branch"),
        ("git+http://h/x.git#main", &["--signers", "none"], "is not fetched without encryption"),
        ("git+https://h/x.git#a..b", &["--signers", "none"], "is no name of a branch"),
        ("git+https://h/x.git#main:../x", &["--signers", "none"], "is no path in a repository"),
        ("git+ftp://h/x.git#main", &["--signers", "none"], "sources of git+ftp are not supported"),
        ("git+https://ada:hunter2@h/x#main", &["--signers", "none"], "must not contain a password"),
        (&*address, &["--signers", "nobody"], "there is no file of"),
        (&*address, &["--signers", "none", "--channel", "base"], "a branch has no channel"),
        (&*address, &["--signers", "signers", "--threshold", "2"], "a commit has one signature"),
        (&*address, &["--signers", "none", "--root", "abc"], "is not the full hash of a commit"),
        ("base.release", &["--signers", "none"], "a release has to be signed"),
        ("base.release", &["--signers", "signers", "--allow-rewind"], "a release has no commits"),
    ] {
        let words = [&["apply", "--from", from], options].concat();
        let called = ccm(&scratch, &words).run();
        assert_eq!(called.code, 1, "{words:?}: {}", called.shown());
        assert!(called.stderr.contains(message), "{words:?}: {}", called.shown());
        assert!(!called.stderr.contains("hunter2"), "{}", called.shown());
    }
}

#[test]
fn a_timer_follows_a_branch() {
    let scratch = site();
    let address = address(&scratch);
    let words = ["timer", "install", "--noop", "--from", &*address, "--signers", "none"];
    let called = succeeded(ccm(&scratch, &words).variable("HOME", "/home/ada").run());
    let expected = "/site#main --signers none ";
    assert!(called.stdout.contains(expected), "{}", called.shown());
}

#[test]
fn a_source_is_rewound_until_a_newer_version_comes() {
    let scratch = site();
    let text = || scratch.read("text").unwrap_or_default();
    succeeded(apply(&scratch, "signers", &[]));
    let name =
        document(&scratch, &["source", "list", "--json"])[0]["name"].as_str().expect("a name").to_owned();
    let rewind = |options: &[&str]| ccm(&scratch, &[&["source", "rewind", &*name], options].concat()).run();
    let first = rewind(&["--reason", "x"]);
    assert!(
        first.code == 1 && first.stderr.contains("no version was accepted before commit"),
        "{}",
        first.shown()
    );
    let commit =
        |name: &str| shell(&format!("git -C site rev-parse {name}"), scratch.path())[..12].to_owned();
    publish(&scratch, "two", true);
    succeeded(apply(&scratch, "signers", &[]));
    let rewound = succeeded(rewind(&["--reason", "two breaks\u{1b} the shop"]));
    let (one, two) = (commit("main~1"), commit("main"));
    let expected = format!("{name}: runs apply commit {one}, until one comes after commit {two}\n");
    assert_eq!(rewound.stdout, expected);
    for _ in 0..2 {
        let applied = succeeded(apply(&scratch, "signers", &[]));
        let note = format!("is rewound to commit {one}: two breaks");
        assert!(applied.stderr.contains(&note) && !applied.stderr.contains('\u{1b}'), "{}", applied.shown());
        assert_eq!(text(), "one");
    }
    let noop = succeeded(apply(&scratch, "signers", &["--noop"]));
    assert!(noop.stdout.contains("unchanged"), "{}", noop.shown());
    let listed = succeeded(ccm(&scratch, &["source", "list"]).run());
    assert!(listed.stdout.contains(&format!("rewound to commit {one}: two breaks")), "{}", listed.shown());
    let again = rewind(&["--reason", "more"]);
    assert!(again.code == 1 && again.stderr.contains("was rewound to commit"), "{}", again.shown());
    // Forward, back, and past it.
    succeeded(rewind(&["--forward"]));
    succeeded(apply(&scratch, "signers", &[]));
    assert_eq!(text(), "two");
    let not = rewind(&["--forward"]);
    assert!(not.code == 1 && not.stderr.contains("the source was not rewound"), "{}", not.shown());
    succeeded(rewind(&["--reason", "again"]));
    publish(&scratch, "three", true);
    succeeded(apply(&scratch, "signers", &[]));
    assert_eq!(text(), "three");
    let listed = document(&scratch, &["source", "list", "--json"]);
    assert!(listed[0].get("rewound").is_none(), "{listed}");
    let unknown = ccm(&scratch, &["source", "rewind", "nobody", "--forward"]).run();
    assert!(unknown.code == 1 && unknown.stderr.contains("there is no source nobody"), "{}", unknown.shown());
}

#[test]
fn a_source_is_validated_without_being_accepted() {
    let scratch = site();
    let address = address(&scratch);
    let validate = |options: &[&str]| {
        let state = scratch.state().display().to_string();
        let words = ["validate", "--state-dir", &*state, "--from", &*address, "--signers", "signers"];
        let words = [&words[..], options].concat();
        ccm(&scratch, &words).run()
    };
    let valid = succeeded(validate(&[]));
    assert!(valid.stdout.contains(":site.yaml is valid: 1 resource"), "{}", valid.shown());
    let sources = document(&scratch, &["source", "list", "--json"]);
    assert_eq!(sources.as_array().map(Vec::len), Some(0), "{sources}");
    let json = succeeded(validate(&["--json"]));
    let json: Value = serde_json::from_str(&json.stdout).expect("a document");
    assert_eq!(json["manifests"][0]["valid"], true, "{json}");
    succeeded(apply(&scratch, "signers", &[]));
    scratch.write("site/site.yaml", "ccm: {resources: [{file: [{/x: {contnet: y}}]}]}\n");
    commit(&scratch, "broken", true);
    let broken = validate(&[]);
    assert_eq!(broken.code, 1, "{}", broken.shown());
    assert!(broken.stderr.contains("what the source offers is refused: commit "), "{}", broken.shown());
    assert!(broken.stderr.contains("its manifest has 1 error"), "{}", broken.shown());
    let several = validate(&["a.yaml", "b.yaml"]);
    assert!(several.code == 64 && several.stderr.contains("there is one manifest"), "{}", several.shown());
    let nats = ccm(&scratch, &["validate", "--from", "nats://h/base", "--signers", "none"]).run();
    assert!(nats.code == 1 && nats.stderr.contains("sources of nats are not supported"), "{}", nats.shown());
}
