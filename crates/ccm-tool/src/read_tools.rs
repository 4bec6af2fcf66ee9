//! Tools that only read.

use std::error::Error;
use std::path::Path;

use ccm_model::error_layers;
use ccm_policy::Policy;
use ccm_report::RunFilter;
use ccm_runtime::policy::{ExplainOptions, JudgedText, ShellDialect};
use ccm_runtime::{
    Canceller, Emitted, Finding, GivenFacts, GivenValues, Input, MAX_MANIFEST_SIZE, ManifestSource,
    RenderFormat, RunOptions, Session, ValidatedManifest, ValidationDocument, ValidationError,
    ValidationExtent, printed,
};
use serde_json::{Value, json};

use crate::answer::{AnswerKind, ToolAnswer};
use crate::call::{CommandCall, CommandText, GraphFormat};
use crate::caller::ToolCaller;

/// Maximum size of an answer in bytes.
const MAX_DOCUMENT: usize = 1 << 20;

/// Returns an error that a reading tool ended with.
fn failed(error: &dyn Error, hint: &str) -> ToolAnswer {
    let message = error_layers(error).join(": ");
    ToolAnswer::error(AnswerKind::NotTried, &message, None, &[hint.to_owned()])
}

/// Returns a document, unless it is too long.
fn document(value: Value) -> ToolAnswer {
    let answer = ToolAnswer::document(value);
    if answer.text.len() <= MAX_DOCUMENT {
        return answer;
    }
    let message = format!("the answer has {} bytes; the limit is {MAX_DOCUMENT}", answer.text.len());
    ToolAnswer::error(AnswerKind::NotTried, &message, None, &["ask for a part of it".to_owned()])
}

fn read(session: &Session, manifest: &str) -> Result<Input, Box<ToolAnswer>> {
    let source = ManifestSource::File(manifest.into());
    session
        .read(source, &GivenValues::default(), MAX_MANIFEST_SIZE)
        .map_err(|error| Box::new(failed(&error, "pass the path of a manifest that can be read")))
}

/// Returns the errors of a manifest in the form of `validate`.
pub(crate) fn invalid(manifest: &str, findings: Vec<Finding>) -> ToolAnswer {
    let result = ValidatedManifest {
        manifest: manifest.to_owned(),
        machine: None,
        resources: None,
        valid: false,
        findings,
    };
    let structured = ValidationDocument::new(vec![result], Vec::new()).json();
    ToolAnswer { kind: AnswerKind::NotTried, ..document(structured) }
}

/// Returns the messages of findings in one line.
pub(crate) fn messages(findings: &Value) -> String {
    let texts = findings.as_array().into_iter().flatten();
    let texts: Vec<&str> = texts.filter_map(|finding| finding["message"].as_str()).collect();
    texts.join("; ")
}

/// Checks a manifest.
pub(crate) fn validate(session: &Session, manifest: &str) -> ToolAnswer {
    let input = match read(session, manifest) {
        Ok(input) => input,
        Err(answer) => return *answer,
    };
    let validation = session.validate(&input, ValidationExtent::Everything);
    let (valid, resources, findings) = match &validation {
        Ok(validation) => (true, Some(validation.resources), Finding::of_all(&validation.warnings)),
        Err(ValidationError::Manifest(errors)) => (false, None, Finding::of_all(errors)),
        Err(error) => return failed(error, "correct the manifest, or let an operator look at the policy"),
    };
    let result =
        ValidatedManifest { manifest: manifest.to_owned(), machine: None, resources, valid, findings };
    // Errors in the manifest are what the caller asked for.
    document(ValidationDocument::new(vec![result], Vec::new()).json())
}

/// Shows what a run of a manifest would change.
pub(crate) async fn noop(session: &Session, manifest: &str, canceller: &Canceller) -> ToolAnswer {
    let input = match read(session, manifest) {
        Ok(input) => input,
        Err(answer) => return *answer,
    };
    let loaded = match session.load(&input) {
        Ok(loaded) => loaded,
        Err(errors) => return invalid(manifest, Finding::of_all(&errors)),
    };
    let mut events: Vec<Value> = Vec::new();
    let mut size = 0;
    let mut sink = |emitted: Emitted<'_>| {
        if let Some(line) = &emitted.line {
            size += line.text.len();
            if size <= MAX_DOCUMENT {
                events.extend(serde_json::from_str::<Value>(line.text));
            }
        }
    };
    let options =
        RunOptions { json_lines: true, diff: true, canceller: canceller.clone(), ..RunOptions::default() };
    match loaded.plan(options, &mut sink).await {
        Ok(report) => {
            let code = report.record.code.number();
            document(json!({
                "status": AnswerKind::Done.name(),
                "exitCode": code,
                "events": events,
                "truncated": size > MAX_DOCUMENT,
            }))
        }
        Err(error) => failed(&error, "let an operator run `ccm apply --noop`"),
    }
}

