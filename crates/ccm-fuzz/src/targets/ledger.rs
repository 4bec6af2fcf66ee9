//! Ledgers of pending refreshes.

use std::cell::OnceCell;

use ccm_engine::{Ledger, LedgerError, LedgerRun, ledger_read_back, pending};
use ccm_host::sha256;
use ccm_testkit::Scratch;

pub(super) const WORDS: &[&str] = &[
    "{\"protocol\":\"io.choria.ccm.v1.ledger\",\"version\":1,\"manifest\":\"site\"}\n",
    "{\"record\":\"owed\",\"subscriber\":\"exec#a\",\"source\":\"file#/b\",\"run\":\"r\",\
     \"since\":\"2026-11-20T12:00:00.000001Z\",\"manifest\":\"/m\"}\n",
    "{\"record\":\"paid\",\"subscriber\":\"exec#a\",\"source\":\"file#/b\"}\n",
    "{\"record\":\"dropped\",\"subscriber\":\"exec#a\",\"source\":\"file#/b\"}\n",
    "\"version\":2",
    "\"version\":18446744073709551615",
    "\"since\":\"9999-12-31T23:59:60Z\"",
    ",\"salt\":\"0f\"",
    ",\"subscriber_hash\":\"0f\"",
    ",\"source_hash\":null",
    "\\ud800",
    "\\u0000",
    "#",
    "{}\n",
    "\0\0\0\0",
];

/// Key of the manifest that the ledger is opened for.
const KEY: &str = "site";

thread_local! {
    static STATE: OnceCell<Scratch> = const { OnceCell::new() };
}

pub(super) fn run(input: &[u8]) {
    let content = ledger_read_back(input);
    if let Some(content) = &content {
        assert_eq!(ledger_read_back(content.as_bytes()).as_ref(), Some(content));
    }
    torn(input, content.as_deref());
    STATE.with(|state| inspect(state.get_or_init(Scratch::new), input, content.as_deref()));
}

/// Checks that a cut within the last line loses only that line.
fn torn(input: &[u8], content: Option<&str>) {
    let line_end = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
    let Some(end) = line_end(input) else { return assert_eq!(content, None) };
    assert_eq!(ledger_read_back(&input[..=end]).as_deref(), content);
    let (Some(_), Some(before)) = (content, line_end(&input[..end])) else { return };
    let without = ledger_read_back(&input[..=before]);
    assert!(without.is_some());
    for cut in [before + 2, before.midpoint(end) + 1, end] {
        assert_eq!(ledger_read_back(&input[..cut]), without, "{cut}");
    }
}

/// Opens the ledger as a run and as a list of pending refreshes, and compares the results.
fn inspect(state: &Scratch, input: &[u8], content: Option<&str>) {
    let name = format!("{KEY}-{}.ledger", &sha256(KEY.as_bytes())[..8]);
    state.write(&format!("refreshes/{name}"), input);
    let run = LedgerRun { key: KEY.to_owned(), manifest: String::new(), run_id: "run".to_owned() };
    let opened = Ledger::inspect(state.path(), run);
    let listed = pending(state.path()).expect("a directory");
    match (content, &listed[..]) {
        (None, [ledger]) => {
            let newer = ledger.unreadable.as_ref().expect("a reason").starts_with("written by a newer ccm");
            assert_eq!(newer, matches!(opened, Err(LedgerError::Newer { .. })));
            assert!(newer || opened.expect("damage").damage().is_some());
        }
        (Some(content), ledgers) => {
            let pending: usize = ledgers.iter().map(|ledger| ledger.refreshes.len()).sum();
            assert_eq!(pending, content.lines().count() - 1);
            let is_ours =
                content.lines().next().is_some_and(|header| header.contains(r#","manifest":"site""#));
            assert_eq!(opened.expect("a ledger").damage().is_none(), is_ours);
        }
        (None, ledgers) => panic!("{ledgers:?}"),
    }
}
