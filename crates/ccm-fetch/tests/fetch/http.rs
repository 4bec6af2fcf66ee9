//! Downloads from servers that are slow, silent, broken or hostile.

mod answered;
mod encrypted;
mod ending;
mod proxied;
mod redirected;
mod resumed;
mod transferred;

use std::fs::File;
use std::time::{Duration, Instant};

use ccm_fetch::{Downloaded, HttpError, HttpRequest, HttpUrl, download};
use ccm_host::Cancellation;
use ccm_testkit::Scratch;

/// A request for an address, with small limits.
fn request(url: &str) -> HttpRequest {
    let url = HttpUrl::parse(url).expect("a URL");
    HttpRequest { idle_timeout: Duration::from_secs(20), ..HttpRequest::new(url, 1 << 20) }
}

/// Result of a download, with what is in the file then.
struct Fetched {
    result: Result<Downloaded, HttpError>,
    content: Vec<u8>,
    took: Duration,
}

impl Fetched {
    fn content(&self) -> &[u8] {
        assert!(self.result.is_ok(), "{:?}", self.result);
        &self.content
    }

    /// The error with its causes, in words.
    fn error(&self) -> String {
        let error = self.result.as_ref().expect_err("an error");
        let mut words = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(error) = source {
            words += &format!(": {error}");
            source = error.source();
        }
        words
    }
}

fn fetch(request: HttpRequest) -> Fetched {
    fetch_until(request, &Cancellation::never())
}

fn fetch_until(request: HttpRequest, cancellation: &Cancellation) -> Fetched {
    let scratch = Scratch::new();
    let path = scratch.path().join("file");
    let file = File::create(&path).expect("a file");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let begun = Instant::now();
    let result = runtime.block_on(download(request, file, cancellation, Box::new(|_, _| ())));
    Fetched { result, took: begun.elapsed(), content: std::fs::read(&path).expect("the file") }
}
