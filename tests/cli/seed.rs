//! What the original describes of exec, row by row, as the binary does it.
//!
//! Each row names the table and the row of the description it stands for. Where ccm leaves the original on
//! purpose, the row says so.

use ccm_testkit::Scratch;

use crate::apply_execs;
use crate::expect::json_lines;

/// A row: its name, the execs, the exit code, what must be printed, and what must not.
type Row<'a> = (&'a str, &'a str, i32, &'a [&'a str], &'a [&'a str]);

fn check(rows: &[Row<'_>]) {
    for (name, execs, code, printed, absent) in rows {
        let scratch = Scratch::new();
        scratch.write("there", "");
        let called = apply_execs(&scratch, execs, &["-v"]);
        let all = called.reported() + &called.stderr;
        assert_eq!(called.code, *code, "{name}: {}", called.shown());
        for text in *printed {
            assert!(all.contains(text), "{name}: no {text:?} in {}", called.shown());
        }
        for text in *absent {
            assert!(!all.contains(text), "{name}: {text:?} in {}", called.shown());
        }
    }
}

#[test]
fn properties() {
    check(&[
        ("command", "        - x: {command: echo ran, logoutput: true}\n", 0, &["stdout | ran"], &[]),
        (
            "command defaults to the name",
            "        - echo ran: {logoutput: true}\n",
            0,
            &["stdout | ran"],
            &[],
        ),
        ("cwd", "        - pwd: {cwd: '[dir]', logoutput: true}\n", 0, &["stdout | [dir]"], &[]),
        (
            "environment",
            "        - printenv A: {environment: [A=b=c], logoutput: true}\n",
            0,
            &["stdout | b=c"],
            &[],
        ),
        (
            "path",
            "        - mkdir [dir]/bin:\n        - cp /bin/true [dir]/bin/mine:\n        - mine: {path: '[dir]/bin'}\n",
            0,
            &["exec#mine changed"],
            &[],
        ),
        (
            "path reaches the command",
            "        - printenv PATH: {path: '/usr/bin:/bin', logoutput: true}\n",
            0,
            &["stdout | /usr/bin:/bin"],
            &[],
        ),
        ("returns", "        - sh -c 'exit 2': {returns: [0, 1, 2]}\n", 0, &["changed"], &[]),
        (
            "returns defaults to 0",
            "        - sh -c 'exit 2':\n",
            4,
            &["exit code 2 not in allowed returns [0]"],
            &[],
        ),
        ("timeout", "        - sleep 60: {timeout: 50ms}\n", 4, &["command timed out after 50ms"], &[]),
        ("creates", "        - 'false': {creates: '[dir]/there'}\n", 0, &["unchanged"], &[]),
        ("refresh_only", "        - 'false': {refresh_only: true}\n", 0, &["unchanged"], &[]),
        (
            "subscribe",
            "        - 'true':\n        - echo told: {refresh_only: true, subscribe: ['exec#true'], logoutput: true}\n",
            0,
            &["stdout | told", "exec#true changed)\n"],
            &[],
        ),
        (
            "logoutput",
            "        - sh -c 'echo a; echo b >&2': {logoutput: true}\n",
            0,
            &["stdout | a", "stderr | b"],
            &[],
        ),
        ("logoutput off", "        - echo a: {logoutput: false}\n", 0, &[], &["| a"]),
    ]);
}

#[test]
fn decision_table() {
    check(&[
        (
            "subscribe triggered: execute",
            "        - 'true':\n        - echo told: {creates: '[dir]/there', subscribe: ['exec#true']}\n",
            0,
            &["exec#echo told refreshed", "exec#true changed"],
            &[],
        ),
        (
            "creates file exists: skip",
            "        - 'false': {creates: '[dir]/there'}\n",
            0,
            &["everything in `creates` exists"],
            &[],
        ),
        (
            "refresh_only without trigger: skip",
            "        - 'false': {refresh_only: true}\n",
            0,
            &["`refresh_only`, and nothing it subscribes to changed"],
            &[],
        ),
        ("no refresh_only and no creates: execute", "        - 'true':\n", 0, &["exec#true changed"], &[]),
        (
            "creates file is missing: execute",
            "        - touch [dir]/new: {creates: '[dir]/new'}\n",
            0,
            &["changed"],
            &["warning"],
        ),
        (
            "subscribed resource did not change: no trigger",
            "        - 'false': {creates: '[dir]/there'}\n        - x: {command: 'false', refresh_only: true, subscribe: ['exec#false']}\n",
            0,
            &["exec#x unchanged"],
            &[],
        ),
    ]);
}

#[test]
fn command_parsing() {
    // printf shows every word it got in brackets of its own.
    let shown = |text: &str| format!("        - x: {{command: {text}, logoutput: true}}\n");
    let rows = [
        ("simple words", r#"'printf "<%s>\n" hello world'"#, "<hello>"),
        ("single quotes", r#""printf '<%s>\\n' 'hello world'""#, "<hello world>"),
        ("double quotes", r#"'printf "<%s>\n" "hello world"'"#, "<hello world>"),
        ("escaped spaces", r#"'printf "<%s>\n" hello\ world'"#, "<hello world>"),
        ("mixed quotes", r#"'printf "<%s>\n" "it''s a test"'"#, "<it's a test>"),
        ("no variable is expanded", r#"'printf "<%s>\n" $USER'"#, "<$USER>"),
        ("no glob is expanded", r#"'printf "<%s>\n" /bin/*'"#, "</bin/*>"),
        ("no command is substituted", r#"'printf "<%s>\n" "$(id)"'"#, "<$(id)>"),
    ];
    for (name, command, word) in rows {
        check(&[(name, &shown(command), 0, &[&format!("stdout | {word}")], &[])]);
    }
}

#[test]
fn error_handling() {
    check(&[
        ("posix: empty command string", "        - x: {command: '  '}\n", 1, &["no command specified"], &[]),
        (
            "posix: invalid quoting",
            "        - x: {command: \"echo 'a\"}\n",
            1,
            &["Unterminated single quote"],
            &[],
        ),
        (
            "posix: the command can't be run",
            "        - ccm-no-such-program:\n",
            4,
            &["\"ccm-no-such-program\" not found in PATH"],
            &[],
        ),
        (
            "posix: non-zero exit code",
            "        - 'false':\n",
            4,
            &["exit code 1 not in allowed returns [0]"],
            &[],
        ),
        (
            "shell: empty command string",
            "        - x: {command: ' ', provider: shell}\n",
            1,
            &["no command to execute"],
            &[],
        ),
        (
            "shell: the command can't be run, in the words of posix",
            "        - ccm-no-such-program: {provider: shell, returns: [0, 127]}\n",
            4,
            &["\"ccm-no-such-program\" not found in PATH"],
            &[],
        ),
        (
            "shell: non-zero exit code",
            "        - exit 3: {provider: shell}\n",
            4,
            &["exit code 3 not in allowed returns [0]"],
            &[],
        ),
        (
            "a code that is not allowed fails although creates exists (the original lets it pass)",
            "        - touch [dir]/made; exit 3: {provider: shell, creates: '[dir]/made'}\n",
            4,
            &["exit code 3 not in allowed returns [0]"],
            &[],
        ),
    ]);
}

#[test]
fn properties_validation() {
    check(&[
        ("name must be parseable", "        - \"echo 'a\":\n", 1, &["Unterminated single quote"], &[]),
        (
            "timeout must be a duration",
            "        - x: {timeout: soon}\n",
            1,
            &["`soon` is not a duration"],
            &[],
        ),
        (
            "subscribe must be type#name",
            "        - x: {subscribe: [exec]}\n",
            1,
            &["expected `type#name`"],
            &[],
        ),
        (
            "path must be absolute",
            "        - x: {path: 'bin:/bin'}\n",
            1,
            &["`bin` in the search path is not an absolute path"],
            &[],
        ),
        (
            "environment must be KEY=VALUE",
            "        - x: {environment: [A]}\n",
            1,
            &["`A` is not of the form KEY=VALUE"],
            &[],
        ),
        (
            "environment needs a key",
            "        - x: {environment: [=b]}\n",
            1,
            &["an environment entry has no name"],
            &[],
        ),
        (
            "environment needs a value",
            "        - x: {environment: [A=]}\n",
            1,
            &["the environment entry `A` has no value"],
            &[],
        ),
    ]);
}

#[test]
fn shell_use_cases() {
    check(&[
        (
            "pipes and filters",
            "        - printf 'ERROR a\\nok\\nERROR b\\n' | grep ERROR | tail -1 > [dir]/errors: {provider: shell, creates: '[dir]/errors'}\n        - cat [dir]/errors: {logoutput: true}\n",
            0,
            &["stdout | ERROR b"],
            &["| ERROR a"],
        ),
        (
            "conditional execution",
            "        - 'false || echo started': {provider: shell, logoutput: true}\n",
            0,
            &["stdout | started"],
            &[],
        ),
        (
            "complex scripts",
            "        - script:\n            command: |\n              cd [dir] &&\n              touch one &&\n              ls\n            provider: shell\n            timeout: 5m\n            logoutput: true\n",
            0,
            &["stdout | one"],
            &[],
        ),
        (
            "variable expansion",
            "        - 'echo \"in $(basename [dir]/x) of $A and ${A}\"': {provider: shell, environment: [A=b], logoutput: true}\n",
            0,
            &["stdout | in x of b and b"],
            &[],
        ),
        (
            "builtins",
            "        - cd [dir] && export A=1 && pwd: {provider: shell, logoutput: true}\n",
            0,
            &["stdout | [dir]"],
            &[],
        ),
        (
            "glob expansion",
            "        - echo [dir]/th*re: {provider: shell, logoutput: true}\n",
            0,
            &["stdout | [dir]/there"],
            &[],
        ),
        (
            "exit code validation",
            "        - 'false || true': {provider: shell, returns: [0]}\n",
            0,
            &["changed"],
            &[],
        ),
    ]);
}

#[test]
fn posix_use_cases() {
    check(&[
        (
            "no shell injection: the same text in quotes is literal for posix",
            "        - /bin/echo '$USER; echo injected': {logoutput: true}\n",
            0,
            &["stdout | $USER; echo injected"],
            &[],
        ),
        (
            "no shell injection: on purpose, the same text is an error for posix",
            "        - /bin/echo $USER; echo injected: {logoutput: true}\n",
            1,
            &["`;` needs a shell"],
            &["| injected"],
        ),
        (
            "pipes are words: on purpose, an error",
            "        - echo a | cat: {logoutput: true}\n",
            1,
            &["`|` needs a shell"],
            &["stdout"],
        ),
        (
            "redirections are words: on purpose, an error",
            "        - echo a > [dir]/b: {logoutput: true}\n",
            1,
            &["`>` needs a shell"],
            &[],
        ),
        ("refreshonly is refresh_only", "        - 'false': {refreshonly: true}\n", 0, &["unchanged"], &[]),
        (
            "exit codes: 0 healthy, 1 degraded, 2 warning",
            "        - sh -c 'exit 1': {returns: [0, 1, 2]}\n        - sh -c 'exit 3': {returns: [0, 1, 2]}\n",
            4,
            &["exec#sh -c 'exit 1' changed", "exit code 3 not in allowed returns [0, 1, 2]"],
            &[],
        ),
    ]);
}

#[test]
fn provider_selection() {
    for (properties, provider) in [("", "posix"), ("provider: posix", "posix"), ("provider: shell", "shell")]
    {
        let scratch = Scratch::new();
        let execs = format!("        - 'true': {{{properties}}}\n");
        let called = apply_execs(&scratch, &execs, &["--output", "jsonl"]);
        assert_eq!(json_lines(&called.stdout)[1]["provider"], provider, "{}", called.shown());
    }
    check(&[("no other is known", "        - 'true': {provider: bash}\n", 1, &["bash"], &[])]);
}

#[test]
fn noop_messages() {
    let scratch = Scratch::new();
    let execs = "        - touch [dir]/a:\n        - touch [dir]/b: {refresh_only: true, subscribe: ['exec#touch [dir]/a']}\n";
    let called = apply_execs(&scratch, execs, &["--noop"]);
    assert!(
        called.stdout.contains("would run: touch [dir]/a (it has no `creates` and no guards)\n"),
        "{}",
        called.shown()
    );
    assert!(
        called.stdout.contains("would run: touch [dir]/b (exec#touch [dir]/a would change)\n"),
        "{}",
        called.shown()
    );
    assert_eq!(scratch.names(), ["manifest.yaml"]);
}
