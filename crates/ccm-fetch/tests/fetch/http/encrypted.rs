//! Encrypted transfers, and servers that can't prove who they are.

use ccm_fetch::HttpRequest;
use ccm_testkit::{Certificate, Scratch, TEST_AUTHORITY, WebServer, answer};

use crate::http::{fetch, request};

fn server(certificate: Certificate) -> WebServer {
    WebServer::start_tls(certificate, |_, stream| answer(stream, "200 OK", &[], b"secret"))
}

fn fetch_with(ca: Option<&str>, url: &str) -> crate::http::Fetched {
    let scratch = Scratch::new();
    let ca_file = ca.map(|pem| scratch.write("ca.pem", pem));
    fetch(HttpRequest { ca_file, ..request(url) })
}

fn hint(fetched: &crate::http::Fetched) -> Option<&'static str> {
    fetched.result.as_ref().err().and_then(ccm_fetch::HttpError::hint)
}

#[test]
fn a_server_with_a_trusted_certificate_is_believed() {
    let server = server(Certificate::Localhost);
    for host in ["localhost", "127.0.0.1"] {
        assert_eq!(fetch_with(Some(TEST_AUTHORITY), &server.url_of(host, "/a")).content(), b"secret");
    }
}

#[test]
fn other_certificates_are_refused_before_the_request() {
    for (certificate, ca, words) in [
        (Certificate::Stranger, Some(TEST_AUTHORITY), "not valid for name"),
        (Certificate::Expired, Some(TEST_AUTHORITY), "expired"),
        // The authorities of the system do not know it, or there are none.
        (Certificate::Localhost, None, "certificate"),
    ] {
        let server = server(certificate);
        let fetched = fetch_with(ca, &server.url("/a"));
        assert!(fetched.error().contains(words), "{certificate:?}: {}", fetched.error());
        assert!(hint(&fetched).is_some_and(|hint| hint.contains("`ca_file`")), "{certificate:?}");
        assert!(server.requests().is_empty());
    }
}

#[test]
fn a_server_that_does_not_encrypt_is_refused() {
    let server = WebServer::of_file("x");
    let url = server.url("/a").replace("http:", "https:");
    let fetched = fetch_with(Some(TEST_AUTHORITY), &url);
    let error = fetched.error();
    assert!(error.starts_with("no secure connection to 127.0.0.1:"), "{error}");
    assert_eq!(hint(&fetched), Some("check the port, or use `http://` if the server speaks no TLS"));
}

#[test]
fn files_without_certificates_are_told() {
    let server = server(Certificate::Localhost);
    for (pem, words) in [
        ("no certificate\n", "there is no certificate in it"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "can't be read"),
    ] {
        let error = fetch_with(Some(pem), &server.url("/a")).error();
        assert!(error.contains("ca.pem") && error.contains(words), "{error}");
    }
    let missing = HttpRequest { ca_file: Some("/nonexistent/ca.pem".into()), ..request(&server.url("/a")) };
    assert!(fetch(missing).error().contains("No such file"));
}
