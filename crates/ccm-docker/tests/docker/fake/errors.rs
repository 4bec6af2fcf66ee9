//! Engines that are not there, refuse, or answer nonsense.

use ccm_host::{ContainerSettings, EngineAddress, Exit, Launch, StartError};
use ccm_model::MissingPrerequisite;
use ccm_testkit::{FakeAnswer, FakeCommand};
use serde_json::json;

use crate::fake::{Bench, limited, path};

fn refusal(status: u16, message: &str) -> FakeAnswer {
    FakeAnswer::Json(status, json!({ "message": message }))
}

#[test]
fn an_engine_that_is_not_there_is_named() {
    let bench = Bench::new(FakeCommand::default());
    let nowhere =
        ContainerSettings { engine: EngineAddress::Unix(path("/nosuch/engine.sock")), ..bench.settings() };
    let ran = bench.run(nowhere);
    let error = ran.container_error();
    assert_eq!(error.message, "the Engine at unix:///nosuch/engine.sock can't be reached");
    assert!(
        error.hints[0].contains("systemctl start docker") && error.hints[0].contains("`box`"),
        "{:?}",
        error.hints
    );
    assert_eq!(error.missing, Some(MissingPrerequisite::Path(path("/nosuch/engine.sock"))));
    assert!(!error.has_run);
    // Port 9 of loopback has no listener.
    let nobody =
        ContainerSettings { engine: EngineAddress::Tcp("127.0.0.1:9".to_owned()), ..bench.settings() };
    let ran = bench.run(nobody);
    assert_eq!(ran.container_error().message, "the Engine at tcp://127.0.0.1:9 can't be reached");
}

