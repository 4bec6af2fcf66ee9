//! Runs that are ended or killed while a container works for them.

use ccm_testkit::{Dockerd, Scratch, wait_until};

use crate::{REMOVED, apply, ccm, manifest};

/// Containers of a manifest in a scratch directory.
fn containers(daemon: &Dockerd, scratch: &Scratch) -> Vec<serde_json::Value> {
    daemon.containers(Some(&format!("ccm.manifest={}", scratch.at("manifest.yaml")).replace('/', "%2F")))
}

const PER_RUN: &str = ", auto_remove: true, container: per_run";
const ENDLESS: &str = "endless: {command: sleep 1000, executor: box}";

#[test]
fn a_signal_ends_the_container() {
    let Some(daemon) = Dockerd::shared() else { return };
    for settings in [REMOVED, PER_RUN] {
        for (signals, code) in [(&["TERM"][..], 143), (&["INT"], 130), (&["TERM", "TERM"], 143)] {
            let scratch = Scratch::new();
            scratch.write("manifest.yaml", manifest(&daemon.host(), settings, &[ENDLESS]));
            let running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
            wait_until("the container runs", || {
                containers(&daemon, &scratch).iter().any(|found| found["State"] == "running")
            });
            for signal in signals {
                running.signal(signal);
            }
            let called = running.finish();
            assert_eq!(called.code, code, "{}", called.shown());
            assert!(called.stdout.contains("exec     endless"), "{}", called.shown());
            assert!(containers(&daemon, &scratch).is_empty(), "{}", called.shown());
        }
    }
}

#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let Some(daemon) = Dockerd::shared() else { return };
    for settings in [REMOVED, PER_RUN] {
        let scratch = Scratch::new();
        scratch.write("manifest.yaml", manifest(&daemon.host(), settings, &[ENDLESS]));
        let running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
        wait_until("the container runs", || {
            containers(&daemon, &scratch).iter().any(|found| found["State"] == "running")
        });
        running.signal("KILL");
        let _called = running.finish();
        let left = containers(&daemon, &scratch);
        assert_eq!(left.len(), 1);
        if settings == PER_RUN {
            // It ends with the connection of ccm.
            wait_until("the shared container has ended", || {
                containers(&daemon, &scratch).iter().all(|found| found["State"] == "exited")
            });
        }
        // Another manifest of the same state directory finds the container as well.
        let other = scratch.at("other.yaml");
        scratch.write(
            "other.yaml",
            manifest(&daemon.host(), REMOVED, &["next: {command: 'true', executor: box}"]),
        );
        let called = ccm(&scratch, &["apply", &other]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        let name = left[0]["Names"][0].as_str().expect("a name").trim_start_matches('/');
        let warning = format!("removed the container {name}, which exec#endless of the run ");
        assert!(called.stdout.contains(&warning), "{}", called.shown());
        assert!(containers(&daemon, &scratch).is_empty());
        let again = ccm(&scratch, &["apply", &other]).run();
        assert!(!again.stdout.contains("removed the container"), "{}", again.shown());
    }
}

#[test]
fn another_state_directory_keeps_its_containers() {
    let Some(daemon) = Dockerd::shared() else { return };
    let (one, two) = (Scratch::new(), Scratch::new());
    one.write("manifest.yaml", manifest(&daemon.host(), REMOVED, &[ENDLESS]));
    let running = ccm(&one, &["apply", "manifest.yaml"]).start();
    wait_until("the container runs", || {
        containers(&daemon, &one).iter().any(|found| found["State"] == "running")
    });
    let called =
        apply(&two, &manifest(&daemon.host(), REMOVED, &["next: {command: 'true', executor: box}"]), &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(containers(&daemon, &one).len(), 1);
    running.signal("TERM");
    assert_eq!(running.finish().code, 143);
    assert!(containers(&daemon, &one).is_empty());
}

#[test]
fn the_time_limit_of_a_run_ends_the_container() {
    let Some(daemon) = Dockerd::shared() else { return };
    for settings in [REMOVED, PER_RUN] {
        let scratch = Scratch::new();
        let called = apply(&scratch, &manifest(&daemon.host(), settings, &[ENDLESS]), &["--timeout", "2s"]);
        assert_eq!(called.code, 4, "{}", called.shown());
        assert!(containers(&daemon, &scratch).is_empty());
    }
}
