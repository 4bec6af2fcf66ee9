//! What is found before anything runs.

use ccm_model::Outcome;

use crate::build::errors_of;
use crate::exec::exec;
use crate::exec::machine::Machine;
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
        (&[("command", "echo 'a")][..], "syntax command command | …"),
        (&[("command", "echo \"a")], "syntax command command | …"),
        (&[("command", "echo a\\")], r"syntax command command | \\"),
        (&[("unless", "test 'a")], "syntax unless unless | …"),
        (&[("onlyif", "[true|test \"a]")], "syntax onlyif onlyif | …"),
        (&[("unless", "true")], "invalid-value unless | unless: test -e /path, control"),
        (&[("onlyif", "false")], "invalid-value onlyif | onlyif: test -e /path, control"),
        (&[("command", " ")], "missing command"),
        (&[("command", "''")], "missing command"),
        (&[("command", " "), ("provider", "shell")], "missing command"),
        (&[("onlyif", " ")], "missing onlyif onlyif | onlyif"),
        (&[("args", "[a]"), ("provider", "shell")], "conflict args args | command, provider: shell"),
        (&[("timeout", "5 bananas")], "invalid-value timeout 5 bananas | 30s, 5m, 1h30m, 1.5h"),
        (&[("timeout", "30")], "invalid-value timeout 30 | 30s, 30m"),
        (&[("cwd", "opt")], "invalid-value cwd opt | …"),
        (&[("creates", "opt/x")], "invalid-value creates opt/x | …"),
        (&[("creates", "[/a|b]")], "invalid-value creates b | …"),
        (&[("path", "/bin:bin")], "invalid-value path bin | …"),
        (&[("path", "/bin::/usr/bin")], "invalid-value path"),
        (&[("environment", "[A]")], "invalid-value environment A | A=VALUE"),
        (&[("environment", "[=b]")], "invalid-value environment"),
        (&[("environment", "[A=]")], "invalid-value environment A | A: \"\""),
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
        (&[("command", "[a]")], "wrong-type command | a"),
        (&[("command", "a\0b")], "invalid-value command"),
        (&[("args", "[a\0b]")], "invalid-value args"),
    ] {
        assert_eq!(errors_of(&exec("true", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn text_for_a_shell_is_an_error_without_one() {
    for (text, expected) in [
        ("a || b", "syntax PROPERTY || | provider: shell"),
        ("a > /tmp/x", "syntax PROPERTY > | provider: shell"),
        ("a 2>/dev/null", "syntax PROPERTY 2>/dev/null | provider: shell"),
        ("a $(id)", "syntax PROPERTY $( | provider: shell"),
        ("cd /tmp; make", "syntax PROPERTY cd | cwd, provider: shell"),
        ("export A=b", "syntax PROPERTY export | environment, provider: shell"),
        ("A=b make", "syntax PROPERTY A=… | environment, provider: shell"),
        ("! true", "syntax PROPERTY ! | provider: shell"),
    ] {
        let listed = format!("[true|{}]", text.replace("||", "&&"));
        for (property, value) in [("command", text), ("onlyif", text), ("unless", text), ("unless", &listed)]
        {
            let expected = expected.replace("PROPERTY", property);
            let expected = if value == listed { expected.replace("||", "&&") } else { expected };
            assert_eq!(errors_of(&exec("x", &[(property, value)])), [expected], "{value}");
            assert!(errors_of(&exec("x", &[(property, value), ("provider", "shell")])).is_empty());
        }
    }
    assert_eq!(errors_of(&exec("a && b", &[])), ["syntax command && | provider: shell"]);
    assert!(errors_of(&exec("x", &[("command", "a&&b"), ("args", "[>|&&|$(c)]")])).is_empty());
}

#[test]
fn text_that_may_be_meant_for_a_shell_is_a_warning() {
    for (text, expected) in [
        ("echo one\necho two", "no-effect | provider: shell"),
        ("rm /x/*.bak", "no-effect /x/*.bak | provider: shell"),
        ("ls $HOME", "no-effect $HOME | provider: shell"),
        ("ls ~/x", "no-effect ~ | …"),
    ] {
        for property in ["command", "onlyif"] {
            assert_eq!(errors_of(&exec("x", &[(property, text)])), [expected]);
            assert!(errors_of(&exec("x", &[(property, text), ("provider", "shell")])).is_empty());
        }
    }
    assert!(errors_of(&exec("x", &[("command", "echo 'a > b' '*' \"~\"")])).is_empty());
}

#[test]
fn an_empty_command_is_the_name() {
    for provider in ["posix", "shell"] {
        assert!(errors_of(&exec("true", &[("command", ""), ("provider", provider)])).is_empty());
        let transaction = Machine::new().apply(exec("true", &[("command", ""), ("provider", provider)]));
        assert_eq!(transaction.outcome, Outcome::Changed);
    }
    assert_eq!(errors_of(&exec("it's a name", &[("command", "")])), ["syntax command command | …"]);
}

#[test]
fn names_of_variables_are_checked() {
    for (environment, expected) in [
        ("{1FOO=x}", &["invalid-value environment 1FOO | _"][..]),
        ("[1FOO=x]", &["invalid-value environment 1FOO | _"]),
        ("{export FOO=x}", &["invalid-value environment export FOO | export"]),
        ("[export FOO=x]", &["invalid-value environment export FOO | export"]),
        ("{A B=x}", &["invalid-value environment A B | …"]),
        ("{A\u{1}=x}", &["invalid-value environment A\\u{1} | …"]),
        ("{spring.profiles.active=x|npm_config_//registry/:_auth=y}", &[]),
        ("{EMPTY=}", &[]),
    ] {
        assert_eq!(errors_of(&exec("x", &[("environment", environment)])), expected, "{environment}");
    }
    let shell = |environment| errors_of(&exec("x", &[("environment", environment), ("provider", "shell")]));
    assert_eq!(shell("{a.b=x|C=d}"), ["no-effect a.b | _"]);
    assert_eq!(shell("[a.b=x|C=d]"), ["no-effect a.b | _"]);
    assert!(shell("{A_1=x}").is_empty());
}

#[test]
fn the_word_of_another_tool_leads_to_the_property() {
    assert_eq!(errors_of(&exec("x", &[("cmd", "ls")])), ["unknown-property cmd cmd | command"]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let resource = exec("x", &[("timeout", "x"), ("cwd", "y"), ("returns", "[a|300]"), ("unknwon", "1")]);
    assert_eq!(errors_of(&resource).len(), 5);
    let resource =
        exec("x", &[("command", "'"), ("unless", "'"), ("returns", "[0]"), ("unchanged_returns", "[0]")]);
    assert_eq!(errors_of(&resource).len(), 3);
    let resource =
        exec("x", &[("unknwon", "1"), ("onlyif", "[echo 'a|echo \"b]"), ("environment", "[A=|B|C=]")]);
    assert_eq!(errors_of(&resource).len(), 6, "{:?}", errors_of(&resource));
}

#[test]
fn an_error_that_follows_from_another_is_not_reported() {
    // The name would be split in place of the command that can't be read.
    let resource = exec("it's", &[("command", "[a]")]);
    assert_eq!(errors_of(&resource), ["wrong-type command | a"]);
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
    assert_eq!(errors_of(&exec("it's a name", &[])), ["syntax command command | …"]);
    assert_eq!(errors_of(&exec("it's a name", &[("command", "true")])), Vec::<String>::new());
}

#[test]
fn a_failure_names_the_property_that_is_not_valid() {
    for (property, value) in [("timeout", "x"), ("capture", "{}")] {
        let transaction = Machine::new().apply(exec("true", &[(property, value)]));
        assert_eq!(failure(&transaction).property.as_deref(), Some(property));
    }
}
