//! The pure decision about a checkout.

use ccm_engine::Described;
use ccm_fetch::short_commit;
use ccm_model::{Failure, MissingPrerequisite};

use super::desired::DesiredCheckout;
use super::state::{CheckoutPresence, CheckoutState, RevisionTarget, TargetKind, describe};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// Result of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckoutEffect {
    /// What was checked out. The repository may have a later commit by now.
    pub target: Option<RevisionTarget>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CheckoutDifference {
    /// Owner of an existing directory.
    Owner(String),
    Url {
        from: Option<String>,
        to: String,
    },
    Revision {
        from: Option<String>,
        to: String,
    },
    Branch {
        from: Option<String>,
        to: String,
    },
    /// Number of changed files to discard.
    LocalChanges(usize),
    /// Number of local commits to discard.
    LocalCommits(usize),
    Submodules(Vec<String>),
    Interrupted,
}

impl ObjectDifference for CheckoutDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Owner(_) => "owner",
            Self::Url { .. } => "url",
            Self::Revision { .. } => "revision",
            Self::Branch { .. } => "branch",
            Self::LocalChanges(_) => "local changes",
            Self::LocalCommits(_) => "local commits",
            Self::Submodules(_) => "submodules",
            Self::Interrupted => "interrupted update",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        let discarded = |count: &usize| (Some(count.to_string()), Some("0".to_owned()));
        match self {
            Self::Owner(to) => (None, Some(to.clone())),
            Self::Url { from, to } | Self::Branch { from, to } => (from.clone(), Some(to.clone())),
            Self::Revision { from, to } => {
                (from.as_deref().map(|from| short_commit(from).to_owned()), Some(short_commit(to).to_owned()))
            }
            Self::LocalChanges(count) | Self::LocalCommits(count) => discarded(count),
            Self::Submodules(names) => (None, Some(names.join(","))),
            Self::Interrupted => (None, None),
        }
    }
}

impl ObjectType for DesiredCheckout {
    type State = CheckoutState;
    type Difference = CheckoutDifference;
    type Effect = CheckoutEffect;

    fn plan(&self, state: &CheckoutState) -> ObjectPlan<CheckoutDifference> {
        match &state.presence {
            CheckoutPresence::Missing | CheckoutPresence::Empty => {
                if self.is_absent {
                    ObjectPlan::Keep { exists: false }
                } else {
                    create(self, state)
                }
            }
            CheckoutPresence::Occupied(what) => {
                let path = self.path.display();
                ObjectPlan::Fail(
                    Failure::conflict(format!("\"{path}\" is {what}, not a checkout of git"))
                        .with_missing(MissingPrerequisite::Path(self.path.clone()))
                        .with_hint("move it away, or set another `path`"),
                )
            }
            CheckoutPresence::Repository => change(self, state),
        }
    }

    fn shown(&self) -> String {
        format!("the checkout \"{}\"", self.path.display())
    }

    fn describe(&self, state: &CheckoutState) -> Described {
        describe(self, state)
    }
}

fn create(desired: &DesiredCheckout, state: &CheckoutState) -> ObjectPlan<CheckoutDifference> {
    if let Some(parent) = &state.missing_parent {
        let message = format!("the directory \"{}\" does not exist", parent.display());
        let failure = Failure::conflict(message).with_missing(MissingPrerequisite::Path(parent.clone()));
        let hint = "add a `file` resource with `ensure: directory`";
        return ObjectPlan::Fail(failure.of_property("path").with_hint(hint));
    }
    if let Some(owner) = &state.foreign_owner {
        let path = desired.path.display();
        return ObjectPlan::Fail(
            Failure::conflict(format!("the directory \"{path}\" belongs to `{owner}`"))
                .of_property("user")
                .with_missing(MissingPrerequisite::Path(desired.path.clone()))
                .because_of("its owner could exchange the repository, whose configuration git would follow")
                .with_hint(format!("write `user: {owner}`, or give the directory to the user who runs git")),
        );
    }
    let owner = desired.user.clone().filter(|_| state.is_given).map(CheckoutDifference::Owner);
    let url = desired.url.as_ref().map(|url| CheckoutDifference::Url { from: None, to: url.0.clone() });
    let revision = desired
        .revision
        .as_ref()
        .map(|revision| CheckoutDifference::Revision { from: None, to: revision.shown().to_owned() });
    ObjectPlan::Create(owner.into_iter().chain(url).chain(revision).collect())
}

fn change(desired: &DesiredCheckout, state: &CheckoutState) -> ObjectPlan<CheckoutDifference> {
    if let Some(owner) = &state.foreign_owner {
        let path = desired.path.display();
        let failure =
            Failure::conflict(format!("the checkout \"{path}\" belongs to `{owner}`")).of_property("user");
        return ObjectPlan::Fail(
            failure
                .because_of(
                    "git does not run in a repository of another user, whose configuration it would follow",
                )
                .with_hint(format!("write `user: {owner}`, or give the directory to the user who runs git")),
        );
    }
    let has_changes = state.changed_files > 0 && !state.is_interrupted;
    if has_changes && !desired.force {
        let path = desired.path.display();
        let files = if state.changed_files == 1 { "file" } else { "files" };
        let message = format!("the checkout \"{path}\" has local changes in {} {files}", state.changed_files);
        let hint = format!("see them with `git -C {path} diff HEAD`; `force: true` discards them");
        return ObjectPlan::Fail(Failure::conflict(message).with_hint(hint));
    }
    if state.local_commits > 0 && !desired.force {
        let path = desired.path.display();
        let commits = if state.local_commits == 1 { "commit that its" } else { "commits that its" };
        let message = format!(
            "the checkout \"{path}\" has {} local {commits} repository does not have",
            state.local_commits
        );
        return ObjectPlan::Fail(
            Failure::conflict(message).with_hint("push them to the repository; `force: true` discards them"),
        );
    }
    if desired.is_absent {
        return ObjectPlan::Remove;
    }
    let differences = differences(desired, state, has_changes);
    ObjectPlan::of_existing(differences)
}

fn differences(
    desired: &DesiredCheckout,
    state: &CheckoutState,
    has_changes: bool,
) -> Vec<CheckoutDifference> {
    let mut found = Vec::new();
    if state.is_interrupted {
        found.push(CheckoutDifference::Interrupted);
    }
    if let Some(url) = desired.url.as_ref().filter(|url| state.url.as_deref() != Some(&*url.0)) {
        found.push(CheckoutDifference::Url { from: state.url.clone(), to: url.0.clone() });
    }
    if let Some(target) = &state.target {
        if state.commit.as_ref() != Some(&target.commit) {
            let (from, to) = (state.commit.clone(), target.commit.clone());
            found.push(CheckoutDifference::Revision { from, to });
        }
        if let TargetKind::Branch(to) = &target.kind
            && state.branch.as_ref() != Some(to)
        {
            found.push(CheckoutDifference::Branch { from: state.branch.clone(), to: to.clone() });
        }
    }
    if has_changes {
        found.push(CheckoutDifference::LocalChanges(state.changed_files));
    }
    if state.local_commits > 0 {
        found.push(CheckoutDifference::LocalCommits(state.local_commits));
    }
    if desired.submodules && !state.outdated_submodules.is_empty() {
        found.push(CheckoutDifference::Submodules(state.outdated_submodules.clone()));
    }
    found
}

#[cfg(test)]
mod tests;
