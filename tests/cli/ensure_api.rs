//! `ccm ensure api pipe`: an answer for each request, and nothing else on standard output.

use std::io::{BufRead as _, BufReader, Write as _};

use ccm_testkit::{Called, Scratch};
use serde_json::{Value, json};

use crate::ccm;
use crate::ensure::ensure;
use crate::expect::expect_error;

const REQUEST: &str = "io.choria.ccm.v1.resource.ensure.request";
const RESPONSE: &str = "io.choria.ccm.v1.resource.ensure.response";

fn request(type_name: &str, properties: &Value) -> String {
    json!({"protocol": REQUEST, "type": type_name, "properties": properties}).to_string()
}

fn pipe(scratch: &Scratch, input: impl Into<Vec<u8>>, options: &[&str]) -> Called {
    ensure(scratch, &["api", "pipe"]).args(options).input(input).run()
}

/// Returns the answers, each a line of JSON.
fn answers(called: &Called) -> Vec<Value> {
    let answer = |line: &str| {
        let answer: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(answer["protocol"], RESPONSE);
        assert_ne!(answer.get("state").is_some(), answer.get("error").is_some(), "{answer}");
        answer
    };
    called.stdout.lines().map(answer).collect()
}

/// Returns the outcome of each answer, or the beginning of its error.
fn outcomes(called: &Called) -> Vec<String> {
    let outcome = |answer: Value| match answer["error"].as_str() {
        Some(error) => error.chars().take(30).collect(),
        None => answer["state"]["outcome"].as_str().unwrap_or_default().to_owned(),
    };
    answers(called).into_iter().map(outcome).collect()
}

#[test]
fn each_request_has_an_answer() {
    let scratch = Scratch::new();
    let path = scratch.at("made");
    let file = request("file", &json!({"name": path, "content": "x", "mode": "0600"}));
    let called = pipe(&scratch, format!("{file}\n{file}"), &[]);
    assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
    assert_eq!(outcomes(&called), ["changed", "unchanged"]);
    let state = &answers(&called)[0]["state"];
    assert_eq!((&state["type"], &state["final_ensure"]), (&json!("file"), &json!("present")), "{state}");
    let failing = request("exec", &json!({"name": "false"}));
    let called = pipe(&scratch, failing, &[]);
    let state = &answers(&called)[0]["state"];
    assert_eq!((called.code, &state["failed"]), (0, &json!(true)), "{}", called.shown());
    assert!(!state["error"].as_array().expect("errors").is_empty(), "{state}");
}

#[test]
fn yaml_is_read_and_answered() {
    let scratch = Scratch::new();
    let path = scratch.at("made");
    let one = format!("protocol: {REQUEST}\ntype: file\nproperties:\n  name: {path}\n  content: |\n    a\n");
    let called = pipe(&scratch, format!("---\n{one}---\n{one}...\n"), &[]);
    assert_eq!(outcomes(&called), ["changed", "unchanged"], "{}", called.shown());
    assert_eq!(scratch.read("made").as_deref(), Some("a\n"));
    let called = pipe(&scratch, one, &["--yaml"]);
    let answer: Value = serde_yaml::from_str(&called.stdout.replace("[dir]", "/dir")).expect("YAML");
    assert_eq!(answer["state"]["outcome"], "unchanged", "{}", called.shown());
}

#[test]
fn noop_changes_nothing() {
    let scratch = Scratch::new();
    let file = request("file", &json!({"name": scratch.at("made")}));
    let called = pipe(&scratch, &*file, &["--noop"]);
    assert_eq!((outcomes(&called), scratch.has("made")), (vec!["would_change".to_owned()], false));
    let before = ensure(&scratch, &["--noop", "api", "pipe"]).input(file).run();
    assert_eq!((outcomes(&before), scratch.has("made")), (vec!["would_change".to_owned()], false));
}

