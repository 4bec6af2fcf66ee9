//! `ccm facts`: the facts of this machine.

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::{expect_error, expect_warnings};

/// Shows facts with custom ones below the test's directory.
fn facts(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["facts"]).args(args).variable("XDG_CONFIG_HOME", &scratch.at("config")).run()
}

#[test]
fn all_facts_or_a_part_of_them_are_printed() {
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
fn raw_values_have_no_quotes() {
    let scratch = Scratch::new();
    let custom = ["--fact", "site.name=north", "--fact", "site.rack=7"];
    let raw = |path: &str| facts(&scratch, &[&["--raw", path], &custom[..]].concat());
    for (path, text) in [("host.info.os", "linux\n"), ("site.rack", "7\n"), ("site.name", "north\n")] {
        assert_eq!((raw(path).code, raw(path).stdout), (0, text.to_owned()));
    }
    let names = raw("network.interfaces.#.name");
    assert!(names.stdout.lines().any(|name| name == "lo"), "{}", names.shown());
    expect_error(&raw("site"), 1, "", &["`site` is a map"], &["`site.name`"]);
    expect_error(
        &facts(&scratch, &["--raw"]),
        64,
        "",
        &["<PATH>"],
        &["ccm facts --raw host.info.platformFamily"],
    );
    expect_error(&facts(&scratch, &["--raw", "--yaml", "host"]), 64, "", &["'--raw'", "'--yaml'"], &[]);
}

#[test]
fn later_custom_facts_win() {
    let scratch = Scratch::new();
    scratch.write("config/ccm/facts.json", r#"{"role": "db", "site": {"name": "north", "rack": 7}}"#);
    scratch.write("config/ccm/facts.d/site.yaml", "site: {name: south}\nnote: '{{ Environ.HOME }}'\n");
    scratch.write("more.yaml", "site: {rack: 8}\n");
    scratch.write("most.json", r#"{"site": {"row": 1}}"#);
    let more = ["--facts", "more.yaml", "--facts", "most.json", "--fact", "site.row=2"];
    assert_snapshot!("facts", facts(&scratch, &[&["site"], &more[..]].concat()).shown());
    assert_eq!(facts(&scratch, &["role", "--fact", "role=web"]).stdout, "\"web\"\n");
    // A fact is never evaluated as an expression.
    assert_eq!(facts(&scratch, &["note"]).stdout, "\"{{ Environ.HOME }}\"\n");
}

#[test]
fn lists_of_facts_are_replaced() {
    let scratch = Scratch::new();
    scratch.write("config/ccm/facts.yml", "roles: [db, web]\nsite: {racks: [1, 2], name: north}\n");
    scratch.write("config/ccm/facts.d/a.yml", "roles: [mail]\n");
    assert_eq!(facts(&scratch, &["roles", "--raw"]).stdout, "mail\n");
    scratch.write("more.yaml", "site: {racks: [7]}\n");
    assert_eq!(facts(&scratch, &["site.racks", "--raw", "--facts", "more.yaml"]).stdout, "7\n");
    assert_eq!(facts(&scratch, &["site.name", "--raw", "--facts", "more.yaml"]).stdout, "north\n");
}

#[test]
fn a_fact_that_nothing_uses_is_named() {
    let scratch = Scratch::new();
    scratch.write(
        "m.yaml",
        "ccm:\n  resources:\n    - file:\n        - /srv/x: {content: \"{{ Facts.role }} {{ lookup('facts.site.name', '') }}\"}\n",
    );
    for (fact, nearest) in [
        ("role=web", None),
        ("site.name=north", None),
        ("site={}", None),
        ("rol=web", Some("`role`")),
        ("site.nmae=north", Some("`site.name`")),
        ("banana=1", Some("")),
    ] {
        let called = ccm(&scratch, &["validate", "m.yaml", "--fact", "role=db", "--fact", fact]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        let is_warned = called.stderr.contains("no expression uses this fact");
        assert_eq!(is_warned, nearest.is_some(), "{fact}: {}", called.shown());
        assert!(called.stderr.contains(nearest.unwrap_or_default()), "{fact}: {}", called.shown());
    }
}

#[test]
fn an_unknown_path_comes_with_the_nearest_known_one() {
    let scratch = Scratch::new();
    for (path, nearest) in
        [("host.inof.os", "`host.info.os`"), ("netwrok", "`network`"), ("facts.host.info", "`host.info`")]
    {
        expect_error(&facts(&scratch, &[path]), 1, "", &[&format!("at `{path}`")], &[nearest]);
    }
    let open = facts(&scratch, &["host.#(os"]);
    expect_error(&open, 1, "", &["path `host.#(os`", "`)`"], &[]);
}

#[test]
fn unusable_files_of_facts_are_refused() {
    let scratch = Scratch::new();
    scratch.write("broken.yaml", "role: web\nsite: {name: south\n");
    scratch.write("broken.json", "{\n  \"role\": web\n}\n");
    scratch.write("list.yaml", "- role\n");
    let expect = |file: &str, location: &str, message: &[&str], hints: &[&str]| {
        expect_error(&facts(&scratch, &["role", "--facts", file]), 1, location, message, hints);
    };
    expect("broken.yaml", "broken.yaml:2:7", &["bracket", "`{`"], &[]);
    expect("broken.json", "broken.json:2:11", &["expected value"], &[]);
    expect("list.yaml", "list.yaml:1:1", &["map of facts", "a list"], &[]);
    expect("missing.yaml", "", &["missing.yaml", "No such file"], &["check the path"]);
    expect("https://example.net/facts.yaml", "", &["https://example.net/facts.yaml", "URL"], &["file"]);
    let assignment = facts(&scratch, &["role", "--fact", "role"]);
    expect_error(&assignment, 64, "", &["--fact", "`=`"], &["`port=8080`"]);
}

#[test]
fn a_misspelt_path_has_a_suggestion() {
    let scratch = Scratch::new();
    scratch.write("more.yaml", "role: web\n");
    for args in [&["host.info.hostnam"][..], &["host.info.hostnam", "--facts", "more.yaml"]] {
        expect_error(&facts(&scratch, args), 1, "", &["`host.info.hostnam`"], &["`host.info.hostname`"]);
    }
}

#[test]
fn untrusted_files_of_custom_facts_are_skipped_with_a_warning() {
    let scratch = Scratch::new();
    let real = scratch.write("real.yaml", "role: linked\n");
    scratch.write("config/ccm/facts.d/a.yaml", "role: web\n");
    scratch.write("config/ccm/facts.d/huge.yaml", "x: 1\n".repeat(300_000));
    scratch.write("config/ccm/facts.d/bytes.yaml", b"x: \xff\n");
    std::os::unix::fs::symlink(real, scratch.path().join("config/ccm/facts.d/link.yaml")).expect("a link");
    scratch.write("config/ccm/facts.d/role.sh", "#!/bin/sh\necho role=db\n");
    scratch.write("config/ccm/facts.d/.role.yaml.swp", "");
    let called = facts(&scratch, &["role"]);
    assert_eq!((called.code, &*called.stdout), (0, "\"web\"\n"));
    let file = |name: &str| format!("\"[dir]/config/ccm/facts.d/{name}.yaml\"");
    let [bytes, huge, link] = ["bytes", "huge", "link"].map(file);
    expect_warnings(
        &called,
        &[
            ("", &[&bytes, "UTF-8", "line 1, column 4", "0xFF"], &[]),
            ("", &[&huge, "1048576 bytes"], &[]),
            ("", &[&link, "symbolic link"], &[]),
            ("", &["\"[dir]/config/ccm/facts.d/role.sh\" is not read", "no program is run"], &[]),
        ],
    );
}
