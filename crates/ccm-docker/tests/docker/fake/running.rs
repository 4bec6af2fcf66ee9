//! Commands that end by themselves.

use ccm_host::{ClosedPlan, ContainerNetwork, Exit, LastLine, Launch, PullPolicy};
use ccm_testkit::{FakeAnswer, FakeCommand};
use serde_json::json;

use crate::fake::Bench;

#[test]
fn a_command_is_created_attached_started_awaited_and_removed() {
    let bench = Bench::new(FakeCommand {
        frames: vec![(1, b"out\n".into()), (2, b"err\n".into())],
        ..FakeCommand::default()
    });
    let ran = bench.run(bench.settings());
    let finished = ran.finished();
    assert_eq!(finished.exit, Exit::Code(0));
    assert_eq!((&*finished.stdout.head, &*finished.stderr.head), (&b"out\n"[..], &b"err\n"[..]));
    assert_eq!(ran.lines, ["stdout out", "stderr err"]);
    assert_eq!((ran.plan, ran.end), (ClosedPlan::default(), ClosedPlan::default()));
    let steps: Vec<String> =
        bench.engine.requests().iter().map(|line| line.replace(&name(&bench), "NAME")).collect();
    assert_eq!(
        steps,
        [
            "GET /_ping",
            "GET /containers/json?all=1&filters=%7B%22label%22%3A%5B%22ccm.owner%3D0ddba11%22%5D%7D",
            "GET /images/debian:12/json",
            "POST /containers/create?name=NAME",
            "POST /containers/NAME/attach?stream=1&stdin=0&stdout=1&stderr=1",
            "POST /containers/NAME/start",
            "POST /containers/NAME/wait",
            "DELETE /containers/NAME?force=1&v=1",
        ]
    );
    assert!(bench.engine.containers().is_empty());
}

/// Returns the name of the first container.
fn name(bench: &Bench) -> String {
    let requests = bench.engine.requests();
    let created = requests.iter().find_map(|line| line.strip_prefix("POST /containers/create?name="));
    created.expect("a container").to_owned()
}

#[test]
fn a_container_carries_the_labels_of_its_run() {
    let bench = Bench::new(FakeCommand::default());
    bench.run(bench.settings());
    let body = bench.engine.bodies("POST /containers/create").remove(0);
    assert_eq!(
        body["Labels"],
        json!({
            "ccm.run": "01a200cb-7d00", "ccm.resource": "exec#work", "ccm.manifest": "/etc/site.yaml",
            "ccm.keep": "false", "ccm.owner": "0ddba11",
        })
    );
    assert_eq!((&body["Entrypoint"], &body["Cmd"]), (&json!(["prog"]), &json!(["a", "b"])));
    assert!(name(&bench).starts_with("ccm-01a200cb-1-"), "{}", name(&bench));
}

#[test]
fn a_container_that_is_kept_is_named() {
    let bench = Bench::new(FakeCommand::default());
    let settings = ccm_host::ContainerSettings { auto_remove: false, ..bench.settings() };
    let ran = bench.run(settings);
    ran.finished();
    let name = name(&bench);
    assert_eq!(ran.plan.notes, [format!("kept the container {name}")]);
    assert_eq!(bench.engine.containers(), [name]);
}

#[test]
fn standard_input_is_written_and_closed() {
    let bench = Bench::new(FakeCommand::default());
    let ran = bench.run_with(bench.settings(), Launch::default(), |command| {
        command.stdin = Some("some text\n".into());
    });
    ran.finished();
    assert_eq!(bench.engine.inputs(), ["some text\n"]);
    let body = bench.engine.bodies("POST /containers/create").remove(0);
    assert_eq!((&body["OpenStdin"], &body["StdinOnce"]), (&json!(true), &json!(true)));
}

#[test]
fn the_last_line_is_followed_while_the_command_runs() {
    let bench = Bench::new(FakeCommand::prints("first\nhalf done\n", 0));
    let followed = LastLine::default();
    let ran = bench.run_with(bench.settings(), Launch::default(), |command| {
        command.last_line = Some(followed.clone());
    });
    assert_eq!(ran.lines, ["stdout first", "stdout half done"]);
    assert_eq!(followed.get(), "half done");
}

