//! The way of a call: what is recorded and started, and the answer.

use ccm_model::Stream;
use ccm_runtime::{CancellationLevel, StopCause};
use ccm_tool::{AnswerKind, CallProgress, ToolName, UNTRUSTED};
use serde_json::json;

use crate::broker::{ON_ASK, Place, alone, field};

#[test]
fn an_allowed_call_is_recorded_run_and_answered() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let mut progress = Vec::new();
        let mut on_progress = |step: CallProgress<'_>| match step {
            CallProgress::Waiting { code } => progress.push(format!("waiting {code}")),
            CallProgress::Started { .. } => progress.push("started".to_owned()),
            CallProgress::Line { stream, text } => {
                progress.push(format!("{}{text}", if stream == Stream::Stdout { "" } else { "! " }));
            }
        };
        let input = json!({"command": "printf", "args": ["%s\\n", "a b", "c"]});
        let answer = place.call_with("exec", input, &mut on_progress).await;
        assert_eq!((answer.kind, &*answer.text), (AnswerKind::Done, "a b\nc\n"));
        assert_eq!(progress, ["started", "a b", "c"]);
        let expected = ["begin exec printf allow", "run printf", "end exec Code(0)"];
        assert_eq!(place.events(), expected);
        let structured = &answer.structured;
        assert_eq!(structured["command"], "printf");
        assert_eq!(structured["args"], json!(["%s\\n", "a b", "c"]));
        assert_eq!((&structured["exitCode"], &structured["timedOut"]), (&json!(0), &json!(false)));
        assert_eq!((field(&answer, "stdout"), field(&answer, "stderr")), ("a b\nc\n", ""));
        assert_eq!(field(&answer, "trust"), UNTRUSTED);
        assert!(structured["durationMs"].is_u64() && structured["truncated"] == false, "{structured}");
        assert_eq!(field(&answer, "intent").len(), 32);
        assert!(place.sandbox().starts_with(&format!("workdir {} network false", place.work())));
        assert!(place.sandbox().contains("/printf\"]"), "{}", place.sandbox());
        let schema = jsonschema::validator_for(&ToolName::Exec.output_schema()).expect("a schema");
        assert!(schema.is_valid(structured), "{structured}");
    });
}

#[test]
fn a_denied_call_is_recorded_and_nothing_runs() {
    alone(async || {
        let place = Place::new("workspace: {path: WORK, restrict: true}\n".to_owned().as_str());
        drop(place);
        let settings = format!("workspace: {{path: WORK, restrict: true}}\n{ON_ASK}");
        let place = Place::new(&settings);
        for (input, message) in [
            (json!({"command": "sudo ls"}), "dangerous pattern detected"),
            (json!({"command": "cat", "args": ["/etc/passwd"]}), "path outside working dir"),
            (json!({"command": "cat ../x"}), "path traversal detected"),
            (json!({"command": "ls", "working_dir": "/tmp"}), "path outside working dir"),
            (json!({"command": "ls", "workingDir": "../x"}), "path traversal detected"),
            (json!({"command": "echo hi &>/dev/null rm -r x"}), "dangerous pattern detected"),
        ] {
            let answer = place.call("exec", input.clone()).await;
            assert_eq!(answer.kind, AnswerKind::Denied, "{input}: {answer:?}");
            assert!(answer.is_error());
            let expected = format!("Command blocked by safety guard ({message})");
            assert_eq!(field(&answer, "error"), expected, "{input}");
            assert!(
                answer.text.starts_with(&expected) && answer.text.contains("\nreason: "),
                "{}",
                answer.text
            );
            assert!(answer.text.contains("\ninstead: "), "{}", answer.text);
            let events = place.events();
            assert!(events.len() == 1 && events[0].starts_with("refuse exec "), "{events:?}");
        }
    });
}

#[test]
fn commands_end_with_their_code() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let answer = place.call("exec", json!({"command": "echo out; ls missing"})).await;
        assert_eq!(answer.kind, AnswerKind::CommandFailed);
        assert!(answer.text.starts_with("out\n\nSTDERR:\nls: "), "{}", answer.text);
        assert!(answer.text.ends_with("\nExit code: exit status 2"), "{}", answer.text);
        assert_eq!(answer.structured["exitCode"], 2);
        let answer = place.call("exec", json!({"command": "true"})).await;
        assert_eq!((&*answer.text, answer.is_error()), ("(no output)", false));
        let answer = place.call("exec", json!({"command": "nonexistent", "args": []})).await;
        let message = "failed to start command: exec: \"nonexistent\": executable file not found in $PATH";
        assert_eq!((answer.kind, &*answer.text), (AnswerKind::CommandFailed, message));
        assert_eq!(field(&answer, "error"), message);
        assert!(place.events().last().expect("an event").ends_with(message), "a refusal is recorded");
    });
}