#[test]
fn rubbish_has_answers_too() {
    let scratch = Scratch::new();
    let good = request("exec", &json!({"name": "true"}));
    let unknown_key = json!({"protocol": REQUEST, "type": "exec", "properties": {"name": "true"}, "x": 1});
    for (input, expected) in [
        (Vec::new(), &["there is no request"][..]),
        (b" \n\n".to_vec(), &["there is no request"]),
        (b"rubbish\n".to_vec(), &["expected a map with a request,"]),
        (b"[]".to_vec(), &["expected a map with a request,"]),
        (b"\xff\xfe\0\n".to_vec(), &["the request is not UTF-8 text"]),
        (b"{\"a\": ".to_vec(), &["unclosed bracket"]),
        (good.as_bytes()[..good.len() - 2].to_vec(), &["unclosed bracket"]),
        (b"{}".to_vec(), &["invalid protocol \"\", expected"]),
        (format!("}}\n{good}").into_bytes(), &["", "changed"]),
        (
            format!("rubbish\n{good}\nmore").into_bytes(),
            &["expected a map with a request,", "changed", "expected a map with a request,"],
        ),
        (unknown_key.to_string().into_bytes(), &["unknown key `x`"]),
        (json!({"protocol": REQUEST}).to_string().into_bytes(), &["missing type in the request"]),
        (
            json!({"protocol": REQUEST, "type": "exec"}).to_string().into_bytes(),
            &["missing properties in the reques"],
        ),
        (request("exec", &json!({})).into_bytes(), &["missing the property `name` in"]),
        (request("exec", &json!([])).into_bytes(), &["missing properties in the reques"]),
        (request("exc", &json!({"name": "true"})).into_bytes(), &["unknown resource type `exc`"]),
        (request("exec", &json!({"name": "true", "tries": "x"})).into_bytes(), &["`tries`: expected"]),
        (
            request("exec", &json!({"name": "true", "require": ["exec#a"]})).into_bytes(),
            &["unknown resource `exec#a`"],
        ),
        (format!("{}{}", "{\"a\":".repeat(100), "}".repeat(100)).into_bytes(), &[""]),
    ] {
        let shown = String::from_utf8_lossy(&input).chars().take(60).collect::<String>();
        let called = pipe(&scratch, input, &[]);
        assert_eq!(called.code, 0, "{shown}: {}", called.shown());
        let found = outcomes(&called);
        assert_eq!(found.len(), expected.len(), "{shown}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            let expected: String = expected.chars().take(30).collect();
            assert!(found.starts_with(&expected), "{shown}: {found}");
        }
    }
}

#[test]
fn endless_input_has_an_answer_and_what_follows_too() {
    let scratch = Scratch::new();
    let good = request("exec", &json!({"name": "true"}));
    let endless = "y\n".repeat(4 << 20);
    let called = pipe(&scratch, format!("{endless}{good}"), &[]);
    assert_eq!(outcomes(&called), ["the request is longer than 419", "changed"]);
    let mut running = ensure(&scratch, &["api", "pipe"]).open_input().start();
    let mut input = running.take_stdin().expect("standard input");
    let mut output = BufReader::new(running.take_stdout().expect("standard output"));
    // The answer comes before the end of the document.
    input.write_all(format!("{{\"{endless}").as_bytes()).expect("written");
    let mut line = String::new();
    output.read_line(&mut line).expect("an answer");
    assert!(line.contains("longer than"), "{line}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).expect("its memory");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(peak < 128 << 10, "{peak} kB");
    running.signal("TERM");
    assert_eq!(running.finish().code, 143);
}

#[test]
fn a_client_that_waits_for_each_answer_gets_it() {
    let scratch = Scratch::new();
    let mut running = ensure(&scratch, &["api", "pipe"]).open_input().start();
    let mut input = running.take_stdin().expect("standard input");
    let mut output = BufReader::new(running.take_stdout().expect("standard output"));
    for number in 0..3 {
        let file = request("file", &json!({"name": scratch.at(&format!("made-{number}"))}));
        input.write_all(file.as_bytes()).expect("written");
        let mut line = String::new();
        output.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["state"]["outcome"], "changed", "{line}");
        // Between requests, the lock is free for others.
        let other = ensure(&scratch, &["--lock-wait", "30s", "exec", "true"]).run();
        assert_eq!(other.code, 0, "{}", other.shown());
    }
    drop(input);
    assert_eq!(running.finish().code, 0);
}

