//! Resources without a manifest: the same as in a manifest, whatever their type.

#[path = "../../../ccm-resources/tests/resources/properties/samples.rs"]
#[expect(dead_code, reason = "only the valid values are used")]
mod samples;

use std::path::Path;

use ccm_runtime::ensure::{DeclaredWords, EnsureRequests, ensure_type, ensure_types};
use ccm_runtime::{GivenValues, RunMode, RunOptions, Session};
use ccm_testkit::Scratch;
use samples::{COMMON, SAMPLES, Sample, TypeSamples};
use serde_json::Value;

use crate::policy::governed;
use crate::{block_on, manifest_of, read, session};

const REQUEST: &str = "io.choria.ccm.v1.resource.ensure.request";

/// Options for the value of a property; `None` if a command line can't have it.
fn options(property: &str, value: &Value) -> Option<Vec<String>> {
    let option = |text: String| format!("--{}={text}", property.replace('_', "-"));
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    match value {
        Value::Array(elements) if elements.is_empty() => None,
        Value::Array(elements) => {
            let of_one = elements.iter().map(|element| options(property, element));
            of_one.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| match value {
                Value::Array(elements) => {
                    elements.iter().map(|element| Some(option(format!("{key}={}", text(element)?)))).collect()
                }
                value => Some(vec![option(format!("{key}={}", text(value)?))]),
            });
            entries.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        value => Some(vec![option(text(value)?)]),
    }
}

/// Returns the properties of a sample, each with its value. Relative paths lead into the scratch directory.
fn properties(scratch: &Scratch, of_type: &TypeSamples, sample: &Sample) -> Vec<(String, Value)> {
    let parse = |text: &str| -> Value { serde_yaml::from_str(text).expect("YAML") };
    let mut found: Vec<(String, Value)> = Vec::new();
    for line in of_type.required.iter().chain(sample.beside) {
        let map = parse(line);
        for (key, value) in map.as_object().expect("properties").clone() {
            found.retain(|(other, _)| *other != key);
            found.push((key, value));
        }
    }
    found.retain(|(key, value)| key != sample.property && !value.is_null());
    found.push((sample.property.to_owned(), parse(sample.right)));
    for (_, value) in found.iter_mut().filter(|(key, _)| key == "source") {
        if let Some(path) = value.as_str().filter(|path| scratch.has(path)) {
            *value = scratch.at(path).into();
        }
    }
    found
}

/// Manifest with a sample, beside the resource that it subscribes to.
fn manifest(of_type: &TypeSamples, properties: &[(String, Value)]) -> String {
    let map: Value = properties.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    format!("    - {}: [{}]\n", of_type.type_name, serde_json::json!({ of_type.name: map }))
}

/// Returns the resources of a rendered manifest. A list with one element is that element.
fn rendered(session: &Session, input: &ccm_runtime::Input) -> Result<Value, String> {
    fn without_single_lists(value: Value) -> Value {
        match value {
            Value::Array(mut elements) if elements.len() == 1 => without_single_lists(elements.remove(0)),
            Value::Array(elements) => elements.into_iter().map(without_single_lists).collect(),
            Value::Object(map) => {
                map.into_iter().map(|(key, value)| (key, without_single_lists(value))).collect()
            }
            Value::Number(number) => number.to_string().into(),
            value => value,
        }
    }
    let manifest = session.load(input).map_err(|errors| errors.text())?;
    // A directory of templates is rendered by a run alone.
    if input.text().contains("scaffold") {
        let properties = &manifest.catalog().resources[0].properties;
        return Ok(properties.given().map(|entry| entry.key.text.to_string()).collect::<Vec<_>>().into());
    }
    let text = manifest.render().map_err(|errors| errors.text())?;
    let manifest: Value = serde_yaml::from_str(&text).map_err(|error| error.to_string())?;
    Ok(without_single_lists(manifest["ccm"]["resources"].clone()))
}

