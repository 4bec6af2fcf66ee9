//! Images from a registry, a stub on the loopback of the daemon.

use ccm_host::{ContainerSettings, PullPolicy};
use ccm_testkit::{Dockerd, Registry, Scratch, busybox_image};

use crate::real::{Run, Task, container_error, settings, stdout};

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

#[test]
fn a_private_image_is_pulled_with_the_login_of_docker() {
    const PASSWORD: &str = "hunter22:hunter22";
    let Some(daemon) = Dockerd::shared() else { return };
    let registry = Registry::start_private(&daemon, busybox_image().expect("an image"), "ada", PASSWORD);
    let settings = ContainerSettings {
        image: registry.image("private:1"),
        pull: PullPolicy::Always,
        ..settings(&daemon.socket())
    };
    let scratch = Scratch::new();
    let pull = |content: &str| {
        let run = Run { logins: Some(scratch.write("config.json", content)), ..Run::new() };
        let result = run.one(&settings, &["env"], Task::default());
        (run, result)
    };
    let host = registry.image("").trim_end_matches('/').to_owned();
    let entry = |auth: &str| format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"{auth}\"}}}}}}");
    for (content, cause, hint) in [
        ("{}".to_owned(), None, format!("log in as the user who runs ccm (`docker login {host}`)")),
        // `ada:wrong`
        (
            entry("YWRhOndyb25n"),
            None,
            format!("log in again as the user who runs ccm (`docker login {host}`)"),
        ),
        (
            "{\"credsStore\": \"pass\"}".to_owned(),
            Some(format!(
                "the login for {host} is kept by the program docker-credential-pass, which ccm does not run"
            )),
            "with the docker command before the run".to_owned(),
        ),
        (
            "[".to_owned(),
            Some(format!(
                "\"{}\" is not the configuration of the docker command (line 1, column 1)",
                scratch.at("config.json")
            )),
            "with the docker command before the run".to_owned(),
        ),
    ] {
        let (_, result) = pull(&content);
        let error = container_error(&result);
        assert!(error.message.starts_with("the Engine could not pull the image: "), "{}", error.message);
        assert_eq!(error.source.as_ref().map(ToString::to_string), cause, "{content}");
        assert!(error.hints[0].ends_with(&hint), "{content}: {:?}", error.hints);
    }
    // `ada` and the password.
    let (run, result) = pull(&entry("YWRhOmh1bnRlcjIyOmh1bnRlcjIy"));
    assert!(stdout(&result.expect("a result")).contains("FROM=registry"));
    assert_eq!(run.notes(), [format!("pulled the image {}", settings.image)]);
    assert_eq!(run.secrets.redact(&format!("with {PASSWORD}")), "with [redacted]");
}

#[test]
fn a_registry_without_an_entry_gets_no_login() {
    let Some(daemon) = Dockerd::shared() else { return };
    let registry = Registry::start(&daemon, busybox_image().expect("an image"));
    let settings = ContainerSettings {
        image: registry.image("open:1"),
        pull: PullPolicy::Missing,
        ..settings(&daemon.socket())
    };
    let scratch = Scratch::new();
    let other = "{\"auths\": {\"other.example\": {\"auth\": \"YWRhOmh1bnRlcjIyOmh1bnRlcjIy\"}}}";
    let run = Run { logins: Some(scratch.write("config.json", other)), ..Run::new() };
    run.one(&settings, &["true"], Task::default()).expect("a result");
    let requests = registry.requests();
    assert!(requests.iter().all(|line| !line.ends_with(" login")), "{requests:?}");
}
