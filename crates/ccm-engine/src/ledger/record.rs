//! Lines of a ledger. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use ccm_host::sha256;
use ccm_model::{RefreshBlocker, ResourceId, display_timestamp, parse_timestamp};
use serde::{Deserialize, Serialize};

const PROTOCOL: &str = "io.choria.ccm.v1.ledger";
/// Version of the format that is written. Newer ones are not read.
pub(crate) const VERSION: u64 = 1;

/// Resource as a ledger names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LedgerResource {
    /// Type and name of the resource, without secrets.
    pub shown: ResourceId,
    /// Salted hash of the name, because redacted names may look alike. `None` if the name holds no secret.
    pub hash: Option<String>,
}

impl LedgerResource {
    /// Names a resource. The salt defeats precomputed tables of names.
    pub(crate) fn new(id: &ResourceId, shown: &str, salt: &str) -> Self {
        let hash = (*id.name != *shown).then(|| hash(id, salt));
        Self { shown: ResourceId::new(Arc::clone(&id.type_name), shown), hash }
    }
}

/// Returns the hash of a name that can't be shown.
pub(crate) fn hash(id: &ResourceId, salt: &str) -> String {
    sha256(format!("{salt} {id}").as_bytes())
}

/// Subscriber and source of a refresh.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub subscriber: LedgerResource,
    pub source: LedgerResource,
}

/// Origin of a pending refresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub run_id: String,
    pub since: SystemTime,
    /// File of the manifest. Several manifests may have one name.
    pub manifest: String,
    /// The refresh is assumed to be pending, because the ledger was damaged.
    pub is_assumed: bool,
    /// Setting of the manifest that blocks the refresh, as the last run found.
    pub blocked_by: Option<RefreshBlocker>,
}

/// Pending refreshes.
pub(crate) type PendingByPair = BTreeMap<Pair, Pending>;

/// Content of a ledger.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LedgerContent {
    /// Key of the manifest.
    pub key: String,
    /// Salt of the hashes of names. Empty if the ledger has none.
    pub salt: String,
    pub pending: PendingByPair,
}

/// Reason why a ledger can't be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A later version of ccm wrote the ledger.
    Newer { version: u64 },
    /// The ledger is damaged.
    Damaged { reason: String },
}

#[derive(Serialize, Deserialize)]
struct Header {
    protocol: String,
    version: u64,
    manifest: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    salt: String,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Record {
    #[serde(rename = "owed")]
    Pending {
        #[serde(flatten)]
        names: PairLine,
        run: String,
        since: String,
        manifest: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        assumed: bool,
        #[serde(rename = "kept_by", default, skip_serializing_if = "Option::is_none")]
        blocked_by: Option<RefreshBlocker>,
    },
    /// The execution changed nothing.
    Dropped(PairLine),
    #[serde(rename = "paid")]
    Completed(PairLine),
}

#[derive(Serialize, Deserialize)]
struct PairLine {
    subscriber: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subscriber_hash: Option<String>,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_hash: Option<String>,
}

impl PairLine {
    fn of(Pair { subscriber, source }: &Pair) -> Self {
        Self {
            subscriber: subscriber.shown.to_string(),
            subscriber_hash: subscriber.hash.clone(),
            source: source.shown.to_string(),
            source_hash: source.hash.clone(),
        }
    }

