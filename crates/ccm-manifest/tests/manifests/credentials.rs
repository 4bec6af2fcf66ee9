//! Credentials of the process in expressions.

use ccm_manifest::{EvaluationRequest, evaluate};

use crate::fake::manifest;
use crate::machine::{Machine, shown};

const SECRET: &str = "s3cret-word";

fn machine() -> Machine {
    Machine::default().credential("db", SECRET).credential("pin", "123").credential("empty", "")
}

#[test]
fn a_credential_is_a_value_wherever_files_are() {
    let machine = machine()
        .file("t.j2", "<{{ credential('db') }}>")
        .file("x.templ", "[{{ credential('db') }}]")
        .file("c.yaml", "ccm: {resources: [{note: [n: {text: \"{{ credential('db') }}\"}]}]}");
    for (data, items, property, expected) in [
        ("", "note: [n: {text: \"{{ credential('db') }}\"}]", "text", "s3cret-word"),
        ("", "note: [n: {text: \"a ${ credential('d' + 'b') } b\"}]", "text", "a s3cret-word b"),
        ("", "note: [n: {text: \"{{ template('t.j2') }}\"}]", "text", "<s3cret-word>"),
        ("", "note: [n: {text: \"{{ template('x.templ') }}\"}]", "text", "[s3cret-word]"),
        ("", "copy: [/n: {source: t.j2}]", "content", "<s3cret-word>"),
        (
            "data: {password: \"{{ credential('db') }}\"}\n",
            "note: [n: {text: '{{ Data.password }}'}]",
            "text",
            "s3cret-word",
        ),
        ("", "note: [n: {text: kept, control: {if: \"credential('db') startsWith 's3'\"}}]", "text", "kept"),
        ("", "note: [n: {text: \"<{{ credential('empty') }}>\"}]", "text", "<>"),
    ] {
        let text = format!("{data}{}", manifest(&format!("- {items}")));
        let loaded = machine.load(&text);
        let catalog = loaded.catalog.as_ref().unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics));
        assert_eq!(shown(&catalog.resources[0], property), format!("\"{expected}\""), "{text}");
        let is_known = loaded.data.secrets.iter().any(|secret| secret == SECRET);
        assert_eq!(is_known, !text.contains("empty"), "{text}");
        assert!(!loaded.data.secrets.iter().any(String::is_empty), "{text}");
    }
    let loaded = machine.load(&manifest("- apply: [c.yaml: ]"));
    assert_eq!(loaded.data.secrets, [SECRET]);
}

#[test]
fn a_credential_is_read_once_and_only_if_it_is_named() {
    let machine = machine();
    machine.load(&manifest("- note: [n: ]"));
    assert!(machine.credential_requests.borrow().is_empty());
    let twice = "{{ credential('db') }}{{ credential('db') }}";
    machine.load(&manifest(&format!("- note: [n: {{text: \"{twice}\"}}, m: {{text: \"{twice}\"}}]")));
    assert_eq!(*machine.credential_requests.borrow(), ["db"]);
}

#[test]
fn errors_in_credentials_are_located() {
    machine().check_all(&[
        (
            &manifest("- note: [n: {text: \"{{ credential('gone') }}\"}]"),
            &["3:28 unreadable | LoadCredential="],
        ),
        (
            "data: {x: \"{{ credential('gone') }}\"}\nccm: {resources: []}",
            &["1:15 unreadable | LoadCredential="],
        ),
        (&manifest("- note: [n: {text: '{{ credential() }}'}]"), &["3:28 invalid-operand"]),
        (&manifest("- note: [n: {text: '{{ credential(1) }}'}]"), &["3:28 invalid-operand"]),
        (
            &manifest("- note: [n: {text: \"{{ credentail('db') }}\"}]"),
            &["3:28 unknown-function | credential"],
        ),
        // Only the service can read it.
        (&manifest("- note: [n: {text: \"{{ credential('elsewhere') }}\"}]"), &["3:24 not-checked"]),
        (
            "data: {x: \"{{ credential('elsewhere') }}\"}\nccm: {resources: [{note: [n: {text: '{{ Data.x }}'}]}]}",
            &["1:11 not-checked"],
        ),
        // It is used, but can't be redacted.
        (&manifest("- note: [n: {text: \"{{ credential('pin') }}\"}]"), &[" warning: exposed-secret | …"]),
    ]);
}

#[test]
fn the_result_of_an_expression_knows_its_credentials() {
    let machine = machine();
    let request = |expression: &str| EvaluationRequest {
        expression: expression.into(),
        ..EvaluationRequest::default()
    };
    assert_eq!(evaluate(&request("credential('db')"), &machine).secrets, [SECRET]);
    assert!(evaluate(&request("'db'"), &machine).secrets.is_empty());
}
