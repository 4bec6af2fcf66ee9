//! Resource in the record of a run, as text and as JSON.

use std::time::Duration;

use ccm_model::{
    Event, EventLine, ExecutionMetadata, ResourceId, TransactionLine, display_duration, escape_control,
    quote_words,
};
use serde_json::{Value, json};

use super::show::report_of;
use super::{Execution, RecordedResource};
use crate::screen::Screen;

impl RecordedResource {
    /// Returns the resource as text for a screen: the line of its report, then what was run and what it printed.
    pub fn text(&self, screen: Screen) -> String {
        let mut text = match (&self.event, &self.execution) {
            (Some(event), _) => {
                report_of([Event::from(EventLine::Transaction(Box::new(event.clone())))], screen)
            }
            (None, Some(execution)) => format!("{}\n", escape_control(&execution.name)),
            (None, None) => String::new(),
        };
        if let Some(execution) = &self.execution {
            text += &execution.text(self.event.as_ref());
        }
        text
    }

    /// Returns the resource as JSON.
    pub fn json(&self) -> Value {
        let mut shown = match &self.execution {
            Some(execution) => json!({
                "name": execution.name,
                "metadata": execution.metadata,
                "stdout": execution.stdout,
                "stderr": execution.stderr,
                "stdout_json": serde_json::from_str::<Value>(&execution.stdout).ok(),
            }),
            None => json!({}),
        };
        shown["event"] = json!(self.event);
        shown
    }
}

impl Execution {
    fn text(&self, event: Option<&TransactionLine<'_>>) -> String {
        let mut text = String::new();
        if let Some(metadata) = &self.metadata {
            for (label, value) in execution_rows(metadata, event) {
                // A command of the shell may have several lines.
                let indented = format!("\n{:indent$}", "", indent = LABEL_WIDTH + 2);
                let lines: Vec<String> =
                    value.trim_end().lines().map(|line| escape_control(line).into_owned()).collect();
                text += &format!("  {label:<LABEL_WIDTH$}{}\n", lines.join(&indented));
            }
            if metadata.sensitive {
                text += "nothing else was kept, because the resource is `sensitive`\n";
            }
        }
        let truncated = |found: fn(&ExecutionMetadata) -> bool| self.metadata.as_ref().is_some_and(found);
        for (name, stream, is_truncated) in [
            ("stdout", &self.stdout, truncated(|metadata| metadata.stdout_truncated)),
            ("stderr", &self.stderr, truncated(|metadata| metadata.stderr_truncated)),
        ] {
            if is_truncated {
                text += &format!("{name}: a part in the middle was not kept\n");
            }
            for line in stream.lines() {
                text += &format!("{name} | {}\n", escape_control(line));
            }
        }
        text
    }
}

/// Width of the labels, with the blanks behind them.
const LABEL_WIDTH: usize = 11;

/// Returns what was executed, how it ended and where, each with a label.
pub(super) fn execution_rows(
    metadata: &ExecutionMetadata,
    event: Option<&TransactionLine<'_>>,
) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(executed) = &metadata.command {
        let counted = || match executed.args {
            0 => executed.command.clone(),
            1 => format!("{} with 1 argument", executed.command),
            args => format!("{} with {args} arguments", executed.command),
        };
        rows.push(("command", event.and_then(written_command).unwrap_or_else(counted)));
    }
    let duration = metadata.duration_ms.map(|duration| display_duration(Duration::from_millis(duration)));
    rows.push((
        "exit code",
        match (metadata.exit_code, metadata.timed_out, &duration) {
            (Some(code), _, _) => code.to_string(),
            (None, true, _) => "none: it was ended at its `timeout`".to_owned(),
            (None, false, Some(_)) => "none: a signal ended it".to_owned(),
            (None, false, None) => "none: it was not started".to_owned(),
        },
    ));
    rows.extend(duration.map(|duration| ("duration", duration)));
    let directory = metadata.command.as_ref().and_then(|executed| executed.workdir.clone());
    rows.extend(directory.map(|directory| ("directory", directory)));
    rows.extend(metadata.sandbox.as_ref().map(|sandbox| {
        let network = if metadata.network { "with network" } else { "without network" };
        ("sandbox", format!("{sandbox}, {network}"))
    }));
    rows
}

/// Returns the command as the manifest has it, with the values of expressions and without secrets.
fn written_command(event: &TransactionLine<'_>) -> Option<String> {
    let properties = &event.properties;
    let name = || ResourceId::new(&*event.type_name, &*event.name).name.to_string();
    let command = match properties.get("command") {
        None | Some(Value::Null) => name(),
        Some(Value::String(command)) => command.clone(),
        Some(_) => return None,
    };
    match properties.get("args") {
        None | Some(Value::Null) => Some(command),
        Some(Value::Array(args)) => {
            let args = args.iter().map(Value::as_str).collect::<Option<Vec<&str>>>()?;
            Some(quote_words([&*command].into_iter().chain(args)))
        }
        Some(_) => None,
    }
}