    fn pair(self) -> Option<Pair> {
        let shown = |name: &str| ResourceId::parse(name).ok();
        Some(Pair {
            subscriber: LedgerResource { shown: shown(&self.subscriber)?, hash: self.subscriber_hash },
            source: LedgerResource { shown: shown(&self.source)?, hash: self.source_hash },
        })
    }
}

/// Parses a ledger. Text after the last line end is a record that was not synced, and is ignored: no change
/// was made after it.
pub(crate) fn parse(bytes: &[u8]) -> Result<LedgerContent, Unreadable> {
    let damaged = |reason: String| Unreadable::Damaged { reason };
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let mut lines = bytes[..end.unwrap_or_default()].split(|byte| *byte == b'\n');
    let Some(head) = lines.next().filter(|_| end.is_some()) else {
        return Err(damaged("it has no header".to_owned()));
    };
    let header: Header =
        serde_json::from_slice(head).map_err(|_| damaged("line 1 is not a header".to_owned()))?;
    match header {
        Header { protocol, .. } if protocol != PROTOCOL => {
            return Err(damaged("line 1 is the header of another format".to_owned()));
        }
        Header { version: 0, .. } => return Err(damaged("version 0 does not exist".to_owned())),
        Header { version, .. } if version > VERSION => return Err(Unreadable::Newer { version }),
        Header { .. } => {}
    }
    let mut pending = PendingByPair::new();
    for (line, number) in lines.zip(2_u64..) {
        if apply(&mut pending, line).is_none() {
            return Err(damaged(format!("line {number} is not a record")));
        }
    }
    Ok(LedgerContent { key: header.manifest, salt: header.salt, pending })
}

/// Readable parts of a ledger that is damaged or newer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Remains {
    /// Key of the manifest.
    pub key: Option<String>,
    /// Files of the manifests that are named in it.
    pub manifests: BTreeSet<String>,
}

/// Reads the readable parts of a ledger that is damaged or newer. Only for messages: no refresh may be done
/// or dropped because of them.
pub(crate) fn remains(bytes: &[u8]) -> Remains {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let header = lines.next().and_then(|head| serde_json::from_slice::<Header>(head).ok());
    let key = header.filter(|header| header.protocol == PROTOCOL).map(|header| header.manifest);
    let manifest = |line| match serde_json::from_slice(line) {
        Ok(Record::Pending { manifest, .. }) => Some(manifest),
        _ => None,
    };
    Remains { key, manifests: lines.filter_map(manifest).collect() }
}

/// Applies a record. Returns `None` if the line is not a record.
fn apply(pending: &mut PendingByPair, line: &[u8]) -> Option<()> {
    match serde_json::from_slice(line).ok()? {
        Record::Pending { names, run, since, manifest, assumed, blocked_by } => {
            let since = parse_timestamp(&since)?;
            let origin = Pending { run_id: run, since, manifest, is_assumed: assumed, blocked_by };
            // The first origin counts.
            pending.entry(names.pair()?).or_insert(origin);
        }
        Record::Dropped(names) | Record::Completed(names) => {
            pending.remove(&names.pair()?);
        }
    }
    Some(())
}

/// Returns the line of a pending refresh.
pub(crate) fn pending_line(pair: &Pair, pending: &Pending) -> String {
    line(&Record::Pending {
        names: PairLine::of(pair),
        run: pending.run_id.clone(),
        since: display_timestamp(pending.since, 2),
        manifest: pending.manifest.clone(),
        assumed: pending.is_assumed,
        blocked_by: pending.blocked_by,
    })
}

/// Returns the line of a refresh that is dropped, because its source turned out to change nothing.
pub(crate) fn dropped_line(pair: &Pair) -> String {
    line(&Record::Dropped(PairLine::of(pair)))
}

/// Returns the line of a completed refresh.
pub(crate) fn completed_line(pair: &Pair) -> String {
    line(&Record::Completed(PairLine::of(pair)))
}

/// Returns the text of a whole ledger.
pub(crate) fn ledger_text<'d>(
    key: &str,
    salt: &str,
    pending: impl IntoIterator<Item = (&'d Pair, &'d Pending)>,
) -> String {
    let (manifest, salt) = (key.to_owned(), salt.to_owned());
    let header = Header { protocol: PROTOCOL.to_owned(), version: VERSION, manifest, salt };
    let records = pending.into_iter().map(|(pair, pending)| pending_line(pair, pending));
    std::iter::once(line(&header)).chain(records).collect()
}

fn line(of: &impl Serialize) -> String {
    // Text and numbers can always be written.
    let mut line = serde_json::to_string(of).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
