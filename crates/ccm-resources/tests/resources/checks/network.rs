//! Servers that answer wrongly, too much, or not at all.

use std::net::TcpListener;

use ccm_testkit::{
    Certificate, Scratch, TEST_AUTHORITY, WebServer, answer, answer_head, isolated, stay_silent,
};
use serde_json::{Value as Json, json};

use super::name_server::{Manner, NameServer};
use super::{Options, outcomes, outcomes_with};

/// Judges a rule about a web server, with an authority in the directory.
fn asked(url: &str, attributes: &Json) -> Vec<String> {
    let scratch = Scratch::new();
    scratch.write("authority.pem", TEST_AUTHORITY);
    let text = json!({"http": {url: attributes}}).to_string();
    outcomes_with(&text, &Options::in_directory(scratch.path()))
}

fn assert_outcomes(found: &[String], expected: &[&str], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            found == expected || expected.ends_with(':') && found.starts_with(expected),
            "{what}: {found}"
        );
    }
}

#[test]
fn web_servers_that_misbehave_are_errors() {
    let server = WebServer::start(|request, stream| match &*request.line {
        "GET /silent" => stay_silent(stream),
        "GET /nonsense" => stream.write_all(b"SSH-2.0-x\r\n\r\n"),
        "GET /cut" => {
            answer_head(stream, "200 OK", &[], Some(100))?;
            stream.write_all(b"begin")
        }
        "GET /trickle" => {
            answer_head(stream, "200 OK", &[], Some(100))?;
            stream.write_all(b"begin")?;
            stream.flush()?;
            stay_silent(stream)
        }
        "GET /flood" => {
            answer_head(stream, "200 OK", &[], None)?;
            loop {
                stream.write_all(&[b'x'; 4096])?;
            }
        }
        "GET /loop" => answer(stream, "302 Found", &[("Location", "/loop")], b""),
        "GET /elsewhere" => answer(stream, "301 Moved", &[("Location", "file:///etc/passwd")], b""),
        "GET /busy" => answer(stream, "503 Busy", &[("Retry-After", "60")], b"busy"),
        "POST /form" => answer(stream, "303 See Other", &[("Location", "/seen")], b""),
        "GET /seen" => answer(stream, "200 OK", &[], b"seen"),
        "POST /same" => answer(stream, "307 Same", &[("Location", "/again")], b""),
        "POST /again" => answer(stream, "200 OK", &[], b"again"),
        _ => answer(stream, "404 Not Found", &[], b""),
    });
    for (path, attributes, expected) in [
        ("/silent", json!({"status": 200, "timeout": 200}), &["fail (error):"][..]),
        ("/nonsense", json!({"status": 200}), &["fail (error):"]),
        ("/cut", json!({"status": 200}), &["pass"]),
        ("/cut", json!({"status": 200, "body": ["begin"]}), &["pass", "fail (error):"]),
        ("/trickle", json!({"status": 200, "timeout": 300}), &["pass"]),
        ("/trickle", json!({"status": 200, "body": ["begin"], "timeout": 300}), &["pass", "fail (error):"]),
        ("/flood", json!({"status": 200, "timeout": 20_000}), &["pass"]),
        ("/flood", json!({"status": 200, "body": ["x"], "timeout": 20_000}), &["pass", "fail (error):"]),
        ("/loop", json!({"status": 200}), &["fail (error):"]),
        (
            "/loop",
            json!({"status": 302, "no-follow-redirects": true, "headers": ["Location: /loop"]}),
            &["pass", "pass"],
        ),
        ("/elsewhere", json!({"status": 200}), &["fail (error):"]),
        ("/busy", json!({"status": 503, "body": ["busy"]}), &["pass", "pass"]),
        (
            "/form",
            json!({"status": 200, "method": "POST", "request-body": "a=b", "body": ["seen"]}),
            &["pass", "pass"],
        ),
        (
            "/same",
            json!({"status": 200, "method": "POST", "request-body": "a=b", "body": ["again"]}),
            &["pass", "pass"],
        ),
        (
            "/seen",
            json!({"status": 200, "method": "GET IT"}),
            &["fail (error): `GET IT` is no method of a request"],
        ),
    ] {
        assert_outcomes(&asked(&server.url(path), &attributes), expected, path);
    }
}

#[test]
fn certificates_have_to_be_valid_unless_a_rule_says_otherwise() {
    for (certificate, attributes, expected) in [
        (Certificate::Localhost, json!({"ca-file": "authority.pem"}), "pass"),
        (Certificate::Localhost, json!({}), "fail (error):"),
        (Certificate::Localhost, json!({"allow-insecure": true}), "pass"),
        (Certificate::Stranger, json!({"ca-file": "authority.pem"}), "fail (error):"),
        (Certificate::Stranger, json!({"allow-insecure": true}), "pass"),
        (Certificate::Expired, json!({"ca-file": "authority.pem"}), "fail (error):"),
        (Certificate::Expired, json!({"allow-insecure": true}), "pass"),
        (Certificate::Localhost, json!({"ca-file": "missing.pem"}), "fail (error):"),
        (
            Certificate::Localhost,
            json!({"ca-file": "authority.pem", "cert-file": "missing.pem"}),
            "fail (error):",
        ),
        (
            Certificate::Localhost,
            json!({"allow-insecure": true, "cert-file": "authority.pem"}),
            "fail (error):",
        ),
    ] {
        let server = WebServer::start_tls(certificate, |_, stream| answer(stream, "200 OK", &[], b""));
        let mut rule = attributes.clone();
        rule["status"] = json!(200);
        let url = server.url_of("localhost", "/");
        assert_outcomes(&asked(&url, &rule), &[expected], &format!("{certificate:?} {attributes}"));
    }
}

