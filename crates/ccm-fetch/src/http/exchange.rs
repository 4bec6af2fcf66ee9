//! One request whose answer is kept in memory, whatever its status is.

use std::future::Future;
use std::io;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::client::{Client, HttpReply, ReceivedPart, interrupted};
use super::gunzip::Gunzip;
use super::response::ContentEncoding;
use super::{HttpError, HttpRequest, HttpUrl};

/// Answer of a web server.
#[derive(Debug)]
pub struct HttpAnswer {
    /// Number of the status.
    pub status: u16,
    /// Header fields in their order, with names in canonical capitals such as `Content-Type`.
    pub headers: Vec<(String, String)>,
    /// Body, if it was to be read.
    pub body: Option<Result<Vec<u8>, HttpError>>,
}

/// Sends a request on the current thread, until `stopped` ends.
pub(super) fn run(
    request: &HttpRequest,
    wants_body: bool,
    stopped: oneshot::Receiver<()>,
) -> Result<HttpAnswer, HttpError> {
    super::block_on(stopped, exchange(request, wants_body))
}

/// Sends a request, and reads its answer. The time limit of the request holds for both.
async fn exchange(request: &HttpRequest, wants_body: bool) -> Result<HttpAnswer, HttpError> {
    let end = request.timeout.map(|limit| (limit, Instant::now() + limit));
    let mut client = Client::new(request);
    let HttpReply { url, response } = within(request, end, client.send(ReceivedPart::default())).await?;
    let (head, body) = response.into_parts();
    let body = if wants_body {
        Some(within(request, end, read_body(&client, request, &url, &head.headers, body)).await)
    } else {
        None
    };
    let headers = head.headers.iter().map(|(name, value)| {
        (canonical_name(name.as_str()), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Ok(HttpAnswer { status: head.status.as_u16(), headers: headers.collect(), body })
}

/// Ends a part of an exchange at the end of its time.
async fn within<T>(
    request: &HttpRequest,
    end: Option<(Duration, Instant)>,
    part: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, HttpError> {
    let Some((after, end)) = end else { return part.await };
    let timed_out = || HttpError::TimedOut { url: request.url.clone(), after };
    timeout_at(end, part).await.unwrap_or_else(|_| Err(timed_out()))
}

async fn read_body(
    client: &Client<'_>,
    request: &HttpRequest,
    url: &HttpUrl,
    headers: &HeaderMap,
    mut body: Incoming,
) -> Result<Vec<u8>, HttpError> {
    let mut gunzip = match ContentEncoding::of(headers, &[]) {
        ContentEncoding::None => None,
        ContentEncoding::Gzip => Some(Gunzip::new()),
        ContentEncoding::Other(encoding) => return Err(HttpError::Encoding { url: url.clone(), encoding }),
    };
    let damaged = |error: io::Error| HttpError::Answer {
        url: url.clone(),
        reason: format!("its gzip content is damaged: {error}"),
    };
    let mut bytes = Vec::new();
    let mut push = |piece: &[u8]| {
        if (bytes.len() + piece.len()) as u64 > request.max_size {
            return Err(HttpError::TooLarge { url: url.clone(), max: request.max_size });
        }
        bytes.extend_from_slice(piece);
        Ok(bytes.len() as u64)
    };
    let mut received = 0;
    while let Some(frame) = client.idle(url, received, body.frame()).await? {
        let frame = frame.map_err(|error| interrupted(url, received, io::Error::other(error)))?;
        let Ok(part) = frame.into_data() else { continue };
        match &mut gunzip {
            None => received = push(&part)?,
            Some(gunzip) => {
                for piece in gunzip.pieces(&part) {
                    received = push(&piece.map_err(damaged)?)?;
                }
            }
        }
    }
    if let Some(gunzip) = gunzip {
        push(&gunzip.finish().map_err(damaged)?)?;
    }
    Ok(bytes)
}

/// Returns a name with capitals at the beginning of each word.
fn canonical_name(name: &str) -> String {
    let mut is_first = true;
    let letters = name.chars().map(|letter| {
        let letter = if is_first { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        is_first = letter == '-';
        letter
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::canonical_name;

    #[test]
    fn names_have_capitals_at_the_beginning_of_words() {
        for (name, canonical) in [
            ("content-type", "Content-Type"),
            ("x-odd-NAME", "X-Odd-Name"),
            ("etag", "Etag"),
            ("-a", "-A"),
            ("", ""),
        ] {
            assert_eq!(canonical_name(name), canonical);
        }
    }
}
