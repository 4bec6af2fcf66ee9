//! Sources of manifests: releases, branches of git and pushed bundles, and what a machine has accepted of them.
//!
//! [`bundle::build`] packs a directory for a release. A [`SourceAddress`] says where versions come from, and
//! [`Following`] fetches what lies there, and accepts it if it comes after what was accepted before. What a machine has
//! accepted lies in a [`SourceCache`]; if nothing newer can be had, that is applied.
//!
//! This crate must never run anything of what a source brings, or trust what nobody has signed.
#![expect(clippy::disallowed_types, reason = "it reads files that ccm-host has opened")]

mod address;
pub mod bundle;
mod cache;
mod follow;
mod git;
mod ignored;
mod offer;
mod pushed;
mod record;
mod rewind;
mod tar;

pub use address::{AddressError, SourceAddress};
pub use cache::{CacheError, SourceCache};
pub use ccm_fetch::{ProxySettings, is_git_commit};
pub use follow::{
    BranchFollowing, CheckVersion, FollowError, Followed, Following, FollowingRules, ReleaseFollowing,
    VerifyCommit, VerifyEnvelope,
};
pub use git::{CommitError, CommitRefusal, GitError};
pub use ignored::IgnoreError;
pub use offer::{FetchError, SourceDoors};
pub use pushed::{PushedBundle, ReceiveError};
pub use record::{
    AcceptedCommit, AcceptedRelease, AcceptedVersion, KeptKind, KeptReason, RewoundVersion, SourceRecord,
};
pub use rewind::RewindError;
