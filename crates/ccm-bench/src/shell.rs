//! Reading of shell texts.

use std::hint::black_box;

use ccm_shell::{ShellBudget, ShellContext, ShellDialect, check, read};

use crate::measure::{per_within, time};

/// Script of ten lines, as an exec or an agent has it.
const TEN_LINES: &str = r#"set -eu
cd /srv/app
release=$(git rev-parse --short HEAD)
mkdir -p "releases/$release" && tar -xzf "build/app-$release.tar.gz" -C "releases/$release"
for service in web worker; do systemctl stop "app-$service" || echo "$service was not running" >&2; done
[ -f shared/.env ] && cp shared/.env "releases/$release/.env"
ln -sfn "releases/$release" current
if ! curl -fsS "http://localhost:${PORT:-8080}/health" | grep -q ok; then rm -rf ~/"cache/$release"; fi
find releases -mindepth 1 -maxdepth 1 -mtime +30 -print | sort | head -n 5 > old.txt
exec systemctl start app-web app-worker
"#;

/// Measures the analysis of a script, and the check that is done when a manifest is loaded.
pub(crate) fn measure() {
    const COUNT: u32 = 1000;
    let context = ShellContext { directory: "/root", variables: vec![("HOME", "/root")] };
    for (name, dialect) in [("sh", ShellDialect::Sh), ("bash", ShellDialect::Bash)] {
        let took = time(9, || {
            for _ in 0..COUNT {
                let reading = read(black_box(TEN_LINES), dialect, &context, &mut ShellBudget::default());
                assert!(black_box(reading).is_ok(), "the script is read");
            }
        });
        per_within(&format!("shell: reading a script of 10 lines for {name}"), took, COUNT, 100.0);
        let took = time(9, || {
            for _ in 0..COUNT {
                assert!(black_box(check(black_box(TEN_LINES), dialect)).is_ok(), "the script is read");
            }
        });
        per_within(&format!("shell: checking a script of 10 lines for {name}"), took, COUNT, 100.0);
    }
}
