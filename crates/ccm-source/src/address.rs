//! Addresses of sources.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use ccm_fetch::{GitUrlError, HttpUrl, UrlError, check_git_url, git_reference_error};
use ccm_host::slug;
use ccm_model::sha256;

/// What comes before the scheme of a repository.
const GIT: &str = "git+";
/// Schemes of repositories of a source.
const GIT_SCHEMES: [&str; 3] = ["https", "ssh", "file"];
/// End of the name of a release.
pub(crate) const RELEASE_ENDING: &str = ".release";
/// What comes before the name of a source that another machine pushes.
const PUSH: &str = "push:";
/// Number of hexadecimal digits of a digest.
const DIGEST_LENGTH: usize = 64;
/// Maximum length of the name of such a source.
const MAX_PUSH_NAME: usize = 64;
/// Maximum length of the readable part of the name of a source.
const MAX_SLUG: usize = 40;

/// Address of a source of manifests.
#[derive(Clone, Debug)]
pub struct SourceAddress {
    pub(crate) place: SourcePlace,
}

/// Place of a release or a branch.
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
    /// Branch of a repository.
    Git(GitPlace),
    /// What another machine pushes to this one.
    Push {
        /// Name that whoever pushes has chosen.
        name: String,
        /// The sha256 of a bundle in hexadecimal digits; `None` is the one that was received last.
        digest: Option<String>,
    },
}

/// Branch of a repository, or one directory of it.
#[derive(Clone, Debug)]
pub(crate) struct GitPlace {
    /// Address of the repository, as git reads it.
    pub(crate) url: String,
    /// Its scheme.
    pub(crate) scheme: String,
    /// Name of the branch.
    pub(crate) branch: String,
    /// Directory in the repository; `None` is all of it.
    pub(crate) directory: Option<String>,
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
    /// The address is none of a repository.
    #[error("{text:?} is no address of a repository")]
    Repository {
        /// The text.
        text: String,
        /// The error.
        source: GitUrlError,
    },
    /// The address of a repository names no branch.
    #[error("{0:?} names no branch")]
    NoBranch(String),
    /// The name of a branch is wrong.
    #[error("{branch:?} is no name of a branch: {reason}")]
    Branch {
        /// The name.
        branch: String,
        /// Reason, as a clause.
        reason: String,
    },
    /// The address of what is pushed is wrong.
    #[error("{0:?} names nothing that was pushed")]
    Push(String),
    /// The directory is none of a repository.
    #[error("{0:?} is no path in a repository")]
    Directory(String),
    /// The address does not end like a release.
    #[error("{0:?} is no release, whose name ends in {RELEASE_ENDING}")]
    Ending(String),
}

impl AddressError {
    /// Returns advice on what to write.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Plain(text) if text.starts_with(GIT) => "write git+https://",
            Self::Plain(_) => "write https://",
            Self::Repository { source: GitUrlError::Form { hint: Some(hint), .. }, .. } => hint,
            Self::NoBranch(_) => "write its name behind the address, such as #main",
            Self::Branch { .. } => "write the name of the branch without refs/heads/, such as #main",
            Self::Directory(_) => "write a directory of the repository, such as #main:site",
            Self::Credentials => "serve releases without a login: they are signed, and hold no secret",
            Self::Scheme(_) | Self::Url { .. } | Self::Repository { .. } => {
                "write https://HOST/PATH/NAME.release, the path of a release, or git+https://HOST/PATH#BRANCH"
            }
            Self::Push(_) => "write push:NAME, or push:NAME@SHA256, as `ccm source list` shows it",
            Self::Ending(_) => "`ccm release build` writes a release and its bundle",
        }
    }
}

