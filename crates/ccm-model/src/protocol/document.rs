//! Documents: the events of a run, a catalog.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CatalogProtocol, StartLine, SummaryLine, TransactionLine};
use crate::Catalog;

/// The events of a run as one document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct EventDocument {
    /// The first line.
    pub start: Option<StartLine<'static>>,
    /// The lines of the resources.
    pub events: Vec<TransactionLine<'static>>,
    /// The last line.
    pub summary: Option<SummaryLine<'static>>,
    /// The second run of `--verify-idempotent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<EventDocument>>,
}

/// The events of the runs of several manifests as one document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RunsDocument {
    /// The runs, in their order.
    pub runs: Vec<EventDocument>,
    /// Absolute paths of the manifests that were not run.
    pub not_run: Vec<String>,
}

/// A catalog as a document. Its properties are those of the manifest, with all secrets.
///
/// The fields are those of [`Catalog`] and what is in it. A span is `{source, start, end}`, a node is
/// `{value, span}`. A value is one of `{"scalar": {text, style}}`, `{"list": [node, …]}` and `{"map":
/// [{"key": {text, span}, "value": node}, …]}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CatalogDocument<'a> {
    /// Name of the protocol, with its version.
    pub protocol: CatalogProtocol,
    /// The catalog.
    pub catalog: Cow<'a, Catalog>,
}
