//! What ordinary programs are known to do beyond their purpose: they run other programs, and read, write, send and fetch
//! files. The facts are those of public lists, for each program and function.

use std::collections::BTreeSet;

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{
    AnalysisLimits, Caller, NoValues, PolicyRequest, PolicyVerdict, RequestInput, Workspace, analyse,
};
use ccm_shell::ShellDialect;

use crate::rules_on_commands::policy_of;

const FUNCTIONS: [&str; 8] = [
    "command",
    "download",
    "file-read",
    "file-write",
    "library-load",
    "reverse-shell",
    "upload",
    "bind-shell",
];

/// Returns a request for a text of bash.
pub(crate) fn request(command: &str, caller: Caller) -> PolicyRequest {
    let mut request = PolicyRequest::text(command, ShellDialect::Bash, "/w");
    request.environment = vec![
        ("HOME".to_owned(), "/home/agent".to_owned()),
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
    ];
    if caller == Caller::Tool {
        request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted: false });
    }
    request.input = RequestInput::Empty;
    request
}

#[test]
fn what_programs_do_beyond_their_purpose_is_seen() {
    let policy = policy_of(
        "ccm_policy: 1\nrules: [{match: {program: forbidden}, deny: final}, {match: {path: \"/etc/**\"}, deny: final}]\n",
    );
    let machine = PolicyMachine::debian();
    let limits = AnalysisLimits::default();
    let mut programs = BTreeSet::new();
    let mut errors = Vec::new();
    let mut count = 0;
    for row in include_str!("data/reaching_out.tsv").lines().skip(1) {
        let [program, function, command] = *row.split('\t').collect::<Vec<_>>() else { panic!("{row:?}") };
        assert!(FUNCTIONS.contains(&function), "{row}");
        programs.insert(program);
        count += 1;
        if analyse(&request(command, Caller::Tool), &machine, &limits).default_verdict(Caller::Tool)
            == PolicyVerdict::Allow
        {
            errors.push(format!("{program}, {function}: `{command}` is allowed for tools"));
        }
        let analysis = analyse(&request(command, Caller::Apply), &machine, &limits);
        // Each row names the program or the path that the rules deny, or sends something elsewhere.
        let is_named = command.contains("forbidden") || command.contains("/etc");
        let verdict = policy.decide(&analysis, Caller::Apply, &NoValues).verdict;
        if is_named && verdict != PolicyVerdict::Deny {
            errors.push(format!("{program}, {function}: `{command}` is no match of the rules"));
        }
    }
    assert!(errors.is_empty(), "{} of {count} rows:\n{}", errors.len(), errors.join("\n"));
    assert!(count >= 650 && programs.len() >= 460, "{count} rows, {} programs", programs.len());
}
