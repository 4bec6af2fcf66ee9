//! The commands that only show something: graph, schema.

use std::io::Write as _;

use ccm_model::event_schema;
use ccm_runtime::{ExitCode, RenderFormat};

use crate::arguments::{GraphArguments, GraphFormat, SchemaArguments};
use crate::console::Console;
use crate::{manifest, session};

/// `ccm graph`.
pub(crate) fn graph(arguments: &GraphArguments, console: &Console) -> ExitCode {
    let format = match arguments.format {
        GraphFormat::Text => RenderFormat::Text,
        GraphFormat::Dot => RenderFormat::Dot,
        GraphFormat::Mermaid => RenderFormat::Mermaid,
    };
    let session = session::open(console);
    let input = match manifest::read(console, &session, &arguments.manifest, &arguments.values) {
        Ok(input) => input,
        Err(code) => return code,
    };
    match manifest::load(console, &session, &input) {
        Ok(manifest) => print(console, &manifest.graph(format)),
        Err(code) => code,
    }
}

/// `ccm schema`.
pub(crate) fn schema(arguments: &SchemaArguments, console: &Console) -> ExitCode {
    let schema = if arguments.events { event_schema().to_value() } else { session::open(console).schema() };
    print(console, &format!("{schema:#}\n"))
}

/// Prints to standard output. A closed output is no error, as with `head`.
pub(crate) fn print(console: &Console, text: &str) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::Success,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::Success,
        Err(error) => {
            console.error("standard output can't be written", &[error.to_string()], &[]);
            ExitCode::NothingRun
        }
    }
}
