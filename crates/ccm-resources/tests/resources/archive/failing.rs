//! Archives that fail, and what is left then.

use std::fs::Permissions;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

use ccm_host::{CancellationLevel, CancellationSource};
use ccm_model::{FailureKind, Outcome};
use ccm_testkit::{Scratch, TarFile, WebServer, answer, answer_head, needs_root, stay_silent, tar};

use crate::archive::machine::{Runs, app, told};
use crate::run::failure;

#[test]
fn a_failed_download_leaves_nothing() {
    let server = WebServer::start(|request, stream| match &*request.line {
        "GET /missing" => answer(stream, "404 Not Found", &[], b"<html>"),
        "GET /large" => answer_head(stream, "200 OK", &[], Some(1 << 30)),
        _ => {
            answer_head(stream, "200 OK", &[], Some(100))?;
            stream.write_all(b"half")
        }
    });
    for (path, words) in [
        ("/missing", "the server answered 404 Not Found"),
        ("/large", "is larger than 1048576 bytes"),
        ("/broken", "the transfer broke off after 4 bytes"),
    ] {
        let scratch = Scratch::new();
        scratch.write("kept", "x");
        let url = server.url(path);
        let failed = Runs::in_directory(&scratch).apply("f", &[("url", &url), ("max_size", "1MiB")]);
        assert!(told(&failed, &scratch).contains(words), "{}", told(&failed, &scratch));
        assert!(!failure(&failed).changed);
        assert_eq!(scratch.names(), ["kept"], "{path}");
    }
}

#[test]
fn an_archive_that_attacks_leaves_nothing() {
    let scratch = Scratch::new();
    let attack = tar(&[
        TarFile { path: "harmless", mode: 0o644, content: b"x", link: None },
        TarFile { path: "../evil", mode: 0o644, content: b"x", link: None },
    ]);
    let server = WebServer::of_file(attack);
    let url = server.url("/a.tar");
    std::fs::create_dir(scratch.path().join("out")).expect("a directory");
    let properties = [("url", &*url), ("extract_parent", "[dir]/out"), ("creates", "[dir]/out/harmless")];
    let failed = Runs::in_directory(&scratch).apply("a.tar", &properties);
    assert_eq!(told(&failed, &scratch), "the entry `../evil` is refused: its name contains `..`");
    assert!(!failure(&failed).changed);
    assert_eq!(scratch.names(), ["out"]);
    assert_eq!(std::fs::read_dir(scratch.path().join("out")).expect("a directory").count(), 0);
}

#[test]
fn a_wrong_creates_is_told() {
    let scratch = Scratch::new();
    let server = WebServer::of_file(app());
    let url = server.url("/a.tar");
    let properties = [("url", &*url), ("extract_parent", "[dir]"), ("creates", "[dir]/bin/app")];
    let failed = Runs::in_directory(&scratch).apply("a.tar", &properties);
    assert_eq!(told(&failed, &scratch), "\"bin/app\" does not exist after the extraction");
    assert_eq!(failure(&failed).kind, FailureKind::Verification);
}

#[test]
fn the_time_limit_and_the_end_of_the_run_end_a_download() {
    let scratch = Scratch::new();
    let server = WebServer::start(|_, stream| stay_silent(stream));
    let url = server.url("/a");
    let failed = Runs::in_directory(&scratch).apply("f", &[("url", &url), ("timeout", "200ms")]);
    assert_eq!(told(&failed, &scratch), format!("the download of {url} timed out after 200ms"));
    assert_eq!(failure(&failed).kind, FailureKind::Timeout);
    let (source, cancellation) = CancellationSource::new();
    let (sender, receiver) = std::sync::mpsc::channel();
    let server = WebServer::start(move |_, stream| {
        sender.send(()).expect("a test that waits");
        stay_silent(stream)
    });
    let canceller = std::thread::spawn(move || {
        receiver.recv().expect("a request");
        source.raise(CancellationLevel::Stop);
        source
    });
    let url = server.url("/a");
    let runs = Runs { cancellation, ..Runs::in_directory(&scratch) };
    let failed = runs.apply("f", &[("url", &url)]);
    assert_eq!(failure(&failed).kind, FailureKind::Stopped);
    drop(canceller.join().expect("a thread"));
    assert!(scratch.names().is_empty());
}

#[test]
fn strangers_lead_no_archive_elsewhere() {
    if !needs_root() {
        return;
    }
    let server = WebServer::of_file(app());
    let url = server.url("/a.tar");
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("real/out")).expect("directories");
    symlink("real", scratch.path().join("link")).expect("a link");
    let apply = |name: &str, into: &str| {
        let creates = format!("{into}/app-1.0/README");
        let properties = [("url", &*url), ("extract_parent", into), ("creates", &*creates)];
        [true, false].map(|noop| Runs { noop, ..Runs::in_directory(&scratch) }.apply(name, &properties))
    };
    lchown(scratch.path().join("link"), Some(4242), None).expect("an owner");
    for (name, into, on_the_way) in [
        ("link/a.tar", "[dir]/real/out", "link/a.tar"),
        ("real/a.tar", "[dir]/link/out", "link/out"),
        ("real/a.tar", "[dir]/link/new", "link/new"),
    ] {
        for refused in apply(name, into) {
            let told = told(&refused, &scratch);
            let expected = format!("the link \"link\", on the way to \"{on_the_way}");
            assert!(
                told.starts_with(&expected) && told.ends_with("belongs to uid 4242 and is not followed"),
                "{told}"
            );
        }
    }
    assert_eq!(scratch.names(), ["link", "real"]);
    assert_eq!(std::fs::read_dir(scratch.path().join("real/out")).expect("a directory").count(), 0);
    // A link of root is followed.
    lchown(scratch.path().join("link"), Some(0), None).expect("an owner");
    let [_, done] = apply("link/a.tar", "[dir]/link/new");
    assert!(done.outcome.is_change(), "{done:?}");
    assert!(scratch.path().join("real/new/app-1.0/README").exists());
}

