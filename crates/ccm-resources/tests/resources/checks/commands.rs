//! Commands of rules that hang, flood, end by a signal, or leave something running.

use ccm_testkit::{Scratch, isolated};
use serde_json::json;

use super::{Options, judged, outcomes_with, rules};

#[test]
fn commands_that_misbehave_are_errors_with_a_reason() {
    isolated(|| {
        let scratch = Scratch::new();
        let options = Options::in_directory(scratch.path());
        for (command, attributes, expected) in [
            (
                "exec sleep 600",
                json!({"timeout": 200}),
                &["fail (error): the command timed out after 200ms"][..],
            ),
            (
                "trap '' TERM; while :; do sleep 600; done",
                json!({"timeout": 200}),
                &["fail (error): the command timed out after 200ms"],
            ),
            ("kill -SEGV $$", json!({}), &["fail (error): the command was killed by SIGSEGV"]),
            ("exit 300", json!({}), &["fail: expected "]),
            (
                "head -c 3000000 /dev/zero",
                json!({"stdout": ["x"]}),
                &["pass", "fail (error): standard output has 3000000 bytes, of which only a part was kept"],
            ),
            (
                "head -c 3000000 /dev/zero >&2",
                json!({"stderr": ["x"]}),
                &["pass", "fail (error): standard error has 3000000 bytes"],
            ),
            ("printf '\\377\\376'", json!({"stdout": "\u{fffd}\u{fffd}"}), &["pass", "pass"]),
            (
                "pwd; test -t 0",
                json!({"exit-status": 1, "stdout": [scratch.path().display().to_string()]}),
                &["pass", "pass"],
            ),
            ("read line", json!({"exit-status": 1}), &["pass"]),
        ] {
            let mut rule = attributes.clone();
            rule["exec"] = json!(command);
            if rule.get("exit-status").is_none() {
                rule["exit-status"] = json!(0);
            }
            let found = outcomes_with(&json!({"command": {"c": rule}}).to_string(), &options);
            assert_eq!(found.len(), expected.len(), "{command}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{command}: {found}");
            }
        }
    });
}

#[test]
fn what_a_command_leaves_running_is_ended() {
    isolated(|| {
        let scratch = Scratch::new();
        let text = json!({"command": {"c": {
            "exec": "(sleep 600 & echo $! > pid) > /dev/null 2>&1; echo done",
            "exit-status": 0,
            "stdout": ["done"],
        }}});
        let report = judged(&rules(&text.to_string()), &Options::in_directory(scratch.path()));
        assert_eq!(report.summary(), "2 passed");
        let warnings = &report.rules[0].warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("sleep"), "{warnings:?}");
        let pid = std::fs::read_to_string(scratch.path().join("pid")).expect("a number");
        let stat = std::path::Path::new("/proc").join(pid.trim()).join("stat");
        ccm_testkit::wait_until("the process has ended", || {
            std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))
        });
        // The next command reaps it.
        let text = r#"{"command": {"true": {"exit-status": 0}}}"#;
        judged(&rules(text), &Options::in_directory(scratch.path()));
    });
}

#[test]
fn a_rule_that_fails_is_tried_again() {
    isolated(|| {
        let scratch = Scratch::new();
        for (retries, expected) in
            [(0, "1 of 1 failed: command c exit-status (expected 0, found 1)"), (2, "1 passed")]
        {
            let text = json!({"command": {"c": {
                "exec": "echo x >> tries; test $(wc -l < tries) -ge 3",
                "exit-status": 0,
                "retry_count": retries,
                "retry_delay": "1ms",
            }}});
            let report = judged(&rules(&text.to_string()), &Options::in_directory(scratch.path()));
            assert_eq!(report.summary(), expected, "{retries}");
        }
        assert_eq!(std::fs::read_to_string(scratch.path().join("tries")).expect("tries"), "x\nx\nx\n");
    });
}
