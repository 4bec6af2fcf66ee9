//! State of a checkout.

use std::path::PathBuf;

use ccm_engine::Described;

use super::desired::DesiredCheckout;

/// State of a checkout, with the obstacles to a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckoutState {
    pub presence: CheckoutPresence,
    /// Directory above that does not exist.
    pub missing_parent: Option<PathBuf>,
    /// Owner of the repository or of the empty directory, if git would run as another user.
    pub foreign_owner: Option<String>,
    /// True if the empty directory belongs to the user who runs ccm, and has to be given to the one who runs git.
    pub is_given: bool,
    pub url: Option<String>,
    /// Commit that is checked out; `None` if there is none yet.
    pub commit: Option<String>,
    /// Branch that is checked out; `None` if none is.
    pub branch: Option<String>,
    /// Number of tracked files that differ from the commit.
    pub changed_files: usize,
    /// Number of local commits that an update, or the removal of the checkout, would lose.
    pub local_commits: usize,
    /// Local branches, such as `refs/heads/a`, that are in the way of the desired one, such as `a/b`.
    pub blocking_branches: Vec<String>,
    /// Submodules that are not checked out, or at another commit.
    pub outdated_submodules: Vec<String>,
    /// True if a run died during an update.
    pub is_interrupted: bool,
    /// Commit of the desired revision.
    pub target: Option<RevisionTarget>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum CheckoutPresence {
    #[default]
    Missing,
    /// An empty directory, or one with no more than the beginning of a clone.
    Empty,
    Repository,
    /// Something else, with its article.
    Occupied(&'static str),
}

/// Desired revision, resolved to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RevisionTarget {
    pub kind: TargetKind,
    pub commit: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    Branch(String),
    Tag(String),
    Commit,
}

pub(super) fn describe(desired: &DesiredCheckout, state: &CheckoutState) -> Described {
    let ensure = if state.presence == CheckoutPresence::Repository { "present" } else { "absent" };
    let mut described = Described::new(ensure).named(desired.path.to_string_lossy());
    if state.presence == CheckoutPresence::Repository {
        described.state.push("url", state.url.clone());
        described.state.push("commit", state.commit.clone());
        described.state.push("branch", state.branch.clone());
        described.state.push("changed_files", state.changed_files);
    }
    described
}
