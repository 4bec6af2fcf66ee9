//! What is read of this machine: kinds of files, names of processes, ports, and what can't be read.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use ccm_host::{Cancellation, CancellationLevel, CancellationSource};
use ccm_redaction::Secrets;
use ccm_testkit::{OwnMounts, Scratch, isolated, needs_ordinary_user, needs_own_mounts, wait_until};
use serde_json::json;

use super::{Options, judged, outcomes, outcomes_with, rules};

#[test]
fn files_have_their_kind_and_content() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    scratch.write("file", "one\ntwo\n");
    std::fs::create_dir(path("directory")).expect("a directory");
    symlink("file", path("link")).expect("a link");
    symlink("nowhere", path("dangling")).expect("a link");
    make_pipe(&path("pipe"));
    let _socket = UnixListener::bind(path("socket")).expect("a socket");
    for (name, attributes, expected) in [
        ("file", json!({"filetype": "file", "size": 8, "contents": ["two"]}), &["pass", "pass", "pass"][..]),
        ("directory", json!({"filetype": "directory"}), &["pass"]),
        ("link", json!({"filetype": "symlink", "linked-to": "file", "contents": ["one"]}), &["pass"; 3]),
        ("dangling", json!({"filetype": "symlink"}), &["pass"]),
        ("pipe", json!({"filetype": "pipe"}), &["pass"]),
        ("socket", json!({"filetype": "socket"}), &["pass"]),
        // What is no regular file is never opened.
        ("pipe", json!({"contents": ["x"]}), &["fail (error): "]),
        ("socket", json!({"sha256": "x"}), &["fail (error): "]),
        ("directory", json!({"contents": ["x"]}), &["fail (error): "]),
        ("dangling", json!({"contents": ["x"]}), &["fail (error): "]),
        ("file/below", json!({"filetype": "file"}), &["skip"]),
    ] {
        let mut rule = attributes.clone();
        rule["exists"] = json!(name != "file/below");
        let text = json!({"file": {name: rule}}).to_string();
        let found = outcomes_with(&text, &Options::in_directory(scratch.path()));
        assert_eq!(found[0], "pass", "{text}");
        assert_eq!(found.len(), expected.len() + 1, "{text}: {found:?}");
        for (found, expected) in found[1..].iter().zip(expected) {
            assert!(
                found == expected || found.starts_with(&**expected) && expected.ends_with(": "),
                "{text}: {found}"
            );
        }
    }
    // Devices have no end, and opening some of them does something.
    let found = outcomes(r#"{"file": {"/dev/zero": {"exists": true, "contents": ["x"]}}}"#);
    assert!(found[1].starts_with("fail (error): "), "{found:?}");
}

fn make_pipe(path: &std::path::Path) {
    let status = Command::new("mkfifo").arg(path).status();
    assert!(status.expect("mkfifo").success());
}

