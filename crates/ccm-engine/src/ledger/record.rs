//! The lines of a ledger, and what they come to. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use ccm_host::sha256;
use ccm_model::{KeptBy, ResourceId, display_timestamp, parse_timestamp};
use serde::{Deserialize, Serialize};

const PROTOCOL: &str = "io.choria.ccm.v1.ledger";
/// What this version writes. It reads nothing that is newer.
const VERSION: u64 = 1;

/// A resource, as a ledger names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named {
    /// Its name as it is shown, so without what is sensitive in it.
    pub shown: ResourceId,
    /// What tells it from others that look alike; none if its name is shown as it is.
    pub hash: Option<String>,
}

impl Named {
    /// Names a resource. Who knows the salt can try out names, but needs to look nothing up that was made before.
    pub(crate) fn new(id: &ResourceId, shown: &str, salt: &str) -> Self {
        let hash = (*id.name != *shown).then(|| hash(id, salt));
        Self { shown: ResourceId::new(Arc::clone(&id.type_name), shown), hash }
    }
}

/// What stands for a name that can't be shown.
pub(crate) fn hash(id: &ResourceId, salt: &str) -> String {
    sha256(format!("{salt} {id}").as_bytes())
}

/// Who owes a refresh to whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub subscriber: Named,
    pub source: Named,
}

/// From when a refresh is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Debt {
    pub run_id: String,
    pub since: SystemTime,
    /// The file of the manifest: several may have one name.
    pub manifest: String,
    /// The ledger was damaged, and nobody knows whether it is owed.
    pub is_assumed: bool,
    /// What the last run found to keep it from being done by any other.
    pub kept_by: Option<KeptBy>,
}

/// What is owed.
pub(crate) type Debts = BTreeMap<Pair, Debt>;

/// What a ledger says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Whose it is.
    pub key: String,
    /// What is hashed with each name; empty if there is none.
    pub salt: String,
    pub debts: Debts,
}

/// Why a ledger says nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A later version of ccm wrote it.
    Newer { version: u64 },
    /// It is not what ccm writes.
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
    Owed {
        #[serde(flatten)]
        names: Names,
        run: String,
        since: String,
        manifest: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        assumed: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_by: Option<KeptBy>,
    },
    Dropped(Names),
    Paid(Names),
}

#[derive(Serialize, Deserialize)]
struct Names {
    subscriber: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subscriber_hash: Option<String>,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_hash: Option<String>,
}

impl Names {
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
            subscriber: Named { shown: shown(&self.subscriber)?, hash: self.subscriber_hash },
            source: Named { shown: shown(&self.source)?, hash: self.source_hash },
        })
    }
}

/// Reads a ledger. What stands behind the last line end is of a record that was not synced, so nothing has come of it.
pub(crate) fn parse(bytes: &[u8]) -> Result<Content, Unreadable> {
    let damaged = |reason: String| Unreadable::Damaged { reason };
    // What stands behind the last line end: nothing, or what was torn.
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let mut lines = bytes[..end.unwrap_or_default()].split(|byte| *byte == b'\n');
    let Some(head) = lines.next().filter(|_| end.is_some()) else {
        return Err(damaged("it has no header".to_owned()));
    };
    let header: Header =
        serde_json::from_slice(head).map_err(|_| damaged("line 1 is not a header".to_owned()))?;
    match header {
        Header { protocol, .. } if protocol != PROTOCOL => {
            return Err(damaged("line 1 is the header of something else".to_owned()));
        }
        Header { version: 0, .. } => return Err(damaged("there is no version 0".to_owned())),
        Header { version, .. } if version > VERSION => return Err(Unreadable::Newer { version }),
        Header { .. } => {}
    }
    let mut debts = Debts::new();
    for (line, number) in lines.zip(2_u64..) {
        if enter(&mut debts, line).is_none() {
            return Err(damaged(format!("line {number} is not a record")));
        }
    }
    Ok(Content { key: header.manifest, salt: header.salt, debts })
}

/// What is still told by the lines of a ledger that can't be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Remains {
    /// Whose it is.
    pub key: Option<String>,
    /// The files of manifests that owe something, or did.
    pub manifests: BTreeSet<String>,
}

/// Reads what can be read of a ledger that is damaged or newer. Nothing may be done or forgotten because of it.
pub(crate) fn remains(bytes: &[u8]) -> Remains {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let header = lines.next().and_then(|head| serde_json::from_slice::<Header>(head).ok());
    let key = header.filter(|header| header.protocol == PROTOCOL).map(|header| header.manifest);
    let manifest = |line| match serde_json::from_slice(line) {
        Ok(Record::Owed { manifest, .. }) => Some(manifest),
        _ => None,
    };
    Remains { key, manifests: lines.filter_map(manifest).collect() }
}

/// Enters a record; none if it is not one.
fn enter(debts: &mut Debts, line: &[u8]) -> Option<()> {
    match serde_json::from_slice(line).ok()? {
        Record::Owed { names, run, since, manifest, assumed, kept_by } => {
            let since = parse_timestamp(&since)?;
            let debt = Debt { run_id: run, since, manifest, is_assumed: assumed, kept_by };
            // What is owed already is owed from then.
            debts.entry(names.pair()?).or_insert(debt);
        }
        Record::Dropped(names) | Record::Paid(names) => {
            debts.remove(&names.pair()?);
        }
    }
    Some(())
}

/// The line of a refresh that is owed.
pub(crate) fn owed(pair: &Pair, debt: &Debt) -> String {
    line(&Record::Owed {
        names: Names::of(pair),
        run: debt.run_id.clone(),
        since: display_timestamp(debt.since, 2),
        manifest: debt.manifest.clone(),
        assumed: debt.is_assumed,
        kept_by: debt.kept_by,
    })
}

/// The line of one that is owed no more, because its source turned out to change nothing.
pub(crate) fn dropped(pair: &Pair) -> String {
    line(&Record::Dropped(Names::of(pair)))
}

/// The line of one that was done.
pub(crate) fn paid(pair: &Pair) -> String {
    line(&Record::Paid(Names::of(pair)))
}

/// A whole ledger.
pub(crate) fn whole<'d>(
    key: &str,
    salt: &str,
    debts: impl IntoIterator<Item = (&'d Pair, &'d Debt)>,
) -> String {
    let (manifest, salt) = (key.to_owned(), salt.to_owned());
    let header = Header { protocol: PROTOCOL.to_owned(), version: VERSION, manifest, salt };
    let records = debts.into_iter().map(|(pair, debt)| owed(pair, debt));
    std::iter::once(line(&header)).chain(records).collect()
}

fn line(of: &impl Serialize) -> String {
    // Their fields are text and numbers, and that can be written.
    let mut line = serde_json::to_string(of).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
