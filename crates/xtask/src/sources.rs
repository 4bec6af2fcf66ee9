//! Source files of the workspace.

use std::path::Path;

/// Visits each source file below a path, with its text.
pub(crate) fn visit(path: &Path, visitor: &mut dyn FnMut(&Path, &str)) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(failed)? {
            visit(&entry.map_err(failed)?.path(), visitor)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        visitor(path, &std::fs::read_to_string(path).map_err(failed)?);
    }
    Ok(())
}
