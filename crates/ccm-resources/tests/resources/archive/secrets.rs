//! Passwords and header fields are sent, and shown nowhere.

use ccm_testkit::{Scratch, WebServer, answer};

use crate::archive::machine::Runs;

#[test]
fn passwords_are_sent_but_not_shown() {
    for status in ["200 OK", "403 Forbidden"] {
        let server = WebServer::start(move |_, stream| answer(stream, status, &[], b"x"));
        let plain = server.url("/a");
        let given = [
            ("url", &*plain),
            ("username", "ada"),
            ("password", "opensesame"),
            ("headers", "{X-Token=tokentoken}"),
        ];
        let scratch = Scratch::new();
        for noop in [true, false] {
            let runs = Runs { noop, ..Runs::in_directory(&scratch) };
            let shown = format!("{:?}", runs.apply("f", &given));
            for secret in ["opensesame", "tokentoken"] {
                assert!(!shown.contains(secret), "{status}: {secret} in {shown}");
            }
            assert_eq!(runs.secrets.redact("a tokentoken, opensesame"), "a [redacted], [redacted]");
        }
        let [seen] = &server.requests()[..] else { panic!("one request") };
        assert_eq!(seen.field("authorization"), Some("Basic YWRhOm9wZW5zZXNhbWU="));
        assert_eq!(seen.field("x-token"), Some("tokentoken"));
    }
}
