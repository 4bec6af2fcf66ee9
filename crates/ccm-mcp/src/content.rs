//! Tools and answers as the protocol has them.

use std::sync::Arc;

use ccm_tool::{ToolAnswer, ToolName, UNTRUSTED};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;

/// Field of the metadata of an answer with its label.
const TRUST: &str = "ccm/trust";

/// Field of the metadata of a list of tools with the reason why others are not offered.
const WITHHELD: &str = "ccm/withheld";

/// Returns the metadata of a list of tools.
pub(crate) fn withheld(answer: ToolAnswer) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert(WITHHELD.to_owned(), answer.structured);
    meta
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        // Schemas are objects.
        _ => Arc::default(),
    }
}

/// Returns a tool with its hints and schemas.
pub(crate) fn tool(name: ToolName) -> Tool {
    let hints = name.hints();
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    Tool::new(name.name(), name.description(), object(name.input_schema()))
        .with_raw_output_schema(object(name.output_schema()))
        .with_annotations(annotations)
}

/// Returns an answer as text and as structured content. An approval that is awaited is no error.
pub(crate) fn result(answer: ToolAnswer) -> CallToolResult {
    let is_error = answer.is_error();
    let is_untrusted = answer.structured.get("trust").is_some();
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(answer.structured);
    if is_untrusted {
        let mut meta = MetaObject::new();
        meta.insert(TRUST.to_owned(), UNTRUSTED.into());
        result.meta = Some(meta);
    }
    result
}
