//! `ccm hiera parse`: values that depend on facts.

use std::process::Command;

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;

use crate::ccm;

const DATA: &str = "\
hierarchy:
  order:
    - env:${ lookup('facts.env', '') }
    - role:{{ Facts.role ?? 'none' }}
    - \"{{ Facts.site ?? '' }}\"
  merge: deep
data:
  log_level: INFO
  packages: [ca-certificates]
  motd: it's ${ Facts.role ?? 'nothing' }
  web: {listen-port: 80, tls: false, since: \"2026-11-20\"}
  # @sensitive
  password: hunter22
overrides:
  env:prod: {log_level: WARN}
  role:web: {packages: [nginx], web: {tls: true}}
";

fn parse(data: &str, args: &[&str]) -> Called {
    let scratch = Scratch::new();
    scratch.write("data.yaml", data);
    ccm(&scratch, &["hiera", "parse", "data.yaml"]).args(args).variable("MY_ROLE", "web").run()
}

#[test]
fn values_are_worked_out_for_the_facts_that_are_given() {
    for (name, args) in [
        ("hiera_json", &["env=prod", "role=web"][..]),
        ("hiera_yaml", &["role=web", "--yaml"]),
        ("hiera_env", &["role=web", "--env"]),
        ("hiera_env_prefix", &["--env", "--env-prefix", "app", "--query", "web"]),
        ("hiera_explain", &["role=web", "--explain", "--data", "web.workers=4"]),
        ("hiera_sensitive", &["--show-sensitive", "--query", "password"]),
        ("hiera_query_nothing", &["--query", "web.listen_port"]),
    ] {
        assert_snapshot!(name, parse(DATA, args).shown());
    }
}

#[test]
fn a_shell_reads_the_variables_as_they_are() {
    let printed = parse("data: {motd: \"it's\\n$HOME `x` \\\"y\\\"\", list: [a b]}\n", &["--env"]);
    let script = format!("{}printf '%s|%s' \"$HIERA_MOTD\" \"$HIERA_LIST\"", printed.stdout);
    let output = Command::new("/bin/sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "it's\n$HOME `x` \"y\"|[\"a b\"]");
}

#[test]
fn two_values_of_one_variable_are_refused() {
    assert_snapshot!(parse("data: {a-b: 1, a_b: 2}\n", &["--env"]).shown());
}

#[test]
fn facts_come_from_where_they_are_asked_for() {
    let os = "data: {os: \"{{ Facts.host?.info?.os ?? 'unknown' }}\", role: \"{{ Facts.MY_ROLE ?? '' }}\"}\n";
    let query = |path, args: &[&str]| parse(os, &[&["--query", path], args].concat()).stdout;
    assert_eq!(query("os", &[]), "\"unknown\"\n");
    assert_eq!(query("os", &["-S"]), "\"linux\"\n");
    assert_eq!(query("os", &["-S", "host.info.os=plan9"]), "\"plan9\"\n");
    assert_eq!(query("role", &[]), "\"\"\n");
    assert_eq!(query("role", &["-E"]), "\"web\"\n");
    assert_eq!(query("role", &["-E", "MY_ROLE=db"]), "\"db\"\n");
}

#[test]
fn a_file_is_json_a_manifest_or_standard_input() {
    let scratch = Scratch::new();
    scratch.write("data.json", "{\n\t\"hierarchy\": {\"order\": [\"fqdn:${ lookup('facts.fqdn') }\"]},\n\t\"data\": {\"test\": \"value\"},\n\t\"overrides\": {\"fqdn:my.fqdn.com\": {\"test\": \"override\"}}\n}\n");
    scratch.write("manifest.yaml", "data: {a: 1}\nccm: {resources: [{exec: {name: 'false'}}]}\n");
    scratch.write("facts.yaml", "fqdn: my.fqdn.com\n");
    let run =
        |args: &[&str]| ccm(&scratch, &["hiera", "parse"]).args(args).input("data: {b: 2}\n").run().stdout;
    assert_eq!(run(&["data.json", "fqdn=my.fqdn.com"]), "{\n  \"test\": \"override\"\n}\n");
    assert_eq!(run(&["data.json", "fqdn=x"]), "{\n  \"test\": \"value\"\n}\n");
    assert_eq!(run(&["data.json", "--facts", "facts.yaml", "--yaml"]), "test: override\n");
    assert_eq!(run(&["manifest.yaml"]), "{\n  \"a\": 1\n}\n");
    assert_eq!(run(&["-", "--yaml"]), "b: 2\n");
}

#[test]
fn mistakes_have_their_place() {
    for (name, data, args) in [
        ("hiera_missing_fact", DATA.replace("Facts.role ?? 'none'", "Environ.MY_RLOE"), &["role=web"][..]),
        ("hiera_unknown_key", "date: {a: 1}\n".to_owned(), &[]),
        ("hiera_empty", "# nothing\n".to_owned(), &[]),
        ("hiera_bad_data", DATA.to_owned(), &["--data", "a"]),
        ("hiera_bad_fact", DATA.to_owned(), &["role"]),
    ] {
        let called = parse(&data, args);
        let code = if name.starts_with("hiera_bad") { 64 } else { 1 };
        assert_eq!((called.code, &*called.stdout), (code, ""), "{name}");
        assert_snapshot!(name, called.shown());
    }
    let scratch = Scratch::new();
    assert_snapshot!(
        "hiera_url",
        ccm(&scratch, &["hiera", "parse", "https://example.net/x.yaml"]).run().shown()
    );
    assert_snapshot!("hiera_missing", ccm(&scratch, &["hiera", "parse", "x.yaml"]).run().shown());
}

#[test]
fn facts_of_this_machine_have_to_be_asked_for() {
    let scratch = Scratch::new();
    scratch.write("x.yaml", "data: {os: '{{ Facts.host.info.os }}'}\n");
    let parse = |options: &[&str]| ccm(&scratch, &["hiera", "parse", "x.yaml"]).args(options).run();
    let refused = parse(&[]);
    assert_eq!(refused.code, 1, "{}", refused.shown());
    assert!(refused.stderr.contains("--system-facts"), "{}", refused.shown());
    assert_eq!(parse(&["-S"]).code, 0);
}
