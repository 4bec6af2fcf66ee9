//! The transfer of one file: redirects, limits, and going on after a broken connection.

use std::fs::File;
use std::future::Future;
use std::io;
use std::time::Duration;

use ccm_host::{Clock as _, SystemClock};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, COOKIE, HOST, HeaderName, HeaderValue, IF_RANGE, LOCATION,
    PROXY_AUTHORIZATION, RANGE, USER_AGENT,
};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;

use super::connection::{Connection, basic, connect};
use super::cookies::CookieJar;
use super::gunzip::Gunzip;
use super::interim::InterimLimit;
use super::response::{ContentEncoding, PartRange, RetryBudget, VersionTag, content_length, served_version};
use super::sink::DownloadSink;
use super::{Downloaded, HttpError, HttpRequest, HttpUrl, OnProgress, ServedVersion, tls};

const MAX_REDIRECTS: u32 = 10;

/// Maximum number of broken connections in a row that brought no byte.
const MAX_FRUITLESS: u32 = 3;

/// Pause before a broken transfer is continued; it doubles with each fruitless try.
const RESUME_PAUSE: Duration = Duration::from_millis(500);

/// Time between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Downloads a file on the current thread, until `stopped` ends.
pub(super) fn run(
    request: &HttpRequest,
    file: File,
    stopped: oneshot::Receiver<()>,
    on_progress: &OnProgress,
) -> Result<Downloaded, HttpError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(HttpError::Thread)?;
    let result = runtime.block_on(async {
        tokio::select! {
            biased;
            _ = stopped => Err(HttpError::Cancelled),
            result = within(request, FileTransfer::run(request, file, on_progress)) => result,
        }
    });
    // A lookup of a name may go on for long, and nobody waits for it.
    runtime.shutdown_background();
    result
}

/// Ends a download at its time limit.
async fn within<T>(
    request: &HttpRequest,
    download: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, HttpError> {
    let Some(after) = request.timeout else { return download.await };
    let timed_out = || HttpError::TimedOut { url: request.url.clone(), after };
    timeout(after, download).await.unwrap_or_else(|_| Err(timed_out()))
}

struct FileTransfer<'r> {
    request: &'r HttpRequest,
    tls: Option<TlsConnector>,
    sink: DownloadSink,
    validator: Option<VersionTag>,
    served: ServedVersion,
    total: Option<u64>,
    cookies: CookieJar,
    retries: RetryBudget,
    on_progress: &'r OnProgress,
    /// Time of the last report of progress, and the bytes that it named.
    shown: Option<(Instant, u64)>,
}

/// Answer with the content of the file, and the address that gave it.
struct HttpReply {
    url: HttpUrl,
    response: Response<Incoming>,
}

impl<'r> FileTransfer<'r> {
    async fn run(
        request: &'r HttpRequest,
        file: File,
        on_progress: &'r OnProgress,
    ) -> Result<Downloaded, HttpError> {
        let sink = DownloadSink::new(file)?;
        let mut transfer = Self {
            request,
            tls: None,
            sink,
            validator: None,
            served: ServedVersion::default(),
            total: None,
            cookies: CookieJar::default(),
            retries: RetryBudget::default(),
            on_progress,
            shown: None,
        };
        let mut resumed = 0;
        let mut fruitless = 0;
        loop {
            let before = transfer.sink.received();
            let broken = match transfer.attempt().await {
                Ok(()) => break,
                Err(error) if transfer.can_go_on(&error) => error,
                Err(error) => return Err(error),
            };
            fruitless = if transfer.sink.received() > before { 0 } else { fruitless + 1 };
            if fruitless == MAX_FRUITLESS {
                return Err(broken);
            }
            sleep(RESUME_PAUSE * 2_u32.pow(fruitless)).await;
            resumed += 1;
        }
        let size = transfer.sink.received();
        (on_progress)(size, Some(size));
        Ok(Downloaded { sha256: transfer.sink.finish()?, size, resumed, served: transfer.served })
    }

    /// Returns `true` if the transfer can be continued after an error: the connection broke after the first byte,
    /// and the server knows which version of the file it was.
    fn can_go_on(&self, error: &HttpError) -> bool {
        let is_broken = matches!(
            error,
            HttpError::Interrupted { .. } | HttpError::Connect { .. } | HttpError::Lookup { .. }
        );
        is_broken && self.sink.received() > 0 && self.validator.is_some()
    }

