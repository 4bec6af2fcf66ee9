//! What is run, with what, and what its end is called.

use std::path::Path;
use std::time::Duration;

use ccm_host::{Exit, Finished, Process};
use ccm_model::{GuardResult, Outcome, Stream};
use ccm_testkit::FakeRunner;

use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::run::{failure, printed};

#[test]
fn posix_splits_and_shell_does_not() {
    let machine = Machine::new();
    machine.apply(exec("x", &[("command", "echo 'a b' $HOME *.txt")]));
    machine.apply(exec("x", &[("command", "echo $HOME | cat"), ("provider", "shell")]));
    machine.apply(exec("x", &[("command", "/opt/a program"), ("args", "[one two|$x]")]));
    machine.apply(exec("echo named", &[]));
    let ran = machine.runner.ran();
    let shown = |at: usize| {
        let words = ran[at].args.iter().map(|arg| arg.to_string_lossy().into_owned());
        std::iter::once(ran[at].program.display().to_string()).chain(words).collect::<Vec<_>>()
    };
    assert_eq!(shown(0), ["echo", "a b", "$HOME", "*.txt"]);
    assert_eq!(shown(1), ["/bin/sh", "-c", "echo $HOME | cat"]);
    assert_eq!(shown(2), ["/opt/a program", "one two", "$x"]);
    assert_eq!(shown(3), ["echo", "named"]);
}

