//! The Engine API, as far as commands need it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::EngineAddress;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, UPGRADE};
use hyper::{Method, Request, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::OnceCell;
use tracing::debug;

use crate::answers::{
    ContainerState, Created, ErrorMessage, ExecInspection, ImageDetails, ListedContainer, PullProgress,
    Waited,
};
use crate::connection::{Answer, RawStream, Transfer, limited, send};
use crate::error::{EngineError, Step, one_line};
use crate::logins::Login;
use crate::reference::ImageReference;
use crate::target::{path_segment, query};

/// Time in which an Engine answers what it has in memory.
const QUICK: Option<Duration> = Some(Duration::from_secs(30));
/// Time in which an Engine creates, starts or removes a container, which a busy disk may make slow.
const SLOW: Option<Duration> = Some(Duration::from_secs(300));
/// Maximum size of an answer, in bytes.
const MAX_ANSWER: usize = 16 << 20;
/// Maximum length of a line that reports the progress of a pull.
const MAX_LINE: usize = 1 << 20;
/// Header with the login at a registry.
const REGISTRY_AUTH: HeaderName = HeaderName::from_static("x-registry-auth");
/// Newest version of the API that ccm asks for.
const NEWEST: ApiVersion = ApiVersion(1, 47);
/// Oldest version of the API that ccm can use, that of Docker 19.03.
const OLDEST: ApiVersion = ApiVersion(1, 40);
/// Oldest version that creates containers for a platform.
const PLATFORMS: ApiVersion = ApiVersion(1, 41);

/// Version of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ApiVersion(u32, u32);

impl ApiVersion {
    fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self(major.parse().ok()?, minor.parse().ok()?))
    }
}

impl std::fmt::Display for ApiVersion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// An Engine.
#[derive(Debug)]
pub(crate) struct Engine {
    address: EngineAddress,
    version: OnceCell<ApiVersion>,
}

/// Stream of a container or a command in it, multiplexed by the Engine.
#[derive(Debug)]
pub(crate) struct AttachedStream {
    pub stream: RawStream,
    /// Moves the bytes of the stream as long as it lives.
    pub transfer: Transfer,
}

impl Engine {
    pub(crate) fn new(address: EngineAddress) -> Self {
        Self { address, version: OnceCell::new() }
    }

    pub(crate) fn address(&self) -> &EngineAddress {
        &self.address
    }

    /// Agrees on a version with the Engine, once.
    async fn version(&self) -> Result<ApiVersion, EngineError> {
        self.version.get_or_try_init(|| self.negotiate()).await.copied()
    }

    async fn negotiate(&self) -> Result<ApiVersion, EngineError> {
        let request = self.request(&Method::GET, "/_ping".to_owned(), None, false)?;
        let mut answer = send(&self.address, request, QUICK).await?;
        let version = answer.header("api-version").and_then(ApiVersion::parse);
        if answer.status() != StatusCode::OK {
            return Err(refusal(Step::Negotiate, &mut answer).await);
        }
        let Some(version) = version else {
            return Err(self.strange("it has no `Api-Version`"));
        };
        debug!(engine = %self.address, %version, "connected to the Engine");
        if version < OLDEST {
            return Err(EngineError::TooOld {
                address: self.address.clone(),
                version: version.to_string(),
                needed: OLDEST.to_string(),
            });
        }
        Ok(version.min(NEWEST))
    }

    /// Returns what is known of an image.
    pub(crate) async fn image(&self, name: &str) -> Result<ImageDetails, EngineError> {
        self.json(
            Step::InspectImage,
            Method::GET,
            &format!("/images/{}/json", path_segment(name)),
            None,
            QUICK,
        )
        .await
    }