#[test]
fn secrets_are_hidden_in_output_and_in_the_labels() {
    let bench = Bench::new(FakeCommand {
        frames: vec![(1, b"token hunt".into()), (1, b"er22 end\n".into())],
        ..FakeCommand::default()
    });
    bench.secrets.add(["hunter22", "exec#work"]);
    let ran = bench.run(bench.settings());
    assert_eq!(ran.lines, ["stdout token [redacted] end"]);
    assert_eq!(ran.finished().stdout.head, b"token [redacted] end\n");
    assert_eq!(ran.finished().printed_stdout().head, b"token hunter22 end\n");
    let body = bench.engine.bodies("POST /containers/create").remove(0);
    assert_eq!(body["Labels"]["ccm.resource"], "[redacted]");
}

#[test]
fn the_end_of_memory_is_named() {
    let bench = Bench::new(FakeCommand { code: 137, oom_killed: true, ..FakeCommand::default() });
    let limited = ccm_host::ContainerSettings { memory: Some(7 << 20), ..bench.settings() };
    let ran = bench.run(limited);
    let finished = ran.finished();
    assert_eq!(finished.exit, Exit::Signal { number: 9, name: "SIGKILL".to_owned() });
    assert_eq!(finished.reached, [ccm_host::ReachedLimit::ContainerMemory]);
    let finished = bench.run(bench.settings()).result.expect("a result");
    let explanation = finished.container.and_then(|container| container.explanation);
    assert_eq!(
        explanation.as_deref(),
        Some("the kernel killed a process in the container because memory ran out")
    );
}

#[test]
fn an_exit_code_of_a_signal_is_explained() {
    let bench = Bench::new(FakeCommand { code: 139, ..FakeCommand::default() });
    let ran = bench.run(bench.settings());
    let container = ran.finished().container.as_ref().expect("a container");
    assert_eq!(ran.finished().exit, Exit::Code(139));
    assert_eq!(
        container.explanation.as_deref(),
        Some("exit code 139 usually means that SIGSEGV ended the command")
    );
    assert_eq!((&*container.image, container.network), ("debian:12", true));
}

#[test]
fn a_signal_from_outside_is_told_from_an_exit_code() {
    let bench = Bench::new(FakeCommand { code: 137, ..FakeCommand::default() });
    let event = json!({"Action": "kill", "Actor": {"Attributes": {"signal": "9"}}});
    bench.engine.answer(
        "GET /events",
        FakeAnswer::Bytes(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{event}\n").into_bytes()),
    );
    let ran = bench.run(ccm_host::ContainerSettings { network: ContainerNetwork::None, ..bench.settings() });
    assert_eq!(ran.finished().exit, Exit::Signal { number: 9, name: "SIGKILL".to_owned() });
    let container = ran.finished().container.as_ref().expect("a container");
    let explanation = container.explanation.as_deref().unwrap_or_default();
    assert!(explanation.contains("from outside with SIGKILL"), "{explanation}");
    assert!(!container.network);
}

#[test]
fn an_image_is_pulled_as_the_settings_ask() {
    let missing = || FakeAnswer::Json(404, json!({"message": "No such image: debian:12"}));
    for (pull, has_image, pulls) in [
        (PullPolicy::Never, true, false),
        (PullPolicy::Missing, true, false),
        (PullPolicy::Missing, false, true),
        (PullPolicy::Always, true, true),
    ] {
        let bench = Bench::new(FakeCommand::default());
        if !has_image {
            bench.engine.answer("GET /images", missing());
        }
        let ran = bench.run(ccm_host::ContainerSettings {
            pull,
            platform: Some("linux/arm64".to_owned()),
            ..bench.settings()
        });
        let pulled = bench
            .engine
            .requests()
            .iter()
            .any(|line| line == "POST /images/create?fromImage=debian&tag=12&platform=linux%2Farm64");
        assert_eq!(pulled, pulls, "{pull:?} {has_image}");
        if has_image {
            ran.finished();
            let note = pulls.then(|| "pulled the image debian:12".to_owned());
            assert_eq!(ran.plan.notes, note.into_iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn output_is_kept_up_to_its_limits() {
    // Frames of 1 MiB: the decoder hands them on in pieces. The head and the tail are kept.
    let frame = (1, vec![b'x'; 1 << 20]);
    let bench = Bench::new(FakeCommand { frames: vec![frame; 64], ..FakeCommand::default() });
    let ran = bench.run(bench.settings());
    let stdout = &ran.finished().stdout;
    assert_eq!((stdout.head.len(), stdout.tail.len(), stdout.total()), (1 << 20, 64 << 10, 64 << 20));
}