#[test]
fn a_command_gets_the_base_environment_and_its_own() {
    let machine = Machine::new();
    machine.apply(exec("x", &[]));
    machine.apply(exec(
        "x",
        &[("environment", "[A=b|HOME=/x]"), ("path", "/opt/bin"), ("stdin", "in"), ("cwd", "/tmp")],
    ));
    machine.apply(exec("x", &[("environment", "{PATH=/a:/b}"), ("timeout", "0")]));
    let ran = machine.runner.ran();
    let environment = |at: usize| {
        ran[at].environment.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(environment(0), ["PATH=/usr/bin:/bin", "HOME=/root"]);
    assert_eq!((ran[0].cwd.as_path(), ran[0].timeout), (Path::new("/"), Some(Duration::from_secs(3600))));
    assert_eq!(environment(1), ["PATH=/opt/bin", "HOME=/x", "A=b"]);
    assert_eq!((ran[1].cwd.as_path(), ran[1].stdin.as_deref()), (Path::new("/tmp"), Some(&b"in"[..])));
    assert_eq!(environment(2), ["PATH=/a:/b", "HOME=/root"]);
    assert_eq!(ran[2].timeout, None);
}

#[test]
fn creates_is_looked_at_before_and_after() {
    let mut machine = Machine::new();
    let resource = || exec("make", &[("creates", "[/a|/b]")]);
    let missing = machine.apply(resource());
    assert_eq!(
        missing.warnings,
        ["`creates: /a` does not exist after the command, so the next run will run the command again"]
    );
    assert_eq!(missing.outcome, Outcome::Changed);
    machine.files.files.extend(["/a".into(), "/b".into()]);
    let there = machine.apply(resource());
    assert_eq!(there.reason_text(), Some("everything in `creates` exists"));
    assert!(there.warnings.is_empty());
}

#[test]
fn guards_are_asked_in_order_up_to_the_first_that_decides() {
    let guards = [("command", "run"), ("onlyif", "[one|two]"), ("unless", "[three|four]")];
    for (failing, asked, ran) in [
        (&["three", "four"][..], &["one", "two", "three", "four"][..], true),
        (&["two", "three", "four"], &["one", "two"], false),
        (&["four"], &["one", "two", "three"], false),
    ] {
        let machine = Machine::new();
        for line in failing {
            machine.runner.answer(line, 1);
        }
        let transaction = machine.apply(exec("x", &guards));
        let mut expected: Vec<&str> = asked.to_vec();
        expected.extend(ran.then_some("run"));
        assert_eq!(machine.runner.lines(), expected);
        assert_eq!(transaction.outcome == Outcome::Changed, ran);
    }
}

#[test]
fn a_guard_that_prevents_says_why() {
    let machine = Machine::new();
    machine.runner.answer("test -e /x", 3);
    let transaction = machine.apply(exec("x", &[("onlyif", "test -e /x")]));
    assert_eq!(transaction.reason_text(), Some("`onlyif` `test -e /x` exited with 3"));
    let state = transaction.state.expect("a state");
    assert_eq!(state["onlyif_satisfied"], false);
    assert_eq!(state["unless_satisfied"], serde_json::Value::Null);
    assert_eq!(state["exitcode"], serde_json::Value::Null);
    assert_eq!(state["decision"], "`onlyif` `test -e /x` exited with 3");
}

#[test]
fn the_state_keeps_the_results_of_the_guards() {
    let machine = Machine::new();
    machine.runner.answer("test -e /y", 1);
    for (command, code) in [("run", 0), ("fail", 1)] {
        machine.runner.answer(command, code);
        let guards = [("command", command), ("onlyif", "test -e /x"), ("unless", "test -e /y")];
        let state = machine.apply(exec("x", &guards)).state.expect("a state");
        assert_eq!((&state["exitcode"], &state["onlyif_satisfied"]), (&code.into(), &true.into()));
        assert_eq!(
            (&state["unless_satisfied"], &state["decision"]),
            (&true.into(), &"`unless` exited with 1".into())
        );
    }
}

#[test]
fn results_of_guards_are_data() {
    let result = |property: &'static str, command: &str, ended: Option<(i32, bool)>, stderr: Option<&str>| {
        GuardResult {
            property: property.into(),
            command: command.to_owned(),
            exit_code: ended.map(|(code, _)| code),
            stderr: stderr.map(str::to_owned),
            allows: ended.map(|(_, allows)| allows),
        }
    };
    let killed = Exit::Signal { number: 9, name: "SIGKILL".to_owned() };
    let machine = || {
        let machine = Machine::new();
        machine.runner.answer_with("no", printed(Exit::Code(1), "out\n", ""));
        machine.runner.answer_with("odd", printed(Exit::Code(2), "", "first\nlast \x07line\n\n"));
        machine.runner.answer_with("killed", printed(killed.clone(), "", "before\n"));
        machine
    };
    let yes = || result("onlyif", "yes", Some((0, true)), None);
    let odd = |allows| result("unless", "odd", Some((2, allows)), Some("last \\u{7}line"));
    for (guards, expected) in [
        (&[("onlyif", "[yes|no|never]")][..], vec![yes(), result("onlyif", "no", Some((1, false)), None)]),
        (&[("onlyif", "yes"), ("unless", "[odd|no]")], {
            vec![yes(), odd(true), result("unless", "no", Some((1, true)), None)]
        }),
        (&[("unless", "[odd|killed]")], {
            vec![odd(true), result("unless", "killed", None, Some("before"))]
        }),
        (&[("onlyif", "yes"), ("creates", "/there")], vec![]),
        (&[("unless", "odd"), ("sensitive", "true")], {
            vec![result("unless", "[redacted]", Some((2, true)), None)]
        }),
        (&[("unless", "no"), ("unchanged_returns", "[0]"), ("returns", "[1]")], {
            vec![result("unless", "no", Some((1, true)), None)]
        }),
    ] {
        let mut machine = machine();
        machine.files.files.insert("/there".into());
        let resource = || exec("x", &[&[("command", "run")], guards].concat());
        assert_eq!(machine.apply(resource()).guards, expected, "{guards:?}");
        assert_eq!(machine.noop(resource()).guards, expected, "{guards:?} in noop");
    }
}

#[test]
fn the_text_of_a_guard_is_whole_and_on_one_line() {
    let machine = Machine::new();
    let script = format!("test -e /x &&\n  echo {}", "y".repeat(5000));
    let guards = machine.apply(exec("x", &[("onlyif", &script), ("provider", "shell")])).guards;
    let command = &guards[0].command;
    assert!(command.starts_with("test -e /x &&\\n  echo yyy"), "{command}");
    assert!(command.ends_with("... (truncated, 926 more bytes)"), "{command}");
}

