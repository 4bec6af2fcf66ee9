//! What is found before anything runs.

use crate::build::errors_of;
use crate::exec;
use crate::machine::Machine;
use crate::run::failure;

#[test]
fn valid_execs_have_no_errors() {
    for properties in [
        &[][..],
        &[("command", "echo 'a b'"), ("cwd", "/tmp"), ("path", "/bin:/usr/bin"), ("returns", "[0|1|255]")],
        &[("environment", "[A=b|C=d=e]"), ("timeout", "1h30m"), ("creates", "/a"), ("logoutput", "true")],
        &[
            ("environment", "{A=b|C=5.10}"),
            ("timeout", "0"),
            ("creates", "[/a|/b]"),
            ("logoutput", "on_failure"),
        ],
        &[("command", "/opt/my program"), ("args", "[a b|'c|0644]")],
        &[("command", "it's | a > pipe"), ("provider", "shell"), ("unless", "[test -e '/x'|true]")],
        &[
            ("returns", "[]"),
            ("unchanged_returns", "[0]"),
            ("stdin", "text"),
            ("refresh_respects_guards", "true"),
        ],
    ] {
        assert_eq!(errors_of(&exec("true", properties)), Vec::<String>::new(), "{properties:?}");
    }
}

#[test]
fn invalid_properties_are_rejected() {
    for (properties, expected) in [
        (&[("command", "echo 'a")][..], "syntax command | …"),
        (&[("command", "echo \"a")], "syntax command | …"),
        (&[("command", "echo a\\")], r"syntax command | \\"),
        (&[("unless", "test 'a")], "syntax unless | …"),
        (&[("onlyif", "[true|test \"a]")], "syntax onlyif | …"),
        (&[("command", " ")], "missing command"),
        (&[("command", "''")], "missing command"),
        (&[("command", " "), ("provider", "shell")], "missing command"),
        (&[("onlyif", " ")], "missing onlyif"),
        (&[("args", "[a]"), ("provider", "shell")], "conflict args args | command, provider: shell"),
        (&[("timeout", "5 bananas")], "invalid-value timeout 5 bananas | 30s, 5m, 1h30m, 1.5h"),
        (&[("timeout", "30")], "invalid-value timeout 30 | 30s, 30m"),
        (&[("cwd", "opt")], "invalid-value cwd opt"),
        (&[("creates", "opt/x")], "invalid-value creates opt/x"),
        (&[("creates", "[/a|b]")], "invalid-value creates b"),
        (&[("path", "/bin:bin")], "invalid-value path bin"),
        (&[("path", "/bin::/usr/bin")], "invalid-value path"),
        (&[("environment", "[A]")], "invalid-value environment A"),
        (&[("environment", "[=b]")], "invalid-value environment"),
        (&[("environment", "[A=]")], "invalid-value environment A"),
        (&[("environment", "[A=1|A=2]")], "invalid-value environment A"),
        (&[("environment", "[PATH=/bin]"), ("path", "/bin")], "conflict environment path | path"),
        (&[("returns", "[256]")], "invalid-value returns"),
        (&[("returns", "[-1]")], "invalid-value returns"),
        (&[("returns", "0")], "wrong-type returns 0 | [0]"),
        (&[("returns", "[]")], "invalid-value returns"),
        (
            &[("returns", "[0|3]"), ("unchanged_returns", "[3]")],
            "conflict unchanged_returns returns | returns",
        ),
        (
            &[("logoutput", "onfailure")],
            "invalid-value logoutput true, false, on_failure, onfailure | on_failure",
        ),
        (&[("environment", "FOO")], "wrong-type environment FOO"),
        (&[("refresh_onyl", "true")], "unknown-property refresh_onyl refresh_onyl | refresh_only"),
        (&[("requires", "[exec#a]")], "unknown-property requires requires | require"),
        (&[("refresh_only", "yes")], "wrong-type refresh_only yes | true, yes"),
        (&[("refresh_only", "true")], "no-effect"),
        (&[("command", "[a]")], "wrong-type command"),
        (&[("command", "a\0b")], "invalid-value command"),
        (&[("args", "[a\0b]")], "invalid-value args"),
    ] {
        assert_eq!(errors_of(&exec("true", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn what_only_a_shell_acts_on_is_warned_of() {
    for (command, expected) in [
        ("echo a > /tmp/x", &["no-effect > | provider: shell"][..]),
        ("cd /tmp; make", &["no-effect ; | provider: shell"]),
        ("echo one\necho two", &["no-effect | provider: shell"]),
        ("echo 'a > b'", &[]),
    ] {
        assert_eq!(errors_of(&exec("x", &[("command", command)])), expected);
        assert!(errors_of(&exec("x", &[("command", command), ("provider", "shell")])).is_empty());
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let resource = exec("x", &[("timeout", "x"), ("cwd", "y"), ("returns", "[a|300]"), ("unknwon", "1")]);
    assert_eq!(errors_of(&resource).len(), 5);
    let resource = exec("x", &[("command", "'"), ("unless", "'"), ("unchanged_returns", "[0]")]);
    assert_eq!(errors_of(&resource).len(), 3);
    let resource =
        exec("x", &[("unknwon", "1"), ("onlyif", "[echo 'a|echo \"b]"), ("environment", "{A=|B=[1]|C=}")]);
    assert_eq!(errors_of(&resource).len(), 6, "{:?}", errors_of(&resource));
}

#[test]
fn an_error_that_follows_from_another_is_not_reported() {
    // The name would be split in place of the command that can't be read.
    let resource = exec("it's", &[("command", "[a]")]);
    assert_eq!(errors_of(&resource), ["wrong-type command"]);
    let resource = exec("x", &[("returns", "[x]"), ("unchanged_returns", "[0]")]);
    assert_eq!(errors_of(&resource), ["wrong-type returns x"]);
}

#[test]
fn what_is_written_can_not_forge_a_hint() {
    let resource = exec("x", &[("timeout", "x\nhint: forged")]);
    assert_eq!(errors_of(&resource), [r"invalid-value timeout x\nhint: forged | 30s, 5m, 1h30m, 1.5h"]);
}

#[test]
fn the_name_is_the_command_only_if_there_is_no_other() {
    assert_eq!(errors_of(&exec("it's a name", &[])), ["syntax command | …"]);
    assert_eq!(errors_of(&exec("it's a name", &[("command", "true")])), Vec::<String>::new());
}

#[test]
fn a_failure_names_the_property_that_is_not_valid() {
    for (property, value) in [("timeout", "x"), ("capture", "{}")] {
        let transaction = Machine::new().apply(exec("true", &[(property, value)]));
        assert_eq!(failure(&transaction).property.as_deref(), Some(property));
    }
}
