//! Addresses of sources.

use std::fmt;
use std::path::{Path, PathBuf};

use ccm_fetch::{HttpUrl, UrlError};
use ccm_host::slug;
use ccm_model::sha256;

/// End of the name of a release.
pub(crate) const RELEASE_ENDING: &str = ".release";
/// Maximum length of the readable part of the name of a source.
const MAX_SLUG: usize = 40;

/// Address of a source of manifests.
#[derive(Clone, Debug)]
pub struct SourceAddress {
    pub(crate) place: SourcePlace,
}

/// Place of a release.
#[derive(Clone, Debug)]
pub(crate) enum SourcePlace {
    /// File on this machine.
    File(PathBuf),
    /// File of a web server.
    Web {
        /// Its address as it was written.
        text: String,
        /// Address of the release.
        url: HttpUrl,
    },
}

/// Reason for which a text is no address of a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The address is no URL.
    #[error("{text:?} is no address of a source")]
    Url {
        /// The text.
        text: String,
        /// The error.
        source: UrlError,
    },
    /// The address is one without encryption.
    #[error("{0:?} is not fetched without encryption")]
    Plain(String),
    /// The address has a user or a password.
    #[error("the address has a user or a password, which would be kept in records")]
    Credentials,
    /// The scheme is one that ccm does not know, or not yet.
    #[error("sources of {0} are not supported")]
    Scheme(String),
    /// The address does not end like a release.
    #[error("{0:?} is no release, whose name ends in {RELEASE_ENDING}")]
    Ending(String),
}

impl AddressError {
    /// Returns advice on what to write.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Plain(_) => "write https://",
            Self::Credentials => "serve releases without a login: they are signed, and hold no secret",
            Self::Scheme(_) | Self::Url { .. } => {
                "write https://HOST/PATH/NAME.release, or the path of a release"
            }
            Self::Ending(_) => "`ccm release build` writes a release and its bundle",
        }
    }
}

impl SourceAddress {
    /// Reads an address: `https://HOST/PATH/NAME.release`, `file:///PATH/NAME.release` or the path of a release. A
    /// relative path starts from a directory.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, AddressError> {
        if !text.ends_with(RELEASE_ENDING) && !text.contains("://") {
            return Err(AddressError::Ending(text.to_owned()));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(Self { place: SourcePlace::File(directory.join(text)) });
        };
        let place = match scheme {
            "file" if rest.starts_with('/') => SourcePlace::File(rest.into()),
            "https" => {
                let url = HttpUrl::parse(text);
                let url = url.map_err(|source| AddressError::Url { text: text.to_owned(), source })?;
                if url.credentials().is_some() {
                    return Err(AddressError::Credentials);
                }
                SourcePlace::Web { text: text.to_owned(), url }
            }
            "http" => return Err(AddressError::Plain(text.to_owned())),
            other => return Err(AddressError::Scheme(other.to_owned())),
        };
        if !text.ends_with(RELEASE_ENDING) {
            return Err(AddressError::Ending(text.to_owned()));
        }
        Ok(Self { place })
    }

    /// Returns the name under which everything about the source is kept: a readable part, and a digest of the address.
    pub fn name(&self) -> String {
        let text = self.to_string();
        let file = text.rsplit('/').next().unwrap_or_default();
        let readable = slug(file.strip_suffix(RELEASE_ENDING).unwrap_or(file), MAX_SLUG);
        let kind = match self.place {
            SourcePlace::File(_) => "file",
            SourcePlace::Web { .. } => "https",
        };
        let digest = sha256(format!("{kind}\0{text}").as_bytes());
        format!("{readable}-{}", digest.get(..8).unwrap_or_default())
    }
}

impl fmt::Display for SourceAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            SourcePlace::File(path) => write!(formatter, "{}", path.display()),
            SourcePlace::Web { text, .. } => formatter.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_meant() {
        for (text, expected) in [
            ("https://example.com/ccm/base.release", Ok("https://example.com/ccm/base.release")),
            ("file:///srv/base.release", Ok("/srv/base.release")),
            ("/srv/base.release", Ok("/srv/base.release")),
            ("base.release", Ok("/here/base.release")),
            ("http://example.com/base.release", Err("without encryption")),
            ("https://user:secret@example.com/base.release", Err("a user or a password")),
            ("https://example.com/base.tar.gz", Err("is no release")),
            ("https:///base.release", Err("is no address")),
            ("git+https://example.com/site.git#main", Err("sources of git+https are not supported")),
            ("nats://example.com/base", Err("sources of nats are not supported")),
            ("file://host/base.release", Err("sources of file are not supported")),
            ("site.yaml", Err("is no release")),
        ] {
            let parsed = SourceAddress::parse(text, Path::new("/here"));
            match (parsed, expected) {
                (Ok(address), Ok(shown)) => assert_eq!(address.to_string(), shown),
                (Err(error), Err(reason)) => assert!(error.to_string().contains(reason), "{error}"),
                (parsed, _) => panic!("{text}: {parsed:?}"),
            }
        }
    }

    #[test]
    fn each_source_has_a_name_of_its_own() {
        let name = |text| SourceAddress::parse(text, Path::new("/here")).expect("an address").name();
        assert_eq!(name("base.release"), name("file:///here/base.release"));
        assert_ne!(name("base.release"), name("/other/base.release"));
        assert!(name("https://example.com/x/base.release").starts_with("base-"));
        assert!(name("/srv/a b;c.release").starts_with("a-b-c-"));
    }
}
