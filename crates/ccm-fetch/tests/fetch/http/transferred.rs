//! Whole transfers, and what servers say about them.

use ccm_fetch::{HeaderField, HttpCredentials};
use ccm_host::sha256;
use ccm_testkit::{WebServer, answer, answer_head};

use crate::http::{fetch, request};

#[test]
fn a_file_arrives_with_its_checksum() {
    let content = b"content\n".repeat(50_000);
    let server = WebServer::of_file(content.clone());
    let fetched = fetch(request(&server.url("/a?b=c")));
    assert_eq!(fetched.content(), content);
    let downloaded = fetched.result.expect("a download");
    assert_eq!((downloaded.sha256, downloaded.size, downloaded.resumed), (sha256(&content), 400_000, 0));
    let [seen] = &server.requests()[..] else { panic!("one request") };
    assert_eq!(seen.line, "GET /a?b=c");
    assert_eq!(seen.field("host"), Some(&*server.url("").replace("http://", "")));
    assert_eq!(seen.field("accept-encoding"), Some("identity"));
    assert!(seen.field("user-agent").is_some_and(|agent| agent.starts_with("ccm/")));
    assert_eq!(seen.field("authorization"), None);
}

#[test]
fn content_without_a_length_arrives_too() {
    for chunked in [true, false] {
        let server = WebServer::start(move |_, stream| {
            if !chunked {
                answer_head(stream, "200 OK", &[], None)?;
                return stream.write_all(b"abcdef");
            }
            answer_head(stream, "200 OK", &[("Transfer-Encoding", "chunked")], None)?;
            stream.write_all(b"3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n")
        });
        assert_eq!(fetch(request(&server.url("/a"))).content(), b"abcdef");
    }
}

#[test]
fn an_empty_file_arrives() {
    assert_eq!(fetch(request(&WebServer::of_file("").url("/a"))).content(), b"");
}

#[test]
fn an_encoded_bomb_ends_at_the_limit() {
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 100 << 20), &mut bomb).expect("a bomb");
    let bomb = bomb.finish().expect("a bomb");
    let server =
        WebServer::start(move |_, stream| answer(stream, "200 OK", &[("Content-Encoding", "gzip")], &bomb));
    let fetched = fetch(request(&server.url("/a")));
    assert!(fetched.error().ends_with("is larger than 1048576 bytes"), "{}", fetched.error());
    assert!(fetched.content.len() <= 1 << 20);
}

#[test]
fn credentials_and_fields_reach_the_server() {
    let server = WebServer::of_file("x");
    let with_fields = |mut request: ccm_fetch::HttpRequest| {
        request.headers = vec![HeaderField { name: "X-Token".to_owned(), value: "t".to_owned() }];
        request
    };
    let mut given = with_fields(request(&server.url("/a")));
    given.credentials = Some(HttpCredentials { username: "ada".to_owned(), password: "pass".to_owned() });
    fetch(given).content();
    let in_url = with_fields(request(&server.url("/a").replace("http://", "http://ada:pass@")));
    fetch(in_url).content();
    for seen in server.requests() {
        assert_eq!(seen.field("authorization"), Some("Basic YWRhOnBhc3M="));
        assert_eq!(seen.field("x-token"), Some("t"));
    }
}

#[test]
fn other_answers_are_errors_without_secrets() {
    for (status, words) in [
        ("404 Not Found", "404 Not Found"),
        ("500 Oh no", "500 Internal Server Error"),
        ("204 No", "204 No Content"),
        ("206 P", "206 Partial Content"),
    ] {
        let server = WebServer::start(move |_, stream| answer(stream, status, &[], b""));
        let url = server.url("/a?token=secret").replace("http://", "http://ada:secret@");
        let fetched = fetch(request(&url));
        assert_eq!(fetched.error(), format!("{}?…: the server answered {words}", server.url("/a")));
        assert_eq!(fetched.content, b"");
    }
}

#[test]
fn what_is_no_http_is_an_error() {
    for reply in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ] {
        let server = WebServer::start(move |_, stream| stream.write_all(reply.as_bytes()));
        let error = fetch(request(&server.url("/a"))).error();
        assert!(error.contains("can't be understood"), "{reply}: {error}");
    }
}

#[test]
fn an_endless_header_is_an_error() {
    let server = WebServer::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            stream.write_all(b"X-Field: value\r\n")?;
        }
    });
    let error = fetch(request(&server.url("/a"))).error();
    assert!(error.contains("can't be understood"), "{error}");
}

#[test]
fn a_file_that_is_too_long_is_refused_at_once() {
    let server = WebServer::start(|_, stream| {
        answer_head(stream, "200 OK", &[], Some((1 << 20) + 1))?;
        ccm_testkit::stay_silent(stream)
    });
    let fetched = fetch(request(&server.url("/a")));
    assert_eq!(fetched.error(), format!("{} is larger than 1048576 bytes", server.url("/a")));
    assert_eq!(fetched.content, b"");
}

#[test]
fn content_beyond_its_length_is_not_part_of_the_file() {
    let server = WebServer::start(|_, stream| {
        answer_head(stream, "200 OK", &[], Some(3))?;
        stream.write_all(b"abcdef")
    });
    let fetched = fetch(request(&server.url("/a")));
    assert_eq!(fetched.content(), b"abc");
    assert_eq!(fetched.result.expect("a download").sha256, sha256(b"abc"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn chunks_that_contradict_a_length_are_an_error() {
    for length in [3, 9] {
        let server = WebServer::start(move |_, stream| {
            answer_head(stream, "200 OK", &[("Transfer-Encoding", "chunked")], Some(length))?;
            stream.write_all(b"6\r\nabcdef\r\n0\r\n\r\n")
        });
        let fetched = fetch(request(&server.url("/a")));
        assert!(fetched.error().contains("the transfer broke off"), "{length}: {}", fetched.error());
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn endless_content_ends_at_the_limit() {
    for fields in [&[][..], &[("Transfer-Encoding", "chunked")]] {
        let server = WebServer::start(move |_, stream| {
            answer_head(stream, "200 OK", fields, None)?;
            let chunk = format!("10000\r\n{}\r\n", "x".repeat(65536));
            loop {
                stream.write_all(chunk.as_bytes())?;
            }
        });
        let fetched = fetch(request(&server.url("/a")));
        assert!(fetched.error().ends_with("is larger than 1048576 bytes"), "{}", fetched.error());
        assert!(fetched.content.len() <= 1 << 20);
    }
}

#[test]
fn a_full_disk_is_an_error_of_the_file() {
    let server = WebServer::of_file(vec![0; 1000]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let never = ccm_host::Cancellation::never();
    let download = ccm_fetch::download(request(&server.url("/a")), full, &never, Box::new(|_, _| ()));
    let error = runtime.block_on(download).expect_err("an error");
    assert!(matches!(error, ccm_fetch::HttpError::Write(_)), "{error}");
    assert_eq!(error.hint(), Some("free space on the file system of this path"));
}
