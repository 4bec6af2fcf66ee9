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
        (&[("command", "echo 'a")][..], "Unterminated single quote | close it, or put a backslash before it"),
        (&[("command", "echo \"a")], "Unterminated double quote | close it, or put a backslash before it"),
        (&[("command", "echo a\\")], "Unterminated backslash escape | write `\\\\` for a backslash"),
        (&[("unless", "test 'a")], "Unterminated single quote | close it, or put a backslash before it"),
        (
            &[("onlyif", "[true|test \"a]")],
            "Unterminated double quote | close it, or put a backslash before it",
        ),
        (&[("command", " ")], "no command specified"),
        (&[("command", "''")], "no command specified"),
        (&[("command", " "), ("provider", "shell")], "no command to execute"),
        (&[("onlyif", " ")], "no command specified"),
        (
            &[("args", "[a]"), ("provider", "shell")],
            "`args` has no meaning for the shell provider | write the arguments into `command`, or drop `provider: shell`",
        ),
        (
            &[("timeout", "5 bananas")],
            "`5 bananas` is not a duration | write a duration like `30s`, `5m`, `1h30m` or `1.5h`",
        ),
        (&[("timeout", "30")], "`30` has no unit | write `30s` for seconds or `30m` for minutes"),
        (&[("cwd", "opt")], "`opt` is not an absolute path"),
        (&[("creates", "opt/x")], "`opt/x` is not an absolute path"),
        (&[("creates", "[/a|b]")], "`b` is not an absolute path"),
        (&[("path", "/bin:bin")], "`bin` in the search path is not an absolute path"),
        (&[("path", "/bin::/usr/bin")], "the search path has an empty entry"),
        (&[("environment", "[A]")], "`A` is not of the form KEY=VALUE"),
        (&[("environment", "[=b]")], "an environment entry has no name"),
        (&[("environment", "[A=]")], "the environment entry `A` has no value"),
        (&[("environment", "[A=1|A=2]")], "the environment entry `A` is given twice"),
        (
            &[("environment", "[PATH=/bin]"), ("path", "/bin")],
            "PATH is given twice, here and as `path` | keep `path`: ccm finds the command with it, and passes it to the command",
        ),
        (&[("returns", "[256]")], "an exit code must be between 0 and 255, found 256"),
        (&[("returns", "[-1]")], "an exit code must be between 0 and 255, found -1"),
        (&[("returns", "0")], "expected a list, found the number `0` | write `[0]`"),
        (&[("returns", "[]")], "no exit code means success"),
        (
            &[("returns", "[0|3]"), ("unchanged_returns", "[3]")],
            "exit code 3 is in `returns` as well | set `returns` without this code",
        ),
        (
            &[("logoutput", "onfailure")],
            "expected `true`, `false` or `on_failure`, found `onfailure` | did you mean `on_failure`?",
        ),
        (&[("environment", "FOO")], "expected a list of KEY=VALUE or a map, found the text `FOO`"),
        (&[("refresh_onyl", "true")], "unknown property `refresh_onyl` | did you mean `refresh_only`?"),
        (&[("requires", "[exec#a]")], "unknown property `requires` | did you mean `require`?"),
        (
            &[("refresh_only", "yes")],
            "expected a boolean, found the text `yes` | write `true`: `yes` is text",
        ),
        (&[("refresh_only", "true")], "exec#true will never run"),
        (&[("command", "[a]")], "expected text, found a list"),
        (&[("command", "a\0b")], "the text holds a NUL character"),
        (&[("args", "[a\0b]")], "the text holds a NUL character"),
    ] {
        assert_eq!(errors_of(&exec("true", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn what_only_a_shell_acts_on_is_warned_of() {
    let hint =
        "add `provider: shell` if a shell should read this text, or put it in quotes if it is an argument";
    for (command, what) in [
        ("echo a > /tmp/x", Some("`>` is plain text to the posix provider")),
        ("cd /tmp; make", Some("`;` is plain text to the posix provider")),
        ("echo one\necho two", Some("these lines are one command to the posix provider")),
        ("echo 'a > b'", None),
    ] {
        let expected: Vec<String> = what.iter().map(|what| format!("{what} | {hint}")).collect();
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
    assert_eq!(errors_of(&resource), ["expected text, found a list"]);
    let resource = exec("x", &[("returns", "[x]"), ("unchanged_returns", "[0]")]);
    assert_eq!(errors_of(&resource), ["expected a whole number, found the text `x`"]);
}

#[test]
fn what_is_written_can_not_forge_a_hint() {
    let resource = exec("x", &[("timeout", "x\nhint: forged")]);
    assert_eq!(
        errors_of(&resource),
        ["`x\\nhint: forged` is not a duration | write a duration like `30s`, `5m`, `1h30m` or `1.5h`"]
    );
}

#[test]
fn the_name_is_the_command_only_if_there_is_no_other() {
    assert_eq!(
        errors_of(&exec("it's a name", &[])),
        ["Unterminated single quote | close it, or put a backslash before it"]
    );
    assert_eq!(errors_of(&exec("it's a name", &[("command", "true")])), Vec::<String>::new());
}

#[test]
fn a_failure_names_the_property_that_is_not_valid() {
    for (property, value) in [("timeout", "x"), ("capture", "{}")] {
        let transaction = Machine::new().apply(exec("true", &[(property, value)]));
        assert_eq!(failure(&transaction).property.as_deref(), Some(property));
    }
}
