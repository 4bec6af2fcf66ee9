//! Errors and warnings in texts, without secrets.

mod document;
mod redaction;
mod sensitive_text;

pub use document::{
    ErrorDocument, Finding, ValidatedChild, ValidatedManifest, ValidationDocument, schema_of_events,
};
pub(crate) use redaction::redacted;
