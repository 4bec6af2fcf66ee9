//! Health checks of resources: their errors, their expressions, and what they are part of.

use ccm_properties::{CheckSubject, HEALTH_CHECKS, HealthCheck, WrittenLine};

use crate::fake::{catalog, check_items, manifest};
use crate::machine::Machine;

/// Puts checks on a resource, so that they begin at column 33 of line 3.
fn checks(list: &str) -> String {
    format!("- note: [a: {{health_checks: {list}}}]")
}

#[test]
fn errors_are_found_at_load_and_at_their_places() {
    let cases: &[(&str, &[&str])] = &[
        ("[]", &[]),
        ("", &[]),
        (
            "[{command: 'true'}, {nagios: check_disk -w 10%}, {goss_rules: {port: {'tcp:80': {listening: true}}}}]",
            &[],
        ),
        ("[{command: 'a | b', provider: shell, tries: 3, try_sleep: 0, timeout: 5s, on_failure: keep}]", &[]),
        ("{command: x}", &["3:33 wrong-type | - "]),
        ("curl", &["3:33 wrong-type | [curl]"]),
        ("[curl localhost]", &["3:34 wrong-type | command: "]),
        ("[[curl]]", &["3:34 wrong-type"]),
        ("[{}]", &["3:34 missing | command, goss_rules"]),
        ("[{name: x}]", &["3:34 missing | command, goss_rules"]),
        ("[{comand: x}]", &["3:35 unknown-property comand | command"]),
        ("[{cmd: x}]", &["3:35 unknown-property cmd | command"]),
        ("[{command: x, retries: 3}]", &["3:47 unknown-property retries | tries"]),
        ("[{command: x, nagios: y}]", &["3:47 conflict | …"]),
        ("[{command: x, goss_rules: {port: {'tcp:80': {listening: true}}}}]", &["3:47 conflict | …"]),
        ("[{goss_rules: {port: {'tcp:80': {listening: true}}}, provider: shell}]", &["3:86 conflict | …"]),
        ("[{command: x, tries: 0}]", &["3:54 invalid-value tries"]),
        ("[{command: x, tries: many}]", &["3:54 wrong-type tries"]),
        ("[{command: x, try_sleep: soon}]", &["3:58 invalid-value try_sleep | 30s, 5m, 1h30m, 1.5h"]),
        ("[{command: x, timeout: 0}]", &["3:56 invalid-value timeout | 90s, 15m"]),
        ("[{command: x, provider: bash}]", &["3:57 invalid-value provider"]),
        ("[{command: x, on_failure: ignore}]", &["3:59 invalid-value on_failure"]),
        ("[{command: x, on_failure: retry_refresh}]", &["3:59 warning: no-effect | subscribe, on_failure"]),
        ("[{command: [a, b]}]", &["3:44 wrong-type command"]),
        ("[{command: ''}]", &["3:44 missing command | curl -fsS http://localhost/"]),
        ("[{command: \"a 'b\"}]", &["3:47 syntax command | …"]),
        ("[{command: 'a | b'}]", &["3:47 syntax command | provider: shell"]),
        ("[{nagios: 'a > b'}]", &["3:46 syntax nagios | provider: shell"]),
        ("[{command: 'test $HOME'}]", &["3:50 warning: no-effect | provider: shell"]),
        ("[{name: '', command: x}]", &["3:41 invalid-value name"]),
        ("[{name: a, command: x}, {name: a, command: y}]", &["3:64 conflict | …"]),
        ("[{goss_rules: {prt: {'tcp:80': }}}]", &["3:48 unknown-key | port"]),
        ("[{goss_rules: {file: {/etc/x: {mode: 0644}}}}]", &["3:70 wrong-type mode | \"0644\""]),
        ("[{goss_rules: {}}]", &["3:47 missing | port: {tcp:80: {listening: true}}"]),
        ("[{goss_rules: x}]", &["3:47 wrong-type | port: {tcp:80: {listening: true}}"]),
    ];
    let items: Vec<(String, &[&str])> = cases.iter().map(|(list, found)| (checks(list), *found)).collect();
    let items: Vec<(&str, &[&str])> = items.iter().map(|(item, found)| (item.as_str(), *found)).collect();
    check_items(&items);
}

fn read(items: &str) -> Vec<Vec<HealthCheck>> {
    let catalog = catalog(&manifest(items));
    let of = |resource: &ccm_model::Resource| match resource.properties.get(HEALTH_CHECKS) {
        Some(node) => HealthCheck::read_all(node).expect("checks without errors"),
        None => Vec::new(),
    };
    catalog.resources.iter().map(of).collect()
}

/// Returns the command of a check, the words of it in brackets.
fn command(check: &HealthCheck) -> String {
    match &check.subject {
        CheckSubject::Command(command) => match &command.line {
            WrittenLine::Words(words) => format!("[{}]", words.join("][")),
            WrittenLine::Shell(text) => text.clone(),
        },
        CheckSubject::Rules(_) => "rules".to_owned(),
    }
}