#[test]
fn every_property_of_every_type_can_be_declared_on_a_command_line() {
    let scratch = Scratch::new();
    scratch.write("child.yaml", "data: {a: 0}\nccm: {resources: [{exec: {name: inner}}]}\n");
    for name in ["plain.txt", "page.j2", "templates/a", "text/a"] {
        scratch.write(name, "a\n");
    }
    let session = session(&scratch);
    let mut differences = Vec::new();
    let mut compared = 0;
    for of_type in SAMPLES.iter().filter(|of_type| of_type.type_name != "apply") {
        let is_known = ensure_types().iter().any(|found| found.name == of_type.type_name);
        assert!(is_known, "{}", of_type.type_name);
        for sample in of_type.properties.iter().chain(COMMON) {
            let properties = properties(&scratch, of_type, sample);
            // What refers to other resources, what hides a value, and what a command line writes as a list.
            let is_excepted = |(key, value): &(String, Value)| {
                ["require", "subscribe", "health_checks", "executor"].contains(&&**key)
                    || (key == "sensitive" && !["exec", "file"].contains(&of_type.type_name))
                    || (of_type.type_name == "exec" && key == "environment" && value.is_object())
            };
            let words: Option<Vec<Vec<String>>> = properties
                .iter()
                // A secret is refused, and two options of `exec` have the names of others.
                .filter(|(key, _)| !["password_hash", "password", "headers"].contains(&&**key))
                .map(|(key, value)| {
                    let key = match (of_type.type_name, &**key) {
                        ("exec", "unless") => "exec_unless",
                        _ => key,
                    };
                    options(key, value)
                })
                .collect();
            let Some(words) = words.filter(|_| !properties.iter().any(is_excepted)) else { continue };
            if words.len() < properties.len() {
                continue;
            }
            let name = std::iter::once(of_type.name.to_owned());
            let words = DeclaredWords {
                type_name: of_type.type_name.to_owned(),
                words: name.chain(words.concat()).collect(),
                run_options: Vec::new,
            };
            let declared = session.declare_words(&words).map_err(|errors| errors.text());
            let declared = declared.and_then(|declared| {
                let input = session.read_declared(declared, &GivenValues::default());
                rendered(&session, &input.map_err(|error| error.to_string())?)
            });
            let written = manifest_of(&scratch, &manifest(of_type, &properties));
            let expected = rendered(&session, &read(&session, &written));
            compared += 1;
            if declared != expected || expected.is_err() {
                differences.push(format!("{:?}: {declared:?} and not {expected:?}", words.words));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 150, "{compared}");
}

#[test]
fn every_property_of_every_type_is_an_option_of_the_help() {
    for of_type in SAMPLES {
        let options = ensure_type(of_type.type_name).expect("its type").options;
        for sample in
            of_type.properties.iter().filter(|sample| !["ensure", "refreshonly"].contains(&sample.property))
        {
            let name = match sample.property {
                "onlyif" => "exec-if".to_owned(),
                "unless" => "exec-unless".to_owned(),
                property => property.replace('_', "-"),
            };
            let is_alias = ccm_resources::types().iter().any(|found| {
                found.name() == of_type.type_name
                    && found.properties().iter().any(|known| known.aliases.contains(&sample.property))
            });
            let is_listed = options.iter().any(|option| option.name == name && !option.meaning.is_empty());
            assert!(is_listed || is_alias, "{} --{name}", of_type.type_name);
        }
    }
}

/// Answers a request, and returns the answer.
fn answer(session: &Session, request: &Value, mode: RunMode) -> Value {
    let mut requests =
        EnsureRequests::new(session, GivenValues::default(), mode, RunOptions::default(), None);
    let answer = block_on(requests.answer(&request.to_string()));
    drop(requests.pause());
    serde_json::from_str(&answer).expect("JSON")
}

fn file(path: &Path) -> Value {
    serde_json::json!({"protocol": REQUEST, "type": "file", "properties": {"name": path, "content": "x"}})
}

#[test]
fn the_policy_holds_for_requests_and_for_command_lines() {
    let scratch = Scratch::new();
    let rules = "rules: [{match: {program: touch}, deny: true}]\n";
    let session = governed(&scratch, rules);
    let touch = format!("touch {}", scratch.at("made"));
    let request = serde_json::json!({"protocol": REQUEST, "type": "exec", "properties": {"name": touch}});
    let refused = answer(&session, &request, RunMode::Apply);
    let error = refused["error"].as_str().unwrap_or_default();
    assert!(error.contains("the policy denies this command"), "{refused}");
    let words = DeclaredWords { type_name: "exec".to_owned(), words: vec![touch], run_options: Vec::new };
    let declared = session.declare_words(&words).expect("a resource");
    let input = session.read_declared(declared, &GivenValues::default()).expect("an input");
    let errors = session.load(&input).expect_err("a denied command").text();
    assert!(
        errors.contains("the policy denies this command") && errors.contains("the command line:1:"),
        "{errors}"
    );
    assert!(!scratch.has("made"));
}

#[test]
fn requests_without_a_pause_are_one_run_and_noop_changes_nothing() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let path = scratch.path().join("made");
    let planned = answer(&session, &file(&path), RunMode::Plan);
    assert_eq!((&planned["state"]["noop"], scratch.has("made")), (&Value::Bool(true), false), "{planned}");
    let mut requests =
        EnsureRequests::new(&session, GivenValues::default(), RunMode::Apply, RunOptions::default(), None);
    for (expected, request) in [("changed", file(&path)), ("unchanged", file(&path)), ("", Value::Null)] {
        let answer: Value =
            serde_json::from_str(&block_on(requests.answer(&request.to_string()))).expect("JSON");
        assert_eq!(answer["state"]["outcome"].as_str().unwrap_or_default(), expected, "{answer}");
    }
    let ended = requests.pause().expect("the end of a record");
    assert!(ended.is_recorded && ended.error.is_none());
    let history = session.history().expect("the history");
    let [run] = history.runs() else { panic!("one run") };
    let counts = run.summary.as_ref().expect("its summary").counts;
    assert_eq!((counts.total, counts.changed, counts.unchanged), (2, 1, 1));
    assert_eq!(run.manifest(), "ensure api pipe");
}
