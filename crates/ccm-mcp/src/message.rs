//! Messages of a client, and what is wrong with those that are none.

use ccm_model::escape_control;
use ccm_tool::{ToolInputError, json_kind};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage,
};
use serde_json::{Map, Value, json};

use crate::lines::ClientLine;
use crate::outline::MessageOutline;

const CALL: &str = "tools/call";
/// Mark in front of a text, which some programs write.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a line is.
#[derive(Debug)]
pub(crate) enum ReceivedLine {
    Message(Box<ClientJsonRpcMessage>),
    Wrong(WrongMessage),
    /// Nothing that can be answered.
    Noise,
}

/// Message with an error. Nothing of it is done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongMessage {
    /// `None` if the message has none that an answer could have.
    pub(crate) id: Option<RequestId>,
    /// Name of the tool that the message calls; empty if it names none, and `None` for a message that calls none.
    pub(crate) tool: Option<String>,
    pub(crate) error: ToolInputError,
}

impl WrongMessage {
    /// Returns the answer.
    pub(crate) fn answer(&self) -> ServerJsonRpcMessage {
        let of_call = self.tool.is_some();
        ServerJsonRpcMessage::error(error_data(&self.error, of_call), self.id.clone())
    }
}

/// Returns an error of the protocol. Most clients show its text alone, which therefore says what to do as well.
pub(crate) fn error_data(error: &ToolInputError, of_call: bool) -> ErrorData {
    let ToolInputError { message, hint } = error;
    let text = format!("{message}; {hint}");
    let data = Some(json!({ "error": message, "instead": [hint] }));
    if of_call { ErrorData::invalid_params(text, data) } else { ErrorData::invalid_request(text, data) }
}

fn error(message: impl Into<String>, hint: &str) -> ToolInputError {
    ToolInputError { message: message.into(), hint: hint.to_owned() }
}

/// Reads a line, whose limit is only for the message of an error.
pub(crate) fn received(line: ClientLine, limit: usize) -> ReceivedLine {
    match line {
        ClientLine::Whole(line) => parsed(&line),
        ClientLine::TooLong { length, outline } => {
            let message = format!("the message has {length} bytes; the limit is {limit}");
            let hint = "write the data to a file of the workspace, and pass its path";
            wrong_by_outline(&outline, error(message, hint))
        }
    }
}

fn parsed(line: &[u8]) -> ReceivedLine {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        // The library takes a request with wrong parameters for one that it does not know.
        Ok(ClientJsonRpcMessage::Request(request)) if matches!(&request.request, ClientRequest::CustomRequest(custom) if is_known(&custom.method)) => {
            wrong(line)
        }
        Ok(ClientJsonRpcMessage::Notification(sent)) if matches!(&sent.notification, ClientNotification::CustomNotification(custom) if custom.method == CALL) => {
            wrong(line)
        }
        Ok(message) => ReceivedLine::Message(Box::new(message)),
        Err(_) => wrong(line),
    }
}

fn is_known(method: &str) -> bool {
    ["initialize", CALL, "tools/list", "resources/list", "resources/templates/list", "resources/read"]
        .contains(&method)
}

/// Returns what is wrong with a line that is no message.
fn wrong(line: &[u8]) -> ReceivedLine {
    let outline = MessageOutline::of(line);
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => value,
        // Nobody asks for an answer to garbage, and a peer that answers it could go on forever.
        Err(_) if !outline.is_object() => return ReceivedLine::Noise,
        Err(cause) => {
            let message = format!("the message can't be read as JSON: {cause}");
            return wrong_by_outline(&outline, error(message, "write it as JSON, and send it again"));
        }
    };
    let Value::Object(fields) = &value else {
        let error = match &value {
            Value::Array(_) => {
                error("a list of messages can't be taken", "send each message on a line of its own")
            }
            other => must("a message", "an object", other),
        };
        return ReceivedLine::Wrong(WrongMessage { id: None, tool: None, error });
    };
    let method = fields.get("method").and_then(Value::as_str);
    if method != Some(CALL) && method.is_some() && !fields.contains_key("id") {
        // Nobody waits for the answer to a notification.
        return ReceivedLine::Noise;
    }
    let id = fields.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let error = wrong_envelope(fields, id.is_some()).unwrap_or_else(|| match method {
        Some(CALL) => wrong_call(fields.get("params")),
        Some(method) => {
            let message = format!("the parameters of `{}` are wrong", escape_control(method));
            error(message, "pass those that the protocol has for this method")
        }
        None => error("the message has no `method`", "add `method`"),
    });
    let name = || fields.get("params").and_then(|params| params.get("name")).and_then(Value::as_str);
    let tool = (method == Some(CALL)).then(|| name().unwrap_or_default().to_owned());
    ReceivedLine::Wrong(WrongMessage { id, tool, error })
}

/// Returns the error of a message that can't be parsed.
fn wrong_by_outline(outline: &MessageOutline, error: ToolInputError) -> ReceivedLine {
    let method = outline.method();
    if !outline.is_object() || method.is_none() {
        return ReceivedLine::Noise;
    }
    let tool = (method.as_deref() == Some(CALL)).then(|| outline.tool().unwrap_or_default());
    ReceivedLine::Wrong(WrongMessage { id: outline.id(), tool, error })
}

/// Returns the error in what every message has.
fn wrong_envelope(fields: &Map<String, Value>, has_id: bool) -> Option<ToolInputError> {
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some(error("`jsonrpc` of a message must be `2.0`", "add `\"jsonrpc\": \"2.0\"`"));
    }
    if let Some(method) = fields.get("method").filter(|method| !method.is_string()) {
        return Some(must("`method`", "a text", method));
    }
    match fields.get("id") {
        None if fields.contains_key("method") => {
            Some(error("a call needs an `id`", "add `id`, a text or a number that no other call has"))
        }
        Some(Value::Number(_)) if !has_id => {
            Some(error("`id` must be a whole number below 2^63", "use a smaller number, or a text"))
        }
        Some(id) if !has_id => Some(must("`id`", "a text or a whole number", id)),
        _ => None,
    }
}

/// Returns the error in the parameters of a call.
fn wrong_call(params: Option<&Value>) -> ToolInputError {
    let params = match params {
        None => {
            return error(
                "`params` of a call is missing",
                "add `params` with `name` and `arguments` of a tool",
            );
        }
        Some(Value::Object(params)) => params,
        Some(other) => return must("`params` of a call", "an object", other),
    };
    match params.get("name") {
        None => return error("`name` of a call is missing", "add `name`; `tools/list` shows the tools"),
        Some(name) if !name.is_string() => return must("`name` of a call", "a text", name),
        _ => {}
    }
    for field in ["arguments", "_meta"] {
        if let Some(value) = params.get(field).filter(|value| !value.is_object() && !value.is_null()) {
            return must(&format!("`{field}` of a call"), "an object", value);
        }
    }
    let hint = "pass `name` and `arguments` alone, each once";
    error("a field of the call is there twice, or has a wrong type", hint)
}

fn must(name: &str, expected: &str, found: &Value) -> ToolInputError {
    let found = json_kind(found);
    error(format!("{name} must be {expected}, found {found}"), &format!("pass {expected}"))
}
