//! Verifying the packages that were written: their checksums, and their content as the package managers see it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::hexadecimal;

/// Name of the list of checksums.
pub(super) const CHECKSUMS: &str = "SHA256SUMS";

/// Returns a list of checksums that `sha256sum --check` reads.
pub(super) fn checksums<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut list = String::new();
    for (name, content) in files {
        let _ = writeln!(list, "{}  {name}", hexadecimal(&Sha256::digest(content)));
    }
    list
}

/// Checks the files of a directory against its list of checksums.
pub(super) fn check_checksums(directory: &Path) -> Result<(), String> {
    let read = |name: &str| {
        let path = directory.join(name);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let list = String::from_utf8(read(CHECKSUMS)?).map_err(|error| error.to_string())?;
    for line in list.lines() {
        let (sum, name) =
            line.split_once("  ").ok_or_else(|| format!("{CHECKSUMS}: no checksum in \"{line}\""))?;
        if hexadecimal(&Sha256::digest(read(name)?)) != sum {
            return Err(format!("{CHECKSUMS}: \"{name}\" has another checksum"));
        }
    }
    Ok(())
}

/// Checks that dpkg sees these paths in a package. Without dpkg, prints so.
pub(super) fn check_deb(package: &Path, paths: &BTreeSet<String>) -> Result<(), String> {
    let Some(listed) = output("dpkg-deb", &["--fsys-tarfile"], package)? else { return Ok(()) };
    let archive = package.with_extension("tar");
    fs::write(&archive, listed).map_err(|error| format!("{}: {error}", archive.display()))?;
    let listed = output("tar", &["--list", "--file"], &archive);
    fs::remove_file(&archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    let listed = listed?.unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let found = listed.lines().map(|line| line.trim_start_matches("./").trim_end_matches('/').to_owned());
    compare("dpkg-deb", &found.filter(|path| !path.is_empty()).collect(), paths)?;
    let information = output("dpkg-deb", &["--info"], package)?.unwrap_or_default();
    if String::from_utf8_lossy(&information).contains("Package: ccm\n") {
        Ok(())
    } else {
        Err(format!("dpkg-deb does not find the name of {}", package.display()))
    }
}

/// Checks that rpm sees these paths in a package, and right checksums. Without rpm, prints so.
pub(super) fn check_rpm(package: &Path, paths: &BTreeSet<String>) -> Result<(), String> {
    let Some(listed) = output("rpm", &["--query", "--list", "--package"], package)? else { return Ok(()) };
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let found = listed.lines().map(|line| line.trim_start_matches('/').to_owned()).collect();
    compare("rpm", &found, paths)?;
    output("rpm", &["--checksig", "--nosignature"], package).map(drop)
}

fn compare(tool: &str, found: &BTreeSet<String>, expected: &BTreeSet<String>) -> Result<(), String> {
    match found.symmetric_difference(expected).next() {
        None => Ok(()),
        Some(path) if found.contains(path) => Err(format!("{tool} finds \"/{path}\", which was not written")),
        Some(path) => Err(format!("{tool} does not find \"/{path}\"")),
    }
}

/// Returns what a tool prints about a file; `None` if the tool is not installed.
fn output(tool: &str, arguments: &[&str], file: &Path) -> Result<Option<Vec<u8>>, String> {
    match Command::new(tool).args(arguments).arg(file).output() {
        Ok(output) if output.status.success() => Ok(Some(output.stdout)),
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            Err(format!("{tool} {}: {}", file.display(), String::from_utf8_lossy(&text).trim()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("not checked: {} ({tool} is not installed)", file.display());
            Ok(None)
        }
        Err(error) => Err(format!("{tool}: {error}")),
    }
}

/// Returns the shortest time that a program needs to print its version.
pub(super) fn start_time(program: &Path) -> Result<Duration, String> {
    const STARTS: u32 = 20;
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let mut shortest = Duration::MAX;
    for _ in 0..STARTS {
        let begin = Instant::now();
        let output = Command::new(program).arg("--version").output().map_err(failed)?;
        shortest = shortest.min(begin.elapsed());
        if !output.status.success() || !output.stdout.starts_with(b"ccm ") {
            return Err(format!("{} does not print its version", program.display()));
        }
    }
    Ok(shortest)
}
