//! Policies: read, merged, and asked about commands.

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, NoValues, Policy, PolicyFiles, PolicyReading, PolicyRequest,
    PolicyText, PolicyVerdict, analyse, read_policy_files,
};
use ccm_shell::ShellDialect;

use super::spans;

pub(crate) const WORDS: &[&str] = &[
    "ccm_policy: 1\n",
    "#--- policy.d/a.yaml\nccm_policy: 1\n",
    "#--- own\nccm_policy: 1\n",
    "trusted: [a.yaml]\n",
    "workspace: {path: /srv/agent, restrict: true}\n",
    "callers: {apply: {guard: audit}}\n",
    "callers: {tool: {guard: off}}\n",
    "guard: {package: ask, disk: deny}\n",
    "rules:\n",
    "  - name: a\n",
    "  - {match: {program: git}, deny: true}\n",
    "  - {match: {program: [rm, git], args: [push, \"**\"]}, deny: final}\n",
    "  - {match: {option: {--context: \"prod*\"}}, ask: true}\n",
    "  - {match: {effect: write, path: /etc/**}, ask: {approvers: ops, count: 2}}\n",
    "  - {match: {resource: \"service#{a,b}\"}, allow: [service]}\n",
    "    match: {effect: [write, delete]}\n",
    "    when: caller.user != \"x\"\n",
    "    when: any(command.args, # == \"x\")\n",
    "    allow: [publish]\n",
    "    examples: {yes: [git push], no: [ls]}\n",
    "    say: no\n",
    "    sandbox: read_only_local\n",
    "patterns: {deny: ['\\brm\\b'], allow: ['^git push']}\n",
    "custom_deny_patterns: ['(a+)+$']\n",
    "\\w{100}",
    "(x*)*",
    "whitelist: [git status, ls]\n",
    "approval: {groups: {ops: [a, b]}}\n",
    "sandbox: {default: read_only_local, profiles: {x: {network: true}}}\n",
    "limits: {timeout: 60s}\n",
    "audit: {required: true}\n",
    "enable_deny_patterns: false\n",
    "*?[a-z]{b,c}\\",
    "**/",
    "[!",
    "{{{{",
    "&a ",
    "*a",
    ": ",
    "- ",
    "\"",
    "'",
];

const COMMANDS: &[&str] = &[
    "ls -la /srv",
    "git push origin main",
    "rm -rf /srv/agent/build $x",
    "echo a > /etc/motd; systemctl restart nginx",
    "sudo kubectl --context prod-eu get pods",
    "curl x | sh",
    "env A=1 \"$X\" b",
    "cat /srv/agent/out/x > /srv/agent/root/etc/y",
    "apt-get install -y nginx && dd if=/dev/zero of=/dev/sda",
];

/// Beginning of a line with the name of the next file.
const NEXT: &str = "#--- ";

pub(crate) fn run(input: &[u8]) {
    let text = super::text(input);
    let files = files_of(&text);
    let reading = read(&files);
    let main = read(&PolicyFiles { main: files.main.clone(), ..PolicyFiles::default() });
    let machine =
        PolicyMachine::debian().with_link("/srv/agent/out", "/etc").with_link("/srv/agent/root", "/");
    for command in COMMANDS {
        let request = PolicyRequest::text(*command, ShellDialect::Sh, "/srv/agent");
        let analysis = analyse(&request, &machine, &AnalysisLimits::default());
        for caller in Caller::ALL {
            let merged = reading.policy.as_ref().map(|policy| verdict(policy, &analysis, caller));
            let of_main = main.policy.as_ref().map(|policy| verdict(policy, &analysis, caller));
            // What adds to a policy makes no verdict milder.
            if let (Some(merged), Some(of_main), false) = (merged, of_main, text.contains("trusted")) {
                assert!(merged >= of_main, "{command:?} is {merged:?} instead of {of_main:?}");
            }
        }
    }
}

/// Reads a policy, and checks what is reported.
fn read(files: &PolicyFiles) -> PolicyReading {
    let reading = read_policy_files(files);
    spans::check(&reading.diagnostics, &reading.texts);
    let errors = reading.diagnostics.iter().any(|found| found.severity == ccm_model::Severity::Error);
    assert_eq!(errors, reading.policy.is_none());
    assert_eq!(reading.diagnostics, read_policy_files(files).diagnostics);
    if let Some(policy) = &reading.policy {
        spans::check(&policy.conflicts(), policy.texts());
    }
    reading
}

fn verdict(policy: &Policy, analysis: &Analysis, caller: Caller) -> PolicyVerdict {
    let decision = policy.decide(analysis, caller, &NoValues);
    // Whoever explains a verdict needs its reasons.
    let has_cause = decision.strictest().is_some_and(|at| decision.commands[at].cause().is_some());
    assert!(decision.verdict == PolicyVerdict::Allow || decision.unreadable.is_some() || has_cause);
    decision.verdict
}

/// Returns the files of an input: the first is the main one, `own` is that of the user.
fn files_of(text: &str) -> PolicyFiles {
    let mut all: Vec<(String, String)> = vec![("/etc/ccm/policy.yaml".to_owned(), String::new())];
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix(NEXT) {
            all.push((name.trim_end().to_owned(), String::new()));
        } else if let Some((_, text)) = all.last_mut() {
            text.push_str(line);
        }
    }
    let mut files = PolicyFiles::default();
    for (position, (name, text)) in all.into_iter().enumerate() {
        let file = PolicyText { text: text.into(), name };
        match &*file.name {
            _ if position == 0 => files.main = Some(file),
            "own" => files.own = Some(file),
            _ => files.fragments.push(file),
        }
    }
    files
}
