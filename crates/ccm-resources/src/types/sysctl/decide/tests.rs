use ccm_engine::ResourceKind as _;

use super::*;
use crate::parts::text::TextFile;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

const TABLE: &str = include_str!("../decide_table.txt");

fn parameter(is_absent: bool) -> DesiredParameter {
    DesiredParameter {
        name: "a.b".to_owned(),
        key: ParameterKey::parse("a.b").expect("a key"),
        is_absent,
        value: if is_absent { String::new() } else { "1 2".to_owned() },
        file: PathBuf::from(DEFAULT_FILE),
    }
}

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, running, saved, obstacle]| {
        let lines = saved.split(',').filter(|value| *value != "-");
        let lines: Vec<String> = lines.map(|value| format!("a/b = {}", value.replace('_', "\t"))).collect();
        let content = lines.join("\n");
        let state = ParameterState {
            running: (running != "-").then(|| running.replace('_', " ")),
            obstacle: match obstacle {
                "reported" => Some(ParameterObstacle::Reported),
                "mount" => Some(ParameterObstacle::ReadOnlyMount("/proc/sys".to_owned())),
                _ => None,
            },
            file: Rc::new(ParameterFile::parse(TextFile::of(content))),
            later: None,
        };
        Object::decide(&parameter(ensure == "absent"), &state, None)
    });
    assert_eq!(rows, 15);
}

#[test]
fn modules_of_missing_parameters_are_named() {
    let key = ParameterKey::parse("net.bridge.bridge-nf-call-iptables").expect("a key");
    let failure = unknown(&DesiredParameter { key, ..parameter(false) });
    assert!(failure.hints[0].contains("`br_netfilter`"), "{failure:?}");
}

#[test]
fn result_is_verified() {
    let state = ParameterState { running: Some("0".to_owned()), ..ParameterState::default() };
    let failure = Object::verify(&parameter(false), &state, &()).expect_err("a difference");
    let expected = [
        "kernel parameter `a.b` is not in the desired state after the change",
        "it differs in value and value at boot",
    ];
    assert_eq!(failure.chain, expected);
}
