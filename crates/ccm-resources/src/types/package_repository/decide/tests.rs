use ccm_engine::ResourceKind as _;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;
use crate::types::package_repository::values::KeySource;

fn desired(words: &str) -> DesiredRepository {
    let has = |word: &str| words.split(',').any(|found| found == word);
    DesiredRepository {
        name: "vendor".to_owned(),
        is_absent: has("absent"),
        key: has("key").then(|| KeySource::File("key.asc".to_owned())),
        fingerprints: if has("checked") { vec!["AA".to_owned()] } else { Vec::new() },
        ..DesiredRepository::default()
    }
}

fn state(words: &str) -> RepositoryState {
    let has = |word: &str| words.split(',').any(|found| found == word);
    let text = |uri: &str| format!("# c\nURIs: {uri}\n");
    let definition =
        if has("other") { text("b") } else { text("a") + if has("edited") { "#\n" } else { "" } };
    RepositoryState {
        definition: (!has("missing")).then_some(definition),
        key: has("keyed").then(|| "old".to_owned()),
        fingerprints: if has("keyed") { vec!["BB".to_owned()] } else { Vec::new() },
        desired_definition: text("a"),
        desired_key: (!has("web")).then(|| if has("same") { "old" } else { "new" }.to_owned()),
        desired_fingerprints: match () {
            () if has("web") => Vec::new(),
            () if has("wrong") => vec!["CC".to_owned()],
            () => vec!["AA".to_owned()],
        },
        aspects: &[("URIs", "uris")],
        separator: ": ",
        ..RepositoryState::default()
    }
}

#[test]
fn repository_is_decided_by_the_first_row_that_matches() {
    let rows = assert_rows(
        "
        absent missing | keep | it does not exist
        absent missing,keyed | removed | it exists
        absent there | removed | it exists
        plain missing | created: uris a | it does not exist
        key missing | created: uris a, key AA | it does not exist
        plain there | keep | it is in the desired state
        plain other | changed: uris b to a | it differs in uris
        plain edited | changed: definition | it differs in definition
        key keyed | changed: key BB to AA | it differs in key
        key keyed,same | keep | it is in the desired state
        key,checked keyed,wrong | fail | the key has the fingerprint CC, which `fingerprint` does not name
        key,checked keyed,web | changed: key BB to AA | it differs in key
        ",
        |[wanted, found]| Object::decide(&desired(wanted), &state(found), None),
    );
    assert_eq!(rows, 12);
}
