//! The properties of an archive, as the manifest writes them.

use ccm_model::{Diagnostic, DiagnosticKind, Node};
use ccm_properties::{PropertyKind, PropertyValue, Text, properties};

use crate::parts::web::{Headers, WebAddress};
use crate::support::values::byte_count::ByteCount;
use crate::support::values::canonical_path::CanonicalPath;
use crate::support::values::checksum::Checksum;
use crate::support::values::file_mode::FileMode;
use crate::support::values::principal::Principal;
use crate::support::values::timeout::Timeout;

properties! {
    /// Properties of an archive; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct ArchiveProperties {
        /// Address of the file, with `https` or `http`. Redirects are followed, but never from `https` to `http`.
        url: WebAddress { foreign_names: &["source", "src"] },
        /// SHA-256 of the file, in hexadecimal digits. A file with another checksum is downloaded again, and a
        /// download with another checksum is refused.
        checksum: Checksum,
        /// Address of a list of checksums as `sha256sum` writes it. The list is only read when the file is downloaded.
        checksum_url: WebAddress,
        /// Additional fields for the header of the request, as a map. They are only sent to the server of `url`.
        /// Their values are never shown.
        headers: Headers { secret: true },
        /// User for basic authentication. User and password are only sent to the server of `url`.
        username: Text,
        /// Password of the user. It is never shown.
        password: Text { secret: true },
        /// File with certificates in PEM format to trust in place of those of the system.
        ca_file: CanonicalPath,
        /// Owner of the file and of everything extracted from it, by name or number.
        owner: Principal { default: Some("the user who runs ccm"), foreign_names: &["user"] },
        /// Group of the file and of everything extracted from it, by name or number.
        group: Principal { default: Some("the group of the user who runs ccm") },
        /// Permissions of the file in octal digits, such as `0644`.
        mode: FileMode { default: Some("not managed; a new file has `0644`") },
        /// Directory to extract the file into. It is made if it is missing. The name of the resource has to end with
        /// `.tar`, `.tar.gz`, `.tgz`, `.tar.xz`, `.tar.zst`, `.tar.bz2` or `.zip`.
        extract_parent: CanonicalPath { foreign_names: &["extract_path", "dest"] },
        /// Number of leading parts to remove from each name in the archive. As for `tar`, the `.` of `./app/run` is a part.
        strip_components: StripCount { default: Some("`0`") },
        /// Path that exists after the extraction. If it is missing, the archive is extracted again, and also if `checksum`
        /// is another one than that of the file that ccm extracted last.
        creates: CanonicalPath,
        /// Remove the file after the extraction. Needs `extract_parent` and `creates`.
        cleanup: bool { default: Some("`false`") },
        /// Maximum size of the file, and of all that comes out of it, such as `500MiB`.
        max_size: ByteCount { default: Some("`4GiB`") },
        /// Time limit of the download, and of the extraction, such as `10m`; `0` means no limit.
        timeout: Timeout { default: Some("`1h`") },
    }
}

/// Number of parts of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StripCount(pub usize);

impl StripCount {
    const MAX: i64 = 20;
}

impl PropertyValue for StripCount {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(0), max: Some(Self::MAX) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let count = i64::decode(node, errors)?;
        let number = usize::try_from(count).ok().filter(|_| count <= Self::MAX);
        if number.is_none() {
            let message = format!("`strip_components` must be between 0 and {}, found {count}", Self::MAX);
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message));
        }
        number.map(Self)
    }
}
