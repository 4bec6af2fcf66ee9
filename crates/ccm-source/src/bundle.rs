//! Bundles: the directory of a release as one archive.

use std::io::{self, BufRead as _, Read as _};
use std::path::{Component, Path, PathBuf};

use ccm_host::{FileError, Files, TreeEntry, TreeEntryKind, WalkStep};
use ccm_model::hexadecimal;
use ccm_release::BundleDigest;
use sha2::{Digest as _, Sha256};

use crate::ignored::{IGNORE_FILE, IgnoreError, IgnoredPaths};
use crate::tar::TarWriter;

/// Maximum size of a bundle in bytes, before it is compressed.
pub const MAX_BUNDLE: u64 = 256 << 20;
/// Maximum number of files, directories and links of a bundle.
pub(crate) const MAX_ENTRIES: u64 = 100_000;
/// Maximum size of `.ccmignore`.
const MAX_IGNORE: u64 = 64 << 10;
/// Logarithm of the maximum window of Zstandard: 128 MiB, as of the command.
const MAX_WINDOW: u32 = 27;
/// Number of bytes that are hashed at once.
const PART: usize = 256 << 10;
/// Owner's right to execute.
const EXECUTABLE: u32 = 0o100;

/// Bundle that was built.
pub struct BuiltBundle {
    /// Digest of the archive.
    pub digest: BundleDigest,
    /// The archive, compressed by Zstandard.
    pub content: Vec<u8>,
    /// Paths of the files and links, relative to the directory.
    pub paths: Vec<PathBuf>,
}

/// Reason for which no bundle was built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The directory does not exist.
    #[error("there is no directory {0:?}")]
    NoDirectory(PathBuf),
    /// The directory, or something in it, can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// `.ccmignore` has an error.
    #[error(transparent)]
    Ignore(#[from] IgnoreError),
    /// A file holds secrets by its name.
    #[error("{0:?} holds secrets of one machine")]
    Environment(PathBuf),
    /// A file is a private key.
    #[error("{0:?} is a private key")]
    PrivateKey(PathBuf),
    /// A name is not UTF-8.
    #[error("the name of {0:?} is not UTF-8")]
    Name(PathBuf),
    /// A link leads out of the directory.
    #[error("the link {path:?} leads out of the directory, to {target:?}")]
    Link {
        /// The link.
        path: PathBuf,
        /// Its text.
        target: PathBuf,
    },
    /// A device, a pipe or a socket.
    #[error("{0:?} is neither a file nor a directory nor a link")]
    Special(PathBuf),
    /// All files together are too large.
    #[error("the files are larger than {MAX_BUNDLE} bytes together")]
    TooLarge,
    /// The directory holds nothing.
    #[error("{0:?} holds nothing")]
    Empty(PathBuf),
    /// The archive can't be compressed.
    #[error("the bundle can't be compressed")]
    Compression(#[source] io::Error),
}

impl BuildError {
    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Environment(_) | Self::PrivateKey(_) => {
                "a release is read by every machine and by whoever serves it: name the file in .ccmignore, or move it away"
            }
            Self::Special(_) | Self::Link { .. } => "remove it, or name it in .ccmignore",
            Self::TooLarge => {
                "name what no machine needs in .ccmignore, and fetch large files with `archive`"
            }
            _ => return None,
        })
    }
}

/// Builds the bundle of a directory: sorted, without times and owners, so that the same files give the same bytes.
pub fn build(files: &dyn Files, directory: &Path) -> Result<BuiltBundle, BuildError> {
    let ignored = ignored_paths(files, &directory.join(IGNORE_FILE))?;
    let step = |path: &Path, _| if ignored.matches(path) { WalkStep::Skip } else { WalkStep::Enter };
    let entries = files.walk(directory, &step)?;
    let entries = entries.ok_or_else(|| BuildError::NoDirectory(directory.to_owned()))?;
    let encoder = zstd::Encoder::new(Vec::new(), zstd::DEFAULT_COMPRESSION_LEVEL);
    let mut archive = TarWriter::new(encoder.map_err(BuildError::Compression)?);
    let mut paths = Vec::new();
    for entry in &entries {
        add(files, directory, entry, &mut archive, check_secret)?;
        if archive.size() > MAX_BUNDLE {
            return Err(BuildError::TooLarge);
        }
        if !matches!(entry.kind, TreeEntryKind::Directory { .. }) {
            paths.push(entry.path.clone());
        }
    }
    if paths.is_empty() {
        return Err(BuildError::Empty(directory.to_owned()));
    }
    let (digest, encoder) = archive.finish().map_err(BuildError::Compression)?;
    let content = encoder.finish().map_err(BuildError::Compression)?;
    Ok(BuiltBundle { digest, content, paths })
}

/// Builds the bundle of one file.
pub fn of_file(name: &str, content: &[u8]) -> Result<BuiltBundle, BuildError> {
    let encoder = zstd::Encoder::new(Vec::new(), zstd::DEFAULT_COMPRESSION_LEVEL);
    let mut archive = TarWriter::new(encoder.map_err(BuildError::Compression)?);
    archive.file(name, false, content).map_err(BuildError::Compression)?;
    let (digest, encoder) = archive.finish().map_err(BuildError::Compression)?;
    let content = encoder.finish().map_err(BuildError::Compression)?;
    Ok(BuiltBundle { digest, content, paths: vec![name.into()] })
}

