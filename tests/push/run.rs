//! One command on many hosts.

use crate::stand_in::{document, push, site};

#[test]
fn a_command_runs_as_words_or_as_text_of_a_shell() {
    let scratch = site(&["web1", "web2"]);
    for (words, expected) in [
        (&["--run", "echo hello '  world'"][..], "hello   world"),
        (&["--run", "echo '$HOME' '|' '{{ 1 + 1 }}' '{{{'"], "$HOME | {{ 1 + 1 }} {{{"),
        (&["--run", "echo one | tr o 0", "--shell"], "0ne"),
    ] {
        let words = [&["@all", "--json"], words].concat();
        let called = push(&scratch, &words).run();
        assert_eq!(called.code, 0, "{words:?}: {}", called.shown());
        let document = document(&called);
        assert_eq!(document["groups"][0]["output"], serde_json::json!([expected]), "{words:?}");
        assert_eq!(document["groups"][0]["hosts"].as_array().map(Vec::len), Some(2));
    }
    let called = push(&scratch, &["@all", "--run", "echo hello"]).run();
    assert_eq!(called.stdout.matches("hello\n").count(), 1, "{}", called.stdout);
}

#[test]
fn hosts_with_another_output_are_another_group() {
    let scratch = site(&["web1", "web2", "db1"]);
    scratch.write("hosts/db1/file", "");
    let text = format!("ls {}", scratch.at("hosts/db1"));
    let called = push(&scratch, &["@all", "--run", &text, "-j", "1"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let called = push(&scratch, &["@all", "--run", "cat /gone-of-this-test"]).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains("3 hosts: 1 failure\n"), "{}", called.stdout);
    assert_eq!(called.stdout.matches("No such file").count(), 1, "{}", called.stdout);
}
