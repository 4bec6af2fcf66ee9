//! The schema, judged by a validator that is not ours.

use ccm_testkit::{Scratch, repository};
use serde_json::Value;

use crate::ccm;

fn validator() -> jsonschema::Validator {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["schema"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let schema: Value = serde_json::from_str(&called.stdout).expect("JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("a schema of its draft");
    jsonschema::validator_for(&schema).expect("a schema")
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

#[test]
fn the_schema_and_the_loader_refuse_the_same() {
    let validator = validator();
    for (text, valid) in [
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
        ("ccm: {resources: []}", false),
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
        ("ccm: {resources: [{exec: [{a: {provider: docker}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {ensure: absent}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {user: root, group: 0, umask: '027'}}]}]}", true),
        ("ccm: {resources: [{exec: [{a: {umask: '028'}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {umask: '1777'}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {sandbox: {}}}]}]}", true),
        (
            "ccm: {resources: [{exec: [{a: {sandbox: {mode: process, workdir: ./x, env: inherit, network: true, read: [/x], write: [x], unix_sockets: true, advisory: true}}}]}]}",
            true,
        ),
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
        ("ccm: {executors: {b: {kind: native, image: x}}, resources: [{exec: [{a: {}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {expect: {exit: 0}}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {capture: {x: stdout}}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {tries: 0}}]}]}", false),
        ("ccm: {resources: [{exec: [{a: {require: [b]}}]}]}", false),
        ("data: {}\nccm: {resources: [{exec: {name: a}}]}", true),
        ("data: []\nccm: {resources: [{exec: {name: a}}]}", false),
    ] {
        assert_eq!(validator.is_valid(&document(text)), valid, "schema: {text}");
        let scratch = Scratch::new();
        scratch.write("manifest.yaml", text);
        let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
        assert_eq!(called.code == 0, valid, "loader: {text}: {}", called.shown());
    }
}
