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
