//! Secrets in what leaves the library.

use ccm_runtime::{DataFile, DataOptions, Findings, GivenValues, ManifestSource};
use ccm_testkit::Scratch;

use crate::session;

const SECRET: &str = "correct horse battery";

/// Checks that nothing in errors or warnings shows the secret.
fn is_safe(findings: &Findings) {
    assert!(!findings.diagnostics.is_empty());
    assert!(!format!("{findings:?}").contains(SECRET), "{findings:?}");
}

#[test]
fn errors_in_a_manifest_hold_no_secret() {
    for manifest in [
        // The secret is a value that is known when the error is found.
        format!(
            "data:\n  # @sensitive\n  pw: {SECRET}\nccm: {{resources: [{{exec: [{{{SECRET}: {{x: 1}}}}]}}]}}\n"
        ),
        // The text is not valid YAML, so that no value is known.
        format!("data:\n  # @sensitive\n  pw: \"{SECRET}\nccm: {{resources: []}}\n"),
        // The resource is sensitive, and the error is in another property.
        format!(
            "ccm: {{resources: [{{exec: [{{a: {{command: {SECRET}, sensitive: true, tmeout: 1s}}}}]}}]}}\n"
        ),
    ] {
        let scratch = Scratch::new();
        let session = session(&scratch);
        scratch.write("m.yaml", &manifest);
        let source = ManifestSource::File(scratch.path().join("m.yaml"));
        let input = session.read(source, &GivenValues::default(), 1 << 20).expect("a manifest");
        let errors = session.load(&input).map(drop).expect_err("an error");
        is_safe(&errors);
    }
}

#[test]
fn warnings_about_a_manifest_hold_no_secret() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let command = format!("echo {SECRET} $HOME");
    let manifest = format!(
        "data:\n  # @sensitive\n  pw: {SECRET}\nccm: {{resources: [{{exec: [{{'{command}': {{}}}}]}}]}}\n"
    );
    scratch.write("m.yaml", manifest);
    let source = ManifestSource::File(scratch.path().join("m.yaml"));
    let input = session.read(source, &GivenValues::default(), 1 << 20).expect("a manifest");
    let manifest = session.load(&input).expect("a manifest without errors");
    is_safe(manifest.warnings());
}

#[test]
fn sensitive_values_of_a_file_become_secrets_of_the_session() {
    for (text, is_valid) in [
        (format!("data:\n  # @sensitive\n  pw: {SECRET}\n"), true),
        (format!("data:\n  # @sensitive\n  pw: {SECRET}\n  x: '{{{{ Facts.role }}}}'\n"), false),
    ] {
        let scratch = Scratch::new();
        let session = session(&scratch);
        let file = DataFile { name: "data.yaml".to_owned(), text: text.into() };
        let data = session.data(&file, &DataOptions::default());
        assert_eq!(data.is_ok(), is_valid, "{data:?}");
        if let Ok(data) = data {
            assert_eq!(data.value().to_string(), format!("{{\"pw\":\"{SECRET}\"}}"));
            assert_eq!(data.redact(data.value()).to_string(), "{\"pw\":\"[redacted]\"}");
        }
        assert_eq!(session.secrets().redact(SECRET), "[redacted]");
    }
}

#[test]
fn sensitive_values_around_an_expression_become_secrets_of_the_session() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let file = scratch.write("data.yaml", format!("data:\n  # @sensitive\n  pw: {SECRET}\n"));
    let data = ccm_runtime::GivenData { files: vec![file], ..ccm_runtime::GivenData::default() };
    let facts = ccm_runtime::GivenFacts::default();
    let value = session.evaluate("Data.pw", None, &facts, &data).expect("a value").value;
    assert_eq!(value.to_string(), SECRET);
    assert_eq!(session.secrets().redact(SECRET), "[redacted]");
    let error = session.evaluate(&format!("Data.pw + '{SECRET}' + 1 + x"), None, &facts, &data);
    let Err(ccm_runtime::ExpressionError::Errors(errors)) = error else { panic!("no error") };
    is_safe(&errors);
}
