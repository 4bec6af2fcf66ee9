//! What a source offers: the release, and the bundle that it names.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_fetch::{
    ArchiveFormat, ExtractError, ExtractRequest, HttpError, HttpRequest, HttpUrl, ProxySettings,
    ServedVersion, download, extract,
};
use ccm_host::{Cancellation, FileError, Files};
use ccm_release::{MAX_ENVELOPE, Release};

use crate::address::{SourceAddress, SourcePlace};
use crate::bundle::{MAX_BUNDLE, MAX_ENTRIES};

/// Maximum size of a hold in bytes.
const MAX_HOLD: u64 = 1 << 10;
/// Maximum length of the reason of a hold in characters.
const MAX_REASON: usize = 200;
/// Status of a file that is the same as before.
const NOT_MODIFIED: u16 = 304;

/// Envelope as it was fetched, and how its server names this version of it.
#[derive(Clone)]
pub(crate) struct FetchedEnvelope {
    pub(crate) bytes: Vec<u8>,
    pub(crate) served: ServedVersion,
}

/// Doors through which a source is fetched.
#[derive(Clone, Copy)]
pub struct SourceDoors<'a> {
    /// Reads files, and opens the directories that bundles are unpacked into.
    pub files: &'a dyn Files,
    /// Ends a transfer.
    pub cancellation: &'a Cancellation,
    /// Proxies.
    pub proxies: &'a ProxySettings,
    /// File with certificates to trust in place of those of the system.
    pub ca_file: Option<&'a Path>,
    /// Time that fetching may take.
    pub wait: Duration,
}

