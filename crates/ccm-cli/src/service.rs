//! The service of governed tools, as its clients see it.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use ccm_runtime::process::current_user;
#[cfg(feature = "mcp")]
use serde_json::Value;
use serde_json::json;

use crate::arguments::{ServiceArguments, StateArguments};
use crate::error::{CommandError, CommandResult};

/// Socket of the service of a machine.
const SOCKET: &str = "/run/ccm/tool.sock";
/// Method of the message in front of a connection, which only ccm sends.
const PREFACE: &str = "notifications/ccm/connection";

/// Connection to the service, and its path.
pub(crate) struct ServiceStream {
    pub(crate) stream: UnixStream,
    pub(crate) path: PathBuf,
}

/// Connects to the service whose tools are to be called; `None` if the tools of this user are.
pub(crate) fn connect(
    arguments: &ServiceArguments,
    state: &StateArguments,
) -> CommandResult<Option<ServiceStream>> {
    let names_state = state.state_dir.is_some() && !state.is_of_environment;
    let path = match &arguments.socket {
        Some(path) => path.as_path(),
        None if arguments.local || names_state || current_user() == 0 => return Ok(None),
        None => Path::new(SOCKET),
    };
    match UnixStream::connect(path) {
        Ok(stream) => Ok(Some(ServiceStream { stream, path: path.to_owned() })),
        Err(error) if arguments.socket.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("the service of tools at {} can't be reached", path.display());
            let hint = match error.kind() {
                io::ErrorKind::NotFound => "name the socket of a service, or leave out `--socket`",
                io::ErrorKind::PermissionDenied => {
                    "let an operator add you to the group of the socket, or call your own tools with `--local`"
                }
                _ => {
                    "let an operator run `systemctl restart ccm-tool.socket`, or call your own tools with `--local`"
                }
            };
            Err(CommandError::new(message).caused_by(&error).hint(hint))
        }
    }
}

/// Returns the error of a service that has ended the connection without an answer.
pub(crate) fn end_error(path: &Path) -> CommandError {
    let message = format!("the service of tools at {} ended the connection", path.display());
    CommandError::new(message).hint("let an operator look at `journalctl -u 'ccm-tool@*'`")
}

/// What a client of ccm says about its connection. Nothing of it gives the client more than the service offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionPreface {
    /// Sets that the client asks for; `None` is every set that the service offers.
    pub(crate) sets: Option<Vec<String>>,
    /// The calls belong to the user, and not to the connection: the command line has one connection for each call.
    pub(crate) of_user: bool,
    /// Time in milliseconds for which a call waits for an approval.
    pub(crate) wait_ms: u64,
}

impl ConnectionPreface {
    /// Returns the message, with its line end.
    pub(crate) fn line(&self) -> String {
        let params = json!({ "sets": self.sets, "ofUser": self.of_user, "waitMs": self.wait_ms });
        format!("{}\n", json!({ "jsonrpc": "2.0", "method": PREFACE, "params": params }))
    }

    /// Parses a first line; `None` if it is a message of the protocol.
    #[cfg(feature = "mcp")]
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let message: Value = serde_json::from_slice(line).ok()?;
        if message.get("method").and_then(Value::as_str) != Some(PREFACE) {
            return None;
        }
        let params = message.get("params")?;
        let texts = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            sets: params["sets"].as_array().map(|sets| sets.iter().filter_map(texts).collect()),
            of_user: params["ofUser"].as_bool().unwrap_or_default(),
            wait_ms: params["waitMs"].as_u64().unwrap_or_default(),
        })
    }
}

/// Returns the message with which a service refuses a connection, with its line end.
#[cfg(feature = "mcp")]
pub(crate) fn refusal(message: &str, hint: &str) -> String {
    let error = json!({ "code": -32000, "message": message, "data": { "instead": [hint] } });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error }))
}

#[cfg(all(test, feature = "mcp"))]
mod tests {
    use super::*;

    #[test]
    fn a_preface_comes_back_as_it_was() {
        for preface in [
            ConnectionPreface::default(),
            ConnectionPreface { sets: Some(vec!["read".to_owned()]), of_user: true, wait_ms: 5 },
            ConnectionPreface { sets: Some(Vec::new()), ..ConnectionPreface::default() },
        ] {
            assert_eq!(ConnectionPreface::parse(preface.line().trim_end().as_bytes()), Some(preface));
        }
        for line in ["", "{}", r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#, "[1"] {
            assert_eq!(ConnectionPreface::parse(line.as_bytes()), None, "{line}");
        }
    }
}
