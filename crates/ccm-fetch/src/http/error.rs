//! Errors of downloads.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::HttpUrl;

/// Error of a download. The address is displayed without credentials and query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// A variable that names a proxy is not valid.
    #[error("the variable `{variable}` names no proxy that can be used: {reason}")]
    ProxyVariable {
        /// Name of the variable.
        variable: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// The name of the host is not known, or no name server answers.
    #[error("the address of the host `{host}` could not be found")]
    Lookup {
        /// Host of the server or proxy.
        host: String,
        /// Error of the lookup.
        source: io::Error,
    },
    /// The connection failed.
    #[error("no connection to {address}")]
    Connect {
        /// Host and port of the server or proxy.
        address: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The proxy refused the connection.
    #[error("the proxy {proxy} refused a connection to {address}: {answer}")]
    Proxy {
        /// Host and port of the proxy.
        proxy: String,
        /// Host and port of the server.
        address: String,
        /// First line of the answer.
        answer: String,
    },
    /// The certificate of the server does not prove who it is.
    #[error("no secure connection to {address}")]
    Certificate {
        /// Host and port of the server.
        address: String,
        /// What is wrong with the certificate.
        source: io::Error,
    },
    /// The server speaks no common version of TLS, or none at all.
    #[error("no secure connection to {address}")]
    Tls {
        /// Host and port of the server.
        address: String,
        /// Error of the handshake.
        source: io::Error,
    },
    /// The file with certificates can't be used.
    #[error("the certificates in \"{}\" can't be read", .path.display())]
    CaFile {
        /// Path of the file.
        path: PathBuf,
        /// Error of reading or parsing.
        source: io::Error,
    },
    /// The certificate of the client, or its key, can't be used.
    #[error("\"{}\" is no certificate or key that the client can use", .path.display())]
    ClientCertificate {
        /// Path of the file.
        path: PathBuf,
        /// Error of reading or parsing.
        source: io::Error,
    },
    /// The system has no certificates.
    #[error("no certificates of certification authorities were found on this system")]
    NoCertificates,
    /// The method of the request is not valid.
    #[error("`{method}` is no method of a request")]
    Method {
        /// The method.
        method: String,
    },
    /// A header field of the request is not valid.
    #[error("the header field `{name}` is not valid")]
    Header {
        /// Name of the field.
        name: String,
    },
    /// The server answered with another status than success.
    #[error("{url}: the server answered {status}")]
    Status {
        /// Address that was answered.
        url: HttpUrl,
        /// Number and words of the status.
        status: String,
        /// Number of the status.
        code: u16,
    },
    /// The answer is not HTTP, or not the answer to the request.
    #[error("{url}: the answer can't be understood: {reason}")]
    Answer {
        /// Address that was answered.
        url: HttpUrl,
        /// What is wrong.
        reason: String,
    },
    /// The content is encoded in a way that ccm does not know.
    #[error("{url}: the server encoded the content with `{encoding}`, although ccm did not ask for it")]
    Encoding {
        /// Address that was answered.
        url: HttpUrl,
        /// Name of the encoding.
        encoding: String,
    },
    /// A redirect has no valid target.
    #[error("{url} redirects to an address that is not valid")]
    Redirect {
        /// Address that was answered.
        url: HttpUrl,
        /// Error in the target.
        source: super::UrlError,
    },
    /// A redirect from `https` to `http`.
    #[error("{from} redirects to {to}, which is not encrypted")]
    RedirectToHttp {
        /// Address that was answered.
        from: HttpUrl,
        /// Target of the redirect.
        to: Box<HttpUrl>,
    },
    /// Too many redirects in a row.
    #[error("{url} redirects more than {max} times")]
    TooManyRedirects {
        /// Address of the request.
        url: HttpUrl,
        /// Maximum number of redirects.
        max: u32,
    },
    /// The file is too long.
    #[error("{url} is larger than {max} bytes")]
    TooLarge {
        /// Address of the file.
        url: HttpUrl,
        /// Maximum length.
        max: u64,
    },
    /// The transfer broke off and could not be continued.
    #[error("{url}: the transfer broke off after {received} bytes")]
    Interrupted {
        /// Address of the file.
        url: HttpUrl,
        /// Bytes that were received.
        received: u64,
        /// Error of the connection.
        source: io::Error,
    },
    /// The download took too long.
    #[error("the download of {url} timed out after {}", humane(.after))]
    TimedOut {
        /// Address of the file.
        url: HttpUrl,
        /// Time limit.
        after: Duration,
    },
    /// The run was cancelled during the download.
    #[error("stopped together with the run")]
    Cancelled,
    /// The file on this machine can't be written.
    #[error("the downloaded file could not be written")]
    Write(#[source] io::Error),
    /// The thread of the download could not be started.
    #[error("a thread for the download could not be started")]
    Thread(#[source] io::Error),
}

impl HttpError {
    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::ProxyVariable { .. } => "set the variable to a value like `http://proxy.example.com:3128`",
            Self::Lookup { .. } => "check the name of the host, and the name servers of this machine",
            Self::Connect { .. } => {
                "check that the server runs, and whether a proxy or firewall is in between"
            }
            Self::Proxy { .. } => "check the proxy, or name the host in `no_proxy`",
            Self::Tls { .. } => "check the port, or use `http://` if the server speaks no TLS",
            Self::Certificate { .. } => {
                "set `ca_file` if the server has a certificate of a private authority"
            }
            Self::NoCertificates => "install the package `ca-certificates`, or set `ca_file`",
            Self::CaFile { .. } => "name a file with certificates in PEM format in `ca_file`",
            Self::Status { code: 401 | 403 | 407, .. } => "check `username`, `password` and `headers`",
            Self::Status { code: 404 | 410, .. } => "check `url`",
            Self::Status { code: 429 | 503, .. } => "try again later: the server is busy",
            Self::Encoding { .. } => {
                "turn off the encoding of this file on the server, or use another server"
            }
            Self::RedirectToHttp { .. } => "use the final address as `url`",
            Self::TooLarge { .. } => "raise `max_size`",
            Self::TimedOut { .. } => "raise `timeout`",
            Self::Write(error) if error.kind() == io::ErrorKind::StorageFull => {
                "free space on the file system of this path"
            }
            _ => return None,
        })
    }
}

fn humane(duration: &Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{}ms", duration.as_millis()),
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    }
}
