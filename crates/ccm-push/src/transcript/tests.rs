use serde_json::json;

use super::*;
use crate::sample_lines::{READY, output, resource};

fn read(parts: &[&[u8]]) -> Result<Transcript, TranscriptError> {
    let mut transcript = Transcript::with_output(true);
    for part in parts {
        transcript.read(part)?;
    }
    Ok(transcript)
}

#[test]
fn lines_are_read_however_they_are_cut() {
    let text = format!(
        "Welcome to web1\n{READY}{}{}{}",
        resource("/a", "unchanged", &json!({})),
        resource("/b", "changed", &json!({ "diff": "+x" })),
        resource("/c", "failed", &json!({ "error": ["broken"] }))
    );
    for size in [1, 7, 100, text.len()] {
        let parts: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        let transcript = read(&parts).expect("a transcript");
        let names: Vec<_> = transcript.transactions.iter().map(|found| &*found.id.name).collect();
        assert_eq!(names, ["/b", "/c"], "{size}");
        assert_eq!(transcript.version.as_deref(), Some("1.2.3"));
    }
}

#[test]
fn a_failure_quotes_the_output_of_its_command_and_no_other() {
    let text = [
        READY.to_owned(),
        output("of a"),
        resource("/a", "changed", &json!({})),
        output("of b"),
        resource("/b", "failed", &json!({})),
    ]
    .concat();
    let transcript = read(&[text.as_bytes()]).expect("a transcript");
    assert_eq!(transcript.outputs, [ResourceOutput { lines: vec!["of a".to_owned()], bytes_before: 0 }]);
    let Outcome::Failed(failure) = &transcript.transactions[1].outcome else { unreachable!("a failure") };
    assert_eq!(failure.output[0].lines, ["of b"]);
}

#[test]
fn what_is_no_protocol_of_a_push_is_refused() {
    let deep = "[".repeat(100_000);
    for (text, expected) in [
        ("rubbish\n", "rubbish"),
        ("\u{1b}[2J\n", "\u{1b}[2J"),
        ("{}\n", "{}"),
        ("{\"protocol\":\"io.choria.ccm.v1.transaction.event\"}\n", "transaction.event"),
        ("{\"protocol\":\"io.choria.ccm.v9.transaction.event\"}\n", "v9"),
        (&format!("{deep}\n"), "[[["),
        (&format!("{{\"protocol\":\"io.choria.ccm.v1.session.start\",\"x\":{deep}\n"), "session.start"),
        ("{\"protocol\":\"io.choria.ccm.v1.session.summary\",\"counts\":{\"total\":-1}}\n", "summary"),
    ] {
        match read(&[READY.as_bytes(), text.as_bytes()]) {
            Err(TranscriptError::Rubbish(found)) => assert!(found.contains(expected), "{found}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let early = "{\"protocol\":\"io.choria.ccm.v2.push.ready\"}\n";
    assert!(matches!(read(&[early.as_bytes()]), Err(TranscriptError::OtherProtocol(_))));
}

#[test]
fn a_flood_ends_early() {
    let part = vec![b'x'; 1 << 20];
    let lines = [&vec![b'x'; 1000][..], b"\n"].concat();
    let flood = |first: &[u8], part: &[u8]| {
        let mut transcript = Transcript::default();
        let mut read = transcript.read(first);
        let mut count = 0;
        while read.is_ok() && count < 1000 {
            read = transcript.read(part);
            count += 1;
        }
        (read.err(), count)
    };
    assert_eq!(flood(b"", &part), (Some(TranscriptError::LongLine), 5));
    assert_eq!(flood(READY.as_bytes(), &part), (Some(TranscriptError::LongLine), 5));
    // A message of a login script is short.
    assert!(matches!(flood(b"", &lines), (Some(TranscriptError::Rubbish(_)), 66)));
    let change = resource("/a", "changed", &json!({ "diff": "x".repeat(1 << 20) }));
    assert_eq!(flood(READY.as_bytes(), change.as_bytes()), (Some(TranscriptError::TooManyChanges), 8));
    let unchanged = resource("/a", "unchanged", &json!({ "properties": { "a": "x".repeat(1 << 20) } }));
    assert_eq!(flood(READY.as_bytes(), unchanged.as_bytes()), (Some(TranscriptError::TooMuch), 64));
    let mut transcript = Transcript::default();
    transcript.read(READY.as_bytes()).expect("read");
    for _ in 0..200 {
        transcript.read(output(&"y".repeat(1000)).as_bytes()).expect("read");
        transcript.read_error(&part);
    }
    assert!(transcript.output_size <= MAX_RESOURCE_OUTPUT && transcript.errors.len() == MAX_ERRORS);
}

#[test]
fn the_last_line_of_errors_is_the_reason() {
    let mut transcript = Transcript::default();
    transcript.read_error(b"Warning: something\r\nssh: connect to host web1 port 22: ");
    transcript.read_error(b"Connection refused\r\n\r\n");
    assert_eq!(
        transcript.last_error_line().as_deref(),
        Some("ssh: connect to host web1 port 22: Connection refused")
    );
}
