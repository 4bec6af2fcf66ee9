//! Branches of git as sources: the calls, the private repository, and what a commit says.

mod calls;
mod commit;
mod refusal;
mod repository;

pub(crate) use calls::GitCalls;
pub use calls::GitError;
pub use commit::CommitError;
pub use refusal::CommitRefusal;
pub(crate) use repository::{BranchRepository, RepositoryError};
