//! Transfers that break off and are continued.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ccm_host::sha256;
use ccm_testkit::{WebServer, answer, answer_head, answer_range};

use crate::http::{fetch, request};

const CONTENT: &[u8] = b"0123456789abcdefghij";

/// A server that sends a part of its file, and breaks off, this many times.
fn breaking(times: usize, fields: &'static [(&'static str, &'static str)]) -> WebServer {
    let left = Arc::new(AtomicUsize::new(times));
    WebServer::start(move |request, stream| {
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
            return answer_range(request, stream, CONTENT);
        }
        let first = request.first_byte();
        let range = format!("bytes {first}-{}/{}", CONTENT.len() - 1, CONTENT.len());
        let fields: Vec<(&str, &str)> =
            fields.iter().copied().chain((first > 0).then_some(("Content-Range", &*range))).collect();
        let status = if first > 0 { "206 Partial Content" } else { "200 OK" };
        answer_head(stream, status, &fields, Some(CONTENT.len() - first))?;
        stream.write_all(&CONTENT[first..first + 5])
    })
}

#[test]
fn a_broken_transfer_is_continued() {
    let server = breaking(2, &[("ETag", "\"1\"")]);
    let fetched = fetch(request(&server.url("/a")));
    assert_eq!(fetched.content(), CONTENT);
    let downloaded = fetched.result.expect("a download");
    assert_eq!((downloaded.resumed, downloaded.sha256), (2, sha256(CONTENT)));
    let asked: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| (seen.field("range").map(str::to_owned), seen.field("if-range").map(str::to_owned)))
        .collect();
    let part = |first: &str| (Some(format!("bytes={first}-")), Some("\"1\"".to_owned()));
    assert_eq!(asked, [(None, None), part("5"), part("10")]);
}

#[test]
fn without_a_validator_nothing_is_continued() {
    for fields in [&[][..], &[("ETag", "W/\"1\"")], &[("ETag", "\"1\""), ("Accept-Ranges", "none")]] {
        let server = breaking(1, fields);
        let fetched = fetch(request(&server.url("/a")));
        assert!(fetched.error().contains("the transfer broke off after 5 bytes"), "{}", fetched.error());
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_file_that_changed_is_read_from_its_beginning() {
    let server = WebServer::start(|request, stream| {
        if request.first_byte() > 0 {
            // `If-Range` does not match any more.
            return answer(stream, "200 OK", &[("ETag", "\"2\"")], b"new");
        }
        answer_head(stream, "200 OK", &[("ETag", "\"1\"")], Some(10))?;
        stream.write_all(b"old")
    });
    let fetched = fetch(request(&server.url("/a")));
    assert_eq!(fetched.content(), b"new");
    assert_eq!(fetched.result.expect("a download").sha256, sha256(b"new"));
}

#[test]
fn a_part_of_another_version_is_refused() {
    for (tag, is_refused) in [("\"1\"", false), ("\"2\"", true), ("W/\"1\"", true)] {
        let server = WebServer::start(move |request, stream| {
            if request.first_byte() > 0 {
                let fields = [("Content-Range", "bytes 5-19/20"), ("ETag", tag)];
                return answer(stream, "206 Partial Content", &fields, &CONTENT[5..]);
            }
            answer_head(stream, "200 OK", &[("ETag", "\"1\"")], Some(CONTENT.len()))?;
            stream.write_all(&CONTENT[..5])
        });
        let fetched = fetch(request(&server.url("/a")));
        if is_refused {
            assert!(fetched.error().contains("changed during the transfer"), "{tag}: {}", fetched.error());
        } else {
            assert_eq!(fetched.content(), CONTENT);
        }
    }
}

#[test]
fn a_part_that_was_not_asked_for_is_refused() {
    for range in ["bytes 4-19/20", "bytes 5-19/21", "bytes 5-4/20", "nonsense"] {
        let server = WebServer::start(move |request, stream| {
            if request.first_byte() > 0 {
                return answer(stream, "206 Partial Content", &[("Content-Range", range)], &CONTENT[5..]);
            }
            answer_head(stream, "200 OK", &[("ETag", "\"1\"")], Some(CONTENT.len()))?;
            stream.write_all(&CONTENT[..5])
        });
        let error = fetch(request(&server.url("/a"))).error();
        assert!(error.contains("can't be understood"), "{range}: {error}");
    }
}

#[test]
fn a_server_that_never_goes_on_is_given_up() {
    let server = WebServer::start(|request, stream| {
        if request.first_byte() > 0 {
            return Ok(());
        }
        answer_head(stream, "200 OK", &[("ETag", "\"1\"")], Some(CONTENT.len()))?;
        stream.write_all(&CONTENT[..5])
    });
    let fetched = fetch(request(&server.url("/a")));
    assert!(fetched.error().contains("the transfer broke off after 5 bytes"), "{}", fetched.error());
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_break_before_the_first_byte_is_an_error() {
    let server = WebServer::start(|_, _| Ok(()));
    assert!(fetch(request(&server.url("/a"))).error().contains("the transfer broke off after 0 bytes"));
    assert_eq!(server.requests().len(), 1);
}
