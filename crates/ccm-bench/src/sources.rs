//! Sources: a release that is accepted, and a run that finds nothing new.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::binary::{apply_command, ccm_for};
use crate::measure::{counts_within, millis, number_within, ratio_within, times};
use crate::start_up::instructions;

/// Number of files of the release, beside its manifest.
const FILES: u32 = 1_000;
/// Maximum time to accept a release, for each unit of time of the programs that do the same.
const ACCEPT_AIM: f64 = 1.5;
/// Maximum time in milliseconds that a source adds to a run.
const NOTHING_NEW_AIM: f64 = 5.0;

/// Unpacks the bundle, makes its digest, and brings each file to the disk.
const BARE: &str = "rm -rf out && mkdir out && zstd -qdc bundle.tar.zst > bundle.tar && tar -xf bundle.tar -C out && \
                    sha256sum bundle.tar && find out -type f -exec sync {} +";

/// Measures a release in a directory.
pub(crate) fn run(scratch: &Path) {
    let Some(ccm) = ccm_for("sources") else { return };
    let site = scratch.join("site");
    std::fs::create_dir_all(site.join("files")).expect("a directory");
    for number in 0..FILES {
        let content = crate::manifests::content(number);
        std::fs::write(site.join(format!("files/{number}")), content).expect("a file");
    }
    let text = format!(
        "ccm: {{resources: [{{file: [{{{}: {{content: x}}}}]}}]}}\n",
        scratch.join("managed").display()
    );
    std::fs::write(site.join("site.yaml"), text).expect("a manifest");
    let setup = "ssh-keygen -q -t ed25519 -N '' -f key && echo \"ops $(cat key.pub)\" > signers && \
                 \"$0\" release build site --channel base --version 1 --out base.release && \
                 \"$0\" release sign --key key base.release && cp *.tar.zst bundle.tar.zst";
    shell(scratch, setup, &ccm);
    let from = || {
        let mut command = Command::new(&ccm);
        command.args([
            "apply",
            "-q",
            "--from",
            "base.release",
            "--signers",
            "signers",
            "--state-dir",
            "followed",
        ]);
        command.current_dir(scratch).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let accept = || {
        let _ = std::fs::remove_dir_all(scratch.join("followed"));
        succeed(from());
    };
    let (ours, theirs) = times(11, accept, || shell(scratch, BARE, &ccm));
    ratio_within("sources: release of 1000 files, accepted and applied", ours, theirs, ACCEPT_AIM);

    let apply = || apply_command(&ccm, scratch, &site.join("site.yaml"));
    let (ours, theirs) = times(31, || succeed(from()), || succeed(apply()));
    let more = millis(ours) - millis(theirs);
    number_within("sources: nothing new in a directory, above apply", more, "ms", NOTHING_NEW_AIM);
    match (instructions(&from()), instructions(&apply())) {
        (Some(ours), Some(theirs)) => {
            counts_within(
                "sources: nothing new in a directory, instructions, against apply",
                ours,
                theirs,
                None,
            );
        }
        _ => println!("sources: instructions are skipped, valgrind counts none"),
    }
}

fn shell(scratch: &Path, script: &str, ccm: &Path) {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(ccm).current_dir(scratch).stdin(Stdio::null()).stdout(Stdio::null());
    succeed(command);
}

fn succeed(mut command: Command) {
    assert!(command.status().is_ok_and(|status| status.success()), "a command failed");
}
