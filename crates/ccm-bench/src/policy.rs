//! Analysis of commands for a policy.

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{AnalysisLimits, PolicyRequest, analyse};
use ccm_shell::ShellDialect;

use crate::measure::{number_within, time};

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

/// Measures the first analysis, which parses entries of the tables, and the analysis of a script.
pub(crate) fn measure() {
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
