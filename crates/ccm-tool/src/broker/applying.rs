//! Calls that apply manifests.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::state::{Directory, WriteLock};
use ccm_host::{CapturedOutput, Command, Exit, Finished};
use ccm_model::{Event, Stream, error_layers, sha256};
use ccm_policy::{Caller, PolicyRequest, ToolSet};
use ccm_runtime::signed::{ManifestSignatureError, SignedManifest};
use ccm_runtime::{
    BeginError, Canceller, Config, Emitted, ExitCode, Finding, GivenValues, Input, InputBounds,
    LoadedManifest, MAX_MANIFEST_SIZE, ManifestSource, RunOptions, Session,
};
use serde_json::{Map, Value, json};

use super::caller_inputs::{CallerDoors, ManifestOfCall, differs, digest};
use super::governed::{AuthorisedCall, GovernedCall};
use super::{CallContext, CallProgress, ToolBroker, new_intent};
use crate::answer::{AnswerKind, ToolAnswer};
use crate::approvals::StoredCall;
use crate::call::{AppliedManifest, ApplyCall};
use crate::caller::ToolCaller;
use crate::caller_events::of_caller;
use crate::catalog::ToolName;
use crate::output::without_controls;
use crate::read_tools;
use crate::refusal;

/// Maximum size of the events in an answer in bytes.
const MAX_EVENTS: usize = 256 << 10;
/// Maximum number of lines of a manifest that an approver reads as part of an intent.
const MAX_LINES: usize = 1000;
/// Maximum size of all files that a manifest copies or extracts, in bytes.
const MAX_SOURCES: u64 = 1 << 30;
/// Maximum number of these files.
const MAX_SOURCE_FILES: usize = 20_000;
/// Maximum time in which the values of a manifest are computed before its run.
const MAX_LOADING: Duration = Duration::from_secs(30);
/// Name of a text in messages.
const TEXT: &str = "the text";
/// Name of the resource of `ensure` in messages.
const RESOURCE: &str = "the resource";
/// Directory of the texts of manifests in the state directory.
const TEXTS: &str = "tool-manifests";
/// Lock of the writers in that directory.
const LOCK: &str = "tool-manifests.lock";
/// Maximum number of texts in that directory. The oldest is removed for a new one. A text that is approved later is written again.
const MAX_TEXTS: usize = 100;

/// Call that applies a manifest, as it is recorded.
struct AppliedCall<'c> {
    id: String,
    caller: &'c ToolCaller,
    input: &'c Value,
    reason: Option<&'c str>,
    tool: ToolName,
    /// Name of the manifest in messages.
    name: &'c str,
    described: Command,
    judged: ccm_runtime::policy::JudgedRequest,
    resumed: Option<&'c StoredCall>,
}

/// Manifest that was loaded as the caller of a service; nothing without a service.
#[derive(Default)]
struct LoadedAsCaller {
    /// Digest of everything that was read.
    inputs: Option<String>,
    doors: Option<CallerDoors>,
}

impl AppliedCall<'_> {
    fn governed(&self, action: Value) -> GovernedCall<'_> {
        GovernedCall {
            id: self.id.clone(),
            tool: self.tool,
            caller: self.caller,
            input: self.input,
            action,
            described: &self.described,
            judged: &self.judged,
            sandbox: "none",
            reason: self.reason,
            code: None,
            always_asks: true,
        }
    }
}

