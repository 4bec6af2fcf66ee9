//! Messages of one client.

use std::io;
use std::sync::Arc;

use ccm_tool::ToolInputError;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcRequest, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, Empty, empty};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::broker_thread::{BrokerRequest, RefusedCall};
use crate::calls::ConnectionCalls;
use crate::lines::ClientLines;
use crate::message::{ReceivedLine, WrongMessage, received};
use crate::requests::{ConnectionRequests, RequestRefused};
use crate::server::ConnectionLimits;

/// Maximum length of a message in bytes. A longer one is refused.
const MAX_MESSAGE: usize = 16 << 20;
/// Maximum number of messages that wait until the client reads them. Nothing more is read from it meanwhile.
const MAX_UNREAD: usize = 256;

/// Messages of one client. Their end closes the calls of the connection.
pub(crate) struct ClientTransport<R, W: AsyncWrite> {
    lines: ClientLines<R>,
    limit: usize,
    /// Side of the server. What the library would read is empty: it would not answer each message that it can't take.
    writer: AsyncRwTransport<RoleServer, Empty, W>,
    calls: ConnectionCalls,
    requests: ConnectionRequests,
    broker: mpsc::Sender<BrokerRequest>,
    unread: Arc<Semaphore>,
    /// The client has left a message unread for too long.
    has_stalled: Arc<Notify>,
    limits: ConnectionLimits,
    /// Time at which the client must have begun.
    begin: Option<Instant>,
    /// The client has chosen a version of the protocol.
    has_begun: bool,
}

impl<R, W> ClientTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(
        (reader, writer): (R, W),
        calls: ConnectionCalls,
        broker: mpsc::Sender<BrokerRequest>,
        limits: ConnectionLimits,
    ) -> Self {
        let limit = limits.message.unwrap_or(MAX_MESSAGE).min(MAX_MESSAGE);
        Self {
            lines: ClientLines::new(reader, limit),
            limit,
            writer: AsyncRwTransport::new_server(empty(), writer),
            calls,
            requests: ConnectionRequests::default(),
            broker,
            unread: Arc::new(Semaphore::new(MAX_UNREAD)),
            has_stalled: Arc::default(),
            limits,
            begin: limits.begin.map(|time| Instant::now() + time),
            has_begun: false,
        }
    }

    /// Reads the next message that the library may see.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Waits for a client that does not read. The semaphore is never closed.
            drop(self.unread.acquire().await);
            let line = self.lines.next().await?;
            let message = match received(line, self.limit) {
                ReceivedLine::Message(message) => *message,
                ReceivedLine::Noise => continue,
                ReceivedLine::Wrong(wrong) => {
                    self.refuse(wrong);
                    continue;
                }
            };
            self.has_begun |= begins(&message);
            if let Some(wrong) = early_call(&message).filter(|_| !self.has_begun) {
                self.refuse(wrong);
                continue;
            }
            match message {
                ClientJsonRpcMessage::Request(request) => match self.begin(request) {
                    Ok(request) => return Some(ClientJsonRpcMessage::Request(request)),
                    Err(wrong) => self.refuse(wrong),
                },
                message if self.has_begun => return Some(message),
                _ => {}
            }
        }
    }

    /// Counts a request as in progress, until the library has dropped it.
    fn begin(
        &self,
        mut request: JsonRpcRequest<ClientRequest>,
    ) -> Result<JsonRpcRequest<ClientRequest>, WrongMessage> {
        match self.requests.begin(&request.id) {
            Ok(in_progress) => {
                request.request.extensions_mut().insert(in_progress);
                Ok(request)
            }
            Err(refused) => Err(WrongMessage {
                // An answer with an id in use would count as that to the other request.
                id: (refused == RequestRefused::TooMany).then_some(request.id),
                tool: match request.request {
                    ClientRequest::CallToolRequest(call) => Some(call.params.name.into_owned()),
                    _ => None,
                },
                error: ToolInputError { message: refused.to_string(), hint: refused.hint().to_owned() },
            }),
        }
    }

    /// Answers a message with an error. That of a call is recorded before.
    fn refuse(&mut self, wrong: WrongMessage) {
        let sent = self.send(wrong.answer());
        let broker = self.broker.clone();
        // The library can drop the future that reads, but not this one.
        tokio::spawn(async move {
            if let Some(tool) = wrong.tool {
                let (recorded, is_recorded) = oneshot::channel();
                let refused = RefusedCall { tool, error: wrong.error, recorded };
                // Without a broker the connection ends.
                let _ = broker.send(BrokerRequest::Refuse(refused)).await;
                let _ = is_recorded.await;
            }
            // The broker ends with its last sender, and the client may not read.
            drop(broker);
            let _ = sent.await;
        });
    }

    /// Reads the next message of a client that keeps to the limits.
    async fn next_within_limits(&mut self) -> Option<ClientJsonRpcMessage> {
        let stalled = Arc::clone(&self.has_stalled);
        let late = self.begin.filter(|_| !self.has_begun);
        let is_late = async {
            match late {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stalled.notified() => None,
            message = self.next() => message,
            () = is_late => None,
        }
    }
}

