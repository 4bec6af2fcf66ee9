//! Repositories that must not be accepted.

use ccm_source::{FollowError, KeptKind};
use ccm_testkit::usual_or_long;

use crate::branch_site::{BranchSite, GitTransport};
use crate::site::manifest_of;

/// Something wrong in place of the next commit: its name, the script that makes it, and what the reason says.
type Hostile = (&'static str, &'static str, &'static str);

/// Signatures that don't count.
const SIGNATURES: &[Hostile] = &[
    ("an unsigned commit", "plain next", "it is not signed"),
    ("a signature of another namespace", "plain next; sign key file", "the signature is for namespace"),
    ("a signature for a release", "plain next; sign key ccm-release@v1", "the signature is for namespace"),
    ("a signature of a stranger", "publish next stranger", "its signature does not count"),
    ("a signature of an expired key", "publish next old", "its signature does not count"),
    ("a signature of a key that is not valid yet", "publish next young", "its signature does not count"),
    (
        "two signatures",
        "plain next; g cat-file commit main > payload; add_signature key git; cp signed once
        add_signature key git gpgsig once; head_of signed",
        "more than one signature",
    ),
    (
        "a signature of another hash beside",
        "plain next; g cat-file commit main > payload; add_signature key git; cp signed once
        add_signature key git gpgsig-sha256 once; head_of signed",
        "more than one signature",
    ),
    (
        "a signature of another commit",
        "publish next; g cat-file commit main | sed 's/^next$/other/' > other; head_of other",
        "its signature does not count",
    ),
    (
        "a signature of another tree",
        "publish next; printf evil > upstream/site.yaml; g add -A
        g cat-file commit main | sed \"s/^tree .*/tree $(g write-tree)/\" > other; head_of other",
        "its signature does not count",
    ),
    (
        "no signature but text in its place",
        "plain next; g cat-file commit main | sed '/^$/i gpgsig next' > other; head_of other",
        "its signature does not count",
    ),
];

/// Content that must not be unpacked. A web server could hand out what git itself would not.
const CONTENTS: &[Hostile] = &[
    (
        "a name that leads out of the directory",
        "tree \"$(printf '100644 blob %s\\t..\\n' $(blob evil) | g mktree)\"",
        "made to deceive",
    ),
    (
        "a file that git would take for its own",
        "tree \"$(printf '100644 blob %s\\t.git\\n' $(blob evil) | g mktree)\"",
        "made to deceive",
    ),
    (
        "a directory that git would take for its own, in other letters",
        "tree \"$(printf '040000 tree %s\\t.GIT\\n' $(g rev-parse 'main^{tree}') | g mktree)\"",
        "made to deceive",
    ),
    (
        "a name twice",
        "tree \"$(printf '100644 blob %s\\tsite.yaml\\n100644 blob %s\\tsite.yaml\\n' $(blob a) $(blob b) | g mktree)\"",
        "made to deceive",
    ),
    (
        "a link to an absolute path",
        "ln -s /etc/shadow upstream/link; publish next",
        "a link to an absolute path",
    ),
    (
        "a link that leads out",
        "mkdir upstream/a; ln -s ../../x upstream/a/link; publish next",
        "lead out of the directory",
    ),
    (
        "a manifest that is a link out",
        "tree \"$(printf '120000 blob %s\\tsite.yaml\\n' $(blob /etc/shadow) | g mktree)\"",
        "a link to an absolute path",
    ),
    (
        "a submodule",
        "plain next; g update-index --add --cacheinfo 160000,$(g rev-parse main),lib/foreign
        g commit -q -m submodule; sign key",
        "\"lib/foreign\" is a submodule",
    ),
    (
        "no manifest",
        "publish next; g rm -q site.yaml; g commit -q --allow-empty -m none; sign key",
        "is refused",
    ),
    ("a manifest with errors", "publish wrong", "its manifest has 1 error"),
    (
        "a name that is not UTF-8",
        "printf x > \"$(printf 'upstream/\\377')\"; publish next",
        "not valid UTF-8",
    ),
    (
        "a commit without an author",
        "plain next; printf 'tree %s\\n\\nnext\\n' $(g rev-parse 'main^{tree}') > other
        g update-ref refs/heads/main \"$(g hash-object --literally -t commit -w --stdin < other)\"",
        "is refused",
    ),
];

/// Histories that don't follow on what was accepted.
const HISTORIES: &[Hostile] = &[
    ("a rewritten branch", "g reset -q --hard main~1; publish other", "the branch was rewritten"),
    ("an amended commit", "printf x > upstream/x; g add -A; g commit -q --amend -m x; sign key", "the branch was rewritten"),
    ("an older commit", "g reset -q --hard main~1", "the branch was rewritten"),
    (
        "another repository",
        "rm -rf upstream; git init -q -b main upstream; publish other",
        "the history of another repository",
    ),
    (
        "another repository with a graft",
        "good=$(g rev-parse main); g checkout -q --orphan new; g commit -q -m new; g branch -q -M new main; sign key
        mkdir -p upstream/.git/info; echo \"$(g rev-parse main) $good\" > upstream/.git/info/grafts",
        "is refused",
    ),
    (
        "another repository with a replaced commit",
        "good=$(g rev-parse main); publish next; next=$(g rev-parse main)
        g checkout -q --orphan new; g commit -q -m new; g branch -q -M new main; sign key
        g update-ref refs/replace/$(g rev-parse main) $next",
        "the history of another repository",
    ),
];

/// Repositories of this machine.
const REPOSITORIES: &[Hostile] = &[
    ("a file that is too large", "truncate -s 257M upstream/large; publish next", "can't be unpacked"),
    (
        "a shallow clone",
        "publish next; mv upstream whole; git clone -q --depth 1 file://$PWD/whole upstream",
        "shallow",
    ),
    (
        "a pack that is cut",
        "publish next; g repack -adq; chmod u+w upstream/.git/objects/pack/*; truncate -s -40 upstream/.git/objects/pack/*.pack",
        "`git fetch` failed",
    ),
    (
        "an object that is missing",
        "publish next; id=$(g rev-parse main:site.yaml); rm -f upstream/.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)",
        "`git fetch` failed",
    ),
    ("a branch that is gone", "publish next; g branch -q -M main other", "there is no branch main"),
    (
        "a tag in place of the branch",
        "publish next; g branch -q -M main other; g tag main",
        "there is no branch main",
    ),
    ("a repository that is gone", "mv upstream away", "there is no repository at this address"),
    ("a file in place of the repository", "rm -rf upstream; touch upstream", "`git ls-remote` failed"),
    (
        "a repository of another hash",
        "rm -rf upstream; git init -q -b main --object-format=sha256 upstream; publish other",
        "the history of another repository",
    ),
];

fn refused<'r>(transport: GitTransport, rows: impl IntoIterator<Item = &'r Hostile>) {
    let site = BranchSite::new(transport);
    site.run("publish second");
    let good = site.follow().expect("a version");
    let before = site.kept();
    site.save();
    for (name, script, reason) in rows {
        site.restore();
        site.run(script);
        let (seen, _) = site.preview().expect("the last good version");
        assert_eq!((seen.is_new, &seen.version), (false, &good.version), "{name}");
        let followed = site.follow().expect("the last good version");
        assert_eq!((&*manifest_of(&followed), &followed.version), ("second", &good.version), "{name}");
        let kept = followed.kept.expect(name);
        assert!(
            followed.is_reason_new && kept.reason.contains(reason),
            "{transport:?} {name}: {}",
            kept.reason
        );
        assert!(matches!(kept.kind, KeptKind::Refused | KeptKind::Unreachable), "{name}");
        assert!(!site.follow().expect("the last good version").is_reason_new, "{name}");
        assert_eq!(site.kept(), before, "{transport:?} {name}");
    }
}

