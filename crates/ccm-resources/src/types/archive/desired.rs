//! The desired archive, complete and checked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_fetch::{ArchiveFormat, HeaderField, HttpCredentials, HttpUrl};
use ccm_host::is_temp_path;
use ccm_model::Resource;
use ccm_properties::PropertyError;

use super::properties::ArchiveProperties;
use crate::parts::web::{MAX_SIZE, TIMEOUT};
use crate::support::values::canonical_path::name_error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredArchive {
    pub path: PathBuf,
    /// Source of the file; `None` if it is to be absent.
    pub origin: Option<Origin>,
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: Option<u32>,
    pub extraction: Option<Extraction>,
    /// Path that shows that the archive was extracted.
    pub creates: Option<PathBuf>,
    /// Removes the file after the extraction.
    pub cleanup: bool,
    pub max_size: u64,
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub url: HttpUrl,
    pub checksum: Option<String>,
    pub checksum_url: Option<HttpUrl>,
    pub headers: Vec<HeaderField>,
    pub credentials: Option<HttpCredentials>,
    pub ca_file: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extraction {
    pub into: PathBuf,
    pub format: ArchiveFormat,
    pub strip_components: usize,
}

impl DesiredArchive {
    /// Builds the archive, or returns all errors.
    pub(crate) fn build(resource: &Resource, written: ArchiveProperties) -> Result<Self, Vec<PropertyError>> {
        let name = &*resource.id.name;
        let path = Path::new(name);
        let is_absent = resource.is_absent();
        let mut errors: Vec<PropertyError> = name_error(name, "file").into_iter().collect();
        if is_temp_path(path) {
            let message = format!("`{}` is the name of a temporary file of ccm", name.escape_debug());
            errors.push(
                PropertyError::of_name(message).with_hint(
                    "choose another name: ccm writes new content to names such as `.NAME.ccm-new`",
                ),
            );
        }
        if is_absent {
            errors.extend(not_with_absent(&written));
        } else {
            errors.extend(conflicts(&written));
        }
        let format = ArchiveFormat::of_name(path);
        if written.extract_parent.is_some() && format.is_none() && !is_absent {
            let message = format!("the name `{}` does not end like that of an archive", name.escape_debug());
            let hint =
                "let it end with `.tar`, `.tar.gz`, `.tgz`, `.tar.xz`, `.tar.zst`, `.tar.bz2` or `.zip`";
            errors.push(PropertyError::of_name(message).with_hint(hint));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let strip_components = written.strip_components.map_or(0, |count| count.0);
        let extraction = written.extract_parent.zip(format);
        let extraction =
            extraction.map(|(into, format)| Extraction { into: into.0, format, strip_components });
        Ok(Self {
            path: path.to_owned(),
            origin: written.url.filter(|_| !is_absent).map(|url| Origin {
                credentials: written.username.map(|username| HttpCredentials {
                    username: username.0,
                    password: written.password.map(|password| password.0).unwrap_or_default(),
                }),
                url: url.0,
                checksum: written.checksum.map(|checksum| checksum.0),
                checksum_url: written.checksum_url.map(|url| url.0),
                headers: written.headers.unwrap_or_default().0,
                ca_file: written.ca_file.map(|path| path.0),
            }),
            owner: written.owner.map(|owner| owner.0),
            group: written.group.map(|group| group.0),
            mode: written.mode.map(|mode| mode.0),
            extraction,
            creates: written.creates.map(|creates| creates.0),
            cleanup: written.cleanup.unwrap_or_default(),
            max_size: written.max_size.map_or(MAX_SIZE, |size| size.0),
            timeout: written.timeout.map_or(Some(TIMEOUT), |timeout| timeout.0),
        })
    }
}

/// Returns the errors of properties that are not allowed with `ensure: absent`.
fn not_with_absent(written: &ArchiveProperties) -> Vec<PropertyError> {
    let given = [
        ("extract_parent", written.extract_parent.is_some()),
        ("creates", written.creates.is_some()),
        ("cleanup", written.cleanup == Some(true)),
    ];
    let errors = given.into_iter().filter(|(_, is_given)| *is_given).map(|(property, _)| {
        PropertyError::not_with_absent(
            property,
            "remove this property: what was extracted is removed by resources of its own",
        )
    });
    errors.collect()
}

/// Returns the errors of properties that contradict one another, or lack another one.
fn conflicts(written: &ArchiveProperties) -> Vec<PropertyError> {
    let extracts = written.extract_parent.is_some();
    let mut errors = Vec::new();
    if written.url.is_none() {
        errors.push(PropertyError::missing("url", "write `url`, the address of the file"));
    }
    if written.checksum.is_some() && written.checksum_url.is_some() {
        let message = "`checksum` and `checksum_url` exclude each other";
        errors.push(PropertyError::conflict("checksum_url", message, "keep one of them"));
    }
    if written.password.is_some() && written.username.is_none() {
        errors.push(PropertyError::conflict("password", "`password` needs `username`", "write `username`"));
    }
    if written.creates.is_some() && !extracts {
        let message = "`creates` needs `extract_parent`";
        errors.push(PropertyError::conflict(
            "creates",
            message,
            "write `extract_parent`, the directory to extract into",
        ));
    }
    if written.strip_components.is_some() && !extracts {
        let message = "`strip_components` needs `extract_parent`";
        errors.push(PropertyError::conflict(
            "strip_components",
            message,
            "write `extract_parent`, or remove `strip_components`",
        ));
    }
    if written.cleanup == Some(true) && (written.creates.is_none() || !extracts) {
        let message = "`cleanup` needs `extract_parent` and `creates`";
        let hint = "write both: without the file, `creates` shows whether there is something to do";
        errors.push(PropertyError::conflict("cleanup", message, hint));
    }
    errors
}