#[test]
fn a_thousand_requests_are_one_run() {
    let scratch = Scratch::new();
    let file = |number: usize| request("file", &json!({"name": scratch.at(&format!("made-{number}"))}));
    let input: String = (0..1000).map(file).collect();
    let called = pipe(&scratch, input, &[]);
    let found = outcomes(&called);
    assert!(found.len() == 1000 && found.iter().all(|outcome| outcome == "changed"), "{}", called.shown());
    let history = ccm(&scratch, &["history"]).run().stdout;
    assert!(history.matches("ensure api pipe").count() <= 5, "{history}");
}

#[test]
fn options_without_an_effect_are_refused() {
    let scratch = Scratch::new();
    for options in [&["--output", "log"][..], &["-q"], &["--timeout", "5m"]] {
        let called = ensure(&scratch, options).args(&["api", "pipe"]).input("{}").run();
        expect_error(&called, 64, "", &["has no effect on `ccm ensure api pipe`"], &["--yaml"]);
    }
}

#[test]
fn requests_of_a_session_share_outcomes() {
    let scratch = Scratch::new();
    let made = ccm(&scratch, &["session", "new", "--directory", "session"]).run();
    assert_eq!(made.code, 0, "{}", made.shown());
    let conf = scratch.at("conf");
    let file = request("file", &json!({"name": conf, "content": "1"}));
    let refresh = json!({"name": "true", "refresh_only": true, "subscribe": [format!("file#{conf}")]});
    let refresh = request("exec", &refresh);
    let input = format!("{file}{refresh}{refresh}");
    let called = ensure(&scratch, &["--session", "session", "api", "pipe"]).input(input).run();
    assert_eq!(outcomes(&called), ["changed", "refreshed", "unchanged"], "{}", called.shown());
    let later =
        ensure(&scratch, &["--session", "session", "exec", "true", "--require", &format!("file#{conf}")])
            .run();
    assert_eq!(later.code, 0, "{}", later.shown());
}

#[test]
fn secrets_are_in_no_answer() {
    let scratch = Scratch::new();
    let secret = "hunter2hunter2";
    let exec = json!({"name": format!("echo {secret}"), "sensitive": true, "alias": "x", "environment": {"A": secret}});
    let file = json!({"name": scratch.at("made"), "content": secret, "sensitive": true});
    let wrong = json!({"name": scratch.at("made"), "content": secret, "sensitive": true, "mode": 99999});
    let input = [request("exec", &exec), request("file", &file), request("file", &wrong)].concat();
    let called = pipe(&scratch, input, &["--yaml"]);
    let content = called.stdout.replace(&format!("name: echo {secret}"), "");
    assert!(!content.contains(secret) && called.stdout.contains("[redacted]"), "{}", called.shown());
}

#[test]
fn requests_and_answers_fit_the_schema() {
    let scratch = Scratch::new();
    let printed = ccm(&scratch, &["schema", "--api"]).run();
    let schema: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("a schema of its draft");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let parse = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
    let file = request("file", &json!({"name": scratch.at("made"), "content": "x", "mode": "0644"}));
    let failing = request("exec", &json!({"name": "false", "tries": 2}));
    let unknown = request("exec", &json!({"name": "true", "trys": 2}));
    for (text, is_valid) in [
        (&*file, true),
        (&failing, true),
        (&request("service", &json!({"name": "nginx", "ensure": "running", "subscribe": ["file#/x"]})), true),
        (&unknown, false),
        (&request("file", &json!({"content": "x"})), false),
        (&request("fil", &json!({"name": "x"})), false),
        (&json!({"protocol": REQUEST, "type": "file"}).to_string(), false),
        (&json!({"protocol": "x", "type": "file", "properties": {"name": "/x"}}).to_string(), false),
        (&json!({"protocol": RESPONSE}).to_string(), false),
        (&json!({"protocol": RESPONSE, "error": "x"}).to_string(), true),
        ("{}", false),
    ] {
        let errors: Vec<String> =
            validator.iter_errors(&parse(text)).map(|error| error.to_string()).collect();
        assert_eq!(errors.is_empty(), is_valid, "{text}: {errors:?}");
    }
    let input = [&*file, &file, &failing, &unknown, "rubbish"].join("\n");
    for options in [&[][..], &["--noop"]] {
        let answers = answers(&pipe(&scratch, &*input, options));
        assert_eq!(answers.len(), 5);
        for answer in answers {
            let errors: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{answer}: {errors:?}");
        }
    }
}
