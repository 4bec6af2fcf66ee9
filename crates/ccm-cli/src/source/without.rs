//! Sources in a ccm without downloads and archives: there are none.

use ccm_runtime::{ManifestSource, RunMode, Session};

use super::FromRequest;
use crate::console::Console;
use crate::error::CommandResult;

/// Manifest of a source without a name.
pub(crate) const MANIFEST: &str = "site.yaml";

/// Manifest of a source: none.
pub(crate) struct FromSource;

impl FromSource {
    /// Returns the manifest: none.
    #[expect(clippy::unused_self, reason = "other builds have one")]
    pub(crate) fn manifest(&self) -> Option<ManifestSource> {
        None
    }

    /// Returns the reason for which what the source offers is refused: none.
    #[expect(clippy::unused_self, reason = "other builds have a source")]
    pub(crate) fn refused(&self) -> Option<String> {
        None
    }

    /// Records nothing.
    #[expect(clippy::unused_self, reason = "other builds have a source")]
    pub(crate) fn mark_applied(&self, _: &Session, _: &Console) {}
}

/// Returns that the command line names no source.
pub(crate) async fn follow(
    _: FromRequest<'_>,
    _: &Session,
    _: RunMode,
    _: &Console,
) -> CommandResult<FromSource> {
    Ok(FromSource)
}

/// Returns the sources that offer nothing that can be applied: none.
pub(crate) fn stale(_: &Session) -> Vec<String> {
    Vec::new()
}
