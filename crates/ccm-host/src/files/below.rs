//! Files below a directory.

use std::io;
use std::path::{Path, PathBuf};

/// Maximum depth of directories.
const MAX_DEPTH: usize = 32;
/// Maximum number of files.
const MAX_FILES: usize = 100_000;

/// Returns the regular files below a directory, sorted by path. Hidden files and directories are left out,
/// and no link below the directory is followed.
///
/// More than 100000 files, or a depth of more than 32 directories, are an error of kind
/// [`io::ErrorKind::FileTooLarge`].
pub fn files_below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(directory, 0, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if depth == MAX_DEPTH {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            collect(&entry.path(), depth + 1, files)?;
        } else if kind.is_file() {
            if files.len() == MAX_FILES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ccm_testkit::Scratch;

    use super::*;

    #[test]
    fn hidden_files_and_links_are_left_out() {
        let scratch = Scratch::new();
        for name in ["b.yaml", "a/c.yaml", ".git/d.yaml", ".e.yaml"] {
            scratch.write(name, "");
        }
        std::os::unix::fs::symlink(scratch.path().join("a"), scratch.path().join("link")).expect("a link");
        let found = files_below(scratch.path()).expect("files");
        assert_eq!(found, ["a/c.yaml", "b.yaml"].map(|name| scratch.path().join(name)));
    }

    #[test]
    fn a_directory_that_is_too_deep_is_an_error() {
        let scratch = Scratch::new();
        scratch.write(&format!("{}x", "d/".repeat(MAX_DEPTH + 1)), "");
        let error = files_below(scratch.path()).expect_err("an error");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
