//! Files that are downloaded.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use ccm_host::sha256;
use ccm_model::Outcome;
use ccm_testkit::{Scratch, WebServer, answer, answer_range, is_root};

use crate::archive::machine::{Runs, converge, told};

#[test]
fn a_file_is_downloaded_once() {
    let scratch = Scratch::new();
    let server = WebServer::of_file("content\n");
    let url = server.url("/a?token=x");
    let (message, applied) = converge(&scratch, "f", &[("url", &url), ("mode", "0640")]);
    assert_eq!(message, format!("Would have created: from {}?…", server.url("/a")));
    assert_eq!(scratch.read("f").as_deref(), Some("content\n"));
    assert_eq!((scratch.names(), server.requests().len()), (vec!["f".to_owned()], 1));
    let mode = std::fs::metadata(scratch.path().join("f")).expect("the file").permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
    let action = applied.action.expect("an action");
    assert_eq!(action.detail, Some(format!("8 bytes from {}?…", server.url("/a"))));
    let state = applied.state.expect("a state");
    assert_eq!(state["protocol"], "io.choria.ccm.v1.resource.archive.state");
    assert_eq!((&state["ensure"], &state["size"]), (&"present".into(), &8.into()));
    assert_eq!(state["checksum"], sha256(b"content\n"));
}

#[test]
fn a_file_with_another_checksum_is_replaced() {
    let scratch = Scratch::new();
    scratch.write("f", "old\n");
    let server = WebServer::of_file("new\n");
    let (url, checksum) = (server.url("/a"), sha256(b"new\n").to_uppercase());
    let properties = [("url", &*url), ("checksum", &*checksum)];
    converge(&scratch, "f", &properties);
    assert_eq!((scratch.read("f").as_deref(), server.requests().len()), (Some("new\n"), 1));
    // Without a checksum, a file that is there is the file.
    scratch.write("f", "mine\n");
    let kept = Runs::in_directory(&scratch).apply("f", &properties[..1]);
    assert_eq!(kept.outcome, Outcome::Unchanged);
}

#[test]
fn a_download_with_another_checksum_changes_nothing() {
    for old in [None, Some("old\n")] {
        let scratch = Scratch::new();
        old.map(|old| scratch.write("f", old));
        let server = WebServer::of_file("evil\n");
        let (url, checksum) = (server.url("/a"), sha256(b"good\n"));
        let failed = Runs::in_directory(&scratch).apply("f", &[("url", &url), ("checksum", &checksum)]);
        let words = format!(
            "{url} is not the file that was expected: the checksum is {}, not {checksum}",
            sha256(b"evil\n")
        );
        assert_eq!(told(&failed, &scratch), words);
        assert_eq!(scratch.read("f").as_deref(), old);
        assert_eq!(scratch.names().len(), old.iter().len());
    }
}

#[test]
fn the_checksum_is_found_in_a_list() {
    let list = format!("{}  other\n{} *./a.bin\n", sha256(b"x"), sha256(b"content\n"));
    let server = WebServer::start(move |request, stream| match &*request.line {
        "GET /sums" => answer(stream, "200 OK", &[], list.as_bytes()),
        _ => answer_range(request, stream, b"content\n"),
    });
    let scratch = Scratch::new();
    let (url, sums) = (server.url("/a.bin"), server.url("/sums"));
    converge(&scratch, "f", &[("url", &url), ("checksum_url", &sums)]);
    assert_eq!(scratch.read("f").as_deref(), Some("content\n"));
    // Nothing is read from the server in a run that has nothing to do.
    assert_eq!(server.requests().len(), 2);
    let other = server.url("/unlisted");
    let failed = Runs::in_directory(&scratch).apply("g", &[("url", &other), ("checksum_url", &sums)]);
    assert_eq!(told(&failed, &scratch), format!("{sums} holds no SHA-256 checksum of `unlisted`"));
    let (wrong, bare) = (server.url("/other"), server.url("/sums"));
    let failed = Runs::in_directory(&scratch).apply("g", &[("url", &wrong), ("checksum_url", &bare)]);
    assert!(told(&failed, &scratch).contains("is not the file that was expected"));
    assert_eq!(scratch.names(), ["f"]);
}

#[test]
fn attributes_are_corrected_without_a_download() {
    let scratch = Scratch::new();
    let server = WebServer::of_file("content\n");
    let url = server.url("/a");
    scratch.write("f", "content\n");
    let mut properties = vec![("url", &*url), ("mode", "0600")];
    if is_root() {
        properties.extend([("owner", "12"), ("group", "34")]);
    }
    converge(&scratch, "f", &properties);
    let metadata = std::fs::metadata(scratch.path().join("f")).expect("the file");
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
    if is_root() {
        assert_eq!((metadata.uid(), metadata.gid()), (12, 34));
    }
    assert!(server.requests().is_empty());
}

#[test]
fn an_absent_file_is_removed() {
    let scratch = Scratch::new();
    scratch.write("f", "content\n");
    let (message, _) = converge(&scratch, "f", &[("ensure", "absent")]);
    assert_eq!(message, "Would have removed: file");
    assert!(scratch.names().is_empty());
}
