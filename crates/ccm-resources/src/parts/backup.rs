//! Old content of files, kept in the state directory.

use std::path::Path;

use ccm_engine::Context;
use ccm_host::BackupName;
use ccm_model::Failure;

use crate::support::file_failure::file_failure;

/// Keeps the old content of a file, if there is a state directory.
pub(crate) fn back_up(path: &Path, context: &mut Context<'_>) -> Result<(), Failure> {
    let Some(directory) = context.state_directory else { return Ok(()) };
    let host = context.host;
    let is_secret = context.secrets.redactor().finds(path.to_string_lossy().as_bytes());
    let name = if is_secret { BackupName::Anonymous } else { BackupName::Path };
    let kept = host.files.back_up(path, directory, host.clock.now(), name);
    let kept = kept.map_err(|error| {
        let mut failure = file_failure(&error).because_of("cannot back up the old content");
        // Only the copy can be incomplete; the managed file is unchanged.
        failure.changed = false;
        failure
    })?;
    context.note(format!("backed up the old content to {}", kept.display()));
    Ok(())
}
