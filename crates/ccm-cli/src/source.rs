//! Sources of manifests: `ccm source`, and the option `--from` of other commands.

#[cfg(feature = "archive")]
mod follow;
#[cfg(feature = "archive")]
mod listing;
#[cfg(feature = "archive")]
mod receive;
#[cfg(not(feature = "archive"))]
mod without;

use std::path::PathBuf;

use crate::arguments::{ApplyArguments, FromArguments, ValueArguments};

#[cfg(feature = "archive")]
pub(crate) use follow::{MANIFEST, follow};
#[cfg(feature = "archive")]
pub(crate) use listing::{run, stale};
#[cfg(not(feature = "archive"))]
pub(crate) use without::{MANIFEST, follow, stale};

/// What a command line says about a source and its manifest.
#[cfg_attr(not(feature = "archive"), expect(dead_code, reason = "other builds have a source"))]
pub(crate) struct FromRequest<'a> {
    /// The source.
    pub(crate) from: &'a FromArguments,
    /// Manifests of the command line.
    pub(crate) manifests: &'a [PathBuf],
    /// Values for the manifest.
    pub(crate) values: &'a ValueArguments,
    /// Maximum size of the manifest.
    pub(crate) max_size: u64,
    /// What is not done because of an error, such as `nothing was run`.
    pub(crate) consequence: &'static str,
}

impl<'a> FromRequest<'a> {
    /// Returns what the command line of `ccm apply` says.
    pub(crate) fn of_apply(arguments: &'a ApplyArguments) -> Self {
        Self {
            from: &arguments.from,
            manifests: &arguments.manifests,
            values: &arguments.values,
            max_size: arguments.limits.max_manifest_size,
            consequence: "nothing was run",
        }
    }
}