    /// Requests the file, or the rest of it, and reads to the end.
    async fn attempt(&mut self) -> Result<(), HttpError> {
        let HttpReply { url, response } = self.follow_redirects().await?;
        let (head, body) = response.into_parts();
        let answer_error = |reason: &str| HttpError::Answer { url: url.clone(), reason: reason.to_owned() };
        let received = self.sink.received();
        match head.status {
            StatusCode::PARTIAL_CONTENT if received > 0 => {
                let range = PartRange::of(&head.headers);
                let range = range.ok_or_else(|| answer_error("a part without a valid `Content-Range`"))?;
                // A server that ignores `If-Range` sends the rest of another version.
                let (tag, before) = (VersionTag::entity_tag(&head.headers), self.validator.as_ref());
                if tag
                    .is_some_and(|tag| before.is_some_and(|before| before.is_entity_tag() && *before != tag))
                {
                    return Err(answer_error("the file changed during the transfer"));
                }
                if range.first != received || range.total.is_some_and(|total| Some(total) != self.total) {
                    return Err(answer_error("it is not the part that was asked for"));
                }
            }
            StatusCode::OK => {
                if received > 0 {
                    self.sink.restart()?;
                }
                self.validator = VersionTag::of(&head.headers);
                self.served = served_version(&head.headers);
                self.total = content_length(&head.headers);
            }
            StatusCode::RANGE_NOT_SATISFIABLE if received > 0 => {
                return Err(answer_error("the file changed during the transfer"));
            }
            status => return Err(HttpError::Status { url, status: in_words(status), code: status.as_u16() }),
        }
        let names = [url.file_name(), self.request.url.file_name()];
        let gunzip = match ContentEncoding::of(&head.headers, &names) {
            ContentEncoding::None => None,
            ContentEncoding::Gzip if head.status == StatusCode::OK => {
                // Neither the length nor the first byte of a part would be those of the file.
                (self.validator, self.total) = (None, None);
                Some(Gunzip::new())
            }
            ContentEncoding::Gzip => return Err(HttpError::Encoding { url, encoding: "gzip".to_owned() }),
            ContentEncoding::Other(encoding) => return Err(HttpError::Encoding { url, encoding }),
        };
        self.receive(&url, body, gunzip).await
    }

