//! A resource type is its folder and a line: everything else knows it by its table of properties.

mod memo;

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use ccm_engine::ResourceType;
use ccm_expr::{Timestamp, Value};
use ccm_host::{Host, LocalExecutor};
use ccm_manifest::{FactPath, LoadResult, Request, Sources, load, render, schema};
use ccm_model::{Diagnostic, Event, Outcome, SourceMap};
use ccm_properties::TypeSpec;
use ccm_report::{Ids, LineEncoder};
use ccm_testkit::{FakeClock, FakeFiles, FakeRunner};

use memo::WALL;

fn types() -> Vec<&'static dyn ResourceType> {
    let mut types = ccm_resources::types();
    types.push(&memo::MemoType);
    types
}

fn specs() -> Vec<&'static dyn TypeSpec> {
    types().into_iter().map(|found| found as _).collect()
}

/// No files, facts or variables.
struct Nothing;

impl Sources for Nothing {
    fn read(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        Ok(Value::map::<&str>([]))
    }

    fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        Ok(Vec::new())
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

fn loaded(memo: &str) -> LoadResult<'static> {
    let request = Request {
        name: "m.yaml".to_owned(),
        text: format!("ccm: {{resources: [{{memo: [{{milk: {memo}}}]}}]}}").into(),
        directory: "/m".into(),
        hiera: Vec::new(),
        assignments: Vec::new(),
        allows_new_keys: false,
        resources: None,
        root: None,
        earlier: None,
    };
    load(request, &specs(), &Nothing)
}

fn errors(memo: &str) -> Vec<String> {
    let line = |found: &Diagnostic| {
        let code = found.hints.iter().flat_map(|hint| hint.split('`').skip(1).step_by(2));
        let parts = [found.kind.as_str()].into_iter().chain(found.property.as_deref()).chain(code);
        parts.collect::<Vec<_>>().join(" ")
    };
    loaded(memo).diagnostics.iter().map(line).collect()
}

/// Applies a memo: what became of it, and its properties in JSON.
fn applied(memo: &str) -> (Outcome, serde_json::Value) {
    let resources = loaded(memo).catalog.expect("a catalog").resources;
    let (runner, files, clock) = (FakeRunner::default(), FakeFiles::default(), FakeClock::default());
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let host = Host { executor: &executor, system: &runner, files: &files, clock: &clock };
    let transaction =
        crate::run::run_types_simply(&types(), resources, host, false).pop().expect("a transaction");
    let outcome = transaction.outcome.clone();
    let mut encoder = LineEncoder::new(Ids::new(1), UNIX_EPOCH, "/m.yaml".to_owned(), "0.1.0");
    let event = Event::ResourceFinished(Box::new(transaction));
    let line = encoder.encode(&event).expect("a line");
    let line: serde_json::Value = serde_json::from_str(line.text).expect("JSON");
    (outcome, line["properties"].clone())
}

#[test]
fn it_is_checked() {
    assert_eq!(errors("{text: buy milk, colour: yellow, copies: 2}"), [""; 0]);
    assert_eq!(
        errors("{txt: x, colour: yelow, copies: few, sensitive: yes}"),
        [
            "unknown-property txt text",
            "invalid-value colour yellow",
            "wrong-type copies",
            "wrong-type sensitive true yes",
        ]
    );
    assert_eq!(errors("{copies: 0, colour: red}").len(), 2);
    assert_eq!(errors("{color: white, colour: yellow}"), ["duplicate-key"]);
}

#[test]
fn it_is_documented() {
    let schema = schema(&specs());
    let memo = &schema["$defs"]["memo"]["properties"];
    assert_eq!(memo["colour"]["anyOf"][0]["enum"], serde_json::json!(["white", "yellow", null]));
    assert_eq!(memo["colour"]["description"], "Colour of the paper. Default: `white`.");
    assert_eq!(memo["color"]["description"], "Alias of `colour`.");
}

#[test]
fn it_is_rendered() {
    let loaded = loaded("{sensitive: true, text: buy milk, label: 0644, copies: 007}");
    let text = render(loaded.catalog.as_ref().expect("a catalog"), &loaded).expect("it can be written");
    let expected = "            sensitive: true\n            text: \"[redacted]\"\n            label: \"0644\"\n            copies: 7\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn it_is_applied_and_shown_as_its_table_says() {
    let (outcome, shown) = applied("{text: buy milk, color: yellow, copies: 2}");
    assert_eq!(outcome, Outcome::Changed);
    assert_eq!(WALL.take(), ["milk : 2 yellow buy milk"]);
    assert_eq!(shown["text"]["size"], 8);
    assert!(shown["text"]["sha256"].is_string());
    assert_eq!(shown["colour"], "yellow");
    let (_, hidden) = applied("{text: buy milk, sensitive: true}");
    assert_eq!(hidden["text"], "[redacted]");
}
