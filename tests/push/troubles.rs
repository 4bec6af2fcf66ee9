//! Hosts with which something is wrong: each is a row, and none harms the others.

use ccm_testkit::{needs_root, shell};

use crate::stand_in::{document, host, push, site};

/// Name of a host, kind of its failure, and what the report says.
const TROUBLES: &[(&str, &str, &[&str])] = &[
    ("dead1", "unreachable", &["dead1: not reached", "Connection refused", "dead1 true` shows why"]),
    ("changed1", "unreachable", &["Host key verification failed."]),
    ("screen1", "unreachable", &["screen1: not reached", "owned"]),
    ("none1", "no_program", &["none1: failed: ccm is not there", "--install"]),
    (
        "old1",
        "not_ready",
        &["old1: failed: ccm there took no push", "unrecognized subcommand", "same version"],
    ),
    ("other1", "other_protocol", &["other1: failed: its ccm speaks another protocol"]),
    ("rubbish1", "rubbish", &["rubbish1: failed: it prints what is no event of ccm: hello"]),
    ("hostile1", "rubbish", &["hostile1: failed: it prints what is no event of ccm"]),
    ("line1", "too_much", &["line1: failed: it prints a line of more than"]),
    ("flood1", "rubbish", &["flood1: failed: it prints what is no event"]),
    ("errors1", "not_ready", &["errors1: failed: ccm there took no push, and ended with exit code 9"]),
    ("dies1", "died", &["dies1: failed: the connection ended during the run", "`ccm status` on dies1"]),
];

/// Hosts with which nothing is wrong, although they are strange.
const GOOD: [&str; 3] = ["web1", "noisy1", "shy1"];

#[test]
fn each_trouble_is_named_and_harms_no_other_host() {
    let names: Vec<_> = TROUBLES.iter().map(|(name, ..)| *name).chain(GOOD).collect();
    let scratch = site(&names);
    let called = push(&scratch, &["*", "site/site.yaml"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    for (name, _, parts) in TROUBLES {
        for part in *parts {
            assert!(called.stdout.contains(part), "{name}: {part}: {}", called.stdout);
        }
    }
    let screen = format!("{}{}", called.stdout, called.stderr);
    assert!(!screen.contains(|sign: char| sign.is_control() && sign != '\n'), "{screen:?}");
    assert!(screen.len() < 64 << 10, "{}", screen.len());
    assert!(called.stdout.contains("3 hosts: 1 change\n"), "{}", called.stdout);
    let called = push(&scratch, &["*", "site/site.yaml", "--json"]).run();
    let document = document(&called);
    for (name, kind, _) in TROUBLES {
        assert_eq!(host(&document, name)["failure"]["kind"], *kind, "{name}");
    }
    for name in GOOD {
        assert_eq!(host(&document, name)["outcome"], "unchanged", "{name}");
    }
    assert!(!called.stdout.contains(|sign: char| sign.is_control() && sign != '\n'), "{}", called.stdout);
    let top = scratch.path().display();
    assert_eq!(
        shell(
            &format!("pgrep -f '[h]osts/.*/bin/ccm' | xargs -r ps -o args= | grep -F {top} || :"),
            scratch.path()
        ),
        ""
    );
}

#[test]
fn a_connection_is_tried_twice() {
    let scratch = site(&["dead1", "shy1"]);
    push(&scratch, &["*", "site/site.yaml"]).run();
    for name in ["dead1", "shy1"] {
        let calls = scratch.read(&format!("hosts/{name}/calls")).unwrap_or_default();
        assert_eq!(calls.lines().count(), 2, "{name}: {calls}");
    }
}

#[test]
fn a_full_disk_and_a_wrong_manifest_are_told_in_the_words_of_the_host() {
    if !needs_root() {
        return;
    }
    let scratch = site(&["full1", "web1"]);
    let called = push(&scratch, &["*", "site/site.yaml"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains("full1: failed: nothing was run"), "{}", called.shown());
    assert!(called.stdout.contains("No space left on device"), "{}", called.shown());
    scratch.write("site/site.yaml", "ccm:\n  resources:\n    - fil:\n        - /a: {}\n");
    let called = push(&scratch, &["web1", "site/site.yaml", "-q"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains("web1: failed: nothing was run"), "{}", called.shown());
    assert!(called.stdout.contains("site.yaml:3:7: "), "{}", called.shown());
}
