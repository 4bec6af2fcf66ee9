//! Data files of the levels of a hierarchy, on the disk.

use std::os::unix::fs::symlink;

use ccm_testkit::{Called, Scratch};
use serde_json::{Value, json};

use crate::ccm;
use crate::expect::expect_error;

const MANIFEST: &str = "\
data:
  level: data
  # @merge unique
  packages: [ca-certificates]
  # @sensitive
  password: not-set-yet
hierarchy:
  order: ['host:{{ Facts.hostname }}', 'role:{{ Facts.role ?? \"none\" }}']
  data_dir: data
overrides:
  role:web: {packages: [openssl], level: override}
ccm:
  resources:
    - file:
        - ROOT/out: {content: '{{ Data.level }} {{ Data.packages }} {{ Data.password }}', mode: '0600'}
";

fn prepared() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("m.yaml", MANIFEST.replace("ROOT", &scratch.at("made")));
    scratch.write("made/keep", "");
    scratch.write("data/host/web1.yaml", "password: S3cr3t-of-web1\n");
    scratch.write("data/role/web.yaml", "level: role\npackages: [nginx, ca-certificates]\n");
    scratch
}

fn run(scratch: &Scratch, arguments: &[&str], facts: &[&str]) -> Called {
    let facts: Vec<&str> = facts.iter().flat_map(|fact| ["--fact", fact]).collect();
    ccm(scratch, arguments).args(&facts).run()
}

