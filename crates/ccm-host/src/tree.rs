//! Everything below a directory.

use std::collections::BTreeSet;
use std::fs::{canonicalize, read_dir};
use std::path::{Path, PathBuf};

/// Files and directories below a directory, each by its path without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryTree {
    /// Regular files.
    pub files: BTreeSet<PathBuf>,
    /// Directories, the first one included.
    pub directories: BTreeSet<PathBuf>,
}

impl DirectoryTree {
    /// Lists what lies below a directory. Links are followed. What is missing or can't be read is left out. `None` if more
    /// than `max_entries` files and directories are found.
    pub fn below(root: &Path, max_entries: usize) -> Option<Self> {
        let mut tree = Self::default();
        let mut left = vec![root.to_owned()];
        let mut entries = 0;
        while let Some(directory) = left.pop() {
            let Ok(real) = canonicalize(&directory) else { continue };
            if !tree.directories.insert(real.clone()) {
                continue;
            }
            for entry in read_dir(&real).into_iter().flatten().flatten() {
                entries += 1;
                if entries > max_entries {
                    return None;
                }
                let Ok(real) = canonicalize(entry.path()) else { continue };
                if real.is_dir() {
                    left.push(real);
                } else if real.is_file() {
                    tree.files.insert(real);
                }
            }
        }
        Some(tree)
    }
}
