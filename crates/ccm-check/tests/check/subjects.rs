//! Subjects and settings of rules.

use std::time::Duration;

use ccm_check::{
    Attribute, CheckStatus, HttpRequest, IpVersion, Protocol, RecordType, Subject, Transport, judge_all,
};
use serde_json::{Value as Json, json};

use crate::support::{TableFacts, read, rule, shown};

fn protocol(transport: Transport, version: Option<IpVersion>) -> Protocol {
    Protocol { transport, version }
}

#[test]
fn keys_and_settings_become_subjects() {
    let tcp = protocol(Transport::Tcp, None);
    for (text, subject) in [
        ("file: {label: {path: /a, exists: true}}", Subject::File("/a".into())),
        ("port: {80: {listening: true}}", Subject::Port { protocol: tcp, number: 80 }),
        (
            "port: {'udp6:53': {listening: true}}",
            Subject::Port { protocol: protocol(Transport::Udp, Some(IpVersion::V6)), number: 53 },
        ),
        (
            "addr: {'tcp4://a.test:80': {reachable: true, local-address: 127.0.0.9}}",
            Subject::Addr {
                protocol: protocol(Transport::Tcp, Some(IpVersion::V4)),
                address: "a.test:80".into(),
                local_address: Some("127.0.0.9".into()),
            },
        ),
        (
            "addr: {'[::1]:80': {reachable: true}}",
            Subject::Addr { protocol: tcp, address: "[::1]:80".into(), local_address: None },
        ),
        (
            "dns: {'MX:a.test': {resolvable: true, server: 127.0.0.1}}",
            Subject::Dns {
                record: Some(RecordType::Mx),
                name: "a.test".into(),
                server: Some("127.0.0.1".into()),
            },
        ),
        (
            "http: {x: {url: 'https://a.test/', status: 200, request-headers: ['A:b: c'], no-follow-redirects: true}}",
            Subject::Http(Box::new(HttpRequest {
                url: "https://a.test/".into(),
                method: "GET".into(),
                no_follow_redirects: true,
                headers: vec![("A".into(), "b: c".into())],
                ..HttpRequest::default()
            })),
        ),
    ] {
        assert_eq!(rule(text).subject, subject, "{text}");
    }
}

#[test]
fn wrong_subjects_are_errors() {
    for text in [
        "port: {'tcp:0': {listening: true}}",
        "port: {'tcp:99999': {listening: true}}",
        "port: {'tcp5:80': {listening: true}}",
        "port: {'unix:80': {listening: true}}",
        "port: {http: {listening: true}}",
        "addr: {a.test: {reachable: true}}",
        "addr: {'unix:///a': {reachable: true}}",
        "addr: {'::1:80': {reachable: true}}",
        "addr: {'a.test:http': {reachable: true}}",
        "dns: {'XX:a.test': {resolvable: true}}",
        "dns: {'A:': {resolvable: true, server: a}}",
        "http: {'ftp://a': {status: 200}}",
        "file: {'': {exists: true}}",
        "file: {a: {path: '', exists: true}}",
    ] {
        let (found, sources) = read(text, &Json::Null);
        let found = shown(&found.expect_err(text), &sources);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}

#[test]
fn settings_have_the_defaults_of_goss() {
    for (text, timeout, retries, delay) in [
        ("command: {a: {exit-status: 0}}", 10_000, 0, 1000),
        ("command: {a: {exit-status: 0, timeout: 0, retry_delay: 0}}", 10_000, 0, 1000),
        ("command: {a: {exit-status: 0, timeout: 50, retry_count: 2, retry_delay: 250}}", 50, 2, 250),
        ("command: {a: {exit-status: 0, retry_delay: 1m}}", 10_000, 0, 60_000),
        ("http: {'http://a': {status: 200}}", 5000, 0, 1000),
        ("dns: {a: {resolvable: true}}", 500, 0, 1000),
        ("addr: {'a:1': {reachable: true}}", 500, 0, 1000),
        ("mount: {/: {exists: true}}", 1000, 0, 1000),
    ] {
        let rule = rule(text);
        let expected = (Duration::from_millis(timeout), retries, Duration::from_millis(delay));
        assert_eq!((rule.timeout, rule.retries, rule.retry_delay), expected, "{text}");
    }
    let rule = rule("file: {/a: {exists: true, title: T, meta: {a: [1]}, skip: true}}");
    assert_eq!((rule.title.as_deref(), rule.meta, rule.skip), (Some("T"), Some(json!({"a": [1]})), true));
}

#[test]
fn attributes_are_judged_in_order_until_the_first_decides() {
    let text = "file: {/a: {md5: x, size: 1, exists: {or: [true, false]}}}";
    for (exists, asked) in [
        (json!(true), &[Attribute::Exists, Attribute::Size, Attribute::Md5][..]),
        (json!(false), &[Attribute::Exists]),
        (json!({"error": "permission denied"}), &[Attribute::Exists]),
        (json!({"unsupported": "no files here"}), &[Attribute::Exists]),
    ] {
        let answers = json!({"exists": exists, "size": 1, "md5": "x"});
        let mut facts = TableFacts { answers: &answers, asked: Vec::new() };
        judge_all(&[rule(text)], &mut facts);
        assert_eq!(facts.asked, asked, "{exists}");
    }
}

#[test]
fn reports_have_a_status_and_a_summary() {
    let text =
        "file: {/a: {exists: true, mode: '0644', owner: root, size: 1}}\nservice: {web: {running: true}}";
    let (read, _) = read(text, &Json::Null);
    let (rules, _) = read.expect("rules");
    for (answers, status, summary) in [
        (
            json!({"exists": true, "mode": "0644", "owner": "root", "size": 1, "running": true}),
            CheckStatus::Ok,
            "5 passed",
        ),
        (
            json!({"exists": true, "mode": "0600", "owner": "root", "size": 1, "running": true}),
            CheckStatus::Critical,
            "1 of 5 failed: file /a mode (expected 0644, found 0600)",
        ),
        (
            json!({"exists": true, "mode": "0600", "owner": "ada", "size": 2, "running": false}),
            CheckStatus::Critical,
            "4 of 5 failed: file /a mode (expected 0644, found 0600), file /a owner (expected root, found ada), file /a size (expected 1, found 2), 1 more",
        ),
        (
            json!({"exists": true, "mode": "0644", "owner": "root", "size": 1, "running": {"unsupported": "no systemd"}}),
            CheckStatus::Unknown,
            "1 of 5 unknown: service web running (no systemd)",
        ),
        (
            json!({"exists": false, "running": {"unsupported": "no systemd"}}),
            CheckStatus::Critical,
            "1 of 5 failed: file /a exists (expected true, found false)",
        ),
    ] {
        let report = judge_all(&rules, &mut TableFacts { answers: &answers, asked: Vec::new() });
        assert_eq!((report.status(), &*report.summary()), (status, summary), "{answers}");
    }
}
