//! Standard input and output of a client, relayed to the service of tools.

use std::io;

use ccm_runtime::ExitCode;
use ccm_runtime::process::signals::Signals;
use tokio::io::{AsyncWriteExt as _, copy};
use tokio::net::UnixStream;

use crate::arguments::{McpArguments, ToolSetArgument};
use crate::error::{CommandResult, signal_code};
use crate::service::{ConnectionPreface, ServiceStream, end_error};

pub(super) fn run(arguments: &McpArguments, service: ServiceStream) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(relay(arguments, service, &signals));
    // A read of standard input can't be interrupted.
    runtime.shutdown_background();
    code
}

async fn relay(arguments: &McpArguments, service: ServiceStream, signals: &Signals) -> CommandResult {
    service.stream.set_nonblocking(true)?;
    let (mut from, mut to) = UnixStream::from_std(service.stream)?.into_split();
    let sets = arguments.sets.iter().map(|set| set.as_str().to_owned()).collect();
    let preface = ConnectionPreface { sets: Some(sets), ..ConnectionPreface::default() };
    if to.write_all(preface.line().as_bytes()).await.is_err() {
        return Err(end_error(&service.path));
    }
    // Lives in a task of its own: the end of standard input ends only this side of the connection.
    let mut sending = tokio::spawn(async move {
        let copied = copy(&mut tokio::io::stdin(), &mut to).await;
        // The service may have gone.
        let _ = to.shutdown().await;
        drop(to);
        copied
    });
    let mut stdout = tokio::io::stdout();
    let mut receiving = std::pin::pin!(copy(&mut from, &mut stdout));
    let mut has_closed = false;
    loop {
        tokio::select! {
            biased;
            received = &mut receiving => {
                return match received {
                    // The client reads no more.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::Success),
                    // The end of the input and of the answers can be noticed at once.
                    _ if has_closed || sending.is_finished() => Ok(ExitCode::Success),
                    _ => Err(end_error(&service.path)),
                };
            }
            _ = &mut sending, if !has_closed => has_closed = true,
            // With this process the connection ends, and so the calls.
            Ok(signal) = signals.next() => return Ok(signal_code(signal.number)),
        }
    }
}

impl ToolSetArgument {
    pub(super) fn as_str(self) -> &'static str {
        self.tool_set().name()
    }
}
