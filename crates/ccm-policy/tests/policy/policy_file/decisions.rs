//! Order of rules, classes, patterns and whitelists.

use ccm_policy::{
    Analysis, Caller, CauseKind, GuardClass, GuardMessage, GuardMode, NoValues, PolicyVerdict,
    UnreadableRequest,
};

use crate::policy_file::{analysis, command, decide, policy, verdict, with_class};

#[test]
fn the_strictest_command_decides() {
    let policy = policy("");
    let commands = vec![
        command("ls"),
        with_class(command("git push"), GuardClass::Publish),
        with_class(command("mkfs /dev/sda"), GuardClass::Disk),
    ];
    let decision = decide(&policy, commands);
    assert_eq!(decision.verdict, PolicyVerdict::Deny);
    let verdicts: Vec<&str> = decision.commands.iter().map(|command| command.verdict().name()).collect();
    assert_eq!(verdicts, ["allow", "ask", "deny"]);
    assert_eq!(decision.strictest(), Some(2));
}

#[test]
fn classes_have_the_verdict_of_the_policy() {
    let policy = policy("guard: {publish: deny, package: allow}\n");
    assert_eq!(verdict(&policy, with_class(command("git push"), GuardClass::Publish)), "deny");
    assert_eq!(verdict(&policy, with_class(command("apt install x"), GuardClass::Package)), "allow");
    let both = with_class(with_class(command("x"), GuardClass::Package), GuardClass::Service);
    assert_eq!(verdict(&policy, both), "ask");
}

/// A pattern names no class, so that it lifts none of those that are about more than the words.
#[test]
fn a_pattern_lifts_no_class_that_has_to_be_named() {
    let by_pattern = policy("patterns: {allow: ['^cat ']}\n");
    let by_rule = policy(
        "rules: [{match: {program: cat}, allow: [secrets, metadata, govern, kernel, write_system]}]\n",
    );
    for class in [
        GuardClass::Secrets,
        GuardClass::Metadata,
        GuardClass::Govern,
        GuardClass::Kernel,
        GuardClass::WriteSystem,
    ] {
        let cat = || with_class(command("cat x"), class);
        assert_ne!(verdict(&by_pattern, cat()), "allow", "{class:?}");
        assert_eq!(verdict(&by_rule, cat()), "allow", "{class:?}");
    }
    for class in [GuardClass::Publish, GuardClass::Disk, GuardClass::DeleteInside] {
        assert_eq!(verdict(&by_pattern, with_class(command("cat x"), class)), "allow", "{class:?}");
    }
}

#[test]
fn a_rule_lifts_only_its_classes_of_its_command() {
    let policy = policy("rules: [{match: {program: git}, allow: [publish]}]\n");
    let push = || with_class(command("git push"), GuardClass::Publish);
    assert_eq!(verdict(&policy, push()), "allow");
    assert_eq!(verdict(&policy, with_class(push(), GuardClass::Options)), "ask");
    let other = with_class(command("npm publish"), GuardClass::Publish);
    assert_eq!(decide(&policy, vec![push(), other]).verdict, PolicyVerdict::Ask);
}

#[test]
fn denial_beats_allowance_and_final_comes_first() {
    let policy = policy(
        "rules:\n  - {match: {program: git, args: [push, '**']}, allow: [publish]}\n  - {match: {program: git, args: ['**', main]}, deny: true}\n  - {match: {program: git, args: ['**', release]}, deny: final}\n  - {match: {program: git}, ask: true}\npatterns: {allow: ['^git push origin (main|release)']}\n",
    );
    let push = |branch: &str| with_class(command(&format!("git push origin {branch}")), GuardClass::Publish);
    assert_eq!(verdict(&policy, push("x")), "ask");
    // A pattern lifts a denial that is not final.
    assert_eq!(verdict(&policy, push("main")), "ask");
    let release = decide(&policy, vec![push("release")]);
    assert_eq!(release.verdict, PolicyVerdict::Deny);
    assert_eq!(release.commands[0].cause().map(|cause| cause.kind), Some(CauseKind::Rule(2)));
}

#[test]
fn patterns_judge_one_command() {
    let policy = policy(
        "patterns: {deny: ['\\bmycriticalcmd\\b'], allow: ['^npm install --save ', '^mycriticalcmd --help$']}\n",
    );
    assert_eq!(verdict(&policy, command("MyCriticalCmd x")), "deny");
    assert_eq!(verdict(&policy, command("mycriticalcmd --help")), "allow");
    assert_eq!(verdict(&policy, command("MYCRITICALCMD --help")), "deny");
    let install = |line: &str| with_class(command(line), GuardClass::Package);
    assert_eq!(verdict(&policy, install("npm install --save x")), "allow");
    assert_eq!(verdict(&policy, install("npm install --save $x")), "ask");
    assert_eq!(verdict(&policy, install("NPM install --save x")), "ask");
    // An allowed command does not free another.
    let other = with_class(command("rm -rf /srv"), GuardClass::DeleteOutside);
    assert_eq!(decide(&policy, vec![install("npm install --save x"), other]).verdict, PolicyVerdict::Deny);
    // Nothing lifts the restriction to the workspace.
    let outside = with_class(install("npm install --save /etc"), GuardClass::OutsideWorkspace);
    assert_eq!(verdict(&policy, outside), "deny");
}

