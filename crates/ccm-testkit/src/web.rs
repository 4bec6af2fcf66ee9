//! Web server of a test, on the loopback interface. It answers as the test wants, also wrongly.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Authority that signs the certificates of [`Certificate`], in PEM format.
pub const TEST_AUTHORITY: &str = include_str!("web/authority.pem");

/// Certificate of a test server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// Valid for `localhost` and `127.0.0.1`.
    Localhost,
    /// Valid for another host.
    Stranger,
    /// For `localhost`, but no longer valid.
    Expired,
}

/// Request that a server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRequest {
    /// Method, path and query: `GET /a?b`.
    pub line: String,
    /// Header fields; names are in lower case.
    pub fields: Vec<(String, String)>,
}

impl WebRequest {
    /// Returns the value of a header field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first byte that is asked for: 0 without `Range`.
    pub fn first_byte(&self) -> usize {
        let range = self.field("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
        range.and_then(|first| first.parse().ok()).unwrap_or(0)
    }
}

/// Connection to a client.
pub trait WebStream: Read + Write {}

impl<T: Read + Write> WebStream for T {}

type AnswerFunction = dyn Fn(&WebRequest, &mut dyn WebStream) -> io::Result<()> + Send + Sync;

/// Web server that runs until it is dropped. Each connection has one request.
pub struct WebServer {
    address: SocketAddr,
    is_tls: bool,
    requests: Arc<Mutex<Vec<WebRequest>>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WebServer {
    /// Starts a server.
    pub fn start(
        answer: impl Fn(&WebRequest, &mut dyn WebStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(None, Arc::new(answer))
    }

    /// Starts a server that encrypts.
    pub fn start_tls(
        certificate: Certificate,
        answer: impl Fn(&WebRequest, &mut dyn WebStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(Some(server_config(certificate)), Arc::new(answer))
    }

    /// Starts a server of one file, which supports ranges.
    pub fn of_file(content: impl Into<Vec<u8>>) -> Self {
        let content = content.into();
        Self::start(move |request, stream| answer_range(request, stream, &content))
    }

    fn start_with(tls: Option<Arc<ServerConfig>>, answer: Arc<AnswerFunction>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let requests = Arc::<Mutex<Vec<WebRequest>>>::default();
        let ended = Arc::<AtomicBool>::default();
        let is_tls = tls.is_some();
        let (seen, is_ended) = (Arc::clone(&requests), Arc::clone(&ended));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_ended.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let (tls, answer, seen) = (tls.clone(), Arc::clone(&answer), Arc::clone(&seen));
                // The thread ends with the connection of the client.
                std::thread::spawn(move || drop(serve(stream, tls, &*answer, &seen)));
            }
        });
        Self { address, is_tls, requests, ended, thread: Some(thread) }
    }

    /// Returns the address of a path, with `127.0.0.1` as the host.
    pub fn url(&self, path: &str) -> String {
        self.url_of("127.0.0.1", path)
    }

    /// Returns the address of a path with another name of this machine.
    pub fn url_of(&self, host: &str, path: &str) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{host}:{}{path}", self.address.port())
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<WebRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    answer: &AnswerFunction,
    seen: &Mutex<Vec<WebRequest>>,
) -> io::Result<()> {
    let mut stream: Box<dyn WebStream> = match tls {
        None => Box::new(stream),
        Some(config) => {
            let connection = ServerConnection::new(config).map_err(io::Error::other)?;
            Box::new(StreamOwned::new(connection, stream))
        }
    };
    let Some(request) = read_request(&mut *stream)? else { return Ok(()) };
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    answer(&request, &mut *stream)?;
    stream.flush()
}

fn read_request(stream: &mut dyn WebStream) -> io::Result<Option<WebRequest>> {
    let mut head = BufReader::with_capacity(1, stream).lines();
    let Some(first) = head.next().transpose()? else { return Ok(None) };
    let line = first.trim_end_matches(" HTTP/1.1").to_owned();
    let mut fields = Vec::new();
    for field in head {
        let field = field?;
        let Some((name, value)) = field.split_once(':') else { break };
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Some(WebRequest { line, fields }))
}

fn server_config(certificate: Certificate) -> Arc<ServerConfig> {
    let pem = match certificate {
        Certificate::Localhost => include_str!("web/localhost.pem"),
        Certificate::Stranger => include_str!("web/stranger.pem"),
        Certificate::Expired => include_str!("web/expired.pem"),
    };
    let parsed = CertificateDer::from_pem_slice(pem.as_bytes())
        .ok()
        .zip(PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok());
    let Some((certificate, key)) = parsed else { panic!("the certificate can't be read") };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map(|config| config.with_no_client_auth().with_single_cert(vec![certificate], key));
    match config {
        Ok(Ok(config)) => Arc::new(config),
        Ok(Err(error)) | Err(error) => panic!("no server with this certificate: {error}"),
    }
}

/// Answers with a status, header fields and a body. `Content-Length` is added.
pub fn answer(
    stream: &mut dyn WebStream,
    status: &str,
    fields: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    answer_head(stream, status, fields, Some(body.len()))?;
    stream.write_all(body)
}

/// Answers with a head alone.
pub fn answer_head(
    stream: &mut dyn WebStream,
    status: &str,
    fields: &[(&str, &str)],
    length: Option<usize>,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for (name, value) in fields {
        head += &format!("{name}: {value}\r\n");
    }
    if let Some(length) = length {
        head += &format!("Content-Length: {length}\r\n");
    }
    stream.write_all((head + "\r\n").as_bytes())
}

/// Answers with a file, or with the part of it that was asked for.
pub fn answer_range(request: &WebRequest, stream: &mut dyn WebStream, content: &[u8]) -> io::Result<()> {
    let first = request.first_byte();
    if first == 0 {
        return answer(stream, "200 OK", &[("ETag", "\"1\""), ("Accept-Ranges", "bytes")], content);
    }
    let range = format!("bytes {first}-{}/{}", content.len() - 1, content.len());
    answer(stream, "206 Partial Content", &[("ETag", "\"1\""), ("Content-Range", &range)], &content[first..])
}

/// Waits until the client closes the connection.
pub fn stay_silent(stream: &mut dyn WebStream) -> io::Result<()> {
    let mut byte = [0];
    while stream.read(&mut byte)? > 0 {}
    Ok(())
}
