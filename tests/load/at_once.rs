//! Many runs that want one state directory at once.

use ccm_testkit::{Scratch, wait_until};

use crate::ccm;
use ccm_testkit::usual_or_long;

/// A manifest that would notice a second run beside itself: there can be one such directory only.
fn alone(scratch: &Scratch) {
    let manifest = "
ccm:
  resources:
    - exec:
        - alone: {command: 'mkdir busy && echo run >> runs && rmdir busy', provider: shell, cwd: '[dir]'}
    - file:
        - [dir]/shared: {content: shared}
"
    .replace("[dir]", &scratch.path().to_string_lossy());
    scratch.write("manifest.yaml", manifest);
}

/// Starts that many at once, then one more, and returns the exit codes and the words of all but that one.
fn at_once(scratch: &Scratch, count: usize, options: &[&str]) -> Vec<(String, String)> {
    // Outputs are files, so that the test needs no descriptors for them.
    let script = format!(
        "i=0; while [ $i -lt {count} ]; do i=$((i + 1)); {{ set +e; \"$0\" \"$@\" > out.$i 2>&1; echo $? > code.$i; }} & \
         done; wait"
    );
    let last = ccm(scratch, &["apply", "manifest.yaml"]).args(options).after(&script).run();
    assert_eq!(last.code, 0, "{}", last.shown());
    let of = |name: String| scratch.read(&name).unwrap_or_default();
    (1..=count).map(|number| (of(format!("code.{number}")), of(format!("out.{number}")))).collect()
}

/// Checks what all of them have left behind: `done` complete runs, none beside another.
fn check(scratch: &Scratch, done: usize) {
    assert_eq!(scratch.read("runs").unwrap_or_default(), "run\n".repeat(done));
    assert_eq!(scratch.read("shared").as_deref(), Some("shared"));
    assert!(!scratch.has("busy"));
    let history = ccm(scratch, &["history", "--output", "json"]).run();
    assert_eq!(history.code, 0, "{}", history.shown());
    let runs: Vec<serde_json::Value> = serde_json::from_str(&history.stdout).expect("the history");
    // The newest 50, and 50 older ones that changed something.
    assert_eq!(runs.len(), done.min(100));
    assert!(runs.iter().all(|run| run["finished"] == true && run["exit_code"] == 0), "{runs:?}");
    let mut names: Vec<_> = std::fs::read_dir(scratch.state())
        .expect("the state directory")
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name != "refreshes")
        .collect();
    names.sort();
    assert_eq!(names, ["lock", "runs"]);
}

#[test]
fn runs_that_wait_come_one_after_the_other() {
    let scratch = Scratch::new();
    alone(&scratch);
    let count = usual_or_long(50, 1000);
    let ended = at_once(&scratch, count, &["--lock-wait", "30m"]);
    for (code, words) in &ended {
        assert_eq!(code, "0\n", "{words}");
    }
    check(&scratch, count + 1);
}

#[test]
fn runs_that_do_not_wait_are_done_or_refused() {
    let scratch = Scratch::new();
    alone(&scratch);
    let ended = at_once(&scratch, usual_or_long(50, 1000), &["--lock-wait", "0s"]);
    let (done, refused): (Vec<_>, Vec<_>) = ended.iter().partition(|(code, _)| code == "0\n");
    // A run that asks between the lock and the holder's record of itself can't name the holder.
    for (code, words) in &refused {
        assert_eq!(code, "1\n", "{words}");
        assert!(words.starts_with("error: another run is going on ("), "{words}");
        assert!(words.contains("; nothing was run\n"), "{words}");
    }
    assert!(!done.is_empty());
    check(&scratch, done.len() + 1);
}

#[test]
fn runs_that_do_not_wait_name_the_one_that_goes_on() {
    let scratch = Scratch::new();
    let exec = "{holds: {provider: shell, command: 'touch begun; cat go', cwd: '[dir]'}}";
    let exec = exec.replace("[dir]", &scratch.path().to_string_lossy());
    scratch.write("holder.yaml", format!("ccm: {{resources: [{{exec: [{exec}]}}]}}"));
    ccm_testkit::shell("mkfifo go", scratch.path());
    let holder = ccm(&scratch, &["apply", "holder.yaml"]).start();
    wait_until("the holder's command runs", || scratch.has("begun"));
    alone(&scratch);
    let runs: Vec<_> = (0..usual_or_long(10, 100))
        .map(|_| ccm(&scratch, &["apply", "manifest.yaml", "--lock-wait", "0s"]).start())
        .collect();
    for run in runs {
        let called = run.finish();
        assert_eq!(called.code, 1, "{}", called.shown());
        let named = format!(
            "error: another run is going on (pid {}, applying [dir]/holder.yaml, since ",
            holder.pid()
        );
        assert!(called.stderr.starts_with(&named), "{}", called.shown());
    }
    scratch.write("go", "");
    assert_eq!(holder.finish().code, 0);
    assert!(!scratch.has("runs") && !scratch.has("shared"));
}