/// Reason for which something can't be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The server does not give it.
    #[error("{address} can't be fetched")]
    Http {
        /// Address.
        address: String,
        /// Reason.
        source: HttpError,
    },
    /// The file can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is too large.
    #[error("{address} is larger than {limit} bytes")]
    TooLarge {
        /// Address.
        address: String,
        /// Maximum size.
        limit: u64,
    },
    /// What was downloaded can't be kept.
    #[error("what is fetched can't be written to {path:?}")]
    Scratch {
        /// Directory.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// The source is a branch.
    #[error("the source is a branch of git, and no release")]
    NoRelease,
    /// The bundle can't be unpacked, or is another one.
    #[error("its content can't be unpacked")]
    Bundle(#[from] ExtractError),
}

impl SourceAddress {
    /// Fetches the envelope of the release, unless it is the one that is known.
    pub(crate) async fn envelope(
        &self,
        known: Option<&FetchedEnvelope>,
        doors: SourceDoors<'_>,
        scratch: &Path,
    ) -> Result<FetchedEnvelope, FetchError> {
        let limit = MAX_ENVELOPE as u64;
        let (mut file, served) = match &self.place {
            SourcePlace::File(path) => (doors.files.open(path)?, ServedVersion::default()),
            SourcePlace::Web { text, url } => {
                let mut request = HttpRequest::new(url.clone(), limit);
                if let Some(known) = known {
                    request = request.unless_same(&known.served);
                }
                match (Self::download(text, request, doors, scratch).await, known) {
                    (
                        Err(FetchError::Http {
                            source: HttpError::Status { code: NOT_MODIFIED, .. }, ..
                        }),
                        Some(known),
                    ) => return Ok(known.clone()),
                    (downloaded, _) => downloaded?,
                }
            }
            SourcePlace::Git(_) | SourcePlace::Push { .. } => return Err(FetchError::NoRelease),
        };
        Ok(FetchedEnvelope { bytes: self.content(&mut file, limit, scratch)?, served })
    }

    /// Fetches the hold beside the release: its reason; `None` if there is none.
    pub(crate) async fn hold(
        &self,
        doors: SourceDoors<'_>,
        scratch: &Path,
    ) -> Result<Option<String>, FetchError> {
        let mut file = match &self.place {
            SourcePlace::File(path) => {
                let path = path.with_extension("hold");
                let exists = doors.files.exists(&path);
                if !exists.map_err(|source| FileError::unreadable(&path, source))? {
                    return Ok(None);
                }
                doors.files.open(&path)?
            }
            SourcePlace::Web { text, .. } => {
                let text = format!("{}.hold", text.strip_suffix(".release").unwrap_or(text));
                // It differs from a valid address only in its end.
                let Ok(url) = HttpUrl::parse(&text) else { return Ok(None) };
                match Self::download(&text, HttpRequest::new(url, MAX_HOLD), doors, scratch).await {
                    Err(FetchError::Http { source: HttpError::Status { code: 404 | 410, .. }, .. }) => {
                        return Ok(None);
                    }
                    downloaded => downloaded?.0,
                }
            }
            SourcePlace::Git(_) | SourcePlace::Push { .. } => return Err(FetchError::NoRelease),
        };
        let content = self.content(&mut file, MAX_HOLD, scratch)?;
        let reason: String = String::from_utf8_lossy(&content).trim().chars().take(MAX_REASON).collect();
        Ok(Some(if reason.is_empty() { "no reason is given".to_owned() } else { reason }))
    }

    /// Fetches the bundle of a release, and unpacks it into an empty directory. Nothing is left of a bundle whose digest is
    /// not that of the release.
    pub(crate) async fn unpack(
        &self,
        release: &Release,
        into: &Path,
        doors: SourceDoors<'_>,
        scratch: &Path,
    ) -> Result<(), FetchError> {
        let name = release.bundle.file_name();
        let (archive, path) = match &self.place {
            SourcePlace::File(path) => {
                let path = path.with_file_name(&name);
                (doors.files.open(&path)?, path)
            }
            SourcePlace::Web { text, .. } => {
                let (directory, _) = text.rsplit_once('/').unwrap_or((text, ""));
                let text = format!("{directory}/{name}");
                let url = HttpUrl::parse(&text).map_err(|error| FetchError::Scratch {
                    path: scratch.to_owned(),
                    source: io::Error::other(error),
                })?;
                let request = HttpRequest::new(url, MAX_BUNDLE);
                (Self::download(&text, request, doors, scratch).await?.0, PathBuf::from(name))
            }
            SourcePlace::Git(_) | SourcePlace::Push { .. } => return Err(FetchError::NoRelease),
        };
        let request = ExtractRequest {
            archive,
            sha256: None,
            content_sha256: Some(release.bundle.sha256.clone()),
            path,
            format: ArchiveFormat::TarZst,
            into: doors.files.extraction_target(into)?,
            strip_components: 0,
            uid: None,
            gid: None,
            max_size: release.bundle.size.min(MAX_BUNDLE),
            max_entries: MAX_ENTRIES,
            last: None,
            timeout: Some(doors.wait),
        };
        extract(request, doors.cancellation).await?;
        Ok(())
    }

    async fn download(
        text: &str,
        request: HttpRequest,
        doors: SourceDoors<'_>,
        scratch: &Path,
    ) -> Result<(File, ServedVersion), FetchError> {
        let failed = |source| FetchError::Scratch { path: scratch.to_owned(), source };
        let mut file = ccm_host::unnamed_file(scratch).map_err(failed)?;
        let request = HttpRequest {
            proxies: doors.proxies.clone(),
            ca_file: doors.ca_file.map(Path::to_owned),
            timeout: Some(doors.wait),
            idle_timeout: doors.wait,
            ..request
        };
        let copy = file.try_clone().map_err(failed)?;
        let downloaded = download(request, copy, doors.cancellation, Box::new(|_, _| {})).await;
        let downloaded =
            downloaded.map_err(|source| FetchError::Http { address: text.to_owned(), source })?;
        file.rewind().map_err(failed)?;
        Ok((file, downloaded.served))
    }

    fn content(&self, file: &mut File, limit: u64, scratch: &Path) -> Result<Vec<u8>, FetchError> {
        let failed = |source| FetchError::Scratch { path: scratch.to_owned(), source };
        let mut content = Vec::new();
        file.take(limit + 1).read_to_end(&mut content).map_err(failed)?;
        if content.len() as u64 > limit {
            return Err(FetchError::TooLarge { address: self.to_string(), limit });
        }
        Ok(content)
    }
}
