//! `ccm graph` and `ccm schema`.

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
        Ok(manifest) => console.print(&manifest.graph(format)),
        Err(code) => code,
    }
}

/// `ccm schema`.
pub(crate) fn schema(arguments: &SchemaArguments, console: &Console) -> ExitCode {
    let schema = if arguments.events { event_schema().to_value() } else { session::open(console).schema() };
    console.print(&format!("{schema:#}\n"))
}
