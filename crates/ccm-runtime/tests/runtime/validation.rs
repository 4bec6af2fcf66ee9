//! Validation without a run, for this machine and for others.

use ccm_model::{DiagnosticKind, Severity};
use ccm_runtime::{
    Findings, GivenFacts, GivenValues, ManifestSource, Session, Validation, ValidationError,
    ValidationExtent, shared_findings,
};
use ccm_testkit::Scratch;

use crate::{manifest_of, read, session};

const RESOURCES: &str =
    "    - exec: [{'serve {{ Facts.role }}': {timeout: '{{ Facts.wait ?? \"30s\" }}', creates: /a}}]\n";

fn facts(assignments: &[&str]) -> GivenFacts {
    GivenFacts { assignments: assignments.iter().map(|pair| (*pair).to_owned()).collect(), files: Vec::new() }
}

#[test]
fn a_manifest_is_valid_for_the_machines_that_have_what_it_names() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let input = read(&session, &manifest_of(&scratch, RESOURCES));
    let machines = [
        facts(&["role=web"]),
        facts(&["role=db", "wait=soon"]),
        facts(&["rule=db"]),
        facts(&["role=db", "wait=soon"]),
    ];
    let validations = session.validate_for(&input, &machines, ValidationExtent::Everything);
    assert_eq!(validations[0].as_ref().map(|valid| valid.resources).ok(), Some(1));
    let shared: Vec<_> = shared_findings(&validations)
        .into_iter()
        .map(|found| (found.machines, found.diagnostic.message.clone()))
        .collect();
    assert_eq!(shared.len(), 3, "{shared:?}");
    assert!(matches!(&shared[0], (machines, message) if *machines == [1, 3] && message.contains("soon")));
    assert!(matches!(&shared[1], (machines, message) if *machines == [2] && message.contains("role")));
    assert!(matches!(&shared[2], (machines, message) if *machines == [2] && message.contains("--fact rule")));
}

#[test]
fn facts_in_files_stand_for_another_machine() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let path = manifest_of(&scratch, "    - file: [{'/srv/{{ Facts.host.info.os }}': {ensure: absent}}]\n");
    scratch.write("other.yaml", "role: web\n");
    let validate = |session: &Session, files: Vec<std::path::PathBuf>| {
        let values =
            GivenValues { facts: GivenFacts { files, ..GivenFacts::default() }, ..GivenValues::default() };
        let input = session.read(ManifestSource::File(path.clone()), &values, 1 << 20).expect("a manifest");
        session
            .validate(&input, ValidationExtent::Everything)
            .map(|valid| valid.resources)
            .map_err(|error| error.to_string())
    };
    assert_eq!(validate(&session, Vec::new()), Ok(1));
    let other = scratch.path().join("other.yaml");
    assert_eq!(validate(&session, vec![other]), Err("1 error".to_owned()));
}

#[test]
fn a_manifest_is_not_valid_without_the_name_that_a_run_needs() {
    /// Doors through which standard input holds this manifest.
    struct Input;
    impl ccm_runtime::Doors for Input {
        fn input(&self, _: Option<&std::path::Path>, _: u64) -> std::io::Result<Vec<u8>> {
            let exec = "exec: [{a: {command: 'true'}}, {b: {command: 'true', subscribe: ['exec#a']}}]";
            Ok(format!("ccm: {{resources: [{{{exec}}}]}}").into())
        }
    }
    let scratch = Scratch::new();
    let config = ccm_runtime::Config { doors: Box::new(Input), ..crate::config(&scratch) };
    let session = Session::open(config);
    let input =
        session.read(ManifestSource::StandardInput, &GivenValues::default(), 1 << 20).expect("a manifest");
    assert!(matches!(session.validate(&input, ValidationExtent::Everything), Err(ValidationError::Name(_))));
    let others = session.validate_for(&input, &[facts(&[])], ValidationExtent::Everything);
    assert!(matches!(&*others, [Err(ValidationError::Name(_))]));
}

