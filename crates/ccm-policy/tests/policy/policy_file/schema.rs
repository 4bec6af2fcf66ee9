//! The JSON schema accepts what ccm accepts.

use ccm_policy::policy_schema;
use serde_json::Value;

use crate::policy_file::example::FULL;

fn is_valid(policy: &str) -> bool {
    let value: Value = serde_yaml::from_str(policy).expect("YAML");
    jsonschema::draft202012::is_valid(&policy_schema(), &value)
}

#[test]
fn a_policy_with_every_section_is_valid() {
    let policy = format!("ccm_policy: 1\n{FULL}");
    let value: Value = serde_yaml::from_str(&policy).expect("YAML");
    let validator = jsonschema::draft202012::new(&policy_schema()).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn policies_with_errors_are_not_valid() {
    for policy in [
        "rules: []",
        "ccm_policy: 2",
        "ccm_policy: 1\nrulez: []",
        "ccm_policy: 1\nguard: {publish: maybe}",
        "ccm_policy: 1\nguard: {packages: ask}",
        "ccm_policy: 1\nrules: [{match: {effect: writes}, deny: true}]",
        "ccm_policy: 1\nrules: [{deny: yes please}]",
        "ccm_policy: 1\nrules: [{allow: [unreadable]}]",
        "ccm_policy: 1\nlimits: {parallel: 0}",
        "ccm_policy: 1\nworkspace: {path: srv}",
    ] {
        assert!(!is_valid(policy), "{policy}");
    }
    for policy in [
        "ccm_policy: 1",
        "ccm_policy: 1\nrules:",
        "ccm_policy: 1\nenable_deny_patterns: false",
        "ccm_policy: 1\ntools: {exec: {custom_deny_patterns: [x]}}",
    ] {
        assert!(is_valid(policy), "{policy}");
    }
}
