//! Destination of pages: a private file, or standard output.

use std::path::Path;

use ccm_runtime::write_private;

use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::write_hints::named_file_hint;

/// Returns `true` for the path that stands for standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes a page where `--html` says.
pub(crate) fn write_page(path: &Path, page: &str, console: &Console) -> CommandResult<()> {
    if is_standard_output(path) {
        console.print(page)?;
        return Ok(());
    }
    write_private(path, page.as_bytes()).map_err(|error| {
        let message = format!("page {} can't be written", path.display());
        CommandError::new(message).caused_by(&error).hints(named_file_hint(&error))
    })
}
