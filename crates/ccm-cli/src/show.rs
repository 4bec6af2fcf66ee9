//! The commands that only show something: graph, schema.

use std::io::Write as _;

use ccm_model::event_schema;

use crate::arguments::{Graph, GraphFormat, Schema};
use crate::{manifest, messages, session};
use ccm_runtime::{ExitCode, Format};

/// `ccm graph`.
pub(crate) fn graph(arguments: &Graph) -> ExitCode {
    let format = match arguments.format {
        GraphFormat::Text => Format::Text,
        GraphFormat::Dot => Format::Dot,
        GraphFormat::Mermaid => Format::Mermaid,
    };
    let session = session::open();
    let input = match manifest::read(&session, &arguments.manifest, &arguments.values) {
        Ok(input) => input,
        Err(code) => return code,
    };
    match manifest::load(&session, &input, true) {
        Ok(manifest) => print(&manifest.graph(format)),
        Err(code) => code,
    }
}

/// `ccm schema`.
pub(crate) fn schema(arguments: &Schema) -> ExitCode {
    let schema = if arguments.events { event_schema().to_value() } else { session::open().schema() };
    print(&format!("{schema:#}\n"))
}

/// Prints to standard output. A reader that has gone away has seen enough.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::Success,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::Success,
        Err(error) => {
            messages::error("standard output can't be written", &[error.to_string()], &[]);
            ExitCode::NothingRun
        }
    }
}
