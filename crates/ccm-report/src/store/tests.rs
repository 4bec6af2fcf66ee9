use std::time::{Duration, UNIX_EPOCH};

use ccm_host::LocalZone;
use ccm_model::{
    Artifact, Artifacts, CheckCounts, Counts, EventLine, Failure, FailureKind, PendingCause, PendingRefresh,
    RefreshSummary, ResourceId, RunSummary, SessionStarted, StartedBy, Transaction, UnfinishedRefresh,
};
use ccm_testkit::Scratch;

use serde_json::Value;

use super::*;
use crate::json::{Ids, LineEncoder};
use crate::screen::Screen;

const MANIFEST: &str = "/etc/ccm/site.yaml";

fn changed(name: &str) -> Event {
    Event::ResourceFinished(Box::new(Transaction {
        id: ResourceId::new("exec", name),
        alias: None,
        at: UNIX_EPOCH,
        duration: Duration::from_millis(3),
        provider: Some("posix".into()),
        requested_ensure: "present".to_owned(),
        action: None,
        final_ensure: Some("present".to_owned()),
        outcome: Outcome::Changed,
        noop: false,
        would_fail: false,
        diff: None,
        properties: ccm_model::Properties::default(),
        presentation: Vec::new(),
        reason: None,
        guards: Vec::new(),
        health_checks: Vec::new(),
        triggered_by: Vec::new(),
        pending_refreshes: Vec::new(),
        warnings: vec!["look here".to_owned()],
        notes: vec!["found there".to_owned()],
        state: None,
    }))
}

fn ada() -> StartedBy {
    let user = Some("ada".to_owned());
    StartedBy { uid: 1000, user, sudo_user: None, unit: None, invocation_id: None, terminal: None }
}

/// Records a run that changed nothing.
fn record_unchanged(state: &Directory, at: u64, keep: usize) -> String {
    let began = UNIX_EPOCH + Duration::from_millis(at);
    let encoder = LineEncoder::new(Ids::new(u128::from(at)), began, MANIFEST.to_owned(), "0.1.0");
    let store = RunStore::begin(state, encoder.identity(), keep);
    let counts = Counts { total: 1, unchanged: 1, ..Counts::default() };
    let summary = RunSummary {
        noop: false,
        duration: Duration::from_millis(5),
        counts,
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: None,
        message: None,
        refreshes: RefreshSummary::default(),
    };
    let recorded = store.finish(StoredSummary::of(encoder.identity(), began, &summary, 0));
    recorded.record.expect("a record");
    encoder.identity().run_id.clone()
}

/// Records a run that began a number of milliseconds after the Unix epoch; unfinished without a code.
fn record(state: &Directory, at: u64, exit_code: Option<u8>, keep: usize) -> String {
    let began = UNIX_EPOCH + Duration::from_millis(at);
    let encoder = LineEncoder::new(Ids::new(u128::from(at)), began, MANIFEST.to_owned(), "0.1.0");
    let mut encoder = encoder.started_by(ada());
    let mut store = RunStore::begin(state, encoder.identity(), keep);
    let start = SessionStarted {
        at: began,
        noop: false,
        monitor_only: false,
        resources: 1,
        host: String::new(),
        manifest: String::new(),
        run_id: String::new(),
        message: None,
    };
    for event in [Event::SessionStarted(start), changed("job")] {
        assert!(store.wants(&event));
        store.accept(&encoder.encode(&event).expect("a line"));
    }
    if let Some(exit_code) = exit_code {
        let counts = Counts { total: 1, changed: 1, ..Counts::default() };
        let summary = RunSummary {
            noop: false,
            duration: Duration::from_millis(5),
            counts,
            checks: CheckCounts::default(),
            monitor_only: false,
            stopped: None,
            message: None,
            refreshes: RefreshSummary::default(),
        };
        let recorded = store.finish(StoredSummary::of(encoder.identity(), began, &summary, exit_code));
        recorded.record.expect("a record");
        assert!(recorded.not_removed.is_empty(), "{:?}", recorded.not_removed);
    }
    encoder.identity().run_id.clone()
}

fn state(scratch: &Scratch) -> Directory {
    Directory::open_private(&scratch.path().join("state")).expect("a state directory")
}

