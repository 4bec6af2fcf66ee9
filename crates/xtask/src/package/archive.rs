//! Writers of tar and ar archives with fixed owners and times, so that the same items give the same bytes.
//!
//! The crate `tar` drops the `./` in front of the paths of a Debian package, which users name when they unpack one file.

use std::io::Write as _;

use flate2::{Compression, GzBuilder};

/// Entry of an archive. The owner is root.
pub(super) struct Entry<'a> {
    /// Path as it is written, such as `./usr/bin/ccm`.
    pub(super) path: &'a str,
    /// Content; `None` for a directory.
    pub(super) content: Option<&'a [u8]>,
    /// Permissions.
    pub(super) mode: u32,
}

const TAR_BLOCK: usize = 512;

/// Writes a tar archive in the format of POSIX 1003.1-1988 (ustar), which every tar reads.
pub(super) fn tar<'a>(entries: impl IntoIterator<Item = Entry<'a>>, seconds: u64) -> Result<Vec<u8>, String> {
    let mut archive = Vec::new();
    for entry in entries {
        let content = entry.content.unwrap_or_default();
        archive.extend(tar_header(&entry, content.len(), seconds)?);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(TAR_BLOCK), 0);
    }
    // Two empty blocks end it.
    archive.resize(archive.len() + 2 * TAR_BLOCK, 0);
    Ok(archive)
}

fn tar_header(entry: &Entry<'_>, length: usize, seconds: u64) -> Result<[u8; TAR_BLOCK], String> {
    let is_directory = entry.content.is_none();
    let path = if is_directory { format!("{}/", entry.path) } else { entry.path.to_owned() };
    let (prefix, name) = split(&path).ok_or_else(|| format!("\"{path}\" is too long for tar"))?;
    let mut header = [0; TAR_BLOCK];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, format!("{:07o}", entry.mode).as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{length:011o}").as_bytes());
    put(136, format!("{seconds:011o}").as_bytes());
    put(148, b"        ");
    put(156, if is_directory { b"5" } else { b"0" });
    put(257, b"ustar\x0000");
    put(265, b"root");
    put(297, b"root");
    put(345, prefix.as_bytes());
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

/// Splits a path into the two fields of a tar header.
fn split(path: &str) -> Option<(&str, &str)> {
    const MAX_NAME: usize = 100;
    const MAX_PREFIX: usize = 155;
    if path.len() <= MAX_NAME {
        return Some(("", path));
    }
    let mut slashes = path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
    slashes.find(|(prefix, name)| prefix.len() <= MAX_PREFIX && name.len() <= MAX_NAME && !name.is_empty())
}

/// Writes an ar archive.
pub(super) fn ar<'a>(members: impl IntoIterator<Item = (&'a str, &'a [u8])>, seconds: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let length = content.len();
        archive
            .extend(format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{length:<10}`\n", 0, 0, 100_644).bytes());
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    archive
}

/// Compresses bytes as `gzip -9n` does: without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(|error| format!("gzip: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_are_split_at_a_slash() {
        let long = format!("{}/{}", "d".repeat(90), "f".repeat(90));
        assert_eq!(split(&long), Some((&*"d".repeat(90), &*"f".repeat(90))));
        assert_eq!(split("short/name"), Some(("", "short/name")));
        assert_eq!(split(&"x".repeat(101)), None);
        let directory = format!("{}/", "d".repeat(120));
        assert_eq!(split(&directory), None);
    }

    #[test]
    fn ar_members_are_padded() {
        let archive = ar([("a", &b"odd"[..]), ("b", &b"even"[..])], 7);
        let expected = "!<arch>\na               7           0     0     100644  3         `\nodd\n\
                        b               7           0     0     100644  4         `\neven";
        assert_eq!(String::from_utf8(archive).expect("text"), expected);
    }

    #[test]
    fn compressed_bytes_hold_no_time() {
        let compressed = gzip(b"text").expect("bytes");
        assert_eq!(&compressed[..8], b"\x1f\x8b\x08\0\0\0\0\0");
    }
}
