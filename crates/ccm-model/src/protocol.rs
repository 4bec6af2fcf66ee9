//! JSON of a run: one line for each event.
//!
//! A line is a view of an [`Event`]: its properties are presented for reading (secrets redacted, content
//! replaced by its checksum), and values derived from the outcome are included. Readers ignore unknown
//! fields; an added field has a default, so that lines of earlier versions can still be read. An incompatible
//! change raises [`PROTOCOL_VERSION`], which is part of the name in the field `protocol`.

mod document;
mod event;
mod lines;
mod properties;
mod serial;
mod session;
mod transaction;

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::Event;

pub use document::{CatalogDocument, EventDocument, RunsDocument};
pub use properties::PresentedProperties;
pub use session::{CancelledRefreshRecord, PendingRefreshRecord, StartLine, StopRecord, SummaryLine};
pub use transaction::{FailureLine, OutcomeName, TransactionLine};

/// Version of the JSON: the number in each protocol name.
pub const PROTOCOL_VERSION: u32 = 1;

/// Declares the name of a protocol as a type with one value, so that reading a line of another protocol
/// fails.
macro_rules! protocol {
    ($type:ident, $constant:ident, $name:literal) => {
        #[doc = concat!("`", $name, "`.")]
        pub const $constant: &str = $name;

        #[doc = concat!("Protocol `", $name, "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub enum $type {
            #[doc = concat!("`", $name, "`.")]
            #[default]
            #[serde(rename = $name)]
            V1,
        }
    };
}

protocol!(StartProtocol, START_PROTOCOL, "io.choria.ccm.v1.session.start");
protocol!(TransactionProtocol, TRANSACTION_PROTOCOL, "io.choria.ccm.v1.transaction.event");
protocol!(SummaryProtocol, SUMMARY_PROTOCOL, "io.choria.ccm.v1.session.summary");
protocol!(CatalogProtocol, CATALOG_PROTOCOL, "io.choria.ccm.v1.catalog");

/// One line of the events of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EventLine {
    /// The first line.
    Start(Box<StartLine<'static>>),
    /// The line of a resource.
    Transaction(Box<TransactionLine<'static>>),
    /// The last line. A run that was killed has none.
    Summary(Box<SummaryLine<'static>>),
}

/// Error of a line that can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line is not JSON, lacks a field or has a field of the wrong type.
    #[error("not a line of events")]
    Malformed(#[from] serde_json::Error),
    /// The line has another version of the protocol.
    #[error("protocol `{protocol}` has another version than {PROTOCOL_VERSION}")]
    Version {
        /// Name of the protocol.
        protocol: String,
    },
    /// The line has an unknown protocol.
    #[error("protocol `{protocol}` is not known")]
    Protocol {
        /// Name of the protocol.
        protocol: String,
    },
}

#[derive(Deserialize)]
struct LineHead<'a> {
    #[serde(borrow)]
    protocol: Cow<'a, str>,
}

impl EventLine {
    /// Reads a line.
    pub fn read(line: &[u8]) -> Result<Self, LineError> {
        let LineHead { protocol } = serde_json::from_slice(line)?;
        match &*protocol {
            START_PROTOCOL => Ok(Self::Start(serde_json::from_slice(line)?)),
            TRANSACTION_PROTOCOL => Ok(Self::Transaction(serde_json::from_slice(line)?)),
            SUMMARY_PROTOCOL => Ok(Self::Summary(serde_json::from_slice(line)?)),
            other => {
                let protocol = other.to_owned();
                let version = other.strip_prefix("io.choria.ccm.v").and_then(|rest| rest.split('.').next());
                match version.and_then(|version| version.parse::<u32>().ok()) {
                    Some(version) if version != PROTOCOL_VERSION => Err(LineError::Version { protocol }),
                    _ => Err(LineError::Protocol { protocol }),
                }
            }
        }
    }
}

impl From<EventLine> for Event {
    /// Builds the event of a line, with the properties as the line presents them and without the output of
    /// commands.
    fn from(line: EventLine) -> Self {
        match line {
            EventLine::Start(line) => Self::SessionStarted((*line).into()),
            EventLine::Transaction(line) => Self::ResourceFinished(Box::new((*line).into())),
            EventLine::Summary(line) => Self::SessionFinished(Box::new((*line).into())),
        }
    }
}

/// Returns the JSON schema of a line of events. [`EventDocument`], the form of `--output json`, and [`RunsDocument`],
/// its form for several manifests, are among its definitions, and those that `add` adds.
pub fn event_schema(add: impl FnOnce(&mut SchemaGenerator)) -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    add(&mut generator);
    generator.subschema_for::<EventDocument>();
    generator.subschema_for::<RunsDocument>();
    generator.into_root_schema_for::<EventLine>()
}

#[cfg(test)]
mod tests;
