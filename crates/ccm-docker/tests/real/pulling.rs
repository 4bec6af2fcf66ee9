//! Images from a registry, a stub on the loopback of the daemon.

use ccm_host::{ContainerSettings, PullPolicy};
use ccm_testkit::{Dockerd, Registry, busybox_image};

use crate::{Run, Task, container_error, settings, stdout};

#[test]
fn an_image_is_pulled_only_if_the_settings_ask() {
    let Some(daemon) = Dockerd::shared() else { return };
    let registry = Registry::start(&daemon, busybox_image().expect("an image"));
    let with = |name: &str, pull| ContainerSettings {
        image: registry.image(name),
        pull,
        ..settings(&daemon.socket())
    };
    let pulls = || registry.requests().iter().filter(|line| line.contains("/manifests/")).count();

    let run = Run::new();
    let result = run.one(&with("a:1", PullPolicy::Never), &["env"], Task::default());
    assert!(container_error(&result).message.contains("there is no image"), "{result:?}");
    assert_eq!(pulls(), 0);

    let run = Run::new();
    let finished = run.one(&with("a:1", PullPolicy::Missing), &["env"], Task::default()).expect("a result");
    assert!(stdout(&finished).contains("FROM=registry"), "{finished:?}");
    assert_eq!(run.notes(), [format!("pulled the image {}", registry.image("a:1"))]);
    let first = pulls();
    assert!(first > 0);

    let run = Run::new();
    run.one(&with("a:1", PullPolicy::Missing), &["true"], Task::default()).expect("a result");
    assert_eq!((pulls(), run.notes().len()), (first, 0));

    // Once for all commands of a run.
    let run = Run::new();
    let always = with("a:1", PullPolicy::Always);
    run.session(async |session| {
        for _ in 0..3 {
            session.sh(&always, "true").await;
        }
    });
    assert!(pulls() > first);
    assert_eq!(run.notes().len(), 1, "{:?}", run.notes());
}

#[test]
fn an_image_that_the_registry_does_not_have_is_told_as_such() {
    let Some(daemon) = Dockerd::shared() else { return };
    let registry = Registry::start(&daemon, Vec::new());
    let image = registry.image("missing:1");
    let settings = ContainerSettings { image, pull: PullPolicy::Missing, ..settings(&daemon.socket()) };
    let run = Run::new();
    let result = run.one(&settings, &["true"], Task::default());
    let error = container_error(&result);
    assert!(error.message.starts_with("the Engine could not pull the image: "), "{}", error.message);
    assert!(error.hints[0].contains("check the name of the image"), "{:?}", error.hints);
    assert!(daemon.containers(Some(&run.label())).is_empty());
}
