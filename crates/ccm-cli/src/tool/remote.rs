//! Calls of tools through the service of tools.

use std::io;

use ccm_runtime::ExitCode;
use ccm_runtime::process::signals::Signals;
use ccm_tool::{AnswerKind, ToolAnswer, ToolInputError, ToolName, ToolSet};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::input::NoCall;
use super::{input, list, print};
use crate::arguments::ToolSubcommand;
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::service::{ConnectionPreface, ServiceStream, end_error};
use crate::session;

/// Version of the protocol that the command line speaks.
const VERSION: &str = "2025-11-25";
/// Beginning of the progress of a call that waits for its approval.
const WAITING: &str = "waiting for an approval";

/// Code of an error in the parameters of a request.
const INVALID_PARAMETERS: i64 = -32602;

/// Connection to the service.
struct ServiceClient {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    next: u64,
}

/// Error of a call through the service.
enum RemoteError {
    /// The connection has ended.
    Ended,
    /// The service refuses the request, and says what to do instead.
    Refused(String, Vec<String>),
    /// The service can't take the call.
    BadInput(ToolInputError),
}

pub(super) fn run(command: &ToolSubcommand, service: ServiceStream, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        service.stream.set_nonblocking(true)?;
        let stream = UnixStream::from_std(service.stream)?;
        let call = call(command, stream, console);
        let called = tokio::select! {
            biased;
            called = call => called,
            // The end of the connection ends the call.
            Ok(signal) = signals.next() => return Ok(signal_code(signal.number)),
        };
        called.unwrap_or_else(|error| match error {
            RemoteError::Ended => Err(end_error(&service.path)),
            RemoteError::BadInput(error) => print(&ToolAnswer::bad_input(&error), false, console),
            RemoteError::Refused(message, hints) => Err(CommandError::new(message).hints(hints)),
        })
    })
}

async fn call(
    command: &ToolSubcommand,
    stream: UnixStream,
    console: &Console,
) -> Result<CommandResult, RemoteError> {
    let (reader, writer) = stream.into_split();
    let mut client = ServiceClient { lines: BufReader::new(reader).lines(), writer, next: 0 };
    let wait = command.wait().unwrap_or_default();
    let preface = ConnectionPreface {
        sets: Some(vec![ToolSet::GovernedExecute.name().to_owned()]),
        of_user: true,
        wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
    };
    let call = match command {
        ToolSubcommand::List(_) => None,
        command => match input::of(command, &session::open(console)) {
            Ok(call) => Some(call),
            Err(NoCall::Refused(error)) => return Ok(Err(error)),
            // The service has seen nothing that it could record.
            Err(NoCall::BadInput { error, is_json, .. }) => {
                return Ok(print(&ToolAnswer::bad_input(&error), is_json, console));
            }
        },
    };
    client.write(&preface.line()).await?;
    let params = json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": { "name": "ccm tool", "version": env!("CARGO_PKG_VERSION") },
    });
    client.request("initialize", params, console).await?;
    client
        .write(&format!("{}\n", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })))
        .await?;
    if let ToolSubcommand::List(arguments) = command {
        let listed = client.request("tools/list", json!({}), console).await?;
        let named = listed["tools"].as_array().into_iter().flatten();
        let tools: Vec<ToolName> = named.filter_map(|tool| ToolName::parse(tool["name"].as_str()?)).collect();
        let withheld = Some(&listed["_meta"]["ccm/withheld"]).filter(|withheld| withheld.is_object());
        return Ok(list(
            &tools,
            withheld.map(|withheld| answer(withheld.clone(), String::new())),
            arguments,
            console,
        ));
    }
    let Some(call) = call else { return Ok(Ok(ExitCode::Usage)) };
    let params = json!({
        "name": call.tool.name(),
        "arguments": call.input,
        "_meta": { "progressToken": 1 },
    });
    let result = match client.request("tools/call", params, console).await {
        Ok(result) => result,
        Err(RemoteError::BadInput(error)) => {
            return Ok(print(&ToolAnswer::bad_input(&error), call.is_json, console));
        }
        Err(error) => return Err(error),
    };
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    Ok(print(&answer(result["structuredContent"].clone(), text), call.is_json, console))
}

fn answer(structured: Value, text: String) -> ToolAnswer {
    let kind = structured["status"].as_str().and_then(AnswerKind::parse);
    ToolAnswer { kind: kind.unwrap_or(AnswerKind::NotTried), text, structured }
}

impl ServiceClient {
    async fn write(&mut self, line: &str) -> Result<(), RemoteError> {
        // Where the service has refused the connection, its reason is read below.
        match self.writer.write_all(line.as_bytes()).await {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(RemoteError::Ended),
            _ => Ok(()),
        }
    }

    /// Sends a request, and returns its result.
    async fn request(
        &mut self,
        method: &str,
        params: Value,
        console: &Console,
    ) -> Result<Value, RemoteError> {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.write(&format!("{request}\n")).await?;
        loop {
            let line = self.lines.next_line().await.ok().flatten().ok_or(RemoteError::Ended)?;
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
            if let Some(text) = message["params"]["message"].as_str() {
                if text.starts_with(WAITING) {
                    console.note(text);
                }
                continue;
            }
            let is_answer = message["id"].as_u64() == Some(self.next);
            if message["error"].is_object() && (is_answer || message["id"].is_null()) {
                let text = |value: &Value| value.as_str().map(str::to_owned);
                let hints = message["error"]["data"]["instead"].as_array().into_iter().flatten();
                let hints: Vec<String> = hints.filter_map(text).collect();
                let reason = text(&message["error"]["message"]).unwrap_or_default();
                if message["error"]["code"] == INVALID_PARAMETERS {
                    let error = text(&message["error"]["data"]["error"]).unwrap_or(reason);
                    return Err(RemoteError::BadInput(ToolInputError {
                        message: error,
                        hint: hints.join("; "),
                    }));
                }
                return Err(RemoteError::Refused(reason, hints));
            }
            if is_answer {
                return Ok(message["result"].take());
            }
        }
    }
}
