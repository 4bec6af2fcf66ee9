//! Requests to web servers: redirects, cookies, busy servers, and header fields.

use std::future::Future;
use std::io;

use ccm_host::{Clock as _, SystemClock};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, COOKIE, HOST, HeaderName, HeaderValue, IF_RANGE, LOCATION,
    PROXY_AUTHORIZATION, RANGE, USER_AGENT,
};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

use super::connection::{Connection, basic, connect};
use super::cookies::CookieJar;
use super::interim::InterimLimit;
use super::response::{RetryBudget, VersionTag};
use super::{HttpError, HttpRequest, HttpUrl, tls};

const MAX_REDIRECTS: u32 = 10;

/// Client of one request and what follows from it.
pub(super) struct Client<'r> {
    request: &'r HttpRequest,
    tls: Option<TlsConnector>,
    cookies: CookieJar,
    retries: RetryBudget,
}

/// Beginning of a file that was received before.
#[derive(Clone, Copy, Default)]
pub(super) struct ReceivedPart<'v> {
    pub(super) bytes: u64,
    pub(super) validator: Option<&'v VersionTag>,
}

/// Answer, and the address that gave it.
pub(super) struct HttpReply {
    pub(super) url: HttpUrl,
    pub(super) response: Response<Incoming>,
}

/// One request on the way to an answer.
struct Step {
    url: HttpUrl,
    method: Method,
    body: Bytes,
}

impl<'r> Client<'r> {
    pub(super) fn new(request: &'r HttpRequest) -> Self {
        Self { request, tls: None, cookies: CookieJar::default(), retries: RetryBudget::default() }
    }

    /// Sends the request, or one for the rest of a file, and follows redirects.
    pub(super) async fn send(&mut self, part: ReceivedPart<'_>) -> Result<HttpReply, HttpError> {
        let HttpRequest { url, method, body, .. } = self.request;
        let invalid = |_| HttpError::Method { method: method.escape_debug().to_string() };
        let method = Method::from_bytes(method.as_bytes()).map_err(invalid)?;
        let mut step = Step { url: url.clone(), method, body: body.clone().into() };
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_until_ready(&step, part).await?;
            let status = response.status().as_u16();
            let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308) && self.request.follows_redirects;
            let location = response.headers().get(LOCATION).filter(|_| is_redirect);
            let Some(location) = location else { return Ok(HttpReply { url: step.url, response }) };
            let invalid = |source| HttpError::Redirect { url: step.url.clone(), source };
            let next = step.url.join(location.as_bytes()).map_err(invalid)?;
            if step.url.is_https() && !next.is_https() {
                return Err(HttpError::RedirectToHttp { from: step.url, to: next.into() });
            }
            // Browsers and other clients ask for the target of such a redirect without a body.
            if matches!(status, 301..=303) && step.method != Method::HEAD {
                (step.method, step.body) = (Method::GET, Bytes::new());
            }
            step.url = next;
        }
        Err(HttpError::TooManyRedirects { url: self.request.url.clone(), max: MAX_REDIRECTS })
    }

    /// Requests an address, again if a busy server asks for a pause.
    async fn send_until_ready(
        &mut self,
        step: &Step,
        part: ReceivedPart<'_>,
    ) -> Result<Response<Incoming>, HttpError> {
        loop {
            let response = self.send_once(step, part).await?;
            let (status, headers, now) = (response.status(), response.headers(), SystemClock::new().now());
            self.cookies.keep(&step.url, headers, now);
            if !self.request.waits_for_busy_server {
                return Ok(response);
            }
            match self.retries.pause(status.as_u16(), headers, now) {
                None => return Ok(response),
                Some(pause) => sleep(pause).await,
            }
        }
    }

    async fn send_once(
        &mut self,
        step: &Step,
        part: ReceivedPart<'_>,
    ) -> Result<Response<Incoming>, HttpError> {
        let url = &step.url;
        if url.is_https() && self.tls.is_none() {
            self.tls = Some(tls::connector(self.request)?);
        }
        let proxy = self.request.proxies.proxy_for(url)?;
        let mut request = self.build(step, part)?;
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
        let failed = |error: hyper::Error| interrupted(url, part.bytes, io::Error::other(error));
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // It ends with the body, or with the runtime.
        tokio::spawn(connection);
        let limit = InterimLimit::of(&mut request);
        let response = tokio::select! {
            biased;
            reason = limit.exceeded() => return Err(HttpError::Answer { url: url.clone(), reason }),
            response = self.idle(url, part.bytes, sender.send_request(request)) => response?,
        };
        response.map_err(|error| {
            if error.is_parse() {
                HttpError::Answer { url: url.clone(), reason: error.to_string() }
            } else {
                failed(error)
            }
        })
    }

    fn build(&self, step: &Step, part: ReceivedPart<'_>) -> Result<Request<Full<Bytes>>, HttpError> {
        let url = &step.url;
        let mut request = Request::new(Full::new(step.body.clone()));
        *request.method_mut() = step.method.clone();
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
        if let Some(VersionTag(validator)) = part.validator.filter(|_| part.bytes > 0) {
            let range = HeaderValue::from_str(&format!("bytes={}-", part.bytes));
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
    pub(super) async fn idle<T>(
        &self,
        url: &HttpUrl,
        received: u64,
        step: impl Future<Output = T>,
    ) -> Result<T, HttpError> {
        let after = self.request.idle_timeout;
        let silent = || {
            let source =
                io::Error::new(io::ErrorKind::TimedOut, format!("nothing was received for {after:?}"));
            interrupted(url, received, source)
        };
        timeout(after, step).await.map_err(|_| silent())
    }
}

/// Builds the error of a connection that broke.
pub(super) fn interrupted(url: &HttpUrl, received: u64, source: io::Error) -> HttpError {
    HttpError::Interrupted { url: url.clone(), received, source }
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
