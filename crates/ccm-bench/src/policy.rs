//! Policies: the analysis of commands, loading, and runs that obey a policy.

use std::fmt::Write as _;
use std::path::Path;

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{AnalysisLimits, PolicyRequest, PolicyText, analyse, read_policy};
use ccm_runtime::{Config, GivenValues, ManifestSource, PolicySource, RunOptions, Session};
use ccm_shell::ShellDialect;

use crate::manifests;
use crate::measure::{millis, number_within, ratio_within, time, times};

const SCRIPT: &str = r#"set -e
cd build
for f in *.c; do gcc -c "$f" -o "${f%.c}.o"; done
git log --oneline | head -n 5 > changes.txt
tar czf ../out.tgz --exclude='*.o' src include
sed -i 's/a/b/g' config.h && sort -u names.txt -o names.txt
if [ -f Makefile ]; then make -j4 all; else echo none; fi
find . -name '*.tmp' -exec rm {} +
env FOO=1 timeout 60 python3 tools/check.py --level 2
docker compose -f compose.yml up -d web
"#;

/// Returns a policy of 100 rules of different kinds, each with an example that matches and one that does not.
fn policy_of_rules() -> String {
    let mut text = "ccm_policy: 1\npatterns: {deny: ['\\bforbidden-[a-z]+\\b']}\nrules:\n".to_owned();
    for number in 0..100 {
        let rule = match number % 5 {
            0 => format!(
                "{{program: kubectl, option: {{--context: \"prod{number}*\"}}}}\n    deny: final\n    say: change \
                 production in the pipeline\n    examples: {{yes: [kubectl --context prod{number}-eu get pods], no: \
                 [kubectl --context staging get pods]}}"
            ),
            1 => format!(
                "{{program: git, args: [push, origin, \"feature-{number}-*\"]}}\n    allow: [publish]\n    examples: \
                 {{yes: [git push origin feature-{number}-x], no: [git push origin main]}}"
            ),
            2 => format!(
                "{{effect: write, path: \"/etc/app-{number}/**\"}}\n    ask: true\n    examples: {{yes: [cp x \
                 /etc/app-{number}/y], no: [cp x /srv/y]}}"
            ),
            3 => format!(
                "{{effect: service, resource: \"service#app-{number}-{{a,b}}\"}}\n    ask: {{count: 2}}\n    examples: \
                 {{yes: [systemctl restart app-{number}-a], no: [systemctl restart nginx]}}"
            ),
            _ => format!(
                "{{program: deploy-{number}}}\n    when: caller.user != \"deploy\"\n    deny: true\n    examples: {{yes: \
                 [deploy-{number} now], no: [deploy now]}}"
            ),
        };
        // Writing to a `String` can't fail.
        let _ = writeln!(text, "  - name: rule {number}\n    match: {rule}");
    }
    text
}

/// Measures loading a policy. The first time in a process also parses entries of the tables.
pub(crate) fn load() {
    let file = PolicyText { name: "policy.yaml".to_owned(), text: policy_of_rules().into() };
    let load = || {
        let reading = read_policy(&file, &[]);
        assert!(reading.policy.is_some(), "{:?}", reading.diagnostics);
    };
    number_within(
        "policy: loading 100 rules with 200 examples, the first time",
        millis(time(1, load)),
        "ms",
        1.0,
    );
    number_within("policy: loading 100 rules with 200 examples", millis(time(101, load)), "ms", 1.0);
}

/// Compares steady runs under a policy with runs without: loading the manifest, loading the policy and the run.
pub(crate) fn apply(scratch: &Path) {
    const COUNT: u32 = 1_000;
    let etc = scratch.join("etc");
    std::fs::create_dir(&etc).expect("a directory");
    std::fs::write(etc.join("policy.yaml"), policy_of_rules()).expect("a policy");
    for (name, text, rounds) in [
        ("1000 execs with creates", manifests::satisfied_execs(COUNT), 51),
        ("1000 different execs with creates", manifests::different_execs(COUNT), 51),
        ("1000 execs with different guards", manifests::guarded_execs(COUNT), 11),
    ] {
        let manifest = scratch.join("manifest.yaml");
        std::fs::write(&manifest, text).expect("a manifest");
        let apply = |policy: PolicySource| {
            let state_directory = Some(scratch.join("state"));
            let session = Session::open(Config { state_directory, policy, ..Config::default() });
            let source = ManifestSource::File(manifest.clone());
            let input = session.read(source, &GivenValues::default(), 1 << 24).expect("a manifest");
            let loaded = session.load(&input).expect("a manifest without errors");
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let report =
                runtime.block_on(loaded.apply(RunOptions::default(), &mut |_: ccm_runtime::Emitted<'_>| {}));
            assert_eq!(report.expect("a run").summary.counts.failed, 0);
        };
        let (with, without) =
            times(rounds, || apply(PolicySource::Directory(etc.clone())), || apply(PolicySource::None));
        ratio_within(&format!("policy: {name}, with / without"), with, without, 1.05);
    }
}

/// Measures the first analysis, which parses entries of the tables, and the analysis of a script.
pub(crate) fn analysis() {
    let machine = PolicyMachine::debian();
    let request = |text: &str| {
        let mut request = PolicyRequest::text(text, ShellDialect::Sh, "/w");
        request.environment = vec![("HOME".to_owned(), "/home/agent".to_owned())];
        request
    };
    let micros = |took: std::time::Duration| took.as_secs_f64() * 1e6;
    let run = |text: &str| {
        let analysis = analyse(&request(text), &machine, &AnalysisLimits::default());
        assert_eq!(analysis.unreadable, None);
        analysis.commands.len()
    };
    // The tables are loaded once in a process.
    number_within(
        "policy: tables of programs and a first command",
        micros(time(1, || run("ls"))),
        "µs",
        1_000.0,
    );
    number_within(
        "policy: entries of a first script of 10 lines",
        micros(time(1, || run(SCRIPT))),
        "µs",
        2_000.0,
    );
    number_within(
        "policy: analysis of a script of 10 lines",
        micros(time(1_001, || run(SCRIPT))),
        "µs",
        100.0,
    );
}
