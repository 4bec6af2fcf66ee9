//! Containers that the commands of a run share.

use ccm_host::{ContainerReuse, ContainerSettings, Exit};
use ccm_testkit::Dockerd;

use crate::real::{Run, Task, is_timeout, settings, stdout};

fn per_run(daemon: &Dockerd) -> ContainerSettings {
    ContainerSettings { reuse: ContainerReuse::PerRun, ..settings(&daemon.socket()) }
}

#[test]
fn commands_of_a_run_share_one_container() {
    let Some(daemon) = Dockerd::shared() else { return };
    let settings = per_run(&daemon);
    let other = ContainerSettings { user: Some("app".to_owned()), ..settings.clone() };
    let run = Run::new();
    run.session(async |session| {
        session.sh(&settings, "echo kept > /srv/file").await;
        assert_eq!(stdout(&session.sh(&settings, "cat /srv/file").await), "kept");
        assert_eq!(daemon.containers(Some(&run.label())).len(), 1);
        // Other settings are another container.
        assert_eq!(stdout(&session.sh(&other, "ls /srv; id -u").await), "1000");
        assert_eq!(daemon.containers(Some(&run.label())).len(), 2);
    });
    assert!(daemon.containers(Some(&run.label())).is_empty());
    assert_eq!((run.warnings(), run.notes()), (Vec::new(), Vec::new()));
}

#[test]
fn after_a_timeout_later_commands_get_another_container() {
    let Some(daemon) = Dockerd::shared() else { return };
    let settings = per_run(&daemon);
    let run = Run::new();
    run.session(async |session| {
        session.sh(&settings, "touch /srv/old").await;
        let slow = session.start(&settings, &["sleep", "1000"], Task::limited(1), |_| {}).await;
        assert!(is_timeout(&slow.expect("a result").exit));
        assert!(daemon.containers(Some(&run.label())).is_empty(), "nothing goes on");
        assert_eq!(stdout(&session.sh(&settings, "ls /srv").await), "");
    });
    assert!(daemon.containers(Some(&run.label())).is_empty());
}

#[test]
fn a_container_that_was_stopped_from_outside_is_replaced() {
    let Some(daemon) = Dockerd::shared() else { return };
    let settings = per_run(&daemon);
    for (method, action) in [("POST", "/kill"), ("DELETE", "?force=1")] {
        let run = Run::new();
        run.session(async |session| {
            session.sh(&settings, "true").await;
            for container in daemon.containers(Some(&run.label())) {
                let id = container["Id"].as_str().unwrap_or_default();
                daemon.request(method, &format!("/containers/{id}{action}"), "", b"");
            }
            assert_eq!(stdout(&session.sh(&settings, "echo again").await), "again");
        });
        let warnings = run.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains("ccm started another one"), "{warnings:?}");
        assert!(daemon.containers(Some(&run.label())).is_empty());
    }
}

#[test]
fn a_process_that_is_left_running_is_named_and_not_awaited() {
    let Some(daemon) = Dockerd::shared() else { return };
    let settings = per_run(&daemon);
    let run = Run::new();
    run.session(async |session| {
        let finished = session.sh(&settings, "sleep 1000 & echo done").await;
        assert_eq!((finished.exit.clone(), stdout(&finished)), (Exit::Code(0), "done".to_owned()));
        let names: Vec<&str> = finished.left_running.iter().map(|process| &*process.name).collect();
        assert_eq!(names, ["sleep"]);
        assert!(finished.duration.as_secs() < 30, "{:?}", finished.duration);
    });
    assert!(daemon.containers(Some(&run.label())).is_empty());
}

#[test]
fn a_command_that_closes_its_output_is_awaited() {
    let Some(daemon) = Dockerd::shared() else { return };
    let finished = Run::new()
        .session(async |session| session.sh(&per_run(&daemon), "exec >&- 2>&-; sleep 0.5; exit 3").await);
    assert_eq!(finished.exit, Exit::Code(3));
}