impl ToolBroker {
    /// Applies a manifest that an approver has signed, or whose intent a person has approved. The call is recorded, and
    /// within it the run records itself.
    pub(super) async fn apply(
        &self,
        call: &ApplyCall,
        input: &Value,
        mut context: CallContext<'_>,
        resumed: Option<&StoredCall>,
    ) -> ToolAnswer {
        let caller = context.caller;
        let checked = match self.policy_for(ToolSet::Apply, caller) {
            Ok(Some(checked)) => checked,
            Ok(None) => {
                return ToolAnswer::error(AnswerKind::NotTried, "this machine has no policy", None, &[]);
            }
            Err(answer) => return *answer,
        };
        // A text is read at once when it is written, before later ones can take its place.
        let _turn = self.turn.lock().await;
        let (name, path) = match &call.manifest {
            AppliedManifest::Path(path) => (&**path, self.directory.join(path)),
            AppliedManifest::Text(text) => match self.write_text(text) {
                Ok(path) if call.tool == ToolName::Ensure => (RESOURCE, path),
                Ok(path) => (TEXT, path),
                Err(answer) => return *answer,
            },
        };
        // The commands of the manifest are judged when it is loaded, and when they run.
        let nothing = PolicyRequest::words(Vec::<String>::new(), "/");
        let applied = AppliedCall {
            id: resumed.map_or_else(new_intent, |stored| stored.intent.clone()),
            caller,
            input,
            reason: call.reason.as_deref(),
            tool: call.tool,
            name,
            described: Command {
                args: vec!["apply".into(), "--require-signed".into(), path.clone().into()],
                cwd: self.directory.to_path_buf(),
                ..Command::new("ccm")
            },
            judged: self.session.governance().judge(
                &checked.policy,
                &nothing,
                Caller::Tool,
                Some(&caller.user),
            ),
            resumed,
        };
        let denied = |answer: ToolAnswer| {
            let verdict = AuthorisedCall { verdict: "deny", rule: None, approval: None, exchangeable: None };
            self.refuse(&applied.governed(Value::Null), &verdict, answer)
        };
        let Some(config) = &self.apply else {
            let hint = "let an operator run `ccm apply`".to_owned();
            return denied(ToolAnswer::error(
                AnswerKind::NotTried,
                "no manifest is applied here",
                None,
                &[hint],
            ));
        };
        let of_caller = match self.as_caller(call, name, &path, &mut context).await {
            Ok(of_caller) => of_caller,
            Err(answer) => return denied(*answer),
        };
        let bounds = Some(bounds(&context.canceller));
        let config = Config { requires_signed: true, bounds, ..config() };
        let session = Session::open(match of_caller.doors {
            Some(doors) => Config { doors: Box::new(doors), ..config },
            None => config,
        });
        let input = match read(&session, path) {
            Err(_) if self.is_service() => return denied(differs(name)),
            Ok(input) => input,
            Err(answer) => return denied(*answer),
        };
        let loaded = match session.load(&input) {
            Ok(loaded) => loaded,
            Err(_) if self.is_service() => return denied(differs(name)),
            Err(errors) => {
                let findings = serde_json::to_value(Finding::of_all(&errors)).unwrap_or_default();
                return denied(invalid(name, findings));
            }
        };
        if let Some(inputs) = of_caller.inputs
            && digest(&loaded).ok() != Some(inputs)
        {
            return denied(differs(name));
        }
        let authorised = match loaded.signature() {
            Ok(_) if resumed.is_none() => {
                AuthorisedCall { verdict: "allow", rule: None, approval: None, exchangeable: None }
            }
            _ => match self.approve(checked, &applied, &loaded, &input) {
                Ok(authorised) => authorised,
                Err(answer) => return *answer,
            },
        };
        self.run_manifest(&applied, &loaded, &authorised, context).await
    }

    /// Loads a manifest as the caller of a service first, and returns what root may load then.
    async fn as_caller(
        &self,
        call: &ApplyCall,
        name: &str,
        path: &Path,
        context: &mut CallContext<'_>,
    ) -> Result<LoadedAsCaller, Box<ToolAnswer>> {
        let Some(served) = &self.served else { return Ok(LoadedAsCaller::default()) };
        let text = match &call.manifest {
            AppliedManifest::Text(text) => Some(text.clone()),
            AppliedManifest::Path(_) => None,
        };
        let manifest = ManifestOfCall { name: name.to_owned(), path: path.to_owned(), text };
        let inputs = self.inputs_of_caller(served, &manifest, context).await?;
        let commands = self.session.commands().map_err(|_| Box::new(differs(name)))?;
        let environment = Some(commands.environment_of(&served.account));
        let given = manifest.text.map(|text| (manifest.path, text));
        Ok(LoadedAsCaller { inputs: Some(inputs), doors: Some(CallerDoors { given, environment }) })
    }

    /// Lets a person approve a manifest with all its files.
    fn approve(
        &self,
        checked: &ccm_runtime::CheckedPolicy,
        applied: &AppliedCall<'_>,
        loaded: &LoadedManifest<'_>,
        input: &Input,
    ) -> Result<AuthorisedCall, Box<ToolAnswer>> {
        let denied = |answer: ToolAnswer| {
            let verdict = AuthorisedCall { verdict: "deny", rule: None, approval: None, exchangeable: None };
            Box::new(self.refuse(&applied.governed(Value::Null), &verdict, answer))
        };
        if checked.policy.apply_settings().signed.is_some() {
            let unsigned = loaded.signature().err().filter(|_| !self.is_service());
            let reason = unsigned.map(|error| error_layers(&*error).join(": "));
            return Err(denied(not_signed(applied.name, reason.as_deref())));
        }
        let unapproved = |error: ManifestSignatureError| {
            let reason = error_layers(&error).join(": ");
            denied(match error {
                _ if self.is_service() => differs(applied.name),
                ManifestSignatureError::TooMuch { .. } => too_much(applied.name, &reason),
                _ => not_signed(applied.name, Some(&reason)),
            })
        };
        let statement = loaded.statement(Duration::ZERO, &[]).map_err(unapproved)?;
        let Some(action) = action(applied.tool, &statement, input) else {
            let message =
                format!("{} has more than {MAX_LINES} lines, which nobody can approve", applied.name);
            let hint = "split it, or let an approver sign the file".to_owned();
            return Err(denied(ToolAnswer::error(AnswerKind::Denied, &message, None, &[hint])));
        };
        let governed = applied.governed(action);
        let authorised = self.authorise(checked, &governed, applied.resumed)?;
        loaded.accept_approval(&statement, &applied.id).map_err(unapproved)?;
        Ok(authorised)
    }

