//! Answers that are not simply the file: busy servers, interim answers, and encodings.

use std::sync::atomic::{AtomicUsize, Ordering};

use ccm_fetch::HttpRequest;
use ccm_testkit::{WebServer, answer, answer_head};

use crate::archive::pack::compress;
use crate::http::{fetch, request};

/// A server that is busy a number of times, and then has the file.
fn busy(times: usize, status: &'static str, retry_after: &'static str) -> WebServer {
    let asked = AtomicUsize::new(0);
    WebServer::start(move |_, stream| {
        if asked.fetch_add(1, Ordering::Relaxed) < times {
            answer(stream, status, &[("Retry-After", retry_after)], b"busy")
        } else {
            answer(stream, "200 OK", &[], b"x")
        }
    })
}

fn encoded(encoding: &'static str, body: Vec<u8>) -> WebServer {
    WebServer::start(move |_, stream| answer(stream, "200 OK", &[("Content-Encoding", encoding)], &body))
}

#[test]
fn a_busy_server_is_asked_again() {
    for (status, retry_after) in [
        ("503 Service Unavailable", "0"),
        ("429 Too Many Requests", "0"),
        ("503 Service Unavailable", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ] {
        let server = busy(2, status, retry_after);
        assert_eq!(fetch(request(&server.url("/a"))).content(), b"x", "{status} {retry_after}");
        assert_eq!(server.requests().len(), 3);
    }
}

#[test]
fn a_server_that_stays_busy_or_asks_for_long_is_left() {
    for (retry_after, asked) in [("0", 6), ("86400", 1), ("soon", 1), ("Fri, 31 Dec 9999 23:59:59 GMT", 1)] {
        let server = busy(100, "503 Service Unavailable", retry_after);
        let error = fetch(request(&server.url("/a"))).error();
        assert!(error.ends_with("the server answered 503 Service Unavailable"), "{error}");
        assert_eq!(server.requests().len(), asked, "{retry_after}");
    }
}

#[test]
fn interim_answers_are_read_over_but_not_for_ever() {
    for (number, is_read) in [(0, true), (3, true), (20, true), (21, false), (5000, false)] {
        let server = WebServer::start(move |_, stream| {
            for _ in 0..number {
                stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n")?;
            }
            answer(stream, "200 OK", &[], b"x")
        });
        let fetched = fetch(request(&server.url("/a")));
        if is_read {
            assert_eq!(fetched.content(), b"x", "{number}");
        } else {
            assert!(fetched.error().ends_with("more than 20 interim answers"), "{}", fetched.error());
        }
    }
}

#[test]
fn gzip_that_nobody_asked_for_is_decoded() {
    let content = b"0123456789\n".repeat(20_000);
    let gzip = compress(".tar.gz", &content);
    for encoding in ["gzip", "x-gzip", "identity, GZIP"] {
        let server = encoded(encoding, gzip.clone());
        assert!(fetch(request(&server.url("/t.txt"))).content() == content, "{encoding}");
    }
    // The file itself is compressed.
    let server = encoded("x-gzip", gzip.clone());
    assert!(fetch(request(&server.url("/t.txt.gz"))).content() == gzip);
    assert_eq!(fetch(request(&encoded("gzip", Vec::new()).url("/t"))).content(), b"");
}

#[test]
fn gzip_that_is_damaged_or_grows_too_large_is_refused() {
    let gzip = compress(".tar.gz", &b"x".repeat(100_000));
    for bytes in [gzip[..gzip.len() - 4].to_vec(), b"plain".to_vec()] {
        let error = fetch(request(&encoded("gzip", bytes).url("/t"))).error();
        assert!(error.contains("its gzip content is damaged"), "{error}");
    }
    let server = encoded("gzip", gzip);
    let error = fetch(HttpRequest { max_size: 99_999, ..request(&server.url("/t")) }).error();
    assert!(error.ends_with("is larger than 99999 bytes"), "{error}");
}

#[test]
fn other_encodings_are_refused_by_name() {
    for encoding in ["br", "zstd", "gzip, br"] {
        let error = fetch(request(&encoded(encoding, b"?".to_vec()).url("/t"))).error();
        let told =
            format!("the server encoded the content with `{encoding}`, although ccm did not ask for it");
        assert!(error.ends_with(&told), "{error}");
    }
    // The status of an error matters more.
    let server = WebServer::start(|_, stream| {
        answer_head(stream, "404 Not Found", &[("Content-Encoding", "br")], Some(0))
    });
    assert!(fetch(request(&server.url("/t"))).error().ends_with("404 Not Found"));
}
