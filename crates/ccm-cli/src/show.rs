//! `ccm graph` and `ccm schema`.

use ccm_runtime::resource::present_state_schema;
use ccm_runtime::{PictureError, RenderFormat, schema_of_events};

use crate::arguments::{GraphArguments, GraphFormat, SchemaArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::{manifest, session};

/// `ccm graph`.
pub(crate) fn graph(arguments: &GraphArguments, console: &Console) -> CommandResult {
    let format = match arguments.output.format {
        GraphFormat::Text => Some(RenderFormat::Text),
        GraphFormat::Json => Some(RenderFormat::Json),
        GraphFormat::Dot => Some(RenderFormat::Dot),
        GraphFormat::Mermaid => Some(RenderFormat::Mermaid),
        GraphFormat::Svg => None,
    };
    let session = session::open_as(console, None, &arguments.values.identity);
    let input = manifest::read(&session, &arguments.manifest, &arguments.values)?;
    let loaded = manifest::load(console, &session, &input)?;
    let Some(format) = format else {
        let picture = loaded.picture().map_err(|error| {
            let hints = matches!(error, PictureError::TooLarge(_))
                .then_some("use `--output text`, or `--output dot` and Graphviz");
            CommandError::of(&error).hints(hints)
        });
        return console.print(&picture?);
    };
    let graph = loaded.graph(format);
    if format == RenderFormat::Text { console.print_words(&graph) } else { console.print(&graph) }
}

/// `ccm schema`.
pub(crate) fn schema(arguments: &SchemaArguments, console: &Console) -> CommandResult {
    let schema = if arguments.events {
        schema_of_events()
    } else if arguments.resource {
        present_state_schema()
    } else if arguments.api {
        session::open(console).request_schema()
    } else {
        session::open(console).schema()
    };
    console.print(&format!("{schema:#}\n"))
}
