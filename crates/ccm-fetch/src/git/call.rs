//! Calls of git that ask nothing and run no code of the repository.

use std::path::Path;

/// Variables that prevent questions. A password can come from a credential helper, and a key from the agent or from
/// the configuration of ssh.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("SSH_ASKPASS", "/bin/false"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=30"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// Settings that take precedence over those of the checkout: no hooks, no other programs, no processes in the background,
/// no transports that run commands, and an end of transfers that stand still.
const SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "transfer.credentialsInUrl=die",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "advice.detachedHead=false",
    "init.defaultBranch=main",
];

/// Returns the variables of a call of git.
pub fn git_environment() -> Vec<(String, String)> {
    ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// Returns the arguments of a call of git in a directory, with further settings. None of them, and none of the repository,
/// runs a program.
pub fn git_arguments(directory: &Path, settings: &[&str], args: &[&str]) -> Vec<String> {
    let directory = directory.display().to_string();
    let settings = SETTINGS.iter().chain(settings).flat_map(|setting| ["-c", setting]);
    let all = ["-C", &*directory].into_iter().chain(settings).chain(args.iter().copied());
    all.map(str::to_owned).collect()
}