#[test]
fn runs_are_listed_the_newest_first() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    record(&state, 0x0190_0000_0000, Some(0), 50);
    record(&state, 0x0190_0002_0000, None, 50);
    record(&state, 0x0190_0001_0000, Some(4), 50);
    let history = History::open(state.path()).expect("a history");
    let expected = "\
BEGIN                DURATION  RUN            EXIT  RESOURCES     BY   MANIFEST
2024-06-10 02:37:29  -         01900002-0000  -     unfinished    ada  /etc/ccm/site.yaml
2024-06-10 02:36:23  5ms       01900001-0000  4     1: 1 changed  ada  /etc/ccm/site.yaml
2024-06-10 02:35:18  5ms       01900000-0000  0     1: 1 changed  ada  /etc/ccm/site.yaml
";
    let all = history.select(&RunFilter::default());
    assert_eq!(history.text(&all, &LocalZone::utc()), expected);
    assert_eq!(history.find("01900001").expect("one").summary.as_ref().map(|found| found.exit_code), Some(4));
    assert!(
        matches!(history.find("0190"), Err(FindError::Ambiguous { runs, .. }) if runs.len() == 3 && runs[0].short_id == "01900002-0000")
    );
    assert!(matches!(history.find("7"), Err(FindError::Unknown { .. })));
}

#[test]
fn a_short_id_still_names_its_run_after_later_runs() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let mut shown = Vec::new();
    for at in [0x0190_0000_0000, 0x0190_0000_0001, 0x0190_0000_0100, 0x0190_0001_0000] {
        let id = record(&state, at, Some(0), 50);
        let history = History::open(state.path()).expect("a history");
        shown.push((history.short(&id).to_owned(), id));
    }
    let history = History::open(state.path()).expect("a history");
    for (short, id) in &shown {
        assert_eq!((short.len(), history.find(short).map(|run| &run.id)), (13, Ok(id)));
    }
    assert_eq!(history.find("last"), Ok(&history.runs()[0]));
}

fn kept(state: &Directory) -> Vec<String> {
    let history = History::open(state.path()).expect("a history");
    history.runs().iter().map(|run| run.id.clone()).collect()
}

#[test]
fn only_the_newest_runs_are_kept() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let ids: Vec<String> = (1..=5).map(|at| record_unchanged(&state, at, 3)).collect();
    assert_eq!(kept(&state), [&*ids[4], &*ids[3], &*ids[2]]);
    let last = record_unchanged(&state, 6, 0);
    assert_eq!(kept(&state), [last]);
}

#[test]
fn older_runs_that_changed_something_or_failed_are_kept_as_well() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let runs: Vec<String> = (1..=8)
        .map(|at| match at {
            1 | 2 | 5 => record(&state, at, Some(0), 50),
            3 => record(&state, at, Some(4), 50),
            // This run was killed.
            4 => record(&state, at, None, 50),
            _ => record_unchanged(&state, at, 50),
        })
        .collect();
    let newest = record_unchanged(&state, 9, 2);
    assert_eq!(kept(&state), [&*newest, &*runs[7], &*runs[4], &*runs[3]]);
    // The earlier runs stay while nothing changes.
    let next = record_unchanged(&state, 10, 2);
    assert_eq!(kept(&state), [&*next, &*newest, &*runs[4], &*runs[3]]);
    let failed = record(&state, 11, Some(4), 2);
    assert_eq!(kept(&state), [&*failed, &*next, &*runs[4], &*runs[3]]);
}

#[test]
fn a_refused_manifest_leaves_a_record() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let encoder = LineEncoder::new(Ids::new(1), UNIX_EPOCH, MANIFEST.to_owned(), "0.1.0");
    let store = RunStore::begin(&state, encoder.identity(), 50);
    let errors = "error: site.yaml:1:1: unknown key \u{1b}[2J\nhint: remove it\n";
    let recorded = store.finish(StoredSummary::refused(encoder.identity(), UNIX_EPOCH, errors, 1));
    recorded.record.expect("a record");
    let history = History::open(state.path()).expect("a history");
    let run = history.find("last").expect("the run");
    assert!(run.has_failed() && !run.has_changed());
    assert_eq!(run.json()["outcome"], "refused");
    let text = history.run_text(run, Vec::new(), &LocalZone::utc());
    assert!(
        text.ends_with("nothing was run\nerror: site.yaml:1:1: unknown key \\u{1b}[2J\nhint: remove it\n"),
        "{text}"
    );
    let all = history.select(&RunFilter::default());
    let listed = history.text(&all, &LocalZone::utc());
    assert!(listed.contains("  1     refused    -   /etc/ccm/site.yaml\n"), "{listed}");
}

