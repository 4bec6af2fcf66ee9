//! `ccm hiera parse`: values for given facts.

use std::process::Command;

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::expect_error;

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
fn values_depend_on_the_given_facts() {
    assert_snapshot!("yaml", parse(DATA, &["role=web", "--yaml"]).shown());
    assert_snapshot!("explain", parse(DATA, &["role=web", "--explain", "--data", "web.workers=4"]).shown());
    let called = parse(DATA, &["env=prod", "role=web"]);
    let values: serde_json::Value = serde_json::from_str(&called.stdout).expect("JSON");
    let expected = serde_json::json!({
        "log_level": "WARN",
        "packages": ["ca-certificates", "nginx"],
        "motd": "it's web",
        "web": {"listen-port": 80, "tls": true, "since": "2026-11-20"},
        "password": "[redacted]",
    });
    assert_eq!((called.code, values, &*called.stderr), (0, expected, ""));
    assert_eq!(parse(DATA, &["--show-sensitive", "--query", "password"]).stdout, "\"hunter22\"\n");
    let misspelt = parse(DATA, &["--query", "web.listen_port"]);
    expect_error(&misspelt, 1, "", &["at `web.listen_port`"], &["`web.listen-port`"]);
}

#[test]
fn data_is_another_name_of_the_command() {
    let scratch = Scratch::new();
    scratch.write("data.yaml", DATA);
    let call = |name: &str| ccm(&scratch, &[name, "parse", "data.yaml", "role=web"]).run();
    assert_eq!(call("data").stdout, call("hiera").stdout);
    assert_eq!(call("data").code, 0);
}

#[test]
fn variables_have_a_prefix() {
    assert_snapshot!("env", parse(DATA, &["role=web", "--env"]).shown());
    let called = parse(DATA, &["--env", "--env-prefix", "app", "--query", "web"]);
    assert_eq!(called.stdout, "APP_LISTEN_PORT=80\nAPP_TLS=false\nAPP_SINCE=2026-11-20\n");
}

#[test]
fn a_shell_reads_the_variables_unchanged() {
    let printed = parse("data: {motd: \"it's\\n$HOME `x` \\\"y\\\"\", list: [a b]}\n", &["--env"]);
    let script = format!("{}printf '%s|%s' \"$HIERA_MOTD\" \"$HIERA_LIST\"", printed.stdout);
    let output = Command::new("/bin/sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "it's\n$HOME `x` \"y\"|[\"a b\"]");
}

#[test]
fn two_values_of_one_variable_are_refused() {
    let called = parse("data: {a-b: 1, a_b: 2}\n", &["--env"]);
    expect_error(&called, 1, "", &["`a-b`", "`a_b`", "HIERA_A_B"], &["`--query`"]);
}

#[test]
fn facts_of_the_machine_and_the_environment_are_optional() {
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
fn errors_are_located() {
    let misspelt = DATA.replace("Facts.role ?? 'none'", "Environ.MY_RLOE");
    let called = parse(&misspelt, &["role=web"]);
    expect_error(&called, 1, "data.yaml:4:23", &["no `Environ.MY_RLOE`"], &["`MY_ROLE`"]);
    expect_error(&parse("date: {a: 1}\n", &[]), 1, "data.yaml:1:1", &["key `date`"], &["`data`"]);
    expect_error(&parse("# nothing\n", &[]), 1, "data.yaml:1:1", &["no values"], &["`data:`"]);
    expect_error(&parse(DATA, &["--data", "a"]), 64, "", &["--data", "`=`"], &["`port=8080`"]);
    expect_error(&parse(DATA, &["role"]), 64, "", &["[FACT=VALUE]", "`=`"], &["`port=8080`"]);
    let scratch = Scratch::new();
    let call = |file: &str| ccm(&scratch, &["hiera", "parse", file]).run();
    let url = "https://example.net/x.yaml";
    expect_error(&call(url), 1, "", &[url, "URL"], &["file"]);
    expect_error(&call("x.yaml"), 1, "", &["x.yaml", "No such file"], &["relative to the current directory"]);
}

#[test]
fn an_error_about_missing_facts_names_the_option() {
    let scratch = Scratch::new();
    scratch.write("x.yaml", "data: {os: '{{ Facts.host.info.os }}'}\n");
    let parse = |options: &[&str]| ccm(&scratch, &["hiera", "parse", "x.yaml"]).args(options).run();
    let refused = parse(&[]);
    assert_eq!(refused.code, 1, "{}", refused.shown());
    assert!(refused.stderr.contains("--system-facts"), "{}", refused.shown());
    assert_eq!(parse(&["-S"]).code, 0);
}
