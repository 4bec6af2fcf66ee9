//! Paths without `.` and `..`.

use std::path::{Component, Path, PathBuf};

/// Removes `.` and `..` from a path without reading symbolic links.
pub fn normalize(path: &Path) -> PathBuf {
    let mut normalize = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalize.pop();
            }
            other => normalize.push(other),
        }
    }
    normalize
}
