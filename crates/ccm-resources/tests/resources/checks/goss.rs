//! Verdicts of Goss, on this machine. Nearly all rows were seen in runs of Goss 489ebb1; what differs on purpose is told by
//! the table of `ccm-check`, which has the same rows with values in place of a machine.

use std::collections::BTreeMap;
use std::path::Path;

use ccm_check::{CheckStatus, RuleResult};
use ccm_testkit::{OwnMounts, Scratch, isolated, needs_own_mounts};
use serde_json::Value as Json;

use super::machine::{FAKE_MACHINE, Started, Worlds};
use super::{Options, judged, read, word};

/// Directory of the rows, which is another one in each test.
const DIRECTORY: &str = "/srv/gv";

/// Worlds that need mounts of their own.
const MOUNTED: [&str; 5] = ["machine", "accounts", "hosts", "packages", "systemd"];

/// Compares one row; returns the difference.
fn difference(row: &Json, worlds: &Worlds) -> Option<String> {
    let scratch = Scratch::new();
    let directory = scratch.path();
    let placed = |text: &str| worlds.placed(text).replace(DIRECTORY, &directory.display().to_string());
    let rule = placed(row["rule"].as_str().expect("a rule"));
    let files: Json = serde_json::from_str(&placed(&row["files"].to_string())).expect("files");
    let (rules, mut warnings) = match (read(&rule, &files), row["verdict"] == "error") {
        (Err(_), true) => return None,
        (Ok(_), true) => return Some("no error at load".to_owned()),
        (Err(found), false) => return Some(format!("{found:?}")),
        (Ok((rules, found)), false) => {
            (rules, found.iter().map(|found| found.one_line().into_owned()).collect::<Vec<String>>())
        }
    };
    let _started = Started::in_directory(row, &placed, directory);
    let report = judged(&rules, &Options::in_directory(directory));
    Worlds::unmount(directory);
    let verdict = match report.status() {
        CheckStatus::Ok if report.rules.iter().all(RuleResult::is_skipped) => "skip",
        CheckStatus::Ok => "pass",
        CheckStatus::Critical => "fail",
        CheckStatus::Warning | CheckStatus::Unknown => "unknown",
    };
    let results: BTreeMap<&str, &str> = report
        .attributes()
        .map(|(_, result)| (result.attribute.goss_property(), word(&result.outcome)))
        .collect();
    warnings.extend(report.rules.iter().flat_map(|rule| rule.warnings.clone()));
    let has_warning = row["warns"].as_bool().unwrap_or_default();
    let is_same = row["verdict"] == verdict
        && row["results"] == serde_json::json!(results)
        && warnings.is_empty() != has_warning;
    (!is_same).then(|| format!("{verdict} {results:?} {warnings:?}: {report:?}"))
}

/// Compares the rows of some worlds.
fn compare(is_meant: impl Fn(&str) -> bool, expected: usize) {
    let rows: Vec<Json> =
        include_str!("goss.jsonl").lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(rows.len(), 218);
    let worlds = Worlds::begin();
    let meant: Vec<&Json> =
        rows.iter().filter(|row| is_meant(row["world"].as_str().unwrap_or_default())).collect();
    assert_eq!(meant.len(), expected);
    let different: Vec<String> = meant
        .iter()
        .filter_map(|row| Some(format!("{}: {}", row["id"], difference(row, &worlds)?)))
        .collect();
    assert!(different.is_empty(), "{} rows:\n{}", different.len(), different.join("\n"));
}

#[test]
fn rules_have_the_verdicts_of_goss() {
    isolated(|| compare(|world| !MOUNTED.contains(&world), 182));
}

#[test]
fn rules_about_a_whole_machine_have_the_verdicts_of_goss() {
    if !needs_own_mounts() {
        return;
    }
    let mounts = OwnMounts {
        namespaces: "--net",
        etc: &["os-release"],
        empty: &["/run", "/usr/local/sbin", "/var/lib/dpkg"],
        script: FAKE_MACHINE,
    };
    mounts.isolate(|| {
        assert!(Path::new("/run/systemd/system").is_dir());
        compare(|world| MOUNTED.contains(&world), 36);
    });
}
