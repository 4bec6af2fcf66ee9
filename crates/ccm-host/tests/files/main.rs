//! Files as they are on a machine: owners, attributes, links, mounts, full disks and other writers.
//!
//! What needs root prints why it is skipped otherwise.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says why")]

mod attributes;
mod backups;
mod ending;
mod links;
mod looking;
mod mounts;
mod removing;
mod wrapped;
mod writing;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use ccm_host::{Attributes, Cancellation, FileError, Files as _, NewContent, NewFile, SystemFiles};

const NOBODY: u32 = 65534;

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// The files of this machine, in a run that nobody ends.
fn files() -> SystemFiles {
    SystemFiles::new(Cancellation::never())
}

/// Tells whether this test can go on, and says so if not.
fn needs_root(test: &str) -> bool {
    if !is_root() {
        println!("skipped: {test} needs root");
    }
    is_root()
}

fn attributes(mode: u32) -> Attributes {
    Attributes { mode: Some(mode), ..Attributes::default() }
}

fn write(path: &Path, content: &str) -> Result<String, FileError> {
    write_with(path, content, Attributes::default())
}

fn write_with(path: &Path, content: &str, attributes: Attributes) -> Result<String, FileError> {
    let content = NewContent::Bytes(content.as_bytes());
    files().write(path, &NewFile { content, attributes })
}

/// The error and what caused it, on one line.
fn told<T: std::fmt::Debug>(result: Result<T, FileError>) -> String {
    let error = result.expect_err("it should have failed");
    match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).expect("its metadata").permissions().mode() & 0o7777
}

fn owners(path: &Path) -> (u32, u32) {
    let metadata = std::fs::symlink_metadata(path).expect("its metadata");
    (metadata.uid(), metadata.gid())
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}