#[test]
fn what_an_engine_refuses_is_an_error_with_advice() {
    for (request, answer, message, hint) in [
        (
            "GET /images",
            refusal(404, "No such image: debian:12"),
            "the Engine could not look up the image: there is no image `debian:12` at HOST",
            "`pull: missing` in the executor `box`",
        ),
        (
            "POST /containers/create",
            refusal(404, "No such image: debian:12"),
            "the Engine could not create the container: No such image: debian:12",
            "load or pull the image `debian:12`",
        ),
        (
            "POST /containers/create",
            refusal(400, "invalid mount config for type \"bind\": bind source path does not exist: /nosuch"),
            "the Engine could not create the container: invalid mount config for type \"bind\": bind source path does \
             not exist: /nosuch",
            "create the path of `volumes`",
        ),
        (
            "POST /containers/create",
            refusal(500, "write /var/lib/docker/x: no space left on device"),
            "the Engine could not create the container: write /var/lib/docker/x: no space left on device",
            "free space on the disk of the Engine",
        ),
        (
            "POST /containers/",
            refusal(409, "conflict"),
            "the Engine could not create the container: conflict",
            "check the settings of the executor `box`",
        ),
        (
            "GET /_ping",
            FakeAnswer::Bytes(
                b"HTTP/1.1 200 OK\r\nApi-Version: 1.24\r\nContent-Length: 2\r\n\r\nOK".to_vec(),
            ),
            "the Engine at HOST speaks version 1.24 of its API, and ccm needs 1.40",
            "update the Engine",
        ),
        (
            "GET /_ping",
            FakeAnswer::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK".to_vec()),
            "the answer of the Engine at HOST can't be understood: it has no `Api-Version`",
            "correct `host` of the executor `box`",
        ),
        (
            "GET /_ping",
            FakeAnswer::Bytes(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
            "the answer of the Engine at HOST can't be understood: invalid HTTP version parsed",
            "correct `host`",
        ),
        (
            "GET /_ping",
            FakeAnswer::Hangup,
            "the connection to the Engine at HOST was lost",
            "check the log of the Engine",
        ),
        (
            "GET /images",
            FakeAnswer::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot json!".to_vec()),
            "the answer of the Engine at HOST can't be understood: expected ident at line 1 column 2",
            "correct `host`",
        ),
        (
            "POST /containers/ccm-",
            FakeAnswer::Json(200, json!({})),
            "the answer of the Engine at HOST can't be understood: it does not switch to a stream",
            "correct `host`",
        ),
    ] {
        let bench = Bench::new(FakeCommand::default());
        bench.engine.answer(request, answer);
        let ran = bench.run(bench.settings());
        let error = ran.container_error();
        assert_eq!(error.message, message.replace("HOST", &bench.host()), "{request}");
        assert!(error.hints[0].contains(hint), "{request}: {:?}", error.hints);
        assert_eq!(error.property, Some("executor"));
        assert!(!error.has_run && bench.engine.containers().is_empty(), "{request}");
    }
}

#[test]
fn a_program_that_the_image_lacks_is_not_found() {
    const RUNC: &str =
        "OCI runtime create failed: runc create failed: unable to start container process: exec: ";
    for (message, expected) in [
        ("\"prog\": executable file not found in $PATH: unknown", "\"prog\" not found in PATH"),
        ("\"prog\": permission denied: unknown", "\"prog\" is not executable"),
    ] {
        let bench = Bench::new(FakeCommand::default());
        bench.engine.answer("POST /containers/*/start", refusal(400, &format!("{RUNC}{message}")));
        let ran = bench.run(bench.settings());
        assert_eq!(ran.error().to_string(), expected);
        assert!(bench.engine.containers().is_empty());
    }
    let bench = Bench::new(FakeCommand::default());
    let message = format!("{RUNC}\"prog\": stat prog: no such file or directory");
    bench.engine.answer("POST /containers/*/start", refusal(400, &message));
    match bench.run(bench.settings()).error() {
        StartError::NotFound { name, path } => assert_eq!((&**name, &**path), ("prog", "/bin")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_unknown_user_is_an_error_of_its_property() {
    for (launch, property) in [
        (Launch { user: Some("nosuch".to_owned()), ..Launch::default() }, "user"),
        (Launch::default(), "executor"),
    ] {
        let bench = Bench::new(FakeCommand::default());
        let message = "unable to find user nosuch: no matching entries in passwd file";
        bench.engine.answer("POST /containers/*/start", refusal(500, message));
        let ran = bench.run_with(bench.settings(), launch, |_| {});
        assert_eq!(ran.container_error().property, Some(property));
    }
}

#[test]
fn an_engine_that_dies_while_a_command_runs_leaves_its_result_unknown() {
    let frames = vec![(1, b"begun\n".into())];
    let bench = Bench::new(FakeCommand { hangs: true, frames, ..FakeCommand::default() });
    let cut = FakeAnswer::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_vec());
    bench.engine.answer("POST /containers/*/wait", cut);
    bench.engine.answer("DELETE /containers", FakeAnswer::Hangup);
    let ran = bench.run(bench.settings());
    let error = ran.container_error();
    assert_eq!(error.message, format!("the connection to the Engine at {} was lost", bench.host()));
    assert!(error.has_run && error.hints[0].contains("what the command had done"), "{:?}", error.hints);
    // The end of the run reports the container once.
    assert_eq!(ran.plan.warnings, Vec::<String>::new());
    assert!(ran.end.warnings[0].contains("is left behind"), "{:?}", ran.end.warnings);
}

#[test]
fn secrets_in_messages_of_the_engine_are_hidden() {
    let bench = Bench::new(FakeCommand::default());
    bench.secrets.add(["hunter22"]);
    bench.engine.answer("POST /containers/create", refusal(400, "invalid environment \"TOKEN=hunter22\""));
    let ran = bench.run(bench.settings());
    assert_eq!(
        ran.container_error().message,
        "the Engine could not create the container: invalid environment \"TOKEN=[redacted]\""
    );
}

#[test]
fn a_secret_does_not_get_into_a_container_that_is_kept() {
    let bench = Bench::new(FakeCommand::default());
    bench.secrets.add(["hunter22"]);
    let launch =
        Launch { environment: vec![("TOKEN".to_owned(), "hunter22".to_owned())], ..Launch::default() };
    let kept = ContainerSettings { auto_remove: false, ..bench.settings() };
    let ran = bench.run_with(kept, launch.clone(), |_| {});
    assert_eq!(ran.container_error().property, Some("environment"));
    assert!(bench.engine.requests().is_empty(), "{:?}", bench.engine.requests());
    bench.run_with(bench.settings(), launch, |_| {}).finished();
}

#[test]
fn an_engine_that_does_not_answer_is_not_awaited_for_ever() {
    let bench = Bench::new(FakeCommand::default());
    bench.engine.answer("GET /_ping", FakeAnswer::Silence);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let ran = runtime.block_on(bench.run_async(bench.settings(), Launch::default(), |_| {}, |_| {}));
    assert_eq!(
        ran.container_error().message,
        format!("the Engine at {} did not answer within 30s", bench.host())
    );
}

#[test]
fn a_pull_takes_no_longer_than_the_command_may() {
    let bench = Bench::new(FakeCommand::default());
    bench.engine.answer("POST /images/create", FakeAnswer::Silence);
    let settings = ContainerSettings { pull: ccm_host::PullPolicy::Always, ..bench.settings() };
    let ran = bench.run_with(settings, limited(), |_| {});
    assert_eq!(ran.container_error().message, "the image `debian:12` could not be pulled within 1s");
}

#[test]
fn a_failed_pull_quotes_the_registry() {
    let bench = Bench::new(FakeCommand::default());
    let progress = "{\"status\":\"Pulling from library/debian\"}\r\n{\"error\":\"manifest unknown\"}\r\n";
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{progress}", progress.len());
    bench.engine.answer("POST /images/create", FakeAnswer::Bytes(answer.into_bytes()));
    let settings = ContainerSettings { pull: ccm_host::PullPolicy::Always, ..bench.settings() };
    let ran = bench.run(settings);
    assert_eq!(ran.container_error().message, "the Engine could not pull the image: manifest unknown");
}

#[test]
fn output_that_is_no_stream_of_frames_is_reported() {
    // The exit code is known all the same.
    let bench = Bench::new(FakeCommand { frames: vec![(9, b"x".into())], code: 0, ..FakeCommand::default() });
    let ran = bench.run(bench.settings());
    assert_eq!(ran.finished().exit, Exit::Code(0));
    assert!(ran.plan.warnings[0].contains("unknown kind 9"), "{:?}", ran.plan.warnings);
}
