//! Branches of git that a machine follows.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use ccm_source::{KeptKind, SourceCache};
use ccm_testkit::{needs_own_mounts, needs_root, skipped};

use crate::branch_site::{BranchSite, GitTransport};
use crate::git_servers::SshServer;
use crate::site::manifest_of;

#[test]
fn commits_follow_each_other() {
    for transport in [GitTransport::File, GitTransport::Https] {
        follow_commits(&BranchSite::new(transport));
    }
}

#[test]
fn a_web_server_that_asks_git_is_followed() {
    let site = BranchSite::new(GitTransport::SmartHttps);
    follow_commits(&site);
    let before = site.requests().len();
    assert!(!site.follow().expect("a version").is_new);
    // The head of the branch, and nothing else.
    let lines: Vec<String> = site.requests().into_iter().skip(before).map(|request| request.line).collect();
    let references = "GET /upstream/info/refs?service=git-upload-pack";
    assert!(lines == [references, "POST /upstream/git-upload-pack"] || lines == [references], "{lines:?}");
}

#[test]
fn a_daemon_of_openssh_is_followed() {
    if !needs_own_mounts() {
        return;
    }
    if !SshServer::is_installed() {
        skipped("sshd is not installed");
        return;
    }
    let site = BranchSite::new(GitTransport::Ssh);
    follow_commits(&site);
    let ssh = site.ssh.as_ref().expect("a daemon");
    let before = ssh.connections();
    assert!(!site.follow().expect("a version").is_new);
    assert_eq!(ssh.connections() - before, 1);
    // Another daemon at this address is not believed.
    site.run("publish next");
    ssh.change_known_key();
    let kept = site.follow().expect("the last good version").kept.expect("a reason");
    assert_eq!(kept.kind, KeptKind::Unreachable);
    assert!(kept.reason.contains("Host key verification failed"), "{}", kept.reason);
}

/// Follows a branch over several commits.
fn follow_commits(site: &BranchSite) {
    let first = site.follow().expect("a version");
    assert_eq!((&first.version.version, first.is_new), (&site.head(), true));
    assert_eq!(first.version.signed_by, ["ops"]);
    assert_eq!(manifest_of(&first), "good");
    let before = site.kept();
    let again = site.follow().expect("a version");
    assert_eq!((again.is_new, again.kept), (false, None));
    site.run("publish better; publish best");
    let (seen, manifest) = site.preview().expect("a version");
    assert_eq!((seen.is_new, &*manifest, &seen.version.version), (true, "best", &site.head()));
    assert_eq!(site.kept(), before, "a plan accepts nothing");
    let best = site.follow().expect("a version");
    assert_eq!((manifest_of(&best), &best.version.version), ("best".to_owned(), &site.head()));
    let record = best.version.commit.expect("a commit");
    let root = site.run("g rev-list --max-parents=0 main");
    assert_eq!((record.root, record.after), (root, 1));
    // A merge follows on both.
    site.run("g checkout -q -b side main~1; plain side; g checkout -q main; g merge -q -X ours side -m merge; sign key");
    assert_eq!(site.follow().expect("a version").version.version, site.head());
}

#[test]
fn nothing_new_asks_the_server_once() {
    let site = BranchSite::new(GitTransport::File);
    site.follow().expect("a version");
    // Objects that can't be read don't matter to whoever only asks for the branch.
    site.run("rm -r upstream/.git/objects/??; touch upstream/.git/objects/none");
    assert_eq!(site.follow().expect("a version").kept, None);
}

#[test]
fn files_come_out_as_they_were_committed() {
    let site = BranchSite::new(GitTransport::File);
    site.run(
        "mkdir -p upstream/sub/deep
        printf '* filter=evil ident eol=crlf text working-tree-encoding=UTF-16 export-subst\\nhidden export-ignore\\n' > upstream/.gitattributes
        printf '%s\\n' 'a $Id$ $Format:%H$' b > raw; cp raw upstream/text; cp raw upstream/hidden; cp raw upstream/sub/deep/x
        chmod 755 upstream/sub/deep/x; ln -s text upstream/link
        for hook in post-checkout post-update reference-transaction pre-receive; do
            printf '#!/bin/sh\\ntouch %s\\n' \"$PWD/hooked\" > upstream/.git/hooks/$hook; chmod 755 upstream/.git/hooks/$hook
        done
        id=$(g hash-object -w --no-filters ../raw)
        g add -A 2> /dev/null || true
        for path in text hidden; do g update-index --add --cacheinfo 100644,$id,$path; done
        g update-index --add --cacheinfo 100755,$id,sub/deep/x
        g update-index --add --cacheinfo 120000,$(blob text),link
        g config filter.evil.smudge \"touch $PWD/filtered\"; g config filter.evil.clean \"touch $PWD/filtered\"
        rm -f hooked filtered
        g -c core.hooksPath=/dev/null commit -q -m next
        g cat-file commit main > payload; add_signature key git
        git -C upstream -c core.hooksPath=/dev/null update-ref refs/heads/main \"$(g hash-object -t commit -w --stdin < signed)\"
        rm -f hooked filtered",
    );
    let followed = site.follow().expect("a version");
    let raw = site.scratch.read("raw").expect("a file");
    for name in ["text", "hidden", "sub/deep/x", "link"] {
        assert_eq!(fs::read_to_string(followed.path.join(name)).ok().as_ref(), Some(&raw), "{name}");
    }
    assert!(!site.scratch.has("hooked") && !site.scratch.has("filtered"));
}

