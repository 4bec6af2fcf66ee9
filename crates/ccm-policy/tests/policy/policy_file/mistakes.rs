//! Typical errors of people who write their first policy: each message leads to the right form.

use ccm_policy::PolicyReading;

use crate::policy_file::{messages, read};

#[track_caller]
fn assert_messages(cases: &[(&str, &str)]) {
    let mut missing = Vec::new();
    for (sections, expected) in cases {
        let messages = messages(&read(&format!("ccm_policy: 1\n{sections}")));
        if !messages.iter().any(|found| found == expected) {
            missing.push((*sections, *expected, messages));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn values_of_another_form_lead_to_the_right_one() {
    assert_messages(&[
        (
            "guard: audit\n",
            "2:8 expected guard classes with their verdicts, found the text `audit` | write the mode below a caller: `callers: {apply: {guard: audit}}`",
        ),
        (
            "guard: [package]\n",
            "2:8 expected guard classes with their verdicts, found a list | write classes and verdicts: `guard: {package: ask}`",
        ),
        (
            "callers: {apply: audit}\n",
            "2:18 expected settings of the caller, found the text `audit` | write a map such as `{guard: …}`; the keys are `guard`, `signed`, `plan`, `pending` and `valid`",
        ),
        (
            "workspace: /srv\n",
            "2:12 expected the workspace, found the text `/srv` | write a map such as `{path: …}`; the keys are `path` and `restrict`",
        ),
        (
            "patterns: ['x']\n",
            "2:11 expected patterns, found a list | write a map such as `{deny: …}`; the keys are `deny` and `allow`",
        ),
        (
            "patterns: {deny: rm}\n",
            "2:18 expected a list of regular expressions, found the text `rm` | write `[rm]`",
        ),
        (
            "whitelist: git status\n",
            "2:12 expected a list of commands, found the text `git status` | write `[git status]`",
        ),
        (
            "rules: {name: a, deny: true}\n",
            "2:8 expected a list of rules, found a map | begin each element with `- `",
        ),
        (
            "rules: [{match: git push, deny: true}]\n",
            "2:17 expected what the rule matches, found the text `git push` | write a map such as `{program: …}`; the keys are `program`, `args`, `option`, `effect`, `path` and `resource`",
        ),
        (
            "rules: [{match: {command: git}, deny: true}]\n",
            "2:18 unknown key `command` | the keys are `program`, `args`, `option`, `effect`, `path` and `resource`",
        ),
        (
            "rules: [{match: {program: git push}, deny: true}]\n",
            "2:27 `git push` is not the name of a program | write `{program: git, args: [push, \"**\"]}`",
        ),
        (
            "rules: [{match: {program: git, args: push}, deny: true}]\n",
            "2:38 expected a list of arguments, found the text `push` | write `[push]`",
        ),
        (
            "rules: [{match: {program: git, args: [push origin]}, deny: true}]\n",
            "2:39 this is one argument with a blank in it: `push origin` | if `push` is an argument of its own, write `push, origin`",
        ),
        (
            "rules: [{match: {option: [--force]}, deny: true}]\n",
            "2:26 expected options with globs of their values, found a list | write `option: {--force: null}`, or a glob of its value in place of `null`",
        ),
        (
            "rules: [{match: {path: ~/x}, deny: true}]\n",
            "2:24 `~/x` is not a glob: a path begins with `/` or `**` | write the path from `/` on; `~` and variables are not expanded",
        ),
        (
            "rules: [{match: {program: git}, deny: yes}]\n",
            "2:39 expected `true` or `final`, found the text `yes` | write `deny: true`",
        ),
        (
            "rules: [{match: {program: git}, deny: false}]\n",
            "2:39 expected `true` or `final`, found the boolean `false` | remove the rule: what no rule denies is left to the guard",
        ),
        (
            "rules: [{match: {program: git}, ask: ops}]\n",
            "2:38 expected `true` or the conditions of an approval, found the text `ops` | write `ask: {approvers: ops}`",
        ),
        (
            "rules: [{match: {program: git}, allow: publish}]\n",
            "2:40 expected a list of guard classes, found the text `publish` | write `[publish]`",
        ),
        (
            "rules: [{match: {program: git}, deny: true, examples: [git push]}]\n",
            "2:55 expected examples, found a list | write a map such as `{yes: …}`; the keys are `yes` and `no`",
        ),
        (
            "rules: [{deny: true}]\n",
            "2:10 this rule matches every command and every change | add `match`, such as `match: {program: git}`",
        ),
        (
            "rules: [{match: {program: git}, when: user == 'a', deny: true}]\n",
            "2:39 unknown name `user` | the names are `caller`, `command`, `resource` and `Facts`",
        ),
    ]);
}

#[test]
fn rules_that_never_match_are_warned_of() {
    assert_messages(&[
        (
            "rules: [{match: {}, deny: true}]\n",
            "2:10 this rule matches every command and every change | name what it is about, such as `match: {program: git}`",
        ),
        (
            "rules: [{match: {program: 'rm.*'}, deny: true}]\n",
            "2:27 `rm.*` looks like a regular expression, but `program` takes a glob | write `rm*`",
        ),
        (
            "rules: [{match: {program: [ls, '^(git|hg)$']}, deny: true}]\n",
            "2:32 `^(git|hg)$` looks like a regular expression, but `program` takes a glob | write `{git,hg}`",
        ),
        (
            "rules: [{match: {program: RM}, deny: true}]\n",
            "2:27 no known program is named `RM`: letter case matters | did you mean `rm`?",
        ),
    ]);
}

#[test]
fn globs_that_may_match_are_not_warned_of() {
    for program in ["mkfs.*", "python3.*", "g++", "R", "backup.*", "{rm,ls}", "*", "/opt/X/RM"] {
        let reading =
            read(&format!("ccm_policy: 1\nrules: [{{match: {{program: '{program}'}}, deny: true}}]\n"));
        assert_eq!(messages(&reading), Vec::<String>::new(), "{program}");
    }
}

#[test]
fn types_that_do_not_exist_are_warned_of() {
    let types = ["file", "service", "package"];
    for (resource, expected) in [
        (
            "services#nginx",
            Some(
                "2:10 there is no resource type `services`, so this rule never matches | did you mean `service`?",
            ),
        ),
        (
            "web*#nginx",
            Some(
                "2:10 there is no resource type `web*`, so this rule never matches | run `ccm explain` for the resource types",
            ),
        ),
        ("service#nginx", None),
        ("{service,package}#*", None),
        ("{service#nginx,file#/etc/*}", None),
        ("*#x", None),
    ] {
        let reading =
            read(&format!("ccm_policy: 1\nrules: [{{match: {{resource: '{resource}'}}, deny: true}}]\n"));
        let diagnostics = reading.policy.as_ref().unwrap().unknown_types(&types);
        let found = messages(&PolicyReading { diagnostics, ..reading });
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{resource}");
    }
}

#[test]
fn tabs_are_named() {
    let reading = read("ccm_policy: 1\nrules:\n\t- deny: true\n");
    let messages = messages(&reading);
    assert!(reading.policy.is_none() && messages.iter().any(|found| found.contains("tab")), "{messages:#?}");
}

#[test]
fn policies_are_bounded() {
    let rules = |count: usize| format!("rules:\n{}", "  - {match: {program: a}, ask: true}\n".repeat(count));
    assert!(read(&format!("ccm_policy: 1\n{}", rules(2000))).policy.is_some());
    assert_messages(&[(
        &rules(2001),
        "2003:6 the policy has more than 2000 rules | write one rule for several programs: `program: [a, b]`",
    )]);
    let examples = vec!["a"; 10_001].join(", ");
    let many = format!("rules:\n  - {{match: {{program: a}}, ask: true, examples: {{yes: [{examples}]}}}}\n");
    assert!(messages(&read(&format!("ccm_policy: 1\n{many}")))[0].contains("more than 10000 examples"));
    let patterns = vec!["a"; 1001].join(", ");
    let many = messages(&read(&format!("ccm_policy: 1\npatterns: {{deny: [{patterns}]}}\n")));
    assert!(many[0].contains("more than 1000 regular expressions"), "{many:?}");
    // Each of them would do by itself.
    let large = (0..40).map(|at| format!("'x{at}\\w{{20}}'")).collect::<Vec<_>>().join(", ");
    let large = messages(&read(&format!("ccm_policy: 1\npatterns: {{deny: [{large}]}}\n")));
    assert!(large[0].contains("too large, together with those before"), "{large:?}");
}