#[test]
fn the_exit_of_a_guard_is_the_reason() {
    const UNUSUAL: &str = "`unless` exited with 2: grep: /y: No such file or directory";
    let guards = |guards: &[(&str, &str)], sensitive: &str| {
        let machine = Machine::new();
        machine.secrets.add(["s3cret-word"]);
        for (command, code, stderr) in [
            ("no", 1, ""),
            ("grep x /y", 2, "usage\ngrep: /y: No such file or directory\n\n"),
            ("leak", 3, "with s3cret-word\n"),
            ("yes", 0, "noise\n"),
        ] {
            machine.runner.answer_with(command, printed(Exit::Code(code), "", stderr));
        }
        let properties = [&[("command", "run"), ("sensitive", sensitive)], guards].concat();
        machine.apply(exec("x", &properties)).reason_text().map(str::to_owned).unwrap_or_default()
    };
    for (given, expected) in [
        (&[("unless", "no")][..], "`unless` exited with 1"),
        (&[("onlyif", "yes")], "`onlyif` exited with 0"),
        (&[("onlyif", "yes"), ("unless", "no")], "`unless` exited with 1"),
        (&[("unless", "grep x /y")], UNUSUAL),
        (&[("unless", "[grep x /y|no]")], UNUSUAL),
        (&[("unless", "[no|grep x /y]")], UNUSUAL),
        (
            &[("onlyif", "grep x /y")],
            "`onlyif` `grep x /y` exited with 2: grep: /y: No such file or directory",
        ),
        (&[("unless", "leak")], "`unless` exited with 3: with [redacted]"),
        (&[("unless", "yes")], "`unless` `yes` exited with 0"),
    ] {
        assert_eq!(guards(given, "false"), expected, "{given:?}");
    }
    assert_eq!(guards(&[("unless", "grep x /y")], "true"), "`unless` exited with 2");
}

#[test]
fn a_guard_that_can_not_be_asked_fails_the_resource() {
    let machine = Machine::new();
    machine.runner.without("nosuch");
    let missing = machine.apply(exec("x", &[("unless", "nosuch -v")]));
    assert_eq!(
        failure(&missing).chain,
        ["`unless` `nosuch -v` failed to run", "\"nosuch\" not found in PATH"]
    );
    assert!(!failure(&missing).changed);
    for (exit, message) in [
        (Exit::Signal { number: 9, name: "SIGKILL".to_owned() }, "it was killed by SIGKILL"),
        (Exit::TimedOut { after: Duration::from_secs(90) }, "it timed out after 1m30s"),
        (Exit::Cancelled, "it was stopped together with the run"),
    ] {
        let machine = Machine::new();
        machine.runner.answer_with("slow", FakeRunner::finished(exit));
        let transaction = machine.apply(exec("x", &[("unless", "slow")]));
        assert_eq!(failure(&transaction).chain, ["`unless` `slow` failed to run", message]);
        assert_eq!(machine.runner.lines(), ["slow"]);
    }
}

#[test]
fn the_state_is_that_of_the_protocol() {
    let machine = Machine::new();
    machine.runner.answer("run", 2);
    let transaction = machine.apply(exec("x", &[("command", "run"), ("returns", "[0|2]")]));
    assert_eq!(
        transaction.state.expect("a state"),
        serde_json::json!({
            "protocol": "io.choria.ccm.v1.resource.exec.state",
            "resource_type": "exec",
            "name": "x",
            "ensure": "present",
            "exitcode": 2,
            "creates_satisfied": false,
            "onlyif_satisfied": null,
            "unless_satisfied": null,
            "decision": "it has no `creates` and no guards",
        })
    );
    assert_eq!(transaction.final_ensure.as_deref(), Some("present"));
}

#[test]
fn an_end_has_its_words() {
    let unkillable = Finished {
        unkillable: vec![Process::new(7, "stuck")],
        ..printed(Exit::TimedOut { after: Duration::from_secs(60) }, "", "")
    };
    for (finished, chain) in [
        (FakeRunner::finished(Exit::Code(7)), &["exit code 7 not in allowed returns [0]"][..]),
        (
            FakeRunner::finished(Exit::Signal { number: 11, name: "SIGSEGV".to_owned() }),
            &["command was killed by SIGSEGV"],
        ),
        (unkillable, &["command timed out after 1m0s", "could not be killed and is still running: 7 stuck"]),
        (FakeRunner::finished(Exit::Cancelled), &["command was stopped together with the run"]),
    ] {
        let machine = Machine::new();
        machine.runner.answer_with("run", finished);
        let transaction = machine.apply(exec("run", &[]));
        assert_eq!(failure(&transaction).chain, chain);
        assert!(failure(&transaction).changed);
    }
}

