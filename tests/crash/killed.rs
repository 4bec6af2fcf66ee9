//! A run that is killed.

use ccm_testkit::{Fault, may_take_long, needs_faults, sweep, wait_until_executed};

use crate::case::Case;
use crate::points::{check_each, selected};

#[test]
fn a_run_that_is_killed_anywhere_is_made_good_by_the_next() {
    if !needs_faults() {
        return;
    }
    let whole = Case::new();
    let calls = whole.apply(&[]).run_with(Fault::None);
    assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
    for name in
        ["write(", "openat(", "renameat(", "fsync(", "unlinkat(", "fchmod(", "flock(", "clone", "wait"]
    {
        assert!(
            calls.calls.iter().any(|call| call.starts_with(name)),
            "{name} is not watched: {:?}",
            calls.calls
        );
    }
    whole.check_converges().expect("a run that is not killed");
    let mut faults: Vec<Fault> = selected(&calls.calls, 4).into_iter().map(Fault::KillBefore).collect();
    // Right after a call is right before the next one, but for what the call sets going.
    let starts = |number: &usize| may_take_long() || calls.calls[number - 1].starts_with("clone");
    faults.extend((1..=calls.calls.len()).filter(starts).map(Fault::KillAfter));
    check_each(faults, |fault| {
        let case = Case::new();
        let killed = case.apply(&[]).run_with(fault);
        sweep();
        // Runs differ a little in how many calls they make, so the last ones may be missing.
        let Some(call) = killed.struck else { return Ok(()) };
        let at = |wrong: String| format!("{fault:?}, {call}: {wrong}");
        if killed.called.code != 137 {
            return Err(at(format!("was not killed: {}", killed.called.shown())));
        }
        case.check_consistent().and_then(|()| case.check_converges()).map_err(at)
    });
}

#[test]
fn what_a_killed_run_leaves_running_is_not_waited_for() {
    if !needs_faults() {
        return;
    }
    // The command of the killed run goes on and does its work beside that of the next run.
    let whole = Case::new();
    let calls = whole.apply(&[]).run_with(Fault::None).calls;
    let starts = (1..=calls.len()).filter(|number| calls[number - 1].starts_with("clone"));
    check_each(starts.map(Fault::KillAfter), |fault| {
        let case = Case::new();
        let killed = case.apply(&[]).run_with(fault);
        wait_until_executed();
        let next = case.apply(&["--lock-wait", "0"]).run();
        sweep();
        if killed.struck.is_none() || next.code == 0 {
            return Ok(());
        }
        Err(format!("{fault:?}: {}", next.shown()))
    });
}

#[test]
fn what_gets_its_name_is_on_the_disk_before_and_its_name_after() {
    if !needs_faults() {
        return;
    }
    // No test can cut the power, but the order of the calls shows what would be left.
    let run = Case::new().apply(&[]).run_with(Fault::None);
    // Waiting, waking up and the report, which a thread of its own writes, come between at any time.
    let between = ["wait", "write(pipe:", "write(anon_inode:"];
    let is_of_files = |call: &&str| !between.iter().any(|start| call.starts_with(start));
    let calls: Vec<&str> = run.calls.iter().map(String::as_str).filter(is_of_files).collect();
    let mut renamed = 0;
    for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.starts_with("rename")) {
        let near = || &calls[at.saturating_sub(4)..(at + 5).min(calls.len())];
        let name = call.split(['(', ')']).nth(1).unwrap_or_default();
        let ends = [format!("/.{name}.ccm-new)"), format!("/.{name}.new)")];
        // A backup has another name before. Its rename follows the sync.
        let of_file = calls[..at].iter().rfind(|call| ends.iter().any(|end| call.ends_with(end)));
        let before = of_file.unwrap_or(&calls[at - 1]);
        // A link has no content of its own to sync.
        let is_link = calls[at - 1].starts_with("symlinkat(");
        let is_synced = before.starts_with("fsync(") && before.ends_with("new)");
        assert!(is_synced || is_link, "{call} is not synced before: {:?}", near());
        // Files that are written together are renamed together. Then each directory is synced.
        let after = calls[at..].iter().skip_while(|call| call.starts_with("rename"));
        let mut synced = after.take_while(|call| call.starts_with("fsync("));
        let directory = before.rsplit_once('/').map(|(directory, _)| format!("{directory})"));
        let is_directory = |call: &&str| match &directory {
            Some(directory) if !is_link => call == directory,
            _ => !call.ends_with("new)"),
        };
        assert!(synced.any(is_directory), "the directory of {call} is not synced: {:?}", near());
        renamed += 1;
    }
    // Seven files, four backups, a summary.
    assert!(renamed >= 12, "{calls:?}");
}
