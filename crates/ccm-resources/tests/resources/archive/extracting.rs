//! Archives that are downloaded and extracted.

use ccm_host::sha256;
use ccm_model::Outcome;
use ccm_testkit::{Scratch, TarFile, WebServer, answer, tar};

use crate::archive::machine::{Runs, app, converge};

#[test]
fn an_archive_is_extracted_into_a_new_directory() {
    let scratch = Scratch::new();
    let server = WebServer::of_file(app());
    let url = server.url("/app.tar");
    let properties =
        [("url", &*url), ("extract_parent", "[dir]/opt/x"), ("creates", "[dir]/opt/x/app-1.0/bin/app")];
    let (message, applied) = converge(&scratch, "app.tar", &properties);
    assert!(message.ends_with(&format!(", extracted into {}", scratch.at("opt/x"))), "{message}");
    assert_eq!(scratch.read("opt/x/app-1.0/README").as_deref(), Some("read me\n"));
    assert_eq!(scratch.names(), ["app.tar", "opt"]);
    let detail = applied.action.expect("an action").detail.expect("a detail");
    assert!(detail.ends_with(&format!("2 files extracted into {}", scratch.at("opt/x"))), "{detail}");
    assert_eq!(applied.notes.len(), 1, "{:?}", applied.notes);
    assert_eq!(applied.state.expect("a state")["creates_satisfied"], true);
    // What was extracted comes back from the file that is there.
    std::fs::remove_dir_all(scratch.path().join("opt/x/app-1.0")).expect("a directory");
    converge(&scratch, "app.tar", &properties);
    assert!(scratch.has("opt/x/app-1.0/bin/app"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn the_file_is_not_kept_if_so_desired() {
    let scratch = Scratch::new();
    let server = WebServer::of_file(app());
    let url = server.url("/app.tar");
    let properties = [
        ("url", &*url),
        ("extract_parent", "[dir]"),
        ("strip_components", "1"),
        ("creates", "[dir]/bin/app"),
        ("cleanup", "true"),
    ];
    converge(&scratch, "app.tar", &properties);
    assert_eq!((scratch.names(), server.requests().len()), (vec!["README".to_owned(), "bin".to_owned()], 1));
    // A file that is there is used, and removed too.
    scratch.write("app.tar", app());
    std::fs::remove_file(scratch.path().join("bin/app")).expect("a file");
    converge(&scratch, "app.tar", &properties);
    assert_eq!((scratch.names(), server.requests().len()), (vec!["README".to_owned(), "bin".to_owned()], 1));
}

#[test]
fn a_new_version_is_extracted_over_the_old_one() {
    let scratch = Scratch::new();
    scratch.write("app.tar", "old");
    scratch.write("out/bin/app", "old");
    scratch.write("out/data", "mine\n");
    let server = WebServer::of_file(app());
    let (url, checksum) = (server.url("/app.tar"), sha256(&app()));
    let properties = [
        ("url", &*url),
        ("checksum", &*checksum),
        ("extract_parent", "[dir]/out"),
        ("strip_components", "1"),
        ("creates", "[dir]/out/bin/app"),
    ];
    converge(&scratch, "app.tar", &properties);
    assert_eq!(scratch.read("out/bin/app").as_deref(), Some("#!/bin/sh\n"));
    assert_eq!(scratch.read("out/data").as_deref(), Some("mine\n"));
}

#[test]
fn without_creates_only_a_download_is_extracted() {
    let scratch = Scratch::new();
    let server = WebServer::of_file(app());
    let url = server.url("/app.tar");
    let properties = [("url", &*url), ("extract_parent", "[dir]")];
    converge(&scratch, "app.tar", &properties);
    std::fs::remove_dir_all(scratch.path().join("app-1.0")).expect("a directory");
    assert_eq!(Runs::in_directory(&scratch).apply("app.tar", &properties).outcome, Outcome::Unchanged);
}

#[test]
fn a_new_checksum_makes_what_was_extracted_old() {
    let (scratch, state) = (Scratch::new(), Scratch::new());
    let version = |content| tar(&[TarFile { path: "v", mode: 0o644, content, link: None }]);
    let (one, two) = (version(b"1"), version(b"2"));
    let sums = [sha256(&one), sha256(&two)];
    let server = WebServer::start(move |request, stream| {
        answer(stream, "200 OK", &[], if request.line == "GET /1.tar" { &one } else { &two })
    });
    let apply = |number: &str, sum: &str, noop| {
        let url = server.url(&format!("/{number}.tar"));
        let properties = [
            ("url", &*url),
            ("checksum", sum),
            ("extract_parent", "[dir]"),
            ("creates", "[dir]/v"),
            ("cleanup", "true"),
        ];
        let runs = Runs { noop, state_directory: Some(state.path()), ..Runs::in_directory(&scratch) };
        runs.apply("a.tar", &properties).outcome
    };
    for (number, sum) in [("1", &sums[0]), ("2", &sums[1]), ("1", &sums[0])] {
        assert!(matches!(apply(number, sum, true), Outcome::WouldChange { .. }), "{number}");
        assert_eq!(apply(number, sum, false), Outcome::Changed, "{number}");
        assert_eq!(scratch.read("v").as_deref(), Some(number));
        assert_eq!(apply(number, sum, false), Outcome::Unchanged, "{number}");
        assert_eq!(scratch.names(), ["v"]);
    }
}