    /// Records and runs a manifest.
    async fn run_manifest(
        &self,
        applied: &AppliedCall<'_>,
        loaded: &LoadedManifest<'_>,
        authorised: &AuthorisedCall,
        context: CallContext<'_>,
    ) -> ToolAnswer {
        let governed = applied.governed(Value::Null);
        let entry = governed.entry(authorised);
        let Ok(Some(recorder)) = self.recorder() else {
            return ToolAnswer::error(AnswerKind::NotTried, "there is no audit log", None, &[]);
        };
        if let Err(failure) = recorder.begin(&entry) {
            return refusal::unrecorded(&failure);
        }
        let CallContext { canceller, on_progress, .. } = context;
        on_progress(CallProgress::Started { intent: &applied.id });
        let (mut events, mut size): (Vec<Value>, usize) = (Vec::new(), 0);
        let is_service = self.is_service();
        let mut sink = |emitted: Emitted<'_>| {
            if let Event::ResourceFinished(transaction) = emitted.event {
                let text = without_controls(&format!("{}: {}", transaction.id, transaction.outcome.word()));
                on_progress(CallProgress::Line { stream: Stream::Stdout, text: &text });
            }
            if let Some(line) = &emitted.line {
                size += line.text.len();
                if size <= MAX_EVENTS {
                    let event = serde_json::from_str::<Value>(line.text).ok();
                    events.extend(event.map(|event| if is_service { of_caller(event) } else { event }));
                }
            }
        };
        let options = RunOptions { json_lines: true, canceller, ..RunOptions::default() };
        let begun = self.session.clock().monotonic();
        let result = loaded.apply(options, &mut sink).await;
        let duration = self.session.clock().monotonic().saturating_sub(begun);
        let (code, answer) = match result {
            Ok(report) => (report.record.code.number(), done(report.record.code, &events, size)),
            Err(error) => (ExitCode::NothingRun.number(), self.not_begun(applied.name, &error)),
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
        let answer = answer.with("intent", applied.id.clone());
        match recorder.end(&entry, Ok(&finished)) {
            Ok(()) => answer,
            Err(failure) => answer.with("notes", json!([failure.message])),
        }
    }

    /// Returns the answer to a run that has not begun.
    fn not_begun(&self, manifest: &str, error: &BeginError) -> ToolAnswer {
        match error {
            BeginError::NotSigned { .. } if self.is_service() => not_signed(manifest, None),
            BeginError::NotSigned { source, .. } => {
                not_signed(manifest, Some(&error_layers(&**source).join(": ")))
            }
            error => {
                let hint = "let an operator run `ccm status`".to_owned();
                ToolAnswer::error(AnswerKind::NotTried, &error_layers(error).join(": "), None, &[hint])
            }
        }
    }