#[test]
fn what_may_not_be_read_is_an_error_and_no_absence() {
    if !needs_ordinary_user() {
        return;
    }
    for (text, count) in [
        (r#"{"file": {"/root/x": {"exists": false}}}"#, 1),
        (r#"{"file": {"/etc/shadow": {"exists": true, "contents": ["root"]}}}"#, 2),
    ] {
        let found = outcomes(text);
        assert_eq!(found.len(), count, "{text}");
        assert!(found[count - 1].contains("ermission denied"), "{text}: {found:?}");
    }
}

#[test]
fn values_that_do_not_exist_are_errors() {
    for (text, reason) in [
        (r#"{"kernel-param": {"kernel.nope": {"value": "1"}}}"#, "/proc/sys/kernel/nope"),
        (r#"{"kernel-param": {"../../etc/passwd": {"value": "1"}}}"#, "no name of a parameter"),
        (r#"{"kernel-param": {"kernel": {"value": "1"}}}"#, "no name of a parameter"),
        (r#"{"file": {"~no-such-user": {"exists": false}}}"#, "there is no user"),
    ] {
        let found = outcomes(text);
        assert!(found[0].starts_with("fail (error): ") && found[0].contains(reason), "{text}: {found:?}");
    }
}

#[test]
fn processes_are_found_by_their_whole_name() {
    let scratch = Scratch::new();
    let long = "a-very-long-program-name";
    let mut children: Vec<_> = [long, "short", "a-very-long-script.sh"]
        .into_iter()
        .map(|name| {
            let path = scratch.path().join(name);
            let make = if name.contains("script") {
                format!("printf '#!/bin/sh\\nread line\\n' > {0}; chmod 755 {0}", path.display())
            } else {
                format!("cp /bin/sleep {}", path.display())
            };
            assert!(Command::new("/bin/sh").args(["-c", &make]).status().expect("a shell").success());
            let mut command = Command::new(&path);
            if !name.contains("script") {
                command.arg("600");
            }
            command.stdin(Stdio::piped()).spawn().expect("a process")
        })
        .collect();
    for (name, is_running) in [
        (long, true),
        ("short", true),
        ("a-very-long-script.sh", true),
        // Names that begin in the same way, as far as the kernel keeps them.
        ("a-very-long-program", false),
        ("a-very-long-pro", true),
        ("a-very-long-scripts", false),
        ("shor", false),
        ("no-such-program-anywhere", false),
    ] {
        let text = json!({"process": {name: {"running": is_running}}}).to_string();
        assert_eq!(outcomes(&text), ["pass"], "{name}");
    }
    for child in &mut children {
        child.kill().expect("an end");
    }
    // What has ended, and is not reaped yet, does not run.
    wait_until("the process has ended", || {
        outcomes(r#"{"process": {"short": {"running": false}}}"#) == ["pass"]
    });
    for mut child in children {
        child.wait().expect("an end");
    }
}

#[test]
fn sockets_of_datagrams_listen_while_they_are_connected_to_nobody() {
    let waiting = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let connected = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    connected.connect("127.0.0.1:9").expect("a route");
    let port = |socket: &std::net::UdpSocket| socket.local_addr().expect("an address").port();
    for (port, is_listening) in [(port(&waiting), true), (port(&connected), false)] {
        let text = json!({"port": {format!("udp:{port}"): {"listening": is_listening}}}).to_string();
        assert_eq!(outcomes(&text), ["pass"], "{text}");
    }
}

#[test]
fn a_cancelled_check_is_unknown() {
    let (source, cancellation) = CancellationSource::new();
    source.raise(CancellationLevel::Stop);
    let options = Options { cancellation, ..Options::in_directory("/".as_ref()) };
    for text in [
        r#"{"file": {"/": {"exists": true}}}"#,
        r#"{"command": {"true": {"exit-status": 0}}}"#,
        r#"{"addr": {"127.0.0.1:1": {"reachable": false}}}"#,
    ] {
        let found = outcomes_with(text, &options);
        assert!(
            found[0] == "pass" || found[0].starts_with("unknown: the check was stopped"),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn rules_behind_the_end_of_a_check_are_unknown() {
    isolated(|| {
        let text = r#"{"command": {"a": {"exec": "exec sleep 600", "exit-status": 0}, "b": {"exec": "true", "exit-status": 0}}}"#;
        let options =
            Options { timeout: Some(Duration::from_millis(300)), ..Options::in_directory("/".as_ref()) };
        let found = outcomes_with(text, &options);
        assert!(found[0].starts_with("fail (error): the command timed out after "), "{found:?}");
        assert_eq!(found[1], "unknown: the check ended after 300ms before this rule was judged");
    });
}

#[test]
fn results_hold_no_secret() {
    let scratch = Scratch::new();
    scratch.write("file", "password: opensesame\n");
    let secrets = Secrets::new();
    secrets.add(["opensesame"]);
    let options =
        Options { secrets, cancellation: Cancellation::never(), ..Options::in_directory(scratch.path()) };
    for text in [
        r#"{"file": {"file": {"exists": true, "contents": "x"}}}"#,
        r#"{"file": {"opensesame": {"exists": true}}, "matching": {"m": {"content": "opensesame", "matches": "x"}}}"#,
    ] {
        let report = judged(&rules(text), &options);
        let reasons: Vec<_> = report.attributes().filter_map(|(_, result)| result.outcome.reason()).collect();
        assert!(!reasons.concat().contains("opensesame"), "{reasons:?}");
        assert!(reasons.concat().contains("[redacted]"), "{reasons:?}");
    }
}

#[test]
fn results_keep_the_order_of_the_rules() {
    let text = "
matching: {a: {content: 1, matches: 1}}
addr: {\"127.0.0.1:1\": {reachable: false}}
file: {/: {exists: true}}
dns: {\"127.0.0.1\": {resolvable: true}}
port: {tcp:1: {listening: false}}
";
    let read = rules(text);
    let report = judged(&read, &Options::in_directory("/".as_ref()));
    assert_eq!(
        report.rules.iter().map(|rule| format!("{} {}", rule.kind.name(), rule.id)).collect::<Vec<_>>(),
        read.iter().map(ToString::to_string).collect::<Vec<_>>()
    );
    assert_eq!(report.summary(), "5 passed");
}

#[test]
fn a_silent_name_service_holds_up_no_check() {
    if !needs_own_mounts() {
        return;
    }
    let mounts = OwnMounts {
        etc: &["passwd", "group"],
        empty: &["/usr/local/sbin"],
        script: "echo 'passwd: files sss' > /etc/nsswitch.conf
            printf '#!/bin/sh\\nexec sleep 2\\n' > /usr/local/sbin/getent
            chmod 755 /usr/local/sbin/getent",
        ..OwnMounts::default()
    };
    mounts.isolate(|| {
        let options =
            Options { timeout: Some(Duration::from_millis(300)), ..Options::in_directory("/".as_ref()) };
        let found = outcomes_with("user: {ghost: {exists: false}}\nfile: {/: {exists: true}}\n", &options);
        let over = "unknown: the check ended after 300ms before this rule was judged";
        assert_eq!(found, [over, over]);
        // The thread that was left behind ends its program.
        let threads = || std::fs::read_dir("/proc/self/task").expect("threads").flatten();
        let has_child = || {
            threads().any(|thread| {
                let children = std::fs::read_to_string(thread.path().join("children"));
                children.is_ok_and(|children| !children.is_empty())
            })
        };
        wait_until("the program has ended", || !has_child());
    });
}