#[test]
fn the_file_of_a_stranger_is_no_download() {
    if !needs_root() {
        return;
    }
    let checksum = format!("sha256:{}", ccm_host::sha256(&app()));
    for (uid, mode, checksum) in
        [(4242, 0o644, None), (4242, 0o644, Some(&*checksum)), (0, 0o666, Some(&*checksum)), (0, 0o666, None)]
    {
        let server = WebServer::of_file(app());
        let scratch = Scratch::new();
        // With the right checksum it is the right file, but only for now.
        let other = tar(&[TarFile { path: "app-1.0/README", mode: 0o644, content: b"evil\n", link: None }]);
        let content = if checksum.is_some() { app() } else { other };
        std::fs::write(scratch.at("a.tar"), content).expect("a file");
        std::fs::set_permissions(scratch.at("a.tar"), Permissions::from_mode(mode)).expect("a mode");
        chown(scratch.at("a.tar"), Some(uid), None).expect("an owner");
        let url = server.url("/a.tar");
        let mut properties =
            vec![("url", &*url), ("extract_parent", "[dir]/out"), ("creates", "[dir]/out/app-1.0/README")];
        properties.extend(checksum.map(|checksum| ("checksum", checksum)));
        let done = Runs::in_directory(&scratch).apply("a.tar", &properties);
        assert_eq!(done.outcome, Outcome::Changed, "{uid} {mode:o}: {done:?}");
        assert_eq!(server.requests().len(), 1, "it was downloaded");
        assert_eq!(scratch.read("out/app-1.0/README").as_deref(), Some("read me\n"));
        let file = std::fs::metadata(scratch.at("a.tar")).expect("the file");
        assert_eq!((file.uid(), file.mode() & 0o777), (0, 0o644));
        let again = Runs::in_directory(&scratch).apply("a.tar", &properties);
        assert_eq!(again.outcome, Outcome::Unchanged);
    }
}

#[test]
fn what_is_extracted_is_what_was_compared() {
    if !needs_root() {
        return;
    }
    let evil = tar(&[
        TarFile { path: "app-1.0/bin/app", mode: 0o755, content: b"#!/bin/no\n", link: None },
        TarFile { path: "app-1.0/README", mode: 0o644, content: b"evil m!\n", link: None },
    ]);
    assert_eq!(evil.len(), app().len());
    let checksum = format!("sha256:{}", ccm_host::sha256(&app()));
    let scratch = Scratch::new();
    let archive = scratch.path().join("a.tar");
    std::fs::write(&archive, app()).expect("a file");
    chown(&archive, Some(4242), None).expect("an owner");
    let is_over = AtomicBool::new(false);
    let texts: Vec<Option<String>> = std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = std::fs::OpenOptions::new().write(true).open(&archive).expect("the file");
            while !is_over.load(Ordering::Relaxed) {
                for content in [&evil, &app()] {
                    file.write_all_at(content, 0).expect("to write");
                }
            }
        });
        let texts = (0..50).map(|number| {
            let into = format!("[dir]/out{number}");
            let creates = format!("{into}/app-1.0/README");
            // Nothing answers there: the file is extracted, or refused.
            let properties = [
                ("url", "http://127.0.0.1:9/a.tar"),
                ("checksum", &*checksum),
                ("owner", "4242"),
                ("extract_parent", &*into),
                ("creates", &*creates),
            ];
            Runs::in_directory(&scratch).apply("a.tar", &properties);
            scratch.read(&format!("out{number}/app-1.0/README"))
        });
        let texts = texts.collect();
        is_over.store(true, Ordering::Relaxed);
        texts
    });
    let exchanged = texts.iter().flatten().filter(|text| *text != "read me\n").count();
    assert_eq!(exchanged, 0, "of {}", texts.len());
    // A file that is never the right one would prove nothing.
    chown(&archive, Some(4242), None).expect("an owner");
    std::fs::write(&archive, app()).expect("a file");
    let properties = [
        ("url", "http://127.0.0.1:9/a.tar"),
        ("checksum", &*checksum),
        ("owner", "4242"),
        ("extract_parent", "[dir]/out"),
        ("creates", "[dir]/out/app-1.0/README"),
    ];
    let done = Runs::in_directory(&scratch).apply("a.tar", &properties);
    assert_eq!(done.outcome, Outcome::Changed, "{done:?}");
    assert!(scratch.names().iter().all(|name| name == "a.tar" || name.starts_with("out")));
}

#[test]
fn a_refusal_leaves_no_directory_that_was_made_for_it() {
    let scratch = Scratch::new();
    scratch.write("mine/file", "x");
    let server = WebServer::of_file("no archive ".repeat(100));
    let url = server.url("/a.tar");
    for into in ["[dir]/new", "[dir]/new/a/b", "[dir]/mine/a/b"] {
        let properties = [("url", &*url), ("extract_parent", into)];
        let transaction = Runs::in_directory(&scratch).apply("a.tar", &properties);
        let failure = failure(&transaction);
        assert!(!failure.changed, "{into}: {failure:?}");
        assert!(transaction.notes.is_empty(), "{:?}", transaction.notes);
        assert_eq!(scratch.names(), ["mine"], "{into}");
        assert!(!scratch.has("mine/a"));
    }
}