#[test]
fn a_proxy_gets_the_request() {
    let proxy = WebServer::start(|request, stream| answer(stream, "200 OK", &[], request.line.as_bytes()));
    let rule = json!({"status": 200, "proxy": proxy.url(""), "body": ["GET http://host.invalid/x"]});
    assert_outcomes(&asked("http://host.invalid/x", &rule), &["pass", "pass"], "proxy");
}

#[test]
fn name_servers_that_misbehave_prove_no_absence() {
    for (manner, key, attributes, expected) in [
        (Manner::Known, "www.example.test", json!({"resolvable": true}), &["pass"][..]),
        (Manner::Known, "nope.example.test", json!({"resolvable": false}), &["pass"]),
        (Manner::Known, "NS:www.example.test", json!({"resolvable": false}), &["pass"]),
        (
            Manner::Known,
            "TXT:example.test",
            json!({"resolvable": true, "addrs": ["v=spf1 -all"]}),
            &["pass", "pass"],
        ),
        (
            Manner::Known,
            "PTR:192.0.2.80",
            json!({"resolvable": true, "addrs": ["www.example.test."]}),
            &["pass", "pass"],
        ),
        (
            Manner::Known,
            "SRV:_http._tcp.example.test",
            json!({"resolvable": true, "addrs": ["1 2 80 www.example.test."]}),
            &["pass", "pass"],
        ),
        (
            Manner::Silent,
            "www.example.test",
            json!({"resolvable": false, "timeout": 200}),
            &["fail (error): no answer within 200ms"],
        ),
        (
            Manner::Flood,
            "A:www.example.test",
            json!({"resolvable": false, "timeout": 200}),
            &["fail (error): no answer within 200ms"],
        ),
        (Manner::Late, "A:www.example.test", json!({"resolvable": true, "timeout": 5000}), &["pass"]),
        (Manner::Code(2), "www.example.test", json!({"resolvable": false}), &["fail (error):"]),
        (Manner::Code(5), "A:www.example.test", json!({"resolvable": false}), &["fail (error):"]),
        (
            Manner::Long,
            "A:www.example.test",
            json!({"resolvable": true, "addrs": ["192.0.2.80"], "timeout": 5000}),
            &["pass", "pass"],
        ),
        (Manner::Cut, "A:www.example.test", json!({"resolvable": false}), &["fail (error):"]),
    ] {
        let server = NameServer::with(manner);
        let mut rule = attributes.clone();
        rule["server"] = json!(server.address());
        let found = outcomes(&json!({"dns": {key: rule}}).to_string());
        assert_outcomes(&found, expected, &format!("{manner:?} {key}"));
    }
    for server in ["127.0.0.1:x", "a/b", "[::1"] {
        let rule = json!({"resolvable": false, "server": server});
        let found = outcomes(&json!({"dns": {"a.test": rule}}).to_string());
        assert_outcomes(&found, &["fail (error):"], server);
    }
}

#[test]
fn addresses_are_reached_or_not() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    for (address, attributes, expected) in [
        (format!("127.0.0.1:{port}"), json!({"reachable": true}), "pass"),
        (format!("tcp4://localhost:{port}"), json!({"reachable": true}), "pass"),
        (format!("tcp6://127.0.0.1:{port}"), json!({"reachable": false}), "pass"),
        (format!("tcp://127.0.0.1:{closed}"), json!({"reachable": false}), "pass"),
        (format!("udp://127.0.0.1:{closed}"), json!({"reachable": true}), "pass"),
        (format!("127.0.0.1:{port}"), json!({"reachable": true, "local-address": "127.0.0.9"}), "pass"),
        (
            format!("127.0.0.1:{port}"),
            json!({"reachable": false, "local-address": "192.0.2.99"}),
            "fail (error):",
        ),
        (format!("127.0.0.1:{port}"), json!({"reachable": false, "local-address": "here"}), "fail (error):"),
        (format!("127.0.0.1:{port}"), json!({"reachable": true, "local-address": "::1"}), "fail:"),
    ] {
        let found = outcomes(&json!({"addr": {&address: attributes}}).to_string());
        assert_outcomes(&found, &[expected], &format!("{address} {attributes}"));
    }
}

#[test]
fn servers_that_are_silent_are_waited_for_together() {
    isolated(|| {
        let server = NameServer::with(Manner::Silent);
        let rules: Vec<String> = (0..40)
            .map(|number| {
                format!(
                    "  A:n{number}.test: {{resolvable: true, timeout: 500, server: {}}}\n",
                    server.address()
                )
            })
            .collect();
        let began = std::time::Instant::now();
        let found = outcomes(&format!("dns:\n{}", rules.concat()));
        assert!(found.iter().all(|found| found == "fail (error): no answer within 500ms"), "{found:?}");
        // One after the other, it would be twenty seconds.
        assert!(began.elapsed().as_secs() < 15, "{:?}", began.elapsed());
    });
}
