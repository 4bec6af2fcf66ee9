//! Reasons for which a commit is refused.

/// Reason for which a commit is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitRefusal {
    /// It does not follow on what was accepted.
    #[error("it does not follow on commit {accepted}, which was accepted before: the branch was rewritten")]
    Rewritten {
        /// Beginning of the accepted commit.
        accepted: String,
    },
    /// It has another beginning than the one that is pinned.
    #[error("it does not come from the root {root}: this is the history of another repository")]
    OtherRoot {
        /// Root that is pinned.
        root: String,
    },
    /// Its signature is missing, or does not count.
    #[error("its signature does not count")]
    Signature(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The history of the repository was cut.
    #[error("the repository has not the whole history: it is a shallow clone")]
    Shallow,
    /// Its history has objects that git refuses.
    #[error("its history is damaged, or made to deceive: {reason}")]
    Objects {
        /// What git says.
        reason: String,
    },
    /// It has no such directory.
    #[error("it has no directory {directory:?}")]
    NoDirectory {
        /// The directory.
        directory: String,
    },
    /// It has a submodule.
    #[error("{path:?} is a submodule, which a source can't have")]
    Submodule {
        /// Path of the submodule.
        path: String,
    },
    /// It can't be read.
    #[error("it can't be read")]
    Unreadable,
}