/// Returns the digest that a bundle of exactly what is in a directory has.
pub(crate) fn digest_of(files: &dyn Files, directory: &Path) -> Result<BundleDigest, BuildError> {
    let entries = files.walk(directory, &|_, _| WalkStep::Enter)?;
    let entries = entries.ok_or_else(|| BuildError::NoDirectory(directory.to_owned()))?;
    let mut archive = TarWriter::new(io::sink());
    for entry in &entries {
        add(files, directory, entry, &mut archive, |_, _| Ok(()))?;
    }
    if entries.is_empty() {
        return Err(BuildError::Empty(directory.to_owned()));
    }
    archive.finish().map(|(digest, _)| digest).map_err(BuildError::Compression)
}

/// Returns `true` if a compressed archive has a digest.
pub fn has_digest(content: &[u8], digest: &BundleDigest) -> io::Result<bool> {
    let mut decoder = zstd::Decoder::with_buffer(content)?;
    decoder.window_log_max(MAX_WINDOW)?;
    // One byte more shows that it is too long.
    let mut archive = decoder.take(digest.size.min(MAX_BUNDLE).saturating_add(1));
    let (mut hash, mut part, mut size) = (Sha256::new(), vec![0; PART], 0);
    loop {
        match archive.read(&mut part)? {
            0 => break,
            read => {
                hash.update(&part[..read]);
                size += read as u64;
            }
        }
    }
    Ok(size == digest.size && hexadecimal(&hash.finalize()) == digest.sha256)
}

fn ignored_paths(files: &dyn Files, path: &Path) -> Result<IgnoredPaths, BuildError> {
    if !files.exists(path).map_err(|source| FileError::unreadable(path, source))? {
        return Ok(IgnoredPaths::default());
    }
    let content = files.content(path, MAX_IGNORE)?.ok_or(BuildError::TooLarge)?;
    Ok(IgnoredPaths::parse(&String::from_utf8_lossy(&content))?)
}

fn add<W: io::Write>(
    files: &dyn Files,
    directory: &Path,
    entry: &TreeEntry,
    archive: &mut TarWriter<W>,
    check: impl Fn(&Path, &[u8]) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let path = entry.path.to_str().ok_or_else(|| BuildError::Name(entry.path.clone()))?;
    let written = match &entry.kind {
        TreeEntryKind::Directory { .. } => archive.directory(path),
        TreeEntryKind::Link(target) => {
            let refused = || BuildError::Link { path: entry.path.clone(), target: target.clone() };
            let text = target.to_str().filter(|_| stays_inside(&entry.path, target)).ok_or_else(refused)?;
            archive.link(path, text)
        }
        TreeEntryKind::File => {
            let left = MAX_BUNDLE.saturating_sub(archive.size());
            let content = files.content(&directory.join(&entry.path), left)?.ok_or(BuildError::TooLarge)?;
            check(&entry.path, &content)?;
            archive.file(path, entry.mode & EXECUTABLE != 0, &content)
        }
        TreeEntryKind::Special(_) => return Err(BuildError::Special(entry.path.clone())),
    };
    written.map_err(BuildError::Compression)
}

/// Checks that a file of a release holds no secret. Everybody who can reach the release can read it.
fn check_secret(path: &Path, content: &[u8]) -> Result<(), BuildError> {
    if path.file_name().is_some_and(|name| name == ".env") {
        return Err(BuildError::Environment(path.to_owned()));
    }
    if is_private_key(content) {
        return Err(BuildError::PrivateKey(path.to_owned()));
    }
    Ok(())
}

/// Returns `true` if a relative link leads to a place in the directory.
fn stays_inside(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count() - 1;
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Returns `true` if the first line with something in it begins a private key.
fn is_private_key(content: &[u8]) -> bool {
    let mut lines = content.lines().map_while(Result::ok).take(100);
    let first = lines.find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        let line = line.trim();
        let is_pem = line.starts_with("-----BEGIN ") && line.contains("PRIVATE KEY");
        is_pem || line.starts_with("AGE-SECRET-KEY-") || line.starts_with("PuTTY-User-Key-File-")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_inside() {
        for (link, target, expected) in [
            ("a", "b", true),
            ("a", "./b", true),
            ("a", "..", false),
            ("sub/a", "../b", true),
            ("sub/a", "../../b", false),
            ("sub/a", "x/../../..", false),
            ("a", "/etc/passwd", false),
        ] {
            assert_eq!(stays_inside(Path::new(link), Path::new(target)), expected, "{link} {target}");
        }
    }

    #[test]
    fn private_keys_are_known() {
        for (content, expected) in [
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3", true),
            ("\n  -----BEGIN RSA PRIVATE KEY-----\r\n", true),
            ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n", true),
            ("# created: 2026-11-29\nAGE-SECRET-KEY-1QQ\n", true),
            ("PuTTY-User-Key-File-3: ssh-ed25519\n", true),
            ("-----BEGIN CERTIFICATE-----\n", false),
            ("# text\ncontent: -----BEGIN RSA PRIVATE KEY-----\n", false),
            ("", false),
        ] {
            assert_eq!(is_private_key(content.as_bytes()), expected, "{content}");
        }
    }
}
