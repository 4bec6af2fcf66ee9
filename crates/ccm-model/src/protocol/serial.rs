//! Events as values that can be serialised.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::{EventLine, StartLine, SummaryLine, TransactionLine};
use crate::{Artifacts, Event, OutputLine, ResourceStarted, SessionStarted, Transaction};

/// Form of an event that has no line in the record of a run.
#[derive(Serialize, Deserialize)]
#[serde(tag = "protocol")]
enum TransientEvent<'a> {
    #[serde(rename = "io.choria.ccm.v1.resource.start")]
    Started(Cow<'a, ResourceStarted>),
    #[serde(rename = "io.choria.ccm.v1.resource.output")]
    Output(Cow<'a, OutputLine>),
    #[serde(rename = "io.choria.ccm.v1.resource.artifacts")]
    Artifacts(Cow<'a, Artifacts>),
}

const TRANSIENT_PREFIX: &str = "io.choria.ccm.v1.resource.";

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::SessionStarted(session) => session.serialize(serializer),
            Self::ResourceStarted(started) => {
                TransientEvent::Started(Cow::Borrowed(started)).serialize(serializer)
            }
            Self::OutputReceived(line) => TransientEvent::Output(Cow::Borrowed(line)).serialize(serializer),
            Self::ArtifactsLeft(artifacts) => {
                TransientEvent::Artifacts(Cow::Borrowed(artifacts)).serialize(serializer)
            }
            Self::ResourceFinished(transaction) => transaction.serialize(serializer),
            Self::SessionFinished(summary) => SummaryLine::from(&**summary).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let protocol = value.get("protocol").and_then(Value::as_str);
        if !protocol.is_some_and(|protocol| protocol.starts_with(TRANSIENT_PREFIX)) {
            let line = EventLine::read(value.to_string().as_bytes());
            return line.map(Self::from).map_err(de::Error::custom);
        }
        Ok(match TransientEvent::deserialize(value).map_err(de::Error::custom)? {
            TransientEvent::Started(started) => Self::ResourceStarted(started.into_owned()),
            TransientEvent::Output(line) => Self::OutputReceived(line.into_owned()),
            TransientEvent::Artifacts(artifacts) => Self::ArtifactsLeft(Box::new(artifacts.into_owned())),
        })
    }
}

impl Serialize for SessionStarted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StartLine::from(self).serialize(serializer)
    }
}

impl Serialize for Transaction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        TransactionLine::from(self).serialize(serializer)
    }
}