#[test]
fn a_failure_quotes_the_end_of_both_streams() {
    let machine = Machine::new();
    machine.runner.answer_with("run", printed(Exit::Code(1), "out\n", "err one\nerr two\n"));
    let transaction = machine.apply(exec("run", &[("logoutput", "false")]));
    let output = &failure(&transaction).output;
    assert_eq!(output.iter().map(|tail| tail.stream).collect::<Vec<_>>(), [Stream::Stdout, Stream::Stderr]);
    assert_eq!(output[1].lines, ["err one", "err two"]);
}

#[test]
fn what_is_not_found_has_the_same_words_in_both_providers() {
    let machine = Machine::new();
    machine.runner.without("nosuch");
    machine.runner.without("./nosuch");
    let line = "/bin/sh -c nosuch";
    machine.runner.answer_with(line, printed(Exit::Code(127), "", "/bin/sh: 1: nosuch: not found\n"));
    let posix = machine.apply(exec("x", &[("command", "nosuch"), ("returns", "[0|127]")]));
    let shell =
        machine.apply(exec("x", &[("command", "nosuch"), ("provider", "shell"), ("returns", "[0|127]")]));
    assert_eq!(failure(&posix).chain, ["\"nosuch\" not found in PATH"]);
    assert_eq!(failure(&shell).chain, failure(&posix).chain);
    assert_eq!(
        failure(&posix).hints,
        ["check the name of the program, or add its directory to PATH (now /usr/bin:/bin)"]
    );
    let named = machine.apply(exec("nosuch", &[]));
    let hint = "set `command`: without it, the name of the resource is the command";
    assert_eq!(
        failure(&named).hints,
        ["check the name of the program, or add its directory to PATH (now /usr/bin:/bin)", hint]
    );
    let relative = machine.apply(exec("./nosuch", &[("cwd", "/tmp")]));
    assert_eq!(
        failure(&relative).hints.last().map(String::as_str),
        Some("write an absolute path, or a path relative to `cwd`, which is \"/tmp\"")
    );
}

#[test]
fn a_word_of_the_shell_is_hinted_at() {
    let machine = Machine::new();
    machine.runner.without("cd");
    let transaction = machine.apply(exec("'cd' /tmp", &[]));
    assert_eq!(
        failure(&transaction).hints,
        [
            "check the name of the program, or add its directory to PATH (now /usr/bin:/bin)",
            "`cd` is a shell builtin: add `provider: shell`"
        ]
    );
}

#[test]
fn the_shell_provider_needs_a_shell() {
    let transaction = Machine::default().apply(exec("true", &[("provider", "shell")]));
    assert_eq!(
        failure(&transaction).chain,
        ["provider `shell` can't work on this host", "there is no /bin/sh"]
    );
}

#[test]
fn a_missing_working_directory_fails() {
    let transaction = Machine::new().apply(exec("true", &[("cwd", "/nosuch")]));
    assert_eq!(failure(&transaction).chain[0], "working directory \"/nosuch\" can't be entered");
}

#[test]
fn noop_runs_guards_and_not_the_command_and_says_what_it_foresees() {
    let machine = Machine::new();
    machine.runner.without("nosuch");
    let transaction = machine.noop(exec("nosuch", &[("onlyif", "guard")]));
    assert_eq!(machine.runner.lines(), ["guard"]);
    assert_eq!(transaction.outcome, Outcome::WouldChange { message: "Would have executed".to_owned() });
    assert_eq!(transaction.warnings, ["a run would fail now: \"nosuch\" not found in PATH"]);
}

#[test]
fn unchanged_returns_are_no_change() {
    let machine = Machine::new();
    machine.runner.answer("run", 3);
    let transaction = machine.apply(exec("run", &[("unchanged_returns", "[3]")]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    assert_eq!(transaction.reason_text(), Some("exit code 3 means nothing was changed"));
}

#[test]
fn what_is_left_running_is_said() {
    let machine = Machine::new();
    let holding = Process { holds_output: true, ..Process::new(43, "server") };
    let left = vec![Process::new(42, "sleep"), holding];
    machine.runner.answer_with("run", Finished { left_running: left, ..FakeRunner::finished(Exit::Code(0)) });
    let warnings = machine.apply(exec("run", &[])).warnings;
    assert_eq!(warnings[0], "left running: 42 sleep");
    assert!(warnings[1].starts_with("left running: 43 server; its output goes to ccm, "), "{warnings:?}");
    assert!(warnings[1].contains("`>/dev/null 2>&1`"), "{warnings:?}");
}
