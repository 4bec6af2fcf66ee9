//! `ccm apply --confirm`: a question on a terminal of its own, made by script(1).

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use ccm_testkit::{Scratch, wait_until};

use crate::ccm;
use crate::expect::expect_error;
use crate::terminal::binary;

const QUESTION: &str = "Apply these changes? [y/N] ";

/// Call of ccm on a terminal.
struct Asked {
    scratch: Scratch,
    script: Child,
}

impl Asked {
    /// Applies manifests with `--confirm`.
    fn start(scratch: Scratch, arguments: &str) -> Self {
        let call = format!(
            // The shell outlives Ctrl-C. Its own text, which `script` shows first, is not the exit code.
            "trap : INT; env -i --default-signal=INT TERM=xterm NO_COLOR=1 {} apply --confirm --state-dir {} {arguments}; echo exit \"code $?\"",
            binary(),
            scratch.state().display()
        );
        let script = Command::new("script")
            .args(["-qfc", &call, "typescript"])
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("script");
        Self { scratch, script }
    }

    fn shown(&self) -> String {
        self.scratch.read("typescript").unwrap_or_default()
    }

    /// Waits for the question.
    fn wait(&self) {
        wait_until("the question", || self.shown().contains(QUESTION));
    }

    /// Types a text, and returns what the terminal showed until the end.
    fn answer(mut self, typed: &str) -> (Scratch, String) {
        self.wait();
        let mut stdin = self.script.stdin.take().expect("standard input");
        stdin.write_all(typed.as_bytes()).expect("a terminal");
        stdin.flush().expect("a terminal");
        wait_until("the end", || self.shown().contains("exit code "));
        drop(stdin);
        self.script.wait().expect("its end");
        let shown = self.shown();
        (self.scratch, shown)
    }
}

fn makes(scratch: &Scratch) -> String {
    format!("ccm: {{resources: [{{file: [{{{}: {{content: x}}}}]}}]}}\n", scratch.at("made"))
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("m.yaml", makes(&scratch));
    scratch
}

#[test]
fn changes_are_shown_before_the_question_and_made_after_a_yes() {
    let asked = Asked::start(scratch(), "m.yaml");
    asked.wait();
    assert!(!asked.scratch.has("made") && !asked.scratch.has("state"), "{}", asked.shown());
    let (scratch, shown) = asked.answer("y\n");
    let (plan, run) = shown.split_once(QUESTION).expect("the question");
    assert!(plan.contains("(dry run)") && plan.contains("would create 1"), "{shown}");
    assert!(run.contains("created 1 (run ") && run.contains("exit code 0"), "{shown}");
    assert!(scratch.has("made"));
}

#[test]
fn nothing_is_changed_without_a_yes() {
    for (typed, code) in [("n\n", 1), ("\n", 1), ("\u{4}", 1), ("\u{3}", 130)] {
        let (scratch, shown) = Asked::start(scratch(), "m.yaml").answer(typed);
        assert!(shown.contains(&format!("exit code {code}")), "{typed:?}: {shown}");
        assert!(shown.contains("nothing was run"), "{typed:?}: {shown}");
        assert!(!scratch.has("made") && !scratch.has("state"), "{typed:?}: {shown}");
    }
}

#[test]
fn there_is_no_question_without_a_change() {
    let scratch = scratch();
    assert_eq!(ccm(&scratch, &["apply", "m.yaml"]).run().code, 0);
    let mut asked = Asked::start(scratch, "m.yaml");
    wait_until("the end", || asked.shown().contains("exit code "));
    drop(asked.script.stdin.take());
    asked.script.wait().expect("its end");
    let shown = asked.shown();
    assert!(shown.contains("1 unchanged") && shown.contains("exit code 0"), "{shown}");
    assert!(!shown.contains(QUESTION), "{shown}");
}

#[test]
fn the_run_reads_the_state_again() {
    let asked = Asked::start(scratch(), "m.yaml");
    asked.wait();
    asked.scratch.write("made", "x");
    let (_, shown) = asked.answer("yes\n");
    let (_, run) = shown.split_once(QUESTION).expect("the question");
    assert!(run.contains("1 resource in ") && run.contains("1 unchanged"), "{shown}");
}

#[test]
fn one_question_is_about_all_manifests() {
    let scratch = scratch();
    let other = makes(&scratch).replace("/made", "/other");
    scratch.write("other.yaml", other);
    let (scratch, shown) = Asked::start(scratch, "m.yaml other.yaml").answer("y\n");
    assert_eq!(shown.matches(QUESTION).count(), 1, "{shown}");
    assert!(
        shown.contains("2 manifests: 2 would change") && shown.contains("2 manifests: 2 changed"),
        "{shown}"
    );
    assert!(scratch.has("made") && scratch.has("other"));
}

#[test]
fn a_question_needs_a_person() {
    let scratch = scratch();
    for (args, message) in [
        (&["m.yaml"][..], "--confirm needs a terminal"),
        (&["-"], "standard input"),
        (&["m.yaml", "--output", "json"], "the report as text"),
    ] {
        let mut called = ccm(&scratch, &["apply", "--confirm"]).args(args).run();
        if args.contains(&"json") {
            assert!(std::mem::take(&mut called.stdout).contains(message), "{}", called.shown());
        }
        expect_error(&called, 64, "", &[message, "nothing was run"], &["`--noop`"]);
    }
    for option in ["--noop", "-q", "--render"] {
        let called = ccm(&scratch, &["apply", "m.yaml", "--confirm", option]).run();
        expect_error(&called, 64, "", &["'--confirm'", "cannot be used"], &[]);
    }
    assert!(!scratch.has("made"));
}
