//! The transfer of one file: redirects, limits, and going on after a broken connection.

use std::fs::File;
use std::future::Future;
use std::io;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::client::{Client, HttpReply, ReceivedPart, interrupted};
use super::gunzip::Gunzip;
use super::response::{ContentEncoding, PartRange, VersionTag, content_length, served_version};
use super::sink::DownloadSink;
use super::{Downloaded, HttpError, HttpRequest, HttpUrl, OnProgress, ServedVersion};

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
    super::block_on(stopped, within(request, FileTransfer::run(request, file, on_progress)))
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
    client: Client<'r>,
    sink: DownloadSink,
    validator: Option<VersionTag>,
    served: ServedVersion,
    total: Option<u64>,
    on_progress: &'r OnProgress,
    /// Time of the last report of progress, and the bytes that it named.
    shown: Option<(Instant, u64)>,
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
            client: Client::new(request),
            sink,
            validator: None,
            served: ServedVersion::default(),
            total: None,
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
        let part = ReceivedPart { bytes: self.sink.received(), validator: self.validator.as_ref() };
        let HttpReply { url, response } = self.client.send(part).await?;
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
                self.client.idle(url, self.sink.received(), body.frame()).await?
            } else if let Ok(frame) = timeout(PROGRESS_INTERVAL, body.frame()).await {
                frame
            } else {
                // The server pauses: what came before is shown meanwhile.
                self.show();
                continue;
            };
            let Some(frame) = frame else { break };
            let frame =
                frame.map_err(|error| interrupted(url, self.sink.received(), io::Error::other(error)))?;
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
                Err(interrupted(url, self.sink.received(), io::ErrorKind::UnexpectedEof.into()))
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

/// Returns the number and the words of a status.
fn in_words(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(words) => format!("{} {words}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}
