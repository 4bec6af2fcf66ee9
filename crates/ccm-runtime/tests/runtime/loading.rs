//! Errors that only the machine shows: shell text that its shell can't parse, and files that are not there.

use std::time::Duration;

use ccm_host::CancellationLevel;
use ccm_model::{Severity, StopCause};
use ccm_runtime::{
    Canceller, Config, GivenFacts, GivenValues, InputBounds, ManifestSource, RunMode, Session,
    ValidationExtent,
};
use ccm_testkit::Scratch;

use crate::{config, manifest_of, read, run, session};

/// Returns the errors of a manifest, each with the text at its place.
fn errors(session: &Session, scratch: &Scratch, resources: &str) -> Vec<(String, String)> {
    let path = manifest_of(scratch, resources);
    let text = std::fs::read_to_string(&path).expect("the manifest");
    let Err(errors) = session.load(&read(session, &path)) else { return Vec::new() };
    let found = errors.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let at = |span: ccm_model::Span| text.get(span.range()).unwrap_or_default().to_owned();
    found.map(|found| (found.span().map(at).unwrap_or_default(), found.message.clone())).collect()
}

/// Loads a manifest within a time, and a limit of one that is over, which every evaluation would exceed.
#[test]
fn values_that_take_too_long_are_an_error_once() {
    let scratch = Scratch::new();
    scratch.write("t.j2", "{{ data.x }}");
    let resources = "
    - exec: ['echo {{ 1 + 1 }}', 'echo {{ 2 + 2 }}']
    - file: [{/nowhere/f: {source: t.j2}}]
";
    let load = |max_time, is_cancelled| {
        let canceller = Canceller::new();
        let bounds =
            InputBounds { max_bytes: 1 << 20, max_files: 10, max_time, canceller: canceller.clone() };
        let session = Session::open(Config { bounds: Some(bounds), ..config(&scratch) });
        let path = manifest_of(&scratch, resources);
        let text = "data: {x: 1}\n".to_owned() + &std::fs::read_to_string(&path).expect("the manifest");
        scratch.write("manifest.yaml", text);
        let input = read(&session, &path);
        if is_cancelled {
            canceller.raise(CancellationLevel::Stop, StopCause::Timeout { after: Duration::ZERO });
        }
        match session.load(&input) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.diagnostics.iter().map(|found| found.message.clone()).collect::<Vec<_>>(),
        }
    };
    assert_eq!(load(Duration::from_secs(600), false), [""; 0]);
    let over = "its expressions and templates take too long";
    assert_eq!(load(Duration::ZERO, false).iter().filter(|message| *message == over).count(), 1);
    assert!(load(Duration::from_secs(600), true).contains(&over.to_owned()));
}

#[test]
fn shell_text_that_does_not_parse_is_an_error_at_its_place() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let resources = "
    - exec:
        - x: {command: 'if then', provider: shell, unless: ['true', 'echo \"x']}
        - y:
            command: |
              set -e
              for x in a b; do
                echo $x
              fi
            provider: shell
            onlyif: a && b
        - 'esac': {provider: shell}
        - off: {command: 'fi', provider: shell, control: {if: 'false'}}
        - long: {command: 'echo {{ Captures.late.x }}; fi', provider: shell}
        - late: {command: 'true', capture: {x: stdout.raw}}
        - words: {command: 'echo if then'}
";
    let found = errors(&session, &scratch, resources);
    let places: Vec<&str> = found.iter().map(|(at, _)| &**at).collect();
    assert_eq!(places, ["then", "\"", "fi", "'esac'"], "{found:?}");
    assert!(found.iter().all(|(_, message)| message.starts_with("the shell can't read this text: ")));
}

#[test]
fn shell_text_of_health_checks_that_does_not_parse_is_an_error_at_its_place() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let resources = "
    - file:
        - /a:
            health_checks:
              - {command: 'if then', provider: shell}
              - {command: 'echo if then'}
              - nagios: |
                  for x in a b; do
                    echo $x
                  fi
                provider: shell
        - /off: {control: {if: 'false'}, health_checks: [{command: 'fi', provider: shell}]}
        - /late: {health_checks: [{command: 'echo {{ Captures.late.x }}; fi', provider: shell}]}
    - exec:
        - late: {command: 'true', capture: {x: stdout.raw}, health_checks: [{command: 'esac', provider: shell}]}
  checks:
    - {command: 'echo \"x', provider: shell}
    - {command: 'a && b', provider: shell}
