//! Executors of a manifest, by name.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use ccm_runtime::{
    ChangeRequest, CommandRequest, CommandText, Config, ExecutorCommand, ExecutorError, ExecutorResult, Gate,
    Outcome, PolicySource, RunMode, RunOptions, Session, Stream, Verdict,
};
use ccm_testkit::Scratch;

use crate::{block_on, config, read, run, session};

/// Writes a manifest with executors, data and a resource that must never be applied.
fn site(scratch: &Scratch) -> std::path::PathBuf {
    let text = format!(
        "data:\n  home: {at}\n  # @sensitive\n  token: s3cret-t0ken\n\
         ccm:\n  name: site\n  executors:\n    shell:\n      kind: native\n      \
         default_work_dir: '{{{{ Data.home }}}}'\n      \
         default_env: {{PATH: '/usr/bin:/bin', TOKEN: '{{{{ Data.token }}}}', A: of executor}}\n  \
         resources:\n    - file: [{{{at}/applied: {{content: x}}}}]\n",
        at = scratch.path().display()
    );
    scratch.write("site.yaml", text);
    scratch.path().join("site.yaml")
}

fn exec(
    session: &Session,
    scratch: &Scratch,
    command: &ExecutorCommand,
) -> (Result<ExecutorResult, ExecutorError>, Vec<(Stream, String)>) {
    let input = read(session, &site(scratch));
    let mut lines = Vec::new();
    let executor = session.executor(&input, "shell").expect("an executor");
    let mut on_line = |stream: Stream, line: &str| lines.push((stream, line.to_owned()));
    let result = block_on(executor.exec(command, RunOptions::default(), &mut on_line));
    (result, lines)
}

fn shell(text: &str) -> ExecutorCommand {
    CommandText::Shell(text.to_owned()).into()
}

fn stdout(lines: &[&str]) -> Vec<(Stream, String)> {
    lines.iter().map(|&line| (Stream::Stdout, line.to_owned())).collect()
}

#[test]
fn a_command_has_what_the_executor_declares_and_the_request_adds() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let root = scratch.path().canonicalize().expect("a path").display().to_string();
    let (result, lines) = exec(&session, &scratch, &shell("pwd -P; echo $A $B; echo $TOKEN; id -u >&2"));
    assert_eq!(result.expect("a result").exit_code, Some(0));
    let of_stdout: Vec<_> = lines.iter().filter(|(stream, _)| *stream == Stream::Stdout).cloned().collect();
    assert_eq!(of_stdout, stdout(&[&root, "of executor", "[redacted]"]), "a secret is not passed on");
    assert!(lines.iter().any(|(stream, _)| *stream == Stream::Stderr));

    std::fs::create_dir(scratch.path().join("inner")).expect("a directory");
    let command = ExecutorCommand {
        work_dir: Some(scratch.path().join("inner")),
        environment: vec![
            ("A".to_owned(), "own".to_owned()),
            ("B".to_owned(), "{{ 1 + 1 }} ${x}".to_owned()),
        ],
        stdin: Some("of stdin".to_owned()),
        ..shell("pwd -P; echo \"$A $B\"; cat; exit 255")
    };
    let (result, lines) = exec(&session, &scratch, &command);
    assert_eq!(result.expect("a result").exit_code, Some(255), "an exit code is a result");
    assert_eq!(lines, stdout(&[&format!("{root}/inner"), "own {{ 1 + 1 }} ${x}", "of stdin"]));
    assert!(!scratch.path().join("applied").exists(), "the resources of the manifest are not applied");
}

#[test]
fn words_are_split_and_never_expanded() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let words = CommandText::Words("printf '%s\\n' 'a b' $HOME \"{{ Data.token }}\" '*'".to_owned());
    let (result, lines) = exec(&session, &scratch, &words.into());
    assert_eq!(result.expect("a result").exit_code, Some(0));
    assert_eq!(lines, stdout(&["a b", "$HOME", "{{ Data.token }}", "*"]));
    let arguments = ["%s\n", "a\nb", "\u{1}\u{1f980}\\"].map(str::to_owned).to_vec();
    let (result, lines) =
        exec(&session, &scratch, &CommandText::Program("printf".to_owned(), arguments).into());
    assert_eq!(result.expect("a result").exit_code, Some(0));
    assert_eq!(lines, stdout(&["a", "b", "\u{1}\u{1f980}\\"]));
}

