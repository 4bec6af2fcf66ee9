//! Checksum of the file that was extracted last. With `cleanup` nothing else shows which version is there.

use ccm_engine::Context;
use ccm_host::sha256;

use super::desired::DesiredArchive;
use crate::support::mark::Mark;

/// Maximum length of the text of a mark.
const MAX_TEXT: u64 = 256;

/// Returns the checksum of the file that ccm extracted last, if it is known.
pub(super) fn extracted_checksum(archive: &DesiredArchive, context: &Context<'_>) -> Option<String> {
    mark(archive, context)?.text(MAX_TEXT, context.host.files)
}

/// Records the checksum of a file that was extracted; `None` if it is not known.
pub(super) fn remember(archive: &DesiredArchive, checksum: Option<&str>, context: &mut Context<'_>) {
    let Some(mark) = mark(archive, context) else { return };
    let recorded = match checksum {
        Some(checksum) => mark.set_text(checksum, context.host.files),
        None => mark.remove(context.host.files),
    };
    if let Err(error) = recorded {
        context.warn(format!("cannot record the checksum of the extracted file: {error}"));
    }
}

/// Returns the mark of an archive whose extraction can be recognised.
fn mark(archive: &DesiredArchive, context: &Context<'_>) -> Option<Mark> {
    archive.creates.as_ref()?;
    let path = archive.path.as_os_str().as_encoded_bytes();
    Mark::named(&format!("extracted-{}", sha256(path)), context)
}
