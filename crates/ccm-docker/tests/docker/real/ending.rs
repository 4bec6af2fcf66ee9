//! Commands that are ended, and containers and daemons that end otherwise.

use std::cell::RefCell;

use ccm_host::{CancellationLevel, ContainerSettings, Exit};
use ccm_testkit::Dockerd;

use crate::real::{BOTH, Run, Task, container_error, is_timeout, settings, stdout};

#[test]
fn at_the_deadline_term_comes_before_kill() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        for (text, expected) in [
            ("trap 'echo ending; exit 0' TERM; echo begun; while :; do sleep 0.1; done", "begun\nending"),
            ("trap '' TERM; echo begun; while :; do sleep 0.1; done", "begun"),
        ] {
            let run = Run::new();
            let finished = run.one(&settings, &["sh", "-c", text], Task::limited(1)).expect("a result");
            assert!(is_timeout(&finished.exit), "{reuse:?} {:?}", finished.exit);
            assert_eq!(stdout(&finished), expected, "{reuse:?}");
            assert!(daemon.containers(Some(&run.label())).is_empty(), "{reuse:?}");
        }
    }
}

#[test]
fn a_container_that_is_kept_is_stopped_at_the_deadline() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, auto_remove: false, ..settings(&daemon.socket()) };
        let run = Run::new();
        let finished = run.one(&settings, &["sleep", "1000"], Task::limited(1)).expect("a result");
        assert!(is_timeout(&finished.exit), "{reuse:?}");
        let kept = daemon.containers(Some(&run.label()));
        assert_eq!(kept.len(), 1, "{reuse:?}");
        assert_eq!(kept[0]["State"], "exited", "{reuse:?}");
    }
}

#[test]
fn the_end_of_the_run_ends_its_containers() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        for level in [CancellationLevel::Stop, CancellationLevel::Kill] {
            let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
            let run = Run::new();
            let finished = run.session(async |session| {
                let words = ["sh", "-c", "echo begun; sleep 1000"];
                session.start(&settings, &words, Task::default(), |_| run.source.raise(level)).await
            });
            assert_eq!(finished.expect("a result").exit, Exit::Cancelled, "{reuse:?}");
            assert!(daemon.containers(Some(&run.label())).is_empty(), "{reuse:?}");
        }
    }
}

#[test]
fn a_container_that_is_killed_or_removed_from_outside_is_named() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        for (method, action) in [("POST", "/kill"), ("DELETE", "?force=1")] {
            let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
            let run = Run::new();
            let result = run.session(async |session| {
                let words = ["sh", "-c", "echo begun; sleep 1000"];
                let meddle = |_: &str| {
                    for container in daemon.containers(Some(&run.label())) {
                        let id = container["Id"].as_str().unwrap_or_default();
                        daemon.request(method, &format!("/containers/{id}{action}"), "", b"");
                    }
                };
                session.start(&settings, &words, Task::limited(60), meddle).await
            });
            if method == "POST" {
                let finished = result.expect("a result");
                assert_eq!(
                    finished.exit,
                    Exit::Signal { number: 9, name: "SIGKILL".to_owned() },
                    "{reuse:?}"
                );
                let explanation =
                    finished.container.and_then(|container| container.explanation).unwrap_or_default();
                assert!(explanation.contains("from outside"), "{reuse:?} {explanation}");
            } else {
                let error = container_error(&result);
                assert!(error.message.contains("was removed from outside"), "{reuse:?} {}", error.message);
                assert!(error.has_run);
            }
            assert!(daemon.containers(Some(&run.label())).is_empty(), "{reuse:?}");
        }
    }
}

#[test]
fn a_daemon_that_dies_while_a_command_runs_is_an_error() {
    for reuse in BOTH {
        let Some(daemon) = Dockerd::start(&[]) else { return };
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        let run = Run::new();
        let result = run.session(async |session| {
            let words = ["sh", "-c", "echo begun; sleep 1000"];
            session.start(&settings, &words, Task::limited(60), |_| daemon.kill()).await
        });
        let error = container_error(&result);
        let is_lost = error.message.contains("was lost") || error.message.contains("can't be reached");
        assert!(is_lost, "{reuse:?} {}", error.message);
        assert!(error.has_run && error.hints[0].contains("what the command had done"), "{:?}", error.hints);
        let warnings = run.warnings().join("\n");
        assert!(
            warnings.contains("is left behind") && warnings.contains("a later run removes it"),
            "{warnings}"
        );
    }
}

#[test]
fn a_later_run_removes_what_a_dead_one_left() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        let dead = Run::new();
        let names = RefCell::new(Vec::new());
        dead.session(async |session| {
            let words = ["sh", "-c", "echo begun; sleep 1000"];
            let begun = tokio::sync::Notify::new();
            let command = session.start(&settings, &words, Task::default(), |_| begun.notify_one());
            tokio::select! {
                // The command is dropped, as if its process were killed.
                _ = command => panic!("the command ended"),
                () = begun.notified() => {}
            }
            // So is its executor: the end of the session would remove the container.
            let alive = daemon.containers(Some(&dead.label()));
            names.borrow_mut().extend(alive.iter().map(|found| found["Names"][0].to_string()));
            let next = Run { owner: dead.owner.clone(), ..Run::new() };
            let next = std::thread::scope(|threads| {
                threads
                    .spawn(|| next.one(&settings, &["true"], Task::default()).map(|_| next.warnings()))
                    .join()
            });
            let warnings = next.expect("a thread").expect("a result");
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert!(warnings[0].contains("which exec#work of the run"), "{warnings:?}");
        });
        assert_eq!(names.borrow().len(), 1, "{reuse:?}");
        assert!(daemon.containers(Some(&dead.label())).is_empty(), "{reuse:?}");
    }
}
