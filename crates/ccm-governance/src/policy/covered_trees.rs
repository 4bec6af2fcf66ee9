//! Directories in which any file may run.

use std::collections::BTreeSet;
use std::fs::{canonicalize, read_dir};
use std::path::{Path, PathBuf};

use super::covered_files::CoverageError;

/// Maximum number of files and directories below a directory.
const MAX_ENTRIES: usize = 2000;

/// Files and directories below a directory, without links on the way to them.
#[derive(Default)]
pub(super) struct CoveredTree {
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) directories: BTreeSet<PathBuf>,
}

/// Returns what lies below a directory. Links are followed.
pub(super) fn tree_of(root: &Path) -> Result<CoveredTree, CoverageError> {
    let mut tree = CoveredTree::default();
    let mut left = vec![root.to_owned()];
    let mut entries = 0;
    while let Some(directory) = left.pop() {
        // A directory that is missing or that nobody may read has no file that runs.
        let Ok(real) = canonicalize(&directory) else { continue };
        if !tree.directories.insert(real.clone()) {
            continue;
        }
        for entry in read_dir(&real).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(CoverageError::TooMany { path: root.display().to_string(), max: MAX_ENTRIES });
            }
            let path = entry.path();
            let Ok(real) = canonicalize(&path) else { continue };
            if real.is_dir() {
                left.push(real);
            } else if real.is_file() {
                tree.files.insert(real);
            }
        }
    }
    Ok(tree)
}
