//! Files whose content comes from a web server.

use ccm_host::sha256;
use ccm_model::{FailureKind, Outcome};
use ccm_testkit::{Scratch, WebServer, answer, answer_head};

use crate::file::file;
use crate::file::machine::{Runs, told};
use crate::run::failure;

/// Applies the file `f` with a source and its checksum.
fn apply(runs: &Runs<'_>, scratch: &Scratch, source: &str, sha256: &str, more: &[(&str, &str)]) -> Outcome {
    transaction(runs, scratch, source, sha256, more).outcome
}

fn transaction(
    runs: &Runs<'_>,
    scratch: &Scratch,
    source: &str,
    sha256: &str,
    more: &[(&str, &str)],
) -> ccm_model::Transaction {
    let properties = [&[("source", source), ("checksum", sha256)], more].concat();
    runs.apply(file(&scratch.at("f"), &properties))
}

#[test]
fn a_file_is_downloaded_when_it_differs_and_not_in_noop() {
    let server = WebServer::of_file("content\n");
    let (url, sum) = (server.url("/f.j2?token=x"), sha256(b"content\n").to_uppercase());
    for old in [None, Some("old\n")] {
        let scratch = Scratch::new();
        old.map(|old| scratch.write("f", old));
        let before = server.requests().len();
        let noop = Runs { noop: true, diff: true, ..Runs::here(&scratch) };
        let would = transaction(&noop, &scratch, &url, &sum, &[("mode", "0640")]);
        assert!(matches!(would.outcome, Outcome::WouldChange { .. }), "{would:?}");
        let action = would.action.expect("an action");
        match old {
            None => assert!(
                action.detail.expect("a detail").ends_with(&format!(", from {}?…", server.url("/f.j2")))
            ),
            Some(old) => {
                let content =
                    action.changes.iter().find(|change| change.aspect == "content").expect("a change");
                let short = |content: &str| format!("sha256 {}", &sha256(content.as_bytes())[..12]);
                assert_eq!(content.from, Some(short(old)));
                assert_eq!(content.to, Some(short("content\n")));
            }
        }
        assert!(would.diff.expect("a diff").contains(&sha256(b"content\n")[..12]));
        assert_eq!(
            (server.requests().len(), scratch.read("f").as_deref()),
            (before, old),
            "noop asked the server"
        );
        let applied = transaction(&Runs::here(&scratch), &scratch, &url, &sum, &[("mode", "0640")]);
        assert_eq!(applied.outcome, Outcome::Changed, "{applied:?}");
        assert_eq!(scratch.read("f").as_deref(), Some("content\n"));
        let again = apply(&Runs::here(&scratch), &scratch, &url, &sum, &[("mode", "0640")]);
        assert_eq!(again, Outcome::Unchanged);
        assert_eq!((server.requests().len(), scratch.names()), (before + 1, vec!["f".to_owned()]));
        // Only the mode differs.
        let changed = apply(&Runs::here(&scratch), &scratch, &url, &sum, &[("mode", "0600")]);
        assert_eq!((changed, server.requests().len()), (Outcome::Changed, before + 1));
    }
}

#[test]
fn a_download_that_fails_leaves_the_old_file() {
    let server = WebServer::start(|request, stream| match &*request.line {
        "GET /missing" => answer(stream, "404 Not Found", &[], b"<html>"),
        "GET /secret" => answer(stream, "403 Forbidden", &[], b"<html>"),
        "GET /other" => answer(stream, "200 OK", &[], b"evil\n"),
        _ => {
            answer_head(stream, "200 OK", &[], Some(100))?;
            stream.write_all(b"half")
        }
    });
    for (path, words, property, hint) in [
        ("/missing", "the server answered 404 Not Found", "source", Some("check `source`")),
        (
            "/secret",
            "the server answered 403 Forbidden",
            "source",
            Some("use an `archive`, which has `username`, `password` and `headers`"),
        ),
        ("/broken", "the transfer broke off after 4 bytes", "source", None),
        (
            "/other",
            "is not the file that was expected: the checksum is ",
            "checksum",
            Some("find out why the file on the server has changed before you change the checksum"),
        ),
    ] {
        let scratch = Scratch::new();
        scratch.write("f", "old\n");
        let failed = transaction(&Runs::here(&scratch), &scratch, &server.url(path), &sha256(b"good\n"), &[]);
        assert!(told(&failed, &scratch).contains(words), "{}", told(&failed, &scratch));
        let failure = failure(&failed);
        assert_eq!((failure.changed, failure.property.as_deref()), (false, Some(property)), "{path}");
        assert_eq!(failure.hints.first().map(String::as_str), hint, "{path}");
        assert_eq!((scratch.read("f").as_deref(), scratch.names().len()), (Some("old\n"), 1), "{path}");
    }
}

#[test]
fn a_server_that_is_down_is_named() {
    let scratch = Scratch::new();
    // Nobody listens on the port after the listener is gone.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let url = format!("http://{address}/f");
    let failed = transaction(&Runs::here(&scratch), &scratch, &url, &sha256(b""), &[]);
    let words = format!("no connection to {address}: Connection refused (os error 111)");
    assert_eq!((told(&failed, &scratch), failure(&failed).kind), (words, FailureKind::Read));
    assert!(scratch.names().is_empty());
}

#[test]
fn sensitive_content_of_a_download_is_shown_nowhere() {
    let server = WebServer::of_file("the-password\n");
    let (url, sum) = (server.url("/f"), sha256(b"the-password\n"));
    let scratch = Scratch::new();
    for _ in 0..2 {
        let runs = Runs { diff: true, ..Runs::here(&scratch) };
        let shown = format!("{:?}", transaction(&runs, &scratch, &url, &sum, &[("sensitive", "true")]));
        assert!(!shown.contains("the-password"), "{shown}");
        assert_eq!(runs.secrets.redact("a the-password\n."), "a [redacted].");
    }
}
