//! Commands that end by themselves: input, output, codes, environment, user, directory.

use ccm_host::{ContainerSettings, Exit, Launch, StartError};
use ccm_testkit::Dockerd;

use crate::real::{BOTH, Run, Task, printed, settings, stdout};

#[test]
fn output_and_exit_codes_are_those_of_the_command() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        let run = Run::new();
        run.session(async |session| {
            for code in [0, 1, 42, 125, 126, 127, 255] {
                let finished = session.sh(&settings, &format!("echo out; echo err >&2; exit {code}")).await;
                assert_eq!(finished.exit, Exit::Code(code), "{reuse:?}");
                assert_eq!((&*finished.stdout.head, &*finished.stderr.head), (&b"out\n"[..], &b"err\n"[..]));
            }
        });
        assert!(daemon.containers(Some(&run.label())).is_empty());
        assert_eq!((run.warnings(), run.notes()), (Vec::new(), Vec::new()));
    }
}

#[test]
fn standard_input_is_given_and_closed() {
    let Some(daemon) = Dockerd::shared() else { return };
    let long = "0123456789abcdef\n".repeat(20_000);
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        for (words, stdin, expected) in [
            (&["cat"][..], Some("some text\n"), "some text"),
            (&["wc", "-c"], Some(&*long), "340000"),
            (&["wc", "-c"], Some(""), "0"),
            (&["wc", "-c"], None, "0"),
            // A command need not read its input.
            (&["echo", "done"], Some(&*long), "done"),
        ] {
            let task = Task { stdin: stdin.map(str::to_owned), ..Task::default() };
            let finished = Run::new().one(&settings, words, task).expect("a result");
            assert_eq!(stdout(&finished), expected, "{words:?} {reuse:?}");
        }
    }
}

#[test]
fn the_environment_is_laid_over_that_of_the_image() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        let environment = [("A", "1"), ("A", "2"), ("PATH", "/bin:/x")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let task = Task { launch: Launch { environment, ..Launch::default() }, ..Task::default() };
        let finished = Run::new().one(&settings, &["env"], task).expect("a result");
        let text = stdout(&finished);
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("HOSTNAME=")).collect();
        lines.sort_unstable();
        assert_eq!(lines, ["A=2", "HOME=/", "PATH=/bin:/x"], "{reuse:?}");
    }
}

#[test]
fn a_command_runs_as_a_user_of_the_image() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        for (of_settings, user, group, expected) in [
            (None, None, None, "0 0"),
            (Some("app"), None, None, "1000 1000"),
            (Some("1234:50"), None, None, "1234 50"),
            (Some("app"), Some("root"), None, "0 0"),
            (None, Some("app"), Some("staff"), "1000 50"),
            (Some("app"), None, Some("staff"), "1000 50"),
            (None, None, Some("50"), "0 50"),
        ] {
            let user_of_settings = of_settings.map(str::to_owned);
            let settings = ContainerSettings { reuse, user: user_of_settings, ..settings(&daemon.socket()) };
            let (user, group) = (user.map(str::to_owned), group.map(str::to_owned));
            let launch = Launch { user, group, ..Launch::default() };
            let task = Task { launch, ..Task::default() };
            let finished = Run::new().one(&settings, &["sh", "-c", "echo $(id -u) $(id -g)"], task);
            assert_eq!(stdout(&finished.expect("a result")), expected, "{reuse:?}");
        }
    }
}

#[test]
fn a_command_starts_in_its_directory() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        for (cwd, expected) in [(None, "/"), (Some("/srv"), "/srv")] {
            let launch = Launch { cwd: cwd.map(Into::into), ..Launch::default() };
            let finished = Run::new().one(&settings, &["pwd"], Task { launch, ..Task::default() });
            assert_eq!(stdout(&finished.expect("a result")), expected, "{reuse:?}");
        }
    }
}

#[test]
fn a_container_carries_labels_and_is_kept_if_asked() {
    let Some(daemon) = Dockerd::shared() else { return };
    let labels = vec![("team".to_owned(), "web".to_owned())];
    for reuse in BOTH {
        let settings = ContainerSettings {
            reuse,
            auto_remove: false,
            labels: labels.clone(),
            ..settings(&daemon.socket())
        };
        let run = Run::new();
        run.one(&settings, &["echo", "hello"], Task::default()).expect("a result");
        let kept = daemon.containers(Some(&run.label()));
        let [kept] = &*kept else { panic!("{kept:?}") };
        assert_eq!(kept["State"], "exited");
        let name = kept["Names"][0].as_str().unwrap_or_default().trim_start_matches('/').to_owned();
        assert!(run.notes().contains(&format!("kept the container {name}")), "{:?}", run.notes());
        for (label, expected) in [
            ("team", "web"),
            ("ccm.keep", "true"),
            ("ccm.resource", "exec#work"),
            ("ccm.manifest", "/etc/site.yaml"),
        ] {
            assert_eq!(kept["Labels"][label], expected);
        }
        let removed = daemon.request("DELETE", &format!("/containers/{name}"), "", b"");
        assert_eq!(removed.map(|(status, _)| status), Some(204));
    }
}

#[test]
fn without_a_search_path_there_is_that_of_the_engine() {
    let Some(daemon) = Dockerd::shared() else { return };
    let path = printed(&settings(&daemon.socket()), "echo $PATH");
    match Run::new().one(&settings(&daemon.socket()), &["nosuch"], Task::default()) {
        Err(StartError::NotFound { path: searched, .. }) => assert_eq!(searched, path),
        other => panic!("{other:?}"),
    }
}
