//! Errors in policies, each with its location and hint.

use crate::policy_file::{messages, read};

/// Reads a policy with the sections, and returns its diagnostics. The sections begin in line 2.
fn errors(sections: &str) -> Vec<String> {
    let reading = read(&format!("ccm_policy: 1\n{sections}"));
    assert!(reading.policy.is_none(), "{sections}");
    messages(&reading)
}

#[track_caller]
fn assert_error(sections: &str, expected: &str) {
    let errors = errors(sections);
    assert!(errors.iter().any(|error| error == expected), "{sections}\n{errors:#?}");
}

#[test]
fn every_error_is_reported_at_once() {
    let errors = errors(
        "rulez: []\nguard: {packages: ask, publish: maybe}\npatterns: {deny: ['(']}\nrules:\n  - match: {program: [git, '[']}\n    deny: yes\n  - allow: [publish]\n    wen: 'true'\n",
    );
    let starts: Vec<&str> = errors.iter().map(|error| error.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(starts, ["2:1", "3:9", "3:33", "4:19", "6:28", "7:11", "9:5"], "{errors:#?}");
}

#[test]
fn unknown_names_have_a_suggestion() {
    for (sections, expected) in [
        ("rulez: []\n", "2:1 unknown key `rulez` | did you mean `rules`?"),
        ("guard: {packages: ask}\n", "2:9 unknown guard class `packages` | did you mean `package`?"),
        (
            "guard: {delete-outside: ask}\n",
            "2:9 unknown guard class `delete-outside` | did you mean `delete_outside`?",
        ),
        (
            "guard: {publish: aks}\n",
            "2:18 expected `allow`, `ask` or `deny`, found `aks` | did you mean `ask`?",
        ),
        (
            "rules: [{match: {efect: write}, deny: true}]\n",
            "2:18 unknown key `efect` | did you mean `effect`?",
        ),
        (
            "rules: [{match: {effect: writes}, deny: true}]\n",
            "2:26 unknown effect `writes` | did you mean `write`?",
        ),
        (
            "approval: {groups: {ops: [a]}}\nrules: [{match: {effect: write}, ask: {approvers: op}}]\n",
            "3:10 there is no group of approvers `op` | did you mean `ops`?",
        ),
        (
            "rules: [{match: {effect: write}, ask: true, sandbox: no_network_computer}]\n",
            "2:54 there is no sandbox profile `no_network_computer` | did you mean `no_network_compute`?",
        ),
        (
            "rules: [{when: calle.user == 'a', deny: true}]\n",
            "2:16 unknown name `calle` | did you mean `caller`?",
        ),
        (
            "rules: [{when: caller.name == 'a', deny: true}]\n",
            "2:16 unknown name `caller.name` | the names are `kind` and `user`",
        ),
    ] {
        assert_error(sections, expected);
    }
}

#[test]
fn globs_with_unknown_syntax_are_errors() {
    for (policy, expected) in [
        (
            "rules: [{match: {path: etc/x}, deny: true}]\n",
            "2:24 `etc/x` is not a glob: a path begins with `/` or `**` | write the path from `/` on; `~` and variables are not expanded",
        ),
        (
            "rules: [{match: {path: '/etc/**.key'}, deny: true}]\n",
            "2:24 `/etc/**.key` is not a glob: `**` is only allowed as a whole component of a path | write `**/` before the name, or a single `*` in it",
        ),
        (
            "rules: [{match: {program: git, args: ['v[[:digits:]]']}, deny: true}]\n",
            "2:39 `v[[:digits:]]` is not a glob: unknown class `[:digits:]` | did you mean `[:digit:]`?",
        ),
    ] {
        assert_error(policy, expected);
    }
}

#[test]
fn wrong_values_are_errors() {
    for (sections, expected) in [
        ("rules: {a: b}\n", "2:8 expected a list of rules, found a map | begin each element with `- `"),
        (
            "rules: [{allow: true}]\n",
            "2:17 `allow` needs the guard classes that the rule lifts | write the classes as `ccm policy explain` shows them: `allow: [publish]`",
        ),
        (
            "rules: [{allow: [unreadable]}]\n",
            "2:18 no rule can lift `unreadable` | write the command so that it can be read",
        ),
        (
            "rules: [{allow: [outside_workspace]}]\n",
            "2:18 no rule can lift `outside_workspace` | set `restrict: false` below `workspace`",
        ),
        (
            "guard: {hidden: allow}\n",
            "2:17 `hidden` can't be changed: nobody can judge text that can't be read | remove the line",
        ),
        (
            "rules: [{name: a}]\n",
            "2:10 this rule has no verdict | add `allow: [CLASS]`, `ask: true` or `deny: true`",
        ),
        (
            "rules: [{deny: true, allow: [publish]}]\n",
            "2:22 a rule that denies can't have `allow` as well | write two rules",
        ),
        (
            "rules: [{match: {args: [push]}, deny: true}]\n",
            "2:18 `args` needs `program` | name the program whose arguments these are",
        ),
        (
            "rules: [{match: {program: git, args: [push, ...]}, deny: true}]\n",
            "2:45 `...` does not stand for further arguments | write `\"**\"` for any number of arguments, or `\"...\"` for the argument itself",
        ),
        (
            "rules: [{match: {option: {context: a}}, deny: true}]\n",
            "2:27 `context` is not an option | write the option with its dashes: `--context`",
        ),
        (
            "rules: [{match: {resource: nginx}, deny: true}]\n",
            "2:28 `nginx` is not a resource | write type and name: `service#nginx`",
        ),
        (
            "rules: [{match: {program: ./git}, deny: true}]\n",
            "2:27 `./git` is a relative path | write the name of the program, or its path from `/` on",
        ),
        ("rules: [{when: 'caller.user ==', deny: true}]\n", ""),
        (
            "workspace: {restrict: true}\n",
            "2:13 `restrict` needs the path of a workspace | add `path` to `workspace`",
        ),
        (
            "workspace: {path: srv}\n",
            "2:19 expected an absolute path without `..`, found `srv` | write the path from `/` on",
        ),
        (
            "callers: {tool: {guard: of}}\n",
            "2:25 expected `standard`, `audit` or `off`, found `of` | did you mean `off`?",
        ),
        (
            "limits: {timeout: 10m}\n",
            "2:19 `timeout` is longer than `max_timeout` | raise `max_timeout`, or shorten `timeout`",
        ),
        (
            "limits: {calls: many}\n",
            "2:17 expected a number of calls in a time, found `many` | write the number and the time, such as `60/1m`",
        ),
        ("limits: {parallel: 0}\n", "2:20 expected a number between 1 and 1000, found 0"),
        (
            "sandbox: {profiles: {x: {memory: lots}}}\n",
            "2:34 `lots` is not a size | write a size such as `256MiB`",
        ),
        (
            "sandbox: {default: restricted_remote}\n",
            "2:20 profile `restricted_remote` is not supported: it needs a proxy | use `no_network_compute`, or a profile of your own with `network: true`",
        ),
        (
            "sandbox: {profiles: {read_only_local: {}}}\n",
            "2:22 `read_only_local` is a profile of ccm and can't be changed | give the profile a name of its own",
        ),
        (
            "rules: [{match: {effect: write}, ask: {grant: {uses: 3, for: 9h}}}]\n",
            "2:62 a grant lasts at most 8h | write a shorter time",
        ),
        ("whitelist: ['git \"']\n", ""),
        ("audit: {forward: [syslog]}\n", ""),
    ] {
        if expected.is_empty() {
            assert!(!errors(sections).is_empty(), "{sections}");
        } else {
            assert_error(sections, expected);
        }
    }
}

#[test]
fn regular_expressions_are_bounded() {
    let invalid = errors("patterns: {deny: ['a(b']}\n");
    assert_eq!(invalid, ["2:19 this regular expression is not valid: unclosed group"]);
    let lookahead = errors("custom_deny_patterns: ['a(?=b)']\n");
    assert!(lookahead[0].contains("look-around"), "{lookahead:?}");
    for large in ["(a{1000}){1000}", "\\w{900}", &"a".repeat(5000)] {
        let found = errors(&format!("patterns: {{deny: ['{large}']}}\n"));
        assert!(found[0].starts_with("2:19 this regular expression is too large"), "{found:?}");
    }
    let empty = errors("patterns: {allow: ['x*']}\n");
    assert!(empty[0].contains("matches the empty text"), "{empty:?}");
}

#[test]
fn a_rule_with_an_error_in_its_match_is_not_compared_with_others() {
    let rules = "rules:\n  - {match: {program: [a, '[']}, ask: true, examples: {yes: [b]}}\n  - {match: {program: c}, deny: true}\n";
    let found = errors(rules);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_error("limits: {timeout: [1]}\n", "2:19 expected a duration such as `90s`, found a list");
}

#[test]
fn contradictions_are_errors_with_two_locations() {
    let reading = read(
        "ccm_policy: 1\nrules:\n  - {name: a, match: {program: git, args: [push]}, allow: [publish]}\n  - {name: b, match: {program: git}, deny: true}\n",
    );
    assert!(reading.policy.is_none());
    let [found] = &*reading.diagnostics else { panic!("{:?}", messages(&reading)) };
    assert_eq!(found.message, "this rule allows what another rule always denies");
    let lines: Vec<usize> =
        found.labels.iter().filter_map(|label| Some(reading.texts.locate(label.span)?.1.line)).collect();
    assert_eq!(lines, [3, 4]);
    assert_error(
        "rules: [{name: a, deny: true}, {name: a, deny: true}]\n",
        "2:39 two rules are named `a` | rename one of them",
    );
    assert_error(
        "approval: {groups: {ops: [a]}}\nrules: [{match: {effect: write}, ask: {approvers: ops, count: 2}}]\n",
        "3:10 2 approvals are needed, but there are only 1 approvers | add approvers, or lower `count`",
    );
    // A condition makes the denial narrower.
    assert!(read("ccm_policy: 1\nrules:\n  - {match: {program: git}, allow: [publish]}\n  - {match: {program: git}, when: caller.user == 'x', deny: true}\n").policy.is_some());
}

#[test]
fn examples_are_tested() {
    let rule = "rules:\n  - match: {program: git, args: [push, origin, 'feature-*']}\n    allow: [publish]\n    examples:\n";
    assert_error(
        &format!("{rule}      yes: [git push origin main]\n"),
        "6:13 this example does not match the rule | correct `match`, or move the example to `no`",
    );
    assert_error(
        &format!("{rule}      no: [git push origin feature-x]\n"),
        "6:12 this example matches the rule, but must not | narrow `match`, or move the example to `yes`",
    );
    let unreadable = errors(&format!("{rule}      yes: ['git push \"']\n"));
    assert!(unreadable[0].starts_with("6:13 this example can't be read: "), "{unreadable:?}");
    let fine = read(&format!(
        "ccm_policy: 1\n{rule}      yes: [git push origin feature-x, cd /srv && git push origin feature-y]\n      no: [git push --force origin feature-x, git push origin feature-x extra]\n"
    ));
    assert!(fine.policy.is_some(), "{:?}", messages(&fine));
}

#[test]
fn no_example_of_many_rules_is_left_out() {
    for count in [1, 2, 31, 32, 33, 101] {
        let rule = |number| {
            format!(
                "  - {{match: {{program: p{number}}}, deny: true, examples: {{yes: [other {number}]}}}}\n"
            )
        };
        let rules: String = (0..count).map(rule).collect();
        let found = errors(&format!("rules:\n{rules}"));
        let places = found.iter().map(|error| error.split(':').next().unwrap_or_default().to_owned());
        let lines = (3..count + 3).map(|line| line.to_string());
        assert!(places.eq(lines), "{count}: {found:?}");
    }
}

#[test]
fn the_version_is_required() {
    for (text, expected) in [
        ("", "1:1 the policy is empty | begin the file with `ccm_policy: 1`"),
        ("rules: []\n", "1:1 `ccm_policy` is missing | begin the file with `ccm_policy: 1`"),
        (
            "ccm_policy: 2\n",
            "1:13 version 2 of the policy format is not supported | write `ccm_policy: 1`, or use a newer ccm",
        ),
        ("ccm_policy: one\n", "1:13 expected the version 1, found the text `one`"),
    ] {
        let reading = read(text);
        assert!(reading.policy.is_none(), "{text}");
        assert!(messages(&reading).contains(&expected.to_owned()), "{:?}", messages(&reading));
    }
    assert!(read("ccm_policy: 1\nrules: [\n").policy.is_none());
    assert!(read("- 1\n").policy.is_none());
}
