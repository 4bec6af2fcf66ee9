//! Messages of one client.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use crate::calls::ConnectionCalls;

/// Maximum length of a message in bytes. A longer one is dropped.
const MAX_MESSAGE: usize = 16 << 20;
/// Maximum number of messages that wait until the client reads them. Nothing more is read from it meanwhile.
const MAX_UNREAD: usize = 256;

/// Messages of one client. Their end closes the calls of the connection.
pub(crate) struct ClientTransport<R: AsyncRead, W: AsyncWrite> {
    lines: AsyncRwTransport<RoleServer, R, W>,
    calls: ConnectionCalls,
    unread: Arc<Semaphore>,
    /// The client has chosen a version of the protocol.
    has_begun: bool,
}

impl<R, W> ClientTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(reader: R, writer: W, calls: ConnectionCalls) -> Self {
        Self {
            lines: AsyncRwTransport::new_server(reader, writer).with_max_line_length(MAX_MESSAGE),
            calls,
            unread: Arc::new(Semaphore::new(MAX_UNREAD)),
            has_begun: false,
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
        let sent = self.lines.send(message);
        async move {
            let sent = sent.await;
            drop(permit);
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Waits for a client that does not read. The semaphore is never closed.
            drop(self.unread.acquire().await);
            let Some(message) = self.lines.receive().await else {
                self.calls.close();
                return None;
            };
            self.has_begun |= begins(&message);
            if self.has_begun || matches!(message, ClientJsonRpcMessage::Request(_)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.lines.close().await
    }
}
