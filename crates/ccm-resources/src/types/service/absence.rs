//! Units that do not exist any more, which counts as stopped.

use ccm_engine::Context;
use ccm_model::{ClaimKind, Failure};

use super::desired::{Service, ServiceEnsure};
use super::systemd::directories;
use crate::parts::systemd::systemctl::Systemctl;
use crate::support::mark::Mark;

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
    if mark(service, context).is_some_and(|mark| mark.is_set(context.host.files)) {
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
    if let Err(error) = mark.set(context.host.files) {
        context.warn(format!("cannot record that the unit went away when it was stopped: {error}"));
    }
}

/// Returns the mark of a unit that went away when ccm stopped it. The name of a unit holds no `/`.
fn mark(service: &Service, context: &Context<'_>) -> Option<Mark> {
    let whose = if service.user { "user-unit" } else { "unit" };
    Mark::named(&format!("stopped-{whose}-{}", service.unit), context)
}