";
    let found = errors(&session, &scratch, resources);
    let places: Vec<&str> = found.iter().map(|(at, _)| &**at).collect();
    assert_eq!(places, ["then", "fi", "esac", "\""], "{found:?}");
    assert!(found.iter().all(|(_, message)| message.starts_with("the shell can't read this text: ")));
}

#[test]
fn a_secret_in_shell_text_is_not_quoted_in_parts() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    scratch.write(
        "manifest.yaml",
        "data:\n  # @sensitive\n  password: 's3cr3t)word'\nccm:\n  resources:\n    - exec:\n        - x: \
         {command: 'echo {{ Data.password }}', provider: shell}\n",
    );
    let path = scratch.path().join("manifest.yaml");
    let shown = match session.load(&read(&session, &path)) {
        Ok(_) => String::new(),
        Err(errors) => errors.text(),
    };
    assert!(shown.contains("the shell can't read this text\n"), "{shown}");
    assert!(!shown.contains("s3cr3t"), "{shown}");
}

#[test]
fn nothing_of_the_text_is_run() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let (made, text) =
        (scratch.at("made"), "echo $(touch MADE) `touch MADE`; touch MADE; cat <<END\n$(touch MADE)\nEND\n");
    let text = text.replace("MADE", &made).replace('\n', "\n              ");
    let resources = format!(
        "    - exec:\n        - x:\n            command: |\n              {text}\n            provider: shell\n"
    );
    assert_eq!(errors(&session, &scratch, &resources), []);
    assert_eq!(scratch.read("made"), None);
}

#[test]
fn the_shell_of_another_machine_is_not_known() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    scratch.write("facts.yaml", "role: web\n");
    let path = manifest_of(
        &scratch,
        "    - exec: [{x: {command: 'fi', provider: shell}}]\n    - file: [{/a: {source: /nosuch/b}}]\n",
    );
    let facts = GivenFacts { files: vec![scratch.path().join("facts.yaml")], ..GivenFacts::default() };
    let values = GivenValues { facts, ..GivenValues::default() };
    let input = session.read(ManifestSource::File(path), &values, 1 << 20).expect("a manifest");
    assert!(session.validate(&input, ValidationExtent::Everything).is_ok());
}

#[test]
fn a_missing_source_is_an_error_unless_an_earlier_resource_may_make_it() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    scratch.write("there.conf", "x");
    let source = |name: &str| format!("{{source: {name}}}");
    for (before, value, after, is_error) in [
        ("", "missing.conf", "", true),
        ("", "/nosuch/missing.conf", "", true),
        ("", "there.conf", "", false),
        ("    - exec: [{'true': }]\n", "missing.conf", "", false),
        ("    - exec: [{'true': {control: {if: 'false'}}}]\n", "missing.conf", "", true),
        ("", "missing.conf", "    - exec: [{'true': }]\n", true),
        ("    - file: [{DIR/missing.conf: {content: x}}]\n", "missing.conf", "", false),
        ("    - file: [{DIR/below: {ensure: directory}}]\n", "below/missing.conf", "", false),
        ("    - file: [{DIR/other.conf: {content: x}}]\n", "missing.conf", "", true),
    ] {
        let before = before.replace("DIR", &scratch.at(""));
        let before = before.replace("//", "/");
        let resources =
            format!("{before}    - file: [{{{}: {}}}]\n{after}", scratch.at("made"), source(value));
        let found = errors(&session, &scratch, &resources);
        assert_eq!(found.len(), usize::from(is_error), "{resources}: {found:?}");
        if let Some((at, message)) = found.first() {
            assert_eq!(at, value);
            assert!(message.ends_with("missing.conf` does not exist"), "{message}");
        }
    }
    let path =
        manifest_of(&scratch, &format!("    - file: [{{{}: {{source: there.conf}}}}]\n", scratch.at("made")));
    run(&session, &path, RunMode::Apply);
    assert_eq!(scratch.read("made").as_deref(), Some("x"));
}