/// Shows the order of the resources of a manifest.
pub(crate) fn graph(session: &Session, manifest: &str, format: GraphFormat) -> ToolAnswer {
    let input = match read(session, manifest) {
        Ok(input) => input,
        Err(answer) => return *answer,
    };
    let render = match format {
        GraphFormat::Dot => RenderFormat::Dot,
        GraphFormat::Mermaid => RenderFormat::Mermaid,
        GraphFormat::Text => RenderFormat::Text,
    };
    match session.load(&input) {
        Ok(loaded) => {
            let graph = loaded.graph(render);
            let answer = document(json!({ "status": "done", "format": format.name(), "graph": graph }));
            if answer.is_error() { answer } else { ToolAnswer { text: graph, ..answer } }
        }
        Err(errors) => invalid(manifest, Finding::of_all(&errors)),
    }
}

/// Returns the facts of this machine.
pub(crate) fn facts(session: &Session, path: Option<&str>) -> ToolAnswer {
    match session.facts(&GivenFacts::default(), path) {
        Ok(value) => {
            let facts: Value = serde_json::from_str(&printed::json(&value)).unwrap_or_default();
            document(json!({ "status": AnswerKind::Done.name(), "facts": facts }))
        }
        Err(errors) => {
            let findings = serde_json::to_value(Finding::of_all(&errors)).unwrap_or_default();
            let message = messages(&findings);
            let hint = match path {
                Some(_) => "leave out `path`, and look for the fact in what comes back",
                None => "let an operator run `ccm facts`",
            };
            ToolAnswer::error(AnswerKind::NotTried, &message, None, &[hint.to_owned()])
                .with("findings", findings)
        }
    }
}

/// Explains resource types.
pub(crate) fn explain(session: &Session, name: Option<&str>) -> ToolAnswer {
    match session.explain(name) {
        Ok(explanation) => {
            let explanation = serde_json::to_value(&explanation).unwrap_or_default();
            document(json!({ "status": AnswerKind::Done.name(), "explanation": explanation }))
        }
        Err(error) => {
            let hint = match &error.nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("use one of: {}", error.known.join(", ")),
            };
            failed(&error, &hint)
        }
    }
}

/// Shows recorded runs.
pub(crate) fn history(session: &Session, run: Option<&str>, limit: usize) -> ToolAnswer {
    const HINT: &str = "let an operator look at the state directory";
    let history = match session.history() {
        Ok(history) => history,
        Err(error) => return failed(&error, HINT),
    };
    let Some(run) = run else {
        let runs = history.select(&RunFilter { limit: Some(limit), ..RunFilter::default() });
        return document(json!({ "status": AnswerKind::Done.name(), "runs": history.json(&runs) }));
    };
    match history.find(run) {
        Ok(run) => match history.events(run) {
            Ok(events) => {
                document(json!({ "status": AnswerKind::Done.name(), "run": run.json_with(&events) }))
            }
            Err(error) => failed(&error, HINT),
        },
        Err(error) => failed(&error, "use the id of a run from `history` without `run`, or `last`"),
    }
}

/// Shows the state of manifests.
pub(crate) fn status(session: &Session, manifest: Option<&str>) -> ToolAnswer {
    match session.status() {
        Ok(status) => document(json!({
            "status": AnswerKind::Done.name(),
            "state": status.json(manifest.map(Path::new)),
        })),
        Err(error) => failed(&error, "let an operator look at the state directory"),
    }
}

/// Judges a command. Without a policy, the standard guard judges.
pub(crate) fn policy_explain(
    session: &Session,
    policy: &Policy,
    call: CommandCall,
    caller: &ToolCaller,
) -> ToolAnswer {
    let command = match call.text {
        CommandText::Words(words) => JudgedText::Words(words),
        CommandText::Bash(text) => JudgedText::Shell(text, ShellDialect::Bash),
        CommandText::Shell(text) | CommandText::Code(_, text) => JudgedText::Shell(text, ShellDialect::Sh),
    };
    let options = ExplainOptions {
        directory: call.directory.map(Into::into),
        user: Some(caller.user.clone()),
        ..ExplainOptions::default()
    };
    let explained = session.governance().explain_command(policy, command, &options);
    document(explained.json(policy)).with("status", AnswerKind::Done.name())
}
