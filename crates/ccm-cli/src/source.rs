//! Sources of manifests: `ccm source`, and the option `--from` of other commands.

#[cfg(feature = "archive")]
mod follow;
#[cfg(feature = "archive")]
mod listing;
#[cfg(not(feature = "archive"))]
mod without;

#[cfg(feature = "archive")]
pub(crate) use follow::{MANIFEST, follow};
#[cfg(feature = "archive")]
pub(crate) use listing::{run, stale};
#[cfg(not(feature = "archive"))]
pub(crate) use without::{MANIFEST, follow, stale};