/// Validates a manifest with these resources. Returns the kind of each warning and note, and the line.
fn findings(resources: &str) -> Vec<(Severity, DiagnosticKind, usize)> {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let input = read(&session, &manifest_of(&scratch, resources));
    let Findings { diagnostics, texts } =
        session.validate(&input, ValidationExtent::Everything).expect("a valid manifest").warnings;
    let line = |found: &ccm_model::Diagnostic| {
        let span = found.span().expect("a location");
        texts.location(span).expect("a line").line - 2
    };
    diagnostics.iter().map(|found| (found.severity, found.kind, line(found))).collect()
}

#[test]
fn warnings_are_part_of_a_validation() {
    let found = findings("    - exec: [{'touch /tmp/a $HOME': {creates: /tmp/a}}]\n");
    assert!(matches!(&*found, [(Severity::Warning, _, 1)]), "{found:?}");
}

#[test]
fn notes_name_what_a_run_does_but_nobody_may_want() {
    let note = |kind, line| (Severity::Note, kind, line);
    let always = DiagnosticKind::AlwaysChanges;
    let unordered = DiagnosticKind::Unordered;
    let unit = "/etc/systemd/system/web.service";
    for (resources, expected) in [
        ("    - exec: [date: {}]\n".to_owned(), vec![note(always, 1)]),
        ("    - exec: [date: {onlyif: []}]\n".to_owned(), vec![note(always, 1)]),
        ("    - exec: [date: {creates: /a}]\n".to_owned(), vec![]),
        ("    - exec: [date: {unchanged_returns: [1]}]\n".to_owned(), vec![]),
        (
            "    - exec: [date: {refreshonly: true}]\n".to_owned(),
            vec![(Severity::Warning, DiagnosticKind::NoEffect, 1)],
        ),
        ("    - exec: [date: {refresh_only: false}]\n".to_owned(), vec![note(always, 1)]),
        ("    - exec: [date: {control: {if: 'false'}}]\n".to_owned(), vec![]),
        (format!("    - service: [web: {{}}]\n    - file: [{unit}: {{content: '[Unit]'}}]\n"), vec![]),
        (
            format!(
                "    - service: [web: {{autorequire: false}}]\n    - file: [{unit}: {{content: '[Unit]'}}]\n"
            ),
            vec![note(unordered, 1)],
        ),
        (
            format!(
                "    - service: [web.service: {{}}]\n    - file: [{unit}.d/a.conf: {{content: '[Unit]'}}]\n"
            ),
            vec![],
        ),
        (format!("    - file: [{unit}: {{content: '[Unit]'}}]\n    - service: [web: {{}}]\n"), vec![]),
        (
            format!(
                "    - service: [web: {{require: ['file#{unit}']}}]\n    - file: [{unit}: {{content: '[Unit]'}}]\n"
            ),
            vec![],
        ),
        (format!("    - service: [web: {{}}]\n    - file: [{unit}: {{ensure: absent}}]\n"), vec![]),
        (
            "    - file: [/a: {owner: web}]\n    - exec: [/sbin/useradd -m web: {unless: id web}]\n"
                .to_owned(),
            vec![note(unordered, 1)],
        ),
        ("    - exec: [useradd web: {unless: id web}]\n    - file: [/a: {owner: web}]\n".to_owned(), vec![]),
        (
            "    - file: [/a: {owner: web}]\n    - exec: [useradd: {command: useradd db, unless: id db}]\n"
                .to_owned(),
            vec![],
        ),
    ] {
        assert_eq!(findings(&resources), expected, "{resources}");
    }
}

#[test]
fn a_strict_validation_has_neither_warnings_nor_notes() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let validate = |resources: &str| {
        let input = read(&session, &manifest_of(&scratch, resources));
        session.validate(&input, ValidationExtent::Everything).and_then(Validation::strict)
    };
    assert!(validate("    - exec: [date: {creates: /a}]\n").is_ok());
    let Err(ValidationError::Manifest(errors)) = validate("    - exec: [date: {}]\n") else {
        panic!("a valid manifest");
    };
    assert_eq!(errors.count(), "1 error");
}