#[test]
fn a_check_without_a_name_has_that_of_its_program() {
    let found = read(&checks(
        "[{command: /usr/lib/check_http -H x}, {nagios: check_http y}, {name: web, command: check_http}, {goss_rules: {group: {a: {exists: true}}}}, \
         {command: x, provider: shell}]",
    ));
    let names: Vec<&str> = found[0].iter().map(|check| &*check.name).collect();
    assert_eq!(names, ["check_http", "check_http (2)", "web", "goss", "shell"]);
}

#[test]
fn expressions_stay_in_their_words_unless_a_shell_reads_the_command() {
    let data = "data: {host: 'a b', port: 80}\n";
    for (check, expected) in [
        ("{command: 'curl {{ Data.host }}'}", "[curl][a b]"),
        ("{nagios: 'curl {{ Data.host }}'}", "[curl][a b]"),
        ("{command: 'curl {{ Data.host }} ${HOME}', provider: shell}", "curl a b ${HOME}"),
        ("{goss_rules: {port: {'tcp:{{ Data.port }}': {listening: true}}}}", "rules"),
    ] {
        let text = format!("{data}{}", manifest(&checks(&format!("[{check}]"))));
        let catalog = catalog(&text);
        let node = catalog.resources[0].properties.get(HEALTH_CHECKS).expect("checks");
        let found = HealthCheck::read_all(node).expect("checks without errors");
        assert_eq!(command(&found[0]), expected, "{check}");
    }
}

#[test]
fn checks_are_defaults_and_repeated_like_other_properties() {
    let found = read(
        "- note:\n    - defaults: {health_checks: [{command: x}]}\n    - a:\n    - b: {health_checks: [{command: y}]}\n    \
         - c: {health_checks: []}\n- note: [\"d-{{ Item }}\": {health_checks: [{command: '{{ Item }}'}]}]\n  foreach: [p, q]",
    );
    let commands: Vec<Vec<String>> =
        found.iter().map(|checks| checks.iter().map(command).collect()).collect();
    assert_eq!(commands, [vec!["[x]"], vec!["[y]"], vec![], vec!["[p]"], vec!["[q]"]]);
}

#[test]
fn a_secret_in_a_command_is_a_warning() {
    let machine = Machine::default().credential("db", "s3cret-word");
    for (check, kinds) in [
        ("{command: \"check -p {{ credential('db') }}\"}", vec!["exposed-secret"]),
        ("{command: check, name: \"{{ credential('db') }}\"}", vec![]),
    ] {
        let loaded = machine.load(&manifest(&checks(&format!("[{check}]"))));
        let found: Vec<String> = loaded.diagnostics.iter().map(|found| found.kind.to_string()).collect();
        assert_eq!(found, kinds, "{check}");
    }
}

#[test]
fn equal_declarations_have_equal_checks() {
    let machine = |other: &str| {
        Machine::default()
            .file("a.yaml", "ccm: {resources: [{note: [n: {health_checks: [{command: x, tries: 1}]}]}]}")
            .file("b.yaml", &format!("ccm: {{resources: [{{note: [n: {{health_checks: {other}}}]}}]}}"))
    };
    for (other, is_one) in [("[{command: x, tries: 1}]", true), ("[{command: y}]", false), ("[]", false)] {
        let machine = machine(other);
        let loaded = machine.load(&manifest("- apply: [a.yaml, b.yaml]"));
        assert_eq!(loaded.catalog.is_some(), is_one, "{other}: {:?}", loaded.diagnostics);
    }
}

#[test]
fn checks_of_a_manifest_are_its_own_and_those_of_a_child_are_of_its_resource() {
    let machine = Machine::default().file(
        "a.yaml",
        "data: {port: 8080}\nccm: {resources: [], checks: [{command: 'probe {{ Data.port }}'}]}",
    );
    let text = "ccm:\n  name: site\n  checks: [{command: 'a | b', provider: shell}]\n  resources: [{apply: [{a.yaml: {health_checks: [{command: x}]}}]}]";
    let catalog = machine.load(text).catalog.expect("a catalog");
    let of = |resource: &ccm_model::Resource| -> Vec<String> {
        let node = resource.properties.get(HEALTH_CHECKS).expect("checks");
        HealthCheck::read_all(node).expect("checks without errors").iter().map(command).collect()
    };
    let own = catalog.checks.as_deref().expect("checks of the manifest");
    assert_eq!((own.id.to_string(), of(own)), ("checks#site".to_owned(), vec!["a | b".to_owned()]));
    assert_eq!(of(&catalog.resources[0]), ["[x]", "[probe][8080]"]);
    for (checks, error) in [
        ("[{comand: x}]", "3:13 unknown-property comand | command"),
        ("x", "3:11 wrong-type | [x]"),
        ("[{command: 'a | b'}]", "3:25 syntax command | provider: shell"),
        ("[{goss_rules: {}}]", "3:25 missing | port: {tcp:80: {listening: true}}"),
    ] {
        let text = format!("ccm:\n  name: site\n  checks: {checks}\n  resources: []");
        assert_eq!(crate::fake::reported(&text), [error], "{checks}");
    }
}
