//! Resources without a manifest: calls of `ccm ensure` and requests, beside `ccm apply` with the same resources.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::binary;
use crate::measure::{ratio_within, times};

/// Number of requests.
const REQUESTS: usize = 1000;
const PROTOCOL: &str = "io.choria.ccm.v1.resource.ensure.request";
const CALLS: usize = 21;
const ROUNDS: usize = 9;

/// Compares one call with `ccm apply` of one file, and requests with `ccm apply` of as many files. Nothing is changed.
pub(crate) fn run(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("ensure") else { return };
    let content = "# written by ccm\n";
    let path = |number: usize| scratch.join(format!("ensured-{number}")).display().to_string();
    let manifest = |count: usize| {
        let mut text = "ccm:\n  resources:\n    - file:\n".to_owned();
        for number in 0..count {
            let _ = writeln!(text, "        - {}: {{content: {content:?}, mode: \"0644\"}}", path(number));
        }
        let file = scratch.join(format!("ensured-{count}.yaml"));
        std::fs::write(&file, text).expect("a manifest");
        file
    };
    let (one, all) = (manifest(1), manifest(REQUESTS));
    binary::run(&ccm, scratch, &all);
    let words = ["-q", "file", &path(0), "--content", content, "--mode", "0644"];
    let ensure = |words: &[&str]| {
        let mut command = Command::new(&ccm);
        command.arg("ensure").arg("--state-dir").arg(scratch.join("state")).args(words);
        command.current_dir(scratch).stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let (called, applied) = times(
        CALLS,
        || assert!(ensure(&words).status().is_ok_and(|status| status.success()), "a call"),
        || binary::run(&ccm, scratch, &one),
    );
    ratio_within("ensure of one file, beside apply of it", called, applied, 1.3);

    let requests = scratch.join("requests");
    let request = |number: usize| {
        let properties =
            format!("{{\"name\": {:?}, \"content\": {content:?}, \"mode\": \"0644\"}}", path(number));
        format!("{{\"protocol\": \"{PROTOCOL}\", \"type\": \"file\", \"properties\": {properties}}}\n")
    };
    std::fs::write(&requests, (0..REQUESTS).map(request).collect::<String>()).expect("requests");
    let (answered, applied) = times(
        ROUNDS,
        || {
            let mut command = ensure(&["api", "pipe"]);
            command.stdin(File::open(&requests).expect("requests"));
            assert!(command.status().is_ok_and(|status| status.success()), "answers");
        },
        || binary::run(&ccm, scratch, &all),
    );
    ratio_within("1000 requests, beside apply of 1000 files", answered, applied, 3.0);
}
