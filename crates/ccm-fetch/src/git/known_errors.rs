//! Known errors of git, by what is printed.

use std::path::Path;

/// Known error: texts of which one is printed, the cause in words, and what can be done.
type Known = (&'static [&'static str], &'static str, &'static str);

/// The first one that is found counts.
const KNOWN: &[Known] = &[
    (
        &[
            "could not read Username",
            "could not read Password",
            "Authentication failed",
            "HTTP Basic: Access denied",
        ],
        "the repository asks for a password, and git has none",
        "store the password with a credential helper of git for the `user`, or use ssh with a key",
    ),
    (
        &["REMOTE HOST IDENTIFICATION HAS CHANGED", "has changed and you have requested strict checking"],
        "the server has another key than the one that ssh knows",
        "compare the new key with the published one: somebody may be in between; only then replace the old one in \
         `known_hosts`",
    ),
    (
        &["Host key verification failed"],
        "ssh does not know the key of the server",
        "add the key of the server to `/etc/ssh/ssh_known_hosts`, after a comparison with the published one",
    ),
    (
        &["Permission denied (publickey", "Permission denied (keyboard", "Permission denied (password"],
        "the server accepts no key of the user who runs git",
        "add the public key of that user to the server, or set another `user`",
    ),
    (
        &["fatal: not a git repository"],
        "the directory `.git` of the checkout is damaged",
        "move the checkout away, so that the next run clones it again",
    ),
    (
        &[
            "does not appear to be a git repository",
            "epository not found",
            "/' not found",
            "could not be found or you",
        ],
        "there is no repository at this address",
        "check `url`",
    ),
    (
        &["returned error: 403"],
        "the server refuses access to the repository",
        "check `url`, and that the user who runs git may read the repository",
    ),
    (
        &["returned error: 429", "returned error: 5"],
        "the server can't answer now",
        "run ccm again later, or look into the log of the server",
    ),
    (
        &[
            "SSL certificate problem",
            "certificate verif",
            "certificate verify failed",
            "no alternative certificate subject",
        ],
        "the certificate of the server is not trusted",
        "check the host in `url`, and install the certificate of the authority of the server in the system",
    ),
    (
        &["Could not resolve host", "unable to look up"],
        "the name of the server can't be resolved",
        "check the host in `url`, and the name servers of this machine",
    ),
    (
        &[
            "early EOF",
            "RPC failed",
            "unexpected disconnect",
            "Connection reset",
            "Connection closed by",
            "Operation too slow",
            "Broken pipe",
        ],
        "the connection to the server broke off",
        "run ccm again; `depth: 1` transfers less",
    ),
    (
        &["dumb http transport does not support shallow"],
        "the server can only hand out the whole history",
        "remove `depth`",
    ),
    (
        &[
            "unable to access",
            "unable to connect",
            "Connection timed out",
            "Connection refused",
            "No route to host",
            "Network is unreachable",
        ],
        "the repository can't be reached",
        "check `url`, and that the server runs; a proxy or firewall may be in between",
    ),
    (
        &["No space left on device", "Out of diskspace", "Disk quota exceeded"],
        "there is no space left for the checkout",
        "free space in the file system of `path`",
    ),
    (
        &["Read-only file system"],
        "the file system of the checkout is read-only",
        "set another `path`, or mount the file system writable",
    ),
    (
        &["not our ref", "unadvertised object", "couldn't find remote ref"],
        "the repository does not give away this commit",
        "check `revision`; many servers only give away commits of a branch or tag",
    ),
    (
        &["Your local changes to the following files would be overwritten"],
        "files were changed during the update",
        "see them with `git diff HEAD`; `force: true` discards them",
    ),
    (
        &["would be overwritten by checkout", "would lose untracked files"],
        "files that git does not know are in the way",
        "move them away; `force: true` overwrites them",
    ),
    (
        &[".lock': File exists"],
        "another git works in this checkout, or died in it",
        "wait for it to end, or remove the lock file if no git is running",
    ),
    (
        &["cannot lock ref"],
        "a branch or tag of the checkout is in the way",
        "remove it with `git branch -D` or `git tag -d`",
    ),
    (
        &["' not allowed"],
        "the address of a submodule is not allowed",
        "use `https`, `http`, `ssh` or `git` in `.gitmodules`; a local path needs a local `url`",
    ),
    (
        &["No url found for submodule path"],
        "a submodule has no address",
        "add the submodule to `.gitmodules` of the repository",
    ),
    (
        &["Direct fetching of that commit failed"],
        "the repository of a submodule lacks its commit",
        "push the commit of the submodule to its repository",
    ),
    (
        &[
            "git-lfs: not found",
            "git-lfs: command not found",
            "'lfs' is not a git command",
            "cannot run git-lfs",
        ],
        "the repository needs git-lfs, which is not installed",
        "install the package `git-lfs`",
    ),
    (
        &["bad line length character"],
        "the server prints something else before the repository",
        "remove what the profile of the user prints on the server",
    ),
    (
        &["bad config line", "bad numeric config value"],
        "the configuration of git can't be read",
        "correct the file that the error names",
    ),
    (
        &[
            "bad object",
            "is corrupt",
            "object file .git/objects",
            "did not send all necessary objects",
            "index file smaller than expected",
            "bad signature 0x",
            "bad index file sha1 signature",
            "unable to read tree",
            "unable to read sha1 file",
        ],
        "the repository of the checkout is damaged",
        "look at it with `git fsck`, or move the checkout away, so that the next run clones it again",
    ),
    (
        &["Permission denied", "Operation not permitted"],
        "the user who runs git may not read or write a file",
        "give the checkout to that user, or set `user` to the owner of the checkout",
    ),
];

/// Returns the cause of a known error of git in a directory, and what can be done, by what it printed.
pub fn git_advice(printed: &str, directory: &Path) -> Option<(&'static str, &'static str)> {
    if let Some((_, after)) = printed.split_once("detected dubious ownership in repository at '") {
        let own = directory.display().to_string();
        let is_own = directory != Path::new("/") && after.starts_with(&own);
        return Some(if is_own {
            (
                "the checkout belongs to another user than the one who runs git",
                "set `user` to the owner of the checkout",
            )
        } else {
            (
                "git reads no local repository of another user",
                "set `user` to the owner of the repository in `url`",
            )
        });
    }
    let is_printed = |known: &&Known| known.0.iter().any(|sign| printed.contains(sign));
    KNOWN.iter().find(is_printed).map(|(_, message, hint)| (*message, *hint))
}
