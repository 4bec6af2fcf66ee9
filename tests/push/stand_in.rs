//! Hosts on this machine, behind a stand-in of ssh.

use ccm_testkit::{Called, Ccm, Scratch, repository};
use serde_json::Value;

/// Program that the tests call.
const PROGRAM: &str = env!("CARGO_BIN_EXE_ccm");

/// Returns a directory with an inventory and a site that writes a file for each host.
pub(crate) fn site(hosts: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    inventory(&scratch, hosts);
    manifest(&scratch, "Welcome");
    scratch
}

/// Writes the inventory. Each host has its directory as a fact.
pub(crate) fn inventory(scratch: &Scratch, hosts: &[&str]) {
    let host = |name: &&str| {
        format!("  {name}: {{groups: [all], facts: {{dir: {}}}}}\n", scratch.at(&format!("hosts/{name}")))
    };
    let hosts: String = hosts.iter().map(host).collect();
    scratch.write("hosts.yaml", format!("hosts:\n{hosts}"));
}

/// Writes the manifest of the site.
pub(crate) fn manifest(scratch: &Scratch, text: &str) {
    scratch.write("site/files/motd", format!("{text}\n"));
    scratch.write(
        "site/site.yaml",
        format!(
            "ccm:\n  resources:\n    - file:\n        - {}: {{source: files/motd}}\n",
            scratch.at("data/motd")
        ),
    );
}

/// Returns a call of `ccm push` with the stand-in.
pub(crate) fn push(scratch: &Scratch, words: &[&str]) -> Ccm {
    let ssh = repository("tests/push/ssh");
    let home = scratch.at("home");
    Ccm::new(PROGRAM, scratch)
        .default_state()
        .args(&["push"])
        .args(words)
        .variable("CCM_SSH", &format!("sh {}", ssh.display()))
        .variable("CCM_STATE_DIR", &scratch.at("state"))
        .variable("TOP", &scratch.at(""))
        .variable("CCM", PROGRAM)
        .variable("HOME", &home)
        .variable("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
}

/// Returns the document of a push.
pub(crate) fn document(called: &Called) -> Value {
    serde_json::from_str(&called.stdout).unwrap_or_else(|_| unreachable!("no document: {}", called.shown()))
}

/// Returns what the document says about a host.
pub(crate) fn host<'d>(document: &'d Value, name: &str) -> &'d Value {
    let hosts = document["hosts"].as_array().expect("hosts");
    hosts.iter().find(|host| host["host"] == name).expect("the host")
}
