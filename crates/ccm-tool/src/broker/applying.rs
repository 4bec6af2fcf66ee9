//! Calls that apply manifests.

use ccm_host::{CapturedOutput, Command, Exit, Finished};
use ccm_model::{Event, Stream, error_layers};
use ccm_runtime::{
    BeginError, Config, Emitted, ExitCode, GivenValues, Input, MAX_MANIFEST_SIZE, ManifestSource, RunOptions,
    Session,
};
use serde_json::{Value, json};

use super::{CallContext, CallProgress, ToolBroker, new_intent};
use crate::answer::{AnswerKind, ToolAnswer};
use crate::catalog::ToolName;
use crate::output::without_controls;
use crate::read_tools;
use crate::records::RecordedCall;
use crate::refusal;

/// Maximum size of the events in an answer in bytes.
const MAX_EVENTS: usize = 256 << 10;

impl ToolBroker {
    /// Applies a manifest that an approver has signed. The call is recorded, and within it the run records itself.
    pub(super) async fn apply(&self, manifest: &str, context: CallContext<'_>) -> ToolAnswer {
        let (intent, caller) = (new_intent(), context.caller);
        let described = Command {
            args: vec!["apply".into(), "--require-signed".into(), manifest.into()],
            cwd: self.directory.to_path_buf(),
            ..Command::new("ccm")
        };
        let entry = |verdict| RecordedCall {
            intent: &intent,
            tool: ToolName::Apply.as_str(),
            caller,
            command: &described,
            verdict,
            rule: None,
            approval: None,
        };
        let _turn = self.turn.lock().await;
        let Some(config) = &self.apply else {
            let hint = "let an operator run `ccm apply`".to_owned();
            let answer =
                ToolAnswer::error(AnswerKind::NotTried, "no manifest is applied here", None, &[hint]);
            return self.record_refusal(&entry("deny"), answer);
        };
        let session = Session::open(Config { requires_signed: true, ..config() });
        let input = match read(&session, manifest) {
            Ok(input) => input,
            Err(_) if self.is_service() => {
                return self.record_refusal(&entry("deny"), unshown(manifest));
            }
            Err(answer) => return self.record_refusal(&entry("deny"), *answer),
        };
        let loaded = match session.load(&input) {
            Ok(loaded) => loaded,
            Err(_) if self.is_service() => {
                return self.record_refusal(&entry("deny"), unshown(manifest));
            }
            Err(errors) => {
                return self.record_refusal(&entry("deny"), read_tools::invalid(manifest, errors.document()));
            }
        };
        if let Err(error) = loaded.signature() {
            return self.record_refusal(&entry("deny"), not_signed(manifest, &*error));
        }
        let Ok(Some(recorder)) = self.recorder() else {
            return ToolAnswer::error(AnswerKind::NotTried, "there is no audit log", None, &[]);
        };
        if let Err(failure) = recorder.begin(&entry("allow")) {
            return refusal::unrecorded(&failure);
        }
        let CallContext { canceller, on_progress, .. } = context;
        on_progress(CallProgress::Started { intent: &intent });
        let (mut events, mut size): (Vec<Value>, usize) = (Vec::new(), 0);
        let mut sink = |emitted: Emitted<'_>| {
            if let Event::ResourceFinished(transaction) = emitted.event {
                let text = without_controls(&format!("{}: {}", transaction.id, transaction.outcome.word()));
                on_progress(CallProgress::Line { stream: Stream::Stdout, text: &text });
            }
            if let Some(line) = &emitted.line {
                size += line.text.len();
                if size <= MAX_EVENTS {
                    events.extend(serde_json::from_str::<Value>(line.text));
                }
            }
        };
        let options = RunOptions { json_lines: true, canceller, ..RunOptions::default() };
        let begun = self.session.clock().monotonic();
        let result = loaded.apply(options, &mut sink).await;
        let duration = self.session.clock().monotonic().saturating_sub(begun);
        let (code, answer) = match result {
            Ok(report) => (report.record.code.number(), applied(report.record.code, &events, size)),
            Err(error) => (ExitCode::NothingRun.number(), not_begun(manifest, &error)),
        };
        let finished = Finished {
            exit: Exit::Code(i32::from(code)),
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            unredacted: None,
            duration,
            left_running: Vec::new(),
            unkillable: Vec::new(),
            enforced: None,
            reached: Vec::new(),
            container: None,
        };
        let answer = answer.with("intent", intent.clone());
        match recorder.end(&entry("allow"), Ok(&finished)) {
            Ok(()) => answer,
            Err(failure) => answer.with("notes", json!([failure.message])),
        }
    }
}

fn read(session: &Session, manifest: &str) -> Result<Input, Box<ToolAnswer>> {
    let source = ManifestSource::File(manifest.into());
    session.read(source, &GivenValues::default(), MAX_MANIFEST_SIZE).map_err(|error| {
        let hint = "pass the path of a manifest that can be read".to_owned();
        Box::new(ToolAnswer::error(AnswerKind::NotTried, &error_layers(&error).join(": "), None, &[hint]))
    })
}

/// Returns the answer to a manifest that can't be applied, for a caller who may not be allowed to read its files.
fn unshown(manifest: &str) -> ToolAnswer {
    let message = format!("{manifest} can't be read, or is not valid");
    let hint = "call `validate`, which shows the errors that you may see".to_owned();
    ToolAnswer::error(AnswerKind::NotTried, &message, None, &[hint])
}

/// Returns the answer to a manifest without a signature that counts.
fn not_signed(manifest: &str, error: &dyn std::error::Error) -> ToolAnswer {
    let message = format!("{manifest} has to be signed by an approver");
    let hint = format!("let an approver sign it: `ccm approve --manifest {manifest} --until 30d`");
    ToolAnswer::error(AnswerKind::Denied, &message, Some(&error_layers(error).join(": ")), &[hint])
}

fn not_begun(manifest: &str, error: &BeginError) -> ToolAnswer {
    match error {
        BeginError::NotSigned { source, .. } => not_signed(manifest, &**source),
        error => {
            let hint = "let an operator run `ccm status`".to_owned();
            ToolAnswer::error(AnswerKind::NotTried, &error_layers(error).join(": "), None, &[hint])
        }
    }
}

/// Returns the answer to a run that has ended.
fn applied(code: ExitCode, events: &[Value], size: usize) -> ToolAnswer {
    let is_done = code == ExitCode::Success;
    let kind = if is_done { AnswerKind::Done } else { AnswerKind::CommandFailed };
    let structured = json!({
        "status": kind.as_str(),
        "exitCode": code.number(),
        "events": events,
        "truncated": size > MAX_EVENTS,
        "trust": crate::answer::UNTRUSTED,
    });
    ToolAnswer { kind, ..ToolAnswer::document(structured) }
}
