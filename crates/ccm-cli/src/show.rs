//! The commands that only show something: graph, schema.

use std::io::Write as _;

use ccm_graph::{Format, render};
use ccm_model::event_schema;

use crate::arguments::{Graph, GraphFormat, Schema};
use crate::exit::Code;
use crate::secrets::secrets;
use crate::sources::MachineSources;
use crate::{manifest, messages};

/// `ccm graph`.
pub(crate) fn graph(arguments: &Graph) -> Code {
    let format = match arguments.format {
        GraphFormat::Text => Format::Text,
        GraphFormat::Dot => Format::Dot,
        GraphFormat::Mermaid => Format::Mermaid,
    };
    let sources = match MachineSources::of_manifest(&arguments.manifest, &arguments.values) {
        Ok(sources) => sources,
        Err(code) => return code,
    };
    match manifest::read(&arguments.manifest, &arguments.values.data, &sources, true, &ccm_resources::types())
    {
        Err(code) => code,
        Ok((catalog, _)) => print(&secrets().redact(&render(&catalog, format))),
    }
}

/// `ccm schema`.
pub(crate) fn schema(arguments: &Schema) -> Code {
    let schema = if arguments.events {
        event_schema().to_value()
    } else {
        ccm_manifest::schema(&manifest::specs(&ccm_resources::types()))
    };
    print(&format!("{schema:#}\n"))
}

/// Prints to standard output. A reader that has gone away has seen enough.
pub(crate) fn print(text: &str) -> Code {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Code::Success,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Code::Success,
        Err(error) => {
            messages::error("standard output can't be written", &[error.to_string()], &[]);
            Code::NothingRun
        }
    }
}
