//! Policies of several files.

use ccm_policy::{Caller, GuardClass, PolicyReading, PolicyVerdict, read_policy};

use crate::policy_file::{command, messages, text, verdict, with_class};

fn read(main: &str, fragment: &str) -> PolicyReading {
    let fragment = text("/etc/ccm/policy.d/web.yaml", &format!("ccm_policy: 1\n{fragment}"));
    read_policy(&text("/etc/ccm/policy.yaml", &format!("ccm_policy: 1\n{main}")), &[fragment])
}

#[test]
fn a_further_file_makes_the_policy_stricter() {
    let reading = read(
        "rules: [{match: {program: git}, allow: [publish]}]\n",
        "guard: {package: deny}\nrules: [{match: {program: hg}, deny: true}]\npatterns: {deny: [secret]}\nwhitelist: [git push, hg x]\n",
    );
    let policy = reading.policy.clone().unwrap_or_else(|| panic!("{:?}", messages(&reading)));
    assert_eq!(policy.class_verdict(GuardClass::Package, Caller::Apply).0, PolicyVerdict::Deny);
    assert_eq!(verdict(&policy, with_class(command("git push"), GuardClass::Publish)), "allow");
    assert_eq!(verdict(&policy, command("hg x")), "deny");
    assert_eq!(verdict(&policy, command("ls")), "deny");
    assert_eq!(
        policy.location(policy.rules()[1].span).map(|at| at.to_string()).as_deref(),
        Some("/etc/ccm/policy.d/web.yaml:3:10")
    );
}

#[test]
fn a_further_file_allows_nothing_unless_it_is_trusted() {
    for (fragment, expected) in [
        ("rules: [{match: {program: git}, allow: [publish]}]\n", "`allow` is not allowed in this file"),
        ("patterns: {allow: ['^git']}\n", "`allow` is not allowed in this file"),
        ("guard: {publish: allow}\n", "`allow` is not allowed in this file"),
        ("callers: {tool: {guard: off}}\n", "`callers` is not allowed in this file"),
        ("enable_deny_patterns: false\n", "`enable_deny_patterns` is not allowed in this file"),
        ("tools: {exec: {custom_allow_patterns: ['^git']}}\n", "`tools` is not allowed in this file"),
        ("custom_allow_patterns: ['^git']\n", "`custom_allow_patterns` is not allowed in this file"),
        (
            "rules: [{match: {program: git}, ask: true, sandbox: read_only_local}]\n",
            "`sandbox` is not allowed",
        ),
        ("workspace: {path: /srv}\n", "`workspace` is not allowed in this file"),
        ("guard: {disk: ask}\n", "`disk` is not made stricter by `ask`"),
    ] {
        let reading = read("", fragment);
        assert!(reading.policy.is_none(), "{fragment}");
        assert!(messages(&reading).iter().any(|found| found.contains(expected)), "{:?}", messages(&reading));
    }
    let trusted = read(
        "trusted: [web.yaml]\n",
        "rules: [{match: {program: git}, allow: [publish]}]\nguard: {disk: ask}\n",
    );
    assert!(trusted.policy.is_some(), "{:?}", messages(&trusted));
    let nested = read("", "trusted: [web.yaml]\n");
    assert!(nested.policy.is_none());
}

#[test]
fn one_file_has_a_section() {
    let reading = read("trusted: [web.yaml]\nlimits: {parallel: 1}\n", "limits: {parallel: 2}\n");
    assert!(reading.policy.is_none());
    let [found] = &*reading.diagnostics else { panic!("{:?}", messages(&reading)) };
    assert_eq!(found.labels.len(), 2);
    let missing = read("trusted: [other.yaml]\n", "rules: []\n");
    assert!(missing.policy.is_some());
    assert_eq!(messages(&missing), ["2:11 there is no file `other.yaml` in policy.d"]);
}

#[test]
fn conflicts_between_rules_are_shown() {
    let main = "rules:\n  - name: pushes\n    match: {program: git, args: [push, '**']}\n    allow: [publish]\n    examples: {yes: [git push origin main]}\n  - {name: no main, match: {program: git, args: ['**', main]}, deny: true}\n";
    let reading = read(main, "");
    let policy = reading.policy.clone().unwrap_or_else(|| panic!("{:?}", messages(&reading)));
    let conflicts = policy.conflicts();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].message, "for tools, this example is denied: rule \"no main\" is stricter");
    assert_eq!(conflicts[0].labels.len(), 2);
}
