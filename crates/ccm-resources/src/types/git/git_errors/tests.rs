use std::path::Path;

use ccm_host::{CapturedOutput, Exit};
use ccm_testkit::FakeRunner;

use super::*;
use crate::support::program::Program;

/// Each row: what is printed, the errors that are quoted, the cause in words, and whether the rest is shown as well.
const ROWS: &[(&str, &[&str], Option<&str>, bool)] = &[
    (
        "fatal: unable to access 'https://no.invalid/a.git/': Could not resolve host: no.invalid\n",
        &["unable to access 'https://no.invalid/a.git/': Could not resolve host: no.invalid"],
        Some("the name of the server can't be resolved"),
        false,
    ),
    (
        "ssh: Could not resolve hostname no.invalid: Name or service not known\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["ssh: Could not resolve hostname no.invalid: Name or service not known"],
        Some("the name of the server can't be resolved"),
        false,
    ),
    (
        "fatal: unable to look up no.invalid (port 9418) (Name or service not known)\n",
        &["unable to look up no.invalid (port 9418) (Name or service not known)"],
        Some("the name of the server can't be resolved"),
        false,
    ),
    (
        "ssh: connect to host 192.0.2.1 port 22: Connection timed out\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["ssh: connect to host 192.0.2.1 port 22: Connection timed out"],
        Some("the repository can't be reached"),
        false,
    ),
    (
        "fatal: unable to connect to 127.0.0.1:\n127.0.0.1[0: 127.0.0.1]: errno=Connection refused\n\n",
        &["unable to connect to 127.0.0.1", "Connection refused"],
        Some("the repository can't be reached"),
        false,
    ),
    (
        "fatal: unable to access 'http://127.0.0.1:1/a/': Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server\n",
        &[
            "unable to access 'http://127.0.0.1:1/a/': Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server",
        ],
        Some("the repository can't be reached"),
        false,
    ),
    (
        "error: unable to read askpass response from '/bin/false'\nfatal: could not read Username for 'https://example.com': terminal prompts disabled\n",
        &["could not read Username for 'https://example.com': terminal prompts disabled"],
        Some("the repository asks for a password, and git has none"),
        false,
    ),
    (
        "remote: Invalid username or password.\nfatal: Authentication failed for 'https://example.com/a.git/'\n",
        &["Authentication failed for 'https://example.com/a.git/'"],
        Some("the repository asks for a password, and git has none"),
        true,
    ),
    (
        "Host key verification failed.\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["Host key verification failed"],
        Some("ssh does not know the key of the server"),
        false,
    ),
    (
        "No ED25519 host key is known for example.com and you have requested strict checking.\r\nHost key verification failed.\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &[
            "No ED25519 host key is known for example.com and you have requested strict checking",
            "Host key verification failed",
        ],
        Some("ssh does not know the key of the server"),
        false,
    ),
    (
        "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nOffending ED25519 key in /root/.ssh/known_hosts:1\r\nHost key for example.com has changed and you have requested strict checking.\r\nHost key verification failed.\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &[
            "Host key for example.com has changed and you have requested strict checking",
            "Host key verification failed",
        ],
        Some("the server has another key than the one that ssh knows"),
        true,
    ),
    (
        "git@example.com: Permission denied (publickey,keyboard-interactive).\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["git@example.com: Permission denied (publickey,keyboard-interactive)"],
        Some("the server accepts no key of the user who runs git"),
        false,
    ),
    (
        "kex_exchange_identification: Connection closed by remote host\r\nConnection closed by 127.0.0.1 port 22\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["kex_exchange_identification: Connection closed by remote host"],
        Some("the connection to the server broke off"),
        true,
    ),
    (
        "fatal: detected dubious ownership in repository at '/srv/up.git'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/up.git\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["detected dubious ownership in repository at '/srv/up.git'"],
        Some("git reads no local repository of another user"),
        false,
    ),
    (
        "fatal: detected dubious ownership in repository at '/srv/app'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/app\n",
        &["detected dubious ownership in repository at '/srv/app'"],
        Some("the checkout belongs to another user than the one who runs git"),
        false,
    ),
    (
        "fatal: not a git repository (or any of the parent directories): .git\n",
        &["not a git repository (or any of the parent directories): .git"],
        Some("the directory `.git` of the checkout is damaged"),
        false,
    ),
    (
        "fatal: '/nosuch' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["'/nosuch' does not appear to be a git repository"],
        Some("there is no repository at this address"),
        false,
    ),
    (
        "fatal: repository 'http://example.com/a.git/' not found\n",
        &["repository 'http://example.com/a.git/' not found"],
        Some("there is no repository at this address"),
        false,
    ),
    (
        "ERROR: Repository not found.\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["Repository not found"],
        Some("there is no repository at this address"),
        false,
    ),
    (
        "remote: \nremote: ========================================================================\nremote: \nremote: ERROR: The project you were looking for could not be found or you don't have permission to view it.\nremote: \nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n",
        &["The project you were looking for could not be found or you don't have permission to view it"],
        Some("there is no repository at this address"),
        true,
    ),
    (
        "fatal: unable to access 'http://example.com/a.git/': The requested URL returned error: 403\n",
        &["unable to access 'http://example.com/a.git/': The requested URL returned error: 403"],
        Some("the server refuses access to the repository"),
        false,
    ),
    (
        "fatal: unable to access 'http://example.com/a.git/': The requested URL returned error: 503\n",
        &["unable to access 'http://example.com/a.git/': The requested URL returned error: 503"],
        Some("the server can't answer now"),
        false,
    ),
    (
        "fatal: unable to access 'https://example.com/a.git/': SSL certificate problem: self-signed certificate\n",
        &["unable to access 'https://example.com/a.git/': SSL certificate problem: self-signed certificate"],
        Some("the certificate of the server is not trusted"),
        false,
    ),
    (
        "fatal: unable to access 'https://example.com/a.git/': server certificate verification failed. CAfile: none CRLfile: none\n",
        &[
            "unable to access 'https://example.com/a.git/': server certificate verification failed. CAfile: none CRLfile: none",
        ],
        Some("the certificate of the server is not trusted"),
        false,
    ),
    (
        "error: RPC failed; curl 56 GnuTLS recv error (-110): The TLS connection was non-properly terminated.\nerror: 7215 bytes of body are still expected\nfetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output\n",
        &[
            "RPC failed; curl 56 GnuTLS recv error (-110): The TLS connection was non-properly terminated",
            "7215 bytes of body are still expected",
            "early EOF",
        ],
        Some("the connection to the server broke off"),
        true,
    ),
    ("fatal: the remote end hung up unexpectedly\n", &["the remote end hung up unexpectedly"], None, false),
    (
        "fatal: git upload-pack: not our ref 0123\nfatal: remote error: upload-pack: not our ref 0123\n",
        &["remote error: upload-pack: not our ref 0123"],
        Some("the repository does not give away this commit"),
        false,
    ),
    (
        "fatal: couldn't find remote ref nosuch\n",
        &["couldn't find remote ref nosuch"],
        Some("the repository does not give away this commit"),
        false,
    ),
    (
        "fatal: unable to write loose object file: No space left on device\nfatal: unpack-objects failed\n",
        &["unable to write loose object file: No space left on device"],
        Some("there is no space left for the checkout"),
        false,
    ),
    (
        "error: unable to write file big\nfatal: sha1 file '/srv/app/.git/index.lock' write error. Out of diskspace\n",
        &["unable to write file big", "sha1 file '/srv/app/.git/index.lock' write error. Out of diskspace"],
        Some("there is no space left for the checkout"),
        false,
    ),
    (
        "error: The following untracked working tree files would be overwritten by checkout:\n\tone\n\ttwo\n\tthree\n\tfour\nPlease move or remove them before you switch branches.\nAborting\n",
        &["The following untracked working tree files would be overwritten by checkout: one, two, three, …"],
        Some("files that git does not know are in the way"),
        true,
    ),
    (
        "error: Your local changes to the following files would be overwritten by checkout:\n\tfile\nPlease commit your changes or stash them before you switch branches.\nAborting\n",
        &["Your local changes to the following files would be overwritten by checkout: file"],
        Some("files were changed during the update"),
        false,
    ),
    (
        "fatal: Unable to create '/srv/app/.git/index.lock': File exists.\n\nAnother git process seems to be running in this repository, e.g.\nan editor opened by 'git commit'. Please make sure all processes\nare terminated then try again. If it still fails, a git process\nmay have crashed in this repository earlier:\nremove the file manually to continue.\n",
        &["Unable to create '/srv/app/.git/index.lock': File exists"],
        Some("another git works in this checkout, or died in it"),
        false,
    ),
    (
        "error: cannot lock ref 'refs/tags/v/x': 'refs/tags/v' exists; cannot create 'refs/tags/v/x'\nerror: some local refs could not be updated; try running\n 'git remote prune origin' to remove any old, conflicting branches\n",
        &[
            "cannot lock ref 'refs/tags/v/x': 'refs/tags/v' exists; cannot create 'refs/tags/v/x'",
            "some local refs could not be updated",
        ],
        Some("a branch or tag of the checkout is in the way"),
        false,
    ),
    (
        "Cloning into '/srv/app/a'...\nfatal: transport 'ext' not allowed\nfatal: clone of 'ext::sh -c id' into submodule path '/srv/app/a' failed\n",
        &["transport 'ext' not allowed", "clone of 'ext::sh -c id' into submodule path '/srv/app/a' failed"],
        Some("the address of a submodule is not allowed"),
        false,
    ),
    (
        "git-lfs filter-process: 1: git-lfs: not found\nfatal: the remote end hung up unexpectedly\n",
        &["the remote end hung up unexpectedly"],
        Some("the repository needs git-lfs, which is not installed"),
        true,
    ),
    (
        "fatal: bad config line 12 in file .git/config\n",
        &["bad config line 12 in file .git/config"],
        Some("the configuration of git can't be read"),
        false,
    ),
    (
        "fatal: bad object refs/remotes/origin/main\nerror: /srv/up.git did not send all necessary objects\n",
        &["bad object refs/remotes/origin/main", "/srv/up.git did not send all necessary objects"],
        Some("the repository of the checkout is damaged"),
        false,
    ),
    (
        "error: cannot open '.git/FETCH_HEAD': Permission denied\n",
        &["cannot open '.git/FETCH_HEAD': Permission denied"],
        Some("the user who runs git may not read or write a file"),
        false,
    ),
    (
        "fatal: protocol error: bad line length character: Welc\n",
        &["protocol error: bad line length character: Welc"],
        Some("the server prints something else before the repository"),
        false,
    ),
    ("hint: something\nfatal: something else\n", &["something else"], None, false),
    ("no mark at all\n", &[], None, true),
];

#[test]
fn errors_of_git_are_found_and_explained() {
    for (printed, errors, cause, has_details) in ROWS {
        let stderr = CapturedOutput { head: (*printed).into(), ..CapturedOutput::default() };
        let finished = Finished { stderr, ..FakeRunner::finished(Exit::Code(128)) };
        let program = Program::new("git").titled("`git fetch`").quoting(ERRORS);
        let failure = program.failure(&finished).expect("a failure");
        let failure = explained(failure, Path::new("/srv/app"), &finished);
        let title = "`git fetch` failed with exit code 128";
        let expected: Vec<&str> =
            cause.iter().copied().chain([title]).chain(errors.iter().copied()).collect();
        assert_eq!(failure.chain, expected, "{printed}");
        assert_eq!(failure.hints.len(), usize::from(cause.is_some()), "{printed}");
        assert_eq!(!failure.output.is_empty(), *has_details, "{printed}");
    }
}
