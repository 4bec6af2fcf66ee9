//! Commands that a real daemon does not start. Nothing is left behind.

use ccm_host::{ContainerReuse, ContainerSettings, Launch, StartError, Volume};
use ccm_model::MissingPrerequisite;
use ccm_testkit::{Dockerd, Scratch, TarFile, tar};

use crate::real::{BOTH, Run, Task, container_error, settings};

#[test]
fn a_program_that_can_not_run_is_told_as_such() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        for (program, expected) in [
            ("nosuch", "\"nosuch\" not found in PATH"),
            ("/nosuch/program", "\"/nosuch/program\" not found"),
            ("/etc/data", "\"/etc/data\" is not executable"),
            ("/etc", "\"/etc\" is not executable"),
        ] {
            let run = Run::new();
            let error = run.one(&settings, &[program], Task::default()).map(drop).expect_err("an error");
            assert_eq!(error.to_string(), expected, "{reuse:?}");
            assert!(daemon.containers(Some(&run.label())).is_empty(), "{reuse:?}");
        }
    }
}

#[test]
fn an_unknown_user_is_told_as_such() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        let launch = Launch { user: Some("nosuch".to_owned()), ..Launch::default() };
        let run = Run::new();
        let result = run.one(&settings, &["true"], Task { launch, ..Task::default() });
        let error = container_error(&result);
        assert!(error.message.contains("unable to find user nosuch"), "{reuse:?} {}", error.message);
        assert_eq!(error.property, Some("user"), "{reuse:?}");
        assert!(!error.has_run && daemon.containers(Some(&run.label())).is_empty(), "{reuse:?}");
    }
}

#[test]
fn a_missing_directory_is_told_as_such() {
    let Some(daemon) = Dockerd::shared() else { return };
    // For a container of one command the daemon makes the directory.
    let settings = ContainerSettings { reuse: ContainerReuse::PerRun, ..settings(&daemon.socket()) };
    let launch = Launch { cwd: Some("/nosuch".into()), ..Launch::default() };
    let error = Run::new().one(&settings, &["true"], Task { launch, ..Task::default() }).map(drop);
    match error.expect_err("an error") {
        StartError::WorkingDirectory { path, source } => {
            assert_eq!(
                (path.to_str(), source.to_string()),
                (Some("/nosuch"), "no such file or directory".to_owned())
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_image_is_told_as_such() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let image = "ccm-test/nosuch:1".to_owned();
        let settings = ContainerSettings { reuse, image, ..settings(&daemon.socket()) };
        let run = Run::new();
        let result = run.one(&settings, &["true"], Task::default());
        let expected = format!(
            "the Engine could not look up the image: there is no image `ccm-test/nosuch:1` at {}",
            daemon.host()
        );
        assert_eq!(container_error(&result).message, expected);
        assert!(daemon.containers(Some(&run.label())).is_empty());
    }
}

#[test]
fn a_missing_source_of_a_volume_is_not_made() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    let source = scratch.at("missing");
    for reuse in BOTH {
        let volume = Volume { source: source.clone(), target: "/x".to_owned(), read_only: false };
        let settings = ContainerSettings { reuse, volumes: vec![volume], ..settings(&daemon.socket()) };
        let run = Run::new();
        let result = run.one(&settings, &["true"], Task::default());
        let error = container_error(&result);
        assert!(error.message.contains(&source), "{}", error.message);
        assert!(error.hints[0].contains("create the path of `volumes`"), "{:?}", error.hints);
        assert_eq!(error.missing, Some(MissingPrerequisite::Path(source.clone().into())));
        assert!(!scratch.has("missing"));
        assert!(daemon.containers(Some(&run.label())).is_empty());
    }
}

#[test]
fn a_shared_container_needs_a_shell() {
    let Some(daemon) = Dockerd::shared() else { return };
    daemon
        .import("ccm-test/empty:1", &tar(&[TarFile { path: "etc/", mode: 0o755, content: b"", link: None }]));
    let settings = ContainerSettings {
        reuse: ContainerReuse::PerRun,
        image: "ccm-test/empty:1".to_owned(),
        ..settings(&daemon.socket())
    };
    let run = Run::new();
    let result = run.one(&settings, &["true"], Task::default());
    let error = container_error(&result);
    assert!(error.message.contains("`container: per_run` needs /bin/sh"), "{}", error.message);
    assert!(error.hints[0].contains("per_command"), "{:?}", error.hints);
    assert!(daemon.containers(Some(&run.label())).is_empty());
}

#[test]
fn a_full_disk_of_the_daemon_is_told_as_such() {
    let Some(daemon) = Dockerd::start_on_small_disk("24m") else { return };
    let settings = settings(&daemon.socket());
    // A container that is kept fills the disk.
    let kept = ContainerSettings { auto_remove: false, ..settings.clone() };
    let fill = ["sh", "-c", "dd if=/dev/zero of=/srv/full bs=64k; dd if=/dev/zero of=/srv/fuller bs=1; true"];
    let filled = Run::new().one(&kept, &fill, Task::limited(60)).expect("a result");
    assert!(String::from_utf8_lossy(&filled.stderr.head).contains("No space left"), "{filled:?}");
    let run = Run::new();
    let result = run.one(&settings, &["true"], Task::default());
    let error = container_error(&result);
    assert!(error.message.contains("no space left on device"), "{}", error.message);
    assert!(error.hints[0].contains("free space"), "{:?}", error.hints);
    assert!(!error.has_run && daemon.containers(Some(&run.label())).is_empty());
}