    /// Pulls an image from its registry, with a login if there is one. The caller limits the time.
    pub(crate) async fn pull(
        &self,
        image: &str,
        platform: Option<&str>,
        login: Option<&Login>,
    ) -> Result<(), EngineError> {
        let ImageReference { name, tag } = ImageReference::parse(image);
        let path = format!(
            "/images/create{}",
            query(&[("fromImage", Some(name)), ("tag", Some(tag)), ("platform", platform)])
        );
        let mut request = self.request(&Method::POST, self.path(&path).await?, None, false)?;
        if let Some(login) = login {
            let value = HeaderValue::from_str(&login.header);
            let mut value = value.map_err(|error| self.strange(&error.to_string()))?;
            value.set_sensitive(true);
            request.headers_mut().insert(REGISTRY_AUTH, value);
        }
        let mut answer = self.answered(Step::Pull, request, None).await?;
        // Each line is a JSON object, and an error comes as the last one.
        let mut line = Vec::new();
        let mut error = None;
        while let Some(bytes) = answer.next().await? {
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                if line.len() + part.len() > MAX_LINE {
                    return Err(self.strange("a line of its progress is too long"));
                }
                line.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    error = progress_error(&std::mem::take(&mut line)).or(error);
                }
            }
        }
        error = progress_error(&line).or(error);
        match error {
            Some(message) => {
                Err(EngineError::Refused { step: Step::Pull, status: 200, message: one_line(&message) })
            }
            None => Ok(()),
        }
    }

    /// Creates a container of this name.
    pub(crate) async fn create(
        &self,
        name: &str,
        platform: Option<&str>,
        body: Value,
    ) -> Result<Created, EngineError> {
        if platform.is_some() && self.version().await? < PLATFORMS {
            let version = self.version().await?.to_string();
            let needed = format!("{PLATFORMS} for `platform`");
            return Err(EngineError::TooOld { address: self.address.clone(), version, needed });
        }
        let path = format!("/containers/create{}", query(&[("name", Some(name)), ("platform", platform)]));
        self.json(Step::Create, Method::POST, &path, Some(body), SLOW).await
    }

    /// Attaches to standard input of a container, to its output, or to both.
    pub(crate) async fn attach(
        &self,
        container: &str,
        input: bool,
        output: bool,
    ) -> Result<AttachedStream, EngineError> {
        let flag = |on| Some(if on { "1" } else { "0" });
        let streams = [("stdin", flag(input)), ("stdout", flag(output)), ("stderr", flag(output))];
        let parameters = query(&[&[("stream", Some("1"))], &streams[..]].concat());
        self.upgrade(Step::Attach, &format!("/containers/{container}/attach{parameters}"), None).await
    }

    pub(crate) async fn start(&self, container: &str) -> Result<(), EngineError> {
        self.done(Step::Start, Method::POST, &format!("/containers/{container}/start"), SLOW).await
    }

    /// Waits until a container that was started has ended, for any time. Returns its exit code.
    pub(crate) async fn wait(&self, container: &str) -> Result<i64, EngineError> {
        let path = self.path(&format!("/containers/{container}/wait")).await?;
        let request = self.request(&Method::POST, path, None, false)?;
        // Some Engines send the head of the answer at the end only.
        let mut answer = send(&self.address, request, None).await?;
        if !answer.status().is_success() {
            return Err(refusal(Step::Wait, &mut answer).await);
        }
        let waited: Waited = self.parsed(&mut answer).await?;
        Ok(waited.status_code)
    }

    pub(crate) async fn signal(&self, container: &str, signal: &str) -> Result<(), EngineError> {
        let path = format!("/containers/{container}/kill{}", query(&[("signal", Some(signal))]));
        self.done(Step::Signal, Method::POST, &path, QUICK).await
    }

    pub(crate) async fn state(&self, container: &str) -> Result<ContainerState, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Inspected {
            state: ContainerState,
        }
        let path = format!("/containers/{container}/json");
        let inspected: Inspected = self.json(Step::Inspect, Method::GET, &path, None, QUICK).await?;
        Ok(inspected.state)
    }

    /// Removes a container, running or not, with its anonymous volumes. One that is not there is removed.
    pub(crate) async fn remove(&self, container: &str) -> Result<(), EngineError> {
        let path = format!("/containers/{container}?force=1&v=1");
        match self.done(Step::Remove, Method::DELETE, &path, SLOW).await {
            // 409: its removal has begun.
            Err(error) if error.status() == Some(404) => Ok(()),
            Err(error) if error.status() == Some(409) && error.message().contains("already in progress") => {
                Ok(())
            }
            result => result,
        }
    }

    /// Lists the containers with a label, whether they run or not.
    pub(crate) async fn list(&self, label: &str) -> Result<Vec<ListedContainer>, EngineError> {
        let filters = serde_json::json!({ "label": [label] }).to_string();
        let path = format!("/containers/json{}", query(&[("all", Some("1")), ("filters", Some(&filters))]));
        self.json(Step::List, Method::GET, &path, None, QUICK).await
    }

    /// Prepares a command in a running container.
    pub(crate) async fn create_exec(&self, container: &str, body: Value) -> Result<Created, EngineError> {
        self.json(Step::Start, Method::POST, &format!("/containers/{container}/exec"), Some(body), QUICK)
            .await
    }

    /// Starts a command in a running container.
    pub(crate) async fn start_exec(&self, exec: &str) -> Result<AttachedStream, EngineError> {
        let body = serde_json::json!({ "Detach": false, "Tty": false });
        self.upgrade(Step::Start, &format!("/exec/{}/start", path_segment(exec)), Some(body)).await
    }

    pub(crate) async fn exec_state(&self, exec: &str) -> Result<ExecInspection, EngineError> {
        let path = format!("/exec/{}/json", path_segment(exec));
        self.json(Step::Inspect, Method::GET, &path, None, QUICK).await
    }

    /// Returns the names and numbers of the processes in a container, in the order of the Engine.
    pub(crate) async fn processes(&self, container: &str) -> Result<Vec<(i32, String)>, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Top {
            #[serde(default)]
            processes: Vec<Vec<String>>,
        }
        let path = format!("/containers/{container}/top{}", query(&[("ps_args", Some("-o pid,comm"))]));
        let top: Top = self.json(Step::Inspect, Method::GET, &path, None, QUICK).await?;
        let row = |row: Vec<String>| Some((row.first()?.parse().ok()?, row.last()?.clone()));
        Ok(top.processes.into_iter().filter_map(row).collect())
    }

    /// Reads the events of a container since a time, until one has been found or they end.
    pub(crate) async fn find_event<T>(
        &self,
        container: &str,
        since: SystemTime,
        within: Duration,
        mut find: impl FnMut(&Value) -> Option<T>,
    ) -> Result<Option<T>, EngineError> {
        let filters = serde_json::json!({ "container": [container], "type": ["container"] }).to_string();
        let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = format!("{}.{:09}", since.as_secs(), since.subsec_nanos());
        let path = format!("/events{}", query(&[("since", Some(&since)), ("filters", Some(&filters))]));
        let search = async {
            let mut answer = self.send(Step::Inspect, Method::GET, &path, None, QUICK).await?;
            let mut line = Vec::new();
            while let Some(bytes) = answer.next().await? {
                for byte in bytes {
                    if byte != b'\n' {
                        line.push(byte);
                        if line.len() > MAX_LINE {
                            return Err(self.strange("an event is too long"));
                        }
                        continue;
                    }
                    let event: Option<Value> = serde_json::from_slice(&std::mem::take(&mut line)).ok();
                    if let Some(found) = event.as_ref().and_then(&mut find) {
                        return Ok(Some(found));
                    }
                }
            }
            Ok(None)
        };
        match limited(&self.address, Some(within), search).await {
            // The stream of events does not end by itself.
            Err(EngineError::Silent { .. }) => Ok(None),
            result => result,
        }
    }

    async fn path(&self, path: &str) -> Result<String, EngineError> {
        Ok(format!("/v{}{path}", self.version().await?))
    }

    fn request(
        &self,
        method: &Method,
        path: String,
        body: Option<Value>,
        is_upgrade: bool,
    ) -> Result<Request<Full<Bytes>>, EngineError> {
        let mut request = Request::builder().method(method).uri(path).header(HOST, "docker");
        if is_upgrade {
            request = request.header(CONNECTION, "Upgrade").header(UPGRADE, "tcp");
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        request.body(Full::new(body)).map_err(|error| self.strange(&error.to_string()))
    }

    /// Sends a request, and returns the answer if it is not an error.
    async fn send(
        &self,
        step: Step,
        method: Method,
        path: &str,
        body: Option<Value>,
        within: Option<Duration>,
    ) -> Result<Answer, EngineError> {
        let request = self.request(&method, self.path(path).await?, body, false)?;
        self.answered(step, request, within).await
    }

    /// Returns the answer to a request if it is not an error.
    async fn answered(
        &self,
        step: Step,
        request: Request<Full<Bytes>>,
        within: Option<Duration>,
    ) -> Result<Answer, EngineError> {
        let mut answer = send(&self.address, request, within).await?;
        if answer.status().is_success() || answer.status() == StatusCode::NOT_MODIFIED {
            return Ok(answer);
        }
        Err(refusal(step, &mut answer).await)
    }

    async fn json<T: DeserializeOwned>(
        &self,
        step: Step,
        method: Method,
        path: &str,
        body: Option<Value>,
        within: Option<Duration>,
    ) -> Result<T, EngineError> {
        let mut answer = self.send(step, method, path, body, within).await?;
        limited(&self.address, within, self.parsed(&mut answer)).await
    }

    async fn done(
        &self,
        step: Step,
        method: Method,
        path: &str,
        within: Option<Duration>,
    ) -> Result<(), EngineError> {
        self.send(step, method, path, None, within).await.map(drop)
    }

    async fn upgrade(
        &self,
        step: Step,
        path: &str,
        body: Option<Value>,
    ) -> Result<AttachedStream, EngineError> {
        let request = self.request(&Method::POST, self.path(path).await?, body, true)?;
        let mut answer = send(&self.address, request, SLOW).await?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            if answer.status().is_success() {
                return Err(self.strange("it does not switch to a stream"));
            }
            return Err(refusal(step, &mut answer).await);
        }
        let (stream, transfer) = limited(&self.address, QUICK, answer.upgraded()).await?;
        Ok(AttachedStream { stream, transfer })
    }

    async fn parsed<T: DeserializeOwned>(&self, answer: &mut Answer) -> Result<T, EngineError> {
        let body = answer.body(MAX_ANSWER).await?.ok_or_else(|| self.strange("it is too long"))?;
        serde_json::from_slice(&body).map_err(|error| self.strange(&error.to_string()))
    }

    fn strange(&self, problem: &str) -> EngineError {
        EngineError::Answer { address: self.address.clone(), problem: problem.to_owned() }
    }
}

