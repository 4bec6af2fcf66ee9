//! Formats of archives.

use std::fmt;
use std::path::Path;

/// Format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// Uncompressed tar.
    Tar,
    /// tar in gzip.
    TarGz,
    /// tar in bzip2.
    TarBz2,
    /// tar in xz.
    TarXz,
    /// tar in Zstandard.
    TarZst,
    /// zip.
    Zip,
}

/// Ends of names, in lower case.
const ENDINGS: &[(&str, ArchiveFormat)] = &[
    (".tar", ArchiveFormat::Tar),
    (".tar.gz", ArchiveFormat::TarGz),
    (".tgz", ArchiveFormat::TarGz),
    (".tar.bz2", ArchiveFormat::TarBz2),
    (".tbz2", ArchiveFormat::TarBz2),
    (".tbz", ArchiveFormat::TarBz2),
    (".tar.xz", ArchiveFormat::TarXz),
    (".txz", ArchiveFormat::TarXz),
    (".tar.zst", ArchiveFormat::TarZst),
    (".tzst", ArchiveFormat::TarZst),
    (".zip", ArchiveFormat::Zip),
];

impl ArchiveFormat {
    /// Returns the format that the end of a name stands for.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| *format)
    }

    /// Returns why a file that can't be read is no archive of this format, if its first block shows that.
    pub(super) fn contradiction(self, beginning: &[u8]) -> Option<String> {
        if beginning.is_empty() {
            return Some("it is empty".to_owned());
        }
        let expected = match self {
            Self::Tar => FileKind::Tar,
            Self::TarGz => FileKind::Gzip,
            Self::TarBz2 => FileKind::Bzip2,
            Self::TarXz => FileKind::Xz,
            Self::TarZst => FileKind::Zstandard,
            Self::Zip => FileKind::Zip,
        };
        match FileKind::of(beginning) {
            Some(found) if found == expected => None,
            Some(found) => Some(format!("it is no {expected}, but {} {found}", found.article())),
            None if expected == FileKind::Tar && beginning.len() < BLOCK => {
                Some(format!("it is no {expected}, or it is cut off"))
            }
            // Old tar files have no mark, and a zip file may begin with anything.
            None if matches!(expected, FileKind::Tar | FileKind::Zip) => None,
            None => Some(format!("it is no {expected}")),
        }
    }
}

/// Size of a block of a tar file. The first one is a header.
pub(super) const BLOCK: usize = 512;

/// Kind of a file, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Tar,
    Gzip,
    Bzip2,
    Xz,
    Zstandard,
    Zip,
    /// What servers send with an error.
    WebPage,
}

impl FileKind {
    fn of(beginning: &[u8]) -> Option<Self> {
        const MAGIC: [(&[u8], FileKind); 6] = [
            (b"\x1f\x8b", FileKind::Gzip),
            (b"BZh", FileKind::Bzip2),
            (b"\xfd7zXZ\0", FileKind::Xz),
            (b"\x28\xb5\x2f\xfd", FileKind::Zstandard),
            (b"PK\x03\x04", FileKind::Zip),
            (b"PK\x05\x06", FileKind::Zip),
        ];
        if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| beginning.starts_with(magic)) {
            return Some(*kind);
        }
        if beginning.get(257..262) == Some(b"ustar") {
            return Some(Self::Tar);
        }
        let text = beginning.trim_ascii_start().to_ascii_lowercase();
        let is_page = [&b"<!doctype html"[..], b"<html"].iter().any(|start| text.starts_with(start));
        is_page.then_some(Self::WebPage)
    }

    fn article(self) -> &'static str {
        if self == Self::Xz { "an" } else { "a" }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tar => "tar file",
            Self::Gzip => "gzip file",
            Self::Bzip2 => "bzip2 file",
            Self::Xz => "xz file",
            Self::Zstandard => "zstd file",
            Self::Zip => "zip file",
            Self::WebPage => "web page",
        })
    }
}

impl fmt::Display for ArchiveFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tar => "tar",
            Self::TarGz => "tar.gz",
            Self::TarBz2 => "tar.bz2",
            Self::TarXz => "tar.xz",
            Self::TarZst => "tar.zst",
            Self::Zip => "zip",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_shows_the_format() {
        for (name, format) in [
            ("/a/b.tar.gz", Some("tar.gz")),
            ("/a/B.TGZ", Some("tar.gz")),
            ("/a/b.tar", Some("tar")),
            ("/a/b.zip", Some("zip")),
            ("/a/b-1.2.tar.zst", Some("tar.zst")),
            ("/a/b.gz", None),
            ("/a.zip/b", None),
        ] {
            let found = ArchiveFormat::of_name(Path::new(name)).map(|format| format.to_string());
            assert_eq!(found.as_deref(), format, "{name}");
        }
    }
}
