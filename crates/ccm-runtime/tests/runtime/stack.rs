//! The order of the executors and gates of a run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ccm_model::Outcome;
use ccm_runtime::{ChangeRequest, CommandRequest, Config, Gate, PolicySource, RunMode, Session, Verdict};
use ccm_testkit::Scratch;
use serde_json::Value;

use crate::{config, manifest_of, run};

/// Gate that denies `touch`, and notes each command with what the audit log says of it at that moment.
struct LookingGate {
    log: PathBuf,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Gate for LookingGate {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        let program = request.command.program.file_name().unwrap_or_default().display().to_string();
        let recorded = kinds(&self.log, &program).join(" ");
        self.asked.lock().expect("a list").push(format!("{program}: {recorded}"));
        if program == "touch" {
            return Verdict::Deny { reason: "no touch".to_owned(), hints: Vec::new() };
        }
        Verdict::Allow
    }

    async fn before_change(&self, _: &ChangeRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// Returns the kinds of the lines of a log about a program.
fn kinds(log: &Path, program: &str) -> Vec<String> {
    let text = std::fs::read_to_string(log).expect("a log");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line"));
    let about = lines.filter(|line| line["argv"][0].as_str().is_some_and(|path| path.ends_with(program)));
    about.filter_map(|line| line["type"].as_str().map(str::to_owned)).collect()
}

#[test]
fn commands_pass_the_policy_then_the_gate_of_the_program_then_the_log() {
    let scratch = Scratch::new();
    scratch.write(
        "etc/policy.yaml",
        "ccm_policy: 1\nrules: [{match: {program: rm}, when: \"caller.kind == 'apply'\", deny: true}]\n",
    );
    let etc = scratch.path().canonicalize().expect("a path").join("etc");
    for (path, mode) in [(etc.clone(), 0o755), (etc.join("policy.yaml"), 0o644)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let log = scratch.path().join("audit/audit-000001.jsonl");
    let gate = Box::new(LookingGate { log: log.clone(), asked: Arc::clone(&asked) });
    let session = Session::open(Config { policy: PolicySource::Directory(etc), gate, ..config(&scratch) });
    session.governance().init_audit().expect("a log");
    let (seen, log_text) = (scratch.at("seen"), log.display());
    let commands =
        [format!("cp {log_text} {seen}"), "rm -f /nowhere/x".to_owned(), "touch /nowhere/x".to_owned()];
    let execs = commands.map(|text| format!("    - exec: [{{'{text}': {{cwd: /}}}}]\n")).concat();
    let (outcomes, _) = run(&session, &manifest_of(&scratch, &execs), RunMode::Apply);
    assert!(matches!(&*outcomes, [Outcome::Changed, Outcome::Failed(_), Outcome::Failed(_)]), "{outcomes:?}");
    // The policy denies `rm` before the gate of the program hears of it. What the program allows is not on record yet.
    assert_eq!(*asked.lock().expect("a list"), ["cp: ", "touch: "]);
    assert_eq!(kinds(Path::new(&seen), "cp"), ["intent"], "a command is on record when it starts");
    assert_eq!(kinds(&log, "cp"), ["intent"]);
    assert_eq!(kinds(&log, "rm"), ["refused"]);
    assert_eq!(kinds(&log, "touch"), ["refused"]);
}
