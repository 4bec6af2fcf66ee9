//! Units that do not exist any more, which counts as stopped.

use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::{FileAttributes, NewContent, NewFile};
use ccm_model::{ClaimKind, Failure};

use super::desired::{Service, ServiceEnsure};
use super::systemd::directories;
use crate::parts::systemd::systemctl::Systemctl;

/// Returns `true` if a unit that does not exist is stopped as desired, and not misspelt: ccm itself stopped it before it went
/// away, or the manifest removes its file or its package.
pub(super) async fn is_rightly_missing(
    service: &Service,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<bool, Failure> {
    if service.ensure != ServiceEnsure::Stopped || service.enable == Some(true) {
        return Ok(false);
    }
    if mark(service, context).is_some_and(|mark| context.host.files.exists(&mark).unwrap_or_default()) {
        return Ok(true);
    }
    let stem = service.unit.rsplit_once('.').map_or(&*service.unit, |(stem, _)| stem);
    if context.is_removed(ClaimKind::Package, stem) || context.is_removed_beside(ClaimKind::Package) {
        return Ok(true);
    }
    let directories = directories(service.user, systemctl, context).await?;
    let mut paths = directories.iter().map(|directory| directory.join(&service.unit));
    Ok(paths.any(|path| context.is_removed(ClaimKind::Path, &path.to_string_lossy())))
}

/// Remembers that a unit went away when ccm stopped it.
pub(super) fn remember(service: &Service, context: &mut Context<'_>) {
    let Some(mark) = mark(service, context) else { return };
    let attributes = FileAttributes { mode: Some(0o600), ..FileAttributes::default() };
    let new = NewFile { content: NewContent::Bytes(b""), attributes };
    if let Err(error) = context.host.files.write(&mark, &new) {
        context.warn(format!("cannot record that the unit went away when it was stopped: {error}"));
    }
}

/// Returns the file that exists after a unit went away when ccm stopped it.
fn mark(service: &Service, context: &Context<'_>) -> Option<PathBuf> {
    let whose = if service.user { "user-unit" } else { "unit" };
    // The name of a unit holds no `/`.
    Some(Path::new(context.state_directory?).join(format!("stopped-{whose}-{}", service.unit)))
}