#[test]
fn a_directory_of_a_repository_is_a_source_of_its_own() {
    let site = BranchSite::new(GitTransport::File);
    site.run("mkdir -p upstream/roles/web; printf web > upstream/roles/web/site.yaml; publish all");
    site.directory.set(":roles/web");
    let web = site.follow().expect("a version");
    assert_eq!(manifest_of(&web), "web");
    assert_eq!(fs::read_dir(&web.path).expect("a directory").count(), 1);
    site.directory.set("");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "all");
    // The content of the directory is the same: so is its digest.
    site.run("publish more");
    site.directory.set(":roles/web");
    let again = site.follow().expect("a version");
    assert_eq!((again.version.digest, again.is_new), (web.version.digest, true));
    site.run("g rm -q -r roles; publish less");
    let kept = site.follow().expect("a version");
    assert!(kept.kept.expect("a reason").reason.contains("it has no directory \"roles/web\""));
}

#[test]
fn a_broken_commit_is_skipped_and_its_fix_is_taken() {
    let site = BranchSite::new(GitTransport::File);
    site.run("publish wrong");
    let error = site.follow().expect_err("a refusal").to_string();
    assert!(error.contains("is refused: its manifest has 1 error"), "{error}");
    site.run("publish right");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "right");
    site.run("publish 'wrong again'");
    let kept = site.follow().expect("a version");
    assert_eq!((manifest_of(&kept), kept.is_reason_new), ("right".to_owned(), true));
    assert_eq!(kept.kept.expect("a reason").kind, KeptKind::Refused);
    assert!(!site.follow().expect("a version").is_reason_new);
    site.run("publish fixed");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "fixed");
}

#[test]
fn a_server_that_hangs_costs_its_time_and_no_run() {
    let site = BranchSite::new(GitTransport::File);
    site.follow().expect("a version");
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let url = format!("https://127.0.0.1:{}/site", listener.local_addr().expect("an address").port());
    let followed = site.cache();
    site.other_address.set(Some(url.leak()));
    // What was accepted of the repository is what was accepted of the server.
    fs::rename(followed, site.cache()).expect("renamed");
    site.wait.set(Duration::from_millis(300));
    let kept = site.follow().expect("the last good version");
    assert_eq!(manifest_of(&kept), "good");
    let kept = kept.kept.expect("a reason");
    assert_eq!(kept.kind, KeptKind::Unreachable);
    assert!(kept.reason.contains("`git ls-remote` had no end after"), "{}", kept.reason);
}

#[test]
fn a_rewritten_branch_needs_a_word() {
    let site = BranchSite::new(GitTransport::File);
    site.run("publish second");
    site.follow().expect("a version");
    site.run("g reset -q --hard main~1; publish other");
    let kept = site.follow().expect("a version");
    assert!(kept.kept.expect("a reason").reason.contains("the branch was rewritten"));
    site.allows_rewind.set(true);
    assert_eq!(manifest_of(&site.follow().expect("a version")), "other");
    // Another repository is more than a rewritten branch.
    site.run("g checkout -q --orphan new; g commit -q -m new; g branch -q -M new main; sign key");
    let kept = site.follow().expect("a version");
    assert!(kept.kept.expect("a reason").reason.contains("this is the history of another repository"));
}