#[test]
fn the_last_change_of_a_resource_is_found_with_its_diff() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    record(&state, 1_000, Some(0), 50);
    record(&state, 2_000, Some(0), 50);
    record_unchanged(&state, 3_000, 50);
    let history = History::open(state.path()).expect("a history");
    let all = history.select(&RunFilter::default());
    let changes = |name: &str| history.changes(&all, &ResourceId::new("exec", name), 5);
    let now = UNIX_EPOCH + Duration::from_secs(7200);
    let text = changes("job").text(&history, &LocalZone::utc(), now);
    assert!(text.starts_with("exec#job last changed 1970-01-01 00:00:00 (2h ago)\nrun 000000"), "{text}");
    assert!(text.contains("\nearlier changes:\n"), "{text}");
    assert_eq!(changes("job").json()["changes"].as_array().map(Vec::len), Some(2));
    let none = changes("other").text(&history, &LocalZone::utc(), now);
    assert_eq!(none, "no change of exec#other is recorded in 3 runs\n");
}

#[test]
fn a_damaged_record_does_not_hide_others() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let good = record(&state, 1, Some(0), 50);
    let cut = record(&state, 2, None, 50);
    let broken = record(&state, 3, Some(0), 50);
    let at = |id: &str, name: &str| format!("state/runs/{id}/{name}");
    let events = scratch.read(&at(&cut, EVENTS)).expect("events");
    scratch.write(&at(&cut, EVENTS), &events[..events.len() - 20]);
    scratch.write(&at(&broken, SUMMARY), "{\"run_id\"");
    scratch.write(&at(&broken, EVENTS), [0xff, 0xfe, b'\n']);
    let history = History::open(state.path()).expect("a history");
    let found = |id: &str| history.find(id).expect("a run").clone();
    assert_eq!(history.events(&found(&good)).expect("events").len(), 2);
    assert_eq!(history.events(&found(&cut)).expect("events").len(), 1);
    assert_eq!(history.events(&found(&broken)).expect("events").len(), 0);
    let text = history.text(&history.select(&RunFilter::default()), &LocalZone::utc());
    let line = |line| text.lines().nth(line).unwrap_or_default();
    assert!(
        line(1).starts_with("1970-01-01 00:00:00  ") && line(1).contains("  ?     no summary  "),
        "{text}"
    );
    assert!(line(2).contains("  -     unfinished  "), "{text}");
    let shown = history.run_text(&found(&broken), Vec::new(), &LocalZone::utc());
    assert!(shown.ends_with("the run ended, but its summary is missing or damaged\n"), "{shown}");
    // A full disk may leave a run without a summary, but with the event of its end.
    let end = format!("{{\"protocol\":\"{}\"}}\n", ccm_model::SUMMARY_PROTOCOL);
    scratch.write(&at(&cut, EVENTS), end);
    let history = History::open(state.path()).expect("a history");
    let run = history.find(&cut).expect("the run");
    assert!(run.ended && run.json_with(&[])["run"]["finished"] == true, "{run:?}");
}

#[test]
#[expect(clippy::disallowed_types, reason = "the scratch directory makes no sparse files")]
fn reading_a_hostile_record_is_bounded() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    let events = |id: &str| format!("state/runs/{id}/{EVENTS}");
    let long = record(&directory, 1_000, None, 10);
    let sparse = std::fs::File::create(scratch.path().join(events(&long)));
    sparse.and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    let lines = record(&directory, 2_000, None, 10);
    scratch.write(&events(&lines), "{\"a\":\n".repeat(1 << 20));
    let tolerable = record(&directory, 3_000, None, 10);
    let damaged = "{\"a\":\n".repeat(100) + &scratch.read(&events(&tolerable)).expect("a record");
    scratch.write(&events(&tolerable), damaged);

    let history = History::open(&scratch.path().join("state")).expect("a history");
    let read = |id: &str| match history.events(history.find(id).expect("a run")) {
        Ok(events) => Ok(events.len()),
        Err(StoreError::Read { source, .. }) => Err(source.to_string()),
        Err(error) => Err(error.to_string()),
    };
    assert_eq!(read(&tolerable), Ok(2));
    let too_long = "its file events.jsonl is longer than 268435456 bytes";
    assert_eq!(read(&long).expect_err("it is too long"), too_long);
    let damaged = "its file events.jsonl is damaged: reading it ended after 101 damaged lines";
    assert_eq!(read(&lines).expect_err("it is damaged"), damaged);
    assert!(history.find(&long).expect("a run").is_unfinished());
}

