//! `ccm facts`: what is true of this machine.

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;

use crate::ccm;

/// Shows facts with custom ones below the test's directory.
fn facts(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["facts"]).args(args).variable("XDG_CONFIG_HOME", &scratch.at("config")).run()
}

#[test]
fn all_facts_are_shown_and_a_part_of_them() {
    let scratch = Scratch::new();
    let all = facts(&scratch, &[]);
    assert_eq!((all.code, &*all.stderr), (0, ""));
    let all: serde_json::Value = serde_json::from_str(&all.stdout).expect("JSON");
    for part in ["host", "cpu", "memory", "network", "partition"] {
        assert!(all.get(part).is_some_and(|part| !part.is_null()), "{part}");
    }
    let os = facts(&scratch, &["host.info.os"]);
    assert_eq!(os.stdout, "\"linux\"\n");
    let count = facts(&scratch, &["cpu.info.#"]);
    assert!(count.stdout.trim().parse::<u32>().is_ok_and(|count| count > 0), "{}", count.shown());
    let info = facts(&scratch, &["host.info", "--yaml"]);
    assert!(info.stdout.contains("\nos: linux\n"), "{}", info.shown());
    let read: serde_yaml::Value = serde_yaml::from_str(&info.stdout).expect("YAML");
    assert_eq!(read["kernelArch"], all["host"]["info"]["kernelArch"].as_str().unwrap_or_default());
}

#[test]
fn custom_facts_are_among_them_and_later_ones_win() {
    let scratch = Scratch::new();
    scratch.write("config/ccm/facts.json", r#"{"role": "db", "site": {"name": "north", "rack": 7}}"#);
    scratch.write("config/ccm/facts.d/site.yaml", "site: {name: south}\nnote: '{{ Environ.HOME }}'\n");
    scratch.write("more.yaml", "site: {rack: 8}\n");
    scratch.write("most.json", r#"{"site": {"row": 1}}"#);
    let more = ["--facts", "more.yaml", "--facts", "most.json", "--fact", "site.row=2"];
    assert_snapshot!(facts(&scratch, &[&["site"], &more[..]].concat()).shown());
    assert_eq!(facts(&scratch, &["role", "--fact", "role=web"]).stdout, "\"web\"\n");
    // A fact is what it is, and never an expression.
    assert_eq!(facts(&scratch, &["note"]).stdout, "\"{{ Environ.HOME }}\"\n");
}

#[test]
fn what_is_not_there_names_the_nearest() {
    let scratch = Scratch::new();
    for (name, path) in [
        ("facts_misspelt", "host.inof.os"),
        ("facts_misspelt_root", "netwrok"),
        ("facts_with_root", "facts.host.info"),
        ("facts_bad_path", "host.#(os"),
    ] {
        let called = facts(&scratch, &[path]);
        assert_eq!((called.code, &*called.stdout), (1, ""));
        assert_snapshot!(name, called.shown());
    }
}

#[test]
fn what_is_wrong_with_files_of_facts_is_told() {
    let scratch = Scratch::new();
    scratch.write("broken.yaml", "role: web\nsite: {name: south\n");
    scratch.write("broken.json", "{\n  \"role\": web\n}\n");
    scratch.write("list.yaml", "- role\n");
    for (name, given) in [
        ("facts_broken_yaml", "broken.yaml"),
        ("facts_broken_json", "broken.json"),
        ("facts_no_map", "list.yaml"),
        ("facts_missing", "missing.yaml"),
        ("facts_url", "https://example.net/facts.yaml"),
    ] {
        let called = facts(&scratch, &["role", "--facts", given]);
        assert_eq!((called.code, &*called.stdout), (1, ""));
        assert_snapshot!(name, called.shown());
    }
    assert_snapshot!("facts_bad_assignment", facts(&scratch, &["role", "--fact", "role"]).shown());
}

#[test]
fn a_file_of_custom_facts_that_is_not_to_be_trusted_is_left_out() {
    let scratch = Scratch::new();
    let real = scratch.write("real.yaml", "role: linked\n");
    scratch.write("config/ccm/facts.d/a.yaml", "role: web\n");
    scratch.write("config/ccm/facts.d/huge.yaml", "x: 1\n".repeat(300_000));
    scratch.write("config/ccm/facts.d/bytes.yaml", b"x: \xff\n");
    std::os::unix::fs::symlink(real, scratch.path().join("config/ccm/facts.d/link.yaml")).expect("a link");
    let called = facts(&scratch, &["role"]);
    assert_eq!((called.code, &*called.stdout), (0, "\"web\"\n"));
    assert_snapshot!(called.shown());
}
