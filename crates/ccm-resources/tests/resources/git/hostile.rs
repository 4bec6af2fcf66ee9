//! Repositories and servers that are out to harm.

use std::net::TcpListener;
use std::os::unix::fs::{chown, symlink};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ccm_host::{Cancellation, CancellationLevel, CancellationSource};
use ccm_testkit::{Scratch, WebServer, answer, needs_root, stay_silent};

use crate::build::resource;
use crate::git::machine::{applied, assert_changes, checkout, commit, git, in_noop, repository, with_git};
use crate::local_run::{outcome, run_on_machine};
use crate::run::Manner;

#[test]
fn no_hook_and_no_helper_of_a_checkout_runs() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let resources = checkout(scratch, &[("url", &url), ("revision", "main")]);
        assert_changes(&resources);
        let trap = scratch.write_program("trap", &format!("#!/bin/sh\ntouch {}\n", scratch.at("sprung")));
        let trap = trap.display().to_string();
        for hook in ["post-checkout", "post-merge", "reference-transaction", "post-index-change"] {
            scratch.write_program(&format!("app/.git/hooks/{hook}"), &format!("#!/bin/sh\n{trap}\n"));
        }
        git(scratch.at("app"), &["config", "core.fsmonitor", &trap]);
        git(scratch.at("app"), &["config", "protocol.ext.allow", "always"]);
        git(scratch.at("app"), &["config", "core.askPass", &trap]);
        commit(scratch, "up", "main", "two");
        assert_changes(&resources);
        assert!(!scratch.has("sprung"));
    });
}

#[test]
fn submodule_of_a_stranger_runs_nothing() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let work = scratch.path().join("up.work");
        let command = format!("ext::sh -c touch% {}", scratch.at("sprung"));
        let text = format!("[submodule \"a\"]\n\tpath = a\n\turl = {command}\n");
        scratch.write("up.work/.gitmodules", text);
        std::fs::create_dir(work.join("a")).expect("a directory");
        let head = git(&work, &["rev-parse", "HEAD"]);
        git(&work, &["update-index", "--add", "--cacheinfo", &format!("160000,{head},a")]);
        git(&work, &["add", ".gitmodules"]);
        commit(scratch, "up", "main", "two");
        let told = applied(checkout(scratch, &[("url", &url), ("submodules", "true")]));
        assert!(told.contains("transport 'ext' not allowed"), "{told}");
        assert_eq!(scratch.names(), ["up.git", "up.work"]);
    });
}

#[test]
fn server_that_asks_for_a_password_is_an_error() {
    with_git(|scratch| {
        let server = WebServer::start(|_, stream| {
            let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(head.as_bytes())
        });
        let url = server.url("/app.git");
        let told = applied(checkout(scratch, &[("url", &url), ("revision", "main")]));
        assert!(told.starts_with("the repository asks for a password, and git has none"), "{told}");
        let moved = WebServer::start(|_, stream| answer(stream, "404 Not Found", &[], b""));
        let told = applied(checkout(scratch, &[("url", &moved.url("/app.git"))]));
        assert!(told.starts_with("there is no repository at this address: `git ls-remote` failed"), "{told}");
        let told = applied(checkout(scratch, &[("url", "http://127.0.0.1:1/app.git")]));
        assert!(told.starts_with("the repository can't be reached: `git ls-remote` failed"), "{told}");
        assert!(scratch.names().is_empty());
    });
}

#[test]
fn git_runs_in_no_directory_of_a_stranger() {
    if !needs_root() {
        return;
    }
    with_git(|scratch| {
        let url = repository(scratch, "up");
        std::fs::create_dir(scratch.path().join("theirs")).expect("a directory");
        chown(scratch.path().join("theirs"), Some(4242), None).expect("an owner");
        let path = scratch.at("theirs/app");
        let resources = || vec![resource("git", &path, &[("url", &url)])];
        let expected = format!(
            "the directory \"{}\", on the way to \"{path}\", belongs to uid 4242, who could lead ccm elsewhere",
            scratch.at("theirs")
        );
        assert_eq!((in_noop(resources()), applied(resources())), (expected.clone(), expected));
        assert_eq!(applied(vec![resource("git", &path, &[("ensure", "absent")])]), "unchanged");
        assert!(!scratch.has("theirs/app"));
        // A link of the user who runs ccm leads to the same checkout.
        std::fs::create_dir(scratch.path().join("real")).expect("a directory");
        symlink("real", scratch.path().join("link")).expect("a link");
        assert_changes(&[resource("git", &scratch.at("link/app"), &[("url", &url)])]);
        assert_eq!(applied(vec![resource("git", &scratch.at("real/app"), &[("url", &url)])]), "unchanged");
    });
}

/// Applies a checkout of a server that never answers.
fn hangs(scratch: &Scratch, properties: &[(&str, &str)], cancellation: &Cancellation, url: &str) -> String {
    let properties = [&[("url", url), ("revision", "main")], properties].concat();
    let manner = Manner { cancellation: cancellation.clone(), ..Manner::default() };
    let told = outcome(&run_on_machine(checkout(scratch, &properties), &manner)[0]);
    assert!(scratch.names().is_empty());
    told
}

#[test]
fn server_that_hangs_is_given_up() {
    with_git(|scratch| {
        let server = WebServer::start(|_, stream| stay_silent(stream));
        let told = hangs(scratch, &[("timeout", "1s")], &Cancellation::never(), &server.url("/app.git"));
        assert_eq!(told, "`git ls-remote` timed out after 1s");
    });
}

#[test]
fn stop_ends_the_wait_for_a_server() {
    with_git(|scratch| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("git://{}/app.git", listener.local_addr().expect("an address"));
        let (source, cancellation) = CancellationSource::new();
        let (end, ended) = mpsc::channel::<()>();
        let server = thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a connection");
            source.raise(CancellationLevel::Stop);
            let _ = ended.recv_timeout(Duration::from_secs(60));
            drop(stream);
        });
        let told = hangs(scratch, &[], &cancellation, &url);
        assert_eq!(told, "`git ls-remote` was stopped together with the run");
        drop(end);
        server.join().expect("the server");
    });
}