#[test]
fn other_directories_are_no_runs() {
    for (name, expected) in [
        ("01a1f93f-f74b-7000-9a02-92ff4b7e010b", true),
        ("01a1f93f-f74b-4000-9a02-92ff4b7e010b", false),
        ("01A1F93F-F74B-7000-9A02-92FF4B7E010B", false),
        ("01a1f93ff-74b-7000-9a02-92ff4b7e010b", false),
        ("01a1f93f", false),
        ("..", false),
        ("", false),
    ] {
        assert_eq!(is_run_id(name), expected, "{name}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the directory is made behind the store's back")]
fn other_runs_are_removed_even_if_one_can_not_be() {
    use std::os::unix::ffi::OsStrExt as _;
    let scratch = Scratch::new();
    let state = state(&scratch);
    let ids: Vec<String> = (1..=4).map(|at| record(&state, at, Some(0), 50)).collect();
    // A directory whose name is not text was not made by ccm.
    let foreign = state.path().join(RUNS).join(&ids[0]).join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(foreign).expect("a directory");
    let runs = state.enter(RUNS).expect("the runs");
    let not_removed = retain(&runs, 1);
    let [StoreError::Remove { path, .. }] = &not_removed[..] else { panic!("{not_removed:?}") };
    assert_eq!(*path, runs.path().join(&ids[0]));
    let mut left = runs.directories().expect("the runs");
    left.sort_unstable();
    assert_eq!(left, [&*ids[0], &*ids[2], &*ids[3]]);
}

#[test]
fn records_that_were_checked_are_not_read_again() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let ids: Vec<String> = (1..=5).map(|at| record(&state, at, Some(0), 50)).collect();
    let runs = state.enter(RUNS).expect("the runs");
    let left = || {
        let mut left = runs.directories().expect("the runs");
        left.sort_unstable();
        left
    };
    assert!(retain(&runs, 3).is_empty() && left() == ids);
    // A directory without events is no run, and is removed unless it was checked before.
    for id in [&ids[0], &ids[2]] {
        for name in [EVENTS, "summary.json"] {
            runs.enter(id).expect("a run").remove_file(name).expect("a file");
        }
    }
    assert!(retain(&runs, 3).is_empty() && left() == ids);
    assert!(retain(&runs, 2).is_empty());
    assert_eq!(left(), [&*ids[0], &*ids[1], &*ids[3], &*ids[4]]);
    scratch.write("state/runs/checked", "damaged");
    assert!(retain(&runs, 2).is_empty());
    assert_eq!(left(), [&*ids[1], &*ids[3], &*ids[4]]);
}

#[test]
fn warnings_and_notes_are_shown() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let id = record(&state, 1, Some(0), 50);
    let history = History::open(state.path()).expect("a history");
    let run = history.find(&id).expect("the run");
    let text = history.run_text(run, history.events(run).expect("events"), &LocalZone::utc());
    assert!(text.contains("warning: look here") && text.contains("\n      found there\n"), "{text}");
}

#[test]
fn a_recorded_run_is_shown_for_the_screen_of_the_report() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let id = record(&state, 1, Some(0), 50);
    let shown = |width, is_unicode| {
        let history =
            History::open(state.path()).expect("a history").for_screen(Screen { width, is_unicode });
        let run = history.find(&id).expect("the run");
        history.run_text(run, history.events(run).expect("events"), &LocalZone::utc())
    };
    let line = |text: &str| {
        let text = crate::text::without_colours(text);
        text.lines().skip_while(|line| !line.starts_with("  ~")).collect::<Vec<_>>().join("\n")
    };
    let wide = line(&shown(None, true));
    assert!(wide.starts_with("  ~ exec     job                        changed"), "{wide}");
    let narrow = line(&shown(Some(20), false));
    assert!(narrow.starts_with("  ~ exec job\n    changed"), "{narrow}");
}