    /// Writes the text of a manifest, and returns its path, which is the same for the same text.
    fn write_text(&self, text: &str) -> Result<PathBuf, Box<ToolAnswer>> {
        let failed = |error: &dyn std::error::Error| {
            let message = error_layers(error).join(": ");
            let hint = "let an operator look at the state directory".to_owned();
            Box::new(ToolAnswer::error(AnswerKind::NotTried, &message, None, &[hint]))
        };
        let state = self.session.state_path().map_err(|error| failed(&error))?;
        let directory = Directory::open_private(&state).map_err(|error| failed(&error))?;
        let (digest, file) = (sha256(text.as_bytes()), "manifest.yaml");
        let write = || {
            let texts = directory.make(TEXTS)?;
            // Each connection of a service is a process of its own.
            let _lock = WriteLock::take(&directory, LOCK)?;
            let written =
                |name: &str| self.session.files().modified(&state.join(TEXTS).join(name)).ok().flatten();
            let others = texts.directories()?.into_iter().filter(|name| *name != digest);
            let mut others: Vec<_> = others.map(|name| (written(&name), name)).collect();
            others.sort();
            for (_, name) in others.iter().take((others.len() + 1).saturating_sub(MAX_TEXTS)) {
                match texts.remove(name) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            texts.make(&digest)?.replace(file, text.as_bytes())
        };
        write().map_err(|error: io::Error| failed(&error))?;
        Ok(state.join(TEXTS).join(digest).join(file))
    }
}

/// Returns what an approver sees of a manifest: its lines, and the digests of all files that belong to it. `None` if it
/// is too long to be read.
fn action(tool: ToolName, statement: &SignedManifest, input: &Input) -> Option<Value> {
    let lines: Vec<&str> = input.text().lines().collect();
    if lines.len() > MAX_LINES {
        return None;
    }
    let mut action = Map::new();
    action.insert("tool".to_owned(), tool.name().into());
    action.insert("manifest".to_owned(), input.full_name().into());
    for file in &statement.files {
        let digest = file.sha256.as_ref().map(|digest| format!("sha256 {digest}"));
        let link = file.link.as_ref().map(|link| format!("link to {link}"));
        let mark = if file.executable { ", executable" } else { "" };
        let shown = format!("{}{mark}", digest.or(link).unwrap_or_default());
        action.insert(format!("file {}", file.name), shown.into());
    }
    for tree in &statement.trees {
        action.insert(format!("tree {tree}"), "every file in it".into());
    }
    for (at, line) in lines.iter().enumerate() {
        action.insert(format!("line {:04}", at + 1), (*line).into());
    }
    Some(Value::Object(action))
}

/// Returns the bounds of what is read for a manifest.
pub(super) fn bounds(canceller: &Canceller) -> InputBounds {
    InputBounds {
        max_bytes: MAX_SOURCES,
        max_files: MAX_SOURCE_FILES,
        max_time: MAX_LOADING,
        canceller: canceller.clone(),
    }
}

pub(super) fn read(session: &Session, manifest: PathBuf) -> Result<Input, Box<ToolAnswer>> {
    let source = ManifestSource::File(manifest);
    session.read(source, &GivenValues::default(), MAX_MANIFEST_SIZE).map_err(|error| {
        let hint = "pass the path of a manifest that can be read".to_owned();
        Box::new(ToolAnswer::error(AnswerKind::NotTried, &error_layers(&error).join(": "), None, &[hint]))
    })
}

/// Returns the answer to a manifest with errors, of which a command that the policy denies is one.
pub(super) fn invalid(manifest: &str, findings: Value) -> ToolAnswer {
    let each = || findings.as_array().into_iter().flatten();
    let is_denied = each().any(|finding| finding["kind"] == "denied");
    let kind = if is_denied { AnswerKind::Denied } else { AnswerKind::NotTried };
    let hints = each().filter_map(|finding| finding["hints"].as_array()).flatten().filter_map(Value::as_str);
    let mut hints: Vec<String> = hints.map(str::to_owned).collect();
    hints.dedup();
    if hints.is_empty() {
        hints.push("correct the manifest, and then call again".to_owned());
    }
    let message = format!("{manifest} can't be applied: {}", read_tools::messages(&findings));
    ToolAnswer::error(kind, &message, None, &hints).with("findings", findings)
}

/// Returns the answer to a manifest whose files are not read, because they are too many or too large.
pub(super) fn too_much(manifest: &str, reason: &str) -> ToolAnswer {
    let hint = "let an operator run `ccm apply`".to_owned();
    let message = format!("{manifest} can't be applied by a tool");
    ToolAnswer::error(AnswerKind::NotTried, &message, Some(reason), &[hint])
}

/// Returns the answer to a manifest without a signature that counts.
fn not_signed(manifest: &str, reason: Option<&str>) -> ToolAnswer {
    let message = format!("{manifest} has to be signed by an approver");
    let hint = match manifest {
        TEXT | RESOURCE => "write it to a file, let an approver sign the file, and apply that".to_owned(),
        path => format!("let an approver sign it: `ccm approve --manifest {path} --until 30d`"),
    };
    ToolAnswer::error(AnswerKind::Denied, &message, reason, &[hint])
}

/// Returns the answer to a run that has ended.
fn done(code: ExitCode, events: &[Value], size: usize) -> ToolAnswer {
    let is_done = code == ExitCode::Success;
    let kind = if is_done { AnswerKind::Done } else { AnswerKind::CommandFailed };
    let structured = json!({
        "status": kind.name(),
        "exitCode": code.number(),
        "events": events,
        "truncated": size > MAX_EVENTS,
        "trust": crate::answer::UNTRUSTED,
    });
    ToolAnswer { kind, ..ToolAnswer::document(structured) }
}
