//! What comes from elsewhere: files of web servers, and archives.
//!
//! [`download`] fetches a file, [`extract`] brings what is in an archive into a directory. Both run on a thread of their
//! own, within limits of size and time, and end when the run is cancelled. Whoever made the bytes is not trusted: a
//! server may be silent, lie or lead elsewhere, and an archive may name paths outside of its directory.
//!
//! This crate must never decide what to fetch, and must never write anything but the file and the directory that the
//! caller opened.
#![expect(clippy::disallowed_types, reason = "it writes into files that ccm-host has opened")]

mod archive;
mod http;

pub use archive::{
    ArchiveFormat, EntryError, ExtractError, ExtractRequest, Extracted, MAX_ARCHIVE_ENTRIES, extract,
};
pub use http::{
    Downloaded, HeaderField, HttpCredentials, HttpError, HttpRequest, HttpUrl, OnProgress, ProxySettings,
    UrlError, download,
};