#[test]
fn a_root_is_pinned() {
    let site = BranchSite::new(GitTransport::File);
    let root: &'static str = site.run("g rev-list --max-parents=0 main").leak();
    site.run("publish second");
    site.root.set(Some("0123456789012345678901234567890123456789"));
    let error = site.follow().expect_err("another root").to_string();
    assert!(error.contains("it does not come from the root 012345678901"), "{error}");
    site.root.set(Some(root));
    site.follow().expect("a version");
    site.root.set(Some("0123456789012345678901234567890123456789"));
    let kept = site.follow().expect("a version").kept.expect("a reason");
    assert!(kept.reason.contains("it was accepted with the root"), "{kept:?}");
}

#[test]
fn what_was_signed_stays_signed() {
    let site = BranchSite::new(GitTransport::File);
    site.follow().expect("a version");
    site.run("plain unsigned");
    site.signed.set(false);
    for _ in 0..2 {
        let kept = site.follow().expect("a version");
        assert_eq!(manifest_of(&kept), "good");
        assert!(kept.kept.expect("a reason").reason.contains("are not verified any more"));
    }
    // Whoever has never asked for signatures takes it.
    fs::remove_dir_all(site.cache()).expect("removed");
    let unsigned = site.follow().expect("a version");
    assert_eq!((manifest_of(&unsigned), &*unsigned.version.signed_by), ("unsigned".to_owned(), &[][..]));
    site.signed.set(true);
    let kept = site.follow().expect("a version");
    assert_eq!(manifest_of(&kept), "unsigned", "it is what was accepted");
    assert!(kept.kept.expect("a reason").reason.contains("it is not signed"));
    site.run("publish signed");
    assert_eq!(site.follow().expect("a version").version.signed_by, ["ops"]);
}

#[test]
fn a_cache_that_lost_its_objects_fetches_them_again() {
    for lost in ["objects", "objects/pack"] {
        let site = BranchSite::new(GitTransport::File);
        site.follow().expect("a version");
        fs::remove_dir_all(site.cache().join(lost)).expect("removed");
        assert_eq!(site.follow().expect("a version").kept, None);
        site.run("publish next");
        assert_eq!(manifest_of(&site.follow().expect("a version")), "next");
        site.run("publish last");
        assert_eq!(manifest_of(&site.follow().expect("a version")), "last");
    }
}

#[test]
fn a_cache_that_lost_its_version_or_record_takes_nothing_older() {
    let site = BranchSite::new(GitTransport::File);
    site.run("publish second");
    let second = site.follow().expect("a version");
    fs::remove_dir_all(&second.path).expect("removed");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "second");
    fs::remove_file(site.cache().join("accepted.json")).expect("removed");
    site.run("g reset -q --hard main~1");
    let kept = site.follow().expect("a version");
    assert_eq!(manifest_of(&kept), "second");
    assert!(kept.kept.expect("a reason").reason.contains("does not follow on"));
    fs::remove_dir_all(site.cache().join("store")).expect("removed");
    fs::remove_file(site.cache().join("accepted.json")).expect("removed");
    assert!(site.follow().expect_err("lost").to_string().contains("nothing tells any more"));
}

#[test]
fn many_packs_become_one() {
    let site = BranchSite::new(GitTransport::File);
    site.follow().expect("a version");
    let packs = || fs::read_dir(site.cache().join("objects/pack")).expect("packs").count();
    // As if fifty versions had come.
    let pack = site.cache().join("objects/pack");
    for number in 0..50 {
        fs::write(pack.join(format!("pack-{number:040}.pack")), "").expect("written");
    }
    site.run("publish next");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "next");
    assert!(packs() <= 4, "{}", packs());
    site.run("publish last");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "last");
}

#[test]
fn a_repository_of_somebody_else_is_not_read() {
    if !needs_root() {
        return;
    }
    let site = BranchSite::new(GitTransport::File);
    site.follow().expect("a version");
    site.run("publish next; chown -R 65534 upstream");
    let kept = site.follow().expect("the last good version");
    assert_eq!(manifest_of(&kept), "good");
    let reason = kept.kept.expect("a reason").reason;
    assert!(reason.contains("git reads no local repository of another user"), "{reason}");
    site.run("chown -R 0 upstream");
    assert_eq!(manifest_of(&site.follow().expect("a version")), "next");
}

#[test]
fn a_record_says_what_was_accepted() {
    let site = BranchSite::new(GitTransport::File);
    let followed = site.follow().expect("a version");
    let record = SourceCache::peek(&site.state(), &followed.name).expect("readable").expect("a record");
    assert_eq!(record.accepted, followed.version);
    assert_eq!((&*record.accepted.channel, &*record.signers), ("main", "/etc/ccm/signers"));
    assert!(followed.name.starts_with("upstream-"), "{}", followed.name);
}
