//! The same commands with Podman.

use ccm_host::{ContainerSettings, Exit, Launch, ReachedLimit};
use ccm_testkit::PodmanService;

use crate::real::{BOTH, Run, Task, is_timeout, settings, stdout};

#[test]
fn podman_works_as_docker_does() {
    let Some(podman) = PodmanService::start() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, ..settings(&podman.socket()) };
        let run = Run::new();
        run.session(async |session| {
            for code in [0, 3, 126, 127] {
                let finished = session.sh(&settings, &format!("echo out; echo err >&2; exit {code}")).await;
                assert_eq!(finished.exit, Exit::Code(code), "{reuse:?}\n{}", podman.log());
                assert_eq!((&*finished.stdout.head, &*finished.stderr.head), (&b"out\n"[..], &b"err\n"[..]));
            }
            let task = Task { stdin: Some("text\n".to_owned()), ..Task::default() };
            let finished = session.start(&settings, &["cat"], task, |_| {}).await.expect("a result");
            assert_eq!(stdout(&finished), "text", "{reuse:?}");
            let launch =
                Launch { user: Some("app".to_owned()), cwd: Some("/srv".into()), ..Launch::default() };
            let task = Task { launch, ..Task::default() };
            let words = ["sh", "-c", "id -u; pwd"];
            let finished = session.start(&settings, &words, task, |_| {}).await.expect("a result");
            assert_eq!(stdout(&finished), "1000\n/srv", "{reuse:?}");
            for (program, expected) in
                [("nosuch", "\"nosuch\" not found in PATH"), ("/etc/data", "\"/etc/data\" is not executable")]
            {
                let error = session.start(&settings, &[program], Task::default(), |_| {}).await.map(drop);
                assert_eq!(error.expect_err("an error").to_string(), expected, "{reuse:?}");
            }
            let slow = session.start(&settings, &["sleep", "1000"], Task::limited(1), |_| {}).await;
            assert!(is_timeout(&slow.expect("a result").exit), "{reuse:?}");
        });
        let listed = podman.request("GET", "/v1.41/containers/json?all=1", b"");
        let (_, listed) = listed.expect("an answer");
        assert_eq!(String::from_utf8_lossy(&listed).trim(), "[]", "{reuse:?}: nothing is left behind");
    }
    let limited = ContainerSettings { memory: Some(16 << 20), ..settings(&podman.socket()) };
    let finished = Run::new().one(&limited, &["tail", "/dev/zero"], Task::limited(60)).expect("a result");
    // With control groups of version 1, Podman does not tell of the end of memory.
    let explanation = finished.container.and_then(|container| container.explanation).unwrap_or_default();
    let is_named =
        finished.reached == [ReachedLimit::ContainerMemory] || explanation.contains("`memory_limit`");
    assert!(is_named, "{:?} {explanation}", finished.exit);
}