#[test]
fn a_recorded_run_shows_hints_but_no_next_step() {
    let id = ResourceId::new("exec", "job");
    let failure = Failure::new(FailureKind::Exit, "exit code 1").with_hint("look at the log");
    let Event::ResourceFinished(job) = changed("job") else { panic!("another event") };
    let failed = Transaction { outcome: Outcome::Failed(Box::new(failure)), ..*job };
    let (run_id, since) = ("01a1".to_owned(), UNIX_EPOCH);
    let refresh = PendingRefresh { source: ResourceId::new("file", "/a"), run_id, since, is_assumed: false };
    let summary = RunSummary {
        noop: false,
        duration: Duration::from_millis(5),
        counts: Counts { total: 1, failed: 1, ..Counts::default() },
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: None,
        message: None,
        refreshes: RefreshSummary {
            pending: vec![UnfinishedRefresh { subscriber: id, refresh, cause: PendingCause::Failed }],
            ..RefreshSummary::default()
        },
    };
    let mut encoder = LineEncoder::new(Ids::new(1), UNIX_EPOCH, MANIFEST.to_owned(), "0.1.0");
    let events = [Event::ResourceFinished(Box::new(failed)), Event::SessionFinished(Box::new(summary))];
    let read =
        |event| EventLine::read(encoder.encode(event).expect("a line").text.as_bytes()).expect("a line");
    let lines = events.iter().map(read).collect();
    let run = StoredRun { id: "01a1".to_owned(), start: None, summary: None, ended: true };
    let (runs, path) = (Vec::new(), PathBuf::new());
    let history = History { runs, directory: None, path, screen: Screen::default() };
    let text = history.run_text(&run, lines, &LocalZone::utc());
    assert!(text.contains("\n      hint: look at the log\n"), "{text}");
    assert!(text.contains("still needs a refresh: file#/a may have changed (run 01a1, "), "{text}");
    assert!(!text.contains("the next run"), "{text}");
}

/// Writes the files of an execution in a run of its own.
fn record_execution(state: &Directory, at: u64, names: &[&'static str]) -> (RunStore, String) {
    let began = UNIX_EPOCH + Duration::from_millis(at);
    let encoder = LineEncoder::new(Ids::new(u128::from(at)), began, MANIFEST.to_owned(), "0.1.0");
    let mut store = RunStore::begin(state, encoder.identity(), 50);
    let file = |name: &&'static str| Artifact { name: (*name).into(), content: b"a line\n{\x1b[2J".to_vec() };
    let files = names.iter().map(file).collect();
    store.keep(&Artifacts { id: ResourceId::new("exec", "Make it!"), position: 7, files });
    (store, encoder.identity().run_id.clone())
}

#[test]
fn an_execution_is_read_from_its_record() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let (store, id) = record_execution(&state, 0x0190_0000_0000, &["stdout.txt", "stderr.txt"]);
    assert!(!store.failed());
    let history = History::open(state.path()).expect("a history");
    let run = history.find(&id).expect("a run");
    for requested in ["7", "exec#Make it!", "7-make-it"] {
        let execution = history.resource(run, requested).expect("the record").expect("an execution");
        assert_eq!(
            execution.text(Screen::default()),
            "7-make-it\nstdout | a line\nstdout | {\\u{1b}[2J\nstderr | a line\nstderr | {\\u{1b}[2J\n"
        );
        assert_eq!(execution.json()["stdout_json"], Value::Null);
    }
    let unknown = history.resource(run, "8").expect("the record").expect_err("nothing");
    assert!(matches!(unknown, ExecutionError::Unknown { known, .. } if known == ["7-make-it"]));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the record is damaged behind the store's back")]
fn execution_metadata_is_escaped_for_the_terminal() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    let (store, id) = record_execution(&state, 0x0190_0000_0000, &["stdout.txt"]);
    drop(store);
    let metadata = "{\"sandbox\": \"\u{9b}\", \"a\u{85}\": \"\u{85}\"}";
    let directory = state.path().join(format!("runs/{id}/exec/7-make-it"));
    std::fs::write(directory.join("metadata.json"), metadata).expect("a file");
    let history = History::open(state.path()).expect("a history");
    let run = history.find(&id).expect("a run");
    let text = history.resource(run, "7").expect("the record").expect("an execution").text(Screen::default());
    assert!(!text.contains(|character: char| character.is_control() && character != '\n'), "{text:?}");
}

#[test]
fn a_lost_execution_makes_the_record_incomplete() {
    let scratch = Scratch::new();
    let state = state(&scratch);
    // A file of that name exists already.
    let (store, id) = record_execution(&state, 0x0190_0000_0000, &["stdout.txt", "stdout.txt"]);
    assert!(store.failed());
    assert!(store.wants(&changed("job")), "the rest goes on");
    let identity = RunIdentity { run_id: id, manifest: MANIFEST.to_owned(), version: "0.1.0" };
    let summary = RunSummary {
        noop: false,
        duration: Duration::ZERO,
        counts: Counts::default(),
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: None,
        message: None,
        refreshes: RefreshSummary::default(),
    };
    let recorded = store.finish(StoredSummary::of(&identity, UNIX_EPOCH, &summary, 4));
    assert!(matches!(recorded.record, Err(StoreError::Record { .. })));
}