#[test]
fn a_time_limit_ends_the_whole_tree() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let input = json!({"command": "echo begun; sleep 100 & sleep 100", "timeoutMs": 300});
        let answer = place.call("exec", input).await;
        assert_eq!(answer.kind, AnswerKind::CommandFailed);
        assert_eq!(answer.text, "begun\nCommand timed out after 300ms");
        assert_eq!(field(&answer, "error"), "Command timed out after 300ms");
        assert_eq!((&answer.structured["timedOut"], field(&answer, "stdout")), (&json!(true), "begun\n"));
        assert!(place.events().last().expect("an event").starts_with("end exec TimedOut"));
        // `isolated` checks that no process is left.
    });
}

#[test]
fn a_cancelled_call_is_recorded() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let canceller = place.canceller.clone();
        let mut on_progress = |step: CallProgress<'_>| {
            if matches!(step, CallProgress::Line { .. }) {
                let cause = StopCause::Signal { name: "SIGINT".to_owned(), number: 2 };
                canceller.raise(CancellationLevel::Stop, cause);
            }
        };
        let input = json!({"command": "echo begun; sleep 100"});
        let answer = place.call_with("exec", input, &mut on_progress).await;
        assert_eq!((answer.kind, &*answer.text), (AnswerKind::CommandFailed, "begun\nCommand cancelled"));
        assert_eq!(place.events().last().expect("an event"), "end exec Cancelled");
    });
}

#[test]
fn what_can_not_be_recorded_does_not_run() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let answer = place.call("exec", json!({"command": "false", "args": []})).await;
        assert_eq!((answer.kind, field(&answer, "error")), (AnswerKind::NotTried, "the disk is full"));
        assert!(answer.text.contains("ccm audit verify"), "{}", answer.text);
        assert_eq!(place.events(), [""; 0]);
    });
}

#[test]
fn a_panic_is_an_answer_and_is_recorded() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let mut on_progress = |step: CallProgress<'_>| {
            assert!(!matches!(step, CallProgress::Started { .. }), "a front that fails");
        };
        let answer = place.call_with("exec", json!({"command": "true"}), &mut on_progress).await;
        assert_eq!(
            (answer.kind, answer.text.lines().next().expect("a line")),
            (AnswerKind::CommandFailed, "the call ended by an error in ccm")
        );
        assert_eq!(place.events().last().expect("an event"), "end exec \"/bin/sh\" could not be started");
        // The broker still answers.
        assert_eq!(place.call("exec", json!({"command": "echo on"})).await.text, "on\n");
    });
}

#[test]
fn code_runs_from_a_file_and_never_from_an_argument() {
    alone(async || {
        let place = Place::new(&format!("{ON_ASK}guard: {{code_inline: allow}}\n"));
        let code = "import sys\nprint(len(sys.argv), 40 + 2)\nprint(open('/proc/self/cmdline').read().count('40 + 2'))";
        let answer = place.call("code_execution", json!({"language": "python", "code": code})).await;
        assert_eq!((answer.kind, &*answer.text), (AnswerKind::Done, "1 42\n0\n"), "{answer:?}");
        let answer = place.call("bash", json!({"script": "x=(1 2)\ncat < /dev/null\necho ${#x[@]}"})).await;
        assert_eq!(answer.text, "2\n", "{answer:?}");
        let script = json!({"language": "shell", "code": "echo shell"});
        assert_eq!(place.call("code_execution", script).await.text, "shell\n");
        let node = std::path::Path::new("/usr/bin/node").exists();
        if node {
            let script = json!({"language": "javascript", "code": "console.log(6 * 7)"});
            assert_eq!(place.call("code_execution", script).await.text, "42\n");
        }
    });
}

#[test]
fn a_language_without_a_runtime_is_named() {
    alone(async || {
        let place = Place::new(&format!("{ON_ASK}guard: {{code_inline: allow}}\n"));
        let typed = json!({"language": "typescript", "code": "const x: number = 42; console.log(x)"});
        let answer = place.call("code_execution", typed).await;
        if answer.kind == AnswerKind::Done {
            assert_eq!(answer.text, "42\n");
        } else {
            assert!(answer.text.starts_with("no runtime for typescript was found in /usr"), "{answer:?}");
            assert!(answer.text.contains("install node 22.6 or newer, deno, bun or tsx"));
        }
    });
}

#[test]
fn output_of_a_caller_never_reaches_a_terminal_as_it_is() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let answer =
            place.call("exec", json!({"command": "printf", "args": ["\\033[31mred\\033[0m\\r\\n"]})).await;
        assert_eq!((&*answer.text, field(&answer, "stdout")), ("red\n", "red\n"));
        let long = json!({"command": "head", "args": ["-c", "15000", "/dev/zero"]});
        let answer = place.call("exec", long).await;
        assert_eq!(answer.text, "(no output)", "zero bytes are no text");
        let answer = place.call("exec", json!({"command": "seq", "args": ["1", "5000"]})).await;
        assert!(answer.text.ends_with("\n... (truncated, 13893 more chars)"), "{}", &answer.text[9_950..]);
        assert_eq!(
            (field(&answer, "stdout").chars().count(), &answer.structured["truncated"]),
            (10_000, &json!(true))
        );
    });
}
