//! Validation without a run, for this machine and for others.

use ccm_model::Severity;
use ccm_runtime::{GivenFacts, GivenValues, ManifestSource, Session, ValidationError, shared_findings};
use ccm_testkit::Scratch;

use crate::{manifest_of, read, session};

const RESOURCES: &str =
    "    - exec: [{'serve {{ Facts.role }}': {timeout: '{{ Facts.wait ?? \"30s\" }}'}}]\n";

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
    let validations = session.validate_for(&input, &machines);
    assert_eq!(validations[0].as_ref().map(|valid| valid.resources).ok(), Some(1));
    let shared: Vec<_> = shared_findings(&validations)
        .into_iter()
        .map(|found| (found.machines, found.diagnostic.message.clone()))
        .collect();
    assert_eq!(shared.len(), 2, "{shared:?}");
    assert!(matches!(&shared[0], (machines, message) if *machines == [1, 3] && message.contains("soon")));
    assert!(matches!(&shared[1], (machines, message) if *machines == [2] && message.contains("role")));
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
        session.validate(&input).map(|valid| valid.resources).map_err(|error| error.to_string())
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
    assert!(matches!(session.validate(&input), Err(ValidationError::Name(_))));
    let others = session.validate_for(&input, &[facts(&[])]);
    assert!(matches!(&*others, [Err(ValidationError::Name(_))]));
}

#[test]
fn warnings_are_part_of_a_validation() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let input = read(&session, &manifest_of(&scratch, "    - exec: [{'touch /tmp/a $HOME': {}}]\n"));
    let valid = session.validate(&input).expect("a valid manifest");
    assert!(!valid.warnings.diagnostics.is_empty());
    assert!(valid.warnings.diagnostics.iter().all(|found| found.severity == Severity::Warning));
    assert_eq!(valid.warnings.count(), "0 errors");
}
