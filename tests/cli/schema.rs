//! The JSON schemas, checked by an independent validator.

use std::collections::BTreeSet;

use ccm_runtime::{Config, Session};
use ccm_testkit::{Scratch, repository};
use serde_json::{Value, json};

use crate::json::apply_mixed;
use crate::{apply, apply_endless, ccm};

/// Returns what `ccm schema` prints.
fn schema(options: &[&str]) -> Value {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["schema"]).args(options).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let schema: Value = serde_json::from_str(&called.stdout).expect("JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("a schema of its draft");
    schema
}

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&schema(&[])).expect("a schema")
}

fn document(text: &str) -> Value {
    serde_yaml::from_str(text).expect("YAML")
}

#[test]
fn every_example_fits_the_schema() {
    let validator = validator();
    let mut seen = 0;
    for folder in ["examples", "manifests"] {
        let folder = repository(".").join(folder);
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(&path).expect("a manifest");
                let errors: Vec<String> = validator
                    .iter_errors(&document(&text))
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                assert!(errors.is_empty(), "{}: {errors:?}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 9, "only {seen} manifests");
}

/// Manifests, and `true` for those that are valid.
const VALID_OR_NOT: &[(&str, bool)] = &[
    ("ccm: {resources: [{exec: {name: a}}]}", true),
    (
        "data: {d: 5m, l: [0]}\nccm: {resources: [{exec: [{a: {timeout: '{{ Data.d }}', returns: '${ Data.l }'}}]}]}",
        true,
    ),
    (
        "ccm: {resources: [{exec: [{'{{ 1 }}': {cwd: '{{ \"/\" }}', environment: ['A={{ 1 }}'], creates: '{{ [\"/x\"] }}'}}]}]}",
        true,
    ),
    (
        "ccm: {resources: [{file: [{'/{{ 1 }}': {mode: '{{ \"0644\" }}', ensure: '{{ \"present\" }}'}}]}]}",
        true,
    ),
    ("ccm: {resources: [{exec: [{a: {control: {if: '1 == 2'}}}]}]}", true),
    ("ccm: {resources: [{exec: [{a: {control: {if: '{{ true }}'}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {control: {when: 'true'}}}]}]}", false),
    ("ccm: {resources: [{apply: [{gone.yaml: {nop: true}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {timeout: '{{ 5m'}}]}]}", false),
    ("hierarchy: {merge: deep}\nccm: {resources: [{exec: {name: a}}]}", false),
    ("ccm: {resources_template: sub/t.j2}", false),
    ("ccm: {resources: [{exec: [{a: null}, {b: {timeout: 5m, returns: [0, 1]}}]}]}", true),
    ("ccm: {resources: [{exec: [{defaults: {cwd: /}}, {a: {environment: {A: 1}}}]}]}", true),
    (
        "ccm: {resources: [{exec: [{a: {environment: [A=b], creates: [/x, /y], refreshonly: true, subscribe: [exec#b]}}, {b: {}}]}]}",
        true,
    ),
    ("ccm: {resources: [{exec: [{a: {command: null, logoutput: on_failure, stdin: 5}}]}]}", true),
    (
        "ccm: {name: x, fail_on_error: true, pre_message: a, post_message: b, resources: [{exec: {name: a}}]}",
        true,
    ),
    ("{}", false),
    ("ccm: {}", false),
    ("ccm: {resources: []}", true),
    ("ccm: {resources: [{exec: {command: a}}]}", false),
    ("ccm: {resources: [{exec: [{a: {}, b: {}}]}]}", false),
    ("ccm: {resources: [{exce: [{a: {}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {comand: x}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {returns: [256]}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {returns: 0}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {cwd: tmp}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {timeout: 5}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {timeout: 5 bananas}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {path: 'bin:/bin'}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {environment: [A]}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {provider: podman}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {ensure: absent}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {user: root, group: 0, umask: '027'}}]}]}", true),
    ("ccm: {resources: [{exec: [{a: {umask: '028'}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {umask: '1777'}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {}}}]}]}", true),
    (
        "ccm: {resources: [{exec: [{a: {sandbox: {mode: process, workdir: ./x, env: inherit, network: true, read: [/x], write: [x], unix_sockets: true, advisory: true, processes: 9, memory: 1.5GiB, file_size: 1048576, cpu: 1m}}}]}]}",
        true,
    ),
    ("ccm: {resources: [{exec: [{a: {sandbox: {memory: much}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {memory: 64mib, file_size: 64k}}}]}]}", true),
    ("ccm: {resources: [{exec: [{a: {sandbox: {file_size: 64Kiiib}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {file_size: '1.5'}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {processes: 0}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {mode: docker}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {workdir: privat}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {env: all}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {reed: [/x]}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {sandbox: {read: ['~/x']}}}]}]}", false),
    (
        "ccm: {executors: {b: {kind: native, default_env: {A: b}}}, resources: [{exec: [{a: {executor: b, tries: 3, try_sleep: 5s}}]}]}",
        true,
    ),
    (
        "ccm: {resources: [{exec: [{a: {expect: {stdout: ok, stdout_json: {x: [1]}}, capture: {x: stdout.json.x.0}}}]}]}",
        true,
    ),
    ("ccm: {executors: {b: {kind: docker}}, resources: [{exec: [{a: {}}]}]}", false),
    (
        "ccm: {executors: {b: {kind: docker, image: x, memory_limit: -1}}, resources: [{exec: [{a: {}}]}]}",
        false,
    ),
    (
        "ccm: {executors: {b: {kind: docker, image: x, network_mode: lan}}, resources: [{exec: [{a: {}}]}]}",
        false,
    ),
    (
        "ccm: {executors: {b: {kind: docker, image: x, volumes: ['a:/b']}}, resources: [{exec: [{a: {}}]}]}",
        false,
    ),
    (
        "ccm: {executors: {b: {kind: docker, image: x, host: /run/docker.sock}}, resources: [{exec: [{a: {}}]}]}",
        false,
    ),
    (
        "ccm: {executors: {b: {kind: docker, image: x, labels: {ccm.run: y}}}, resources: [{exec: [{a: {}}]}]}",
        false,
    ),
    ("ccm: {executors: {b: {kind: native, image: x}}, resources: [{exec: [{a: {}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {expect: {exit: 0}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {capture: {x: stdout}}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {tries: 0}}]}]}", false),
    ("ccm: {resources: [{exec: [{a: {require: [b]}}]}]}", false),
    ("data: {}\nccm: {resources: [{exec: {name: a}}]}", true),
    ("data: []\nccm: {resources: [{exec: {name: a}}]}", false),
];

#[test]
fn the_schema_and_the_loader_agree() {
    let validator = validator();
    for &(text, valid) in VALID_OR_NOT {
        assert_eq!(validator.is_valid(&document(text)), valid, "schema: {text}");
        let scratch = Scratch::new();
        scratch.write("manifest.yaml", text);
        let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
        assert_eq!(called.code == 0, valid, "loader: {text}: {}", called.shown());
    }
}

#[cfg(feature = "docker")]
#[test]
fn the_schema_knows_containers() {
    let text = "ccm: {executors: {b: {kind: exec.docker, image: 'r:5000/a/b:1', host: 'unix:///x', container: per_run, \
                pull: missing, platform: linux/arm64, labels: {team: web}, network_mode: none, \
                volumes: ['/a:/b', '/c:/d:ro'], tmpfs: {/tmp: 'rw,size=64m', /run: ''}, user: 1000, memory_limit: 0, \
                cpu_quota: 50000, pids_limit: 100, auto_remove: true, read_only_rootfs: true, \
                no_new_privileges: true, cap_drop: [ALL], cap_add: [CAP_CHOWN], default_work_dir: /w, \
                default_env: {A: b}, command_whitelist: [make]}}, \
                resources: [{exec: [{make: {executor: b, provider: docker}}]}]}";
    let validator = validator();
    let with = |setting: &str| {
        format!(
            "ccm: {{executors: {{b: {{kind: docker, image: x, {setting}}}}}, resources: [{{exec: [{{a: {{}}}}]}}]}}"
        )
    };
    let wrong = [
        "memory_limit: -1",
        "network_mode: lan",
        "volumes: ['a:/b']",
        "host: /run/docker.sock",
        "labels: {ccm.run: y}",
        "cap_drop: [all]",
        "imgae: x",
    ];
    let wrong = wrong.map(|setting| (with(setting), false));
    let right = [(text.to_owned(), true), (with("host: '{{ \"unix:///x\" }}'"), true)];
    for (text, valid) in right.into_iter().chain(wrong) {
        assert_eq!(validator.is_valid(&document(&text)), valid, "schema: {text}");
        let scratch = Scratch::new();
        scratch.write("manifest.yaml", &text);
        let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
        assert_eq!(called.code == 0, valid, "loader: {text}: {}", called.shown());
    }
}

/// A subscriber that fails until it is fixed, so that its refresh is pending.
const PENDING: &str = "
ccm:
  resources:
    - exec:
        - makes: {command: touch [dir]/made, creates: '[dir]/made'}
        - reads: {command: [command], refresh_only: true, subscribe: [exec#makes]}
";

/// Returns every kind of line that runs write.
fn lines_of_runs() -> Vec<Value> {
    let mut text = String::new();
    for options in [&["--output", "jsonl"][..], &["--output", "jsonl", "--noop"]] {
        text += &apply_mixed(&Scratch::new(), options).stdout;
    }
    let scratch = Scratch::new();
    let directory = scratch.path().to_string_lossy().into_owned();
    let mut run = |manifest: &str| {
        text += &apply(&scratch, &manifest.replace("[dir]", &directory), &["--output", "jsonl"]).stdout;
    };
    let pending = |command: &str| PENDING.replace("[command]", command);
    run(&pending("'false'"));
    run(&pending("'true'"));
    std::fs::remove_file(scratch.at("made")).expect("the file of the first run");
    run(&pending("'false'"));
    run(&PENDING.replace("reads", "other").replace("[command]", "'true'"));
    run(
        "ccm: {fail_on_error: true, resources: [{exec: [{a: {command: 'false'}}, {b: {}}, {c: {control: {if: 'false'}}}]}]}",
    );
    text += &apply_endless(&["--output", "jsonl"]).1.stdout;
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn every_line_of_a_run_fits_the_schema_of_events() {
    let validator = jsonschema::validator_for(&schema(&["--events"])).expect("a schema");
    let lines = lines_of_runs();
    for line in &lines {
        let errors: Vec<String> = validator.iter_errors(line).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
    }
    let seen = |what: &str, of: &dyn Fn(&Value) -> Option<&str>| {
        let seen: BTreeSet<&str> = lines.iter().filter_map(of).collect();
        assert!(!seen.is_empty(), "no {what}");
        seen
    };
    let outcomes = seen("outcome", &|line| line["outcome"].as_str());
    let expected = "changed failed refreshed skipped unchanged would_change would_refresh";
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>().join(" "), expected);
    seen("failure", &|line| line["failure"]["kind"].as_str().filter(|kind| *kind == "exit"));
    seen("pending refresh", &|line| line["owed"][0]["subscriber"].as_str());
    seen("cancelled refresh", &|line| line["settled"][0]["cause"].as_str());
    seen("earlier refresh", &|line| line["owed"][0]["source"].as_str().filter(|_| line["name"] == "reads"));
    let stopped = seen("early end", &|line| line["stopped"]["by"].as_str());
    assert_eq!(stopped.into_iter().collect::<Vec<_>>(), ["failed", "timeout"]);
    let skipped = seen("cause", &|line| line["skip"]["cause"].as_str());
    assert_eq!(skipped.into_iter().collect::<Vec<_>>(), ["dependency_failed", "not_managed", "stopped"]);
}

#[test]
fn a_document_fits_its_definition_in_the_schema_of_events() {
    let mut schema = schema(&["--events"]);
    let fields = schema.as_object_mut().expect("a map");
    fields.remove("anyOf");
    fields.insert("$ref".to_owned(), json!("#/$defs/EventDocument"));
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for options in [&["--output", "json"][..], &["--output", "json", "--verify-idempotent"]] {
        let scratch = Scratch::new();
        let called = apply(&scratch, "ccm: {resources: [{exec: [{'true': {}}]}]}", options);
        let mut document: Value = serde_json::from_str(&called.stdout).expect("a document");
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{document}: {errors:?}");
        assert_eq!(document["verification"].is_object(), options.len() == 3, "{document}");
        document["ebents"] = document["events"].take();
        assert!(!validator.is_valid(&document));
    }
}

#[test]
fn the_errors_of_a_refused_manifest_fit_their_definition() {
    let mut schema = schema(&["--events"]);
    let fields = schema.as_object_mut().expect("a map");
    fields.remove("anyOf");
    fields.insert("$ref".to_owned(), json!("#/$defs/ErrorDocument"));
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for (manifest, options) in [
        ("ccm: {resources: [{exec: [{a: {cmd: x}}]}]}", &["--output", "json"][..]),
        ("ccm: [", &["--output", "jsonl"]),
        ("ccm: {resources: [{exec: [{a: {require: [exec#b], cwd: 1}}]}]}", &["--noop", "--output", "json"]),
    ] {
        let called = apply(&Scratch::new(), manifest, options);
        assert_eq!(called.code, 1, "{}", called.shown());
        let mut document: Value = serde_json::from_str(&called.stdout).expect("a document");
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{document}: {errors:?}");
        document["eror"] = document["error"].take();
        assert!(!validator.is_valid(&document));
    }
}

#[test]
fn the_document_of_several_manifests_fits_its_definition() {
    let mut schema = schema(&["--events"]);
    let fields = schema.as_object_mut().expect("a map");
    fields.remove("anyOf");
    fields.insert("$ref".to_owned(), json!("#/$defs/RunsDocument"));
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let scratch = Scratch::new();
    for name in ["a.yaml", "b.yaml", "c.yaml"] {
        scratch.write(name, "ccm: {resources: [{exec: [{'false': {}}]}]}");
    }
    for options in [&[][..], &["--fail-on-error"]] {
        let called =
            ccm(&scratch, &["apply", "a.yaml", "b.yaml", "c.yaml", "--output", "json"]).args(options).run();
        let mut document: Value = serde_json::from_str(&called.stdout).expect("a document");
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{document}: {errors:?}");
        document["ran"] = document["runs"].take();
        assert!(!validator.is_valid(&document));
    }
}

#[test]
fn a_line_with_another_field_does_not_fit_the_schema_of_events() {
    let validator = jsonschema::validator_for(&schema(&["--events"])).expect("a schema");
    let mut tried = 0;
    for line in lines_of_runs() {
        for name in line.as_object().expect("a map").keys() {
            let mut misspelt = line.clone();
            let value = misspelt[name].take();
            misspelt.as_object_mut().expect("a map").shift_remove(name);
            misspelt[format!("{name}_")] = value;
            assert!(!validator.is_valid(&misspelt), "{name}_ in {line}");
            tried += 1;
        }
        for part in ["stopped", "failure", "location", "skip", "counts"] {
            if line[part].is_object() {
                let mut more = line.clone();
                more[part]["more"] = true.into();
                assert!(!validator.is_valid(&more), "{part} in {line}");
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "only {tried} fields");
}

/// Returns `true` for a word such as `PolicyGlob`; a unit of sizes and a name of the field are none.
fn is_name_of_a_type(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(|first| first.is_ascii_uppercase())
        && characters.next().is_some_and(|second| second.is_ascii_lowercase())
        && characters.any(|other| other.is_ascii_uppercase())
        && !["KiB", "MiB", "GiB", "TiB", "MariaDB"].contains(&word)
}

/// Adds the descriptions in a schema. Other names in it are those of its definitions.
fn add_descriptions(schema: &Value, texts: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            texts.extend(fields.get("description").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| add_descriptions(value, texts));
        }
        Value::Array(values) => values.iter().for_each(|value| add_descriptions(value, texts)),
        _ => {}
    }
}

#[test]
fn no_text_for_users_holds_the_name_of_a_type_of_the_program() {
    let scratch = Scratch::new();
    let printed = |args: &[&str]| {
        let called = ccm(&scratch, args).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called.stdout
    };
    let mut texts = vec![printed(&["explain"])];
    for found in Session::open(Config::default()).types() {
        texts.push(printed(&["explain", found.name()]));
    }
    let schemas = [schema(&[]), schema(&["--events"])];
    let of_policy = serde_json::from_str(&printed(&["policy", "schema"])).expect("JSON");
    schemas.iter().chain([&of_policy]).for_each(|schema| add_descriptions(schema, &mut texts));
    assert!(texts.len() > 500, "only {} texts", texts.len());
    assert!(is_name_of_a_type("PolicyGlob"));
    for text in texts {
        let mut words = text.split(|character: char| !character.is_ascii_alphanumeric());
        assert_eq!(words.find(|word| is_name_of_a_type(word)), None, "{text}");
    }
}
