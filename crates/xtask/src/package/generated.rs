//! Files that other chores write: man pages and completions.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Release;

/// Exit code of a chore that does not exist.
const UNKNOWN: i32 = 64;

/// Files that other chores write, by name.
#[derive(Debug, Default)]
pub(super) struct Generated {
    pub(super) man_pages: Vec<(String, Vec<u8>)>,
    pub(super) completions: Vec<(String, Vec<u8>)>,
}

impl Generated {
    /// Runs the chores of this program.
    pub(super) fn by_chores(release: &Release, scratch: &Path) -> Result<Self, String> {
        let this = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        let files = |chore: &str| files_of(&this, chore, release, &scratch.join(chore));
        Ok(Self { man_pages: files("man")?, completions: files("completions")? })
    }
}

fn files_of(
    program: &Path,
    chore: &str,
    release: &Release,
    directory: &Path,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    // Files of an earlier version.
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    let mut command = Command::new(program);
    command.arg(chore).arg(directory).env("SOURCE_DATE_EPOCH", release.seconds.to_string());
    let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    match output.status.code() {
        Some(0) => {}
        Some(UNKNOWN) => {
            println!("left out: there is no `cargo xtask {chore}`");
            return Ok(Vec::new());
        }
        _ => {
            let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(format!("cargo xtask {chore}: {text}"));
        }
    }
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.push((name, fs::read(entry.path()).map_err(failed)?));
    }
    files.sort();
    Ok(files)
}
