//! Memory of many sessions in a row.

use ccm_runtime::{Config, Emitted, GivenValues, ManifestSource, RunOptions, Session};
use ccm_testkit::{Scratch, isolated};

/// Resident memory of this process, in KiB.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Applies a manifest of a file, and of an exec that its change triggers, in a session of its own.
fn apply(scratch: &Scratch, number: usize) {
    scratch.write(
        "manifest.yaml",
        format!(
            "data:\n  # @sensitive\n  password: password of session {number}\n\
             ccm:\n  resources:\n    - file:\n        - {made}:\n            content: '{{{{ Data.password }}}}'\n            mode: '0600'\n\
             \x20   - exec:\n        - reload:\n            command: echo {{{{ Facts.host.info.os }}}}\n\
             \x20           refresh_only: true\n            subscribe: ['file#{made}']\n",
            made = scratch.at("made")
        ),
    );
    let state_directory = Some(scratch.path().join("state"));
    let session = Session::open(Config { state_directory, ..Config::default() });
    let source = ManifestSource::File(scratch.path().join("manifest.yaml"));
    let input = session.read(source, &GivenValues::default(), 1 << 20).expect("a manifest");
    let manifest = session.load(&input).expect("a manifest without errors");
    let options = RunOptions { keep_runs: 3, ..RunOptions::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let applied = runtime.block_on(manifest.apply(options, &mut |_: Emitted<'_>| {}));
    let report = applied.expect("a run");
    let counts = report.summary.counts;
    assert_eq!((counts.changed, counts.refreshed), (1, 1), "{:?}", report.summary);
    assert!(report.record.is_recorded && report.record.error.is_none());
}

#[test]
fn a_thousand_sessions_that_apply_need_no_more_memory_than_a_hundred() {
    // Other tests use memory as well.
    isolated(|| {
        let scratch = Scratch::in_memory();
        (0..100).for_each(|number| apply(&scratch, number));
        let before = resident();
        (100..1000).for_each(|number| apply(&scratch, number));
        let grown = resident() - before;
        // Less than half a KiB for each of them, which is less than the least that one could leave behind.
        assert!(grown < 450, "{grown} KiB more after 900 sessions");
    });
}
