//! What becomes of a failed run of a timer: its unit, and the notice that `ccm timer notify` hands to a command.

use std::path::Path;

use ccm_testkit::{Scratch, WebServer, answer, repository, skipped};

use crate::ccm;
use crate::expect::expect_error;
use crate::timer::{install, units};

#[test]
fn a_failed_run_can_start_a_unit() {
    let scratch = Scratch::new();
    let call = |units: &[&str]| {
        let options: Vec<String> = units.iter().map(|unit| format!("--on-failure={unit}")).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        install(&scratch, &["-n"]).args(&options).run()
    };
    let called = call(&["ccm-test-none@%n.service", "basic.target"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let service = &units(&called)[0].1;
    assert!(service.contains("\nOnFailure=ccm-test-none@%n.service basic.target\n"), "{service}");
    let command = "--on-failure=mail -s 'it failed' root";
    let with_command = install(&scratch, &["-n", command, "--on-failure-format", "json"]).run();
    let service = &units(&with_command)[0].1;
    let line = "timer notify --format json %n -- mail -s \"it failed\" root\n";
    assert!(service.contains("\nExecStopPost=-") && service.contains(line), "{service}");
    let warning = "warning: there is no unit ccm-test-none@%n.service, which a failed run starts\n";
    assert!(called.stderr.contains(warning), "{}", called.shown());
    for (unit, message) in [
        ("notify", "ends with its kind"),
        ("notify@.service", "needs an instance"),
        ("a:b/.service | mail root", "is for a shell"),
        ("mail 'x", "quote"),
        ("a%.service", "specifiers"),
    ] {
        let called = call(&[unit]);
        assert_eq!(called.code, 64, "{}", called.shown());
        assert!(called.stderr.contains(message), "{unit}: {}", called.shown());
    }
    expect_error(
        &call(&["ccm-site.service"]),
        1,
        "",
        &["`ccm-site.service`", "timer itself"],
        &["tells somebody"],
    );
}

#[test]
fn a_command_gets_the_notice_of_a_failure() {
    let scratch = Scratch::new();
    let notify = |variables: &[(&str, &str)], options: &[&str], command: &str| {
        let call = ccm(&scratch, &["timer", "notify"]).args(options).args(&["backup.service", "--"]);
        let call = call.args(&["sh", "-c", command]);
        variables.iter().fold(call, |call, (name, value)| call.variable(name, value)).run()
    };
    let save = format!("cat > {}", scratch.at("notice"));
    let failed = [("SERVICE_RESULT", "exit-code"), ("EXIT_CODE", "exited"), ("EXIT_STATUS", "3")];
    let called = notify(&failed, &[], &save);
    assert_eq!(called.code, 0, "{}", called.shown());
    let notice = scratch.read("notice").expect("a notice");
    assert!(
        notice.starts_with("backup.service failed on ") && notice.contains(": exit code 3\n"),
        "{notice}"
    );
    assert!(notice.ends_with("\n\nAll of it: journalctl -u backup.service\n"), "{notice}");
    let called = notify(&failed, &["--format", "json"], &save);
    assert_eq!(called.code, 0, "{}", called.shown());
    let text = scratch.read("notice").expect("a notice");
    let json: serde_json::Value = serde_json::from_str(&text).expect("an object");
    assert_eq!(json["text"], *notice);
    // By hand, it is a test.
    let called = notify(&[("HOME", "/nonexistent")], &["--user"], &save);
    assert_eq!(called.code, 0, "{}", called.shown());
    let notice = scratch.read("notice").expect("a notice");
    assert!(notice.contains(": a test of this notice\n") && notice.contains("journalctl --user"), "{notice}");
    // Nobody is told of a success.
    let called = notify(&[("SERVICE_RESULT", "success")], &[], &format!("touch {}", scratch.at("told")));
    assert_eq!((called.code, scratch.has("told")), (0, false), "{}", called.shown());
    let called = notify(&failed, &[], "echo no mail today >&2; exit 7");
    expect_error(&called, 1, "", &["`sh` did not take the notice: exit code 7: no mail today"], &[]);
    let called = ccm(&scratch, &["timer", "notify", "backup.service", "--", "no-such-program"]).run();
    expect_error(&called, 1, "", &["`no-such-program`"], &[]);
    assert_eq!(ccm(&scratch, &["timer", "notify", "backup.service"]).run().code, 64);
}

#[test]
fn the_documented_call_of_a_chat_takes_a_notice() {
    if !Path::new("/usr/bin/curl").exists() {
        return skipped("curl is not installed");
    }
    let scratch = Scratch::new();
    let (sender, bodies) = std::sync::mpsc::channel();
    let server = WebServer::start(move |request, stream| {
        let length =
            request.field("content-length").and_then(|length| length.parse().ok()).unwrap_or_default();
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        let is_json = request.field("content-type") == Some("application/json");
        drop(sender.send((request.line.clone(), is_json, body)));
        answer(stream, "200 OK", &[], b"ok")
    });
    for page in ["docs/use/timer.md", "docs/reference/types/timer.md"] {
        let text = std::fs::read_to_string(repository(page)).expect("the page");
        let lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with("url = "));
        let lines: Vec<&str> =
            lines.take_while(|line| !line.starts_with("```") && !line.starts_with("mode:")).collect();
        let settings = lines.join("\n").replace("https://chat.example.com", &server.url(""));
        let settings = settings.replace("{{ credential('chat') }}", "SECRET");
        scratch.write("chat", settings);
        let words = ["/usr/bin/curl", "--config", &scratch.at("chat")];
        let call =
            ccm(&scratch, &["timer", "notify", "--format", "json", "backup.service", "--"]).args(&words);
        let called = call.variable("SERVICE_RESULT", "timeout").run();
        assert_eq!(called.code, 0, "{page}: {}", called.shown());
        let (line, is_json, body) = bodies.recv().expect("a request");
        assert!(line.starts_with("POST /hooks/") && is_json, "{page}: {line}");
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert!(body["text"].as_str().is_some_and(|text| text.contains("it took too long")), "{body}");
    }
}
