//! Real files: owners, attributes, links, mounts, full disks and concurrent writers.

mod attributes;
mod backups;
mod cancelling;
pub(crate) mod extended;
mod inspecting;
mod links;
mod mounts;
mod removing;
mod takeover;
mod trusted;
mod wrapped;
mod writing;
mod writing_many;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use ccm_host::{Cancellation, FileAttributes, FileError, Files as _, NewContent, NewFile, SystemFiles};

const NOBODY: u32 = 65534;

/// Returns the files of this machine, without a cancellation.
fn files() -> SystemFiles {
    SystemFiles::new(Cancellation::never())
}

fn attributes(mode: u32) -> FileAttributes {
    FileAttributes { mode: Some(mode), ..FileAttributes::default() }
}

fn write(path: &Path, content: &str) -> Result<String, FileError> {
    write_with(path, content, FileAttributes::default())
}

fn write_with(path: &Path, content: &str, attributes: FileAttributes) -> Result<String, FileError> {
    let content = NewContent::Bytes(content.as_bytes());
    files().write(path, &NewFile { content, attributes })
}

/// Returns the error and its causes on one line.
fn error_text<T: std::fmt::Debug>(result: Result<T, FileError>) -> String {
    let error = result.expect_err("it should have failed");
    match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).expect("its metadata").permissions().mode() & 0o7777
}

fn owner_ids(path: &Path) -> (u32, u32) {
    let metadata = std::fs::symlink_metadata(path).expect("its metadata");
    (metadata.uid(), metadata.gid())
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}