/// Reads the error of a step that the Engine refused.
async fn refusal(step: Step, answer: &mut Answer) -> EngineError {
    /// Maximum size of an error, in bytes.
    const MAX_ERROR: usize = 256 << 10;
    let status = answer.status();
    let address = answer.address().clone();
    let body = match limited(&address, QUICK, answer.body(MAX_ERROR)).await {
        Ok(body) => body.unwrap_or_default(),
        Err(error) => return error,
    };
    let message = match serde_json::from_slice::<ErrorMessage>(&body) {
        Ok(error) => error.message,
        Err(_) => String::from_utf8_lossy(&body).into_owned(),
    };
    let message = one_line(&message);
    let message = if message.is_empty() { status.to_string() } else { message };
    EngineError::Refused { step, status: status.as_u16(), message }
}

/// Returns the error in a line that reports the progress of a pull.
fn progress_error(line: &[u8]) -> Option<String> {
    serde_json::from_slice::<PullProgress>(line).ok()?.error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_number() {
        let version = |text: &str| ApiVersion::parse(text).unwrap();
        assert!(version("1.9") < version("1.41") && version("1.41") < version("2.0"));
        assert_eq!(ApiVersion::parse("1"), None);
        assert_eq!(ApiVersion::parse("1.x"), None);
        assert_eq!(version("1.41").to_string(), "1.41");
    }
}