#[test]
fn a_command_that_does_not_end_by_itself_has_no_code() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let killed = exec(&session, &scratch, &shell("kill -9 $$")).0.expect("a result");
    assert!(killed.exit_code.is_none() && matches!(killed.transaction.outcome, Outcome::Failed(_)));
    let limit = Some(std::time::Duration::from_millis(50));
    let late = ExecutorCommand { timeout: limit, ..shell("exec sleep 60") };
    let late = exec(&session, &scratch, &late).0.expect("a result");
    assert!(late.exit_code.is_none() && matches!(late.transaction.outcome, Outcome::Failed(_)));
    for text in ["", "a 'b", "a | b"] {
        let (refused, _) = exec(&session, &scratch, &CommandText::Words(text.to_owned()).into());
        assert!(matches!(refused, Err(ExecutorError::Manifest(_))), "{text:?}: {refused:?}");
    }
}

#[test]
fn pending_refreshes_of_the_manifest_stay() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let at = scratch.at("source");
    let text = |executors: &str| {
        format!(
            "ccm:\n  name: site\n{executors}  resources:\n    - file: [{{{at}: {{content: x}}}}]\n    \
             - exec: [{{'false': {{refresh_only: true, subscribe: ['file#{at}']}}}}]\n"
        )
    };
    scratch.write("pending.yaml", text(""));
    let (outcomes, _) = run(&session, &scratch.path().join("pending.yaml"), RunMode::Apply);
    assert!(matches!(&*outcomes, [Outcome::Changed, Outcome::Failed(_)]));
    let owed = || {
        session
            .pending()
            .expect("the ledgers")
            .ledgers
            .iter()
            .map(|ledger| ledger.refreshes.len())
            .sum::<usize>()
    };
    let before = owed();
    assert!(before > 0);
    scratch.write("pending.yaml", text("  executors: {shell: {kind: native}}\n"));
    let input = read(&session, &scratch.path().join("pending.yaml"));
    let executor = session.executor(&input, "shell").expect("an executor");
    let command = CommandText::Words("/bin/true".to_owned()).into();
    let result = block_on(executor.exec(&command, RunOptions::default(), &mut |_, _| {}));
    assert_eq!(result.expect("a result").exit_code, Some(0));
    assert_eq!(owed(), before);
    let history = session.history().expect("a history");
    let newest = &history.runs()[0].summary;
    let expected = format!("executor shell of {}", scratch.path().join("pending.yaml").display());
    assert_eq!(newest.as_ref().map(|summary| &*summary.manifest), Some(&*expected));
}

/// Gate that notes what it is asked about, and denies `id`.
struct NotingGate(Arc<Mutex<Vec<String>>>);

impl Gate for NotingGate {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        let program = request.command.program.file_name().unwrap_or_default().display().to_string();
        self.0.lock().expect("a list").push(program.clone());
        if program == "id" {
            return Verdict::Deny { reason: "no id".to_owned(), hints: Vec::new() };
        }
        Verdict::Allow
    }

    async fn before_change(&self, _: &ChangeRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

#[test]
fn the_policy_and_the_gate_of_the_program_hold() {
    let scratch = Scratch::new();
    let policy =
        "ccm_policy: 1\nrules: [{match: {program: rm}, when: \"caller.kind == 'apply'\", deny: true}]\n";
    scratch.write("etc/policy.yaml", policy);
    let etc = scratch.path().canonicalize().expect("a path").join("etc");
    for (path, mode) in [(etc.clone(), 0o755), (etc.join("policy.yaml"), 0o644)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let gate = Box::new(NotingGate(Arc::clone(&asked)));
    let session = Session::open(Config { policy: PolicySource::Directory(etc), gate, ..config(&scratch) });
    let failure = |text: &str| {
        let result = exec(&session, &scratch, &CommandText::Words(text.to_owned()).into()).0;
        match result.expect("a result").transaction.outcome {
            Outcome::Failed(failure) => failure.chain.join(": "),
            outcome => outcome.word().to_owned(),
        }
    };
    let denied = failure("rm -f /nowhere/x");
    assert!(denied.contains("not allowed: `rm -f /nowhere/x`: rule 1"), "{denied}");
    let refused = failure("id");
    assert!(refused.contains("no id"), "{refused}");
    let allowed = exec(&session, &scratch, &CommandText::Words("true".to_owned()).into()).0;
    assert_eq!(allowed.expect("a result").exit_code, Some(0));
    assert_eq!(*asked.lock().expect("a list"), ["id", "true"]);
}
