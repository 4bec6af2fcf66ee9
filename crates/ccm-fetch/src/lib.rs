//! What comes from elsewhere: files of web servers, archives, and repositories of git.
//!
//! [`download`] fetches a file, [`extract`] brings what is in an archive into a directory. Both run on a thread of their
//! own, within limits of size and time, and end when the run is cancelled. Whoever made the bytes is not trusted: a
//! server may be silent, lie or lead elsewhere, and an archive may name paths outside of its directory. [`git_arguments`] calls git so that a repository can't
//! run anything.
//!
//! This crate must never decide what to fetch, and must never write anything but the file and the directory that the
//! caller opened.
#![cfg_attr(
    feature = "archive",
    expect(clippy::disallowed_types, reason = "it writes into files that ccm-host has opened")
)]

#[cfg(feature = "archive")]
mod archive;
mod git;
#[cfg(feature = "archive")]
mod http;

#[cfg(feature = "archive")]
pub use archive::{
    ArchiveFormat, EntryError, ExtractError, ExtractRequest, Extracted, MAX_ARCHIVE_ENTRIES, extract,
};
pub use git::{
    GIT_SCHEMES, GitUrlError, check_git_url, git_advice, git_arguments, git_environment, git_error,
    git_following_error, git_reference_error, is_git_commit, is_git_detail, short_commit,
};
#[cfg(feature = "archive")]
pub use http::{
    Downloaded, HeaderField, HttpCredentials, HttpError, HttpRequest, HttpUrl, OnProgress, ProxySettings,
    ServedVersion, UrlError, download,
};