/// Returns `true` for the request that begins a connection. Until then, the library ends at any other message than a
/// request.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// Returns the error of a call that would have to begin the connection, and names no version of the protocol.
fn early_call(message: &ClientJsonRpcMessage) -> Option<WrongMessage> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CallToolRequest(call) = &request.request else { return None };
    if request.request.get_meta().protocol_version().is_some() {
        return None;
    }
    let error = ToolInputError {
        message: "a call can't begin a connection".to_owned(),
        hint: "send `initialize` first, or name the version of the protocol in `_meta`".to_owned(),
    };
    Some(WrongMessage {
        id: Some(request.id.clone()),
        tool: Some(call.params.name.clone().into_owned()),
        error,
    })
}

impl<R, W> Transport<RoleServer> for ClientTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        // Without a permit, the message is one of the few that answer what was read before.
        let permit = Arc::clone(&self.unread).try_acquire_owned().ok();
        let sent = self.writer.send(message);
        let (limit, stalled, calls) = (self.limits.unread, Arc::clone(&self.has_stalled), self.calls.clone());
        async move {
            let sent = match limit {
                None => sent.await,
                Some(limit) => timeout(limit, sent).await.unwrap_or_else(|_| {
                    calls.close();
                    stalled.notify_one();
                    Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read"))
                }),
            };
            drop(permit);
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_within_limits().await;
        if message.is_none() {
            self.calls.close();
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.writer.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio::io::{AsyncRead, DuplexStream, duplex, split};

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(test);
    }

    /// Returns a transport, and the side of its client, which takes 64 bytes at a time.
    fn transport(
        limits: ConnectionLimits,
        calls: ConnectionCalls,
    ) -> (ClientTransport<impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin>, DuplexStream) {
        let (ours, theirs) = duplex(64);
        let (broker, _) = mpsc::channel(1);
        (ClientTransport::new(split(ours), calls, broker, limits), theirs)
    }

    #[test]
    fn a_client_that_does_not_read_is_let_go_and_its_calls_end() {
        run(async {
            let calls = ConnectionCalls::default();
            let call = calls.begin().expect("a call");
            let limits = ConnectionLimits { unread: Some(SHORT), ..ConnectionLimits::default() };
            let (mut transport, _client) = transport(limits, calls.clone());
            let text = "x".repeat(1000);
            let long =
                json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
            let long: ServerJsonRpcMessage = serde_json::from_value(long).expect("a message");
            let sent = transport.send(long).await;
            assert_eq!(sent.expect_err("nobody reads").kind(), io::ErrorKind::TimedOut);
            assert!(call.canceller.cause().is_some(), "the call ends");
            // The client has not closed its side.
            assert!(transport.receive().await.is_none());
            assert!(calls.begin().is_err());
        });
    }

    #[test]
    fn a_client_that_does_not_begin_is_let_go() {
        run(async {
            let calls = ConnectionCalls::default();
            let limits = ConnectionLimits { begin: Some(SHORT), ..ConnectionLimits::default() };
            let (mut transport, mut client) = transport(limits, calls.clone());
            // What begins nothing is no reason to wait longer.
            tokio::io::AsyncWriteExt::write_all(&mut client, b"{}\n\n[]\n").await.expect("written");
            assert!(transport.receive().await.is_none());
            assert!(calls.begin().is_err());
        });
    }
}
