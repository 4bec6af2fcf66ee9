//! Downloads that end early: cancelled, timed out, given up.

use std::time::Duration;

use ccm_fetch::{HttpError, HttpRequest};
use ccm_host::{CancellationLevel, CancellationSource};
use ccm_testkit::{WebServer, answer_head, stay_silent};

use crate::http::{fetch, fetch_until, request};

/// Part of an exchange in which a server falls silent.
const SILENCES: [&[u8]; 3] =
    [b"", b"HTTP/1.1 200 OK\r\nContent-", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"];

#[test]
fn a_cancellation_ends_a_silent_transfer_at_once() {
    for begun in SILENCES {
        let (source, cancellation) = CancellationSource::new();
        let (sender, receiver) = std::sync::mpsc::channel();
        let server = WebServer::start(move |_, stream| {
            stream.write_all(begun)?;
            stream.flush()?;
            sender.send(()).expect("a test that waits");
            stay_silent(stream)
        });
        let canceller = std::thread::spawn(move || {
            receiver.recv().expect("a request");
            source.raise(CancellationLevel::Stop);
            source
        });
        let fetched = fetch_until(request(&server.url("/a")), &cancellation);
        assert!(matches!(fetched.result, Err(HttpError::Cancelled)), "{:?}", fetched.result);
        assert!(fetched.took < Duration::from_secs(5), "{:?}", fetched.took);
        drop(canceller.join().expect("a thread"));
    }
}

#[test]
fn the_time_limit_ends_a_silent_and_a_dripping_transfer() {
    let silent = WebServer::start(|_, stream| stay_silent(stream));
    let dripping = WebServer::start(|_, stream| {
        answer_head(stream, "200 OK", &[], Some(1 << 19))?;
        loop {
            stream.write_all(b"x")?;
            std::thread::park_timeout(Duration::from_millis(5));
        }
    });
    for server in [silent, dripping] {
        let timeout = Some(Duration::from_millis(300));
        let fetched = fetch(HttpRequest { timeout, ..request(&server.url("/a")) });
        assert_eq!(fetched.error(), format!("the download of {} timed out after 300ms", server.url("/a")));
        assert!(fetched.took < Duration::from_secs(5), "{:?}", fetched.took);
    }
}

#[test]
fn silence_breaks_the_transfer() {
    for begun in SILENCES {
        let server = WebServer::start(move |_, stream| {
            stream.write_all(begun)?;
            stream.flush()?;
            stay_silent(stream)
        });
        let idle_timeout = Duration::from_millis(200);
        let fetched = fetch(HttpRequest { idle_timeout, ..request(&server.url("/a")) });
        assert!(fetched.error().contains("nothing was received for 200ms"), "{}", fetched.error());
    }
}

#[test]
fn no_server_and_no_host_are_told() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let error = fetch(request(&format!("http://127.0.0.1:{port}/a"))).error();
    assert!(error.starts_with(&format!("no connection to 127.0.0.1:{port}: Connection refused")), "{error}");
    let error = fetch(request("http://ccm-test.invalid/a")).error();
    assert!(error.starts_with("the address of the host `ccm-test.invalid` could not be found"), "{error}");
}