#[test]
fn a_whitelist_denies_everything_else() {
    let policy = policy("whitelist: [git status, \"npm run 'build all'\"]\n");
    assert_eq!(verdict(&policy, command("git status")), "allow");
    for line in ["git", "git status -s", "git stash", "ls", "git $x"] {
        assert_eq!(verdict(&policy, command(line)), "deny", "{line}");
    }
    let mut variable = command("git status");
    variable.variables.push("GIT_DIR".to_owned());
    assert_eq!(verdict(&policy, variable), "deny");
    assert_eq!(verdict(&policy, with_class(command("git status"), GuardClass::Publish)), "ask");
    // A command that a listed command runs is part of what is listed.
    let mut inner = command("build all");
    inner.parent = Some(0);
    assert_eq!(decide(&policy, vec![command("git status"), inner.clone()]).verdict, PolicyVerdict::Allow);
    assert_eq!(decide(&policy, vec![command("ls"), inner]).verdict, PolicyVerdict::Deny);
}

fn unreadable(class: GuardClass) -> Analysis {
    let reason = UnreadableRequest {
        class,
        message: "a quote is not closed".to_owned(),
        hint: None,
        span: ccm_shell::ShellSpan::default(),
    };
    Analysis { commands: Vec::new(), unreadable: Some(reason) }
}

#[test]
fn nothing_lifts_a_text_that_cannot_be_read() {
    let patterns = policy("patterns: {allow: ['.']}\n");
    let verdict = |policy: &ccm_policy::Policy| {
        policy.decide(&unreadable(GuardClass::Unreadable), Caller::Tool, &NoValues).verdict
    };
    assert_eq!(verdict(&patterns), PolicyVerdict::Deny);
    let off = policy("callers: {tool: {guard: off}}\n");
    assert_eq!(verdict(&off), PolicyVerdict::Allow);
    let off_with_rule =
        policy("callers: {tool: {guard: off}}\nrules: [{match: {program: rm}, deny: true}]\n");
    assert_eq!(verdict(&off_with_rule), PolicyVerdict::Deny);
}

#[test]
fn guard_modes() {
    let disk = || vec![with_class(command("mkfs /dev/sda"), GuardClass::Disk)];
    let audit = decide(&policy("callers: {tool: {guard: audit}}\n"), disk());
    assert_eq!(
        (audit.verdict, audit.mode, audit.is_allowed()),
        (PolicyVerdict::Deny, GuardMode::Audit, true)
    );
    let standard = decide(&policy(""), disk());
    assert!(!standard.is_allowed());
    let off = policy("callers: {tool: {guard: off}}\nrules: [{match: {program: rm}, deny: true}]\n");
    assert_eq!(decide(&off, disk()).verdict, PolicyVerdict::Allow);
    assert_eq!(verdict(&off, command("rm x")), "deny");
    assert_eq!(verdict(&off, with_class(command("cat /etc/x"), GuardClass::OutsideWorkspace)), "deny");
}

#[test]
fn apply_and_tool_have_their_own_defaults() {
    let policy = policy("");
    let commands = analysis(vec![with_class(command("apt install x"), GuardClass::Package)]);
    assert_eq!(policy.decide(&commands, Caller::Apply, &NoValues).verdict, PolicyVerdict::Allow);
    assert_eq!(policy.decide(&commands, Caller::Tool, &NoValues).verdict, PolicyVerdict::Ask);
}

#[test]
fn messages_of_the_guard() {
    let policy = policy("");
    let message = |commands: Vec<_>| {
        let analysis = analysis(commands);
        policy.decide(&analysis, Caller::Tool, &NoValues).guard_message(&analysis)
    };
    let outside = |line: &str| with_class(command(line), GuardClass::OutsideWorkspace);
    assert_eq!(message(vec![outside("cat /etc/passwd")]), Some(GuardMessage::OutsideWorkingDirectory));
    assert_eq!(message(vec![outside("cat ../../etc/passwd")]), Some(GuardMessage::PathTraversal));
    assert_eq!(message(vec![outside("make --directory=..")]), Some(GuardMessage::PathTraversal));
    let disk = with_class(outside("mkfs ../sda"), GuardClass::Disk);
    assert_eq!(message(vec![disk]), Some(GuardMessage::DangerousPattern));
    assert_eq!(message(vec![command("ls")]), None);
    for (message, text) in [
        (GuardMessage::DangerousPattern, "Command blocked by safety guard (dangerous pattern detected)"),
        (GuardMessage::OutsideWorkingDirectory, "Command blocked by safety guard (path outside working dir)"),
        (GuardMessage::PathTraversal, "Command blocked by safety guard (path traversal detected)"),
    ] {
        assert_eq!(message.to_string(), text);
    }
}

#[test]
fn needs_name_the_rule_that_asks() {
    let policy = policy(
        "approval: {groups: {ops: [a, b]}}\nrules: [{name: pushes, match: {program: git}, ask: {approvers: ops, count: 2}}]\n",
    );
    let push = || with_class(command("git push"), GuardClass::Publish);
    let needs = decide(&policy, vec![push()]).needs(&policy);
    assert_eq!((needs.len(), needs[0].rule, needs[0].conditions.count), (1, Some(0), Some(2)));
    let install = with_class(command("npm install x"), GuardClass::Package);
    let needs = decide(&policy, vec![install]).needs(&policy);
    assert_eq!((needs.len(), needs[0].rule), (1, None));
}
