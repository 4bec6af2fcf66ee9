//! Encrypted values: what opening them costs a run.

use std::path::Path;
use std::process::{Command, Stdio};

use ccm_runtime::{Config, GivenValues, ManifestSource, Session};

use crate::binary;
use crate::measure::{millis, number_within, times};

/// Maximum size of a manifest in bytes.
const MAX_SIZE: u64 = 16 << 20;

/// Compares manifests with encrypted values with the same ones as plain text.
pub(crate) fn run(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("secrets") else { return };
    let key = scratch.join("key");
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
    assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes no key");
    let load = |name: &str, text: String| {
        let path = scratch.join(name);
        std::fs::write(&path, text).expect("a manifest");
        let identity = Some(key.clone());
        move || {
            let session = Session::open(Config { identity: identity.clone(), ..Config::default() });
            let source = ManifestSource::File(path.clone());
            let input = session.read(source, &GivenValues::default(), MAX_SIZE).expect("a manifest");
            session.load(&input).expect("a manifest without errors");
        }
    };
    let values: Vec<String> = (0..101).map(|number| encrypted(&ccm, scratch, number)).collect();
    let manifest = |count: usize| {
        let data: String = values.iter().take(count).map(String::as_str).collect();
        format!("data:\n{data}ccm: {{resources: [{{file: [{{/tmp/x: {{content: x}}}}]}}]}}\n")
    };
    let plain = |count: usize| manifest(count).replace("# @encrypted\n", "\n");
    let mut taken = [0.0; 2];
    for (taken, count) in taken.iter_mut().zip([1, 101]) {
        let encrypted = load(&format!("encrypted-{count}"), manifest(count));
        let (with, without) = times(101, encrypted, load(&format!("plain-{count}"), plain(count)));
        *taken = millis(with) - millis(without);
    }
    let [first, all] = taken;
    number_within("secrets: opening the first encrypted value", first, "ms", 2.0);
    number_within("secrets: opening each further one of 100", (all - first) / 100.0, "ms", 0.2);
}

/// Returns an encrypted value as it stands in `data`.
fn encrypted(ccm: &Path, scratch: &Path, number: usize) -> String {
    let words = ["secret", "encrypt", "--to", "key.pub", "--as", &format!("value_{number}")];
    let mut child = Command::new(ccm)
        .args(words)
        .current_dir(scratch)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ccm starts");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, b"a password of some length").expect("a value");
    drop(input);
    let output = child.wait_with_output().expect("ccm ends");
    String::from_utf8(output.stdout).expect("a text")
}
