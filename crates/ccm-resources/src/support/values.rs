//! Values of properties that several types have.

pub(crate) mod absolute_path;
pub(crate) mod byte_count;
pub(crate) mod canonical_path;
pub(crate) mod checksum;
pub(crate) mod file_mode;
pub(crate) mod principal;
pub(crate) mod source_path;
pub(crate) mod timeout;
