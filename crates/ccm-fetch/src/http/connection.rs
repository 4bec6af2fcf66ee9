//! Connections to web servers, directly or through a proxy.

use std::io;
use std::time::Duration;

use ccm_model::encode_base64;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::proxy::Proxy;
use super::{HttpCredentials, HttpError, HttpUrl, tls};

/// Time limit for connecting to one address of a host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum length of the answer of a proxy.
const MAX_PROXY_ANSWER: usize = 8 << 10;

/// Connection, encrypted or not.
pub(super) trait Connection: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Connection for T {}

/// Opens a connection to the server of an address.
pub(super) async fn connect(
    url: &HttpUrl,
    proxy: Option<&Proxy>,
    tls: Option<&TlsConnector>,
) -> Result<Box<dyn Connection>, HttpError> {
    let stream = match proxy {
        None => connect_tcp(url.host(), url.port()).await?,
        Some(proxy) => {
            let mut stream = connect_tcp(&proxy.host, proxy.port).await?;
            if url.is_https() {
                open_tunnel(&mut stream, url, proxy).await?;
            }
            stream
        }
    };
    let Some(tls) = tls.filter(|_| url.is_https()) else { return Ok(Box::new(stream)) };
    let failed = |source| {
        let address = address(url.host(), url.port());
        if tls::is_of_certificate(&source) {
            HttpError::Certificate { address, source }
        } else {
            HttpError::Tls { address, source }
        }
    };
    let handshake = timeout(CONNECT_TIMEOUT, tls::encrypt(tls, stream, url.host())).await;
    Ok(Box::new(handshake.unwrap_or_else(|_| Err(too_slow())).map_err(failed)?))
}

/// Connects to the first address of a host that answers.
async fn connect_tcp(host: &str, port: u16) -> Result<TcpStream, HttpError> {
    let unknown = |source| HttpError::Lookup { host: host.to_owned(), source };
    let addresses = lookup_host((host, port)).await.map_err(unknown)?;
    let mut failed = None;
    for one in addresses {
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(one)).await.unwrap_or_else(|_| Err(too_slow())) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(source) => Err(HttpError::Connect { address: address(host, port), source }),
        None => Err(unknown(io::ErrorKind::NotFound.into())),
    }
}

/// Asks a proxy for a connection to the server.
async fn open_tunnel(stream: &mut TcpStream, url: &HttpUrl, proxy: &Proxy) -> Result<(), HttpError> {
    let server = address(url.host(), url.port());
    let failed = |source| HttpError::Connect { address: address(&proxy.host, proxy.port), source };
    let mut request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n");
    if let Some(credentials) = &proxy.credentials {
        request += &format!("Proxy-Authorization: {}\r\n", basic(credentials));
    }
    request += "\r\n";
    let exchange = async {
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        // Byte by byte, because what follows the answer belongs to the server.
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() == MAX_PROXY_ANSWER {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is too long"));
            }
            answer.push(stream.read_u8().await?);
        }
        Ok(answer)
    };
    let answer = timeout(CONNECT_TIMEOUT, exchange).await.unwrap_or_else(|_| Err(too_slow()));
    let answer = answer.map_err(failed)?;
    let first = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
    let code = first.split(' ').nth(1).unwrap_or_default();
    if first.starts_with("HTTP/1.") && code.len() == 3 && code.starts_with('2') {
        return Ok(());
    }
    let answer = first.escape_debug().to_string();
    Err(HttpError::Proxy { proxy: address(&proxy.host, proxy.port), address: server, answer })
}

fn too_slow() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "no answer within 15s")
}

pub(super) fn address(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Returns the value of an `Authorization` field.
pub(super) fn basic(credentials: &HttpCredentials) -> String {
    let text = format!("{}:{}", credentials.username, credentials.password);
    format!("Basic {}", encode_base64(text.as_bytes()))
}
