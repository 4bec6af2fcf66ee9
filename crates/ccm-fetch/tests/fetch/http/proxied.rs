//! Transfers through a proxy.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use ccm_fetch::{HttpRequest, ProxySettings};
use ccm_testkit::{Certificate, Scratch, TEST_AUTHORITY, WebServer, answer};

use crate::http::{fetch, request};

fn proxies(variables: &[(&str, &str)]) -> ProxySettings {
    let variables: Vec<_> =
        variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    ProxySettings::of_environment(&variables)
}

#[test]
fn a_proxy_gets_the_whole_address() {
    let proxy = WebServer::of_file("through the proxy");
    let url = proxy.url("").replace("http://", "http://ada:pass@");
    let proxies = proxies(&[("http_proxy", &url)]);
    let fetched = fetch(HttpRequest { proxies, ..request("http://server.invalid/a?b") });
    assert_eq!(fetched.content(), b"through the proxy");
    let [seen] = &proxy.requests()[..] else { panic!("one request") };
    assert_eq!(seen.line, "GET http://server.invalid/a?b");
    assert_eq!(seen.field("host"), Some("server.invalid"));
    assert_eq!(seen.field("proxy-authorization"), Some("Basic YWRhOnBhc3M="));
}

#[test]
fn exceptions_go_to_the_server() {
    let server = WebServer::of_file("x");
    let proxies = proxies(&[("http_proxy", "http://proxy.invalid:1"), ("no_proxy", "127.0.0.1")]);
    assert_eq!(fetch(HttpRequest { proxies, ..request(&server.url("/a")) }).content(), b"x");
}

#[test]
fn an_encrypted_transfer_goes_through_a_tunnel() {
    let scratch = Scratch::new();
    let server =
        WebServer::start_tls(Certificate::Localhost, |_, stream| answer(stream, "200 OK", &[], b"x"));
    let proxy = WebServer::start(|request, stream| {
        let target = request.line.strip_prefix("CONNECT ").expect("a tunnel");
        let mut server = TcpStream::connect(target)?;
        stream.write_all(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")?;
        // The client speaks first; each side then answers as a whole.
        let timeout = Some(std::time::Duration::from_millis(100));
        server.set_read_timeout(timeout)?;
        let mut buffer = [0; 16 << 10];
        loop {
            let length = stream.read(&mut buffer)?;
            if length == 0 {
                return Ok(());
            }
            server.write_all(&buffer[..length])?;
            while let Ok(length @ 1..) = server.read(&mut buffer) {
                stream.write_all(&buffer[..length])?;
            }
        }
    });
    let proxies = proxies(&[("https_proxy", &proxy.url(""))]);
    let ca_file = Some(scratch.write("ca.pem", TEST_AUTHORITY));
    let fetched = fetch(HttpRequest { proxies, ca_file, ..request(&server.url("/a")) });
    assert_eq!(fetched.content(), b"x");
    assert_eq!(proxy.requests().len(), 1);
}

#[test]
fn a_proxy_that_refuses_is_told_without_its_password() {
    for reply in ["HTTP/1.1 403 Forbidden\r\n\r\n", "nonsense\r\n\r\n"] {
        let proxy = WebServer::start(move |_, stream| stream.write_all(reply.as_bytes()));
        let url = proxy.url("").replace("http://", "http://ada:pass@");
        let proxies = proxies(&[("https_proxy", &url)]);
        let error = fetch(HttpRequest { proxies, ..request("https://server.invalid/a") }).error();
        assert!(
            error.contains("refused a connection to server.invalid:443") && !error.contains("pass"),
            "{error}"
        );
    }
    let endless = WebServer::start(|_, stream| {
        loop {
            stream.write_all(b"x")?;
        }
    });
    let proxies = proxies(&[("https_proxy", &endless.url(""))]);
    let error = fetch(HttpRequest { proxies, ..request("https://server.invalid/a") }).error();
    assert!(error.contains("the answer is too long"), "{error}");
}