impl SourceAddress {
    /// Reads an address: `https://HOST/PATH/NAME.release`, `file:///PATH/NAME.release`, the path of a release, or
    /// `git+https://HOST/PATH#BRANCH` with `ssh` or `file` in place of `https`, and with `:DIR` for a directory of the
    /// repository. A relative path starts from a directory.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, AddressError> {
        if let Some(rest) = text.strip_prefix(GIT) {
            return Ok(Self { place: SourcePlace::Git(GitPlace::parse(rest, text)?) });
        }
        if let Some(rest) = text.strip_prefix(PUSH) {
            let place = push_place(rest).ok_or_else(|| AddressError::Push(text.to_owned()))?;
            return Ok(Self { place });
        }
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

    /// Returns `true` for a branch of git, which has commits and no releases.
    pub fn is_branch(&self) -> bool {
        matches!(self.place, SourcePlace::Git(_))
    }

    /// Returns the address of a bundle that another machine pushes. Other characters of the name than letters, digits, `.`, `_`
    /// and `-` become `-`.
    pub fn of_push(name: &str, sha256: &str) -> Self {
        let name = Some(slug(name, MAX_PUSH_NAME)).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "site".to_owned());
        Self { place: SourcePlace::Push { name, digest: Some(sha256.to_owned()) } }
    }

    /// Returns `true` for what another machine pushes.
    pub fn is_push(&self) -> bool {
        matches!(self.place, SourcePlace::Push { .. })
    }

    /// Returns the name under which everything about the source is kept: a readable part, and a digest of the address.
    pub fn name(&self) -> String {
        let text = self.to_string();
        let (kind, text, ending) = match &self.place {
            SourcePlace::File(_) => ("file", text, RELEASE_ENDING),
            SourcePlace::Web { .. } => ("https", text, RELEASE_ENDING),
            SourcePlace::Git(place) => ("git", place.url.clone(), ".git"),
            SourcePlace::Push { name, .. } => ("push", name.clone(), ""),
        };
        let file = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let readable = slug(file.strip_suffix(ending).unwrap_or(file), MAX_SLUG);
        let further = match &self.place {
            SourcePlace::Git(GitPlace { branch, directory, .. }) => {
                format!("\0{branch}\0{}", directory.as_deref().unwrap_or_default())
            }
            _ => String::new(),
        };
        let digest = sha256(format!("{kind}\0{text}{further}").as_bytes());
        format!("{readable}-{}", digest.get(..8).unwrap_or_default())
    }
}

impl GitPlace {
    fn parse(rest: &str, text: &str) -> Result<Self, AddressError> {
        let (url, part) = rest.split_once('#').ok_or_else(|| AddressError::NoBranch(text.to_owned()))?;
        let scheme = url.split("://").next().unwrap_or_default();
        if scheme == "http" {
            return Err(AddressError::Plain(text.to_owned()));
        }
        if !GIT_SCHEMES.contains(&scheme) || !url.contains("://") {
            return Err(AddressError::Scheme(format!("{GIT}{scheme}")));
        }
        check_git_url(url).map_err(|source| {
            // It may hold a password.
            let text = if url.contains('@') { format!("{GIT}{scheme}://…") } else { text.to_owned() };
            AddressError::Repository { text, source }
        })?;
        let (branch, directory) = match part.split_once(':') {
            Some((branch, directory)) => (branch, Some(directory)),
            None => (part, None),
        };
        if branch.is_empty() {
            return Err(AddressError::NoBranch(text.to_owned()));
        }
        if let Some(reason) = git_reference_error(branch) {
            return Err(AddressError::Branch { branch: branch.to_owned(), reason });
        }
        let directory = directory.map(inner_directory).transpose()?;
        Ok(Self { url: url.to_owned(), scheme: scheme.to_owned(), branch: branch.to_owned(), directory })
    }
}