#[test]
fn no_commit_without_a_signature_that_counts_is_accepted() {
    assert!(SIGNATURES.len() + CONTENTS.len() + HISTORIES.len() + REPOSITORIES.len() >= 30);
    refused(GitTransport::File, SIGNATURES);
}

#[test]
fn no_hostile_content_is_accepted() {
    refused(GitTransport::File, CONTENTS);
}

#[test]
fn no_hostile_content_of_a_web_server_is_accepted() {
    // A request for each object takes its time.
    refused(GitTransport::Https, CONTENTS.iter().step_by(usual_or_long(4, 1)));
}

#[test]
fn no_hostile_history_is_accepted() {
    refused(GitTransport::File, HISTORIES);
}

#[test]
fn no_hostile_repository_of_this_machine_is_accepted() {
    refused(GitTransport::File, REPOSITORIES);
}

#[test]
fn no_hostile_commit_is_a_first_one() {
    let site = BranchSite::new(GitTransport::File);
    site.save();
    for (name, script, reason) in SIGNATURES.iter().chain(CONTENTS) {
        site.restore();
        site.run(script);
        let error = site.follow().expect_err(name);
        assert!(matches!(error, FollowError::Nothing { .. }), "{name}");
        assert!(error.to_string().contains(reason), "{name}: {error}");
        assert_eq!(site.kept(), ["sources"], "{name}");
    }
}
