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
        user: has("user").then(|| "eve".to_owned()),
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
        is_given: has("given"),
        url: Some(if has("moved") { "/old.git" } else { "/srv/app.git" }.to_owned()),
        commit: Some(OLD.to_owned()),
        branch: (!has("detached")).then(|| "main".to_owned()),
        changed_files: if has("dirty") { 2 } else { 0 },
        local_commits: usize::from(has("ahead")),
        blocking_branches: Vec::new(),
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
        absent missing | keep | it does not exist
        absent empty | keep | it does not exist
        absent file | fail, missing | \"/srv/app\" is a file, not a checkout of git
        absent there | removed | it exists
        absent dirty | fail | the checkout \"/srv/app\" has local changes in 2 files
        absent,force dirty | removed | it exists
        absent ahead | fail | the checkout \"/srv/app\" has 1 local commit that its repository does not have
        main missing | created: url /srv/app.git, revision main | it does not exist
        any missing | created: url /srv/app.git | it does not exist
        main empty | created: url /srv/app.git, revision main | it does not exist
        main,user empty,given | created: owner eve, url /srv/app.git, revision main | it does not exist
        main empty,foreign | fail, missing | its owner could exchange the repository, whose configuration git would follow
        absent empty | keep | it does not exist
        main homeless | fail, missing | the directory \"/srv\" does not exist
        main,force file | fail, missing | \"/srv/app\" is a file, not a checkout of git
        main there | keep | it is in the desired state
        main foreign | fail | git does not run in a repository of another user, whose configuration it would follow
        main behind | changed: revision aaaaaaaaaaaa to bbbbbbbbbbbb | it differs in revision
        main detached | changed: branch main | it differs in branch
        main detached,behind | changed: revision aaaaaaaaaaaa to bbbbbbbbbbbb, branch main | it differs in revision and branch
        main moved | changed: url /old.git to /srv/app.git | it differs in url
        main dirty | fail | the checkout \"/srv/app\" has local changes in 2 files
        any dirty | fail | the checkout \"/srv/app\" has local changes in 2 files
        main,force dirty | changed: local changes 2 to 0 | it differs in local changes
        main behind,ahead | fail | the checkout \"/srv/app\" has 1 local commit that its repository does not have
        main,force behind,ahead | changed: revision aaaaaaaaaaaa to bbbbbbbbbbbb, local commits 1 to 0 | it differs in revision and local commits
        main sub | keep | it is in the desired state
        main,submodules sub | changed: submodules lib | it differs in submodules
        main interrupted,dirty | changed: interrupted update | it differs in interrupted update
        ",
        |[wanted, found]| Object::decide(&desired(wanted), &state(found), None),
    );
    assert_eq!(rows, 29);
}