/// Returns the place of what was pushed; `None` if the name is not the one of a push, or the digest none.
fn push_place(text: &str) -> Option<SourcePlace> {
    let (name, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
    let is_digest = |digest: &str| {
        digest.len() == DIGEST_LENGTH && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_right = !name.is_empty() && slug(name, MAX_PUSH_NAME) == name && digest.is_none_or(is_digest);
    is_right.then(|| SourcePlace::Push { name: name.to_owned(), digest: digest.map(str::to_owned) })
}

/// Returns the path of a directory in a repository without a slash at its end.
fn inner_directory(text: &str) -> Result<String, AddressError> {
    let path = text.strip_suffix('/').unwrap_or(text);
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let is_plain = !path.is_empty() && !path.contains(char::is_control) && !path.contains("//");
    if is_inside && is_plain { Ok(path.to_owned()) } else { Err(AddressError::Directory(text.to_owned())) }
}

impl fmt::Display for SourceAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            SourcePlace::File(path) => write!(formatter, "{}", path.display()),
            SourcePlace::Web { text, .. } => formatter.write_str(text),
            SourcePlace::Git(GitPlace { url, branch, directory, .. }) => {
                write!(formatter, "{GIT}{url}#{branch}")?;
                directory.iter().try_for_each(|directory| write!(formatter, ":{directory}"))
            }
            SourcePlace::Push { name, digest } => {
                write!(formatter, "{PUSH}{name}")?;
                digest.iter().try_for_each(|digest| write!(formatter, "@{digest}"))
            }
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
            ("git+https://example.com/site.git#main", Ok("git+https://example.com/site.git#main")),
            ("git+ssh://git@example.com/site#a/b:roles/x/", Ok("git+ssh://git@example.com/site#a/b:roles/x")),
            ("git+file:///srv/site.git#main:site", Ok("git+file:///srv/site.git#main:site")),
            ("git+http://example.com/site.git#main", Err("without encryption")),
            ("git+git://example.com/site.git#main", Err("sources of git+git are not supported")),
            ("git+ext::sh -c id#main", Err("sources of git+ext::sh -c id are not supported")),
            ("git+/srv/site.git#main", Err("are not supported")),
            ("git+https://example.com/site.git", Err("names no branch")),
            ("git+https://example.com/site.git#", Err("names no branch")),
            ("git+https://example.com/site.git#:site", Err("names no branch")),
            ("git+https://example.com/site.git#-x", Err("is no name of a branch")),
            ("git+https://example.com/site.git#a..b", Err("is no name of a branch")),
            ("git+https://example.com/site.git#main:../x", Err("is no path in a repository")),
            ("git+https://example.com/site.git#main:/x", Err("is no path in a repository")),
            ("git+https://example.com/site.git#main:", Err("is no path in a repository")),
            ("git+https://ada:hunter2@example.com/a#main", Err("git+https://…")),
            ("git+ssh://-oProxyCommand=id/a#main", Err("is no address of a repository")),
            ("git+file://host/a#main", Err("is no address of a repository")),
            ("push:site", Ok("push:site")),
            (
                "push:site@04405e15720a4a09dd67dbc85cb4f53879d2d012c9346a1de30f24706ed10fb2",
                Ok("push:site@04405e15720a4a09dd67dbc85cb4f53879d2d012c9346a1de30f24706ed10fb2"),
            ),
            ("push:", Err("names nothing that was pushed")),
            ("push:../x", Err("names nothing that was pushed")),
            ("push:site@../x", Err("names nothing that was pushed")),
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
        let name = |text: &str| SourceAddress::parse(text, Path::new("/here")).expect("an address").name();
        assert_eq!(name("base.release"), name("file:///here/base.release"));
        assert_ne!(name("base.release"), name("/other/base.release"));
        assert!(name("https://example.com/x/base.release").starts_with("base-"));
        assert!(name("/srv/a b;c.release").starts_with("a-b-c-"));
        assert!(name("git+https://example.com/x/site.git#main").starts_with("site-"));
        assert_ne!(name("git+https://h/site#main"), name("git+https://h/site#next"));
        assert_ne!(name("git+https://h/site#main"), name("git+https://h/site#main:a"));
        let digest = "0".repeat(64);
        assert_eq!(name(&format!("push:site@{digest}")), name("push:site"));
        assert_eq!(SourceAddress::of_push("a site", &digest).to_string(), format!("push:a-site@{digest}"));
        assert_eq!(name("git+https://h/site#main:a/"), name("git+https://h/site#main:a"));
    }
}
