//! Connections to an Engine, one for each request.

use std::io;
use std::time::Duration;

use ccm_host::{EngineAddress, after};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;

use crate::error::EngineError;

/// Bytes in both directions, after a request that asked for them.
pub(crate) type RawStream = TokioIo<Upgraded>;

/// Task that moves the bytes of a connection. It ends with this value.
#[derive(Debug)]
pub(crate) struct Transfer(JoinHandle<()>);

impl Drop for Transfer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Begun answer of an Engine.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response<Incoming>,
    address: EngineAddress,
    transfer: Transfer,
}

/// Sends a request over a connection of its own, and waits for the beginning of the answer.
pub(crate) async fn send(
    address: &EngineAddress,
    request: Request<Full<Bytes>>,
    within: Option<Duration>,
) -> Result<Answer, EngineError> {
    let exchange = async {
        let unreachable = |source| EngineError::Unreachable { address: address.clone(), source };
        match address {
            EngineAddress::Unix(path) => {
                let stream = UnixStream::connect(path).await.map_err(unreachable)?;
                exchange(address, stream, request).await
            }
            EngineAddress::Tcp(name) => {
                let stream = TcpStream::connect(name).await.map_err(unreachable)?;
                stream.set_nodelay(true).map_err(unreachable)?;
                exchange(address, stream, request).await
            }
        }
    };
    limited(address, within, exchange).await
}

async fn exchange<S>(
    address: &EngineAddress,
    stream: S,
    request: Request<Full<Bytes>>,
) -> Result<Answer, EngineError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = |error| lost_or_strange(address, error);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // An error of the connection ends the request, or the stream after it, with that error.
    let transfer = Transfer(tokio::spawn(async move { drop(connection.with_upgrades().await) }));
    let response = sender.send_request(request).await.map_err(failed)?;
    Ok(Answer { response, address: address.clone(), transfer })
}

/// Waits for a future, but not longer than an Engine may take; `None` is any time.
pub(crate) async fn limited<T>(
    address: &EngineAddress,
    within: Option<Duration>,
    future: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    tokio::select! {
        biased;
        result = future => result,
        within = after(within) => Err(EngineError::Silent { address: address.clone(), within }),
    }
}

fn lost_or_strange(address: &EngineAddress, error: hyper::Error) -> EngineError {
    let address = address.clone();
    if error.is_parse() {
        EngineError::Answer { address, problem: error.to_string() }
    } else {
        EngineError::Lost { address, source: error.into() }
    }
}

impl Answer {
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn address(&self) -> &EngineAddress {
        &self.address
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Returns the next bytes of the body; `None` at its end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, EngineError> {
        loop {
            let Some(frame) = self.response.frame().await else { return Ok(None) };
            let frame = frame.map_err(|error| lost_or_strange(&self.address, error))?;
            // Trailers hold nothing of interest.
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }
    }

    /// Returns the whole body, up to a limit of bytes; `None` if it is longer.
    pub(crate) async fn body(&mut self, limit: usize) -> Result<Option<Vec<u8>>, EngineError> {
        let mut body = Vec::new();
        while let Some(bytes) = self.next().await? {
            if body.len() + bytes.len() > limit {
                return Ok(None);
            }
            body.extend_from_slice(&bytes);
        }
        Ok(Some(body))
    }

    /// Returns the stream that the connection turned into.
    pub(crate) async fn upgraded(self) -> Result<(RawStream, Transfer), EngineError> {
        let Self { response, address, transfer } = self;
        let upgrade: OnUpgrade = hyper::upgrade::on(response);
        let stream = upgrade.await.map_err(|error| lost_or_strange(&address, error))?;
        Ok((TokioIo::new(stream), transfer))
    }
}

/// Builds the error of a stream that broke.
pub(crate) fn broken(address: &EngineAddress, source: io::Error) -> EngineError {
    EngineError::Lost { address: address.clone(), source: source.into() }
}
