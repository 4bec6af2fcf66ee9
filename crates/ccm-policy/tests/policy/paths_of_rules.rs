//! Rules on paths: a path that is not known may be that of the rule, and one that is known elsewhere is not.

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{AnalysisLimits, Caller, NoValues, analyse};

use crate::reaching_out::request;
use crate::rules_on_commands::{check, policy_of};

fn verdicts(rule: &str, commands: &[&str]) -> Vec<&'static str> {
    let policy = policy_of(&format!("ccm_policy: 1\nrules: [{{match: {{{rule}}}, deny: final}}]\n"));
    let verdict = |command: &&str| {
        let analysed = request(command, Caller::Tool);
        let analysis = analyse(&analysed, &PolicyMachine::debian(), &AnalysisLimits::default());
        policy.decide(&analysis, Caller::Tool, &NoValues).verdict.name()
    };
    commands.iter().map(verdict).collect()
}

/// Texts of a normal day whose paths lie elsewhere, although not each of them is written out.
#[test]
fn paths_that_lie_elsewhere_are_not_those_of_a_final_rule() {
    let commands = [
        "diff <(sort a) <(sort b)",
        "comm -12 <(sort a) <(sort b)",
        "sort a > >(cat)",
        "t=$(mktemp); sort f > \"$t\"; mv \"$t\" f",
        "t=$(mktemp /tmp/x.XXXXXX); date > \"$t\"; cat \"$t\"; rm -f \"$t\"",
        "d=$(mktemp -d); ls \"$d\"",
        "for f in *; do wc -l \"$f\"; done",
        "for f in src/*.c; do cp \"$f\" \"${f%.c}.old\"; done",
        "for f in a b; do cat $f; done",
        "f=src/a.c; cat \"${f%.c}.h\" \"${f##*/}\"",
        "find . -name '*.c' -exec wc -l {} +",
        "find . -name '*.c' -print0 | xargs -0 wc -l",
        "find src -type f -print0 | xargs -0 -n 10 grep -l foo",
        "git ls-files -z | xargs -0 wc -l",
        "git ls-files -z -- '*.rs' | xargs -0 cat",
        "cp f \"f.$(date +%s)\"",
        "tar czf \"backup-$(date +%F).tgz\" src",
    ];
    let found = verdicts("path: /etc/shadow", &commands);
    for (command, verdict) in commands.iter().zip(found) {
        assert_eq!(verdict, "allow", "{command}");
    }
    for (command, verdict) in ["git restore f", "git clean -fd", "git reset --hard"]
        .iter()
        .zip(verdicts("path: /etc/shadow", &["git restore f", "git clean -fd", "git reset --hard"]))
    {
        assert_eq!(verdict, "ask", "{command}");
    }
}

/// Paths that are those of the rule, or may be.
#[test]
fn paths_that_may_be_those_of_a_final_rule_are_refused() {
    let commands = [
        "for f in /etc/*; do cat \"$f\"; done",
        "for f in a /etc/shadow; do cat $f; done",
        "for f in /etc/shadow.bak; do cat \"${f%.bak}\"; done",
        "for f in *; do cat $f; done",
        "f=/etc/shadow-; cat \"${f%-}\"",
        "f=/etc/SHADOW; cat \"${f,,}\"",
        "f=/etc/sha_dow; cat \"${f//_}\"",
        "f=x/etc/shadow; cat \"${f#x}\"",
        "cat \"$1\"",
        // What is not known may lead back up.
        "x=$(echo ..); cat \"/srv/$x/etc/shadow\"",
        "set -- ../etc/shadow; cat \"/srv/$1\"",
        "xargs -I{} cat /srv/{} <<< ../etc/shadow",
        "cat out/$x",
        "echo x > \"out/$1\"",
        "cat \"f.$(uname -n)\"",
        "cat /proc/$$/root/etc/shadow",
        "cat /proc/*/root/etc/shadow",
        "echo x > /proc/$PPID/root/etc/shadow",
        "cat \"${1%.txt}\"",
        "diff <(sort a) /etc/shadow",
        "diff <(sort /etc/shadow) a",
        "t=$(mktemp -p \"$x\"); cat \"$t\"",
        "t=$(mktemp); cat \"$t$x\"",
        "t=$(mktemp >x); cat \"$t\"",
        // Blanks and line ends take names apart.
        "git ls-files | xargs cat",
        "find . | xargs cat",
        "find . -print0 | xargs cat",
        "find . | xargs -0 cat",
        "find . -printf '/etc/shadow\\0' -print0 | xargs -0 cat",
        "find . -exec echo -n {} \\; -print0 | xargs -0 cat",
        "find /etc -print0 | xargs -0 cat",
        "find . ../etc -print0 | xargs -0 cat",
        "git ls-files -z ../x | xargs -0 cat",
        "git ls-files -z ':/' | xargs -0 cat",
        "git -C /etc ls-files -z | xargs -0 cat",
        "git ls-files -z | sed s/a/b/ | xargs -0 cat",
        "{ git ls-files -z; printf '/etc/shadow\\0'; } | xargs -0 cat",
        "shopt -s nocaseglob; cat /[E]tc/SHADO?",
    ];
    let found = verdicts("path: /etc/shadow", &commands);
    for (command, verdict) in commands.iter().zip(found) {
        assert_eq!(verdict, "deny", "{command}");
    }
    assert_eq!(verdicts("path: /tmp/**", &["t=$(mktemp); cat \"$t\""]), ["deny"]);
}

#[test]
fn paths_in_options_lists_and_variables_are_those_of_a_rule() {
    let policy = policy_of("ccm_policy: 1\nrules: [{match: {path: \"/etc/**\"}, deny: final}]\n");
    let commands: Vec<&str> = include_str!("data/denied_paths.tsv").lines().skip(1).collect();
    assert!(commands.len() >= 300, "{} rows", commands.len());
    let others = [
        "tar cf a src",
        "tar xf a.tar",
        "sha256sum f",
        "git diff --no-index a b",
        "cd /srv && git grep x",
        "man ls",
        "zip -r x.zip src",
        "npm -cache=.npm test",
        "mktemp -p /tmp x.XXX",
        "java -XX:+UseG1GC X",
        "pytest -o log_cli=true",
        "python3 -c 'print(1 / 2)'",
        "node --odd x.js",
        "kitty /srv/x",
        "TMPDIR=/tmp sort f",
    ];
    check(&policy, Caller::Apply, &[("deny", &commands), ("allow", &others)]);
}
