//! A policy with every section.

use ccm_policy::{
    ApprovalMode, ApproverSet, AuditReceiver, Caller, Denial, GuardClass, GuardMode, PolicyVerdict,
    ProgramSet, ToolSet,
};
use std::time::Duration;

use crate::policy_file::policy;

pub(crate) const FULL: &str = r#"workspace: {path: /srv/agent, restrict: true}
callers:
  apply: {guard: standard}
  tool: {guard: standard, approval: must_require, tools: [governed-execute], users: [agent]}
guard: {package: ask, publish: ask}
rules:
  - name: feature branches
    match: {program: git, args: [push, origin, "feature-*"]}
    allow: [publish]
    sandbox: remote
    examples: {yes: [git push origin feature-x], no: [git push origin main, git push --force origin feature-x]}
  - name: production is for the pipeline
    match: {program: kubectl, option: {--context: "prod*"}}
    deny: final
    say: change production in the pipeline; staging is open
  - name: restarts
    match: {effect: service, resource: "service#{nginx,app}"}
    ask: {approvers: ops, count: 1, pending: 30m, grant: {uses: 10, for: 1h}}
    sandbox: privileged_operator_approved
  - match: {effect: write, path: /etc/**}
    when: caller.user != "deploy"
    ask: {approvers: ops, count: 2, touch: true}
patterns: {deny: ['\bmycriticalcmd\b'], allow: ['^npm install --save ']}
whitelist: [git status, npm run build]
approval: {approvers: /etc/ccm/approvers, groups: {ops: [alice, bob]}, four_eyes: true, via: [ssh]}
sandbox: {default: no_network_compute, programs: analysed, profiles: {remote: {network: true, write: [/srv/agent], memory: 2GiB}}}
limits: {timeout: 60s, max_timeout: 300s, output: 10000, calls: 60/1m, parallel: 4}
audit: {required: true, forward: [journald, {file: /var/log/seals}, {command: [logger, -t, ccm]}]}
"#;

#[test]
fn every_section_is_read() {
    let policy = policy(FULL);
    assert_eq!(policy.workspace().path.as_deref(), Some("/srv/agent"));
    assert!(policy.workspace().restrict);
    assert_eq!(policy.guard_mode(Caller::Apply), GuardMode::Standard);
    let tool = policy.tool_settings();
    assert_eq!((tool.approval, &*tool.tools), (ApprovalMode::MustRequire, &[ToolSet::GovernedExecute][..]));
    assert_eq!(tool.users, ["agent"]);
    assert_eq!(policy.class_verdict(GuardClass::Package, Caller::Apply).0, PolicyVerdict::Ask);
    assert_eq!(policy.class_verdict(GuardClass::Service, Caller::Apply).0, PolicyVerdict::Allow);
    let [branches, production, restarts, etc] = policy.rules() else { panic!("four rules") };
    assert_eq!(
        (branches.name.as_deref(), &*branches.action.allow),
        (Some("feature branches"), &[GuardClass::Publish][..])
    );
    assert_eq!(production.action.deny, Some(Denial::Final));
    let ask = restarts.action.ask.as_ref().expect("conditions");
    assert_eq!(ask.approvers, ApproverSet::Group("ops".to_owned()));
    assert_eq!(ask.pending, Some(Duration::from_secs(1800)));
    assert_eq!(ask.grant.map(|grant| (grant.uses, grant.time.as_secs())), Some((10, 3600)));
    let ask = etc.action.ask.as_ref().expect("conditions");
    assert!(ask.touch && ask.count == Some(2));
    assert_eq!(policy.rule_label(0), "rule \"feature branches\"");
    assert_eq!(policy.rule_label(3), "rule 4");
    assert_eq!(policy.location(restarts.span).map(|at| at.line), Some(17));
    let remote = &policy.sandbox().profiles["remote"];
    assert_eq!((remote.network, remote.memory), (true, Some(2 << 30)));
    assert_eq!(policy.sandbox().programs, ProgramSet::Analysed);
    assert_eq!(policy.limits().calls, Some((60, Duration::from_secs(60))));
    assert_eq!(policy.audit().forward.len(), 3);
    assert_eq!(policy.audit().forward[1], AuditReceiver::File("/var/log/seals".to_owned()));
    assert_eq!(policy.whitelists()[0].commands[1].words, ["npm", "run", "build"]);
}

#[test]
fn an_empty_policy_is_the_standard_guard() {
    let policy = policy("");
    for class in GuardClass::all() {
        for caller in Caller::ALL {
            assert_eq!(policy.class_verdict(class, caller), (class.default_verdict(caller), None));
        }
    }
    assert!(policy.rules().is_empty() && policy.whitelists().is_empty());
}

#[test]
fn settings_of_the_exec_tool_are_read_in_their_older_form() {
    for text in [
        "tools:\n  exec:\n    enable_deny_patterns: false\n    custom_deny_patterns: [\"\\\\bmycriticalcmd\\\\b\"]\n    custom_allow_patterns: [\"^npm install --save\"]\n",
        "enable_deny_patterns: false\ncustom_deny_patterns: ['\\bmycriticalcmd\\b']\ncustom_allow_patterns: ['^npm install --save']\n",
    ] {
        let policy = policy(text);
        assert_eq!(policy.guard_mode(Caller::Tool), GuardMode::Off, "{text}");
        assert_eq!(policy.guard_mode(Caller::Apply), GuardMode::Standard, "{text}");
        assert_eq!(policy.deny_patterns()[0].as_str(), r"\bmycriticalcmd\b");
        assert_eq!(policy.allow_patterns()[0].as_str(), "^npm install --save");
    }
    let enabled = policy("enable_deny_patterns: true\n");
    assert_eq!(enabled.guard_mode(Caller::Tool), GuardMode::Standard);
}
