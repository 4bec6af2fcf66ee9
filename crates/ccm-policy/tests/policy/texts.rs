//! Commands in texts that programs read from their words.

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{
    AnalysisLimits, Caller, LookupPathKind, NoValues, Policy, PolicyRequest, PolicyText, PolicyVerdict,
    RequestInput, Workspace, analyse, read_policy,
};
use ccm_shell::ShellDialect;

fn policy() -> Policy {
    let text = "ccm_policy: 1\nrules: [{match: {program: forbidden}, deny: final}]\n";
    let file = PolicyText { name: "policy.yaml".to_owned(), text: text.into() };
    read_policy(&file, &[]).policy.expect("a policy")
}

fn verdict(policy: &Policy, command: &str, dialect: ShellDialect) -> PolicyVerdict {
    let mut request = PolicyRequest::text(command, dialect, "/w");
    request.environment = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted: false });
    request.input = RequestInput::Empty;
    let machine = PolicyMachine::debian().with("/usr/bin/forbidden", LookupPathKind::File);
    let analysis = analyse(&request, &machine, &AnalysisLimits::default());
    policy.decide(&analysis, Caller::Apply, &NoValues).verdict
}

/// A rule that denies a program finally holds wherever a text starts that program.
#[test]
fn programs_in_texts_are_commands_for_rules() {
    let policy = policy();
    let mut missed = Vec::new();
    for command in [
        "forbidden",
        "bash -oc errexit forbidden",
        "sh -oc errexit forbidden",
        "bash -O nullglob -oec errexit forbidden",
        "sh +c forbidden",
        "bash --init-file x -c forbidden",
        "bash forbidden",
        "env A.B=1 forbidden",
        "env A-B=1 sh -c forbidden",
        "env - A%=1 forbidden",
        "env -S 'forbidden\\_x'",
        "env -S '\"forbidden\"'",
        "env -iS '-u A -S \"A=b forbidden x\"'",
        "env --split-string='-u X forbidden'",
        "sed 'e forbidden' f",
        "sed -n '1{p;e forbidden\n}' f",
        "sed ': x\ne forbidden' f",
        "sed '# c\\\ne forbidden' f",
        "sed 's/[/]/#/;e forbidden' f",
        "sed --expr='1!e forbidden' f",
        "sed -f- f <<X\ne forbidden\nX",
        "awk 'BEGIN{system(\"forbidden\")}'",
        "awk '{print | \"forbidden\"}' f",
        "awk 'BEGIN{\"forbidden\" | getline}'",
        "gawk --source='BEGIN{while ((\"forbidden\" | getline l) > 0) n++}'",
        "mawk '{ printf(\"%s\", $1) | \"sort | forbidden\" }' f",
        "make CC=forbidden",
        "make X=forbidden",
        "make 'X=a; forbidden #'",
        "make 'X:=$(shell forbidden)'",
        "make 'X!=forbidden'",
        "make 'CC=-@forbidden'",
        "make --eval='x:;forbidden'",
        "CC=forbidden make",
        "env CC=forbidden make",
        "export CXX=forbidden",
        "sqlite3 x .shell\\ forbidden",
        "sqlite3 -cmd '.system forbidden x' x",
        "sqlite3 x <<X\n.shell forbidden\nX",
        "psql -c '\\! forbidden'",
        "psql -o '|forbidden' -c 'select 1'",
        "mysql -e '\\! forbidden'",
        "mysql -e 'system forbidden'",
        "mysql --pager=forbidden",
        "dc -e '!forbidden'",
        "dc <<X\n!forbidden\nX",
        "vim -c ':!forbidden' f",
        "vim '+w !forbidden' f",
        "ed -s f <<X\n!forbidden\nX",
        "gdb -batch -ex 'shell forbidden'",
    ] {
        for dialect in [ShellDialect::Sh, ShellDialect::Bash] {
            if verdict(&policy, command, dialect) != PolicyVerdict::Deny {
                missed.push(command);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    // Only text, or another program.
    for command in
        ["sed 's/a/forbidden/' f", "awk '{print \"forbidden\"}' f", "make VERSION=1 x", "env A=forbidden ls"]
    {
        assert_eq!(verdict(&policy, command, ShellDialect::Sh), PolicyVerdict::Allow, "{command}");
    }
}