#[test]
fn each_machine_has_its_data() {
    let scratch = prepared();
    for (host, role, content) in [
        ("web1", "web", r#"data ["ca-certificates","openssl","nginx"] S3cr3t-of-web1"#),
        ("web1.example.net", "web", r#"data ["ca-certificates","openssl","nginx"] S3cr3t-of-web1"#),
        ("web2", "web", r#"role ["ca-certificates","openssl","nginx"] not-set-yet"#),
        ("web2", "db", r#"data ["ca-certificates"] not-set-yet"#),
    ] {
        let facts = [&*format!("hostname={host}"), &*format!("role={role}")];
        let called = run(&scratch, &["apply", "m.yaml", "-v", "--diff"], &facts);
        assert_eq!(called.code, 0, "{}", called.shown());
        assert_eq!(scratch.read("made/out").as_deref(), Some(content), "{}", called.shown());
        assert!(!called.stdout.contains("S3cr3t"), "{}", called.shown());
    }
    // The directory is beside the manifest.
    scratch.write("sub/m.yaml", MANIFEST.replace("ROOT", &scratch.at("made")));
    scratch.write("sub/data/host/web1.yaml", "level: of-sub\n");
    let facts = ["hostname=web1"];
    assert_eq!(run(&scratch, &["apply", "sub/m.yaml"], &facts).code, 0);
    let made = scratch.read("made/out").unwrap_or_default();
    assert!(made.starts_with("of-sub "), "{made}");
}

#[test]
fn facts_and_links_do_not_lead_out_of_the_directory() {
    let scratch = prepared();
    scratch.write("outside.yaml", "level: from-outside\n");
    scratch.write("data/within.yaml", "level: from-within\n");
    for (target, name) in
        [("../../outside.yaml", "linked"), ("/etc/hostname", "absolute"), ("../within.yaml", "within")]
    {
        symlink(target, scratch.path().join(format!("data/host/{name}.yaml"))).expect("a link");
    }
    for host in ["../../outside", "/etc/hostname", "..", "a/b", "x:..:outside", "x::y", ".."] {
        let called = run(&scratch, &["validate", "m.yaml"], &[&format!("hostname={host}")]);
        expect_error(&called, 1, "m.yaml:8:11", &["names no data file"], &["simple names"]);
    }
    for host in ["linked", "absolute"] {
        let called = run(&scratch, &["validate", "m.yaml"], &[&format!("hostname={host}")]);
        let message = format!("data/host/{host}.yaml` can't be read: a link leads out of the directory");
        expect_error(&called, 1, "m.yaml:8:11", &[&message], &[]);
        assert!(!called.shown().contains("from-outside"), "{}", called.shown());
    }
    let called = run(&scratch, &["hiera", "parse", "m.yaml", "hostname=within", "--query", "level"], &[]);
    assert_eq!(called.stdout, "\"from-within\"\n", "{}", called.shown());
}

#[test]
fn a_directory_that_does_not_exist_is_one_error() {
    let scratch = prepared();
    let misspelt = MANIFEST.replace("data_dir: data", "data_dir: dta");
    scratch.write("m.yaml", misspelt.replace("ROOT", &scratch.at("made")));
    let called = run(&scratch, &["validate", "m.yaml"], &["hostname=web1"]);
    expect_error(&called, 1, "m.yaml:9:13", &["the directory `[dir]/dta` does not exist"], &["path"]);
    assert!(called.stderr.contains("1 error in"), "{}", called.shown());
}

#[test]
fn errors_point_into_the_file() {
    let scratch = prepared();
    scratch.write("data/host/web1.yaml", "level: '{{ Facts.gone }}'\npackages: nginx\n");
    let called = run(&scratch, &["validate", "m.yaml", "--output", "json"], &["hostname=web1"]);
    assert_eq!(called.code, 1, "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let findings = document["manifests"][0]["findings"].as_array().expect("findings");
    let locations: Vec<String> = findings
        .iter()
        .map(|finding| {
            let at = &finding["location"];
            format!("{}:{}:{}", at["file"].as_str().unwrap_or_default(), at["line"], at["column"])
        })
        .collect();
    assert_eq!(locations, ["[dir]/data/host/web1.yaml:1:18", "[dir]/data/host/web1.yaml:2:11"]);
}

#[test]
fn a_broken_file_shows_no_secret() {
    for file in ["password: S3cr3t\npassword: S3cr3t-2\n", "password: \"S3cr3t\n", "password: S3cr3t: x\n"] {
        let scratch = prepared();
        scratch.write("data/host/web1.yaml", file);
        for arguments in [
            &["validate", "m.yaml"][..],
            &["validate", "m.yaml", "--output", "json"],
            &["apply", "m.yaml", "--noop"],
            &["hiera", "parse", "m.yaml", "hostname=web1"],
            &["hiera", "parse", "m.yaml", "hostname=web1", "--explain"],
        ] {
            let facts: &[&str] = if arguments[0] == "hiera" { &[] } else { &["hostname=web1"] };
            let called = run(&scratch, arguments, facts);
            assert_eq!(called.code, 1, "{file} {arguments:?}: {}", called.shown());
            assert!(called.shown().contains("web1.yaml"), "{file} {arguments:?}: {}", called.shown());
            assert!(!called.shown().contains("S3cr3t"), "{file} {arguments:?}: {}", called.shown());
        }
    }
}

#[test]
fn a_verbose_call_shows_what_each_level_gives() {
    let scratch = prepared();
    let facts = &["hostname=web1", "role=web"];
    let expected = [
        "data of m.yaml:\nhierarchy:\n",
        "`host:web1`: applied: [dir]/data/host/web1.yaml\n",
        "values:\n",
        "level     data: data\n",
        "password  [dir]/data/host/web1.yaml: [redacted]\n",
    ];
    for (args, is_explained) in [
        (&["validate", "m.yaml", "-v"][..], true),
        (&["apply", "--noop", "m.yaml", "-v"], true),
        (&["validate", "m.yaml"], false),
        (&["apply", "--noop", "m.yaml"], false),
        (&["apply", "--noop", "m.yaml", "-v", "--output", "log"], false),
    ] {
        let called = run(&scratch, args, facts);
        for part in expected {
            assert_eq!(called.stderr.contains(part), is_explained, "{part:?} {}", called.shown());
        }
    }
    scratch.write("plain.yaml", "data: {a: 1}\nccm: {resources: []}");
    let called = run(&scratch, &["validate", "plain.yaml", "-v"], &[]);
    assert_eq!(called.stderr, "", "only a hierarchy has levels");
}

#[test]
fn the_explanation_shows_what_each_level_gives() {
    let scratch = prepared();
    let explain = |more: &[&str]| {
        let arguments =
            [&["data", "parse", "m.yaml", "hostname=web1", "role=web", "--explain"], more].concat();
        run(&scratch, &arguments, &[])
    };
    let text = explain(&[]);
    let expected = "\
hierarchy:
  host:{{ Facts.hostname }}        `host:web1`: applied: data/host/web1.yaml
  role:{{ Facts.role ?? \"none\" }}  `role:web`: applied to keys with `@merge`: override `role:web` + data/role/web.yaml
values:
  level     data: data
  packages  data: [\"ca-certificates\"] + override `role:web`: [\"openssl\"] + data/role/web.yaml: [\"nginx\",\"ca-certificates\"] (@merge unique)
  password  data/host/web1.yaml: [redacted]
";
    assert_eq!((text.code, &*text.stdout, &*text.stderr), (0, expected, ""));
    assert!(explain(&["--show-sensitive"]).stdout.contains("password  data/host/web1.yaml: S3cr3t-of-web1"));
    let document: Value = serde_json::from_str(&explain(&["--output", "json"]).stdout).expect("a document");
    assert_eq!(document["protocol"], "io.choria.ccm.v1.data");
    let entry = &document["hierarchy"][1];
    assert_eq!(entry["outcome"], "applied_to_merged_keys");
    assert_eq!(entry["sources"][1], json!({"kind": "file", "name": "data/role/web.yaml"}));
    let [level, packages, password] = &document["values"].as_array().expect("values")[..] else {
        panic!("{document:#}")
    };
    assert_eq!(level["sources"], json!([{"kind": "data", "name": null, "value": "data"}]));
    assert_eq!(packages["merge"], "unique");
    assert_eq!(packages["sources"][2]["value"], json!(["nginx", "ca-certificates"]));
    let redacted = json!([{"kind": "file", "name": "data/host/web1.yaml", "value": "[redacted]"}]);
    assert_eq!(password["sources"], redacted);
    // Only an explanation is a text, and it is not YAML.
    for options in [&["--output", "text"][..], &["--explain", "--output", "yaml"]] {
        let called = run(&scratch, &[&["data", "parse", "m.yaml", "hostname=web1"], options].concat(), &[]);
        assert_eq!(called.code, 64, "{}", called.shown());
    }
}

#[test]
fn what_is_no_file_of_data_is_an_error() {
    let scratch = prepared();
    scratch.write("data/host/list.yaml", "- a\n");
    scratch.write("data/host/binary.yaml", b"level: \xff\n");
    scratch.write("data/host/directory.yaml/x", "");
    for (host, message) in [
        ("list", "expected a map of values, found a list"),
        ("binary", "it is not UTF-8 text: line 1, column 8: the byte 0xFF"),
        ("directory", "can't be read"),
    ] {
        let called = run(&scratch, &["validate", "m.yaml"], &[&format!("hostname={host}")]);
        assert_eq!(called.code, 1, "{host}: {}", called.shown());
        assert!(called.stderr.contains(message), "{host}: {}", called.shown());
    }
}

#[test]
fn a_directory_of_the_machine_need_not_have_each_file() {
    let scratch = Scratch::new();
    let warned = |directory: &str, order: &str| {
        let manifest = format!(
            "data: {{level: data}}\nhierarchy: {{order: [{order}], data_dir: '{directory}'}}\n\
             overrides: {{common: {{level: common}}}}\nccm: {{resources: []}}\n"
        );
        scratch.write("m.yaml", manifest);
        let called = ccm(&scratch, &["validate", "m.yaml"]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    scratch.write("data/other.yaml", "level: other\n");
    // A file `local.yaml` of another machine.
    assert_eq!(warned(&scratch.at("data"), "local, common"), [""; 0]);
    let mistake = "warning: this has no effect: no override is called `comon`, and there is no ";
    let warnings = warned(&scratch.at("data"), "local, comon");
    assert!(matches!(&*warnings, [only] if only.starts_with(mistake)), "{warnings:?}");
    // The directory beside the manifest is the same on all machines.
    let warnings = warned("data", "local, common");
    assert!(matches!(&*warnings, [only] if only.contains("no override is called `local`")), "{warnings:?}");
}
