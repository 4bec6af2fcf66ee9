//! The service of tools: one client at the other end of a socket, whose user the kernel names.

use std::io::{self, Cursor};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::time::Duration;

use ccm_mcp::{ConnectionLimits, McpSettings, serve};
use ccm_runtime::ExitCode;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::process::{current_user, own_process, own_program};
use ccm_tool::{CallerKind, ConnectionRefused, ServedUser, ServiceConnections, ToolCaller, ToolSet};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, UCred};
use tokio::time::timeout;

use super::stdio::{ended_by, first_signal};
use crate::arguments::McpArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::service::{ConnectionPreface, refusal};
use crate::{session, tool};

/// Longest time until a client has begun, and longest time for which it may leave a message unread, unless the operator names
/// another.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time for which a call may wait for its approval.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);
/// Maximum length of a message in bytes, which holds the longest code.
const MAX_MESSAGE: usize = 2 << 20;
/// Maximum length of the first line in which a preface is looked for.
const MAX_PREFACE: usize = 64 << 10;

pub(super) fn run(arguments: McpArguments, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(serve_peer(arguments, &signals, console))?;
    runtime.shutdown_background();
    Ok(code)
}

async fn serve_peer(arguments: McpArguments, signals: &Signals, console: &Console) -> CommandResult {
    let (mut stream, peer) = match accepted() {
        Ok(accepted) => accepted,
        Err(error) => {
            let hint = "let `ccm-tool.socket` of systemd start this, with the connection as standard input";
            let message = "standard input is no connection of a Unix socket";
            return Err(CommandError::usage(message).caused_by(&error).hint(hint));
        }
    };
    let limit = arguments.client_timeout.unwrap_or(CLIENT_TIMEOUT);
    let session = session::open_with(console, &arguments.state);
    let begun = ServiceConnections::of(&session).and_then(|connections| {
        let served = served_user(&session, peer.uid())?;
        Ok((connections, served))
    });
    let (connections, served) = match begun {
        Ok(begun) => begun,
        Err(refused) => return Err(refuse(&mut stream, peer, refused, limit).await),
    };
    let _counted = match connections.begin(peer.uid()) {
        Ok(counted) => counted,
        Err(refused) => return Err(refuse(&mut stream, peer, refused, limit).await),
    };
    let (mut reader, writer) = stream.into_split();
    let (preface, rest) = match timeout(limit, first_line(&mut reader)).await {
        Ok(Ok(first)) => first,
        // The client has gone.
        Ok(Err(_)) => return Ok(ExitCode::Success),
        Err(_) => {
            console.note(&format!("user {} has begun no session", served.account.name));
            return Ok(ExitCode::Success);
        }
    };
    let limits = ConnectionLimits { begin: Some(limit), unread: Some(limit), message: Some(MAX_MESSAGE) };
    let settings = settings(arguments, &preface, (peer, limits), served, console);
    let reader = Cursor::new(rest).chain(reader);
    let signal = std::cell::Cell::new(None);
    let served = serve(settings, (reader, writer), first_signal(signals, &signal)).await;
    ended_by(signal.get(), served)
}

/// Returns the connection that is standard input, and the process at its other end.
fn accepted() -> io::Result<(UnixStream, UCred)> {
    let stream = StdUnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // An error for a socket of another family, and for one that only listens.
    stream.peer_addr()?;
    stream.set_nonblocking(true)?;
    let stream = UnixStream::from_std(stream)?;
    let peer = stream.peer_cred()?;
    Ok((stream, peer))
}

/// Returns the user at the other end. Commands can run as this user.
fn served_user(session: &ccm_runtime::Session, uid: u32) -> Result<ServedUser, ConnectionRefused> {
    let refused = |message: String, hint: &str, is_fault: bool| ConnectionRefused {
        message,
        hint: hint.to_owned(),
        is_fault,
    };
    let account = session.commands().ok().and_then(|commands| commands.account(&uid.to_string()).ok());
    // The name of another user can be a number.
    let account = account.filter(|account| account.identity.uid == uid).ok_or_else(|| {
        let hint = "call the tools as a user of this machine";
        refused(format!("this machine has no user with the number {uid}"), hint, false)
    })?;
    let own = current_user();
    if own != 0 && own != uid {
        let message =
            format!("this service has the user number {own}, and can't run calls of user {}", account.name);
        return Err(refused(message, "let an operator run the service as root", true));
    }
    let reader = own_program().map_err(|error| {
        refused(format!("the program of the service can't be found: {error}"), "connect again", true)
    })?;
    Ok(ServedUser { account, reader })
}

/// Tells the client why its connection is not served, and returns the same for the operator.
async fn refuse(
    stream: &mut UnixStream,
    peer: UCred,
    refused: ConnectionRefused,
    limit: Duration,
) -> CommandError {
    let line = refusal(&refused.message, &refused.hint);
    // The client may have gone, or may not read.
    let _ = timeout(limit, stream.write_all(line.as_bytes())).await;
    let message = format!("a connection of user number {} is refused: {refused}", peer.uid());
    let code = if refused.is_fault { ExitCode::NothingRun } else { ExitCode::Denied };
    CommandError::new(message).hint(refused.hint).with_code(code)
}

/// Reads the first line. What is no preface is left for the protocol.
async fn first_line(reader: &mut OwnedReadHalf) -> io::Result<(ConnectionPreface, Vec<u8>)> {
    let mut read = Vec::new();
    loop {
        let from = read.len();
        let is_ended = reader.read_buf(&mut read).await? == 0;
        let end = read[from..].iter().position(|byte| *byte == b'\n').map(|end| from + end);
        if let Some(end) = end {
            return Ok(match ConnectionPreface::parse(&read[..end]) {
                Some(preface) => (preface, read.split_off(end + 1)),
                None => (ConnectionPreface::default(), read),
            });
        }
        if is_ended || read.len() > MAX_PREFACE {
            return Ok((ConnectionPreface::default(), read));
        }
    }
}

fn settings(
    arguments: McpArguments,
    preface: &ConnectionPreface,
    (peer, limits): (UCred, ConnectionLimits),
    served: ServedUser,
    console: &Console,
) -> McpSettings {
    let is_asked_for =
        |set: &ToolSet| preface.sets.as_ref().is_none_or(|sets| sets.iter().any(|asked| asked == set.name()));
    let sets: Vec<ToolSet> = arguments.sets.iter().map(|set| set.tool_set()).filter(is_asked_for).collect();
    let (console, state) = (console.clone(), arguments.state.state_dir);
    let (pid, started) = own_process();
    let is_of_user = preface.of_user;
    let caller = ToolCaller {
        kind: if is_of_user { CallerKind::Cli } else { CallerKind::Mcp },
        user: served.account.name.clone(),
        uid: peer.uid(),
        pid: peer.pid().unwrap_or_default(),
        client: None,
        connection: (!is_of_user).then(|| format!("{pid}-{started}")),
    };
    McpSettings {
        broker: Box::new(move || {
            tool::broker_config(&console, state.clone(), sets.clone(), Some(served.clone()))
        }),
        caller: Box::new(move |_| caller.clone()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits,
        wait: Duration::from_millis(preface.wait_ms).min(MAX_WAIT),
    }
}
