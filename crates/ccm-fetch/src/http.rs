//! Downloads and single requests by HTTP. They run on a thread of their own, so that a silent server or a slow disk holds up nothing
//! but themselves.

mod client;
mod connection;
mod cookies;
mod error;
mod exchange;
mod gunzip;
mod interim;
mod proxy;
mod response;
mod sink;
mod tls;
mod transfer;
mod url;

use std::fmt;
use std::fs::File;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ccm_host::{Cancellation, CancellationLevel};
use tokio::sync::oneshot;

pub use error::HttpError;
pub use exchange::HttpAnswer;
pub use proxy::ProxySettings;
pub use url::{HttpCredentials, HttpUrl, UrlError};

/// Time without a byte after which a connection counts as dead.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Request to a web server, by default for a file.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// Address of the file. Credentials in it are used unless `credentials` are given.
    pub url: HttpUrl,
    /// Method, `GET` by default.
    pub method: String,
    /// Body. Redirects drop it, unless they ask for the same request again.
    pub body: Vec<u8>,
    /// Additional header fields. They are only sent to the server of `url`.
    pub headers: Vec<HeaderField>,
    /// User and password. They are only sent to the server of `url`.
    pub credentials: Option<HttpCredentials>,
    /// File with certificates to trust in place of those of the system.
    pub ca_file: Option<PathBuf>,
    /// Certificate by which the client proves who it is.
    pub client_certificate: Option<ClientCertificate>,
    /// Accepts a server whoever it is.
    pub trusts_any_certificate: bool,
    /// Follows redirects.
    pub follows_redirects: bool,
    /// Asks a busy server again after the pause that it names.
    pub waits_for_busy_server: bool,
    /// Proxies.
    pub proxies: ProxySettings,
    /// Maximum length of the file or body in bytes.
    pub max_size: u64,
    /// Time limit of everything.
    pub timeout: Option<Duration>,
    /// Time without a byte after which a connection counts as dead.
    pub idle_timeout: Duration,
}

/// Files with a certificate of the client and its key, in PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, followed by those of its authorities.
    pub certificate: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// Field of the header of a request. Its value may be a secret and is not displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderField {
    /// Name of the field.
    pub name: String,
    /// Value of the field.
    pub value: String,
}

impl fmt::Debug for HeaderField {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HeaderField({})", self.name)
    }
}

/// File that was downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// The sha256 in hexadecimal digits.
    pub sha256: String,
    /// Length in bytes.
    pub size: u64,
    /// Number of times that an interrupted transfer was continued.
    pub resumed: u32,
    /// Names that the server gave this version of the file.
    pub served: ServedVersion,
}

/// Names of a version of a file, as a server gave them. A later request with them is answered with the status 304 if the
/// file is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedVersion {
    /// Entity tag, weak or strong.
    pub entity_tag: Option<String>,
    /// Time of the last change.
    pub modified: Option<String>,
}

/// Receiver of the progress of a download: bytes so far, and all bytes if the server names their number.
pub type OnProgress = Box<dyn Fn(u64, Option<u64>) + Send>;

impl HttpRequest {
    /// Builds a request with default limits.
    pub fn new(url: HttpUrl, max_size: u64) -> Self {
        Self {
            url,
            method: "GET".to_owned(),
            body: Vec::new(),
            headers: Vec::new(),
            credentials: None,
            ca_file: None,
            client_certificate: None,
            trusts_any_certificate: false,
            follows_redirects: true,
            waits_for_busy_server: true,
            proxies: ProxySettings::default(),
            max_size,
            timeout: None,
            idle_timeout: IDLE_TIMEOUT,
        }
    }

    /// Asks for the file only if it is another one than this version.
    #[must_use]
    pub fn unless_same(mut self, served: &ServedVersion) -> Self {
        let fields =
            [("If-None-Match", &served.entity_tag), ("If-Modified-Since", &served.modified)].into_iter();
        let fields = fields.filter_map(|(name, value)| Some((name, value.clone()?)));
        self.headers.extend(fields.map(|(name, value)| HeaderField { name: name.to_owned(), value }));
        self
    }
}

/// Downloads a file to an open, empty one. A cancellation ends the download at once, and so does dropping the
/// future; the file then holds a part.
pub async fn download(
    request: HttpRequest,
    file: File,
    cancellation: &Cancellation,
    on_progress: OnProgress,
) -> Result<Downloaded, HttpError> {
    let run = move |stopped| transfer::run(&request, file, stopped, &on_progress);
    on_thread("download", cancellation, run).await
}

/// Sends a request, and returns the answer whatever its status is. A cancellation ends the request at once, and so does
/// dropping the future. An answer whose body is not wanted ends with its header fields.
pub async fn ask_web_server(
    request: HttpRequest,
    wants_body: bool,
    cancellation: &Cancellation,
) -> Result<HttpAnswer, HttpError> {
    let run = move |stopped| exchange::run(&request, wants_body, stopped);
    on_thread("web request", cancellation, run).await
}

/// Runs a transfer on a thread of its own, until it ends, or until it is to stop.
async fn on_thread<T: Send + 'static>(
    name: &str,
    cancellation: &Cancellation,
    run: impl FnOnce(oneshot::Receiver<()>) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let (stop, stopped) = oneshot::channel::<()>();
    let (sender, result) = oneshot::channel();
    let thread = std::thread::Builder::new().name(name.to_owned());
    let started = thread.spawn(move || {
        // An error means that nobody waits any more.
        let _ = sender.send(run(stopped));
    });
    started.map_err(HttpError::Thread)?;
    let ended = tokio::select! {
        biased;
        () = cancellation.reached(CancellationLevel::Stop) => Err(HttpError::Cancelled),
        result = result => result.unwrap_or_else(|_| Err(HttpError::Thread(io::ErrorKind::BrokenPipe.into()))),
    };
    drop(stop);
    ended
}

/// Runs a transfer on the current thread, until `stopped` ends.
fn block_on<T>(
    stopped: oneshot::Receiver<()>,
    transfer: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, HttpError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(HttpError::Thread)?;
    let result = runtime.block_on(async {
        tokio::select! {
            biased;
            _ = stopped => Err(HttpError::Cancelled),
            result = transfer => result,
        }
    });
    // A lookup of a name may go on for long, and nobody waits for it.
    runtime.shutdown_background();
    result
}
