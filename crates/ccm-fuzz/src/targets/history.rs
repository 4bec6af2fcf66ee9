//! Record of a run, as `ccm history` reads it.

use std::cell::OnceCell;
use std::time::SystemTime;

use ccm_host::LocalZone;
use ccm_model::ResourceId;
use ccm_report::{History, RunFilter};
use ccm_testkit::Scratch;

pub(super) const WORDS: &[&str] = &[
    "\n---\n",
    "{\"protocol\":\"io.choria.ccm.v1.transaction.event\",",
    "\"outcome\":\"failed\"",
    "\"error\":[\"a\"]",
    "\"duration\":18446744073709551615",
    "\"diff\":\"-a\\n+b\"",
    "\"exit_code\":4",
    "null",
    "\\u001b[2J",
    "\"counts\":{}",
    "\"stopped\":\"failed\"",
    "\"failure\":{\"kind\":\"exit\"},",
    "\"skip\":{\"cause\":\"stopped\",\"by\":\"timeout\",\"after\":1},",
];

const ID: &str = "01930000-0000-7000-8000-000000000001";

thread_local! {
    static STATE: OnceCell<Scratch> = const { OnceCell::new() };
}

/// Runs an input of parts, with a line of dashes between: events, summary, metadata and output of an exec.
pub(super) fn run(input: &[u8]) {
    const BETWEEN: &[u8] = b"\n---\n";
    let mut rest = input;
    let mut part = || {
        let end = rest.windows(BETWEEN.len()).position(|window| window == BETWEEN);
        let (part, behind) = end.map_or((rest, &[][..]), |end| (&rest[..end], &rest[end + BETWEEN.len()..]));
        rest = behind;
        part
    };
    STATE.with(|state| {
        let state = state.get_or_init(Scratch::new);
        for name in ["events.jsonl", "summary.json", "exec/1-a/metadata.json", "exec/1-a/stdout.txt"] {
            state.write(&format!("runs/{ID}/{name}"), part());
        }
        show(state);
    });
}

fn show(state: &Scratch) {
    let history = History::open(state.path()).expect("a directory");
    assert_eq!(history.runs().len(), 1);
    let zone = LocalZone::utc();
    let runs = history.select(&RunFilter::default());
    plain(&history.text(&runs, &zone));
    history.json(&runs);
    let changes = history.changes(&runs, &ResourceId::new("exec", "a"), 10);
    plain(&changes.text(&history, &zone, SystemTime::UNIX_EPOCH).replace('\u{1b}', ""));
    changes.json();
    let run = history.find("0193").expect("a run");
    // Too many damaged lines are an error.
    let events = history.events(run).unwrap_or_default();
    // Only what ccm colours itself may hold escapes.
    run.json_with(&events);
    plain(&history.slowest_text(run, &events, 10));
    history.slowest_json(run, &events, 10);
    plain(&history.run_text(run, events, &zone).replace('\u{1b}', ""));
    let resource = history.resource(run, "1").expect("a directory").expect("an execution");
    plain(&resource.text(ccm_report::Screen::default()).replace('\u{1b}', ""));
    resource.json();
}

fn plain(text: &str) {
    let steers = |character: &char| character.is_control() && !matches!(character, '\n' | '\t');
    assert_eq!(text.chars().find(steers), None, "{text:?}");
}
