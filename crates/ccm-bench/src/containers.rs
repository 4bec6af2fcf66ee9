//! Commands in containers, against the client of Docker with the same settings.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ccm_testkit::{Dockerd, IMAGE};

use crate::binary;
use crate::measure::{ratio_within, times};

const CLIENT: &str = "/usr/bin/docker";
const COUNT: u32 = 20;
const ROUNDS: usize = 3;

/// Compares processes of ccm with calls of the client, one for each command. The daemon is one of the benchmark's own.
pub(crate) fn run(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("containers") else { return };
    if !Path::new(CLIENT).exists() {
        println!("containers: skipped, there is no {CLIENT}");
        return;
    }
    let Some(daemon) = Dockerd::shared() else {
        println!("containers: skipped, no Docker daemon can be started here");
        return;
    };
    let host = daemon.host();
    for (reuse, count, aim) in [
        ("per_command", 1, Some(1.0)),
        ("per_command", COUNT, Some(1.0)),
        ("per_run", 1, None),
        ("per_run", COUNT, Some(0.2)),
    ] {
        let path = scratch.join(format!("{reuse}-{count}.yaml"));
        std::fs::write(&path, manifest(&host, reuse, count)).expect("a manifest");
        let (ours, theirs) = times(
            ROUNDS,
            || binary::run(&ccm, scratch, &path),
            || (0..count).for_each(|_| run_by_client(scratch, &host)),
        );
        let commands = if count == 1 { "command" } else { "commands" };
        ratio_within(&format!("containers: {count} {commands}, {reuse}"), ours, theirs, aim);
    }
}

/// Returns a manifest with as many commands.
fn manifest(host: &str, reuse: &str, count: u32) -> String {
    let mut text = format!(
        "ccm:\n  executors:\n    box: {{kind: docker, host: '{host}', image: '{IMAGE}', container: {reuse}, \
         auto_remove: true, network_mode: none, memory_limit: 67108864, cap_drop: [ALL], read_only_rootfs: true}}\n  \
         resources:\n    - exec:\n"
    );
    for number in 0..count {
        // Writing to a `String` can't fail.
        let _ = writeln!(text, "        - command-{number}: {{command: 'true', executor: box}}");
    }
    text
}

/// Runs one command by the client, with the settings of the manifest. Like ccm, it keeps no log of the container.
fn run_by_client(scratch: &Path, host: &str) {
    let mut client = Command::new(CLIENT);
    client.args(["--config"]).arg(scratch).args(["--host", host, "run", "--rm", "--log-driver", "none"]);
    client.args([
        "--network",
        "none",
        "--memory",
        "67108864",
        "--memory-swap",
        "67108864",
        "--cap-drop",
        "ALL",
    ]);
    client.args(["--read-only", "--no-healthcheck", IMAGE, "true"]);
    let status = client.stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "docker failed");
}
