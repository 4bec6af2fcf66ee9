//! What comes from elsewhere: files and answers of web servers, archives, repositories of git, answers of name servers.
//!
//! [`download`] fetches a file, [`extract`] brings what is in an archive into a directory. Both run on a thread of their
//! own, within limits of size and time, and end when the run is cancelled. Whoever made the bytes is not trusted: a
//! server may be silent, lie or lead elsewhere, and an archive may name paths outside of its directory. [`git_arguments`] calls git so that a repository can't
//! run anything.
//!
//! This crate must never decide what to fetch, and must never write anything but the file and the directory that the
//! caller opened.
//!
//! [`ask_web_server`], [`ask_name_server`], [`resolve_name`] and [`try_tcp`] ask one question, for checks.
#![cfg_attr(
    feature = "archive",
    expect(clippy::disallowed_types, reason = "it writes into files that ccm-host has opened")
)]

#[cfg(feature = "archive")]
mod archive;
mod connect;
mod dns;
mod git;
#[cfg(feature = "archive")]
mod http;
mod names;

#[cfg(feature = "archive")]
pub use archive::{
    ArchiveFormat, EntryError, ExtractError, ExtractRequest, Extracted, MAX_ARCHIVE_ENTRIES, extract,
};
pub use connect::{try_tcp, try_udp};
pub use dns::{DnsError, DnsRecord, ask_name_server};
pub use git::{
    GIT_SCHEMES, GitUrlError, check_git_url, git_advice, git_arguments, git_environment, git_error,
    git_following_error, git_reference_error, is_git_commit, is_git_detail, short_commit,
};
#[cfg(feature = "archive")]
pub use http::{
    ClientCertificate, Downloaded, HeaderField, HttpAnswer, HttpCredentials, HttpError, HttpRequest, HttpUrl,
    OnProgress, ProxySettings, ServedVersion, UrlError, ask_web_server, download,
};
pub use names::resolve_name;
