use ccm_engine::ResourceKind as _;

use std::path::PathBuf;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;
use crate::types::git::remote::GitUrl;
use crate::types::git::revision::GitRevision;

const OLD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const NEW: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

fn desired(words: &str) -> DesiredCheckout {
    let has = |word: &str| words.split(',').any(|found| found == word);
    DesiredCheckout {
        path: PathBuf::from("/srv/app"),
        is_absent: has("absent"),
        url: Some(GitUrl("/srv/app.git".to_owned())),
        revision: has("main").then(|| GitRevision::Named("main".to_owned())),
        depth: None,
        submodules: has("submodules"),
        user: None,
        force: has("force"),
        timeout: None,
    }
}

fn state(words: &str) -> CheckoutState {
    let has = |word: &str| words.split(',').any(|found| found == word);
    let presence = match () {
        () if has("missing") || has("homeless") => CheckoutPresence::Missing,
        () if has("empty") => CheckoutPresence::Empty,
        () if has("file") => CheckoutPresence::Occupied("a file"),
        () => CheckoutPresence::Repository,
    };
    let target = |commit: &str| RevisionTarget {
        kind: TargetKind::Branch("main".to_owned()),
        commit: commit.to_owned(),
    };
    CheckoutState {
        presence,
        missing_parent: has("homeless").then(|| PathBuf::from("/srv")),
        foreign_owner: has("foreign").then(|| "ada".to_owned()),
        url: Some(if has("moved") { "/old.git" } else { "/srv/app.git" }.to_owned()),
        commit: Some(OLD.to_owned()),
        branch: (!has("detached")).then(|| "main".to_owned()),
        changed_files: if has("dirty") { 2 } else { 0 },
        local_commits: usize::from(has("ahead")),
        outdated_submodules: if has("sub") { vec!["lib".to_owned()] } else { Vec::new() },
        is_interrupted: has("interrupted"),
        target: Some(target(if has("behind") { NEW } else { OLD })),
    }
}

/// Each row: the desired checkout, its state, the message, the reason and the action.
#[test]
fn checkout_is_decided_by_the_first_row_that_matches() {
    let rows = assert_rows(
        "
        absent missing | keep | it does not exist | -
        absent empty | keep | it does not exist | -
        absent file | fail | \"/srv/app\" is a file, not a checkout of git | -
        absent there | removed the checkout | it exists | remove
        absent dirty | fail | the checkout \"/srv/app\" has local changes in 2 files | -
        absent,force dirty | removed the checkout | it exists | remove
        absent ahead | fail | the checkout \"/srv/app\" has 1 local commit that its repository does not have | -
        main missing | created the checkout | it does not exist | create: url /srv/app.git, revision main
        any missing | created the checkout | it does not exist | create: url /srv/app.git
        main empty | created the checkout | it does not exist | create: url /srv/app.git, revision main
        main homeless | fail, missing | the directory \"/srv\" does not exist | -
        main,force file | fail | \"/srv/app\" is a file, not a checkout of git | -
        main there | keep | it is in the desired state | -
        main foreign | fail | git does not run in a repository of another user, whose configuration it would follow | -
        main behind | changed revision | it differs in revision | change: revision aaaaaaaaaaaa to bbbbbbbbbbbb
        main detached | changed branch | it differs in branch | change: branch ? to main
        main detached,behind | changed revision and branch | it differs in revision and branch | change: revision aaaaaaaaaaaa to bbbbbbbbbbbb, branch ? to main
        main moved | changed url | it differs in url | change: url /old.git to /srv/app.git
        main dirty | fail | the checkout \"/srv/app\" has local changes in 2 files | -
        any dirty | fail | the checkout \"/srv/app\" has local changes in 2 files | -
        main,force dirty | changed local changes | it differs in local changes | change: local changes 2 to 0
        main behind,ahead | fail | the checkout \"/srv/app\" has 1 local commit that its repository does not have | -
        main,force behind,ahead | changed revision and local commits | it differs in revision and local commits | change: revision aaaaaaaaaaaa to bbbbbbbbbbbb, local commits 1 to 0
        main sub | keep | it is in the desired state | -
        main,submodules sub | changed submodules | it differs in submodules | change: submodules ? to lib
        main interrupted,dirty | changed interrupted update | it differs in interrupted update | change: interrupted update
        ",
        |[wanted, found]| Object::decide(&desired(wanted), &state(found), None),
    );
    assert_eq!(rows, 26);
}
