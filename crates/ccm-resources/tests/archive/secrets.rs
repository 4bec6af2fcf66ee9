//! Passwords and header fields are sent, and shown nowhere.

use ccm_testkit::{Scratch, WebServer, answer};

use crate::machine::Runs;

#[test]
fn passwords_are_sent_but_not_shown() {
    for status in ["200 OK", "403 Forbidden"] {
        let server = WebServer::start(move |_, stream| answer(stream, status, &[], b"x"));
        let plain = server.url("/a");
        let with_user = plain.replace("http://", "http://ada:pass%77ord@");
        let given = [("url", &*plain), ("username", "ada"), ("password", "password"), ("headers", "{X-Token=tokentoken}")];
        for properties in [&given[..], &[("url", &*with_user), ("headers", "{X-Token=tokentoken}")]] {
            let scratch = Scratch::new();
            for noop in [true, false] {
                let runs = Runs { noop, ..Runs::in_directory(&scratch) };
                let shown = format!("{:?}", runs.apply("f", properties));
                for secret in ["password", "pass%77ord", "tokentoken"] {
                    // The name of the property may be seen.
                    let shown = shown.replace("\"password\"", "");
                    assert!(!shown.contains(secret), "{status}: {secret} in {shown}");
                }
                assert_eq!(runs.secrets.redact("a tokentoken"), "a [redacted]");
            }
        }
        let seen = server.requests();
        assert_eq!(seen.len(), 2);
        for request in seen {
            assert_eq!(request.field("authorization"), Some("Basic YWRhOnBhc3N3b3Jk"));
            assert_eq!(request.field("x-token"), Some("tokentoken"));
        }
    }
}