    /// Reads the content to its end.
    async fn receive(
        &mut self,
        url: &HttpUrl,
        mut body: Incoming,
        mut gunzip: Option<Gunzip>,
    ) -> Result<(), HttpError> {
        if self.total.is_some_and(|total| total > self.request.max_size) {
            return Err(self.too_large(url));
        }
        let damaged = |error: io::Error| HttpError::Answer {
            url: url.clone(),
            reason: format!("its gzip content is damaged: {error}"),
        };
        loop {
            let frame = if self.is_shown() {
                self.idle(url, body.frame()).await?
            } else if let Ok(frame) = timeout(PROGRESS_INTERVAL, body.frame()).await {
                frame
            } else {
                // The server pauses: what came before is shown meanwhile.
                self.show();
                continue;
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|error| self.interrupted(url, io::Error::other(error)))?;
            let Ok(part) = frame.into_data() else { continue };
            match &mut gunzip {
                None => self.push(url, part)?,
                Some(gunzip) => {
                    for piece in gunzip.pieces(&part) {
                        self.push(url, piece.map_err(damaged)?)?;
                    }
                }
            }
            self.show();
        }
        if let Some(gunzip) = gunzip {
            self.push(url, gunzip.finish().map_err(damaged)?)?;
        }
        match self.total {
            Some(total) if total != self.sink.received() => {
                Err(self.interrupted(url, io::ErrorKind::UnexpectedEof.into()))
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, url: &HttpUrl, part: Bytes) -> Result<(), HttpError> {
        if self.sink.received() + part.len() as u64 > self.request.max_size {
            return Err(self.too_large(url));
        }
        self.sink.push(part)
    }

    fn too_large(&self, url: &HttpUrl) -> HttpError {
        HttpError::TooLarge { url: url.clone(), max: self.request.max_size }
    }

    async fn follow_redirects(&mut self) -> Result<HttpReply, HttpError> {
        let mut url = self.request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_until_ready(&url).await?;
            let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
            let location = response.headers().get(LOCATION).filter(|_| is_redirect);
            let Some(location) = location else { return Ok(HttpReply { url, response }) };
            let invalid = |source| HttpError::Redirect { url: url.clone(), source };
            let next = url.join(location.as_bytes()).map_err(invalid)?;
            if url.is_https() && !next.is_https() {
                return Err(HttpError::RedirectToHttp { from: url, to: next.into() });
            }
            url = next;
        }
        Err(HttpError::TooManyRedirects { url: self.request.url.clone(), max: MAX_REDIRECTS })
    }

    /// Requests an address, again if a busy server asks for a pause.
    async fn send_until_ready(&mut self, url: &HttpUrl) -> Result<Response<Incoming>, HttpError> {
        loop {
            let response = self.send(url).await?;
            let (status, headers, now) = (response.status(), response.headers(), SystemClock::new().now());
            self.cookies.keep(url, headers, now);
            match self.retries.pause(status.as_u16(), headers, now) {
                None => return Ok(response),
                Some(pause) => sleep(pause).await,
            }
        }
    }

    async fn send(&mut self, url: &HttpUrl) -> Result<Response<Incoming>, HttpError> {
        if url.is_https() && self.tls.is_none() {
            self.tls = Some(tls::connector(self.request.ca_file.as_deref())?);
        }
        let proxy = self.request.proxies.proxy_for(url)?;
        let mut request = self.build(url)?;
        if let Some(proxy) = proxy.as_ref().filter(|_| !url.is_https()) {
            // A proxy wants the whole address.
            let whole = format!("http://{}{}", url.authority(), url.target());
            *request.uri_mut() = whole.parse().map_err(|_| invalid_target(url))?;
            if let Some(credentials) = &proxy.credentials {
                let value = secret_value(&basic(credentials));
                request.headers_mut().insert(PROXY_AUTHORIZATION, value.ok_or_else(|| invalid_target(url))?);
            }
        }
        let stream: Box<dyn Connection> = connect(url, proxy.as_ref(), self.tls.as_ref()).await?;
        let failed = |error: hyper::Error| self.interrupted(url, io::Error::other(error));
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // It ends with the body, or with the runtime.
        tokio::spawn(connection);
        let limit = InterimLimit::of(&mut request);
        let response = tokio::select! {
            biased;
            reason = limit.exceeded() => return Err(HttpError::Answer { url: url.clone(), reason }),
            response = self.idle(url, sender.send_request(request)) => response?,
        };
        response.map_err(|error| {
            if error.is_parse() {
                HttpError::Answer { url: url.clone(), reason: error.to_string() }
            } else {
                failed(error)
            }
        })
    }

    fn build(&self, url: &HttpUrl) -> Result<Request<Empty<Bytes>>, HttpError> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = url.target().parse().map_err(|_| invalid_target(url))?;
        let headers = request.headers_mut();
        let host = HeaderValue::from_str(&url.authority()).map_err(|_| invalid_target(url))?;
        headers.insert(HOST, host);
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("ccm/", env!("CARGO_PKG_VERSION"))));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        // The bytes of the file, as they are on the server.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if self.request.url.is_same_server(url) {
            let credentials = self.request.credentials.as_ref().or(self.request.url.credentials());
            if let Some(value) = credentials.and_then(|credentials| secret_value(&basic(credentials))) {
                headers.insert(AUTHORIZATION, value);
            }
            for field in &self.request.headers {
                let name = HeaderName::from_bytes(field.name.as_bytes()).ok();
                let field = name.zip(secret_value(&field.value));
                let (name, value) = field.ok_or_else(|| HttpError::Header { name: self.invalid_header() })?;
                headers.insert(name, value);
            }
        }
        if let Some(set) = self.cookies.field(url) {
            let own = headers.get(COOKIE).and_then(|own| own.to_str().ok());
            let all = own.map_or_else(|| set.clone(), |own| format!("{own}; {set}"));
            if let Some(all) = secret_value(&all) {
                headers.insert(COOKIE, all);
            }
        }
        if let Some(VersionTag(validator)) = self.validator.as_ref().filter(|_| self.sink.received() > 0) {
            let range = HeaderValue::from_str(&format!("bytes={}-", self.sink.received()));
            if let (Ok(range), Ok(validator)) = (range, HeaderValue::from_str(validator)) {
                headers.insert(RANGE, range);
                headers.insert(IF_RANGE, validator);
            }
        }
        Ok(request)
    }

    /// Returns the name of the first field that is not valid.
    fn invalid_header(&self) -> String {
        let is_invalid = |name: &str, value: &str| {
            HeaderName::from_bytes(name.as_bytes()).is_err() || secret_value(value).is_none()
        };
        let found = self.request.headers.iter().find(|field| is_invalid(&field.name, &field.value));
        found.map(|field| field.name.escape_debug().to_string()).unwrap_or_default()
    }

    /// Waits for a step of the server. Silence for too long breaks the connection.
    async fn idle<T>(&self, url: &HttpUrl, step: impl Future<Output = T>) -> Result<T, HttpError> {
        let after = self.request.idle_timeout;
        let silent = || {
            let source =
                io::Error::new(io::ErrorKind::TimedOut, format!("nothing was received for {after:?}"));
            self.interrupted(url, source)
        };
        timeout(after, step).await.map_err(|_| silent())
    }

    fn interrupted(&self, url: &HttpUrl, source: io::Error) -> HttpError {
        HttpError::Interrupted { url: url.clone(), received: self.sink.received(), source }
    }

    /// Reports the progress, unless the last report is recent.
    fn show(&mut self) {
        if self.shown.is_none_or(|(shown, _)| shown.elapsed() >= PROGRESS_INTERVAL) {
            let received = self.sink.received();
            self.shown = Some((Instant::now(), received));
            (self.on_progress)(received, self.total);
        }
    }

    /// Returns `true` if all that was received was reported.
    fn is_shown(&self) -> bool {
        self.shown.is_none_or(|(_, bytes)| bytes == self.sink.received())
    }
}

/// Returns a value that is not displayed, even in traces.
fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn invalid_target(url: &HttpUrl) -> HttpError {
    HttpError::Answer { url: url.clone(), reason: "the path or query holds an invalid character".to_owned() }
}

/// Returns the number and the words of a status.
fn in_words(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(words) => format!("{} {words}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}
