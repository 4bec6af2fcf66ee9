//! Redirects: how far, where to, and what goes along.

use ccm_fetch::{HeaderField, HttpCredentials, HttpRequest};
use ccm_testkit::{Certificate, Scratch, TEST_AUTHORITY, WebServer, answer};

use crate::http::{fetch, request};

fn redirecting(to: String) -> WebServer {
    WebServer::start(move |_, stream| answer(stream, "302 Found", &[("Location", &to)], b"elsewhere"))
}

fn with_secrets(url: &str) -> HttpRequest {
    HttpRequest {
        credentials: Some(HttpCredentials { username: "ada".to_owned(), password: "pass".to_owned() }),
        headers: vec![HeaderField { name: "X-Token".to_owned(), value: "t".to_owned() }],
        ..request(url)
    }
}

#[test]
fn secrets_stay_with_their_server() {
    let target = WebServer::of_file("x");
    // Another name, and another port, are another server.
    for to in [target.url_of("localhost", "/b"), target.url("/b")] {
        let server = redirecting(to);
        assert_eq!(fetch(with_secrets(&server.url("/a"))).content(), b"x");
        let [seen] = &server.requests()[..] else { panic!("one request") };
        assert!(seen.field("authorization").is_some() && seen.field("x-token").is_some());
    }
    for seen in target.requests() {
        assert_eq!((seen.field("authorization"), seen.field("x-token")), (None, None));
    }
}

#[test]
fn secrets_go_along_on_the_same_server() {
    let server = WebServer::start(|request, stream| match &*request.line {
        "GET /dir/a" => answer(stream, "301 Moved", &[("Location", "b?c")], b""),
        "GET /dir/b?c" => answer(stream, "308 Moved", &[("Location", "/d")], b""),
        _ => answer(stream, "200 OK", &[], b"x"),
    });
    assert_eq!(fetch(with_secrets(&server.url("/dir/a"))).content(), b"x");
    let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    assert_eq!(lines, ["GET /dir/a", "GET /dir/b?c", "GET /d"]);
    assert!(server.requests().iter().all(|seen| seen.field("authorization").is_some()));
}

#[test]
fn no_redirect_leaves_encryption() {
    let scratch = Scratch::new();
    let plain = WebServer::of_file("x");
    let to = plain.url("/b");
    let server = WebServer::start_tls(Certificate::Localhost, move |_, stream| {
        answer(stream, "302 Found", &[("Location", &to)], b"")
    });
    let ca_file = Some(scratch.write("ca.pem", TEST_AUTHORITY));
    let error = fetch(HttpRequest { ca_file, ..request(&server.url("/a")) }).error();
    assert_eq!(
        error,
        format!("{} redirects to {}, which is not encrypted", server.url("/a"), plain.url("/b"))
    );
    assert!(plain.requests().is_empty());
}

#[test]
fn a_circle_of_redirects_ends() {
    let server = redirecting("/again".to_owned());
    let error = fetch(request(&server.url("/a"))).error();
    assert_eq!(error, format!("{} redirects more than 10 times", server.url("/a")));
    assert_eq!(server.requests().len(), 11);
}

#[test]
fn other_schemes_and_broken_targets_are_refused() {
    for to in ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://a b/", "http://", "http:///x"] {
        let server = redirecting(to.to_owned());
        let error = fetch(request(&server.url("/a"))).error();
        assert!(error.contains("redirects to an address that is not valid"), "{to}: {error}");
    }
}

#[test]
fn relative_targets_lead_to_the_file() {
    for (location, line) in [
        ("../up", "GET /a/up"),
        ("./here", "GET /a/b/here"),
        ("../../../../far/./x/../y", "GET /far/y"),
        ("?part=../2", "GET /a/b/start?part=../2"),
        ("with blank", "GET /a/b/with%20blank"),
    ] {
        let server = WebServer::start(move |request, stream| match &*request.line {
            "GET /a/b/start" => answer(stream, "302 Found", &[("Location", location)], b""),
            _ => answer(stream, "200 OK", &[], b"x"),
        });
        assert_eq!(fetch(request(&server.url("/a/b/start"))).content(), b"x");
        assert_eq!(server.requests()[1].line, line, "{location}");
    }
}

#[test]
fn cookies_of_a_chain_stay_with_their_server() {
    let other = WebServer::of_file("x");
    let to = other.url_of("localhost", "/c");
    let server = WebServer::start(move |request, stream| match &*request.line {
        "GET /a" => answer(stream, "302 Found", &[("Location", "/b"), ("Set-Cookie", "s=1; Path=/")], b""),
        _ => answer(stream, "302 Found", &[("Location", &to), ("Set-Cookie", "t=2; Domain=localhost")], b""),
    });
    let own = vec![HeaderField { name: "Cookie".to_owned(), value: "own=0".to_owned() }];
    assert_eq!(fetch(HttpRequest { headers: own, ..request(&server.url("/a")) }).content(), b"x");
    let seen = server.requests();
    let cookies: Vec<Option<&str>> = seen.iter().map(|request| request.field("cookie")).collect();
    assert_eq!(cookies, [Some("own=0"), Some("own=0; s=1")]);
    assert_eq!(other.requests()[0].field("cookie"), None);
}

#[test]
fn a_redirect_without_a_target_is_an_error() {
    let server = WebServer::start(|_, stream| answer(stream, "302 Found", &[], b""));
    assert!(fetch(request(&server.url("/a"))).error().ends_with("the server answered 302 Found"));
}
